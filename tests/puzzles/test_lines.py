"""Lines of positions: their graph, and what they tell of the positions in them."""

import json
import shutil
from functools import cache

import numpy as np
import pytest
from engine import arcs_of, list_layers, origins_of
from hypothesis import given
from hypothesis import strategies as st
from making import invoke
from search.runs import FORMS, config_of, counted_tasks
from sweeps import swept
from twins import layers_of, line_moves, moved, random_sequence

import frontier
from frontier import api
from frontier.answers.layers import farthest, position_counts
from frontier.errors import CorruptRunError, InputError
from frontier.puzzles import line_puzzle, tile_puzzle
from frontier.puzzles.grid import Grid
from frontier.store.run import RunStore

SMALL = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2)]
SHAPES = [(rows, columns) for rows in range(2, 6) for columns in range(2, 6)]


def lines_of(rows, columns, board):
    """The two lines of a position, sets of positions, its row's first."""
    row = board.index(0) // columns
    near = line_moves(rows, columns, board)
    along = {b for b in near if b.index(0) // columns == row}
    return frozenset({board, *along}), frozenset({board, *set(near) - along})


@cache
def twin(rows, columns, goal):
    """The positions at each depth, and the lines at each depth from those of the goal."""
    positions = layers_of([goal], lambda board: line_moves(rows, columns, board))

    def crossing(line):
        return {other for board in line for other in lines_of(rows, columns, board)} - {line}

    return positions, layers_of(lines_of(rows, columns, goal), crossing)


def line_at(puzzle, state):
    """The line of a state: all positions that have the blank in its row or column of the board."""
    vertex, sequence = state
    found = set()
    for place in puzzle.model._lines[vertex]:
        moved = puzzle.model._moved(np.array(sequence), puzzle.model._fixed[vertex], place)
        found.add(
            puzzle.positions.board((int(np.argmax(puzzle.model._blank_at == place)), tuple(moved)))
        )
    return found


def goal_with(rows, columns, cell):
    return tile_puzzle(rows, columns, blank=cell).goals[0]


@swept(("rows", "columns"), SMALL, few=3)
def test_layers_are_those_of_a_dictionary_search(rows, columns):
    for cell in [(r, c) for r in range(rows) for c in range(columns)]:
        puzzle = line_puzzle(rows, columns, blank=cell)
        _, lines = twin(rows, columns, goal_with(rows, columns, cell))
        space = puzzle.model.space
        origins = [space.number(*state) for state in origins_of(puzzle)]
        found = list_layers(space, origins)
        assert sum(layer.size for layer in found) == puzzle.states
        for numbers, expected in zip(found, lines, strict=True):
            states = [space.state(0, number) for number in numbers]
            assert {frozenset(line_at(puzzle, state)) for state in states} == expected
            assert len(states) == len(expected)


@given(st.sampled_from(SHAPES), st.randoms(use_true_random=False))
def test_arcs_join_lines_that_cross(shape, rng):
    puzzle = line_puzzle(*shape)
    graph = puzzle.model.graph
    vertex, sequence = rng.randrange(graph.vertices), random_sequence(rng, graph.m)
    line = frozenset(line_at(puzzle, (vertex, sequence)))
    assert line in lines_of(*shape, next(iter(line)))
    found = {
        frozenset(line_at(puzzle, (target, moved(sequence, voltage))))
        for source, target, voltage in arcs_of(graph)
        if source == vertex
    }
    assert found == {other for board in line for other in lines_of(*shape, board)} - {line}
    assert {len(other & line) for other in found} == {1}
    assert len(found) == len(line) == puzzle.cells // len(next(iter(found)))


def run_of(path, rows, columns, cell, form="list", **search):
    config = frontier.make_config(
        "lines",
        {"kind": "lines", "rows": rows, "columns": columns, "blank": list(cell)},
        {"in_memory": False, **search},
        {"path": path},
        {"kind": "serial"},
    )
    return api.run(FORMS[form](api.plan(config))).store


@swept("form", FORMS, few=3)
@swept(("rows", "columns"), [*SMALL, (3, 3)], few=[(2, 2), (2, 3)])
def test_positions(tmp_path, rows, columns, form):
    """However layers are made, they tell how many positions there are, and which are farthest."""
    for cell in Grid(rows, columns).blank_orbits():
        run = run_of(tmp_path / "-".join(map(str, cell)), rows, columns, cell, form)
        if rows * columns <= 8:
            goal = goal_with(rows, columns, cell)
            expected = layers_of([goal], lambda board: line_moves(rows, columns, board))
        else:
            tiles = tile_puzzle(rows, columns, metric="multi", blank=cell)
            origins = [tiles.model.space.number(*state) for state in origins_of(tiles)]
            expected = list_layers(tiles.model.space, origins)
        assert position_counts(run) == [len(layer) for layer in expected]
        found = farthest(run, 10**6)
        assert (found.depth, found.count) == (len(expected) - 1, len(expected[-1]))
        assert len(set(found.boards)) == len(found.boards) > 0
        if rows * columns <= 8:
            assert set(found.boards) <= expected[-1]
            if len(run.records) < len(expected):  # both lines of each are in the last layer
                assert set(found.boards) == expected[-1]
        assert farthest(run, 1).boards == found.boards[:1]


def test_boards_whose_positions_are_no_deeper_than_lines_are_among_these(tmp_path):
    deeper = [
        len(twin(2, n, goal_with(2, n, (0, 0)))[0]) - len(twin(2, n, goal_with(2, n, (0, 0)))[1])
        for n in (3, 4)
    ]
    assert deeper == [1, 0]


@swept("until", range(8), few=[0, 1, 5])
def test_positions_of_a_search_under_way(tmp_path, until):
    run = run_of(tmp_path / "run", 2, 3, (0, 0), until=until)
    assert not run.complete
    expected = [len(layer) for layer in twin(2, 3, tuple(range(6)))[0]]
    assert position_counts(run) == expected[: max(1, until)]
    assert f"of {sum(expected)}" in invoke("report", run.path).output


def test_no_position_is_known_before_the_first_commit():
    assert line_puzzle(2, 3).model.position_counts([], [0]) == []
    assert line_puzzle(2, 3).model.position_counts([1], [0]) == [1]


@pytest.mark.parametrize("form", ["bits", "memory"])
def test_a_part_says_how_many_edges_it_has(tmp_path, monkeypatch, form):
    """So that a run that goes on in the middle of a layer has them all, also where the layer was
    made in memory and its commit was lost."""
    whole, half = tmp_path / "whole", tmp_path / "half"
    run_of(whole, 2, 4, (0, 0), "bits", until=9)
    shutil.copytree(whole, half)
    expected = run_of(whole, 2, 4, (0, 0), form, until=10).records
    folder = RunStore.open(str(half)).layer_path(10)
    shutil.copytree(whole / folder.relative_to(half), folder)
    (part, *_) = sorted(path for path in folder.rglob("*") if path.name != "zarr.json")[1:]
    part.unlink()
    calls = counted_tasks(monkeypatch)
    found = run_of(half, 2, 4, (0, 0), "bits", until=10).records
    assert found[10].tally == expected[10].tally
    assert found[10].tally.edges > 0
    assert len([depth for depth, _ in calls if depth == 10]) == 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (5, 1)])
