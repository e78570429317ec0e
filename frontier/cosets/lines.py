"""Single positions where a move slides several tiles: by lines, with the greatest of some bounds.

In a shortest solution moves along a row and along a column alternate, as two moves along one line
are one. So take *lines* instead of positions: all positions that moves along one row join, or along
one column (docs/mathematics.md). A position lies on two lines, and a solution is a walk over
lines, of which each shares a position with the next one. A line of a row is followed by one of a
column: the graph of the lines is bipartite.

**Bound.** Let a solution of a position have k moves, along the lines u = v(1), ..., v(k) = w. Then
u is one of the two lines of the position, and w one of the two lines of the goal. If these two are
at distance a in the graph of the lines, then k >= a + 1, and k - a - 1 is even. Now tell only the
tiles of a group apart. The walk is one of such *patterns*, too, so the distance of their lines is
at most a, and of its parity. Each move is one step in every group; so the distances of several
groups cannot be added, and the greatest of them is the bound. It is 0 only where all of them are:
then the line is w, as each tile is in a group, and at most one move more leads to the goal.

A group has a database for each of the goal's two lines. As the graph is bipartite, the kind of a
line tells whether a distance is odd, and one bit tells the rest, as in `frontier.cosets.additive`;
and 2×8 has 10 lines for 16 cells of the blank.

`within` asks whether a position takes at most so many moves: one iteration of IDA* (R. E. Korf,
Depth-First Iterative-Deepening, Artificial Intelligence 27, 1985) for each line of the position and
each line of the goal. A line met before, as late or later, is left out (`frontier.cosets.kernel`).

**Vertices.** Cells are numbered in reading order, s of them a line along which the board is read:
cell i * s + j is the j-th of line i, and the i-th of line j across. The set of places of a group's
tiles (`frontier.puzzles.pattern_graph`) and a line of the board are a vertex. While the blank moves
along a line in reading order, neither the places nor the sequence of the tiles change. A line
across has the places and the sequence that there are with the blank in its first cell.
"""

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from frontier.cosets.groups import Split, joined, residues
from frontier.cosets.kernel import (
    BLANK,
    FIRST_MIX,
    MOST_MOVES,
    UNBOUNDED,
    VOLTAGE_BITS,
    VOLTAGES,
    is_new,
    most_promising,
    no_stop,
    nothing_met,
)
from frontier.cosets.tables import Moves, TableSource, images, moves_on, pattern_graph
from frontier.jit import kernel
from frontier.kernels.distances import WORD_BITS, bit_at, residue_table
from frontier.puzzles import Puzzle
from frontier.space.graph import BaseGraph, Space

LineTables = namedtuple("LineTables", "residue row odd move image home sizes")
"""The tables of G groups as the kernels read them, whose vertices are numbered one after the other.

residue: uint64, for all groups and both lines of the goal what `residue_table` tells. row: int64[2,
vertices], the number of the first bit of each vertex in `residue`, for each line of the goal. odd:
int64[2, vertices], whether its distances from that line are odd. move: int64[vertices, K], the
vertex of the line across through the k-th cell, times 2**VOLTAGE_BITS, plus the number of a
voltage; -1 where there is no cell. image: unsigned[voltages, numbers]. home: int64[2], the number
of each line of the goal among those of its kind. sizes: int64[2], the cells of a line of each
kind."""

LineScratch = namedtuple(
    "LineScratch", "met salt vertex number distance line cell slots slot least blank stop"
)
"""The memory of one thread: the path from the start, by depth.

salt: int64[1], how often it was used. vertex, number, distance: int64[depths, G]. line: int64, the
number of the line among those of its kind. cell: int64, which of its cells the blank is in. slots:
uint64, the cells to be tried. slot: int64, the one that was. least: int64[depths, K], the bound
after each of the moves. blank: int64, the cells that the blank comes to in a solution, and last
their number.
"""

MET_BITS = 18
"""The table of lines met has 2**18 entries."""


