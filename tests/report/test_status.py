"""The state of a run, as its files tell it."""

import io
import json
import re
import shlex
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from frontier import text
from frontier.errors import FormatError, Stopped
from frontier.layers.events import LayerFinished, LayerMade
from frontier.layers.progress import LayerProgress
from frontier.layers.run import LayerRun
from frontier.report import displays
from frontier.report import status_page as status_page_module
from frontier.report.displays import PlainProgress
from frontier.report.statistics import statistics_of
from frontier.report.status import describe_status, line, status_of
from frontier.runs import events
from frontier.runs import log as log_module
from frontier.runs.progress import progress_of
from tests.support.commands import invoke
from tests.support.recorded_runs import config_of, events_of, run
from tests.support.run_files import file_of, read_sealed, write_sealed


def test_status_of_each_state(tmp_path, held):
    store = run(tmp_path / "run", until=20)
    assert (
        describe_status(status_of(store.path)).splitlines()[0].startswith("2×4 tiles, stopped at ")
    )
    assert "ends" not in describe_status(status_of(store.path))
    held(store.path)
    value = status_of(store.path)
    since = text.moment(time.time() - 3 * 3600)
    assert value["state"] == "under way"
    assert value["holder"] == f"process 7 on host there since {since} (for 3 hours)"
    first = describe_status(value).splitlines()[0]
    assert first == "2×4 tiles, under way"
    assert f"\n  written by: {value['holder']}\n" in describe_status(value)
    assert "  time left: " in describe_status(value)
    assert json.loads(invoke("status", store.path, "--json").stdout)["in_words"]["time left"]


def test_a_run_that_has_no_layer_yet(tmp_path, held):
    """It waits for its workers, and there is no depth to speak of."""
    whole = run(tmp_path / "whole", until=0)
    store = LayerRun.create(tmp_path / "run", whole.identity)
    held(store.path)
    progress = progress_of(store)
    head = "2×4 tiles, under way; depth – (no layer is committed yet); states 0 (0.00% of "
    assert line(progress).startswith(head)
    assert line(progress).endswith("; time left too early to tell")
    assert status_of(store.path)["depth"] is progress.depth is None
    page = status_page_module.status_page(progress)
    stopped = PlainProgress(io.StringIO(), LayerProgress())
    start = next(events_of("2x7", 0))
    for event in (start, events.Stopped(1.0, "no worker came")):
        stopped(event)
    report = invoke("report", whole.path, store.path).stdout
    said = describe_status(status_of(store.path))
    for shown in (page, said, line(progress), stopped._file.getvalue(), report):
        assert "depth -1" not in shown
        assert "depth None" not in shown
    assert "no layer is committed yet" in page
    assert "no layer is committed yet" in said
    assert ">-1<" not in page


def test_status_of_a_complete_run(tmp_path):
    value = status_of(run(tmp_path / "run").path)
    assert value["state"] == "complete"
    assert "left" not in value


def test_status_shows_the_dashboard_while_the_run_is_under_way(tmp_path, held):
    store = run(tmp_path / "run", until=20)
    log = store.path / "events.jsonl"
    log.write_text(log.read_text().replace('"dashboard": null', '"dashboard": "http://here/"'))
    assert "http://here/" not in describe_status(status_of(store.path))
    held(store.path)
    assert "  dashboard: http://here/" in describe_status(status_of(store.path))


def test_status_says_why_a_run_stopped(tmp_path):
    def stop(event):
        if isinstance(event, LayerFinished):
            raise Stopped("enough")

    with pytest.raises(Stopped):
        run(tmp_path / "run", listeners=[stop])
    assert "stopped at " in invoke("status", tmp_path / "run").stdout
    assert ": enough\n" in invoke("status", tmp_path / "run").stdout


def test_status_tells_the_layers_that_are_not_stored_yet(tmp_path, monkeypatch):
    """From another process, as each of them is made; with its own time."""
    now, said = 1_000_000.0, {}
    clock = SimpleNamespace(time=lambda: now, monotonic=lambda: now)
    monkeypatch.setattr(log_module, "time", clock)

    def look(event):
        nonlocal now
        now += 100
        if isinstance(event, LayerMade) and event.depth in (1, 2, 3, 12):
            said[event.depth] = status_of(tmp_path / "run")

    done = run(tmp_path / "run", listeners=[look])
    assert set(said) == {1, 2, 3, 12}
    value = said[12]  # the log has all but this layer, of which others are told first
    assert value["depth"] == 0
    assert value["not_stored"] == [record.states for record in done.records[1:12]]
    assert value["in_words"]["depth"].startswith("11 (")
    assert value["in_words"]["not stored yet"] == "11 layers (from depth 1 on)"
    assert said[2]["in_words"]["not stored yet"] == "1 layer (at depth 1)"
    assert "not stored yet" not in said[1]["in_words"]
    last = status_of(tmp_path / "run")
    assert last["not_stored"] == []
    assert "not stored yet" not in last["in_words"]
    lines = map(json.loads, (tmp_path / "run" / "events.jsonl").read_text().splitlines())
    times = [line["time"] for line in lines if line["event"] == "LayerMade"]
    assert len(times) == 36
    assert len(set(times)) == 36


