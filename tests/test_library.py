"""`import frontier`: the examples of docs/library.md, and what its names promise."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import zarr

import frontier
from frontier import api
from frontier.answers import layers as layers_module
from frontier.answers.layers import MOST_NUMBERS
from frontier.errors import CorruptRunError, InputError
from frontier.store.reader import RunReader

PAGE = Path(__file__).parents[1] / "docs" / "library.md"
TILES = {"kind": "tiles", "rows": 2, "columns": 3}


def blocks_of(section):
    """The examples of a section: (Python, what it prints)."""
    found = re.findall(r"^```(python|text)\n(.*?)^```$", section, re.M | re.S)
    for number, (kind, text) in enumerate(found):
        if kind == "python":
            after = found[number + 1] if number + 1 < len(found) else ("", "")
            yield text, after[1] if after[0] == "text" else ""


def test_the_examples_print_what_stands_below_them(tmp_path, monkeypatch):
    (tmp_path / "configs").symlink_to(PAGE.parents[1] / "configs")
    monkeypatch.chdir(tmp_path)
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    names, ran = {}, 0
    for section in sections[1:5]:
        for source, expected in blocks_of(section):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(source, str(PAGE), "exec"), names)
            lines = [line.rstrip() for line in said.getvalue().splitlines()]
            assert lines == [line.rstrip() for line in expected.splitlines()]
            ran += 1
    assert ran == 5
    assert (tmp_path / "2x4.png").read_bytes()[1:4] == b"PNG"


def names_of(heading):
    """The names in the first column of a table of the page."""
    table = PAGE.read_text(encoding="utf-8").split(f"| {heading} | |\n| --- | --- |\n")[1]
    rows = takewhile(lambda line: line.startswith("|"), table.splitlines())
    return {name for row in rows for name in re.findall(r"`(\w+)", row.split("|")[1])}


def test_the_page_has_every_name():
    assert names_of("`frontier.`") == set(frontier.__all__)
    for heading, what in (("of a `Run`", api.Run), ("of a `Layer`", api.Layer)):
        public = {name for name in dir(what) if not name.startswith("_")} - {"store"}
        assert names_of(heading) == public
    for heading, what in (("of a `Config`", frontier.Config), ("of a `Plan`", frontier.Plan)):
        fields = {*getattr(what, "model_fields", {}), *getattr(what, "__dataclass_fields__", {})}
        assert names_of(heading) <= {*fields, *dir(what)}


@pytest.mark.parametrize("what", [api.Plan, api.Run, api.Layer, api.Drawings, api.Solved])
def test_everything_is_typed(what):
    for name, member in vars(what).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if callable(function) and not name.startswith("_"):
            hints = function.__annotations__
            taken = function.__code__.co_varnames[1 : function.__code__.co_argcount]
            assert "return" in hints, name
            assert set(taken) <= set(hints), name
    assert (Path(frontier.__file__).parent / "py.typed").exists()


SMALL_RUN = """
import sys
from frontier.cli import main
main(["run", sys.argv[1], "--set", "store.path=" + sys.argv[2], "--json"], standalone_mode=False)
print({"numba", "dask", "distributed", "matplotlib"} & set(sys.modules))
"""


def test_a_small_run_loads_neither_numba_nor_dask(tmp_path):
    """They take longer to load than it takes."""
    config = Path(frontier.__file__).parents[1] / "configs" / "3x3.toml"
    command = [sys.executable, "-c", SMALL_RUN, config, tmp_path / "run"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    summary, loaded = said.splitlines()
    assert json.loads(summary)["states"] == 181_440
    assert loaded == "set()"


USER = """
import sys
import numba
import frontier.api

@numba.njit(cache=True)
def mine(x):
    return x + 1

