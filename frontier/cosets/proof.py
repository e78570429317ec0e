"""The bounds on God's number that follow from the answers so far, and the next question.

Let p be 2 if a move slides one tile, and 1 if it slides several. Let X(T) be the set of positions
whose distances are greater than T and equal to T modulo p (`frontier.cosets.questions`). If X(T) is
empty, no position needs more than T + p - 1 moves, because no depth is skipped; a position in X(T)
is at depth T + p or more. So with an upper bound U and a lower bound L on God's number

* while U - L > 1, the question is about X(U - p - 1): if it is empty, U falls by two, otherwise L
  rises to U - 1;
* if U - L = 1, the question is about X(U - p), and its answer settles God's number;
* once L = U = G, the positions of X(G - p) at depth G are the last layer, the positions of
  X(G - p - 1) at depth G - 1 are the layer before it, and so on.

Except in the last case a question ends with the first position found, its *witness*, which is only
known to need more than T moves.

If questions take long, the program also guesses lower bounds between L and U, and tests them on the
positions that were hardest to settle (`guesses`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from frontier.cosets.questions import Asker, Farther, Portion, Witness
from frontier.puzzles import Board, GridPuzzle


@dataclass
class Answer:
    """The answer to a question so far.

    portions: the number of portions. cosets: the number of cosets in all portions. done: the
    searched portions by number.
    """

    portions: int
    cosets: int
    done: dict[int, Portion] = field(default_factory=dict)

    @property
    def searched(self) -> bool:
        """True if all portions were searched."""
        return len(self.done) == self.portions

    @property
    def missing(self) -> list[int]:
        """The numbers of the portions not yet searched."""
        return [number for number in range(self.portions) if number not in self.done]

    @property
    def farther(self) -> list[Farther]:
        """The positions found that need more moves, the farthest first."""
        positions = (position for portion in self.done.values() for position in portion.farther)
        return sorted(positions, key=lambda position: (-position.depth, position.board))

    def total(self, field_name: str) -> int | float:
        """Return the sum of a field of `Portion` over the searched portions."""
        return sum(getattr(portion, field_name) for portion in self.done.values())

    @property
    def seconds(self) -> float:
        """The processor seconds of the answer."""
        return self.total("seconds")


class Proof:
    """Bounds on God's number of a puzzle, and the answers that they follow from.

    deepest: the greatest distance of a pattern, and of a board of the region. period: p, see the
    module docstring. answers: the answers by the limits of their questions. witnesses: the
    witnesses of questions and of guesses. guessed: the processor seconds of guesses.
    """

    def __init__(self, deepest: tuple[int, int], period: int):
        self.deepest, self.period = deepest, period
        self.answers: dict[int, Answer] = {}
        self.witnesses: list[Witness] = []
        self.guessed = 0.0

    @property
    def upper(self) -> int:
        """A number of moves that suffices for every position."""
        empty = [t for t, answer in self.answers.items() if answer.searched and not answer.farther]
        return min([sum(self.deepest), *(limit + self.period - 1 for limit in empty)])

    @property
    def lower(self) -> int:
        """A number of moves that some position needs."""
        witnessed = (witness.limit + self.period for witness in self.witnesses)
        depths = (position.depth for position in self.farther)
        return max([self.deepest[0], *depths, *witnessed])

    def check_values(self, puzzle: GridPuzzle) -> None:
        """Raise ValueError if a board is no position of the puzzle, a position is listed twice, or
        a limit or a path is impossible."""
        boards = [of.board for of in self.witnesses]
        for answer in self.answers.values():
            farther = [of.board for of in answer.farther]
            if len(set(farther)) < len(farther):
                raise ValueError("a position is listed twice")
            boards += farther
            boards += [of.hardest[1] for of in answer.done.values() if of.hardest]
        codes, model = sorted(puzzle.goals[0]), puzzle.model
        wrong = [board for board in boards if sorted(board) != codes]
        if boards and not wrong:  # all at once, because there may be thousands
            reached = model.reach.contains(*model.states_of(np.array(boards)))
            wrong = [boards[i] for i in np.flatnonzero(~reached)]
        if wrong:
            raise ValueError(f"{str(wrong[0])[:100]} is no position of the puzzle")
        cells = [cell for of in self.farther for cell in of.blanks]
        if not all(0 <= limit < sum(self.deepest) for limit in self.answers):
            raise ValueError(f"a question is not about a limit from 0 to {sum(self.deepest) - 1}")
        if not all(cell < puzzle.cells for cell in cells):
            raise ValueError("a path leaves the board")

    def check(self) -> None:
        """Raise ValueError if the results contradict each other."""
        if self.lower > self.upper:
            raise ValueError(
                f"its results contradict each other: all positions take {self.upper} moves or "
                f"fewer, but one takes {self.lower}"
            )

    @property
    def known(self) -> bool:
        """True if God's number is known: both bounds are equal."""
        return self.lower == self.upper

    @property
    def farther(self) -> list[Farther]:
        """All positions that need more moves than the limits of their questions."""
        return [position for answer in self.answers.values() for position in answer.farther]

    def hardest(self, limit: int) -> list[Board]:
        """Return the positions that were hardest to settle in questions with greater limits, the
        hardest first. Their distances equal `limit` modulo p."""
        portions = (
            portion
            for greater, answer in self.answers.items()
            if greater > limit and (greater - limit) % self.period == 0
            for portion in answer.done.values()
        )
        hard = sorted((portion.hardest for portion in portions if portion.hardest), reverse=True)
        return [tuple(board) for _, board in hard]

    @property
    def seconds(self) -> float:
        """The processor seconds of all questions and guesses."""
        questions = sum(answer.seconds for answer in self.answers.values())
        return questions + sum(witness.seconds for witness in self.witnesses) + self.guessed

    def layer(self, depth: int) -> list[Farther] | None:
        """Return the positions at a depth; None if they are not all known."""
        answer = self.answers.get(depth - self.period)
        if depth > self.upper:
            return []
        if answer is None or not answer.searched:
            return None
        return [position for position in answer.farther if position.depth == depth]

    def last_layers(self) -> Iterator[tuple[int, list[Farther]]]:
        """Generate (depth, positions) of the last known layers, the deepest first."""
        depth = self.upper
        while self.known and (layer := self.layer(depth)) is not None:
            yield depth, layer
            depth -= 1

    def in_words(self, limit: int, whole: bool) -> str:
        """Return a question in words. whole: True if all positions are wanted, not one."""
        if whole:
            return f"which positions lie at depth {limit + self.period}?"
        return f"do all positions take at most {limit + self.period - 1} moves?"

    def next_question(self, at_most: int | None, layers: int) -> tuple[int, bool] | None:
        """Return the limit of the next question, and whether all of its positions are wanted; None
        if no question is left.

        at_most: the upper bound to prove, None for God's number itself. layers: how many of the
        last layers are wanted. The least limit is 0, because layers 0 and 1 need no search.
        """
        upper, lower = self.upper, self.lower
        if at_most is not None:
            answered = upper <= at_most or lower > at_most
            return None if answered else (at_most + 1 - self.period, False)
        if upper > lower:
            return upper - self.period - (upper - lower > 1), False
        for depth in range(upper, max(1, upper - layers), -1):
            if self.layer(depth) is None:
                return depth - self.period, True
        return None


