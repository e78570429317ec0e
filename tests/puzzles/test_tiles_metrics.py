"""Tiles: moves of whole lines, goals of several kinds, and where the blank may stand."""

import random
from functools import cache
from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import tile_puzzle
from frontier.puzzles.grid import Grid
from frontier.space.layout import Layout
from tests.support.reference_search import (
    bfs_layers,
    blank_moves,
    layers_of,
    line_moves,
    moved,
    random_sequence,
)
from tests.support.sweeps import swept
from tests.support.whole_searches import (
    arcs_of,
    bitmap_sizes,
    boards_at,
    layouts_of,
    list_layers,
    origins_of,
)

SHAPES = [(rows, columns) for rows in range(1, 6) for columns in range(1, 6)]
MOVES = {"step": blank_moves, "multi": line_moves}


@cache
def twin_layers(rows, columns, metric, goal):
    return layers_of([goal], lambda board: MOVES[metric](rows, columns, board))


def origins_in(space, puzzle):
    return [space.number(*state) for state in origins_of(puzzle)]


def engine_layers(puzzle):
    """The boards of each layer, by the list kernel; bitmaps must find as many."""
    space = puzzle.model.space
    origins = origins_in(space, puzzle)
    layers = list_layers(space, origins)
    sizes = [layer.size for layer in layers]
    assert sum(sizes) == puzzle.states
    assert bitmap_sizes(space, origins, Layout(space, 0, 2), threads=2) == sizes
    return [
        boards_at(space, puzzle, space.side_of(depth), numbers)
        for depth, numbers in enumerate(layers)
    ]


# --- moves of whole lines


@pytest.mark.parametrize("goal", ["in order", "mixed"])
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (1, 2), (1, 5), (4, 1), (2, 2), (2, 3), (3, 2)]
)
def test_multi_on_small_boards(rows, columns, goal):
    cells = tuple(range(rows * columns))
    if goal == "mixed":
        cells = tuple(random.Random(rows).sample(cells, len(cells)))
    puzzle = tile_puzzle(rows, columns, goal=" ".join(map(str, cells)), metric="multi")
    assert engine_layers(puzzle) == twin_layers(rows, columns, "multi", cells)


@swept(("rows", "columns"), [(2, 4), (4, 2)], few=1)
def test_multi_on_2x4(rows, columns):
    puzzle = tile_puzzle(rows, columns, metric="multi")
    assert engine_layers(puzzle) == twin_layers(rows, columns, "multi", tuple(range(8)))


@pytest.mark.sweep
def test_multi_on_2x4_in_every_layout():
    puzzle = tile_puzzle(2, 4, metric="multi")
    expected = [len(layer) for layer in twin_layers(2, 4, "multi", tuple(range(8)))]
    tried = set()
    for row_words in (4096, 6, 1):
        for layout in layouts_of(puzzle.model.space, row_words):
            origins = origins_in(puzzle.model.space, puzzle)
            assert bitmap_sizes(puzzle.model.space, origins, layout) == expected
            tried.add(layout.prefix_digits)
    assert tried


@pytest.mark.sweep
def test_multi_on_3x3():
    """24 moves, also with the blank in the centre."""
    puzzle = tile_puzzle(3, 3, metric="multi", blank=(1, 1))
    expected = [len(layer) for layer in twin_layers(3, 3, "multi", puzzle.goals[0])]
    space = puzzle.model.space
    origins = origins_in(space, puzzle)
    assert [layer.size for layer in list_layers(space, origins)] == expected
    for prefix_digits in (0, 1):
        layout = Layout(space, prefix_digits, 3)
        if layout.fits_voltages:
            assert bitmap_sizes(space, origins, layout, threads=2) == expected
    assert len(expected) - 1 == 24
    assert sum(expected) == factorial(9) // 2


@given(st.sampled_from(SHAPES), st.sampled_from(list(MOVES)), st.randoms(use_true_random=False))
def test_arcs_are_the_moves_of_the_blank(shape, metric, rng):
    rows, columns = shape
    puzzle = tile_puzzle(rows, columns, metric=metric)
    graph = puzzle.model.graph
    vertex, sequence = rng.randrange(graph.vertices), random_sequence(rng, graph.m)
    before = puzzle.model.board((vertex, sequence))
    after = [
        puzzle.model.board((target, moved(sequence, word)))
        for source, target, word in arcs_of(graph)
        if source == vertex
    ]
    assert sorted(after) == sorted(MOVES[metric](rows, columns, before))
    moves = puzzle.model.encoding.moves
    for arc in range(len(graph.source)):
        if graph.source[arc] != vertex:
            continue
        target, word = int(graph.target[arc]), graph.voltages[graph.voltage[arc]]
        assert_displaces(
            puzzle, moves, arc, before, puzzle.model.board((target, moved(sequence, word)))
        )