assert mine(1) == 2
"""


@pytest.mark.sweep
def test_a_users_own_kernels_stay_where_numba_puts_them(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER)
    home = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(frontier.__file__).parents[1]),
    }
    subprocess.run(
        [sys.executable, script], check=True, env={**os.environ, **home, "NUMBA_CACHE_DIR": ""}
    )
    assert list((tmp_path / "__pycache__").glob("user.mine-*.nbi"))
    assert not list((tmp_path / "cache").rglob("*mine*"))


def test_importing_loads_no_kernels():
    code = "import sys, frontier; print({'numba', 'dask', 'zarr', 'pydantic'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
    assert set(frontier.__all__) <= set(dir(frontier))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = frontier.nothing


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
        patch.setattr("frontier.space.lists.PLAIN_STATES", 0)
        patch.setattr("frontier.search.plan.THIN_IN_MEMORY", 20)
        patch.setattr("frontier.search.plan.THIN_WORDS_IN_MEMORY", 10**9)
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
        boards = [run.puzzle.board(work.space.state(side, n)) for n in numbers]
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
    with pytest.raises(InputError, match=r"layer \d+ has \d+ states: .* at most 10 .*batches"):
        largest.numbers()


def test_limits_stand_in_the_page():
    assert f"at most {MOST_NUMBERS:,} of them" in PAGE.read_text(encoding="utf-8")


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


def test_plans_and_runs_say_what_they_are(run):
    plan = frontier.plan(frontier.make_config("other", TILES, store={"path": run.path / "no"}))
    assert re.fullmatch(
        rf"<Plan of other: 2×3 tiles, 360 states; in memory, \d+ threads?, \d+ MB a process; "
        rf"{run.path}/no>",
        repr(plan),
    )
    said = plan._repr_html_()
    assert "other: 2×3 tiles" in said
    assert "<td" in said
    assert f">{run.path}/no<" in said
    assert "<rect" not in said
    assert repr(run) == f"<Run {run.path}: complete, 22 layers, 360 states>"


def test_a_run_in_a_notebook(run):
    said = run._repr_html_()
    assert said.count("<rect") == len(run.counts)
    bars = re.findall(r'height="([\d.]+)" fill.*?depth (\d+): ([\d,]+) state', said)
    assert [(int(d), int(n)) for _, d, n in bars] == list(enumerate(run.counts))
    tallest = max(range(22), key=run.counts.__getitem__)
    assert float(bars[tallest][0]) == 120
    assert "mine: 2×3 tiles" in said
    assert "http" not in said.replace("http://www.w3.org/2000/svg", "")


def test_a_run_under_way_in_a_notebook(tmp_path):
    config = frontier.make_config(
        "half", TILES, store={"path": tmp_path / "run"}, cluster={"kind": "serial"}
    )
    run = frontier.run(frontier.plan(config), until=5)
    said = run._repr_html_()
    assert f"{run.states} (" in said
    assert "% of 360)" in said
    assert "time left" in said
    assert "not complete" in repr(run)


def test_boards_and_solutions(run):
    solution = run.solve("1 2 5 / 3 4 0")
    assert solution.distance == len(solution.moves) == run.distance(["1 2 5 / 3 4 0"])[0]
    assert repr(solution) == f"<Solution of 1 2 5/3 4 0: {solution.distance} moves>"
    assert str(solution).splitlines()[0] == f"1 2 5/3 4 0: {solution.distance} moves"
    said = solution._repr_html_()
    assert said.startswith("<svg")
    assert all(move in said for move in solution.moves)
    shown = run.show("1 2 5 / 3 4 0", solution.boards[-1])
    assert repr(shown) == "<2 boards of 2×3 tiles>"
    assert shown._repr_html_().count("<svg") == 2
    assert str(shown).count("5") == 2


def test_many_boards_are_not_all_drawn(run):
    boards = list(run.layers[12])[:60] + list(run.layers[13])[:60]
    said = run.show(*boards)._repr_html_()
    assert said.count("<svg") == 50
    assert f"and {len(boards) - 50} more" in said


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


# --- configs from values


def test_a_config_is_that_of_a_file(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text(
        'name = "a"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 3\n'
        "goal = [[1, 2, 3], [4, 5, 0]]\n"
        '[search]\nkeep = "all"\n[store]\npath = "here"\n[cluster]\nmemory = "1GB"\nworkers = 3\n'
    )
    made = frontier.make_config(
        name="a",
        puzzle={**TILES, "goal": np.array([[1, 2, 3], [4, 5, 0]])},
        search={"keep": "all"},
        store={"path": Path("here")},
        cluster={"memory": "1GB", "workers": np.int64(3)},
    )
    assert made == frontier.load_config(file)
    assert made.puzzle_settings == frontier.load_config(file).puzzle_settings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"puzzle": {"kind": "tiles", "rows": 2}}, r"config 'a': puzzle\.columns is missing"),
        ({"puzzle": {**TILES, "colums": 3}}, r"unknown key puzzle\.colums; did you mean columns\?"),
        ({"puzzle": TILES, "search": {"keep": "some"}}, r"config 'a': search\.keep = 'some'"),
        ({"puzzle": TILES, "store": {"codec": "none"}}, "none"),
        ({"puzzle": {**TILES, "start": "1 0 2 / 3 5 4"}}, r"puzzle\.start = .*cannot be reached"),
        ({"puzzle": {**TILES, "goal": object()}}, "is nothing that a config file could say"),
        ({"puzzle": 7}, r"puzzle"),
        ({"name": "a b", "puzzle": TILES}, r"name = 'a b'"),
    ],
)
def test_configs_that_cannot_be(values, message):
    with pytest.raises(InputError, match=message):
        frontier.make_config(**{"name": "a", **values})


def test_a_puzzle_of_ones_own_runs_on_workers(tmp_path):
    """They make the puzzle anew from what the run says of it."""
    table = frontier.define_puzzle(
        cells={"p": (0, 0), "q": (1, 0), "r": (0, 1), "s": (1, 1)},
        moves={"e/w": (1, 0), "s/n": (0, 1)},
        pieces={"long": ["p", "q"], "x": "r"},
    )
    run = run_of(tmp_path, puzzle=table)
    assert run.puzzle.title == "2 pieces on 4 cells (step)"
    assert run.counts == [1, 1]
    again = frontier.open_run(run.path)
    assert again.solve(["long", "long", ".", "x"]).moves == ["x w"]
    assert again.distance([{"long": ["p", "q"], "x": "s"}]).tolist() == [1]
    assert again.distance({"long": ["p", "q"], "x": "s"}) == 1
