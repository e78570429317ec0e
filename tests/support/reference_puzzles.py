"""Puzzles with all their boards and moves, written without the package.

A board of tiles is a flat tuple, one on a graph a text with a label a cell, one of blocks the set
of its pieces. What a move is called is done to the board as it is written, like pieces as they are
named there. One on cells of its own is the set of its pieces. One of a pattern is a flat tuple with
"x" for a tile that is not labelled, one of a permutation puzzle a tuple of (label, orientation).
"""

import json
import tomllib
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path

from tests.support.reference_blocks import (
    agreeing,
    all_positions,
    block_moves,
    board_cells,
    position,
)
from tests.support.reference_cells import both_ways, floor_moves, floor_position
from tests.support.reference_permutations import moves_from, undone
from tests.support.reference_search import blank_moves, layers_of, within_reach

CONFIGS = Path(__file__).parents[2] / "configs"
WAYS = {"↑": (-1, 0), "↓": (1, 0), "←": (0, -1), "→": (0, 1)}


@dataclass(frozen=True, eq=False)
class Case:
    """A puzzle for the package, and what its boards and moves are without it.

    table: the [puzzle] table of a config. goals: the boards at depth 0. neighbours: the boards one
    move away. read: a board from what the package writes; text: what the package reads. do: what
    is written after the move of a name. start: goals that it cannot reach do not count.
    """

    table: dict
    goals: Iterable
    neighbours: Callable[[Hashable], Iterable]
    read: Callable[[object], Hashable]
    text: Callable[[Hashable], str]
    do: Callable[[object, str], object]
    start: Hashable | None = None

    @cached_property
    def depths(self) -> dict:
        """The depth of every board that can be reached."""
        goals = set(self.goals)
        if self.start is not None and len(goals) > 1:
            goals = within_reach(goals, self.start, self.neighbours)
        layers = layers_of(goals, self.neighbours)
        return {board: depth for depth, layer in enumerate(layers) for board in layer}

    @cached_property
    def shortest(self) -> dict:
        """The number of shortest ways from every board to a goal."""
        ways = {}
        for board, depth in sorted(self.depths.items(), key=lambda item: item[1]):
            near = {b for b in self.neighbours(board) if self.depths[b] == depth - 1}
            ways[board] = sum(ways[b] for b in near) if depth else 1
        return ways


def of_config(name: str) -> Case:
    """The puzzle of one of the configs."""
    table = tomllib.loads((CONFIGS / f"{name}.toml").read_text())["puzzle"]
    kinds = {"tiles": tiles, "blocks": blocks, "graph": graph, "cells": cells}
    return kinds[table.pop("kind")](**table)


def agrees(board, pattern) -> bool:
    return all(there in ("?", here) for here, there in zip(board, pattern, strict=True))


# --- tiles


def tiles(rows: int, columns: int, metric: str = "step", **more) -> Case:
    """The tile puzzle; `more`: goal or goals, with "?" for tiles left open."""
    goals = [flat(goal) for goal in more.get("goals", [more["goal"]] if "goal" in more else [])]
    if any("?" in goal for goal in goals):
        every = list(permutations(range(rows * columns)))
        goals = [board for board in every if any(agrees(board, goal) for goal in goals)]

    def neighbours(board):
        return blank_moves(rows, columns, board) if metric == "step" else lines(board)

    def lines(board):
        """Rows of tiles of any length slide by one cell."""
        for way in WAYS:
            on = board
            while (on := pushed(rows, columns, on, way)) is not None:
                yield on

    def do(written, name):
        """A move such as 3,4←: first 3 slides to the left, then 4."""
        board, way = flat(written), name[-1]
        for tile in map(int, name[:-1].split(",")):
            after = pushed(rows, columns, board, way)
            assert after[board.index(0)] == tile
            board = after
        return [list(board[i : i + columns]) for i in range(0, len(board), columns)]

    table = {"kind": "tiles", "rows": rows, "columns": columns, "metric": metric, **more}
    goals = goals or [tuple(range(rows * columns))]
    return Case(table, goals, neighbours, flat, lambda board: " ".join(map(str, board)), do)


def pushed(rows: int, columns: int, board: tuple, way: str) -> tuple | None:
    """The board after the tile behind the blank slides this way, None if there is none."""
    blank = board.index(0)
    row, column = divmod(blank, columns)
    row, column = row - WAYS[way][0], column - WAYS[way][1]
    if not (0 <= row < rows and 0 <= column < columns):
        return None
    tiles = list(board)
    tiles[blank], tiles[row * columns + column] = tiles[row * columns + column], 0
    return tuple(tiles)


