"""One blank on any graph: a move slides a tile along an edge into the empty cell.

Tiles that share a label (a colour) count as the same; all others are distinct. R. M. Wilson, Graph
Puzzles, Homotopy, and the Alternating Group (J. Comb. Theory B 16, 1974), shows which positions can
be reached on a non-separable graph if all tiles differ.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from frontier.errors import InputError
from frontier.puzzles.alike import sliding_encoding
from frontier.puzzles.board_shapes import Sort, footprint_of
from frontier.puzzles.keyed import keyed_model
from frontier.puzzles.model import Model
from frontier.puzzles.notation import (
    BLANKS,
    OPEN_MARK,
    Drawing,
    Notation,
    boards_given,
    check_label,
    check_looks,
    first_whole,
    joined,
    labels_given,
    read_boards,
)
from frontier.puzzles.picture import laid_out, shown_in
from frontier.puzzles.pieces import OPEN, Board, Pieces
from frontier.puzzles.puzzle import USUAL_WORDS, Puzzle, Words
from frontier.text import counted

MOST_CELLS = 64


class GraphNotation(Notation):
    """Boards with one label per cell; tiles with the same label count as the same."""

    def codes(self, marks: Sequence[str], name: str, part: bool) -> Board:
        board = list(super().codes(marks, name, part))
        message = f"{name} = {self.text(marks)}"
        for codes in self.drawing.colours:
            cells = [cell for cell, code in enumerate(board) if code == codes[0]]
            if len(cells) > len(codes):
                times = counted(len(codes), "time")
                raise InputError(f"{message}: {self.labels[codes[0]]!r} appears more than {times}")
            for cell, code in zip(cells, codes, strict=False):
                board[cell] = code
        if (blanks := board.count(0)) > 1 or blanks + board.count(OPEN) == 0:
            raise InputError(f"{message} has {blanks} blanks: expected one ({self.labels[0]!r})")
        return tuple(board)

    def name_move(self, before: Board, after: Board) -> str:
        """Return the label of the tile, the cell it leaves and the cell it goes to."""
        source, target = after.index(0), before.index(0)
        return f"{self.labels[before[source]]} {source}→{target}"


def graph_puzzle(
    adjacency: Sequence[Sequence[int]],
    goal=None,
    goals: Sequence | None = None,
    start=None,
    blank: str = ".",
    colours: Mapping[str, str] | None = None,
    picture: str | None = None,
) -> Puzzle:
    """Return a sliding puzzle on a graph. adjacency: for each cell, the cells to which its tile can
    slide."""
    _check_graph(adjacency)
    check_label(blank, "puzzle.blank")
    if blank == OPEN_MARK:
        raise InputError(
            f"puzzle.blank = {blank!r}: ? is reserved: in a goal it stands for any piece"
        )
    cells = range(len(adjacency))
    if picture is not None:
        _check_picture(picture, len(cells))
    directed = [(u, v) for u, row in enumerate(adjacency) for v in row]
    one_way = [(u, v) for u, v in directed if u not in adjacency[v]]
    edges = tuple(sorted({(min(edge), max(edge)) for edge in directed}))
    boards_of_config = boards_given(goal, goals, start)
    boards = [(name, labels_given(board, len(cells), name)) for name, board in boards_of_config]
    whole = first_whole(boards)[1]
    count = Counter(whole)
    for mark in (blank, *BLANKS):
        count.pop(mark, None)
    ends = np.cumsum([1, *count.values()]).tolist()
    check_looks("colours", colours, count)
    kinds = [tuple(range(*ends)) for ends in pairwise(ends)]
    # The ways that leave a cell, in the given order of its neighbours.
    ways = [
        {u: row[n] for u, row in enumerate(adjacency) if n < len(row)}
        for n in range(max(map(len, adjacency)))
    ]
    footprint = footprint_of(ways, [(cell,) for cell in cells], cells)
    single = tuple(codes[0] for codes in kinds if len(codes) == 1)
    sorts = [Sort(footprint, single, True)] if single else []
    sorts += [Sort(footprint, codes, False) for codes in kinds if len(codes) > 1]
    pieces = Pieces(
        reading=np.array(cells),
        sorts=tuple(sorts),
        rule=Pieces.whole_once(joined(whole)),
    )
    drawing = Drawing(
        cache(lambda: laid_out(len(cells), edges) if picture is None else shown_in(picture, edges)),
        kinds,
        edges,
        tuple(map(str, cells)),
        painted=dict(colours or {}),
    )
    notation = GraphNotation(pieces, [blank, *count.elements()], drawing)
    boards_read = read_boards(notation, boards)
    model = Model(sliding_encoding(pieces, "step", boards_read), boards_read.start)
    words = USUAL_WORDS
    if one_way:
        model = keyed_model(model, undone=False)
        words = Words(
            config="puzzle.adjacency: tiles slide from cell {} to {} but not back, so depths count "
            "moves from the goal, not to it".format(*one_way[0])
        )
    title = f"graph of {counted(len(cells), 'cell')}, {counted(len(kinds), 'kind')} of tiles"
    return Puzzle("graph", title, model, notation, words)


def _check_graph(adjacency: Sequence[Sequence[int]]) -> None:
    cells = len(adjacency)
    if not 1 <= cells <= MOST_CELLS:
        raise InputError(f"puzzle.adjacency has {cells} cells: 1..{MOST_CELLS} are supported")
    for u, neighbours in enumerate(adjacency):
        for v in neighbours:
            if not 0 <= v < cells or v == u:
                raise InputError(
                    f"puzzle.adjacency: cell {u} names {v} as a neighbour; expected another cell "
                    f"of 0..{cells - 1}"
                )
        if len(set(neighbours)) < len(neighbours):
            raise InputError(f"puzzle.adjacency: cell {u} names a neighbour twice")


def _check_picture(picture: str, cells: int) -> None:
    numbers = sorted(int(number) for number in re.findall(r"\d+", picture))
    if numbers != list(range(cells)):
        raise InputError(
            f"puzzle.picture must show each of the cells 0..{cells - 1} once; it shows {numbers}"
        )
