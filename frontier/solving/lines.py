"""Single positions if a move slides several tiles: a search over lines, bounded by groups.

In a shortest solution moves along a row and along a column alternate, because two successive moves
along one line could be a single move. So the search visits *lines* instead of positions. A line is
the set of positions that moves along one row, or along one column, join (docs/mathematics.md). A
position lies on two lines, and a solution is a walk over lines, each of which shares a position
with the next. Lines of rows and lines of columns alternate, so the graph of the lines is bipartite.

**Bound.** Let a solution of a position have k moves, along the lines u = v(1), ..., v(k) = w. Then
u is one of the two lines of the position, and w one of the two lines of the goal. If a is the
distance of u and w in the graph of the lines, then k >= a + 1, and k - a - 1 is even. Now
distinguish only the tiles of a group. The walk is also a walk over the lines of the resulting
*patterns*, so the distance of these lines is at most a, and has the same parity. Each move is one
step in every group, so the distances in several groups cannot be added, and the greatest is the
bound. The bound is 0 only if all distances are 0. Then the line is w, because each tile is in a
group, and at most one more move leads to the goal.

A group has a database for each of the goal's two lines. The graph is bipartite, so the kind of a
line shows whether a distance is odd, and one bit is enough to find the distance, as in
`frontier.solving.additive`. Lines also save memory: 2×8 has 10 lines, and 16 cells for the blank.

An iteration of IDA* has a part for each line of the position and each line of the goal. A part
skips a line that it has already met at the same or a smaller depth (`frontier.solving.paths`).

**Vertices.** Cells are numbered in reading order, s cells per line: cell i * s + j is the j-th of
line i, and the i-th of the line j across. The set of places of a group's tiles
(`frontier.puzzles.pattern_graph`) and a line of the board form a vertex. While the blank moves
along a line in reading order, neither the places nor the sequence of the tiles change. A line
across has the places and the sequence of the position with the blank in the line's first cell.
"""

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from frontier.jit import kernel
from frontier.kernels.distances import WORD_BITS, distance_change, residue_table
from frontier.puzzles import GridPuzzle, PatternPuzzle
from frontier.solving.blank_moves import Moves, images, moves_on, pattern_graph
from frontier.solving.deepening import MET_BITS
from frontier.solving.line_groups import Split, distance_of, residue_of
from frontier.solving.paths import (
    BLANK,
    FIRST_MIX,
    MOST_MOVES,
    VOLTAGE_BITS,
    VOLTAGES,
    is_new,
    nothing_met,
    state_after,
    take_best,
)
from frontier.solving.positions import Databases, Decider
from frontier.space.graph import BaseGraph, Space
from frontier.storage.tables import TableSource

LineTables = namedtuple("LineTables", "residue first odd move image home sizes")
"""The tables of G groups as the kernels read them. Vertices are numbered through all groups.

residue: uint64, the residues of all groups for both lines of the goal (see `residue_table`). first:
int64[2, vertices], the number of the first bit of each vertex in `residue`, for each line of the
goal. odd: int64[2, vertices], whether the distances of a vertex from that line are odd. move:
int64[vertices, K], the vertex of the line across through the k-th cell, times 2**VOLTAGE_BITS, plus
the number of a voltage; -1 if there is no such cell. image: unsigned[voltages, numbers]. home:
int64[2], the number of each line of the goal among the lines of its kind. sizes: int64[2], the
number of cells of a line of each kind."""

LinePath = namedtuple(
    "LinePath", "met salt vertex number distance line cell untried taken least blank nodes stop"
)
"""The memory of one thread: the path from the start, by depth.

salt: int64[1], how often the memory was used. vertex, number, distance: int64[depths, G]. line:
int64, the number of the line among the lines of its kind. cell: int64, the cell of the line that
holds the blank. untried: uint64, the cells still to try. taken: int64, the cell chosen. least:
int64[depths, K], the bound after each move. blank: int64, the cells that the blank visits in a
solution. nodes: int64[1], the nodes that the present call has visited.
"""