def flat(rows) -> tuple:
    return tuple(tile for row in rows for tile in row)


# --- patterns


def patterns(rows: int, columns: int, labels: list[int], metric: str = "step") -> Case:
    """The tile puzzle with all tiles alike but for some.

    Where moves of other tiles are free, a board is the set of all boards that these lead to.
    """
    cells = rows * columns

    def read(written):
        board = tuple(tile if tile in (0, *labels) else "x" for tile in flat(written))
        return board if metric == "step" else region(board)

    def region(board):
        return frozenset(set().union(*layers_of([board], lambda at: slid(at, free=True))))

    def slid(board, free):
        return [
            after
            for after in blank_moves(rows, columns, board)
            if (board[after.index(0)] == "x") == free
        ]

    def neighbours(board):
        if metric == "step":
            return blank_moves(rows, columns, board)
        return {region(after) for at in board for after in slid(at, free=False)}

    def text(board):
        board = board if metric == "step" else min(board, key=lambda at: at.index(0))
        return " ".join(map(str, board))

    def do(written, name):
        """A move such as 3←; the blank is brought to the tile where other tiles move freely."""
        before = flat(written)
        for board in [before] if metric == "step" else sorted(region(before), key=str):
            after = pushed(rows, columns, board, name[-1])
            if after is not None and str(after[board.index(0)]) == name[:-1]:
                return [list(after[i : i + columns]) for i in range(0, cells, columns)]
        raise AssertionError(f"{written} has no move {name}")

    table = {"kind": "pattern", "rows": rows, "columns": columns, "labels": labels}
    goal = read([range(cells)])
    return Case({**table, "metric": metric}, [goal], neighbours, read, text, do)


# --- blocks


def blocks(metric: str = "step", alike=(), **more) -> Case:
    """A block puzzle; `more`: goal or goals, which may be parts of boards, and start."""
    drawings = [drawing(board) for board in more.get("goals", [more.get("goal")])]
    whole = next(d for d in [*drawings, drawing(more.get("start", "?"))] if "?" not in d)
    cells = board_cells(whole)
    if any("?" in d for d in drawings):
        every = all_positions(cells, position(whole, alike))
        goals = set().union(*(agreeing(cells, d, every, alike) for d in drawings))
    else:
        goals = {position(d, alike) for d in drawings}

    def text(board):
        free = {group: list(group) for group in alike}
        marks = dict.fromkeys(cells, ".")
        for kind, covered in sorted(board, key=lambda piece: (piece[0], sorted(piece[1]))):
            letter = free[kind].pop() if kind in free else kind
            marks |= dict.fromkeys(covered, letter)
        rows = whole.split("/")
        return "/".join(
            "".join(marks.get((r, c), "#") for c in range(len(row))) for r, row in enumerate(rows)
        )

    def do(written, name):
        """A move such as h←←: piece h goes two cells to the left."""
        letter, *ways = name
        assert ways
        marks = {(r, c): mark for r, row in enumerate(written) for c, mark in enumerate(row)}
        for way in ways:
            piece = {cell for cell in marks if marks[cell] == letter}
            there = {(r + WAYS[way][0], c + WAYS[way][1]) for r, c in piece}
            assert all(marks.get(cell) in (".", letter) for cell in there)
            marks |= dict.fromkeys(piece, ".") | dict.fromkeys(there, letter)
        return ["".join(marks[r, c] for c in range(len(row))) for r, row in enumerate(written)]

    start = position(drawing(more["start"]), alike) if "start" in more else None
    return Case(
        {"kind": "blocks", "metric": metric, "alike": list(alike), **more},
        goals,
        lambda board: block_moves(cells, board, metric),
        lambda written: position("/".join(written), alike),
        text,
        do,
        start,
    )


def drawing(board: str) -> str:
    """A board's rows, parted by slashes."""
    return "/".join(board.replace("/", "\n").replace(" ", "").split())


# --- graphs