def test_one_line_is_not_enough(rows, columns):
    with pytest.raises(InputError, match=f"= {rows} x {columns}: lines of positions need two"):
        line_puzzle(rows, columns)


def test_boards_are_no_states(tmp_path):
    run = run_of(tmp_path / "run", 2, 3, (0, 0))
    refused = pytest.raises(InputError, match=r'no boards; .* puzzle\.metric = "multi"')
    with refused:
        api.Run(run).layers[-1].boards()
    invoke("solve", run.path, "1 0 2/3 4 5", code=InputError.exit_code)
    kept = run_of(tmp_path / "kept", 2, 3, (0, 0), keep="all")
    for ask in (
        lambda: api.Run(kept).distance("1 0 2/3 4 5"),
        lambda: api.Run(kept).export(tmp_path / "distances"),
    ):
        with pytest.raises(InputError, match="depths of lines, from which no distances"):
            ask()


def test_boards_are_drawn(tmp_path):
    run = run_of(tmp_path / "run", 2, 3, (0, 0))
    drawn = str(api.Run(run).show(*api.Run(run).farthest()))
    (board,) = api.Run(run).farthest()
    assert all(str(tile) in drawn for tile in board if tile)
    assert drawn in invoke("draw", run.path, run.puzzle.line(board)).output


def test_reports_are_of_positions(tmp_path):
    positions = [len(layer) for layer in twin(2, 3, tuple(range(6)))[0]]
    run = run_of(tmp_path / "run", 2, 3, (0, 0))
    value = json.loads(invoke("report", run.path, "--json").output)
    assert (value["states"], value["depth"], value["layers"]) == (360, 20, positions)
    assert value["lines"] == {"states": 300, "depth": 19, "layers": api.Run(run).counts}
    assert api.Run(run).position_counts == positions
    assert json.loads(invoke("status", run.path, "--json").output)["depth"] == 19


def test_a_goal_is_no_key():
    with pytest.raises(InputError, match=r"unknown key puzzle\.goal; known: .*blank"):
        frontier.make_config("x", {"kind": "lines", "rows": 2, "columns": 3, "goal": "0 1 2/3 4 5"})


def test_titles():
    assert line_puzzle(3, 5).title == "3×5 tiles, any number of tiles a move, by lines"


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_numbers_of_lines(rows, columns):
    puzzle = line_puzzle(rows, columns)
    assert puzzle.states * rows * columns == puzzle.positions.states * (rows + columns)


def test_status_counts_lines_whatever_the_last_layer_is(tmp_path):
    run = run_of(tmp_path / "run", 2, 3, (0, 0))
    files = [path for path in run.layer_path(19).rglob("*") if path.is_file()]
    (part,) = [path for path in files if path.name != "zarr.json"]
    part.write_bytes(part.read_bytes()[:-600] + bytes(600))
    assert "depth: 19 (2 states there)" in invoke("status", run.path).output
    assert "damaged" in invoke("report", run.path, code=CorruptRunError.exit_code).output


def test_summary_and_ledger_say_positions(tmp_path):
    run = run_of(tmp_path / "run", 2, 3, (0, 1))
    expected = [len(layer) for layer in twin(2, 3, goal_with(2, 3, (0, 1)))[0]]
    assert api.Run(run).summary["positions"] == expected
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert sum(layer["tally"]["states"] for layer in ledger["layers"]) == run.puzzle.states == 300
    assert np.sum(expected) == 360


def test_only_runs_of_lines_count_edges(tmp_path):
    lines = run_of(tmp_path / "lines", 2, 3, (0, 1))
    tiles = api.run(api.plan(config_of(tmp_path, 2, 3))).store
    assert all(record.tally.edges > 0 for record in lines.records[1:])
    assert {record.tally.edges for record in tiles.records} == {None}
