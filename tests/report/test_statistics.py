"""The numbers of a report against a search that lists the depth of every position."""

import json
import re
import tomllib
from dataclasses import replace
from math import isclose
from pathlib import Path
from statistics import mean, median

import pytest

from frontier.errors import CorruptRunError
from frontier.layers.run import LayerRun
from frontier.report import colours
from frontier.report.statistics import DRAWN, Report, statistics_of
from frontier.report.tables import tables_of
from frontier.storage.lock import RunLock
from tests.support.ledgers import add_states
from tests.support.run_files import write_sealed
from tests.support.temporary_runs import made, write_ledger


def depths_of_tiles(rows, columns, goal=None):
    """The depth of every position, found board by board."""
    start = tuple(range(rows * columns)) if goal is None else goal
    depths, queue = {start: 0}, [start]
    for board in queue:
        blank = board.index(0)
        for other in range(rows * columns):
            away = abs(blank // columns - other // columns) + abs(blank % columns - other % columns)
            if away == 1:
                moved = list(board)
                moved[blank], moved[other] = moved[other], 0
                if (after := tuple(moved)) not in depths:
                    depths[after] = depths[board] + 1
                    queue.append(after)
    return depths


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (2, 2), (2, 3), (3, 2)])
def test_statistics_of_tiles(tmp_path, rows, columns):
    size = f"puzzle.rows={rows}", f"puzzle.columns={columns}"
    figures = statistics_of(made(tmp_path / "run", "2x2", *size))
    depths = depths_of_tiles(rows, columns)
    listed = sorted(depths.values())
    assert figures.complete
    assert figures.standing == "complete"
    assert figures.total == figures.states == len(depths)
    assert figures.depth == listed[-1]
    assert figures.counts == [listed.count(depth) for depth in range(listed[-1] + 1)]
    assert isclose(figures.mean_depth, mean(listed))
    assert figures.median == median(listed)
    assert listed.count(figures.fullest.depth) == max(figures.counts)
    assert figures.farthest == listed.count(listed[-1])
    farthest = {board for board, depth in depths.items() if depth == listed[-1]}
    assert set(figures.boards) == farthest
    for layer in figures.layers:
        before = [depth for depth in listed if depth <= layer.depth]
        assert layer.so_far == len(before)
        assert isclose(layer.share_so_far, len(before) / len(listed))
        assert isclose(layer.share, layer.states / len(listed))
        if layer.depth:
            assert isclose(layer.growth, layer.states / listed.count(layer.depth - 1))
    assert figures.layers[0].growth is None


def test_the_median_may_lie_between_two_depths(tmp_path):
    figures = statistics_of(made(tmp_path / "run", "2x2", "puzzle.rows=1", "puzzle.columns=4"))
    assert figures.median == 1.5


def test_not_more_boards_than_are_drawn(tmp_path):
    figures = statistics_of(made(tmp_path / "run", "pattern-2x4-k2"))
    assert figures.farthest == figures.counts[-1]
    assert len(figures.boards) == min(DRAWN, figures.farthest)


@pytest.mark.parametrize("settings", [(), ("search.in_memory=false",)])
def test_the_time_of_each_layer_goes_somewhere(tmp_path, monkeypatch, settings):
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.kernels.lists.PLAIN_STATES", 0)
    monkeypatch.setattr("frontier.layers.plan.THIN_IN_MEMORY", 0)
    monkeypatch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
    run = made(tmp_path / "run", "2x4", *settings)
    figures = statistics_of(run)
    for layer, record in zip(figures.layers, run.records, strict=True):
        assert isclose(sum(layer.spent.values()), record.seconds, abs_tol=1e-12)
        assert all(seconds >= 0 for seconds in layer.spent.values())
    assert isclose(sum(figures.spent.values()), figures.seconds)
    by_tasks = {"kernel", "codec", "disk", "rest", "others"}
    assert (by_tasks <= figures.spent.keys()) == bool(settings)
    assert ("memory" in figures.spent) != bool(settings)
    if not settings:
        return
    # a serial run has one worker, so what its tasks did is what passed
    work = sum(record.work["kernel"] for record in run.records if record.work)
    assert isclose(figures.spent["kernel"], work)
    ledger = json.loads((run.path / "ledger.json").read_text())
    ledger.pop("digest")
    for layer in ledger["layers"]:
        layer["seconds"] *= 2  # as if another worker had stood idle half of the time
    write_sealed(run.path / "ledger.json", ledger)
    slower = statistics_of(LayerRun.open(run.path))
    assert isclose(slower.spent["kernel"], work)
    assert slower.spent["others"] > figures.seconds / 2
    (run.path / "environment.json").unlink()
    unknown = statistics_of(LayerRun.open(run.path))
    assert "others" not in unknown.spent
    assert isclose(sum(unknown.spent.values()), unknown.seconds)


