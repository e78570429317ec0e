"""One blank on any graph: a move slides a tile along an edge into the empty cell.

Tiles whose label stands once on the board are distinct; those that share a label (a colour)
count as the same. R. M. Wilson, Graph Puzzles, Homotopy, and the Alternating Group (J. Comb.
Theory B 16, 1974), says which positions can be reached on a non-separable graph when all tiles
differ.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.board_shapes import Sort
from frontier.puzzles.boards import OPEN, Board
from frontier.puzzles.footprints import footprint_of
from frontier.puzzles.notation import BLANKS, OPEN_MARK, boards_given, check_label, first_whole
from frontier.puzzles.picture import Point, laid_out, shown_in
from frontier.puzzles.puzzle import Puzzle
from frontier.text import counted

MOST_CELLS = 64


class Graph(Puzzle):
    """A sliding puzzle on a graph, of which `adjacency` has the neighbours of each cell."""

    kind = "graph"

    def __init__(
        self,
        adjacency: Sequence[Sequence[int]],
        goal=None,
        goals: Sequence | None = None,
        start=None,
        blank: str = ".",
        picture: str | None = None,
    ):
        _check_graph(adjacency)
        check_label(blank, "puzzle.blank")
        if blank == OPEN_MARK:
            raise InputError(f"puzzle.blank = {blank!r}: ? stands for anything in a goal")
        cells = range(len(adjacency))
        self.cells, self._shown = len(cells), picture
        if picture is not None:
            _check_picture(picture, self.cells)
        self._edges = tuple((u, v) for u, row in enumerate(adjacency) for v in row if u < v)
        self._names = tuple(map(str, cells))
        given = boards_given(goal, goals, start)
        boards = [(name, self._marks(board, name)) for name, board in given]
        count = Counter(first_whole(boards)[1])
        for mark in (blank, *BLANKS):
            count.pop(mark, None)
        labels = [blank, *count.elements()]
        ends = np.cumsum([1, *count.values()]).tolist()
        self._colours = [tuple(range(*ends)) for ends in pairwise(ends)]
        # The ways that leave a cell, in the order in which its neighbours are given.
        ways = [
            {u: row[n] for u, row in enumerate(adjacency) if n < len(row)}
            for n in range(max(map(len, adjacency)))
        ]
        footprint = footprint_of(ways, [(cell,) for cell in cells], cells)
        single = tuple(codes[0] for codes in self._colours if len(codes) == 1)
        sorts = [Sort(footprint, single, True)] if single else []
        sorts += [Sort(footprint, codes, False) for codes in self._colours if len(codes) > 1]
        super().__init__(cells, sorts, labels, "step", boards)

    @property
    def title(self) -> str:
        kinds = counted(len(self._colours), "kind")
        return f"graph of {counted(self.cells, 'cell')}, {kinds} of tiles"

    def _codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = list(super()._codes(marks, name, part))
        said = f"{name} = {self._text(marks)}"
        for codes in self._colours:
            cells = [cell for cell, code in enumerate(board) if code == codes[0]]
            if len(cells) > len(codes):
                times = counted(len(codes), "time")
                raise InputError(f"{said}: {self.labels[codes[0]]!r} stands more than {times}")
            for cell, code in zip(cells, codes, strict=False):
                board[cell] = code
        if (blanks := board.count(0)) > 1 or blanks + board.count(OPEN) == 0:
            raise InputError(
                f"{said} has {blanks} blanks: a graph puzzle has one ({self.labels[0]!r})"
            )
        return tuple(board)

    def _kinds(self) -> list[Sequence[int]]:
        return self._colours

    @cached_property
    def _places(self) -> tuple[Point, ...]:
        if self._shown is None:
            return laid_out(self.cells, self._edges)
        return shown_in(self._shown, self._edges)

    def name_move(self, before: Board, after: Board) -> str:
        """The label of the tile, the cell it leaves and the cell it goes to."""
        source, target = after.index(0), before.index(0)
        return f"{self.labels[before[source]]} {source}→{target}"


def _check_graph(adjacency: Sequence[Sequence[int]]) -> None:
    cells = len(adjacency)
    if not 1 <= cells <= MOST_CELLS:
        raise InputError(f"puzzle.adjacency has {cells} cells: 1..{MOST_CELLS} are supported")
    for u, neighbours in enumerate(adjacency):
        for v in neighbours:
            if not 0 <= v < cells or v == u:
                raise InputError(
                    f"puzzle.adjacency: cell {u} names the neighbour {v}; its neighbours are other "
                    f"cells, 0..{cells - 1}"
                )
            if u not in adjacency[v]:
                raise InputError(
                    f"puzzle.adjacency: cell {u} names {v}, but {v} does not name {u}; edges go "
                    "both ways"
                )
        if len(set(neighbours)) < len(neighbours):
            raise InputError(f"puzzle.adjacency: cell {u} names a neighbour twice")


def _check_picture(picture: str, cells: int) -> None:
    numbers = sorted(int(number) for number in re.findall(r"\d+", picture))
    if numbers != list(range(cells)):
        raise InputError(
            f"puzzle.picture must show each of the cells 0..{cells - 1} once; it shows {numbers}"
        )
