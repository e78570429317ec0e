"""Every number of docs/mathematics.md, computed again."""

from collections import Counter, deque
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from frontier.api import runs as api
from frontier.config.loading import config_of
from frontier.kernels.shift_search import memory_layout
from frontier.layers.plan import (
    THIN_IN_MEMORY,
    THIN_STATES,
)
from frontier.puzzles import graph_puzzle, pattern_puzzle, tile_puzzle
from frontier.puzzles.grid import Grid
from frontier.solving.piece_bound import bound_of
from frontier.solving.pieces import IdaSolver
from frontier.space.lehmer import LehmerCode, lehmer_digits, swap_digits
from frontier.space.swaps import SWAP_43, swap_kind
from tests.support.whole_searches import layer_sizes

PAGE = (Path(__file__).parents[1] / "docs" / "mathematics.md").read_text(encoding="utf-8")
GOAL, FARTHEST = (0, 1, 2, 3, 4, 5), (3, 4, 5, 0, 1, 2)
OTHER = "x"


def section(title):
    """The text of a section, on one line."""
    return " ".join(PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0].split())


def neighbours(board, columns=3):
    blank = board.index(0)
    row, column = divmod(blank, columns)
    for r, c in ((row, column + 1), (row, column - 1), (1 - row, column)):
        if 0 <= c < columns:
            after = list(board)
            after[blank], after[r * columns + c] = board[r * columns + c], 0
            yield tuple(after)


def like(board, labels):
    return tuple(tile if tile == 0 or tile in labels else OTHER for tile in board)