def graph(adjacency, goal: str, blank: str = ".", **more) -> Case:
    """A puzzle on a graph whose labels are letters."""
    goals = ["".join(goal.split())]
    if "?" in goals[0]:
        every = {"".join(labels) for labels in permutations(more["start"])}
        goals = [board for board in every if agrees(board, goals[0])]

    def slid(board, source, target):
        labels = list(board)
        labels[source], labels[target] = blank, labels[source]
        return "".join(labels)

    def neighbours(board):
        here = board.index(blank)
        return {slid(board, there, here) for there in adjacency[here]}

    def do(written, name):
        """A move such as B 3→5: a tile labelled B goes from cell 3 to cell 5."""
        label, way = name.split(" ")
        source, target = map(int, way.split("→"))
        assert (written[source], written[target]) == (label, blank)
        assert target in adjacency[source]
        return slid(written, source, target)

    start = "".join(more["start"].split()) if "start" in more else None
    table = {"kind": "graph", "adjacency": adjacency, "goal": goal, "blank": blank, **more}
    return Case(table, goals, neighbours, str, str, do, start)


# --- cells of one's own

HEXAGON = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if abs(x + y) <= 1]
LINES = {
    name: [(a, (a[0] + x, a[1] + y)) for a in HEXAGON if (a[0] + x, a[1] + y) in HEXAGON]
    for name, (x, y) in {"→/←": (1, 0), "↘/↖": (0, 1), "↙/↗": (-1, 1)}.items()
}


def cells(
    cells, moves, pieces: str, goal: str | None = None, alike=(), metric="step", **more
) -> Case:
    """A puzzle on cells whose labels are letters; moves: name of both ways -> pairs."""
    ways = both_ways(moves.values())
    names = [way for name in moves for way in name.split("/")]

    def neighbours(board):
        return floor_moves(ways, board, metric)

    goals = [floor_position(cells, goal or pieces, alike)]
    if goal and "?" in goal:
        every = set().union(*layers_of([floor_position(cells, pieces, alike)], neighbours))
        empty = {cell for cell, mark in zip(cells, goal, strict=True) if mark == "."}
        shown = floor_position(cells, goal, alike)
        goals = [b for b in every if shown <= b and not any(empty & at for _, at in b)]

    def text(board):
        free = {min(group): sorted(group) for group in alike}
        marks = dict.fromkeys(cells, ".")
        for kind, covered in sorted(board, key=lambda piece: (piece[0], sorted(piece[1]))):
            marks |= dict.fromkeys(covered, free[kind].pop() if kind in free else kind)
        return "".join(marks.values())

    def do(written, name):
        """A move such as A ↘ ↘: piece A goes two steps this way."""
        label, *steps = name.split(" ")
        marks = dict(zip(cells, written, strict=True))
        for step in steps:
            there = ways[names.index(step)]
            piece = {cell for cell in cells if marks[cell] == label}
            assert all(marks[there[cell]] in (".", label) for cell in piece)
            marks |= dict.fromkeys(piece, ".") | {there[cell]: label for cell in piece}
        return "".join(marks.values())

    table = {
        "kind": "cells", "cells": list(cells), "moves": moves, "pieces": pieces, "goal": goal,
        "alike": list(alike), "metric": metric, **more,
    }  # fmt: skip
    table = {key: value for key, value in table.items() if value is not None}
    table = json.loads(json.dumps(table))  # as in a file, where there are no tuples
    return Case(
        table, goals, neighbours, lambda written: floor_position(cells, written, alike), text, do
    )


# --- permutations


def permutation(generators: dict, orientations: int = 1, goals: list[str] = (), **more) -> Case:
    """A permutation puzzle; its moves are images, or such with turns, and can all be undone.

    goals: texts with a letter a piece, which is not turned; by default all pieces differ.
    """
    moves, named = {}, {}
    for name, given in generators.items():
        move = given if isinstance(given, dict) else {"moves": given}
        moves[name] = move["moves"], move.get("turns", [0] * len(move["moves"]))
        named[name] = moves[name]
        if more.get("closed") and undone(moves[name]) not in moves.values():
            named[f"{name}'"] = undone(moves[name])
    positions = len(next(iter(moves.values()))[0])
    each = [orientations] * positions

    def read(written):
        parts = (mark.partition("+") for mark in written)
        return tuple((label, int(turn or 0)) for label, _, turn in parts)

    def write(board):
        marks = [f"{label}+{turn}" if turn else label for label, turn in board]
        return "".join(marks) if all(len(mark) == 1 for mark in marks) else marks

    def do(written, name):
        (after,) = moves_from([named[name]], each, read(written))
        return write(after)

    table = {"kind": "permutations", "generators": generators, "orientations": orientations, **more}
    return Case(
        {**table, **({"goals": list(goals)} if goals else {})},
        [read(goal) for goal in goals or [[str(n) for n in range(1, positions + 1)]]],
        lambda board: moves_from(named.values(), each, board),
        read,
        lambda board: " ".join(write(board)),
        do,
    )
