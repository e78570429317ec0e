"""Boards of too many shapes, as the placements of their pieces: whole searches against dictionaries
of pieces and the cells they cover."""

import random
import tracemalloc

import numpy as np
import pytest

import frontier
from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.kernels.engines import lists_of
from frontier.layers.verify import verify
from frontier.puzzles import alike as encodings
from frontier.puzzles import block_puzzle, cell_puzzle, graph_puzzle
from frontier.puzzles.part_goals import boards_agreeing
from frontier.puzzles.pieces import OPEN
from frontier.puzzles.placements import PlacementEncoding
from frontier.solving.methods import solver_for
from frontier.space.key_layout import layout_of
from tests.puzzles.test_blocks import HAKOIRI, METRICS, SMALL, positions
from tests.puzzles.test_cells import SEARCHES, pairs_of
from tests.support.reference_blocks import (
    agreeing,
    all_positions,
    block_layers,
    board_cells,
    drawn,
    position,
    random_blocks,
)
from tests.support.reference_cells import both_ways, floor_moves, floor_position
from tests.support.reference_search import layers_of
from tests.support.sweeps import swept

JAM = "AABBCCDD/EEFFGGHH/IIJJKKLL/MMNNOOPP/QRSTUVWX/QRSTUVWX/YZabcde./YZabcde."
"""Dominoes of two kinds; there are more than a million ways to lay them."""
JAM_ALIKE = ("ABCDEFGHIJKLMNOP", "QRSTUVWXYZabcde")


@pytest.fixture
def no_shapes(monkeypatch):
    """No board has so few shapes that they are numbered."""
    monkeypatch.setattr(encodings, "MOST_SHAPES", 0)


def found_layers(puzzle):
    """The boards of each layer, by the function that lists neighbours, one state at a time."""
    assert isinstance(puzzle.model.encoding, PlacementEncoding)
    space = puzzle.model.space
    _, origins = space.numbers(*puzzle.model.origins())
    layers = layers_of(
        origins.tolist(), lambda key: [k for _, k in space.neighbours(0, space.dtype.type(key))]
    )
    return [
        list(map(tuple, puzzle.model.boards_of(*space.states_of(0, keys_of(space, layer)))))
        for layer in layers
    ]


def keys_of(space, keys):
    return np.array(list(keys), space.dtype)


def assert_blocks(drawing, alike, metric, **axes):
    """The positions of each layer are those that a dictionary finds; returns them."""
    puzzle = block_puzzle(drawing, alike=alike, metric=metric, **axes)
    kinds = {letter: group for group in alike for letter in group}
    axis_of = {
        kinds.get(letter, letter): axis
        for axis, name in enumerate(("horizontal", "vertical"))
        for letter in axes.get(name, "")
    }
    expected = block_layers(board_cells(drawing), [position(drawing, alike)], metric, axes=axis_of)
    found = found_layers(puzzle)
    assert [len(layer) for layer in found] == [len(layer) for layer in expected]
    assert [positions(puzzle, layer, alike) for layer in found] == expected
    return puzzle, expected


@swept("metric", METRICS, few=1)
@pytest.mark.parametrize("name", sorted({*SMALL} - {"no piece"}))
def test_small_boards(name, metric, no_shapes):
    assert_blocks(*SMALL[name], metric)


@swept("seed", range(60), few=6)
def test_random_boards(seed, no_shapes):
    """Every board is read as a state, and written as itself."""
    drawing, alike = random_blocks(random.Random(seed))
    puzzle, _ = assert_blocks(drawing, alike, random.Random(seed).choice(METRICS))
    everything = all_positions(board_cells(drawing), position(drawing, alike))
    boards = [puzzle.parse(drawn(drawing, laid, alike)) for laid in everything]
    vertex, digits = puzzle.model.states_of(np.array(boards))
    assert not vertex.any()
    assert len(np.unique(digits, axis=0)) == len(boards)
    assert (digits < puzzle.model.encoding.radices).all()
    assert list(map(tuple, puzzle.model.boards_of(vertex, digits).tolist())) == boards


def test_pieces_that_stay_in_their_lines(no_shapes):
    assert_blocks("aab./..bc/dd.c", (), "straight", horizontal="ad", vertical="bc")


@pytest.mark.parametrize("metric", ["step", "path"])
@pytest.mark.parametrize("name", sorted({*SEARCHES} - {"no piece"}))
def test_cells(name, metric, no_shapes):
    cells, moves, board, alike = SEARCHES[name]
    puzzle = cell_puzzle(cells, moves, board, alike=alike, metric=metric)
    ways = both_ways([moves["on"]] if "on" in moves else pairs_of(cells, moves))
    expected = layers_of(
        [floor_position(cells, board, alike)], lambda at: floor_moves(ways, at, metric)
    )
    labels = puzzle.notation.labels
    assert [
        {floor_position(cells, [labels[code] for code in b], alike) for b in layer}
        for layer in found_layers(puzzle)
    ] == expected


def test_edges_that_go_one_way(no_shapes):
    puzzle = graph_puzzle([[1], [2], [0]], goal="ab.")
    assert not puzzle.model.undone
    boards = ["".join(puzzle.notation.labels_on(b)) for [b] in found_layers(puzzle)]
    assert boards == ["ab.", "a.b", ".ab", "ba.", "b.a", ".ba"]


