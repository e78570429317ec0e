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

from frontier.cosets.groups import WORD, Split, all_numbers, joined, residues
from frontier.cosets.kernel import (
    BLANK,
    FIRST_MIX,
    MOST_MOVES,
    UNBOUNDED,
    VOLTAGE_BITS,
    VOLTAGES,
    is_new,
    no_stop,
    nothing_met,
)
from frontier.cosets.tables import Kept, Moves, images, moves_on, pattern_graph
from frontier.puzzles import Puzzle
from frontier.space.bits import lowest_bit
from frontier.space.graph import BaseGraph, Space
from frontier.space.jit import kernel
from frontier.space.memory import residue_table

LineTables = namedtuple("LineTables", "residue row odd move image home sizes")
"""The tables of G groups as the kernels read them, whose vertices are numbered one after the other.

residue: uint64, for all groups and both lines of the goal what `residue_table` tells. row: int64[2,
vertices], the number of the first bit of each vertex in `residue`, for each line of the goal. odd:
int64[2, vertices], whether its distances from that line are odd. move: int64[vertices, K], the
vertex of the line across through the k-th cell, times 2**VOLTAGE_BITS, plus the number of a
voltage; -1 where there is no cell. image: unsigned[voltages, numbers]. home: int64[2], the number
of each line of the goal among those of its kind. sizes: int64[2], the cells of a line of each
kind."""

LineWay = namedtuple(
    "LineWay", "met salt vertex number distance line cell slots slot least blank stop"
)
"""What one thread works with: the way from the start, by depth.

salt: int64[1], how often it was used. vertex, number, distance: int64[depths, G]. line: int64, the
number of the line among those of its kind. cell: int64, which of its cells the blank is in. slots:
uint64, the cells to be tried. slot: int64, the one that was. least: int64[depths, K], the bound
after each of the moves. blank: int64, the cells that the blank comes to in a solution, and last how
many these are."""

MET_BITS = 18
"""The table of lines met has 2**18 entries."""


