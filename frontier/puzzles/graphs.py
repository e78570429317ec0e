"""One blank on any graph: a move slides a tile along an edge into the empty cell.

Tiles whose label stands once on the board are told apart; those that share a label (a colour)
count as the same. R. M. Wilson, Graph Puzzles, Homotopy, and the Alternating Group (J. Comb.
Theory B 16, 1974), says which positions can be reached when all tiles differ.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from frontier.errors import InputError
from frontier.puzzles.labelled import Labelled
from frontier.puzzles.notation import BLANKS, OPEN_MARK, check_label, joined, labels_given
from frontier.puzzles.picture import Part, Picture, Point, covers, open_cells
from frontier.puzzles.pieces import OPEN, boards_given
from frontier.puzzles.plane import laid_out, shown_in
from frontier.puzzles.puzzle import Board
from frontier.puzzles.shapes import Sort, footprint_of_cells
from frontier.text import counted

MOST_CELLS = 64


class Graph(Labelled):
    """A sliding puzzle on a graph.

    adjacency: for each cell, numbered from 0, its neighbours; edges go both ways.
    goal: a label a cell, as a list or as text; `blank` or "." is the empty cell, "?" in a goal may
        be anything. goals: several of them, instead. start: a board whose distance is wanted.
    blank: label of the empty cell.
    picture: text in which the number of each cell stands where the cell is drawn.
    """

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
        given = boards_given(goal, goals)
        self.cells = len(adjacency)
        self._blank, self._shown, self._adjacency = blank, picture, adjacency
        self._edges = tuple((u, v) for u, row in enumerate(adjacency) for v in row if u < v)
        if picture is not None:
            _check_picture(picture, self.cells)
        labelled = [labels_given(board, self.cells, "puzzle.goal") for board in given]
        labelled += [labels_given(start, self.cells, "puzzle.start")] if start is not None else []
        whole = [words for words in labelled if OPEN_MARK not in words]
        if not whole:
            raise InputError(
                "no board of this puzzle is whole, so its tiles are not known; give a puzzle.start "
                "without ?"
            )
        count = Counter(word for word in whole[0] if not self._is_blank(word))
        if (blanks := self.cells - count.total()) != 1:
            raise InputError(
                f"board {joined(whole[0])} has {blanks} blanks: a graph puzzle has one ({blank!r})"
            )
        self._labels = [blank]
        self._colours: dict[str, list[int]] = {}
        for word, number in count.items():
            first = len(self._labels)
            self._colours[word] = list(range(first, first + number))
            self._labels += [word] * number
        footprint = footprint_of_cells(adjacency)
        single = tuple(codes[0] for codes in self._colours.values() if len(codes) == 1)
        sorts = [Sort(footprint, single, True)] if single else []
        sorts += [
            Sort(footprint, tuple(codes), False)
            for codes in self._colours.values()
            if len(codes) > 1
        ]
        reference = self._codes(whole[0], "puzzle.goal", part=False)
        began = None
        if start is not None:
            began = self._codes(labelled.pop(), "puzzle.start", part=False)
        boards = [self._codes(words, "puzzle.goal", part=OPEN_MARK in words) for words in labelled]
        super().__init__(range(self.cells), sorts, "step", reference, boards, began)

    @property
    def title(self) -> str:
        kinds = counted(len(self._colours), "kind")
        return f"graph of {counted(self.cells, 'cell')}, {kinds} of tiles"

    def _is_blank(self, word: str) -> bool:
        return word == self._blank or word in BLANKS

    def _codes(self, words: Sequence[str], name: str, part: bool) -> Board:
        """The codes of labels; tiles of one colour in the order of their codes."""
        left = {word: list(codes) for word, codes in self._colours.items()}
        board, blanks = [], 0
        for word in words:
            if self._is_blank(word):
                board.append(0)
                blanks += 1
            elif part and word == OPEN_MARK:
                board.append(OPEN)
            elif word not in left:
                raise InputError(
                    f"{name} = {joined(words)}: {word!r} is no label of this puzzle; its "
                    f"labels are {' '.join(self._colours)} and {self._blank} for the blank"
                )
            elif not left[word]:
                raise InputError(
                    f"{name} = {joined(words)}: {word!r} stands more than "
                    + counted(len(self._colours[word]), "time")
                )
            else:
                board.append(left[word].pop(0))
        if blanks > 1 or (blanks == 0 and not part):
            raise InputError(
                f"{name} = {joined(words)} has {blanks} blanks: a graph puzzle has one "
                f"({self._blank!r})"
            )
        return tuple(board)

    def parse(self, notation) -> Board:
        return self._codes(labels_given(notation, self.cells, "board"), "board", part=False)

    def picture(self, board: Board) -> Picture:
        kinds = {code: n for n, codes in enumerate(self._colours.values()) for code in codes}
        parts = [
            Part(code, self._labels[code], self._labels[code], kinds[code], cells)
            for code, cells in covers(board).items()
        ]
        return Picture(
            places=self._places,
            parts=tuple(parts),
            open=open_cells(board),
            kinds=len(self._colours),
            ordered=False,
            edges=self._edges,
            names=tuple(map(str, range(self.cells))),
        )

    @cached_property
    def _places(self) -> tuple[Point, ...]:
        if self._shown is None:
            return laid_out(self._adjacency)
        return shown_in(self._shown, self._edges)

    def name_move(self, before: Board, after: Board) -> str:
        """The label of the tile, the cell it leaves and the cell it goes to."""
        source, target = after.index(0), before.index(0)
        return f"{self._labels[before[source]]} {source}→{target}"

    def _why_not(self, board: Board, name: str) -> str:
        return (
            f"{name} {list(board)}: codes are 0 (the blank) and 1..{len(self._labels) - 1} for the "
            f"tiles {joined(self._labels[1:])}, each once"
        )


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
