import gc
import json
import random
from itertools import permutations
from math import factorial
from weakref import ref

import pytest
from engine import arcs_of, origins_of
from hypothesis import given
from hypothesis import strategies as st
from sweeps import swept
from twins import bfs_layers, blank_moves, moved, sign

from frontier.config import make_config
from frontier.errors import InputError
from frontier.puzzles import Tiles, puzzle_of

SHAPES = [(rows, columns) for rows in range(1, 26) for columns in range(1, 25 // rows + 1)]
AT_MOST_6 = [shape for shape in SHAPES if shape[0] * shape[1] <= 6]
AT_MOST_8 = [shape for shape in SHAPES if shape[0] * shape[1] <= 8]
FEW_SHAPES = [*AT_MOST_8, (3, 4), (5, 5)]


def shaped(cells, columns):
    """A flat board row by row, as a config has it."""
    return tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns))


def transposed(cells, columns):
    """A flat board mirrored in its diagonal, flat again."""
    return tuple(cell for column in range(columns) for cell in cells[column::columns])


def with_blank_at(cells, place):
    """The tiles of a flat board in their order, the blank elsewhere."""
    tiles = [tile for tile in cells if tile]
    return (*tiles[:place], 0, *tiles[place:])


@st.composite
def puzzles_and_boards(draw, most=25):
    """(puzzle with a goal of its own, a board of it, which need not be reachable)."""
    shapes = [shape for shape in SHAPES if shape[0] * shape[1] <= most]
    rows, columns = draw(st.sampled_from(shapes))
    cells = rows * columns
    goal = draw(st.permutations(range(cells)))
    if min(rows, columns) == 1:  # tiles never pass each other
        board = with_blank_at(goal, draw(st.integers(0, cells - 1)))
    else:
        board = draw(st.permutations(range(cells)))
    return Tiles(rows, columns, goal=shaped(goal, columns)), tuple(board)


# --- boards and states


@given(puzzles_and_boards())
def test_board_undoes_state(case):
    puzzle, board = case
    vertex, sequence = puzzle.state(board)
    graph = puzzle.graph
    assert 0 <= vertex < graph.vertices
    assert sorted(sequence) == list(range(graph.m))
    assert puzzle.board((vertex, sequence)) == board


@given(st.sampled_from(SHAPES), st.data())
def test_state_undoes_board(shape, data):
    rows, columns = shape
    goal = data.draw(st.permutations(range(rows * columns)))
    puzzle = Tiles(rows, columns, goal=shaped(goal, columns))
    graph = puzzle.graph
    state = (
        data.draw(st.integers(0, graph.vertices - 1)),
        tuple(data.draw(st.permutations(range(graph.m)))),
    )
    assert puzzle.state(puzzle.board(state)) == state


@swept("shape", AT_MOST_6, few=[shape for shape in AT_MOST_6 if shape != (3, 2)])
def test_boards_and_states_correspond_one_to_one(shape):
    rows, columns = shape
    puzzle = Tiles(rows, columns)
    boards = list(permutations(range(rows * columns)))
    if min(shape) == 1:
        boards = [board for board in boards if puzzle.reaches(board)]
    states = {puzzle.state(board) for board in boards}
    assert len(states) == len(boards) == puzzle.graph.vertices * factorial(puzzle.graph.m)


def test_the_goal_is_the_sequence_in_order():
    puzzle = Tiles(2, 3, goal=((5, 1, 0), (3, 2, 4)))
    assert puzzle.goals == ((5, 1, 0, 3, 2, 4),)
    assert puzzle.state(puzzle.goals[0]) == (4, (0, 1, 2, 3, 4))
    assert origins_of(puzzle) == [(4, (0, 1, 2, 3, 4))]


@pytest.mark.parametrize(
    ("board", "state"),
    [
        ((0, 1, 2, 3, 4, 5), (0, (0, 1, 2, 3, 4))),
        ((3, 1, 2, 0, 4, 5), (1, (0, 1, 2, 3, 4))),
        ((1, 0, 2, 3, 4, 5), (2, (1, 0, 2, 3, 4))),
    ],
)
def test_states_of_2x3_by_hand(board, state):
    """Reading column by column, the default goal is 0 3 1 4 2 5."""
    assert Tiles(2, 3).state(board) == state


def test_the_default_goal_has_the_blank_first():
    assert Tiles(2, 3).goals == ((0, 1, 2, 3, 4, 5),)
    assert Tiles(3, 1).goals == ((0, 1, 2),)
    assert Tiles(1, 1).goals == ((0,),)


def test_title():
    assert Tiles(2, 7).title == "2×7 tiles"


# --- moves


