"""The runs that the thesis rests on, and the bounds made of them."""

from dataclasses import replace
from math import factorial

import pytest
from thesis.bounds import Bound, Bounds
from thesis.runs import ThesisRuns

from frontier.api import runs as api
from frontier.config.loading import Config, config_of
from frontier.errors import InputError
from tests.scripts.study import without_home
from tests.support.coset_runs import find_gods_number
from tests.support.reference_search import blank_moves, layers_of
from tests.support.sweeps import swept


def counts(rows, columns, k=None):
    """(greatest depth, greatest with the blank home, positions, farthest ones)."""
    kept = [t for t in range(rows * columns) if k is None or t % columns >= columns - k]
    goal = tuple(t if t in kept or t == 0 else -1 for t in range(rows * columns))
    layers = layers_of([goal], lambda board: blank_moves(rows, columns, board))
    home = max(d for d, layer in enumerate(layers) if any(board[0] == 0 for board in layer))
    return len(layers) - 1, home, sum(map(len, layers)), len(layers[-1])


def said(depths):
    return depths.depth, depths.depth_at_home, depths.states, depths.farthest


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (1, 5), (2, 1), (2, 2), (2, 3), (3, 2), (2, 4)]
)
def test_what_a_run_of_tiles_says(directory, rows, columns):
    found = ThesisRuns(directory, 10**6).tiles(rows, columns)
    assert said(found) == counts(rows, columns)
    assert found.run == f"{rows}x{columns}"


def searched(directory, **options):
    """A search of cosets of 2×4 among runs."""
    puzzle = {"kind": "tiles", "rows": 2, "columns": 4}
    tables = {"name": "2x4", "puzzle": puzzle, "store": {"path": str(directory / "2x4")}}
    return find_gods_number(config_of(tables, "test"), **options)


def test_what_a_search_of_cosets_says_where_there_is_no_run(tmp_path):
    assert ThesisRuns(tmp_path, 0).tiles(2, 4) is None
    searched(tmp_path)
    runs = ThesisRuns(tmp_path, 0)
    found = runs.tiles(2, 4)
    depth, _, states, farthest = counts(2, 4)
    assert (found.depth, found.states, found.farthest) == (depth, states, farthest)
    assert found.by_cosets
    assert found.depth_at_home == depth  # the greatest even number that is not larger
    assert runs.used == [found]
    assert found.run == "2x4-gods-number"
    assert not (tmp_path / "2x4").exists()
    bound = Bound(depth, ("searched coset by coset",), ("2x4-gods-number",))
    assert Bounds(runs, 0).lower(4) == Bounds(runs, 0).upper(4) == bound
    # A run says more, such as where the blanks are.
    assert ThesisRuns(tmp_path, 10**6).tiles(2, 4).run == "2x4"
    assert not ThesisRuns(tmp_path, 0).tiles(2, 4).by_cosets
    assert ThesisRuns(tmp_path, 0).tiles(2, 4).run == "2x4"


def test_a_search_of_cosets_whose_last_layer_was_not_listed_says_god_s_number(tmp_path):
    searched(tmp_path, layers=0)
    found = ThesisRuns(tmp_path, 0).tiles(2, 4)
    assert (found.depth, found.farthest) == (36, None)


def test_a_search_of_cosets_that_has_bounds_only_says_nothing_exact(tmp_path):
    run = searched(tmp_path, at_most=40)
    assert run.proof.lower < run.proof.upper
    assert ThesisRuns(tmp_path, 0).tiles(2, 4) is None


@pytest.mark.parametrize(
    ("columns", "k"),
    [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)],
)
def test_what_a_run_of_a_pattern_says(directory, columns, k):
    found = ThesisRuns(directory, 10**6).columns(columns, k)
    assert said(found) == counts(2, columns, k)
    assert found.run == f"pattern-2x{columns}-k{k}"


