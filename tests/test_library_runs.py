"""`frontier.run`: what it takes, where it runs, and what it shows meanwhile."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster

import frontier
from frontier.errors import InputError, Stopped
from frontier.report import displays
from frontier.report.formats import report_page
from frontier.report.statistics import Report, statistics_of
from tests.support.run_files import read_sealed

TILES = {"kind": "tiles", "rows": 2, "columns": 3}


def config_of(path, puzzle=TILES, keep="all", **cluster):
    """A config that names no kind of cluster unless it is said."""
    return frontier.make_config("mine", puzzle, {"keep": keep}, {"path": path / "run"}, cluster)


def test_a_plan_takes_what_a_run_takes(tmp_path):
    """A config, its path, or that of a run directory, as text or as `Path`."""
    config = config_of(tmp_path)
    file = tmp_path / "mine.toml"
    file.write_text(
        f'name = "x"\nsearch.keep = "all"\nstore.path = "{tmp_path / "run"}"\n'
        '[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 3\n'
    )
    frontier.run(frontier.plan(config))
    for what in (config, file, str(file), tmp_path / "run"):
        plan = frontier.plan(what)
        assert (plan.puzzle.title, plan.config.path) == ("2×3 tiles", tmp_path / "run")
    with pytest.raises(InputError, match="no such"):
        frontier.plan(tmp_path / "none")
    all_blanks = frontier.load_config(file, 'puzzle.blank="all"')
    for ask in (frontier.plan, frontier.run):
        with pytest.raises(InputError, match="is several runs, x-blank-0-0, x-blank-0-1: run"):
            ask(all_blanks)


def test_a_fresh_plan_deletes_the_run_that_is_there_only_if_asked(tmp_path):
    config = config_of(tmp_path, kind="serial")
    first = frontier.run(frontier.plan(config, fresh=True))  # there is none yet
    plan = frontier.plan(config, fresh=True)
    with pytest.raises(InputError, match=r"holds a run, .* run\(plan, fresh=True\)"):
        frontier.run(plan)
    again = frontier.run(plan, fresh=True)
    assert again.counts == first.counts
    assert again.store.identity["identifier"] != first.store.identity["identifier"]
    resumed = frontier.run(config)
    assert resumed.store.identity["identifier"] == again.store.identity["identifier"]
    other = config_of(tmp_path, {**TILES, "blank": [0, 1]}, kind="serial")
    with pytest.raises(InputError, match="made by a different config"):
        frontier.run(other)
    assert frontier.run(other, fresh=True).puzzle.goals[0] == (1, 0, 2, 3, 4, 5)


def test_a_bad_config_deletes_nothing(tmp_path):
    run = frontier.run(config_of(tmp_path, kind="serial"))
    bad = config_of(tmp_path, kind="serial", memory="1MB")
    with pytest.raises(InputError, match=r"cluster\.memory"):
        frontier.run(bad, fresh=True)
    assert frontier.open_run(run.path).complete


def test_a_run_goes_on_by_its_directory_or_its_config(tmp_path):
    settings = ("store.path=" + str(tmp_path / "run"), "cluster.kind=serial")
    config = frontier.load_config("configs/2x4.toml", settings)
    assert frontier.run(config, until=9).depth == 9
    assert frontier.run(tmp_path / "run", until=12).depth == 12
    assert frontier.run(str(tmp_path / "run")).complete
    with pytest.raises(InputError, match="3: expected a config, or the path"):
        frontier.run(3)
    family = frontier.load_config("configs/3x3-diameter.toml")
    with pytest.raises(InputError, match=r"several runs, .*config\.members"):
        frontier.run(family)


def test_a_run_of_a_cluster_needs_to_be_told_where_it_goes_on(tmp_path):
    run = frontier.run(config_of(tmp_path, kind="serial"), until=3)
    assert run.store.settings["cluster"]["kind"] == "serial"
    run.store.settings["cluster"]["kind"] = "slurm"
    run.store.write_ledger()
    with pytest.raises(InputError, match=r'cluster\.kind = slurm.*cluster\.kind = "local"'):
        frontier.run(run.path)
    config = frontier.runs.resolve.resolve(run.path, ("cluster.kind=serial",)).config
    assert frontier.run(config, until=5).depth == 5


def test_the_distance_of_the_start(tmp_path):
    config = config_of(tmp_path, {**TILES, "start": "1 2 5 / 3 4 0"}, kind="serial")
    assert frontier.run(config, until=2).start_distance is None
    run = frontier.run(config)
    assert run.start_distance == run.distance(run.puzzle.start) == run.solve("1 2 5/3 4 0").distance
    assert f'<td style="text-align: left">{run.start_distance}</td>' in run._repr_html_()
    home = config_of(tmp_path / "home", {**TILES, "start": "0 1 2 / 3 4 5"}, kind="serial")
    assert "not reached yet" not in frontier.run(home, until=2)._repr_html_()


def test_a_home_directory_is_written_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    config = frontier.make_config("a", TILES, {"keep": "all"}, {"path": "~/x"}, {"kind": "serial"})
    assert config.path == tmp_path / "x"
    run = frontier.run(config)
    assert frontier.open_run("~/x").counts == run.counts
    run.export("~/distances.zarr")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["distances.zarr", "x"]


def test_a_puzzle_has_a_title_of_its_own(tmp_path):
    named = config_of(tmp_path, {**TILES, "title": "The five <&> tiles"}, kind="serial")
    run = frontier.run(named, until=5)
    written = "The five &lt;&amp;&gt; tiles"
    assert run.puzzle.title == "The five <&> tiles"
    assert written in run._repr_html_()
    assert written in (run.path / "status.html").read_text()
    assert frontier.run(config_of(tmp_path, kind="serial")).complete  # the title is no matter
    figures = statistics_of(frontier.open_run(run.path).store)
    assert written in report_page(Report((figures,)))
    assert frontier.solve(named, "1 0 2/3 4 5").method == "layers"
    assert named.make_puzzle().kind == "tiles"
    for title in ("", " ", "two\nlines", "x" * 101, 7):
        with pytest.raises(InputError, match=r"puzzle\.title = "):
            config_of(tmp_path, {**TILES, "title": title})


# --- boards


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return frontier.run(config_of(tmp_path_factory.mktemp("runs"), kind="serial"))


ONE = {
    "text": "1 0 2/3 4 5",
    "codes": (1, 0, 2, 3, 4, 5),
    "rows": [[1, 0, 2], [3, 4, 5]],
    "rows of text": ["1 0 2", "3 4 5"],
    "array": np.array([1, 0, 2, 3, 4, 5]),
    "array in rows": np.array([[1, 0, 2], [3, 4, 5]]),
}


@pytest.mark.parametrize("how", ONE)
def test_one_board_is_one_board_everywhere(run, how):
    board = ONE[how]
    assert run.distance(board) == 1
    assert type(run.distance(board)) is int
    assert run.distance([board]).tolist() == [1]
    assert run.distance([board, board]).tolist() == [1, 1]
    assert run.solve(board).distance == 1
    assert run.count_solutions(board) == 1
    assert run.show(board).boards == [ONE["codes"]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "board = None"),
        ([[1, 0], [2]], "2 cells of type int64"),
        ([1, 2], "1 cell of type int64"),
        (np.array([1.0] * 6), "6 cells of type float64"),
        (["1 0 2/3 4 5", "q"], r"board = q:"),
        (object(), "is nothing that a config file could say"),
        ([0, 0, 1, 2, 3, 4], "the numbers 0..5 must appear, each once"),
        ("0 1 9/3 1 4", "must appear, each once .*; 1 is repeated, 9 is not one of them$"),
        ("", r"board = '': expected 2 rows of 3 numbers"),
    ],
)
def test_what_is_no_board_is_refused(run, wrong, message):
    with pytest.raises(InputError, match=message):
        run.distance(wrong)
    for ask in (run.solve, run.show):
        with pytest.raises(InputError, match="board"):
            ask(wrong)


def test_a_board_that_is_a_list_of_labels_is_one(tmp_path):
    puzzle = {"kind": "graph", "adjacency": [[1], [0, 2], [1]], "blank": "."}
    run = frontier.run(config_of(tmp_path, {**puzzle, "goal": ["a", ".", "b"]}, kind="serial"))
    assert run.distance([".", "a", "b"]) == 1
    assert run.distance([[".", "a", "b"], ["a", ".", "b"]]).tolist() == [1, 0]


# --- clients


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture
def by_tasks(monkeypatch):
    """Of small puzzles, too, most layers are made by tasks."""
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)


class Heard:
    """Listens for where a run begins."""

    def __call__(self, event):
        if isinstance(event, frontier.runs.events.Started):
            self.workers, self.dashboard = event.workers, event.dashboard


def test_the_workers_of_a_client_do_the_tasks(tmp_path, cluster, by_tasks):
    with Client(cluster, set_as_default=False) as client:
        tasks = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        heard = Heard()
        run = frontier.run(config_of(tmp_path), listeners=[heard], client=client)
        assert run.complete
        assert heard.workers == 2
        after = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        assert after > tasks
        assert client.status == "running"
        assert "2 workers" not in repr(frontier.plan(config_of(tmp_path / "other")))


def test_a_client_that_is_closed_stops_a_run(tmp_path, cluster, by_tasks):
    config = config_of(tmp_path)
    with Client(cluster, set_as_default=False) as client:

        def close(event):
            if isinstance(event, frontier.runs.events.Started):
                client.close()

        with pytest.raises(Stopped, match=r"^the connection to the scheduler was lost$"):
            frontier.run(config, listeners=[close], client=client)
    with Client(cluster, set_as_default=False) as client:
        run = frontier.run(config, client=client)
    assert run.complete
    assert sum(run.counts) == 360


def test_the_current_client_does_unless_the_config_names_a_cluster(tmp_path, cluster):
    with Client(cluster):
        heard = Heard()
        config = config_of(tmp_path)
        plan = frontier.plan(config)
        assert plan.config.cluster.kind == "address"
        frontier.run(plan, listeners=[heard])
        assert heard.workers == 2
        frontier.run(config_of(tmp_path / "here", kind="serial"), listeners=[heard])
        assert heard.workers == 1
    assert frontier.plan(config_of(tmp_path / "there")).config.cluster.kind == "local"


def test_what_is_no_client_is_refused(tmp_path, cluster):
    with Client(cluster) as client:
        pass
    for wrong in ("tcp://127.0.0.1:8786", cluster, client):
        with pytest.raises(InputError, match=r"client = .*expected a distributed\.Client"):
            frontier.run(config_of(tmp_path), client=wrong)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("until", [-1, 2.5, "a", True])
def test_the_last_depth_is_a_whole_number(tmp_path, until):
    with pytest.raises(InputError, match=f"until = {until!r}: expected a whole number"):
        frontier.run(config_of(tmp_path, kind="serial"), until=until)
    assert not (tmp_path / "run").exists()


def test_limits_are_whole_numbers(run):
    for limit in (-1, 2.5, None):
        for ask in (run.farthest, run.layers[3].boards):
            with pytest.raises(InputError, match=f"limit = {limit!r}: expected a whole number"):
                ask(limit=limit)
    assert run.farthest(limit=0) == run.layers[3].boards(limit=0) == []
    for name in ("count", "seed"):
        with pytest.raises(InputError, match=f"{name} = -1: expected a whole number"):
            run.layers[3].sample(**{"count": 1, name: -1})
    for wrong in ({"count": 10**9}, {"count": 1, "seed": 2**64}):
        with pytest.raises(InputError, match="at most 100,000,000 are drawn at once, by a seed"):
            run.layers[3].sample(**wrong)


def test_ways_to_solve_that_are_none(run):
    for wrong in ({"method": "idaa"}, {"method": 5}, {"most_nodes": 0}, {"most_nodes": "x"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} = "):
            frontier.solve(run, "1 0 2/3 4 5", **wrong)
    assert frontier.solve(run, "1 0 2/3 4 5").method == "layers"
    with pytest.raises(InputError, match="5: expected a config, or the path"):
        frontier.solve(5)


def test_the_summary_is_written_from_python_too(run):
    assert run.summary == read_sealed(run.path / "summary.json")
    assert run.summary["farthest"]["count"] == len(run.farthest())


# --- progress


def test_progress_is_shown_where_people_look(tmp_path, monkeypatch, capsys):
    frontier.run(config_of(tmp_path, kind="serial"))
    assert capsys.readouterr().err == ""
    frontier.run(config_of(tmp_path, kind="serial"), fresh=True, progress=True)
    assert " 21               1             360   100.00 " in capsys.readouterr().err
    monkeypatch.setattr(displays, "is_live", lambda console: True)  # a terminal
    frontier.run(config_of(tmp_path, kind="serial"), fresh=True)
    said = capsys.readouterr().err
    assert "2×3 tiles, 360 states, in" in said
    assert "100.00" not in said
    frontier.run(config_of(tmp_path, kind="serial"), fresh=True, progress=False)
    assert capsys.readouterr().err == ""


def test_progress_in_a_notebook(tmp_path, monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(displays.NotebookProgress, "SECONDS", 0.0)
    frontier.run(config_of(tmp_path, kind="serial"))
    assert capsys.readouterr().err == ""
    assert any("time left" in html for html in shown)
    assert "2×3 tiles, complete" in shown[-1]
    assert "360 (all)" in shown[-1]
    assert shown[-1].count("<rect") == 22


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
        (
            {"puzzle": {**TILES, "colums": 3}},
            r"unknown key puzzle\.colums; did you mean puzzle.columns\?",
        ),
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
    run = frontier.run(frontier.plan(config_of(tmp_path, table, kind="serial")))
    assert run.puzzle.title == "2 pieces on 4 cells (step)"
    assert run.counts == [1, 1]
    again = frontier.open_run(run.path)
    assert again.solve(["long", "long", ".", "x"]).moves == ["x w"]
    assert again.distance([{"long": ["p", "q"], "x": "s"}]).tolist() == [1]
    assert again.distance({"long": ["p", "q"], "x": "s"}) == 1