class Lines(Databases):
    """The databases of a puzzle whose moves slide several tiles.

    sizes: the number of tiles of each group, all equal.
    """

    period = 1

    def __init__(
        self, puzzle: GridPuzzle, sizes: Sequence[int], threads: int, table_source: TableSource
    ):
        super().__init__(puzzle)
        self.groups, self._split = len(sizes), Split(puzzle, sizes)
        side, code, models = puzzle.grid.line_length, self._split.code, self._split.models
        of_kinds = side, puzzle.cells // side  # the number of cells of a line of each kind
        moves = moves_on(puzzle.grid.rows, puzzle.grid.columns, "multi")
        # Groups of equal sizes have the same graph.
        graph, move, self._lines = line_graph(self._split.patterns[0], moves)

        def make() -> np.ndarray:
            shape = self.groups, 2, 2 * graph.vertices, code.words
            residue = np.zeros(shape, dtype=np.uint64)
            for g, end in np.ndindex(self.groups, 2):
                (place, *_), (sequence, *_) = models[g].origins()
                vertex, voltage = divmod(int(self._lines[end, place]), 1 << VOLTAGE_BITS)
                home = sequence[graph.permutations[voltage]]
                _, (sign,) = code.ranks(home[None])
                space, origins = Space(graph, [(vertex, sign)]), np.array([vertex])
                residue_table(space, (origins, home[None]), threads, residue[g, end])
            return residue.reshape(-1)

        vertices = np.arange(self.groups * graph.vertices)
        self._first = first = vertices[:: graph.vertices]  # the first vertex of each group
        words = np.arange(2 * len(vertices)).reshape(self.groups, 2, -1).swapaxes(0, 1)
        across = vertices % sum(of_kinds) >= of_kinds[1]
        of_groups = np.where(move < 0, -1, move + (first[:, None, None] << VOLTAGE_BITS))
        self.tables = LineTables(
            table_source("groups", make), words.reshape(2, -1) * (2 * code.words * WORD_BITS),
            np.array([across, ~across], dtype=np.int64), of_groups.reshape(len(vertices), -1),
            images(graph.permutations, code),
            np.array(divmod(self._split.home, side)), np.array(of_kinds),
        )  # fmt: skip

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and numbers of positions in all groups, from both of their lines:
        int64[N, 2, G] each. boards: int8[N, cells]."""
        places, numbers = self._split.states(boards)
        entries = self._lines[:, places].swapaxes(0, 1)
        vertices, voltages = np.divmod(entries, 1 << VOLTAGE_BITS)
        sequences = self.tables.image[voltages, numbers[:, None]]
        return vertices + self._first, sequences.astype(np.int64)

    def decider(self, stop: np.ndarray) -> "LineDecider":
        return LineDecider(self, stop)


class LineDecider(Decider):
    """IDA* over lines."""

    def __init__(self, databases: Lines, stop: np.ndarray):
        self._databases, self.stop = databases, stop
        moves, groups = databases.tables.move.shape[1], databases.groups
        depths = MOST_MOVES + 2
        vertex, number, distance = np.zeros((3, depths, groups), dtype=np.int64)
        line, cell, taken, blank = np.zeros((4, depths), dtype=np.int64)
        self.path = LinePath(
            nothing_met(MET_BITS), np.zeros(1, np.int64), vertex, number, distance, line, cell,
            np.zeros(depths, np.uint64), taken, np.zeros((depths, moves), np.int64), blank,
            np.zeros(1, np.int64), stop,
        )  # fmt: skip

    def bound(self, board: np.ndarray) -> int:
        (vertices,), (numbers,) = self._databases.states(board[None])
        return bound_of(board, vertices, numbers, self._databases.tables)

    def parts(self, board: np.ndarray, limit: int, least: int) -> list[tuple[np.ndarray, int, int]]:
        """Return a part for each line of the position and each line of the goal."""
        return [(board, kind, end) for kind in range(2) for end in range(2)]

    def begin(self) -> None:
        pass  # each part has a table of lines met of its own

    def search_part(
        self, part: tuple[np.ndarray, int, int], limit: int, most: int
    ) -> tuple[bool, int]:
        board, kind, end = part
        (vertices,), (numbers,) = self._databases.states(board[None])
        return search_lines(
            kind, end, vertices[kind], numbers[kind], int((board == BLANK).argmax()), limit, most,
            self._databases.tables, self.path,
        )  # fmt: skip

    @property
    def nodes(self) -> int:
        return int(self.path.nodes[0])

    @property
    def blanks(self) -> np.ndarray:
        return self.path.blank[1 : self.path.taken[-1] + 1].copy()


def line_graph(pattern: PatternPuzzle, moves: Moves) -> tuple[BaseGraph, np.ndarray, np.ndarray]:
    """Return the graph of the lines of a pattern, in which every move counts.

    Returns the graph, its moves in the form of `LineTables.move`, and int64[2, vertices of the
    pattern], the line of each kind through each vertex of the pattern, as an entry of `move`.
    """
    graph, move = pattern_graph(pattern, moves)
    side, identity = pattern.grid.line_length, graph.voltages.index(())
    lines = pattern.cells // side
    sets, kinds = len(move) // pattern.cells, side + lines
    move_to = [{q: k for k, q in enumerate(row)} for row in moves.target.tolist()]
    places = np.arange(len(move)).reshape(sets, lines, side)
    first = places << VOLTAGE_BITS | identity  # the move to the first cell of the line across
    back = np.full(places.shape, identity)  # the voltage of the move from there
    for i in range(1, lines):
        for j in range(side):
            first[:, i, j] = move[places[:, i, j], move_to[i * side + j][j]]
            at = first[:, i, j] >> VOLTAGE_BITS
            back[:, i, j] = move[at, move_to[j][i * side + j]] & VOLTAGES
    _, i, j = np.indices(places.shape)
    along = places // pattern.cells * kinds + i
    across = (first >> VOLTAGE_BITS) // pattern.cells * kinds + lines + j
    through = np.full((sets * kinds, max(side, lines)), -1, dtype=np.int64)
    through[along, j] = across << VOLTAGE_BITS | first & VOLTAGES
    through[across, i] = along << VOLTAGE_BITS | back
    source, k = np.nonzero(through >= 0)
    target, voltage = np.divmod(through[source, k], 1 << VOLTAGE_BITS)
    entries = np.stack([along << VOLTAGE_BITS | identity, through[along, j]])
    graph = BaseGraph(sets * kinds, graph.m, graph.voltages, source, target, voltage)
    return graph, through, entries.reshape(2, -1)


@kernel
def _look_ahead(depth, kind, end, room, tables, path):
    """Find the lines across with a bound of at most `room`, and the bound of each."""
    kept = np.uint64(0)
    for k in range(tables.sizes[kind]):
        if k == path.cell[depth]:
            continue
        least = np.int64(0)
        for g in range(path.vertex.shape[1]):
            vertex, number = path.vertex[depth, g], path.number[depth, g]
            residue = residue_of(end, *state_after(vertex, number, k, tables), tables)
            before = path.distance[depth, g]
            least = max(least, before + distance_change(before, residue))
            if least > room:
                break
        if least <= room:
            path.least[depth, k] = least
            kept |= np.uint64(1) << np.uint64(k)
    path.untried[depth] = kept


@kernel
def search_lines(kind, end, vertices, numbers, blank, limit, most, tables, path):
    """Return whether a position has a solution of at most `limit` moves that begins along its line
    of kind `kind` and ends along the goal's line of kind `end`, and the nodes visited. The search
    ends undecided after `most` nodes."""
    path.salt[0] += 1
    path.nodes[0] = 0
    groups, seed, nodes = vertices.size, np.uint64(path.salt[0]) * FIRST_MIX, 0
    side = tables.sizes[0]
    path.line[0], path.cell[0] = blank // side, blank % side
    if kind:
        path.line[0], path.cell[0] = blank % side, blank // side
    distance = np.int64(0)
    for g in range(groups):
        path.vertex[0, g], path.number[0, g] = vertices[g], numbers[g]
        path.distance[0, g] = distance_of(end, vertices[g], numbers[g], tables.move, tables)
        distance = max(distance, path.distance[0, g])
    if distance == 0:
        return _ends(0, kind, limit, tables, path), nodes
    if distance >= limit:
        return False, nodes
    depth = 0
    _look_ahead(0, kind, end, limit - 2, tables, path)
    while depth >= 0:
        if path.untried[depth] == 0:
            depth -= 1
            continue
        k = take_best(depth, path)
        if nodes >= most or path.stop[0]:
            return False, max(nodes, most)
        nodes += 1
        path.nodes[0] = nodes
        key = seed
        for g in range(groups):
            vertex, number = state_after(path.vertex[depth, g], path.number[depth, g], k, tables)
            residue, before = residue_of(end, vertex, number, tables), path.distance[depth, g]
            path.vertex[depth + 1, g], path.number[depth + 1, g] = vertex, number
            path.distance[depth + 1, g] = before + distance_change(before, residue)
            key = key * FIRST_MIX + np.uint64(vertex << 32 | number)
        path.line[depth + 1], path.cell[depth + 1] = k, path.line[depth]
        if path.least[depth, k] == 0:
            return _ends(depth + 1, kind, limit, tables, path), nodes
        if is_new(key, depth + 1, path.met):
            depth += 1
            _look_ahead(depth, (kind + depth) & 1, end, limit - depth - 2, tables, path)
    return False, nodes


@kernel
def _ends(depth, kind, limit, tables, path):
    """Write the solution that reaches a line of the goal at a depth, and return whether it has at
    most `limit` moves. Only at the goal itself may it have more."""
    side, last = tables.sizes[0], (kind + depth) & 1
    for d in range(depth):
        line, k = path.line[d], path.taken[d]
        path.blank[d + 1] = k * side + line if (kind + d) & 1 else line * side + k
    moves, home = depth, tables.home[1 - last]
    if path.cell[depth] != home:
        moves += 1
        path.blank[moves] = tables.home[0] * side + tables.home[1]
    path.taken[-1] = moves
    return moves <= limit


@kernel
def bound_of(board, vertices, numbers, tables):
    """Return a lower bound on the moves that a position needs, from its states.

    vertices, numbers: int64[2, G], see `Lines.states`.
    """
    least, blank, side = np.int64(MOST_MOVES), 0, tables.sizes[0]
    while board[blank] != BLANK:
        blank += 1
    if blank == tables.home[0] * side + tables.home[1]:  # only the goal needs no move
        home = True
        for cell in range(board.size):
            home &= board[cell] == cell or board[cell] == BLANK
        if home:
            return np.int64(0)
    for kind in range(2):
        for end in range(2):
            distance = np.int64(0)
            for g in range(vertices.shape[1]):
                distance = max(
                    distance,
                    distance_of(end, vertices[kind, g], numbers[kind, g], tables.move, tables),
                )
            least = min(least, distance + 1)
    return least