def test_more_edges_that_enter_a_cell_than_leave_any(no_shapes):
    puzzle = graph_puzzle([[1], [0], [0], [0], [0]], goal=".abcc")
    assert puzzle.model.encoding.most == 4
    assert list(map(len, found_layers(puzzle))) == [1, 4]


def test_many_shapes_of_which_few_can_be_reached():
    puzzle, expected = assert_blocks(JAM, JAM_ALIKE, "step")
    assert sum(map(len, expected)) == 24
    assert not puzzle.model.counted


def config_of(tmp_path, **table):
    return Config(
        name="test",
        puzzle={"kind": "blocks", **table},
        search={"keep": "all"},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": "serial"},
    )


def test_a_run(tmp_path, no_shapes):
    """Of a board of 66 cells, with the answers of a run, and a solution without one."""
    drawing, alike = "ab#" + "." * 62 + "#", ("ab",)
    rows = "/".join(drawing[i : i + 22] for i in range(0, 66, 22))
    config = config_of(tmp_path, goal=rows, alike=list(alike), metric="straight")
    run = frontier.run(config)
    expected = block_layers(board_cells(rows), [position(rows, alike)], "straight")
    assert run.counts == list(map(len, expected))
    assert verify(run.store, deep=50).faults == []
    last = run.layers[len(expected) - 1]
    assert positions(run.puzzle, last, alike) == expected[-1]
    far = next(iter(last))
    for method in ("layers", "search"):
        assert solver_for(config, run.store, method).solve(far)[0].distance == len(expected) - 1
    with pytest.raises(InputError, match="only the method search"):
        solver_for(config, run.store, "ida")


@pytest.mark.sweep
def test_hakoiri_from_all_goals(no_shapes):
    """All boards that agree with a goal are at depth 0, and their moves are listed together."""
    drawing, alike = HAKOIRI
    goal = "????/????/????/?AA?/?AA?"
    puzzle = block_puzzle(goal, start=drawing, alike=alike, metric="path")
    assert any("all 6,795 goals are at depth 0" in remark for remark in puzzle.remarks)
    lists = lists_of(puzzle.model.space)
    sizes = [len(layer) for layer in lists.layers(puzzle.model.origins(), False)]
    assert sizes[0] == 6795
    start = puzzle.model.space.number(*puzzle.model.start_state)[1]
    depths = [start in layer for layer in lists.layers(puzzle.model.origins(), False)]
    assert depths.index(True) == 81


@swept("seed", range(40), few=6)
def test_boards_that_agree_with_a_part(seed):
    drawing, alike = random_blocks(random.Random(seed))
    puzzle = block_puzzle(drawing, alike=alike)
    cells, rng = board_cells(drawing), random.Random(seed)
    letters = {mark for mark in drawing if mark not in "#/."}
    shown = {"#", "/", *(m for m in sorted(letters) if rng.random() < 0.5)}
    part = "".join(m if m in shown or (m == "." and rng.random() < 0.3) else "?" for m in drawing)
    expected = agreeing(cells, part, all_positions(cells, position(drawing, alike)), alike)
    marks = puzzle.notation.marks(part, "goal")
    goal = puzzle.notation.board_of("goal", marks, part=True)
    if OPEN not in goal:
        return
    found = boards_agreeing(puzzle.notation.pieces, goal, part)
    assert len(found) == len(expected)
    assert positions(puzzle, map(tuple, found.tolist()), alike) == expected


def test_a_board_on_which_nothing_can_move():
    """There are many ways to leave cells empty, but only one to lay the pieces."""
    letters = [chr(ord("一") + n) for n in range(254)]
    puzzle = block_puzzle(
        "/.".join(letters[:30]).replace(".", "./") + "/.", horizontal="".join(letters[:30])
    )
    assert found_layers(puzzle) == [[puzzle.goals[0]]]
    assert puzzle.remarks == []
    with pytest.raises(InputError, match="254 sorts of pieces"):
        block_puzzle("/".join(letters), horizontal="".join(letters))


def test_too_many_ways_to_lay_pieces_take_little_memory(no_shapes):
    rows = ["." * 8] * 7
    puzzle = block_puzzle("/".join(["?" * 8] * 8), start="/".join(["abcd....", *rows]))
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 4,000,000 ways to lay some of the pieces"):
        puzzle.model.encoding.goal_states()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000_000  # the 15,249,024 ways take 240 MB as pairs of numbers


def test_one_way_boards_are_not_solved(tmp_path, no_shapes):
    table = {"kind": "graph", "adjacency": [[1], [2], [0]], "goal": "ab.", "start": ".ab"}
    config = config_of(tmp_path, **table)
    for method in (None, "ida"):
        with pytest.raises(InputError, match="moves cannot be undone"):
            solver_for(config, None, method).solve(config.make_puzzle().start)


def test_a_run_of_an_earlier_version_is_refused(no_shapes):
    space = block_puzzle("ab/..").model.space
    with pytest.raises(InputError, match="begun by an earlier version"):
        layout_of(space, {"prefix_digits": 0, "block": 1})