class Lines:
    """The tables of all groups of a puzzle whose moves slide several tiles.

    tables: as the kernels read them. moves: those of the blank. home: its cell in the goal, in
    reading order.
    """

    def __init__(
        self, puzzle: Puzzle, sizes: Sequence[int], threads: int, table_source: TableSource
    ):
        self.moves = moves_on(puzzle.grid.rows, puzzle.grid.columns, "multi")
        self._split = split = Split(puzzle, sizes, "step")
        self.home, self._side = split.home, puzzle.grid.line_length
        graphs, moves, lines = zip(
            *(line_graph(pattern, self.moves) for pattern in split.patterns), strict=True
        )
        shapes = [
            (2, 2 * graph.vertices, code.words)
            for graph, code in zip(graphs, split.codes, strict=True)
        ]

        def fill(g: int, table: np.ndarray) -> None:
            (place, *_), (sequence, *_) = split.models[g].origins()
            for end, (vertex, voltage) in enumerate(_pairs(lines[g][:, place])):
                home = sequence[graphs[g].permutations[voltage]]
                _, (sign,) = split.codes[g].ranks(home[None])
                space, origins = Space(graphs[g], [(vertex, sign)]), np.array([vertex])
                residue_table(space, (origins, home[None]), threads, table[end])

        (residue, starts), rows, odds = residues(shapes, table_source, fill), [], []
        for graph, first, shape in zip(graphs, starts, shapes, strict=False):
            rows.append((first + np.arange(2 * graph.vertices) * 2 * shape[2]).reshape(2, -1))
            across = np.arange(graph.vertices) % sum(self._sizes) >= self._sizes[1]
            odds.append([across, ~across])
        pictures = [images(graph, code) for graph, code in zip(graphs, split.codes, strict=True)]
        move, image, vertices, voltages = joined(moves, pictures)
        self._lines = [
            group_lines + (vertex << VOLTAGE_BITS) + voltage
            for group_lines, vertex, voltage in zip(lines, vertices, voltages, strict=False)
        ]
        self.tables = LineTables(
            residue, np.hstack(rows) * WORD_BITS, np.hstack(odds).astype(np.int64), move, image,
            np.array(divmod(self.home, self._side)), np.array(self._sizes),
        )  # fmt: skip

    @property
    def _sizes(self) -> tuple[int, int]:
        """The cells of a line of each kind; as many as there are lines of the other kind."""
        return self._side, len(self.moves.target) // self._side

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices and numbers of the two lines of boards in all groups: int64[N, 2, G]
        each.

        boards: int8[N, cells], the home of the tile in each cell, in reading order, or `BLANK`.
        """
        places, numbers = self._split.states(boards)
        entries = np.stack(
            [lines[:, place] for lines, place in zip(self._lines, places.T, strict=True)], axis=-1
        ).swapaxes(0, 1)
        vertices, voltages = np.divmod(entries, 1 << VOLTAGE_BITS)
        return vertices, self.tables.image[voltages, numbers[:, None]].astype(np.int64)

    def memory(self, stop: np.ndarray | None = None) -> LineScratch:
        """Return memory for one thread. stop: see `Scratch`."""
        depths, groups = MOST_MOVES + 2, len(self._lines)
        vertex, number, distance = np.zeros((3, depths, groups), dtype=np.int64)
        line, cell, slot, blank = np.zeros((4, depths), dtype=np.int64)
        return LineScratch(
            nothing_met(MET_BITS), np.zeros(1, np.int64), vertex, number, distance, line, cell,
            np.zeros(depths, np.uint64), slot, np.zeros((depths, max(self._sizes)), np.int64),
            blank, no_stop() if stop is None else stop,
        )  # fmt: skip

    def needs_more(
        self, board: np.ndarray, limit: int, scratch: LineScratch, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        """Return whether a position needs more than `limit` moves (None if `most` nodes do not
        decide it), and the nodes visited.

        board: int8[cells], as for `states`.
        """
        (vertices,), (numbers,) = self.states(board[None])
        blank = int((board == BLANK).argmax())
        within_limit, nodes = within(vertices, numbers, blank, limit, most, self.tables, scratch)
        return (False if within_limit else None if nodes >= most else True), nodes

    def solution(self, board: np.ndarray, limit: int, scratch: LineScratch) -> np.ndarray | None:
        """Return the cells that the blank comes to, one after the other, in a solution of at most
        `limit` moves; None if there is none."""
        (vertices,), (numbers,) = self.states(board[None])
        blank = int((board == BLANK).argmax())
        within_limit, _ = within(vertices, numbers, blank, limit, UNBOUNDED, self.tables, scratch)
        return scratch.blank[: scratch.blank[-1]] if within_limit else None


def line_graph(pattern: Puzzle, moves: Moves) -> tuple[BaseGraph, np.ndarray, np.ndarray]:
    """Return the graph of the lines of a pattern, in which every move counts.

    Returned are the graph, its `move` as `LineTables` has it, and int64[2, vertices of the
    pattern], the line of each kind of each of the pattern's vertices, as such an entry.
    """
    graph, move = pattern_graph(pattern, moves)
    side, identity = pattern.grid.line_length, graph.voltages.index(())
    lines = pattern.cells // side
    sets, kinds = len(move) // pattern.cells, side + lines
    slot_of = [{q: k for k, q in enumerate(row)} for row in moves.target.tolist()]
    places = np.arange(len(move)).reshape(sets, lines, side)
    first = places << VOLTAGE_BITS | identity  # the move to the first cell of the line across
    back = np.full(places.shape, identity)  # the voltage of the move from there
    for i in range(1, lines):
        for j in range(side):
            first[:, i, j] = move[places[:, i, j], slot_of[i * side + j][j]]
            at = first[:, i, j] >> VOLTAGE_BITS
            back[:, i, j] = move[at, slot_of[j][i * side + j]] & VOLTAGES
    _, i, j = np.indices(places.shape)
    along = places // pattern.cells * kinds + i
    across = (first >> VOLTAGE_BITS) // pattern.cells * kinds + lines + j
    through = np.full((sets * kinds, max(side, lines)), -1, dtype=np.int64)
    through[along, j] = across << VOLTAGE_BITS | first & VOLTAGES
    through[across, i] = along << VOLTAGE_BITS | back
    source, slot = np.nonzero(through >= 0)
    target, voltage = np.divmod(through[source, slot], 1 << VOLTAGE_BITS)
    entries = np.stack([along << VOLTAGE_BITS | identity, through[along, j]])
    graph = BaseGraph(sets * kinds, graph.m, graph.voltages, source, target, voltage)
    return graph, through, entries.reshape(2, -1)


def _pairs(entries: np.ndarray) -> list[tuple[int, int]]:
    return [divmod(entry, 1 << VOLTAGE_BITS) for entry in entries.tolist()]


@kernel
def _residue(end, vertex, number, tables):
    """Return the distance modulo 4 of a line from a line of the goal."""
    bit = bit_at(tables.residue, tables.row[end, vertex] + number)
    return 2 * bit + tables.odd[end, vertex]


@kernel
def _distance(end, vertex, number, tables):
    """Return the distance of a line from a line of the goal, by walking there."""
    moves, residue, nearer = 0, _residue(end, vertex, number, tables), True
    while nearer:
        nearer = False
        for entry in tables.move[vertex]:
            if entry < 0:
                break
            image = np.int64(tables.image[entry & VOLTAGES, number])
            if _residue(end, entry >> VOLTAGE_BITS, image, tables) == (residue - 1) & 3:
                vertex, number = entry >> VOLTAGE_BITS, image
                residue, nearer = (residue - 1) & 3, True
                moves += 1
                break
    return moves


@kernel
def _look_ahead(depth, kind, end, room, tables, scratch):
    """Find which lines across leave a bound of at most `room`, and the bound of each."""
    kept_slots = np.uint64(0)
    for k in range(tables.sizes[kind]):
        if k == scratch.cell[depth]:
            continue
        least = np.int64(0)
        for g in range(scratch.vertex.shape[1]):
            entry = tables.move[scratch.vertex[depth, g], k]
            image = np.int64(tables.image[entry & VOLTAGES, scratch.number[depth, g]])
            after = _residue(end, entry >> VOLTAGE_BITS, image, tables)
            before = scratch.distance[depth, g]
            least = max(least, before + ((after - before + 1) & 3) - 1)
            if least > room:
                break
        if least <= room:
            scratch.least[depth, k] = least
            kept_slots |= np.uint64(1) << np.uint64(k)
    scratch.slots[depth] = kept_slots


@kernel
def _search(kind, end, vertices, numbers, blank, limit, most, tables, scratch):
    """Return whether a position has a solution of at most `limit` moves that begins along its line
    of a kind and ends along that line of the goal, as far as at most `most` nodes decide it, and
    the nodes visited."""
    scratch.salt[0] += 1
    groups, seed, nodes = vertices.size, np.uint64(scratch.salt[0]) * FIRST_MIX, 0
    side = tables.sizes[0]
    scratch.line[0], scratch.cell[0] = blank // side, blank % side
    if kind:
        scratch.line[0], scratch.cell[0] = blank % side, blank // side
    distance = np.int64(0)
    for g in range(groups):
        scratch.vertex[0, g], scratch.number[0, g] = vertices[g], numbers[g]
        scratch.distance[0, g] = _distance(end, vertices[g], numbers[g], tables)
        distance = max(distance, scratch.distance[0, g])
    if distance == 0:
        return _ends(0, kind, limit, tables, scratch), nodes
    if distance >= limit:
        return False, nodes
    depth = 0
    _look_ahead(0, kind, end, limit - 2, tables, scratch)
    while depth >= 0:
        slots = scratch.slots[depth]
        if slots == 0:
            depth -= 1
            continue
        k = most_promising(slots, scratch.least[depth])
        scratch.slots[depth] = slots ^ (np.uint64(1) << np.uint64(k))
        scratch.slot[depth] = k
        if nodes >= most or scratch.stop[0]:
            return False, max(nodes, most)
        nodes += 1
        key = seed
        for g in range(groups):
            entry = tables.move[scratch.vertex[depth, g], k]
            vertex = entry >> VOLTAGE_BITS
            number = np.int64(tables.image[entry & VOLTAGES, scratch.number[depth, g]])
            before = scratch.distance[depth, g]
            after = _residue(end, vertex, number, tables)
            scratch.vertex[depth + 1, g], scratch.number[depth + 1, g] = vertex, number
            scratch.distance[depth + 1, g] = before + ((after - before + 1) & 3) - 1
            key = key * FIRST_MIX + np.uint64(vertex << 32 | number)
        scratch.line[depth + 1], scratch.cell[depth + 1] = k, scratch.line[depth]
        if scratch.least[depth, k] == 0:
            return _ends(depth + 1, kind, limit, tables, scratch), nodes
        if is_new(key, depth + 1, scratch.met):
            depth += 1
            _look_ahead(depth, (kind + depth) & 1, end, limit - depth - 2, tables, scratch)
    return False, nodes


@kernel
def _ends(depth, kind, limit, tables, scratch):
    """Write the solution that comes to a line of the goal at a depth, and return whether it is of
    at most `limit` moves, which it is unless the position is the goal."""
    side, last = tables.sizes[0], (kind + depth) & 1
    for d in range(depth):
        line, k = scratch.line[d], scratch.slot[d]
        scratch.blank[d] = k * side + line if (kind + d) & 1 else line * side + k
    moves, home = depth, tables.home[1 - last]
    if scratch.cell[depth] != home:
        scratch.blank[depth] = tables.home[0] * side + tables.home[1]
        moves += 1
    scratch.blank[-1] = moves
    return moves <= limit


@kernel
def within(vertices, numbers, blank, limit, most, tables, scratch):
    """Return whether a position takes at most `limit` moves, as far as at most `most` nodes decide
    it, and the nodes visited.

    vertices, numbers: int64[2, G], of its lines in each group; blank: its cell. If it does, the
    blank comes to the cells scratch.blank[0], scratch.blank[1], ..., scratch.blank[-1] of them.
    """
    nodes = 0
    for kind in range(2):
        for end in range(2):
            within_limit, more_nodes = _search(
                kind,
                end,
                vertices[kind],
                numbers[kind],
                blank,
                limit,
                most - nodes,
                tables,
                scratch,
            )
            nodes += more_nodes
            if within_limit:
                return True, nodes
    return False, nodes