def test_layers_that_were_not_stored_are_lost_with_a_killed_run(tmp_path):
    path = run(tmp_path / "run", until=20).path / "events.jsonl"
    run(tmp_path / "run", until=25)
    kept = [line for line in path.open() if '"Stopped"' not in line]
    made = json.loads(next(line for line in kept if '"LayerMade"' in line))
    path.write_text("".join(kept) + json.dumps(made | {"depth": 26}) + "\n")
    value = status_of(tmp_path / "run")
    assert (value["state"], value["depth"], value["not_stored"]) == ("stopped", 25, [])


def test_status_of_a_killed_run(tmp_path):
    log = run(tmp_path / "run", until=20).path / "events.jsonl"
    log.write_text("".join(line for line in log.open() if '"Stopped"' not in line))
    said = invoke("status", tmp_path / "run").stdout
    assert "stopped: killed, or its machine failed" in said
    # The log has the last start alone, or is not there at all.
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if '"Started"' in line))
    assert "stopped: killed, or its machine failed" in invoke("status", tmp_path / "run").stdout
    log.unlink()
    assert "stopped: its log does not say why" in invoke("status", tmp_path / "run").stdout


def test_what_other_versions_log_of_events_is_passed_over(tmp_path):
    log = run(tmp_path / "run", until=20).path / "events.jsonl"
    before = status_of(tmp_path / "run")
    lines = [json.loads(line) | {"more": 1} for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    after = status_of(tmp_path / "run")
    assert before["reason"] == "depth 20 reached, as requested"
    assert (after["reason"], after["ended"]) == (before["reason"], before["ended"])


def test_a_run_that_was_complete_and_is_rolled_back_is_stopped(tmp_path):
    path = tmp_path / "run"
    run(path).roll_back(20, [])
    value = status_of(path)
    assert (value["state"], value["complete"], value["depth"]) == ("stopped", False, 20)
    assert value["reason"] == "its log does not say why"
    assert value["ended"] is None
    assert value["left"]["depth"] > 20


def test_nothing_is_lost_of_a_run_that_ended_during_its_start(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise Stopped("no cluster")

    monkeypatch.setattr("frontier.layers.search.LayerSearch.executor", fails)
    with pytest.raises(Stopped):
        run(tmp_path / "run")
    said = invoke("status", tmp_path / "run").stdout
    assert "stopped: its log does not say why" in said
    assert "depth: – (no layer is committed yet)" in said
    assert "killed" not in said


def test_a_run_on_a_host_that_cannot_be_seen_may_be_under_way(tmp_path):
    """Not every file system carries locks to other hosts; the lock file says who wrote last."""
    store = run(tmp_path / "run", until=20)
    log = store.path / "events.jsonl"
    whole = log.read_text()
    log.write_text("".join(line for line in log.open() if '"Stopped"' not in line))
    (store.path / "lock").write_text(json.dumps({"host": "there", "process": 7, "since": 1}))
    said = "killed, or under way on host there, which this host cannot see"
    assert f"stopped: {said}" in invoke("status", store.path).stdout
    assert json.loads(invoke("status", store.path, "--json").stdout)["reason"] == said
    log.write_text(whole)
    assert "depth 20 reached, as requested" in invoke("status", store.path).stdout


def test_a_run_that_ends_while_one_looks(tmp_path, monkeypatch):
    """When the lock is free, what was written before is read, not what stood there earlier."""

    def until(depth):
        def ends(lock):
            monkeypatch.undo()
            run(lock.parent, until=depth)
            return False

        monkeypatch.setattr("frontier.runs.progress.is_held", ends)

    store = run(tmp_path / "run", until=5)
    until(9)
    value = status_of(store.path)
    assert (value["state"], value["depth"]) == ("stopped", 9)
    assert value["reason"] == "depth 9 reached, as requested"
    until(None)
    assert (status_of(store.path)["state"], status_of(store.path)["depth"]) == ("complete", 36)
    part = run(tmp_path / "b" / "run", until=5)
    until(None)
    figures = statistics_of(part)
    assert (figures.state, figures.depth) == ("complete", 36)


def test_the_states_are_the_same_everywhere(tmp_path):
    path = tmp_path / "run"

    def states():
        return {
            json.loads(invoke("status", path, "--json").stdout)["state"],
            json.loads(invoke("report", path, "--json").stdout)["state"],
            re.match("2×4 tiles, ([a-z ]+)", line(progress_of(LayerRun.open(path))))[
                1
            ].removesuffix(" at "),
            re.search(r'class="state.*?">(.*?)<', (path / "status.html").read_text())[1],
        }

    run(path, until=5)
    assert states() == {"stopped"}
    assert ": depth 5 reached, as requested.</strong>" in (path / "status.html").read_text()
    assert "stopped at " in invoke("status", path).stdout
    run(path)
    assert states() == {"complete"}


def test_a_corrupt_ledger_is_named(tmp_path):
    run(tmp_path / "run")
    ledger = tmp_path / "run" / "ledger.json"
    ledger.write_text(ledger.read_text().replace("2", "3", 1))
    for watching in ((), ("--watch", "--interval", "0.1")):
        said = invoke("status", tmp_path / "run", *watching, code=4).stderr
        assert str(ledger) in said
        assert "repair" in said


def test_a_corrupt_ledger_in_json(tmp_path):
    run(tmp_path / "run", until=5)
    ledger = tmp_path / "run" / "ledger.json"
    ledger.write_text(ledger.read_text().replace("2", "3", 1))
    result = invoke("status", tmp_path / "run", "--json", code=4)
    value = json.loads(result.stdout)
    assert (value["state"], value["path"]) == ("corrupt", str(tmp_path / "run"))
    assert str(ledger) in value["message"]
    assert value["message"] in result.stderr


@pytest.mark.parametrize("folder", ["layers/0036", "layers/0035"])
def test_a_part_that_is_missing(tmp_path, folder):
    path = tmp_path / "run"
    run(path)
    assert json.loads(invoke("status", path, "--json").stdout)["damaged"] == []
    folder = file_of(path, folder)
    next(folder.glob("c.*")).unlink()
    said = invoke("status", path, code=4).stdout
    assert said.startswith("2×4 tiles, complete\n")
    what = f"{folder} lacks 1 of 1 part"
    assert f"\n  damaged: {what}; `python -m frontier verify` lists all damage\n" in said
    value = json.loads(invoke("status", path, "--json", code=4).stdout)
    assert value["damaged"] == [what]
    assert "damaged: " in invoke("status", path, "--watch", code=4).stdout


def test_a_layer_that_is_a_link(tmp_path):
    path = tmp_path / "run"
    run(path)
    layer = file_of(path, "layers/0036")
    layer.rename(tmp_path / "elsewhere")
    layer.symlink_to(tmp_path / "elsewhere")
    said = invoke("status", path, code=4).stdout
    assert f"damaged: {layer} is a link" in said


def test_a_file_of_somebody_else_s_is_no_part(tmp_path):
    """Not even one that is called like one."""
    path = tmp_path / "run"
    run(path, until=9)
    file_of(path, "layers/0009/c.7").write_bytes(b"")
    assert "damaged" not in invoke("status", path).stdout
    assert run(path).complete


def test_a_list_that_is_lost_is_not_replaced_by_parts_of_the_layer_under_way(tmp_path):
    path = tmp_path / "run"
    store = run(path, until=9)
    (store.layer_path(8) / "c.0").unlink()
    store.layer_path(10).mkdir()
    for name in ("c.0.0.0", "c.1.0.0"):
        (store.layer_path(10) / name).write_bytes(b"")
    assert store.missing() == [f"{store.layer_path(8)} lacks 1 of 1 part"]


def test_a_layer_that_is_forgotten_while_one_looks_is_not_missing(tmp_path):
    path = tmp_path / "run"
    before = run(path, until=5)
    run(path, until=9)
    assert not set(before.stored_depths()) & set(LayerRun.open(path).stored_depths())
    assert before.missing() == []


def test_another_format_is_said_with_the_remedy(tmp_path):
    run(tmp_path / "run")
    identity = read_sealed(tmp_path / "run" / "run.json")
    write_sealed(tmp_path / "run" / "run.json", {**identity, "format": 99})
    said = invoke("status", tmp_path / "run", code=FormatError.exit_code).stderr
    assert "format 99" in said
    assert "use the version that wrote it" in said
    assert "verify" not in said


def test_no_run(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "none"):
        assert str(tmp_path / name) in invoke("status", tmp_path / name, code=2).stderr


@pytest.mark.parametrize("command", ["status", "farthest"])
def test_a_run_that_has_not_begun(tmp_path, command):
    config, path = config_of(tmp_path)
    begin = f"python -m frontier run {shlex.quote(str(config))}"
    said = invoke(command, config, code=2).stderr
    assert said == f"frontier: 2x3 has not started; start it with: {begin}\n"
    assert not path.exists()


def test_a_run_that_has_not_begun_is_waited_for(tmp_path, monkeypatch):
    config, path = config_of(tmp_path)
    sets = "--set", "cluster.kind=serial"
    monkeypatch.setattr(displays.watch, "__defaults__", (lambda _: invoke("run", config, *sets),))
    first, second, *_ = invoke("status", config, "--watch").stdout.splitlines()
    assert first.endswith("runs: not begun")
    assert second == f"2×3 tiles, 360 states, in {path}"
    shutil.rmtree(path)
    path.mkdir()
    assert "holds no run" in invoke("status", path, "--watch", code=2).stderr


def test_a_read_only_run_directory(tmp_path, monkeypatch):
    store = run(tmp_path / "run", until=20)
    opened = io.open

    def read_only(file, mode="r", *more, **options):
        if set(mode) & set("wax+") and str(file).startswith(str(tmp_path)):
            raise PermissionError(30, "Read-only file system", str(file))
        return opened(file, mode, *more, **options)

    monkeypatch.setattr(io, "open", read_only)
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("status makes a directory"))
    assert "stopped" in invoke("status", store.path).stdout