def test_a_run_that_is_not_complete(tmp_path):
    run = made(tmp_path / "run", "2x3", until=10)
    figures = statistics_of(run)
    listed = [depth for depth in depths_of_tiles(2, 3).values() if depth <= 10]
    assert figures.state == "stopped"
    assert (figures.depth, figures.states, figures.total) == (10, len(listed), 360)
    assert figures.median == median(listed)
    assert (figures.farthest, figures.boards) == (None, ())
    assert figures.standing == (
        f"not complete (stopped): known to depth 10, {len(listed) / 360:.2%} of 360 states"
    )
    with RunLock(run.path / "lock"):
        assert statistics_of(run).state == "under way"


def test_what_a_run_was_made_with(tmp_path):
    made(tmp_path / "run", "2x3", until=5)
    run = made(tmp_path / "run", "2x3", "search.in_memory=false")
    first, second = statistics_of(run).starts
    assert (first["layers"], second["layers"]) == (0, 6)
    assert first["config"]["search"]["in_memory"] is True
    assert second["config"]["search"]["in_memory"] is False
    assert second["workers"] == 1
    text = (run.path / "environment.json").read_text()
    assert str(tmp_path) not in text
    made(tmp_path / "run", "2x3")  # complete already: nothing is made
    assert (run.path / "environment.json").read_text() == text


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("{")])
def test_a_lost_environment_is_no_loss_for_the_search(tmp_path, damage):
    run = made(tmp_path / "run", "2x3", until=5)
    damage(run.path / "environment.json")
    assert statistics_of(run).starts == ()
    config = tomllib.loads(statistics_of(run).config_text)
    assert config["puzzle"]["rows"] == 2
    assert config["search"] == {"keep": run.identity["keep"]}
    assert config["store"] == {"codec": run.identity["codec"]}
    run = made(tmp_path / "run", "2x3")
    assert run.complete
    assert [start["layers"] for start in statistics_of(run).starts] == [6]


def test_the_config_makes_the_run_again(tmp_path, monkeypatch):
    for name in ("goat", "hexagram", "pattern-2x3-k2"):
        run = made(tmp_path / name, name, until=3)
        config = tmp_path / f"{name}.toml"
        config.write_text(statistics_of(run).config_text, encoding="utf-8")
        monkeypatch.setattr("tests.support.temporary_runs.CONFIGS", tmp_path)
        again = made(tmp_path / "again" / name, name, until=3)
        monkeypatch.undo()
        assert again.identity["puzzle"] == run.identity["puzzle"]


def test_pages_and_drawings_share_their_colours():
    """A template names a colour in the page's theme alone, where the dark has another."""
    templates = sorted((Path(colours.__file__).parent / "templates").rglob("*.html"))
    assert "base.html" in [template.name for template in templates]
    for template in templates:
        text = template.read_text()
        if template.name == "base.html":
            for colour in (colours.INK, colours.QUIET, colours.LINE, colours.GROUND):
                assert f": {colour};" in text
            assert f"--accent: {colours.ACCENT}; --second: {colours.SECOND};" in text
        else:
            assert not re.search(r":\s*#[0-9a-f]{3,6}\b|\"#[0-9a-f]{6}", text), template


def test_a_damaged_last_layer_is_named(tmp_path):
    run = made(tmp_path / "run", "2x3")
    part = next(path for path in run.layer_path(21).iterdir() if path.name != "zarr.json")
    part.unlink()
    with pytest.raises(CorruptRunError, match=r"/0021"):
        statistics_of(run)


def test_statistics_of_complete_and_other_runs_stand_in_one_row(tmp_path):
    runs = [made(tmp_path / "a", "2x3"), made(tmp_path / "b", "2x3", until=9)]
    runs.append(LayerRun.create(tmp_path / "c", runs[0].identity))
    figures = tuple(statistics_of(run) for run in runs)
    rows = tables_of(Report(figures, ("a", "b", "c"))).key.rows
    by_key = {row[0]: row[1:] for row in rows}
    assert len(by_key) == len(rows)
    assert by_key["depth"] == ["21 moves", "9 moves so far", ""]
    assert by_key["states"] == ["360", f"{figures[1].states} of 360", "0 of 360"]
    assert by_key["farthest positions"] == ["1", "not known yet", ""]
    assert not any("so far" in key for key in by_key)
    assert all(row[1] and row[2] for row in rows)