@pytest.mark.parametrize(
    ("ask", "states"),
    [
        (lambda runs: runs.tiles(2, 3), 360),
        (lambda runs: runs.tiles(1, 7), 7),
        (lambda runs: runs.tiles(3, 1), 3),
        (lambda runs: runs.columns(4, 1), 8 * 7 * 6),
        (lambda runs: runs.columns(3, 2), factorial(6) // 2),
        (lambda runs: runs.columns(3, 3), factorial(6) // 2),
    ],
)
def test_a_missing_run_is_made_up_to_the_limit(tmp_path, ask, states):
    """That limit is the number of its positions."""
    told = []
    assert ask(ThesisRuns(tmp_path, states - 1, say=told.append)) is None
    assert told == list(tmp_path.iterdir()) == []
    found = ask(ThesisRuns(tmp_path, states, say=told.append))
    assert found.states == states
    (line,) = told
    assert line.startswith(f"{found.run}: {states:,} ")
    assert [entry.name for entry in tmp_path.iterdir()] == [found.run]


def test_a_missing_run_is_made_up_to_so_many_columns(tmp_path):
    runs = ThesisRuns(tmp_path, 10**6, most=3)
    assert runs.columns(4, 1) is runs.tiles(2, 4) is None
    assert list(tmp_path.iterdir()) == []
    assert runs.columns(3, 1).depth == 20
    assert ThesisRuns(tmp_path, 10**6, most=4).columns(4, 1).depth == 27
    assert ThesisRuns(tmp_path, 10**6, most=3).columns(4, 1).depth == 27  # it is there by now


def files(path):
    return {
        file: (file.stat().st_mtime_ns, file.stat().st_ino)
        for file in path.rglob("*")
        if file.is_file()
    }


def test_runs_are_not_made_again(tmp_path):
    first = ThesisRuns(tmp_path, 10**6)
    made = [first.tiles(2, 3), first.columns(4, 1)]
    before = files(tmp_path)
    told = []
    for limit in (0, 10**6):
        again = ThesisRuns(tmp_path, limit, say=told.append)
        assert [again.tiles(2, 3), again.columns(4, 1), again.tiles(2, 3)] == [*made, made[0]]
        assert again.used == sorted(made, key=lambda depths: depths.run)
    assert told == []
    assert files(tmp_path) == before
    assert ThesisRuns(tmp_path, 0).used == []


def test_runs_that_are_asked_for_and_do_not_exist_are_not_used(tmp_path):
    runs = ThesisRuns(tmp_path, 400)
    assert runs.tiles(2, 4) is None
    assert runs.tiles(2, 3).depth == 21
    assert [depths.run for depths in runs.used] == ["2x3"]


def run_named(path, name, puzzle, until=None, **search):
    config = Config(name=name, puzzle=puzzle, search=search, store={"path": str(path / name)})
    api.run(api.plan(config), until)


def test_a_run_that_stopped_is_finished_if_it_is_small(tmp_path):
    run_named(tmp_path, "2x4", {"kind": "tiles", "rows": 2, "columns": 4}, until=9)
    assert ThesisRuns(tmp_path, 100).tiles(2, 4) is None
    assert not api.open_run(tmp_path / "2x4").complete
    assert said(ThesisRuns(tmp_path, 20160).tiles(2, 4)) == counts(2, 4)
    assert api.open_run(tmp_path / "2x4").complete


def test_a_run_of_ones_own_is_finished_as_it_was_begun(tmp_path):
    """Under its own name, with its codec, and all of its layers."""
    config = Config(
        name="mine",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4},
        search={"keep": "all"},
        store={"path": str(tmp_path / "2x4"), "codec": "zstd:1"},
    )
    api.run(api.plan(config), 9)
    assert said(ThesisRuns(tmp_path, 20160).tiles(2, 4)) == counts(2, 4)
    store = api.open_run(tmp_path / "2x4").store
    assert store.stored_depths() == list(range(len(store.records)))
    assert (store.identity["name"], store.identity["codec"]) == ("mine", "zstd:1")


def test_a_run_that_keeps_its_layers_will_do(tmp_path):
    run_named(tmp_path, "2x3", {"kind": "tiles", "rows": 2, "columns": 3}, keep="all")
    assert said(ThesisRuns(tmp_path, 0).tiles(2, 3)) == counts(2, 3)


@swept("missing", [None, [0], [7], [-1]], few=[None])
@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("2x3", lambda runs: runs.tiles(2, 3)),
        ("2x4", lambda runs: runs.tiles(2, 4)),
        ("pattern-2x4-k1", lambda runs: runs.columns(4, 1)),
        ("pattern-2x4-k2", lambda runs: runs.columns(4, 2)),
    ],
)
def test_a_run_that_does_not_say_where_its_blanks_are(tmp_path, name, ask, missing):
    """As older ones: then the greatest even depth stands for that with the blank home."""
    made = ask(ThesisRuns(tmp_path, 10**6))
    without_home(tmp_path / name, missing and [depth % (made.depth + 1) for depth in missing])
    found = ask(ThesisRuns(tmp_path, 0))
    assert found == replace(made, depth_at_home=made.depth - made.depth % 2)
    assert made.depth_at_home <= found.depth_at_home
    assert api.open_run(tmp_path / name).counts[-1] == made.farthest


@pytest.mark.parametrize(
    ("name", "puzzle"),
    [
        ("2x3", {"kind": "tiles", "rows": 2, "columns": 3, "metric": "multi"}),
        ("2x3", {"kind": "tiles", "rows": 3, "columns": 2}),
        ("2x3", {"kind": "tiles", "rows": 2, "columns": 3, "blank": [0, 1]}),
        ("2x3", {"kind": "pattern", "rows": 2, "columns": 3, "k": 1}),
        ("pattern-2x3-k1", {"kind": "pattern", "rows": 2, "columns": 3, "k": 2}),
        (
            "pattern-2x3-k1",
            {"kind": "pattern", "rows": 2, "columns": 3, "k": 1, "metric": "labelled"},
        ),
    ],
)
@swept("until", [None, 1], few=[None])
def test_another_puzzle_under_a_name_is_refused(tmp_path, name, puzzle, until):
    run_named(tmp_path, name, puzzle, until)
    before = files(tmp_path)
    for limit in (0, 10**6):
        runs = ThesisRuns(tmp_path, limit)
        ask = runs.columns if name.startswith("pattern") else runs.tiles
        with pytest.raises(InputError, match="name another directory with --runs"):
            ask(*((3, 1) if name.startswith("pattern") else (2, 3)))
    assert files(tmp_path) == before