def assert_displaces(puzzle, moves, arc, before, after):
    """The tables name the tiles of the move, the nearest to the blank first, and their cells."""
    _, sequence = puzzle.model.state(before)
    members = puzzle.model.encoding.members.tolist()
    order = [members[thing] for thing in sequence] if moves.in_sequence else members
    said = []
    for k in range(moves.start[arc], moves.start[arc + 1]):
        said.append(
            (
                order[moves.place[k]],
                int(puzzle.notation.pieces.reading[moves.source[k]]),
                int(puzzle.notation.pieces.reading[moves.target[k]]),
            )
        )
    moving = [tile for tile in range(1, len(before)) if before.index(tile) != after.index(tile)]
    assert sorted(said) == [(tile, before.index(tile), after.index(tile)) for tile in moving]
    assert said[0][2] == before.index(0)
    assert [target for _, _, target in said[1:]] == [source for _, source, _ in said[:-1]]
    arrow = {-1: "←", 1: "→"}.get(said[0][2] - said[0][1])
    if puzzle.grid.columns == 1 or arrow is None:
        arrow = "↑" if said[0][2] < said[0][1] else "↓"
    assert (
        puzzle.notation.name_move(before, after) == ",".join(str(tile) for tile, *_ in said) + arrow
    )


def test_names_of_moves():
    puzzle = tile_puzzle(2, 4, metric="multi")
    board = (1, 2, 3, 0, 4, 5, 6, 7)
    assert puzzle.notation.name_move(board, (1, 2, 0, 3, 4, 5, 6, 7)) == "3→"
    assert puzzle.notation.name_move(board, (0, 1, 2, 3, 4, 5, 6, 7)) == "3,2,1→"
    assert puzzle.notation.name_move(board, (1, 2, 3, 7, 4, 5, 6, 0)) == "7↑"


def test_title_says_the_metric():
    assert tile_puzzle(3, 3, metric="multi").title == "3×3 tiles, any number of tiles a move"


# --- goals of several kinds


def agreeing(shape, goal):
    """All boards that look like a goal wherever it does not say None."""
    return {
        board
        for board in permutations(range(shape[0] * shape[1]))
        if all(mark in (None, tile) for tile, mark in zip(board, goal, strict=True))
    }


def written(goal, columns):
    marks = ["?" if mark is None else str(mark) for mark in goal]
    return "/".join(" ".join(marks[i : i + columns]) for i in range(0, len(marks), columns))


_ = None
GOALS = {
    "a tile": ((2, 3), [(_, _, _, _, _, 5)]),
    "the blank": ((2, 3), [(0, _, _, _, _, _)]),
    "all but two": ((2, 3), [(0, 1, 2, 3, _, _)]),
    "all but one": ((2, 3), [(0, 1, 2, _, 4, 5)]),
    "a row": ((3, 2), [(1, 2, _, _, _, _)]),
    "two parts": ((2, 3), [(1, _, _, _, _, _), (_, 1, 0, _, _, _)]),
    "two boards": ((2, 3), [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)]),
    "one board twice": ((2, 2), [(0, 1, 2, 3), (0, 1, 2, 3)]),
    "both parities": ((2, 3), [(0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 5, 4)]),
    "next to each other": ((2, 2), [(0, 1, 2, 3), (1, 0, 2, 3)]),
    "a board and a part": ((2, 3), [(0, 1, 2, 3, 4, 5), (_, _, _, _, 1, 0)]),
    "nothing is said": ((2, 2), [(_, _, _, _)]),
    "a part of a line": ((1, 4), [(1, _, _, _)]),
    "orders on a line": ((1, 4), [(1, 2, 3, 0), (2, 1, 3, 0)]),
    "blanks on a line": ((4, 1), [(0, 1, 2, 3), (1, 2, 0, 3)]),
}


@pytest.mark.parametrize("metric", MOVES)
@swept("name", GOALS, few=["next to each other", "blanks on a line"])
def test_goals(name, metric):
    """Depth 0 is every board that agrees with a goal, of either parity."""
    shape, goals = GOALS[name]
    puzzle = tile_puzzle(*shape, goals=[written(goal, shape[1]) for goal in goals], metric=metric)
    origins = set().union(*(agreeing(shape, goal) for goal in goals))
    assert {puzzle.model.board(state) for state in origins_of(puzzle)} == origins
    expected = layers_of(origins, lambda board: MOVES[metric](*shape, board))
    assert engine_layers(puzzle) == expected
    reached = set().union(*expected)
    for board in permutations(range(shape[0] * shape[1])):
        assert puzzle.model.reaches(board) == (board in reached)


@pytest.mark.sweep
def test_a_part_of_3x3():
    rng = random.Random(0)
    board = rng.sample(range(9), 9)
    shown = rng.sample(range(9), rng.randint(4, 7))
    goal = tuple(board[cell] if cell in shown else None for cell in range(9))
    puzzle = tile_puzzle(3, 3, goal=written(goal, 3))
    origins = agreeing((3, 3), goal)
    assert len(origins) == factorial(9 - len(shown))
    assert {puzzle.model.board(state) for state in origins_of(puzzle)} == origins
    expected = layers_of(origins, lambda cells: blank_moves(3, 3, cells))
    space = puzzle.model.space
    layers = list_layers(space, origins_in(space, puzzle))
    assert [layer.size for layer in layers] == [len(layer) for layer in expected]
    assert puzzle.states == factorial(9)


