"""Runs of puzzles of known kinds by keys: first layers where numbers allow no search, and edges
that go one way."""

import itertools
import json

import pytest

import frontier
from frontier.config.loading import Config
from frontier.errors import InputError, TooLarge
from frontier.layers import plan as plans
from frontier.layers.verify import verify
from frontier.solving.methods import solver_for
from frontier.space.keys import KeySpace
from tests.support.commands import invoke
from tests.support.sweeps import swept

TORUS = [
    [4 * r + (c + 1) % 4, 4 * r + (c - 1) % 4, 4 * ((r + 1) % 4) + c, 4 * ((r - 1) % 4) + c]
    for r, c in itertools.product(range(4), repeat=2)
]
SIX = {  # the faces of the 3x3x3 cube: the image of each piece, and what is added to its turn
    "U": ([2, 3, 4, 1, 5, 6, 7, 8, 10, 11, 12, 9, 13, 14, 15, 16, 17, 18, 19, 20], {}),
    "R": ([4, 2, 3, 8, 1, 6, 7, 5, 20, 10, 11, 12, 17, 14, 15, 16, 9, 18, 19, 13],
          {0: 1, 3: 2, 4: 2, 7: 1}),
    "F": ([5, 1, 3, 4, 6, 2, 7, 8, 9, 17, 11, 12, 13, 18, 15, 16, 14, 10, 19, 20],
          {0: 2, 1: 1, 4: 1, 5: 2, 9: 1, 13: 1, 16: 1, 17: 1}),
    "D": ([1, 2, 3, 4, 8, 5, 6, 7, 9, 10, 11, 12, 16, 13, 14, 15, 17, 18, 19, 20], {}),
    "L": ([1, 6, 2, 4, 5, 7, 3, 8, 9, 10, 18, 12, 13, 14, 19, 16, 17, 15, 11, 20],
          {1: 2, 2: 1, 5: 1, 6: 2}),
    "B": ([1, 2, 7, 3, 5, 6, 8, 4, 9, 10, 11, 19, 13, 14, 15, 20, 17, 18, 16, 12],
          {2: 2, 3: 1, 6: 1, 7: 2, 11: 1, 15: 1, 18: 1, 19: 1}),
}  # fmt: skip
CUBE = {
    name: {"moves": moves, "turns": [turns.get(at, 0) for at in range(20)]}
    for name, (moves, turns) in SIX.items()
}
TOO_LARGE = {
    "torus": (
        {"kind": "graph", "adjacency": TORUS, "goal": list(map(str, range(16))), "blank": "0"},
        [1, 4, 12, 36, 108, 324, 966, 2880, 8544],
    ),
    "5x5": ({"kind": "tiles", "rows": 5, "columns": 5}, [1, 2, 4, 10, 26, 64, 159, 366]),
    "6x6": ({"kind": "tiles", "rows": 6, "columns": 6}, [1, 2, 4, 10, 26, 66, 171, 440]),
    "cube": (
        {"kind": "permutations", "metric": "powers", "orientations": [3] * 8 + [2] * 12,
         "generators": CUBE},
        [1, 18, 243, 3240, 43239],
    ),
    "two colours": (
        {"kind": "permutations", "goal": ["r"] * 22 + ["w"] * 22, "closed": True,
         "generators": {"turn": [*range(2, 45), 1], "swap": "(1 2)"}},
        [1, 2, 3, 4, 6, 8, 10, 14],
    ),
}  # fmt: skip


def config_of(tmp_path, puzzle, keep="all", in_memory=True):
    return Config(
        name="test",
        puzzle=puzzle,
        search={"in_memory": in_memory, "keep": keep},
        store={"path": str(tmp_path / "run")},
        cluster={"kind": "serial"},
    )


@swept("name", TOO_LARGE, few=["torus", "6x6"])
def test_first_layers(name, tmp_path):
    """Of the OEIS (A090031, A090032, A080601) and of a dictionary; resumed, with their answers."""
    puzzle, sizes = TOO_LARGE[name]
    config, last = config_of(tmp_path, puzzle), len(sizes) - 1
    with pytest.raises(TooLarge, match=r"set search\.until to search only its first layers"):
        frontier.plan(config)
    run = frontier.run(config, until=3)
    assert run.counts == sizes[:4]
    assert isinstance(frontier.plan(config).space, KeySpace)  # as the run has begun
    run = frontier.run(config.path, until=last)
    assert run.counts == sizes
    assert verify(run.store, deep=20).faults == []
    layer = run.layers[last]
    boards = layer.boards_of(layer.sample(5, seed=1))
    assert run.distance(boards).tolist() == [last] * 5
    solve = solver_for(config, run.store, method="layers").solve
    assert [solve(tuple(board))[0].distance for board in boards.tolist()] == [last] * 5
    assert f"depth: {last}" in invoke("status", tmp_path / "run").output


@pytest.fixture
def few_numbers(monkeypatch):
    monkeypatch.setattr(plans, "MOST_STATES", 100)


