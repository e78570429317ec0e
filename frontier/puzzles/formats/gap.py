"""Generators of a permutation group in the language of GAP (https://www.gap-system.org), as
PuzzleGeometry and twsearch write them.

* ``a:=(1,2,3)(4,5);`` names a permutation, written as cycles of positions counted from 1: the piece
  in position 1 goes to 2.
* ``Gen:=[a,b];`` and ``G:=Group(a,b);`` say which permutations are the moves, by name or in cycles.
  The last such list counts; without a list all permutations are moves.
* ``ip:=[[1,2],[3]];``, which PuzzleGeometry writes, says which pieces are alike.

Text from # to the end of a line is a comment. The reader ignores commands that name nothing, such
as ``Size(G);``, and drops the prefix ``M_``, which these programs put before all names of moves.
"""

import json
import re
from itertools import count

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.formats.definition import MOST_PIECES, Definition, whole_number

PERMUTATION = r"\(\)|(?:\(\d+(?:,\d+)*\))+"
ITEM = rf"{PERMUTATION}|[A-Za-z_]\w*"
LIST = re.compile(rf"(?:Group\(\[|Group\(|\[)((?:{ITEM})(?:,(?:{ITEM}))*)(?:\]\)|\)|\])")
"""Patterns of the parts of a statement, without spaces."""

PREFIX = "M_"

Cycles = list[list[int]]


def is_definition(text: str) -> bool:
    """Return whether a text is in the language of GAP."""
    return re.match(r"\s*([A-Za-z_]\w*\s*:=|Group\s*\()", _without_comments(text)) is not None


def read_definition(text: str, file: str) -> Definition:
    """Return the definition in a text; raises InputError, whose message begins with `file` and the
    name, for anything that is not in this format or not supported."""
    named: dict[str, Cycles] = {}
    lists: dict[str, list[str]] = {}
    moves, alike = None, []
    for statement in "".join(_without_comments(text).split()).split(";"):
        name, assigned, value = statement.rpartition(":=")
        at = f"{file}: {name}{assigned}"
        if re.fullmatch(PERMUTATION, value) and assigned:
            named[name] = _cycles(value, at)
        elif name == "ip":
            alike = _groups(value, at)
        elif match := LIST.fullmatch(value):
            moves = []
            for item in re.findall(ITEM, match[1]):
                moves += lists.get(item) or [_name_of(item, named, at)]
            lists[name] = moves
        elif assigned:
            raise InputError(
                f"{at}{value}: expected a permutation such as (1,2,3)(4,5), or a list or Group of "
                "some"
            )
    chosen = dict.fromkeys(named if moves is None else moves)
    points = [point for name in chosen for cycle in named[name] for point in cycle]
    size = max([0, *points, *(point for group in alike for point in group)])
    if not size:
        raise InputError(f"{file} has no permutation that moves anything")
    definition = Definition()
    definition.add_set("POINTS", size, 1)
    definition.pieces, definition.turns = np.arange(1, size + 1), np.zeros(size, dtype=np.int64)
    for group in alike:
        definition.pieces[np.array(group) - 1] = min(group)
    prefix = PREFIX if all(name.startswith(PREFIX) for name in chosen) else ""
    for name in chosen:
        source = np.arange(size)
        for cycle in named[name]:
            source[np.array(cycle) - 1] = np.roll(cycle, 1) - 1
        definition.add_move(name.removeprefix(prefix), source, np.zeros_like(source), file)
    return definition


def _without_comments(text: str) -> str:
    return re.sub(r"#.*", "", text)


def _name_of(item: str, named: dict[str, Cycles], at: str) -> str:
    """Return the name of a permutation in a list; a permutation written in cycles gets a new
    name."""
    if item in named:
        return item
    if not item.startswith("("):
        raise InputError(f"{at}{item}: no permutation has this name; define it first")
    name = next(name for n in count(1) if (name := f"g{n}") not in named)
    named[name] = _cycles(item, at)
    return name


def _cycles(text: str, at: str) -> Cycles:
    cycles = [
        [whole_number(point, f"{at}{text}: ", 1, MOST_PIECES) for point in cycle.split(",")]
        for cycle in re.findall(r"\(([^()]+)\)", text)
    ]
    points = [point for cycle in cycles for point in cycle]
    if len(set(points)) < len(points):
        raise InputError(f"{at}{text} names a position twice")
    return cycles


def _groups(text: str, at: str) -> list[list[int]]:
    """Return the lists of positions of like pieces."""
    try:
        groups = [
            [whole_number(n, at, 1, MOST_PIECES) for n in group] for group in json.loads(text)
        ]
    except (TypeError, RecursionError, json.JSONDecodeError):
        raise InputError(f"{at}{text}: expected lists of positions, as in [[1,2],[3]]") from None
    points = [point for group in groups for point in group]
    if len(set(points)) < len(points) or not all(groups):
        raise InputError(
            f"{at}{text}: every position must be in exactly one list, and no list may be empty"
        )
    return groups
