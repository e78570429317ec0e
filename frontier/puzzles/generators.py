"""Generators: the moves of a permutation puzzle.

A generator takes the piece in each position to another position, and may turn it. It is written in
cycles, "(1 2 3)(4 5)": the piece in position 1 goes to 2, the piece in 2 to 3, and the piece in 3
to 1; or as an image, [2, 3, 1, 5, 4]: the i-th number is the position to which the piece in
position i goes.

Metrics: with ``turns`` each generator counts as one move; with ``powers`` each of its powers (the
generator repeated any number of times) also counts as one move.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.notation import check_label
from frontier.text import counted

MOST_POSITIONS = 64
MOST_ORIENTATIONS = 60
"""The most orientations of a piece, as many as a clock has minutes. The group acts on all
stickers, and its tables grow with the square of their number."""

MOST_GENERATORS = 1000

MOST_DIGITS = 18
"""The most digits of a number in a config. Longer numbers are too large, and Python refuses 4,301
digits."""

INVERSE = "'"
"""The suffix that turns the name of a generator into the name of its inverse."""


@dataclass(frozen=True)
class Generator:
    """One move.

    image: the position to which the piece in each position goes, counted from 0. turns: the number
    added to the orientation of the piece in each position, modulo the number of orientations there.
    """

    name: str
    image: tuple[int, ...]
    turns: tuple[int, ...]

    @property
    def effect(self) -> tuple:
        return self.image, self.turns

    def inverse(self, orientations: Sequence[int]) -> "Generator":
        """Return the generator that undoes this one."""
        image, turns = [0] * len(self.image), [0] * len(self.image)
        for position, to in enumerate(self.image):
            image[to], turns[to] = position, -self.turns[position] % orientations[position]
        return Generator(self.name + INVERSE, tuple(image), tuple(turns))

    @classmethod
    def identity(cls, positions: int) -> "Generator":
        """Return the generator that changes nothing; it has no name."""
        return cls("", tuple(range(positions)), (0,) * positions)

    def then(self, other: "Generator", orientations: Sequence[int]) -> "Generator":
        """Return the generator that applies this one and then another; it keeps this one's name."""
        turns = tuple(
            (turn + other.turns[to]) % count
            for turn, to, count in zip(self.turns, self.image, orientations, strict=True)
        )
        return Generator(self.name, tuple(other.image[to] for to in self.image), turns)

    def power(self, times: int, orientations: Sequence[int]) -> "Generator":
        """Return the generator that applies this one `times` times, made by repeated squaring."""
        result, square = Generator.identity(len(self.image)), self
        while times:
            if times % 2:
                result = result.then(square, orientations)
            square, times = square.then(square, orientations), times // 2
        return result

    def moved(self, pieces: np.ndarray) -> np.ndarray:
        """Return the piece in each position after the move. pieces: int[..., positions], the pieces
        before the move."""
        after = np.empty_like(pieces)
        after[..., list(self.image)] = pieces
        return after

    @property
    def cycles(self) -> list[list[int]]:
        """The cycles that move or turn pieces, each beginning with its least position."""
        cycles, seen = [], set()
        for position in range(len(self.image)):
            cycle = []
            while position not in seen:
                seen.add(position)
                cycle.append(position)
                position = self.image[position]
            if len(cycle) > 1 or any(self.turns[at] for at in cycle):
                cycles.append(cycle)
        return cycles

    def order(self, orientations: Sequence[int]) -> int:
        """Return how many times the move must be repeated to change nothing."""
        orders = []
        for cycle in self.cycles:
            turned, count = sum(self.turns[at] for at in cycle), orientations[cycle[0]]
            orders.append(len(cycle) * (count // math.gcd(turned, count)))
        return math.lcm(*orders)

    def in_words(
        self, orientations: Sequence[int], names: Sequence[str], inverse: str | None
    ) -> str:
        """Describe the move: its cycles with the turns, its order and its inverse.

        names: the names of the positions. inverse: the name of the generator that undoes this one;
        None if no generator does.
        """
        words = []
        for cycle in self.cycles:
            turns = [f"+{turn}" if (turn := self.turns[at]) else "" for at in cycle]
            first, *others = (names[at] for at in cycle)
            if len(cycle) == 2 and not any(turns):
                words.append(f"{first} ↔ {others[0]}")
                continue
            ends = zip([*others, first], turns, strict=True)
            words.append(" → ".join([first, *(f"{name}{turn}" for name, turn in ends)]))
        undone = "its own inverse" if inverse == self.name else f"undone by {inverse or 'no move'}"
        return f"{', '.join(words)}; order {self.order(orientations)}, {undone}"


class GivenGenerators(NamedTuple):
    """The generators of a config.

    moves: all generators that count as one move. orientations: the number of orientations in each
    position. remark: what is unusual about the generators; None if nothing is.
    """

    moves: list[Generator]
    orientations: tuple[int, ...]
    remark: str | None


def generators_given(
    given: Mapping,
    positions: int | None,
    orientations: int | Sequence[int],
    closed: bool,
    metric: str,
    key: str = "puzzle.generators",
) -> GivenGenerators:
    """Return the generators of a config.

    given: name -> cycles, an image, or a table of `moves`, in either form, and `turns`, one per
    position. positions: the number of positions; by default the greatest position that a generator
    names. closed: True to add missing inverses. metric: what counts as one move. key: the key of
    the config.
    """
    if not isinstance(given, Mapping) or not 1 <= len(given) <= MOST_GENERATORS:
        fault = f"has {len(given)} of them" if isinstance(given, Mapping) else f"= {given!r}"
        raise InputError(
            f"{key} {fault}: expected a table of 1..{MOST_GENERATORS} generators, "
            'such as {a = "(1 2 3)(4 5)", b = [2, 1, 3, 4, 5]}'
        )
    if any(not str(name) for name in given):
        raise InputError(f"{key} has a generator without a name; name it")
    read = {str(name): _parts(of, f"{key}.{name}") for name, of in given.items()}
    if positions is None:
        positions = max(
            max([0, *steps, *map(len, lists.values())]) for steps, lists in read.values()
        )
    if not 1 <= positions <= MOST_POSITIONS:
        raise InputError(f"the puzzle has {positions} positions: 1..{MOST_POSITIONS} are supported")
    each = _each(orientations, positions)
    listed = {}
    for name, parts in read.items():
        where = f"{key}.{name}"
        check_label(name, where)
        listed[name] = _generator(name, where, *parts, each)
    moves, remark = _different(listed, each, metric)
    if metric == "turns" and closed:
        moves = _with_inverses(moves, each, listed)
    elif len(moves) > MOST_GENERATORS:
        raise InputError(
            f"puzzle.generators have {len(moves):,} powers: at most {MOST_GENERATORS:,} moves are "
            'supported; puzzle.metric = "turns" needs fewer'
        )
    remarks = [text for text in (remark, _one_way(moves, each)) if text]
    return GivenGenerators(moves, each, "; ".join(remarks) or None)


def _one_way(moves: Sequence[Generator], each: tuple[int, ...]) -> str | None:
    """Return a remark on moves that no move undoes; None if every move can be undone."""
    effects = {move.effect for move in moves}
    names = [move.name for move in moves if move.inverse(each).effect not in effects]
    if not names:
        return None
    those = "it" if len(names) == 1 else "them"
    return (
        f"puzzle.generators {', '.join(names)}: no move undoes {those}, so depths count moves from "
        "the goal, not to it; puzzle.closed = true adds the missing inverses"
    )


def _different(
    listed: Mapping[str, Generator], each: tuple[int, ...], metric: str
) -> tuple[list[Generator], str | None]:
    """Return the moves that the listed generators make, one for each effect, and a remark on
    generators with the same effect as another."""
    by_effect: dict[tuple, Generator] = {}
    stands_for: dict[tuple, Generator] = {}
    effects = {name: generator.effect for name, generator in listed.items()}
    twice = []
    for name, generator in listed.items():
        if (other := stands_for.get(generator.effect)) is not None:
            is_same = other.effect == generator.effect
            twice.append(f"{name} is {'the same as' if is_same else 'a power of'} {other.name}")
            continue
        for move in [generator] if metric == "turns" else _powers(generator, each, effects):
            stands_for.setdefault(move.effect, generator)
            by_effect.setdefault(move.effect, move)
    remark = f"puzzle.generators has duplicates, which count once: {', '.join(twice)}"
    return list(by_effect.values()), remark if twice else None


def _powers(
    generator: Generator, each: tuple[int, ...], effects: dict[str, tuple]
) -> list[Generator]:
    """Return the powers of a generator that move something, named F, F2, F2', F'.

    effects: the effects of all named moves, by name; the effects of the powers are added. If
    another move has the name F2, the power is named F^2.
    """
    name, order = generator.name, generator.order(each)
    if order - 1 > MOST_GENERATORS:
        raise InputError(
            f"puzzle.generators.{name} has {order - 1:,} powers: at most {MOST_GENERATORS:,} moves "
            'are supported; with puzzle.metric = "turns" it is one move, and its inverse another'
        )
    powers = [generator]
    for exponent in range(2, order):
        times, suffix = min((exponent, ""), (order - exponent, INVERSE))
        title = f"{name}{times if times > 1 else ''}{suffix}"
        power = replace(powers[-1].then(generator, each), name=title)
        if effects.setdefault(title, power.effect) != power.effect:
            power = replace(power, name=f"{name}^{exponent}")
        powers.append(power)
    return powers


def _with_inverses(
    moves: list[Generator], each: tuple[int, ...], listed: Mapping[str, Generator]
) -> list[Generator]:
    """Return the moves and their missing inverses; raises InputError if an inverse would get the
    name of another move."""
    by_effect = {move.effect: move for move in moves}
    for move in moves:
        inverse = move.inverse(each)
        if inverse.effect in by_effect:
            continue
        if inverse.name in listed:
            raise InputError(
                f"puzzle.generators.{inverse.name} is not the inverse of {move.name}, which "
                "puzzle.closed = true would add under this name; rename it"
            )
        by_effect[inverse.effect] = inverse
    return list(by_effect.values())


def _each(orientations: int | Sequence[int], positions: int) -> tuple[int, ...]:
    """Return the number of orientations in each position."""
    each = [orientations] * positions if type(orientations) is int else orientations
    if not isinstance(each, list | tuple) or len(each) != positions:
        raise InputError(
            f"puzzle.orientations = {orientations!r}: expected one whole number, or a list of one "
            f"for each of the {counted(positions, 'position')}"
        )
    for number in each:
        if type(number) is not int or not 1 <= number <= MOST_ORIENTATIONS:
            raise InputError(
                f"puzzle.orientations: a piece has 1..{MOST_ORIENTATIONS} orientations, not "
                f"{number!r}"
            )
    return tuple(each)


def _parts(value, key: str) -> tuple[dict[int, int], dict[str, list[int]]]:
    """Return the parts of a given generator: where the pieces in some positions go, counted from 1,
    and its lists with one number per position, by their keys in the config."""
    moves, turns = value, []
    if isinstance(value, Mapping):
        if unknown := sorted(set(map(str, value)) - {"moves", "turns"}):
            raise InputError(f"{key}.{unknown[0]}: a generator has only moves and turns")
        moves, turns = value.get("moves", ""), value.get("turns", [])
        if not _are_numbers(turns):
            raise InputError(f"{key}.turns = {turns!r}: expected a list of one number per position")
    if not (moves or turns) and isinstance(moves, str | list | tuple):
        raise InputError(f"{key} = {value!r} moves nothing; omit it")
    lists = {f"{key}.turns": list(turns)} if turns else {}
    if isinstance(moves, str):
        return _steps_of_cycles(moves, key), lists
    if not _are_numbers(moves):
        raise InputError(
            f'{key} = {moves!r}: expected cycles such as "(1 2 3)(4 5)", or a list that says for '
            "each position where its piece goes. A move must not depend on the state of the puzzle"
        )
    if sorted(moves) != list(range(1, len(moves) + 1)):
        raise InputError(
            f"{key} = {list(moves)}: an image needs each of the numbers 1..{len(moves)} once"
        )
    return dict(enumerate(moves, start=1)), {key: list(moves), **lists}


def _are_numbers(value) -> bool:
    return isinstance(value, list | tuple) and all(type(number) is int for number in value)


def _steps_of_cycles(text: str, key: str) -> dict[int, int]:
    if not re.fullmatch(r"\s*(\(\s*\d+([\s,]+\d+)*\s*\)\s*)*", text):
        raise InputError(f'{key} = {text!r}: expected cycles of positions, such as "(1 2 3)(4 5)"')
    steps: dict[int, int] = {}
    for cycle in re.findall(r"\(.*?\)", text):
        numbers = re.findall(r"\d+", cycle)
        if (digits := max(map(len, numbers))) > MOST_DIGITS:
            raise InputError(
                f"{key} names a position of {digits:,} digits: 1..{MOST_POSITIONS} are supported"
            )
        cycle = list(map(int, numbers))
        for position, to in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            if position < 1:
                raise InputError(f"{key} = {text!r}: positions are counted from 1")
            if position in steps:
                raise InputError(f"{key} = {text!r} names position {position} twice")
            steps[position] = to
    return steps


def _generator(
    name: str,
    key: str,
    steps: dict[int, int],
    lists: dict[str, list[int]],
    each: tuple[int, ...],
) -> Generator:
    positions, to_of = len(each), list(range(len(each)))
    for key_of_list, listed in lists.items():
        if len(listed) != positions:
            raise InputError(
                f"{key_of_list} = {listed}: expected a number for each of the "
                f"{counted(positions, 'position')} of this puzzle"
            )
    if (last := max(steps, default=0)) > positions:
        raise InputError(
            f"{key} names position {last}: this puzzle has {counted(positions, 'position')}"
        )
    for position, to in steps.items():
        if each[position - 1] != each[to - 1]:
            raise InputError(
                f"{key} moves a piece from position {position} to {to}, where it has "
                f"{each[to - 1]} orientations instead of {each[position - 1]}"
            )
        to_of[position - 1] = to - 1
    turns = lists.get(f"{key}.turns", [0] * positions)
    for position, (turn, number) in enumerate(zip(turns, each, strict=True), start=1):
        if not -number < turn < number:
            raise InputError(
                f"{key}.turns: {turn} for the piece in position {position}, which has "
                f"{counted(number, 'orientation')} (puzzle.orientations)"
            )
    turned = tuple(turn % number for turn, number in zip(turns, each, strict=True))
    if to_of == list(range(positions)) and not any(turned):
        raise InputError(f"{key} moves nothing; omit it")
    return Generator(name, tuple(to_of), turned)