class Lines:
    """The tables of all groups of a puzzle whose moves slide several tiles.

    tables: as the kernels read them. moves: of the blank. home: its cell in the goal, in reading
    order.
    """

    def __init__(self, puzzle: Puzzle, sizes: Sequence[int], threads: int, kept: Kept):
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

        (residue, starts), rows, odds = residues(shapes, kept, fill), [], []
        for graph, first, shape in zip(graphs, starts, shapes, strict=False):
            rows.append((first + np.arange(2 * graph.vertices) * 2 * shape[2]).reshape(2, -1))
            across = np.arange(graph.vertices) % sum(self._sizes) >= self._sizes[1]
            odds.append([across, ~across])
        pictures = [
            images(graph, code, all_numbers(code))
            for graph, code in zip(graphs, split.codes, strict=True)
        ]
        move, image, vertices, voltages = joined(moves, pictures)
        self._lines = [
            some + (vertex << VOLTAGE_BITS) + voltage
            for some, vertex, voltage in zip(lines, vertices, voltages, strict=False)
        ]
        self.tables = LineTables(
            residue, np.hstack(rows) * WORD, np.hstack(odds).astype(np.int64), move, image,
            np.array(divmod(self.home, self._side)), np.array(self._sizes),
        )  # fmt: skip

    @property
    def _sizes(self) -> tuple[int, int]:
        """The cells of a line of each kind; as many as there are lines of the other kind."""
        return self._side, len(self.moves.target) // self._side

    def states(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The vertices and numbers of the two lines of boards in all groups: int64[N, 2, G] each.

        boards: int8[N, cells], the home of the tile in each cell, in reading order, or `BLANK`.
        """
        places, numbers = self._split.states(boards)
        entries = np.stack(
            [lines[:, place] for lines, place in zip(self._lines, places.T, strict=True)], axis=-1
        ).swapaxes(0, 1)
        vertices, voltages = np.divmod(entries, 1 << VOLTAGE_BITS)
        return vertices, self.tables.image[voltages, numbers[:, None]].astype(np.int64)

    def memory(self, stop: np.ndarray | None = None) -> LineWay:
        """Memory for one thread. stop: as of `Scratch`."""
        depths, groups = MOST_MOVES + 2, len(self._lines)
        vertex, number, distance = np.zeros((3, depths, groups), dtype=np.int64)
        line, cell, slot, blank = np.zeros((4, depths), dtype=np.int64)
        return LineWay(
            nothing_met(MET_BITS), np.zeros(1, np.int64), vertex, number, distance, line, cell,
            np.zeros(depths, np.uint64), slot, np.zeros((depths, max(self._sizes)), np.int64),
            blank, no_stop() if stop is None else stop,
        )  # fmt: skip

    def needs_more(
        self, board: np.ndarray, limit: int, way: LineWay, most: int = UNBOUNDED
    ) -> tuple[bool | None, int]:
        """Whether a position needs more than `limit` moves, None if `most` nodes do not tell it;
        and the nodes visited.

        board: int8[cells], as for `states`.
        """
        (vertices,), (numbers,) = self.states(board[None])
        blank = int((board == BLANK).argmax())
        found, nodes = within(vertices, numbers, blank, limit, most, self.tables, way)
        return (False if found else None if nodes >= most else True), nodes

    def solution(self, board: np.ndarray, limit: int, way: LineWay) -> np.ndarray | None:
        """The cells that the blank comes to, one after the other, in a solution of at most `limit`
        moves; None if there is none."""
        (vertices,), (numbers,) = self.states(board[None])
        blank = int((board == BLANK).argmax())
        found, _ = within(vertices, numbers, blank, limit, UNBOUNDED, self.tables, way)
        return way.blank[: way.blank[-1]] if found else None


def line_graph(pattern: Puzzle, moves: Moves) -> tuple[BaseGraph, np.ndarray, np.ndarray]:
    """The graph of the lines of a pattern, in which every move counts.

    Returns the graph, its `move` as `LineTables` has it, and int64[2, vertices of the pattern], the
    line of each kind of each of the pattern's vertices, as such an entry.
    """
    graph, move, _ = pattern_graph(pattern, moves)
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
    """The distance modulo 4 of a line from a line of the goal."""
    at = tables.row[end, vertex] + number
    bit = tables.residue[at >> 6] >> np.uint64(at & 63) & np.uint64(1)
    return 2 * np.int64(bit) + tables.odd[end, vertex]


@kernel
def _distance(end, vertex, number, tables):
    """The distance of a line from a line of the goal, by walking there."""
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
def _look_ahead(depth, kind, end, room, tables, way):
    """Find which lines across leave a bound of at most `room`, and the bound of each."""
    kept = np.uint64(0)
    for k in range(tables.sizes[kind]):
        if k == way.cell[depth]:
            continue
        least = np.int64(0)
        for g in range(way.vertex.shape[1]):
            entry = tables.move[way.vertex[depth, g], k]
            image = np.int64(tables.image[entry & VOLTAGES, way.number[depth, g]])
            after = _residue(end, entry >> VOLTAGE_BITS, image, tables)
            before = way.distance[depth, g]
            least = max(least, before + ((after - before + 1) & 3) - 1)
            if least > room:
                break
        if least <= room:
            way.least[depth, k] = least
            kept |= np.uint64(1) << np.uint64(k)
    way.slots[depth] = kept


@kernel
def _search(kind, end, vertices, numbers, blank, limit, most, tables, way):
    """Whether a position is found to have a solution of at most `limit` moves that begins along its
    line of a kind and ends along that line of the goal, and the nodes visited, `most` at most."""
    way.salt[0] += 1
    groups, seed, nodes = vertices.size, np.uint64(way.salt[0]) * FIRST_MIX, 0
    side = tables.sizes[0]
    way.line[0], way.cell[0] = blank // side, blank % side
    if kind:
        way.line[0], way.cell[0] = blank % side, blank // side
    far = np.int64(0)
    for g in range(groups):
        way.vertex[0, g], way.number[0, g] = vertices[g], numbers[g]
        way.distance[0, g] = _distance(end, vertices[g], numbers[g], tables)
        far = max(far, way.distance[0, g])
    if far == 0:
        return _ends(0, kind, limit, tables, way), nodes
    if far >= limit:
        return False, nodes
    depth = 0
    _look_ahead(0, kind, end, limit - 2, tables, way)
    while depth >= 0:
        slots = way.slots[depth]
        if slots == 0:
            depth -= 1
            continue
        k = lowest_bit(slots)
        rest = slots & (slots - np.uint64(1))
        while rest:
            other = lowest_bit(rest)
            rest &= rest - np.uint64(1)
            if way.least[depth, other] < way.least[depth, k]:
                k = other
        way.slots[depth] = slots ^ (np.uint64(1) << np.uint64(k))
        way.slot[depth] = k
        if nodes >= most or way.stop[0]:
            return False, max(nodes, most)
        nodes += 1
        key = seed
        for g in range(groups):
            entry = tables.move[way.vertex[depth, g], k]
            vertex = entry >> VOLTAGE_BITS
            number = np.int64(tables.image[entry & VOLTAGES, way.number[depth, g]])
            before = way.distance[depth, g]
            after = _residue(end, vertex, number, tables)
            way.vertex[depth + 1, g], way.number[depth + 1, g] = vertex, number
            way.distance[depth + 1, g] = before + ((after - before + 1) & 3) - 1
            key = key * FIRST_MIX + np.uint64(vertex << 32 | number)
        way.line[depth + 1], way.cell[depth + 1] = k, way.line[depth]
        if way.least[depth, k] == 0:
            return _ends(depth + 1, kind, limit, tables, way), nodes
        if is_new(key, depth + 1, way.met):
            depth += 1
            _look_ahead(depth, (kind + depth) & 1, end, limit - depth - 2, tables, way)
    return False, nodes


@kernel
def _ends(depth, kind, limit, tables, way):
    """Write the solution that comes to a line of the goal at a depth; whether it is of at most
    `limit` moves, as it is but where the position is the goal."""
    side, last = tables.sizes[0], (kind + depth) & 1
    for d in range(depth):
        line, k = way.line[d], way.slot[d]
        way.blank[d] = k * side + line if (kind + d) & 1 else line * side + k
    moves, home = depth, tables.home[1 - last]
    if way.cell[depth] != home:
        way.blank[depth] = tables.home[0] * side + tables.home[1]
        moves += 1
    way.blank[-1] = moves
    return moves <= limit


@kernel
def within(vertices, numbers, blank, limit, most, tables, way):
    """Whether a position is found to take at most `limit` moves, and the nodes visited, `most` at
    most, to find out.

    vertices, numbers: int64[2, G], of its lines in each group; blank: its cell. If it does, the
    blank comes to the cells way.blank[0], way.blank[1], ..., way.blank[-1] of them.
    """
    nodes = 0
    for kind in range(2):
        for end in range(2):
            found, more = _search(
                kind, end, vertices[kind], numbers[kind], blank, limit, most - nodes, tables, way
            )
            nodes += more
            if found:
                return True, nodes
    return False, nodes