@given(puzzles_and_boards())
def test_arcs_are_the_moves_of_the_blank(case):
    puzzle, board = case
    vertex, sequence = puzzle.state(board)
    after = [
        puzzle.board((target, moved(sequence, word)))
        for source, target, word in arcs_of(puzzle.graph)
        if source == vertex
    ]
    assert sorted(after) == sorted(blank_moves(puzzle.rows, puzzle.columns, board))


@swept("shape", SHAPES, few=FEW_SHAPES)
def test_with_every_arc_comes_the_one_that_undoes_it(shape):
    arcs = arcs_of(Tiles(*shape).graph)
    assert len(set(arcs)) == len(arcs)
    assert {(v, u, word[::-1]) for u, v, word in arcs} == set(arcs)


@swept("shape", SHAPES, few=FEW_SHAPES)
def test_turned_boards_have_the_same_graph(shape):
    rows, columns = shape
    graph, turned = Tiles(rows, columns).graph, Tiles(columns, rows).graph
    assert graph.vertices == turned.vertices == rows * columns
    assert graph.m == turned.m
    assert graph.voltages == turned.voltages
    assert sorted(arcs_of(graph)) == sorted(arcs_of(turned))


@swept("shape", [(2, 4), (3, 4), (2, 7), (1, 6)], few=2)
def test_turned_boards_have_the_same_states(shape):
    rows, columns = shape
    rng = random.Random(rows * columns)
    board = tuple(rng.sample(range(rows * columns), rows * columns))
    puzzle = Tiles(rows, columns, shaped(board, columns))
    turned = Tiles(columns, rows, shaped(transposed(board, columns), rows))
    for _ in range(200):
        board = rng.choice(blank_moves(rows, columns, board))
        assert puzzle.state(board) == turned.state(transposed(board, columns))


@swept(
    "shape",
    [shape for shape in SHAPES if min(shape) > 1],
    few=[shape for shape in FEW_SHAPES if min(shape) > 1],
)
def test_tiles_are_read_along_the_shorter_side(shape):
    """A move along it changes nothing, a move across it jumps over the rest of a line."""
    line = min(shape)
    lengths = {len(word) for word in Tiles(*shape).graph.voltages}
    assert lengths == {0, line - 1}
    assert all(word in {(), *_turns(line, shape)} for word in Tiles(*shape).graph.voltages)


def _turns(line, shape):
    """The words that turn `line` neighbouring tiles by one, either way."""
    for first in range(shape[0] * shape[1] - line):
        yield tuple(range(first, first + line - 1))
        yield tuple(reversed(range(first, first + line - 1)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 9), (25, 1)])
def test_one_line_has_no_sequence(shape):
    puzzle = Tiles(*shape)
    cells = shape[0] * shape[1]
    graph = puzzle.graph
    assert (graph.vertices, graph.m) == (cells, 0)
    assert sorted(arcs_of(graph)) == sorted(
        (p, q, ()) for p in range(cells) for q in (p - 1, p + 1) if 0 <= q < cells
    )
    assert puzzle.states == cells
    for place in range(cells):
        board = with_blank_at(range(cells), place)
        assert puzzle.state(board) == (place, ())
        assert puzzle.board((place, ())) == board


# --- what can be reached


def goals(shape):
    """The default goal and two others, one of either parity where there is a choice."""
    cells = list(range(shape[0] * shape[1]))
    rng = random.Random(sum(shape))
    shuffled = rng.sample(cells, len(cells))
    exchanged = [*shuffled[:-2], *reversed(shuffled[-2:])]
    return [tuple(goal) for goal in (cells, shuffled, exchanged)]


@swept(
    ("shape", "goal"),
    [(shape, goal) for shape in AT_MOST_6 for goal in goals(shape)],
    few=[
        (shape, goal)
        for shape in AT_MOST_6
        if 6 not in shape and shape != (3, 2)
        for goal in goals(shape)[-2:]
    ],
)
def test_reaches_exactly_what_a_search_reaches(shape, goal):
    rows, columns = shape
    puzzle = Tiles(rows, columns, goal=shaped(goal, columns))
    reached = set().union(*bfs_layers(rows, columns, goal))
    for cells in permutations(range(rows * columns)):
        assert puzzle.reaches(cells) == (cells in reached)


@pytest.mark.parametrize("shape", AT_MOST_8)
def test_states_are_those_of_a_search(shape):
    assert Tiles(*shape).states == sum(map(len, bfs_layers(*shape)))


@pytest.mark.parametrize(
    ("shape", "states"),
    [((3, 3), 181_440), ((2, 5), 1_814_400), ((4, 4), 10_461_394_944_000), ((25, 1), 25)],
)
def test_known_numbers_of_states(shape, states):
    assert Tiles(*shape).states == states