def test_goals_as_they_are_written():
    puzzle = tile_puzzle(2, 2, goals=["0 1/2 3", [[1, "?"], ["?", 0]], "? ? . 2"])
    assert puzzle.goals == ((0, 1, 2, 3), (1, -1, -1, 0), (-1, -1, 0, 2))
    assert [puzzle.write(goal) for goal in puzzle.goals] == [
        [[0, 1], [2, 3]], [[1, "?"], ["?", 0]], [["?", "?"], [0, 2]],
    ]  # fmt: skip
    assert puzzle.line(puzzle.goals[1]) == "1 ?/? 0"


def test_a_start_of_either_parity_reaches_a_part():
    for start in ("0 1 2/3 4 5", "0 2 1/3 4 5"):
        puzzle = tile_puzzle(2, 3, goal="? ? ?/? ? 5", start=start)
        puzzle.check()
        assert puzzle.model.reaches(puzzle.parse(start))


# --- where the blank stands


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_blank_orbits(rows, columns):
    """One cell of each set of cells that turning and mirroring the board carry into another."""

    def images(cell):
        r, c = cell
        yield rows - 1 - r, c
        yield r, columns - 1 - c
        if rows == columns:
            yield c, r

    cells = {(r, c) for r in range(rows) for c in range(columns)}
    found, left = Grid(rows, columns).blank_orbits(), set(cells)
    for cell in found:
        orbit = set().union(*layers_of([cell], images))
        assert cell == min(orbit)
        assert orbit <= left
        left -= orbit
    assert not left
    assert found == sorted(found)


@pytest.mark.parametrize("metric", MOVES)
@swept(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (1, 5)], few=[(2, 2), (1, 5), (2, 3)])
def test_cells_of_one_orbit_are_as_far(rows, columns, metric):
    """The sizes of layers depend on the orbit of the blank alone."""
    by_cell = {}
    for r in range(rows):
        for c in range(columns):
            layers = engine_layers(tile_puzzle(rows, columns, blank=(r, c), metric=metric))
            by_cell[r, c] = tuple(map(len, layers))
    assert set(by_cell.values()) == {by_cell[cell] for cell in Grid(rows, columns).blank_orbits()}


@pytest.mark.parametrize(
    ("blank", "goal"),
    [((0, 0), (0, 1, 2, 3, 4, 5)), ((0, 2), (1, 2, 0, 3, 4, 5)), ((1, 1), (1, 2, 3, 4, 0, 5))],
)
def test_blank_says_where_the_goal_has_it(blank, goal):
    assert tile_puzzle(2, 3, blank=blank).goals == (goal,)
    assert tile_puzzle(2, 3, blank=list(blank)).goals == (goal,)


@pytest.mark.parametrize("blank", [(2, 0), (0, 3), (-1, 0), (0, -1)])
def test_blanks_off_the_board(blank):
    with pytest.raises(InputError, match=r"puzzle\.blank = .*rows are 0\.\.1, columns 0\.\.2"):
        tile_puzzle(2, 3, blank=blank)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"goal": "0 1/2 3", "goals": ["0 1/2 3"]}, "cannot be used together"),
        ({"goal": "0 1/2 3", "blank": (0, 0)}, "cannot be used together"),
        ({"goals": ["0 1/2 3"], "blank": (0, 0)}, "cannot be used together"),
        ({"goal": "0 ?/2 2"}, r"puzzle\.goal = 0 \?/2 2: the numbers 0\.\.3"),
        ({"goal": "0 ?/2 4"}, r"puzzle\.goal = .*: the numbers 0\.\.3"),
        ({"goal": "0 ?/2 x"}, "'x' is not the number of a tile"),
        (
            {"goal": "0 1/2 3", "start": "0 ?/2 3"},
            r"puzzle\.start = .*'\?' is not the number of a tile",
        ),
    ],
)
def test_goals_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        tile_puzzle(2, 2, **settings)


def test_too_many_positions_at_depth_0():
    with pytest.raises(InputError, match="at most 1,000,000 positions can be at depth 0"):
        tile_puzzle(4, 4, goal="1 2 ? ?/? ? ? ?/? ? ? ?/? ? ? ?").model.origins()


def test_bfs_of_lines_and_steps_reach_the_same():
    for rows, columns in ((2, 3), (1, 4), (3, 2)):
        goal = tuple(range(rows * columns))
        by_steps = set().union(*bfs_layers(rows, columns, goal))
        assert by_steps == set().union(*twin_layers(rows, columns, "multi", goal))