@pytest.mark.parametrize("in_memory", [True, False])
def test_all_layers(tmp_path, few_numbers, in_memory):
    """Of a small board, as by numbers; the last positions too."""
    puzzle = {"kind": "tiles", "rows": 2, "columns": 3}
    run = frontier.run(config_of(tmp_path, puzzle, "frontier", in_memory))
    assert isinstance(run.puzzle.model.space, KeySpace)
    assert run.complete
    assert run.counts == [1, 2, 3, 5, 6, 7, 10, 12, 12, 16, 23, 25, 28, 39, 44, 40, 29, 21, 18, 12,
                          6, 1]  # fmt: skip
    assert list(map(run.puzzle.line, run.farthest())) == ["3 4 5/0 1 2"]
    kept = frontier.run(config_of(tmp_path / "kept", puzzle), until=100).path
    assert "only numbered states" in invoke("export", kept, tmp_path / "all.npy", code=2).output
    assert invoke("layer", kept, 21).stdout == "3 4 5/0 1 2\n"


def test_a_run_by_numbers_goes_on_by_numbers(tmp_path, monkeypatch):
    puzzle = {"kind": "tiles", "rows": 2, "columns": 3}
    config = config_of(tmp_path, puzzle, "frontier")
    frontier.run(config, until=5)
    monkeypatch.setattr(plans, "MOST_STATES", 100)
    with pytest.raises(TooLarge):
        frontier.plan(config, until=9)


def test_memory_that_a_setting_allows_is_asked_for(tmp_path):
    """More memory lets numbers search it, so keys do not."""
    config = config_of(tmp_path, {"kind": "tiles", "rows": 3, "columns": 4}, in_memory=False)
    small = config.cluster.model_copy(update={"memory": 100_000_000})
    with pytest.raises(TooLarge, match=r"set cluster\.memory to at least"):
        frontier.plan(config.model_copy(update={"cluster": small}), until=5)


def test_a_key_that_is_too_long_is_refused(tmp_path):
    ring = [[(at + 1) % 60, (at - 1) % 60] for at in range(60)]
    ring[0].append(30)
    ring[30].append(0)
    goal = [".", *map(str, range(1, 60))]
    config = config_of(tmp_path, {"kind": "graph", "adjacency": ring, "goal": goal})
    with pytest.raises(TooLarge, match="60 digits below 60 does not fit in a key of 255 bits"):
        frontier.plan(config, until=5)


def test_plan_says_what_it_does_not_know(tmp_path):
    path = tmp_path / "five.toml"
    path.write_text('name = "five"\n[puzzle]\nkind = "tiles"\nrows = 5\ncolumns = 5\n')
    assert "--until DEPTH" in invoke("plan", path, code=2).output
    value = json.loads(invoke("plan", path, "--until", 7, "--json").stdout)
    assert value["most_states"] == 25 * 24**24


ONE_WAY = [[1], [2, 4], [0, 3], [4, 1], [2, 3]]


def moves_from(board):
    """The boards to which tiles slide along directed edges."""
    blank = board.index(".")
    for cell, ways in enumerate(ONE_WAY):
        if blank in ways:
            after = list(board)
            after[blank], after[cell] = after[cell], "."
            yield "".join(after)


def test_edges_that_go_one_way(tmp_path):
    """Layers count the moves from the goal, and solutions those to it, as a dictionary does."""
    config = config_of(tmp_path, {"kind": "graph", "adjacency": ONE_WAY, "goal": "aabc."})
    depths, queue = {"aabc.": 0}, ["aabc."]
    for board in queue:
        for after in moves_from(board):
            if after not in depths:
                depths[after] = depths[board] + 1
                queue.append(after)
    for until in (4, None):
        run = frontier.run(config, until=until)
    boards = [{run.puzzle.line(board) for board in layer} for layer in run.layers]
    assert boards == [{b for b in depths if depths[b] == at} for at in range(len(boards))]
    assert sum(map(len, boards)) == len(depths)
    assert verify(run.store, deep=50).faults == []
    back, queue = {"aabc.": 0}, ["aabc."]
    into = {board: [b for b in depths if board in moves_from(b)] for board in depths}
    for board in queue:
        for before in into[board]:
            if before not in back:
                back[before] = back[board] + 1
                queue.append(before)
    solver = solver_for(config, run.store)
    for board, distance in list(back.items())[::7]:
        assert solver.solve(run.puzzle.parse(board))[0].distance == distance
    with pytest.raises(InputError, match="use the method ida"):
        solver_for(config, run.store, method="layers").solve(run.puzzle.parse("aab.c"))


def test_goals_that_a_start_may_not_reach(tmp_path):
    """Where edges go one way, all goals are at depth 0, and the start is counted from them."""
    goals = ["abcd.", "cab.d"]
    table = {"kind": "graph", "adjacency": ONE_WAY, "goals": goals, "start": "abdc."}
    run = frontier.run(config_of(tmp_path, table))
    assert run.counts[0] == 2
    assert run.store.start_depth is not None