@given(puzzles_and_boards(most=12), st.data())
def test_moves_keep_what_can_be_reached(case, data):
    puzzle, board = case
    reaches = puzzle.reaches(board)
    for _ in range(data.draw(st.integers(0, 30))):
        moves = blank_moves(puzzle.rows, puzzle.columns, board)
        if moves:
            board = data.draw(st.sampled_from(moves))
    assert puzzle.reaches(board) == reaches
    assert puzzle.reaches(puzzle.goals[0])


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 6), (2, 9)])
def test_two_tiles_exchanged_cannot_be_mended(rows, columns):
    """Sam Loyd's puzzle, on larger boards than a search can try."""
    puzzle, rng = Tiles(rows, columns), random.Random(rows)
    board = tuple(range(rows * columns))
    for _ in range(200):
        board = rng.choice(blank_moves(rows, columns, board))
    exchanged = tuple({1: 2, 2: 1}.get(tile, tile) for tile in board)
    assert puzzle.reaches(board)
    assert not puzzle.reaches(exchanged)
    assert puzzle.states == factorial(rows * columns) // 2


@swept("shape", AT_MOST_6, few=[shape for shape in AT_MOST_6 if shape != (3, 2)])
def test_the_space_holds_exactly_what_can_be_reached(shape):
    rows, columns = shape
    puzzle = Tiles(rows, columns)
    space = puzzle.space
    numbers = set()
    for cells in permutations(range(rows * columns)):
        if puzzle.reaches(cells):
            numbers.add(space.number(*puzzle.state(cells)))
        elif min(shape) > 1:
            assert space.number(*puzzle.state(cells)) is None
    assert numbers == {
        (c, n) for c in range(space.sides) for n in range(space.nodes[c] * space.code.half)
    }
    assert puzzle.states == space.states


# --- errors


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((0, 3), r"puzzle\.rows = 0: .*at least 1"),
        ((3, 0), r"puzzle\.columns = 0: .*at least 1"),
        ((2, -4), r"puzzle\.columns = -4: .*at least 1"),
        ((2, 13), r"2 x 13 = 26 cells: at most 25"),
        ((26, 1), r"26 x 1 = 26 cells: at most 25"),
    ],
)
def test_shapes_that_cannot_be(shape, message):
    with pytest.raises(InputError, match=message):
        Tiles(*shape)


BAD_BOARDS = [
    (((0, 1, 2), (3, 4, 4)), r"\[\[0, 1, 2\], \[3, 4, 4\]\]: the numbers 0\.\.5 must .* once"),
    (((1, 2, 3), (4, 5, 6)), r"\[\[1, 2, 3\], \[4, 5, 6\]\]: the numbers 0\.\.5"),
    (((0, 1, 2), (3, 4, -5)), r"-5\]\]: -5 is not a number; write numbers, 0 for the blank"),
    (((0, 1), (2, 3), (4, 5)), r"\[\[0, 1\], .*: expected 2 rows of 3 numbers"),
    (((0, 1, 2), (3, 4)), r"\[3, 4\]\]: expected 2 rows of 3 numbers"),
    (((0, 1, 2), (3, 4, 5), (6, 7, 8)), r"\[6, 7, 8\]\]: expected 2 rows of 3 numbers"),
    (((0, 1, 2, 3, 4, 5, 6),), r"\[6\]\]: expected 2 rows of 3 numbers"),
    ((), r"\(\): expected 2 rows of 3 numbers"),
]


@pytest.mark.parametrize(("board", "message"), BAD_BOARDS)
def test_boards_that_are_none(board, message):
    with pytest.raises(InputError, match=r"^puzzle\.goal = .*" + message):
        Tiles(2, 3, goal=board)
    with pytest.raises(InputError, match=r"^puzzle\.start = .*" + message):
        Tiles(2, 3, start=board)
    with pytest.raises(InputError, match=r"^board = .*" + message):
        Tiles(2, 3).parse(board)


@pytest.mark.parametrize(
    ("board", "said"),
    [((0, 1, 2, 3, 4, 4), "0 1 2/3 4 4"), ((1, 2, 3, 4, 5, 6), "6"), ((0, 1, 2, 3, 4, -5), "-5")],
)
def test_codes_that_are_no_board(board, said):
    for ask in (Tiles(2, 3).state, Tiles(2, 3).reaches):
        with pytest.raises(
            InputError, match=rf"^board .*{said}.*: the numbers 0\.\.5 must .* once"
        ):
            ask(board)