def test_many_runs_have_a_short_title(tmp_path):
    figures = statistics_of(made(tmp_path / "2x2", "2x2"))

    def title(number):
        runs = tuple(replace(figures, name=f"run {i}") for i in range(number))
        return Report(runs, tuple(run.name for run in runs)).title

    assert title(6) == "run 0, run 1, run 2, run 3, run 4, run 5"
    assert title(7) == "7 runs"


def test_the_time_of_several_is_told_side_by_side(tmp_path):
    runs = tuple(statistics_of(made(tmp_path / name, name)) for name in ("2x2", "2x3"))
    rows = tables_of(Report(runs, ("a", "b"))).spending.rows
    for column, run in enumerate(runs, 1):
        cells = [row[column] for row in rows if row[column]]
        assert cells == [time for _, time in tables_of(Report((run,))).spending.rows] != []
        shares = [float(cell.split("(")[1].removesuffix("%)")) for cell in cells]
        assert sum(shares) == pytest.approx(100, abs=0.3)


def test_runs_of_one_name_are_told_apart_without_their_paths(tmp_path):
    figures = statistics_of(made(tmp_path / "2x2", "2x2"))

    def labels(*paths):
        return Report((figures,) * len(paths), paths).labels

    assert labels("/home/me/old/2x2", "/home/me/new/2x2") == ["2x2 in old", "2x2 in new"]
    assert labels("x/first", "second") == ["2x2 in first", "2x2 in second"]
    assert labels("a/2x2", "b/2x2", "a/c") == ["2x2 (1)", "2x2 (2)", "2x2 (3)"]
    assert labels("2x2", "a/2x2") == ["2x2 (1)", "2x2 (2)"]
    assert labels("/somewhere/2x2") == ["2x2"]


def test_runs_of_one_puzzle_must_agree(tmp_path):
    whole, part = made(tmp_path / "a", "2x3"), made(tmp_path / "b", "2x3", until=9)
    other = made(tmp_path / "c", "2x2")
    paths = ("a", "b", "c")

    def compared():
        runs = [statistics_of(LayerRun.open(run.path)) for run in (whole, part, other)]
        return Report(tuple(runs), paths)

    assert compared().labels == ["2x3 in a", "2x3 in b", "2x2"]
    assert len(compared().layers) == 22
    assert compared().differences == []
    add_states(part, 4, 1)
    write_ledger(part)
    (said,) = compared().differences
    assert "2x3 in a" in said
    assert "2x3 in b" in said
    assert "depth 4" in said
    add_states(part, 4, -1)
    write_ledger(part)
    whole.records[-1:] = []
    whole.complete = True
    whole.write_ledger()
    assert compared().differences == []  # the other has not come so far


def test_the_start_decides_which_goals_are_searched(tmp_path):
    """The second and the third goal can be reached from each other, but not from the first."""
    goals = "puzzle.goals=[[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 1], [3, 2]]]"
    starts = {"a": "[[1, 0], [2, 3]]", "b": "[[0, 2], [1, 3]]"}
    runs = [
        statistics_of(made(tmp_path / name, "2x2", goals, f"puzzle.start={start}"))
        for name, start in starts.items()
    ]
    assert [run.counts[0] for run in runs] == [1, 2]
    assert Report(tuple(runs), tuple(starts)).differences == []


def test_runs_with_other_titles_and_starts_must_agree(tmp_path):
    """From one goal, a whole one, the start is only looked for."""
    plain = made(tmp_path / "a", "2x3", until=9)
    settings = "puzzle.title=mine", "puzzle.start=[[1, 0, 2], [3, 4, 5]]"
    other = made(tmp_path / "b", "2x3", *settings, until=9)

    def differences():
        runs = [statistics_of(LayerRun.open(run.path)) for run in (plain, other)]
        return Report(tuple(runs), ("a", "b")).differences

    assert differences() == []
    add_states(other, 4, 1)
    write_ledger(other)
    (said,) = differences()
    assert "depth 4" in said
