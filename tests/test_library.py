"""`import frontier`: the examples of docs/reference/python.md, and what its names promise."""

import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import zarr

import frontier
from frontier.answers import layers as layers_module
from frontier.errors import CorruptRunError, InputError
from frontier.layers.reader import RunReader
from tests.support.page_blocks import ROOT, blocks_of
from tests.support.sweeps import swept
from tests.test_library_page import TILES

# --- layers


def run_of(path, keep="all", puzzle=TILES, **store):
    config = frontier.make_config(
        "mine", puzzle, {"keep": keep}, {"path": path / "run", **store}, {"kind": "serial"}
    )
    return frontier.run(frontier.plan(config))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def as_bits(tmp_path_factory):
    """A run whose large layers are bitmaps of several parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frontier.kernels.lists.PLAIN_STATES", 0)
        patch.setattr("frontier.layers.plan.THIN_IN_MEMORY", 20)
        patch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
        made = run_of(tmp_path_factory.mktemp("bits"))
    assert {record.form for record in made.store.records} == {"bits", "list"}
    return made


def test_layers(run):
    assert len(run.layers) == len(run.counts) == 22
    assert [layer.states for layer in run.layers] == run.counts
    assert [layer.depth for layer in run.layers[3:5]] == [3, 4]
    assert run.layers[-1].depth == run.depth == 21
    assert all(layer.kept and layer.seconds >= 0 for layer in run.layers)
    assert repr(run.layers) == "<22 layers, 22 kept>"
    assert repr(run.layers[0]) == "<Layer 0: 1 state, kept>"
    with pytest.raises(IndexError, match="layer 22: layers are known to depth 21"):
        run.layers[22]


@pytest.mark.parametrize("form", ["run", "as_bits"])
def test_the_boards_of_all_layers_are_all_boards_at_their_distances(form, request):
    run = request.getfixturevalue(form)
    seen = set()
    for layer in run.layers:
        boards = list(layer)
        assert len(boards) == layer.states
        assert (run.distance(np.array(boards)) == layer.depth).all()
        assert layer.boards(3) == boards[:3]
        assert layer.boards(10**6) == boards
        parts = list(layer.batches(7))
        assert [tuple(b) for part in parts for b in part.tolist()] == boards
        assert max(map(len, parts)) <= 7
        seen |= set(boards)
    assert len(seen) == run.states == 360
    assert run.layers[3].boards(0) == []
    with pytest.raises(InputError, match="size = 0: expected a whole number, at least 1"):
        run.layers[3].batches(0)  # at once


def test_the_tables_of_a_puzzle_are_made_once(run, monkeypatch):
    made = []

    def counted(*arguments):
        made.append(arguments)
        return RunReader(*arguments)

    monkeypatch.setattr(layers_module, "RunReader", counted)
    layers = frontier.open_run(run.path).layers
    assert [len(list(layer)) for layer in (*layers, *layers[2:5])] == run.counts + run.counts[2:5]
    assert len(made) == 1


@pytest.mark.parametrize("form", ["run", "as_bits"])
def test_several_layers_are_read_at_the_same_time(form, request):
    run = request.getfixturevalue(form)
    chosen = run.layers[9:12]
    found = zip(*(layer.batches(1) for layer in chosen), strict=False)
    together = [[tuple(board[0].tolist()) for board in boards] for boards in found]
    alone = (layer.boards(len(together)) for layer in chosen)
    assert together == list(map(list, zip(*alone, strict=True)))
    assert len(together) == min(layer.states for layer in chosen)


@pytest.mark.parametrize("form", ["run", "as_bits"])
def test_numbers_and_arrays(form, request, monkeypatch):
    run = request.getfixturevalue(form)
    work = RunReader(run.store)
    for layer in run.layers:
        numbers = layer.numbers()
        assert numbers.dtype == np.uint64
        assert (numbers[1:] > numbers[:-1]).all()
        side = work.space.side_of(layer.depth)
        boards = [run.puzzle.model.board(work.space.state(side, n)) for n in numbers]
        assert sorted(boards) == sorted(layer)
        array = layer.array
        assert isinstance(array, zarr.Array)
        listed = run.store.records[layer.depth].form == "list"
        held = array[:].size if listed else int(np.bitwise_count(array[:]).sum())
        assert held == layer.states
        with pytest.raises(ValueError, match=r"read-only|read only"):
            array[0] = 0
    monkeypatch.setattr(layers_module, "MOST_NUMBERS", 10)
    largest = max(run.layers, key=lambda layer: layer.states)
    with pytest.raises(InputError, match=r"layer \d+ has \d+ states: .* at most 10; .*batches"):
        largest.numbers()


def test_layers_that_were_not_kept(tmp_path):
    run = run_of(tmp_path, keep="frontier")
    assert [layer.kept for layer in run.layers] == [False] * 20 + [True] * 2
    assert repr(run.layers[3]) == f"<Layer 3: {run.counts[3]} states, not kept>"
    said = r'did not keep layer 3, .* search\.keep = "all"'
    asked = (
        iter,
        lambda layer: layer.batches(),
        lambda layer: layer.numbers(),
        lambda layer: layer.array,
        lambda layer: layer.boards(1),
    )
    for ask in asked:
        with pytest.raises(InputError, match=said):
            ask(run.layers[3])
    assert run.layers[-1].boards() == run.farthest()


def test_a_damaged_part_is_no_board(tmp_path):
    run = run_of(tmp_path)
    part = next(run.store.layer_path(9).glob("c.*"))
    part.write_bytes(part.read_bytes()[:-5])
    with pytest.raises(CorruptRunError, match="layer 9"):
        run.layers[9].boards(1)


# --- what people see


def test_distances_of_texts_and_arrays(run):
    texts = ["0 1 2 / 3 4 5", "1 0 2 / 3 4 5", "1 2 0 / 3 4 5"]
    assert run.distance(texts).tolist() == [0, 1, 2]
    assert run.distance([run.board(text) for text in texts]).tolist() == [0, 1, 2]
    assert type(one := run.distance("1 2 0 / 3 4 5")) is int
    assert one == 2
    assert run.distance("1 2 0 / 3 5 4") == -1
    with pytest.raises(InputError, match="expected an array"):
        run.distance(7)


def test_a_run_is_opened_by_its_directory_or_its_config(run, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text(
        'name = "mine"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 3\n'
        f"[store]\npath = '{run.path}'\n"
    )
    for named in (run.path, str(run.path), config, str(config)):
        assert frontier.open_run(named).counts == run.counts
    config.write_text(config.read_text().replace("[store]", 'blank = "all"\n[store]'))
    with pytest.raises(InputError, match=r"blank-0-0.*blank-0-1"):
        frontier.open_run(config)
    with pytest.raises(InputError, match="no such run directory or config"):
        frontier.open_run(tmp_path / "none")


# --- tables and types


COLUMNS = "depth", "states", "states_so_far", "seconds", "bytes_written"


def test_layers_as_a_table(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    table = run.table()
    assert table.dtype.names == COLUMNS
    assert table["states"].tolist() == run.counts
    assert table["states_so_far"][-1] == run.states
    assert run.mean_depth == pytest.approx((table["depth"] * table["states"]).sum() / run.states)
    pandas = ModuleType("pandas")
    pandas.DataFrame = lambda array: ("frame", array.dtype.names)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert run.table() == ("frame", COLUMNS)


def test_what_is_shown_of_values(run):
    assert repr(run.oracle) == "<Oracle of 2×3 tiles>"
    config = frontier.load_config("2x4", "store.path=here")
    assert repr(config) == (
        "<Config 2x4: kind = 'tiles', rows = 2, columns = 4, metric = 'step'; "
        f"{Path('here').absolute()}>"
    )
    assert repr(frontier.plan("2x4")).startswith("<Plan of 2×4 tiles, 20,160 states; ")


RING = [[1, 5], [0, 2], [1, 3], [2, 4], [3, 5], [4, 0]]


@swept(
    "puzzle",
    [
        TILES,
        {"kind": "graph", "adjacency": RING, "goal": "12345."},
        {"kind": "pattern", "rows": 2, "columns": 3, "k": 2},
        {"kind": "permutations", "generators": {"1": "(1 2)", "2": "(2 3)"}},
        {"kind": "blocks", "goal": "ab."},
        {"kind": "cells", "cells": [[0, 0], [1, 0]], "moves": {"r/l": [1, 0]}, "pieces": "a."},
    ],
    ids=lambda puzzle: puzzle["kind"],
    few=3,
)
def test_what_the_functions_return_can_be_pickled(tmp_path, puzzle):
    """Also after layers were read; nothing but the run directory is needed to read them again."""
    run = run_of(tmp_path, puzzle=puzzle)
    boards = run.farthest()
    depths, numbers = run.distance(boards).tolist(), run.layers[-1].numbers()
    again = pickle.loads(pickle.dumps(run))
    assert again.distance(boards).tolist() == depths == [run.depth] * len(boards)
    solution = pickle.loads(pickle.dumps(run.solve(boards[0])))
    assert (solution.moves, str(solution)) == (
        run.solve(boards[0]).moves, str(run.solve(boards[0])),
    )  # fmt: skip
    layer = pickle.loads(pickle.dumps(run.layers[-1]))
    assert layer.numbers().tolist() == numbers.tolist()
    assert str(pickle.loads(pickle.dumps(run.show(*boards)))) == str(run.show(*boards))


def test_configs_are_keys():
    """Equal configs have equal hashes."""
    first, second = (frontier.make_config("mine", TILES) for _ in range(2))
    other = frontier.make_config("mine", {**TILES, "metric": "multi"})
    assert first == second != other
    assert {first: 1, other: 2}[second] == 1
    assert pickle.loads(pickle.dumps(first)) == first


def test_a_run_solves_the_start(tmp_path, run):
    started = run_of(tmp_path, puzzle={**TILES, "start": "1 0 2/3 4 5"})
    assert started.solve().distance == started.solve(started.puzzle.start).distance == 1
    assert started.count_solutions() == 1
    with pytest.raises(InputError, match=r"no puzzle\.start"):
        run.solve()


def test_dir_shows_public_names():
    names = {name for name in dir(frontier) if not name.startswith("__")}
    assert names == set(frontier.__all__)


TYPED = """
import numpy as np
import frontier