def test_start_of_the_wrong_parity():
    start = ((0, 2, 1), (3, 4, 5))
    with pytest.raises(
        InputError, match=r"puzzle\.start = 0 2 1/3 4 5: .* cannot be reached .*parity"
    ):
        Tiles(2, 3, start=start).check()
    for puzzle in (Tiles(2, 3, start=((1, 0, 2), (3, 4, 5))), Tiles(2, 3, start, start=start)):
        puzzle.check()
    assert Tiles(2, 3, start=((1, 0, 2), (3, 4, 5))).start == (1, 0, 2, 3, 4, 5)
    assert Tiles(2, 3).start is None
    Tiles(2, 3).check()


@pytest.mark.parametrize("start", [((2, 0, 1),), ((0, 2, 1),)])
def test_start_in_another_order_on_one_line(start):
    with pytest.raises(InputError, match=r"puzzle\.start = .* cannot be reached .*keep their"):
        Tiles(1, 3, start=start).check()


def test_a_board_in_another_order_on_one_line_has_no_state():
    with pytest.raises(InputError, match=r"2 0 1 cannot be reached"):
        Tiles(1, 3).state((2, 0, 1))


# --- writing and reading


@given(puzzles_and_boards(), st.sampled_from(["\n", "/", " / ", "\n\n"]), st.booleans())
def test_parse_takes_rows_of_words(case, between, commas):
    puzzle, board = case
    text = puzzle.line(board).replace("/", between)
    if commas:
        text = text.replace(" ", ",")
    assert puzzle.parse(text) == board


@given(puzzles_and_boards())
def test_parse_undoes_write_and_line(case):
    puzzle, board = case
    assert puzzle.parse(puzzle.write(board)) == board
    assert puzzle.parse(json.loads(json.dumps(puzzle.write(board)))) == board
    assert puzzle.parse(puzzle.line(board)) == board
    assert "\n" not in puzzle.line(board)


@given(puzzles_and_boards())
def test_parse_takes_all_numbers_in_one_row(case):
    puzzle, board = case
    assert puzzle.parse(" ".join(map(str, board))) == board


@pytest.mark.parametrize("blank", ["0", ".", "_", "·"])
def test_ways_to_write_the_blank(blank):
    assert Tiles(2, 2).parse(f"1 {blank}\n2 3") == (1, 0, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2 / 3 x 5", r"\[\[0, 1, 2\], \[3, x, 5\]\].*'x'.*0 for the blank"),
        ("0 1 2 / 3 4 5.5", r"'5\.5'"),
        ("", "expected 2 rows of 3 numbers"),
        ("0 1 2 / 3 4", "expected 2 rows of 3 numbers"),
        ("0 1 2 3 4", "expected 2 rows of 3 numbers"),
        ("0 1 2 3 4 5 6", "expected 2 rows of 3 numbers"),
        ("0 1 2 / 3 4 4", r"4\]\]: the numbers 0\.\.5"),
        ("0 1 . / 3 4 5", r"\[\[0, 1, 0\], \[3, 4, 5\]\]: the numbers 0\.\.5"),
        ("0 1 ? / 3 4 5", r"'\?' is not a number"),
    ],
)
def test_text_that_is_no_board(text, message):
    with pytest.raises(InputError, match=message):
        Tiles(2, 3).parse(text)


def test_puzzle_of_settings():
    settings = {"kind": "tiles", "rows": 2, "columns": 2, "goal": [[1, 2], [3, 0]]}
    puzzle = puzzle_of(settings)
    assert isinstance(puzzle, Tiles)
    assert (puzzle.rows, puzzle.columns, puzzle.goals) == (2, 2, ((1, 2, 3, 0),))
    assert settings["kind"] == "tiles"


def test_a_puzzle_is_made_once_and_goes_with_who_has_it():
    settings = {"kind": "tiles", "rows": 2, "columns": 2}
    config = make_config("x", settings)
    puzzle = config.make_puzzle()
    assert puzzle_of(config.puzzle_settings) is puzzle
    there = ref(puzzle)
    del puzzle
    gc.collect()
    assert config.make_puzzle() is there()
    del config
    gc.collect()
    assert there() is None


def test_the_sign_is_the_same_for_all_boards_of_a_blank():
    """What makes half of the lift unreachable: the blank's cell fixes the sign."""
    signs = {}
    for layer in bfs_layers(2, 3):
        for cells in layer:
            vertex, sequence = Tiles(2, 3).state(cells)
            signs.setdefault(vertex, set()).add(sign(sequence))
    assert all(len(found) == 1 for found in signs.values())
    assert len(signs) == 6


def test_a_line_says_that_its_tiles_keep_their_order():
    with pytest.raises(InputError, match="keep their order"):
        Tiles(1, 4, start=((0, 3, 2, 1),)).check()
    with pytest.raises(InputError, match="rows of 3"):
        Tiles(1, 3).parse(((0, 1), (2,)))
    with pytest.raises(InputError, match="write numbers"):
        Tiles(2, 2).parse("1 ._ 2 3")