def distances(goal, labels=None, columns=3):
    """Distances by a dictionary; with labels, only moves of labelled tiles count."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        board = queue.popleft()
        for after in neighbours(board, columns):
            free = labels is not None and after[board.index(0)] == OTHER
            distance = found[board] + (not free)
            if distance < found.get(after, 10**9):
                found[after] = distance
                (queue.appendleft if free else queue.append)(after)
    return found


def layers(found):
    counts = Counter(found.values())
    return [counts[depth] for depth in range(max(counts) + 1)]


@pytest.fixture(scope="module")
def known():
    return distances(GOAL)


def test_layers(known):
    text = section("Layers")
    assert f" {' '.join(map(str, layers(known)))} " in text
    assert f"its depth is {max(known.values())}" in text
    assert f"has {len(known)} positions" in text
    (farthest,) = (board for board in known if known[board] == max(known.values()))
    assert farthest == FARTHEST
    assert f"`{tile_puzzle(2, 3).line(farthest).replace('/', ' / ')}`" in text
    ring = layers(distances((0, 1, 2, 3), columns=2))
    assert f"{sum(ring)} positions in a ring, in layers of {' '.join(map(str, ring))}." in text


def test_base_graph():
    text, puzzle = section("Base graph and voltages"), tile_puzzle(2, 3)
    graph = puzzle.model.graph
    assert f"{graph.vertices} vertices and {graph.source.size} arcs" in text
    by_word = {}
    for u, v, w in zip(graph.source, graph.target, graph.voltage, strict=True):
        if u < v:
            by_word.setdefault(graph.voltages[w], []).append(f"{u}–{v}")
    assert f"{', '.join(sorted(by_word.pop(())))} no tile is passed: the voltage is ()" in text
    across = sorted((arc, word) for word, (arc,) in by_word.items())
    assert ", ".join(arc for arc, _ in across) in text
    assert f"one tile is passed: {', '.join(f'({word[0]})' for _, word in across)}" in text
    numbers = [
        [puzzle.notation.pieces.reading.tolist().index(3 * r + c) for c in range(3)]
        for r in range(2)
    ]
    for row in numbers:
        assert f"│ {' │ '.join(map(str, row))} │" in text


def test_reach():
    text = section("What can be reached")
    for puzzle in (tile_puzzle(2, 2), tile_puzzle(2, 3)):
        vertices = puzzle.model.graph.vertices
        order = puzzle.states // vertices
        assert f"|G| = {order}, and {vertices} · {order} = {puzzle.states}" in text
    edges, tree = (
        tile_puzzle(2, 3).model.graph.source.size // 2,
        tile_puzzle(2, 3).model.graph.vertices - 1,
    )
    assert f"{edges} edges, {tree} of them in the tree" in text
    assert edges - tree == 2
    assert tile_puzzle(2, 3).states == factorial(6) // 2
    wilson = graph_puzzle(
        [[1, 5, 6], [0, 2], [1, 3], [2, 4, 6], [3, 5], [0, 4], [0, 3]], goal="123456."
    )
    assert (
        f"of the [tutorial](tutorial.md#a-puzzle-of-your-own), where |G| = {wilson.states // 7}."
        in text
    )


def test_one_bit_a_state():
    text, puzzle = section("One bit a state"), tile_puzzle(2, 3)
    space, code = puzzle.model.space, puzzle.model.space.code
    assert (space.sides, space.nodes, code.bits, code.words) == (2, [3, 3], 60, 1)
    assert "m = 5 and m!/2 = 60: one word" in text
    board = puzzle.parse("3 1 2 / 4 0 5")
    vertex, sequence = puzzle.model.state(board)
    tiles = [board[cell] for cell in puzzle.notation.pieces.reading if board[cell]]
    goal = [GOAL[cell] for cell in puzzle.notation.pieces.reading if GOAL[cell]]
    digits = lehmer_digits(sequence)
    for said in (
        f"blank in cell {vertex}",
        f"reading order, {' '.join(map(str, tiles))}, are members "
        f"{' '.join(map(str, sequence))} of the goal's sequence ({' '.join(map(str, goal))})",
        f"code is {' '.join(map(str, digits))}, so its bit is "
        f"12·{digits[0]} + 3·{digits[1]} + {digits[2]} = {code.rank(sequence)[0]}.",
    ):
        assert said in text
    side, number = space.number(vertex, sequence)
    node, bit = divmod(number, 60)
    assert sum(digits) % 2 == space.sign[side][node] == 1
    assert f"is number {node} of its side" in text
    assert f"{node} · 60 + {bit} = {number}" in text
    large = tile_puzzle(2, 7).model.space
    layout = memory_layout(large, 1)
    assert large.nodes == [7, 7]
    assert f"in {large.code.words:,} words: {layout.layer_bytes(0) / 1e9:.1f} GB a layer" in text


def test_shifts():
    text, code = section("A move is a few shifts"), LehmerCode(5)
    assert swap_digits(0, 0) == (1, 0)
    for i, count in ((0, "eight"), (1, "six")):
        moved = set()
        for index in range(code.half):
            sequence = list(code.unrank(index, 0))
            sequence[i], sequence[i + 1] = sequence[i + 1], sequence[i]
            moved.add(abs(code.rank(sequence)[0] - index))
        assert {"eight": 8, "six": 6}[count] == 2 * len(moved)
        assert ", ".join(f"±{distance}" for distance in sorted(moved)) in text
    before, after = (
        tile_puzzle(2, 3).model.state(tile_puzzle(2, 3).parse(b))
        for b in ("3 1 2/0 4 5", "3 1 2/4 0 5")
    )
    assert (before[0], code.rank(before[1])) == (1, (0, 0))
    assert (after[0], code.rank(after[1])) == (3, (3, 1))
    assert swap_kind(code, 1) == SWAP_43


def test_first_step():
    text, puzzle = section("Two layers are enough"), tile_puzzle(2, 3)
    states = [puzzle.model.state(board) for board in neighbours(GOAL)]
    bits = {vertex: puzzle.model.space.code.rank(sequence) for vertex, sequence in states}
    assert bits == {1: (0, 0), 2: (12, 1)}
    assert "bit 0 of (1, even)" in text
    assert "bit 12 of (2, odd)" in text


def test_thin_layers():
    """The page names the limits of a search by tasks, and those of one in memory."""
    text = section("Thin layers as lists")
    assert f"never less than {THIN_STATES:,} by tasks or {THIN_IN_MEMORY:,} in memory" in text
    for in_memory, words in ((False, "{:,} states by tasks"), (True, "and {:,} in memory")):
        settings = {"in_memory": in_memory}, {"memory": "4GB", "workers": 2}
        tables = {"name": "2x7", "puzzle": {"kind": "tiles", "rows": 2, "columns": 7}}
        plan = api.plan(
            config_of({**tables, "search": settings[0], "cluster": settings[1]}, "test")
        )
        assert plan.in_memory == in_memory
        assert words.format(plan.list_states) in text


def test_other_goals(known):
    text = section("God's number and diameter")
    assert len(Grid(2, 3).blank_orbits()) == 2
    middle = layers(distances((1, 0, 2, 3, 4, 5)))
    assert len(middle) == len(layers(known)) == 22
    assert "both give 21" in text
    assert f"begins {' '.join(map(str, middle[:5]))})" in text
    depths = {}
    for blank in Grid(3, 3).blank_orbits():
        puzzle = tile_puzzle(3, 3, blank=blank)
        (vertex,), (sequence,) = puzzle.model.origins()
        origin = puzzle.model.space.number(int(vertex), sequence)
        layout = memory_layout(puzzle.model.space, 1)
        depths[blank] = len(list(layer_sizes(puzzle.model.space, [origin], layout))) - 1
    assert depths == {(0, 0): 31, (0, 1): 31, (1, 1): 30}
    assert "corner and edge give 31, the middle 30, so the diameter is 31" in text


def test_lines():
    """By positions, each move of the blank to any other cell of its row or column; and by lines."""
    text, found, layer = section("Lines of positions"), {GOAL}, [GOAL]
    counts, at = [], {}
    while layer:
        counts.append(len(layer))
        at.update(dict.fromkeys(layer, len(counts) - 1))
        layer = {after for board in layer for after in slides(board)} - found
        found |= layer
    lines = {board: {row_of(board), column_of(board)} for board in at}
    depths, layer, depth = {}, lines[GOAL], 0
    while layer:
        depths.update(dict.fromkeys(layer, depth))
        layer = {line for both in lines.values() if both & layer for line in both} - {*depths}
        depth += 1
    assert "the position is at depth 1 + min(a, b), unless it is the goal" in text
    assert all(
        at[board] == 1 + min(depths[line] for line in both)
        for board, both in lines.items()
        if board != GOAL
    )
    assert f"so {counts[1]} positions are at depth 1;" in text
    assert "have {}, {} and {}, and".format(*counts[2:5]) in text
    assert f"the last one, at depth {len(counts) - 1}, has {counts[-1]}." in text


def slides(board):
    """The positions after a move along the row of the blank, or along its column."""
    yield from column_of(board)
    yield from row_of(board)


def column_of(board):
    """The positions that moves along the column of the blank join, the board among them."""
    beside = (after for after in neighbours(board) if after.index(0) % 3 == board.index(0) % 3)
    return frozenset({board, *beside})


def row_of(board):
    """The positions that moves along the row of the blank join, the board among them."""
    first = board.index(0) // 3 * 3
    rest = [tile for tile in board[first : first + 3] if tile]
    rows = ((*rest[:place], 0, *rest[place:]) for place in range(3))
    return frozenset((*board[:first], *row, *board[first + 3 :]) for row in rows)


def test_patterns(known):
    text, puzzle = section("Patterns"), pattern_puzzle(2, 3, k=1)
    labels = set(puzzle.model.labelled)
    found = {like(board, labels): 10**9 for board in known}
    for board, distance in known.items():  # the nearest position of a pattern is as far as it
        found[like(board, labels)] = min(found[like(board, labels)], distance)
    vertices = puzzle.model.graph.vertices
    assert labels == {2, 5}
    assert puzzle.states == len(found) == 120
    assert f"{vertices} shapes and {vertices} · {puzzle.states // vertices} = 120" in text
    assert f"at depths up to {max(found.values())}." in text
    assert f"at distance 21 has a pattern at distance {found[like(FARTHEST, labels)]}" in text


def test_sums(known):
    text, bound = section("Sums of databases"), bound_of(tile_puzzle(2, 3).model)
    pair, rest = (distances(like(GOAL, labels), labels) for labels in ({2, 5}, {1, 3, 4}))
    sums = {b: pair[like(b, {2, 5})] + rest[like(b, {1, 3, 4})] for b in known}
    boards = list(known)
    straight = bound.sums(np.array(boards))
    assert all(straight[i] <= sums[b] <= known[b] for i, b in enumerate(boards))
    two, three = pair[like(FARTHEST, {2, 5})], rest[like(FARTHEST, {1, 3, 4})]
    assert f"the Manhattan distance is {straight[boards.index(FARTHEST)]}." in text
    assert f"need {two} moves of their own, the tiles 1, 3 and 4 need {three}" in text
    assert f"{two} + {three} = {known[FARTHEST]}" in text
    means = (np.mean(list(values)) for values in (straight, sums.values(), known.values()))
    assert (
        "{:.2f} for the Manhattan distance, {:.2f} for the sum of these two databases, and {:.2f} "
        "for the distance.".format(*means)
        in text
    )


REGION, OUTSIDE = (0, 1, 3, 4), {2, 5}
"""The cells of the left 2×2 of 2×3, and the tiles whose homes are not among them."""


def reached(origins, after):
    """Distances from the nearest of some positions, by a dictionary."""
    found, queue = dict.fromkeys(origins, 0), deque(origins)
    while queue:
        here = queue.popleft()
        for there in after(here):
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def ends_of(regions):
    """The patterns with which solutions end: the blank has the colour of its home."""
    return {like(board, OUTSIDE) for board in regions if sum(divmod(board.index(0), 3)) % 2 == 0}


def in_region(board):
    return [after for after in neighbours(board) if after.index(0) in REGION]


def solutions(board, moves, patterns, before=None):
    """The boards at which the solutions of a board's pattern end that have so many moves, and the
    blank's cells on each."""
    if not moves and patterns[like(board, OUTSIDE)] == 0:
        yield board, ()
    if patterns[like(board, OUTSIDE)] > moves or not moves:
        return
    for after in neighbours(board):
        if after != before:
            for last, cells in solutions(after, moves - 1, patterns, board):
                yield last, (after.index(0), *cells)