def wrong_division(asker: Asker, limit: int, answer: Answer) -> str | None:
    """Return what is wrong with the numbers of cosets and portions of a question, or None."""
    cosets, portions = asker.cosets(limit), asker.portions(limit)
    if (answer.cosets, answer.portions) == (cosets, portions):
        return None
    return (
        f"the question of {limit} moves has {answer.cosets:,} cosets in {answer.portions:,} "
        f"portions, but this version makes {cosets:,} in {portions:,}: resume it with the version "
        "that began it, or start again with another store.path"
    )


def guesses(proof: Proof, seconds: float, now: Callable[[], float]) -> Iterator[tuple[int, float]]:
    """Generate guesses of lower bounds, by bisection: (the limit that a position has to exceed, the
    time at which to abandon the guess).

    A guess that is not confirmed in half of the time left counts as too high. Modulo p, the limits
    of guesses and the distances of the hard positions equal the limits of the questions. seconds:
    the time for all guesses. now: returns the time in seconds.
    """
    ends, high, period = now() + seconds, proof.upper - 1, proof.period
    while now() < ends:
        guess = (proof.lower + high + 1) // 2
        guess += (proof.upper - 1 - guess) % period
        if not proof.lower < guess <= high:
            return
        yield guess - period, (now() + ends) / 2
        if proof.lower < guess:
            high = guess - 1