def use(run: frontier.Run, board: tuple[int, ...], many: list[tuple[int, ...]]) -> None:
    d: int = run.distance(board)
    d = run.distance("1 0 2/3 4 5")
    d = run.heuristic()(board)
    furthest = run.distance(many).max()
    mean: float = run.mean_depth
"""
"""One board has a number as its distance, several have an array."""


@pytest.mark.sweep
def test_a_type_checker_accepts_the_python_code_of_the_pages(tmp_path):
    """And knows which distance is one. Strictly; only Dask's functions have no annotations. The
    blocks of a page are one module."""
    mypy = pytest.importorskip("mypy.api")
    for number, page in enumerate([ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]):
        blocks = [block.text for block in blocks_of(page) if block.language == "python"]
        code = [text for text in blocks if "def puzzle(" not in text]  # Numba needs no types
        if code:
            name = f"page_{number}_{page.stem.replace('-', '_')}.py"
            (tmp_path / name).write_text("\n".join(code), encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 7
    (tmp_path / "user.py").write_text(TYPED)
    said, _, _ = mypy.run([
        *map(str, tmp_path.iterdir()), "--strict", "--follow-imports=silent",
        f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={tmp_path / 'cache'}",
        "--untyped-calls-exclude=distributed",
    ])  # fmt: skip
    assert said.startswith("Success"), said