def moved(board, cells):
    for cell in cells:
        (board,) = (after for after in neighbours(board) if after.index(0) == cell)
    return board


def test_cosets(known):
    text = section("Cosets")
    regions = reached([GOAL], in_region)
    patterns = reached(ends_of(regions), neighbours)
    least, most = max(patterns.values()), max(regions.values())
    assert f"There are {len(patterns)} patterns with h up to {least}" in text
    assert f"and {len(regions)} boards of A with D up to {most}" in text
    assert f"so {least} ≤ G ≤ {least + most}." in text
    coset = [board for board in known if like(board, OUTSIDE) == like(FARTHEST, OUTSIDE)]
    moves = patterns[like(FARTHEST, OUTSIDE)]
    assert f"three positions, and its h is {moves}. Three of its eight solutions" in text
    ways = sorted(cells for _, cells in solutions(FARTHEST, moves, patterns))
    assert len(ways) == 8
    rows = []
    for board in coset:
        rest = [regions[moved(board, ways[i])] for i in (4, 6, 7)]
        sums = " | ".join(f"{moves} + {r} = {moves + r}" for r in rest)
        name = " / ".join(" ".join(map(str, row)) for row in (board[:3], board[3:]))
        rows.append(f"| `{name}` | {sums} | {moves + min(rest)} | {known[board]} |")
        assert moves + min(rest) == known[board]
    assert all(row in text for row in rows)
    assert text.count("| `") == len(rows) == 3
    for limit, cosets, open_ in ((19, "nine", 1), (20, "six", 0)):
        searched = {
            pattern
            for pattern, far in patterns.items()
            if far + most > limit and sum(divmod(pattern.index(0), 3)) % 2 == limit % 2
        }
        assert len(searched) == {"nine": 9, "six": 6}[cosets]
        assert cosets in text
        farther = [b for b, far in known.items() if far > limit and far % 2 == limit % 2]
        assert len(farther) == open_
        assert {like(b, OUTSIDE) for b in farther} <= searched


