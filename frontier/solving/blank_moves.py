"""The moves of the blank on a board, and their effect on patterns.

Cells are numbered in the order in which `frontier.puzzles.tiles` reads a board. A move of the blank
is an arc of the base graph of a pattern (`frontier.puzzles.pattern_graph`). Its voltage changes the
sequence, and a table has the image of each sequence under each voltage, so that no search ranks or
unranks a pattern.
"""

from collections import namedtuple

import numpy as np

from frontier.kernels.distances import WORD_BITS, bit_numbers
from frontier.puzzles import PatternPuzzle
from frontier.puzzles.moves import METRICS
from frontier.solving.paths import VOLTAGE_BITS
from frontier.space.graph import BaseGraph
from frontier.space.lehmer import LehmerCode

Moves = namedtuple("Moves", "target stride then all")
"""The moves of the blank, at most K from each cell, as the kernels read them.

target: int64[cells, K], the cell that the blank reaches, -1 for no move. stride: int64[cells, K],
the difference to the next cell on the way there. then: uint64[cells, K], the bits of the moves that
may follow each: for "step", all but the move back; for "multi", the moves along the other line,
because two moves along one line could be one move. all: uint64[cells], the bits of all moves from a
cell."""


def moves_on(rows: int, columns: int, metric: str) -> Moves:
    """Return the moves of the blank on a board whose cells are numbered in reading order."""
    definition, line = METRICS[metric], min(rows, columns)
    lines = rows * columns // line
    moves_of = []
    for cell in range(line * lines):
        at, along = divmod(cell, line)
        directions = [(-1, along), (1, line - 1 - along), (-line, at), (line, lines - 1 - at)]
        moves_of.append([
            (cell + stride * steps, stride, direction)
            for direction, (stride, room) in enumerate(directions)
            for steps in range(1, 1 + (room if definition.goes_on else min(room, 1)))
        ])  # fmt: skip
    most = max(map(len, moves_of))
    target, stride = np.full((2, len(moves_of), most), -1, dtype=np.int64)
    then = np.zeros(target.shape, dtype=np.uint64)
    for cell, moves_of_cell in enumerate(moves_of):
        for k, (to, by, direction) in enumerate(moves_of_cell):
            target[cell, k], stride[cell, k] = to, by
            then[cell, k] = sum(
                1 << j
                for j, (_, _, next_direction) in enumerate(moves_of[to])
                if definition.may_follow(direction, next_direction)
            )
    return Moves(target, stride, then, np.array([(1 << len(s)) - 1 for s in moves_of], np.uint64))


def pattern_graph(pattern: PatternPuzzle, moves: Moves) -> tuple[BaseGraph, np.ndarray]:
    """Return the base graph of a pattern, in which each of the given moves of the blank counts; and
    int[vertices, K], the vertex that a move leads to, times 2**VOLTAGE_BITS, plus the number of its
    voltage, -1 for no move."""
    base, steps = pattern.model.base, pattern.model.graph
    cells, sets = base.cells, steps.vertices // base.cells
    # The arcs from a vertex move the blank to a neighbouring cell: first to cells of its line, then
    # to other cells.
    beside = moves_on(pattern.grid.rows, pattern.grid.columns, "step").target
    to, voltage = np.full((2, sets, *beside.shape), -1, dtype=np.int64)
    to[:, beside >= 0] = steps.target.reshape(sets, -1)
    voltage[:, beside >= 0] = steps.voltage.reshape(sets, -1)
    step_of = {(p, q): k for p, row in enumerate(beside.tolist()) for k, q in enumerate(row)}
    permutations = [tuple(row) for row in steps.permutations.tolist()]
    words, number = list(steps.voltages), {row: i for i, row in enumerate(permutations)}
    move = np.full((sets, *moves.target.shape), -1, dtype=np.int64)
    for p, k in np.argwhere(moves.target >= 0).tolist():
        at, by = p, moves.stride[p, k]
        v, whole = np.arange(sets) * cells + p, np.full(sets, number[tuple(range(base.labels))])
        while at != moves.target[p, k]:
            step = step_of[at, at + by]
            rank, last = v // cells, voltage[v // cells, at, step]
            v, at = to[rank, at, step], at + by
            count, joined = len(words), []  # the loop below adds words
            pairs, inverse = np.unique(whole * count + last, return_inverse=True)
            for first, second in (divmod(pair, count) for pair in pairs.tolist()):
                row = tuple(permutations[first][i] for i in permutations[second])
                if row not in number:
                    number[row] = len(permutations)
                    permutations.append(row)
                    words.append(words[first] + words[second])
                joined.append(number[row])
            whole = np.array(joined)[inverse]
        move[:, p, k] = v << VOLTAGE_BITS | whole
    if len(words) >> VOLTAGE_BITS:
        raise OverflowError(f"{len(words)} voltages; {VOLTAGE_BITS} bits are kept for their number")
    move = move.reshape(steps.vertices, -1)
    source, slot = np.nonzero(move >= 0)
    target, arc_voltage = np.divmod(move[source, slot], 1 << VOLTAGE_BITS)
    graph = BaseGraph(steps.vertices, base.labels, tuple(words), source, target, arc_voltage)
    if steps.vertices < 1 << 31 - VOLTAGE_BITS:
        move = move.astype(np.int32)
    return graph, move


def images(permutations: np.ndarray, code: LehmerCode) -> np.ndarray:
    """Return the bit of each sequence after each voltage: unsigned[voltages, bits of a vertex].

    permutations: int64[voltages, length], the permutation of each voltage: after it, place i holds
    the member that was in place permutation[i]. `frontier.kernels.distances.bit_numbers` numbers
    the bits; bits without a sequence have 0.
    """
    sign, index = np.divmod(np.arange(2 * code.half), code.half)
    sequences, number = code.unranks(index, sign), bit_numbers(code, sign, index)
    size = 2 * code.words * WORD_BITS
    dtype = np.uint16 if size <= 1 << 16 else np.uint32
    image = np.zeros((len(permutations), size), dtype=dtype)
    for row, permutation in zip(image, permutations, strict=True):
        index, sign = code.ranks(sequences[:, permutation])
        row[number] = bit_numbers(code, sign, index)
    return image