def test_a_solution_bounds_every_position_of_its_coset(known):
    """The theorem, by all solutions of a few moves more than the least; and that those whose last
    two moves are inside the region settle nothing that a shorter one has not."""
    regions = reached([GOAL], in_region)
    patterns = reached(ends_of(regions), neighbours)
    for board in known:
        best = {}
        for moves in range(patterns[like(board, OUTSIDE)], 12):
            for last, cells in solutions(board, moves, patterns):
                bound = moves + regions[last]
                assert known[board] <= bound
                inside = moves and patterns[like(moved(board, cells[:-2]), OUTSIDE)] == 0
                if inside:
                    assert best[cells[:-2]] <= bound
                best[cells] = bound


@pytest.mark.sweep
def test_search_for_one_position():
    searched = IdaSolver(tile_puzzle(2, 3)).solve(FARTHEST)
    nodes = searched.nodes
    said = f"{', '.join(map(str, nodes[:-1]))} and {nodes[-1]} positions"
    assert said in section("Search for one position")
    assert len(nodes) == len(range(5, 22, 2))  # the limits are 5, 7, … 21
    assert len(searched.solution.moves) == 21
    assert sum(nodes) > 360
    others = [visited(FARTHEST, limit) for limit in range(5, 20, 2)]
    assert [count - 1 for count in others] == nodes[:-1]
    assert "(other programs count it: {}, {}, {}, …)".format(*others) in section(
        "Search for one position"
    )


def visited(board, limit, moves=0, before=None):
    """The positions that an iteration of IDA* visits if it fails, the start among them."""
    if moves + bound_of(tile_puzzle(2, 3).model).sums(np.array([board]))[0] > limit:
        return 0
    rest = (after for after in neighbours(board) if after != before)
    return 1 + sum(visited(after, limit, moves + 1, board) for after in rest)
