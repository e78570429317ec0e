"""A run as it is watched: in a terminal, in a pipe, from its files, in its page."""

import dataclasses
import fcntl
import io
import json
import os
import queue
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from frontier import api, text
from frontier.cli import main
from frontier.config import load_config
from frontier.errors import CorruptRunError, FormatError, InputError, Stopped
from frontier.forecast.time_left import TimeLeft
from frontier.report import status as status_module
from frontier.report import status_page as status_page_module
from frontier.report.console import console_on
from frontier.report.displays import LiveProgress, PlainProgress, ProgressTable
from frontier.report.progress import Progress, progress_of
from frontier.report.progress_text import describe_step, end_words, in_a_line, time_left_words
from frontier.report.statistics import statistics_of
from frontier.report.status import describe_status, status_of
from frontier.report.summary import describe, summary
from frontier.search.events import (
    LayerFinished,
    LayerStarted,
    RunFinished,
    RunStarted,
    RunStopped,
    TaskFinished,
)
from frontier.store.files import read_sealed, write_sealed
from frontier.store.ledger import LayerRecord
from frontier.store.run import OWN_NAMES, RunStore

CONFIGS = Path(__file__).parents[2] / "configs"
RECORDED = json.loads((Path(__file__).parents[1] / "forecast" / "recorded.json").read_text())
STATES = {name: sum(line[0] for line in lines) for name, lines in RECORDED.items()}


def settings(path, *more):
    return ("cluster.kind=serial", f"store.path={path}", *more)


def run(path, until=None, name="2x4", listeners=()):
    config = load_config(CONFIGS / f"{name}.toml", settings(path))
    return api.run(api.plan(config), until, listeners).store


def invoke(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def config_of(tmp_path):
    """A config whose run is made below a folder, and that folder."""
    config = tmp_path / "small one.toml"
    text = (CONFIGS / "2x3.toml").read_text()
    config.write_text(f'{text}\n[store]\npath = "{tmp_path / "runs"}"\n')
    return config, tmp_path / "runs"


def events_of(name, layers, dashboard=None):
    """The events of the first layers of a recorded run."""
    yield RunStarted(name, f"{name} tiles", "/no/run", -1, 0, STATES[name], 2, False, dashboard)
    so_far = elapsed = 0
    for depth, (states, seconds, form) in enumerate(RECORDED[name][:layers]):
        so_far, elapsed = so_far + states, elapsed + seconds
        yield LayerStarted(depth, None)
        yield LayerFinished(depth, states, so_far, form, seconds, elapsed, 10**9, 0)


@pytest.fixture
def held():
    """Hold the lock of a run directory, as another process would."""
    files = []

    def hold(path):
        file = (path / "lock").open("w")
        files.append(file)
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"host": "there", "process": 7, "since": time.time() - 3 * 3600}))
        file.flush()

    yield hold
    for file in files:
        file.close()


# -- words ----------------------------------------------------------------------------------------


def test_durations():
    hour = 3600
    assert text.span(47 * hour) == "47 h 00 min"
    assert text.span(76 * hour + 60) == "3 d 04 h"
    assert [text.rough(s) for s in (40.4, 99.6, 99 * 60, 40 * hour, 72 * hour)] == [
        "40 s", "2 min", "99 min", "40 h", "3 d",
    ]  # fmt: skip
    assert [text.age(s) for s in (-1, 1, 59.6, 3599, 3600, 50 * hour)] == [
        "0 seconds", "1 second", "1 minute", "59 minutes", "1 hour", "2 days",
    ]  # fmt: skip


def test_numbers_are_not_rounded_over_their_unit():
    assert [text.span(s) for s in (59.94, 59.97, 3599.6)] == ["59.9 s", "1 min 00 s", "1 h 00 min"]
    assert [text.size(n) for n in (999, 99_940, 99_960, 999_400, 999_600)] == [
        "999 B", "99.9 kB", "100 kB", "999 kB", "1.0 MB",
    ]  # fmt: skip
    assert [text.rate(n, 1) for n in (999.4, 999.6, 999_600)] == ["999/s", "1 k/s", "1 M/s"]
    assert [text.brief(s) for s in (0, 1e-5, 0.05, 2)] == ["0.0 s", "< 0.1 ms", "50.0 ms", "2.0 s"]


def test_powers_of_ten():
    said = [text.power(exponent) for exponent in (-1, 0, 2, 3, 10)]
    assert said == ["0.1", "1", "100", "10³", "10¹⁰"]


def test_percent():
    said = [text.percent(share) for share in (0, 1e-9, 0.0001, 0.5, 0.99995, 1)]
    assert said == ["0.00%", "< 0.01%", "0.01%", "50.00%", "> 99.99%", "100.00%"]


def test_not_all_is_not_all(tmp_path, held):
    """One state of very many is left, and so nothing says 100%."""
    whole = run(tmp_path / "run", until=0)
    identity = {**whole.identity, "states": 2 * 10**9}
    store = RunStore.create(tmp_path / "most", identity)
    store.commit([LayerRecord(0, 2 * 10**9 - 1, "list", False, 1.0)], complete=False)
    held(store.path)
    watched = status_module.Watched(store.path)
    watched.look()
    plain, console = PlainProgress(io.StringIO()), Console(file=io.StringIO(), width=200)
    states = 2 * 10**9 - 1
    plain(RunStarted("most", "", "", -1, 0, states + 1, 1, False))
    plain(LayerFinished(0, states, states, "list", 1.0, 1.0, 0, 0))
    console.print(ProgressTable(watched.progress))
    shown = {
        "status": describe_status(status_of(store)),
        "line": watched.line(),
        "page": status_page_module.status_page(watched.progress),
        "plain": plain._file.getvalue(),
        "live": console.file.getvalue(),
        "summary": describe(summary(store), store.path),
        "standing": statistics_of(store).standing,
    }
    assert {name for name, said in shown.items() if not re.search("(>|&gt;) 99.99%", said)} == set()
    assert {name for name, said in shown.items() if re.search(r"100\.0+%[^\"]", said)} == set()


def test_moments():
    noon = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))
    assert text.moment(noon, noon + 60) == "12:00"
    assert text.moment(noon, noon + 86400) == "2026-03-05 12:00"


# -- the progress ---------------------------------------------------------------------------------


def test_the_time_left_runs_down_while_a_layer_is_under_way():
    progress = Progress()
    for event in events_of("2x7", 90):
        progress(event, 1000.0)
    progress(LayerStarted(90, 9), 1000.0)
    first = progress.estimate.first
    begun, half, late = (progress.left(1000 + part * first) for part in (0, 0.5, 100))
    assert begun.seconds - half.seconds == pytest.approx(first / 2)
    assert late.seconds == pytest.approx(begun.seconds - first)  # what comes after it is not less
    assert "under way for 12.0 s" in describe_step(progress, 1012.0)
    progress(TaskFinished(90, 2, 9, 1000), 1003.0)
    assert describe_step(progress, 1012.0) == "layer 90: 2 of 9 tasks, 1,000 states, 12.0 s"


def test_how_sure_it_is_said_to_be():
    said = []
    for layers in (5, 50, 90):
        progress = Progress()
        for event in events_of("2x7", layers):
            progress(event, 0.0)
        said.append(in_a_line(time_left_words(progress.left(0.0))))
    assert said[0] == "too early to tell"
    assert re.fullmatch(r"\d+ (s|min) to \d+ min \(the largest layers are still to come\)", said[1])
    assert re.fullmatch(r"about \d+ s \(\d+ s to \d+ s\)", said[2])


def test_after_the_peak_nothing_larger_is_said_to_come():
    sizes = [states for states, _, _ in RECORDED["2x7"]]
    peak = sizes.index(max(sizes))
    said = {}
    for layers in range(40, peak + 8):
        progress = Progress()
        for event in events_of("2x7", layers):
            progress(event, 0.0)
        said[layers - 1] = time_left_words(progress.left(0.0))[1]
    assert said[39] == "the largest layers are still to come"
    assert said[peak + 2] == "among the largest layers so far"
    assert said[peak + 3] == "among the largest layers so far"
    assert "still to come" not in "".join(said[depth] for depth in range(peak + 1, peak + 7))


def left_of(least, likely, most, passed=True):
    return TimeLeft(likely, least, most, 9, 9, 9, passed, rising=True)


def test_when_it_ends():
    noon = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))

    def said(*left):
        return in_a_line(end_words(left_of(*left), noon))

    hour = 3600
    assert said(60, 120, 300) == "about 12:02 (12:01–12:05)"
    assert said(2, 3, 4) == "about 12:00"
    assert said(11 * hour, 13 * hour, 14 * hour) == (
        "about 2026-03-06 01:00 (23:00–2026-03-06 02:00)"
    )
    assert said(13 * hour, 13 * hour, 15 * hour) == (
        "about 2026-03-06 01:00 (2026-03-06 01:00–03:00)"
    )
    assert said(60, 120, 300, False) == "between 12:01 and 12:05"
    assert said(0, 1, 1.5) == said(60, 1e14, 1e20) == ""
    assert end_words(None, noon) == ("", "")


def test_a_progress_that_tells_the_end_tells_it_everywhere(tmp_path, held, monkeypatch):
    """The run is fast, so that its end is near; here it is not."""
    store = run(tmp_path / "run", until=20)
    held(store.path)
    monkeypatch.setattr(Progress, "left", lambda progress, now=None: left_of(3600, 7200, 9000))
    value = json.loads(invoke("status", store.path, "--json").stdout)
    ends = {name: datetime.fromisoformat(end) for name, end in value["ends"].items()}
    assert (ends["likely"] - ends["least"]).total_seconds() == 3600
    assert (ends["most"] - ends["likely"]).total_seconds() == 1800
    assert abs(ends["likely"].timestamp() - 7200 - time.time()) < 3600
    assert value["left"]["seconds"] == 7200
    assert f"\n  ends: {value['in_words']['ends']}\n" in invoke("status", store.path).stdout + "\n"
    page = status_page_module.status_page(progress_of(store))
    assert re.search(r"<dt>ends</dt><dd>about [-\d: ]+ <small>[-\d: ]+–", page)
    console = Console(file=io.StringIO(), width=100)
    console.print(ProgressTable(progress_of(store)))
    assert re.search(r"\nends: about [-\d: ]+ \([-\d: ]+–[-\d: ]+\)", console.file.getvalue())


def test_a_stopped_run_says_how_to_resume_and_how_long_it_takes(tmp_path):
    config, path = config_of(tmp_path)
    invoke("run", config, "--set", "cluster.kind=serial", "--until", "12")
    command = f"python -m frontier run {shlex.quote(str(config))}"
    said = invoke("status", config).stdout
    assert f"\n  resume with: {command}\n" in said
    assert re.search(r"\n  time left: [^\n]+once it is resumed\)", said)
    again = f"python -m frontier run {shlex.quote(str(path))}"
    assert f"\n  resume with: {again}\n" in invoke("status", path).stdout
    assert json.loads(invoke("status", config, "--json").stdout)["resume"] == command
    page = (path / "status.html").read_text()
    assert "Run it again to resume." in page
    assert "<dt>time left</dt>" in page
    invoke("run", path)
    assert "resume" not in invoke("status", config).stdout
    assert "time left" not in (path / "status.html").read_text()


def test_what_is_left_of_a_stopped_run():
    """Not less by the time that it stands, and not nothing as it got as far as was asked."""
    progress = Progress()
    for event in events_of("2x7", 90):
        if isinstance(event, RunStarted):
            event = dataclasses.replace(event, until=89)
        progress(event, 0.0)
    progress(RunFinished(89, progress.states, False, 1.0), 0.0)
    assert progress.left(1e9).seconds == progress.estimate.seconds > 0


def layers_of(progress):
    return [(of.depth, of.states, of.form, of.seconds, of.bytes) for of in progress.layers]


def test_a_progress_from_files_is_that_from_events(tmp_path):
    heard = Progress()
    store = run(tmp_path / "run", until=30, listeners=[heard])
    read = progress_of(store)
    assert read.started == heard.started
    assert read.ended == heard.ended
    assert layers_of(read) == layers_of(heard)
    assert (read.depth, read.states, read.disk) == (30, heard.states, heard.disk)
    again = Progress()
    store = run(tmp_path / "run", until=33, listeners=[again])
    assert again.depth == 33
    assert len(again.layers) == 34
    assert layers_of(progress_of(store)) == layers_of(again)
    assert progress_of(store).states == again.states == store.states


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "rubbish", "foreign"])
def test_a_log_that_is_lost_or_cut(tmp_path, damage):
    store = run(tmp_path / "run", until=20)
    log = tmp_path / "run" / "events.jsonl"
    whole = log.read_bytes()
    if damage == "missing":
        log.unlink()
    else:
        log.write_bytes(
            {
                "empty": b"",
                "cut": whole[: len(whole) // 2 + 7],
                "rubbish": b"\xff\x00{]\n" + whole,
                "foreign": b'[1]\n{"event": "Unheard", "time": 1}\n{"event": "RunStarted"}\n',
            }[damage]
        )
    progress = progress_of(store)
    assert progress.depth == 20
    assert [layer.depth for layer in progress.layers] == list(range(21))
    assert progress.states == store.states
    assert "stopped" in invoke("status", tmp_path / "run").stdout


# -- status ---------------------------------------------------------------------------------------


def test_status_of_each_state(tmp_path, held):
    store = run(tmp_path / "run", until=20)
    assert (
        describe_status(status_of(store)).splitlines()[0].startswith("2x4: 2×4 tiles, stopped at ")
    )
    assert "ends" not in describe_status(status_of(store))
    held(store.path)
    value = status_of(store)
    since = text.moment(time.time() - 3 * 3600)
    assert value["state"] == "under way"
    assert value["holder"] == f"process 7 on host there since {since} (for 3 hours)"
    first = describe_status(value).splitlines()[0]
    assert first == f"2x4: 2×4 tiles, under way, by {value['holder']}"
    assert "  time left: " in describe_status(value)
    assert json.loads(invoke("status", store.path, "--json").stdout)["in_words"]["time left"]


def test_a_run_that_has_no_layer_yet(tmp_path, held):
    """It waits for its workers, and there is no depth to speak of."""
    whole = run(tmp_path / "whole", until=0)
    store = RunStore.create(tmp_path / "run", whole.identity)
    held(store.path)
    watched = status_module.Watched(store.path)
    watched.look()
    assert watched.line().startswith("2x4: under way, no layer is committed yet, 0 of ")
    assert status_of(store)["depth"] is watched.progress.depth is None
    page = status_page_module.status_page(watched.progress)
    stopped = PlainProgress(io.StringIO())
    start = next(events_of("2x7", 0))
    for event in (start, RunStopped(-1, "no worker came", 1.0)):
        stopped(event)
    report = invoke("report", whole.path, store.path).stdout
    said = describe_status(status_of(store))
    for shown in (page, said, watched.line(), stopped._file.getvalue(), report):
        assert "depth -1" not in shown
        assert "depth None" not in shown
    assert "no layer is committed yet" in page
    assert "no layer is committed yet" in said
    assert ">-1<" not in page


def test_status_of_a_complete_run(tmp_path):
    value = status_of(run(tmp_path / "run"))
    assert value["state"] == "complete"
    assert "left" not in value


def test_status_shows_the_dashboard_while_the_run_is_under_way(tmp_path, held):
    store = run(tmp_path / "run", until=20)
    log = store.path / "events.jsonl"
    log.write_text(log.read_text().replace('"dashboard": null', '"dashboard": "http://here/"'))
    assert "http://here/" not in describe_status(status_of(store))
    held(store.path)
    assert "  dashboard: http://here/" in describe_status(status_of(store))


def test_status_says_why_a_run_stopped(tmp_path):
    def stop(event):
        if isinstance(event, LayerFinished):
            raise Stopped("enough")

    with pytest.raises(Stopped):
        run(tmp_path / "run", listeners=[stop])
    assert "stopped at " in invoke("status", tmp_path / "run").stdout
    assert ": enough\n" in invoke("status", tmp_path / "run").stdout


def test_status_of_a_killed_run(tmp_path):
    log = run(tmp_path / "run", until=20).path / "events.jsonl"
    log.write_text("".join(line for line in log.open() if '"RunFinished"' not in line))
    said = invoke("status", tmp_path / "run").stdout
    assert "stopped: killed, or its machine failed" in said
    # The log has the last start alone, or is not there at all.
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if '"RunStarted"' in line))
    assert "stopped: killed, or its machine failed" in invoke("status", tmp_path / "run").stdout
    log.unlink()
    assert "stopped: its log is lost" in invoke("status", tmp_path / "run").stdout


def test_nothing_is_lost_of_a_run_that_ended_during_its_start(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise Stopped("no cluster")

    monkeypatch.setattr("frontier.search.driver.executor_of", fails)
    with pytest.raises(Stopped):
        run(tmp_path / "run")
    said = invoke("status", tmp_path / "run").stdout
    assert "it ended during its start, before the first layer" in said
    assert "log is lost" not in said


def test_a_run_on_a_host_that_cannot_be_seen_may_be_under_way(tmp_path):
    """Not every file system carries locks to other hosts; the lock file says who wrote last."""
    store = run(tmp_path / "run", until=20)
    log = store.path / "events.jsonl"
    whole = log.read_text()
    log.write_text("".join(line for line in log.open() if '"RunFinished"' not in line))
    (store.path / "lock").write_text(json.dumps({"host": "there", "process": 7, "since": 1}))
    said = "killed, or under way on host there, which cannot be seen from here"
    assert f"stopped: {said}" in invoke("status", store.path).stdout
    assert json.loads(invoke("status", store.path, "--json").stdout)["reason"] == said
    log.write_text(whole)
    assert "depth 20 reached as asked" in invoke("status", store.path).stdout


def test_a_run_that_ends_while_one_looks(tmp_path, monkeypatch):
    """When the lock is free, what was written before is read, not what stood there earlier."""

    def until(depth):
        def ends(lock):
            monkeypatch.undo()
            run(lock.parent, until=depth)
            return False

        monkeypatch.setattr("frontier.report.progress.is_held", ends)

    store = run(tmp_path / "run", until=5)
    until(9)
    value = status_of(store)
    assert (value["state"], value["depth"]) == ("stopped", 9)
    assert value["reason"] == "depth 9 reached as asked"
    until(None)
    assert (status_of(store)["state"], status_of(store)["depth"]) == ("complete", 36)
    part = run(tmp_path / "b" / "run", until=5)
    until(None)
    figures = statistics_of(part)
    assert (figures.state, figures.depth) == ("complete", 36)


def test_the_states_are_the_same_everywhere(tmp_path):
    path = tmp_path / "run"

    def states():
        watched = status_module.Watched(path)
        watched.look()
        return {
            json.loads(invoke("status", path, "--json").stdout)["state"],
            json.loads(invoke("report", path, "--json").stdout)["state"],
            watched.line().split(",")[0].removeprefix("2x4: "),
            re.search(r'class="state.*?">(.*?)<', (path / "status.html").read_text())[1],
        }

    run(path, until=5)
    assert states() == {"stopped"}
    assert "Stopped: depth 5 reached as asked." in (path / "status.html").read_text()
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
    next((path / folder).glob("c.*")).unlink()
    said = invoke("status", path, code=4).stdout
    assert said.startswith("2x4: 2×4 tiles, complete\n")
    what = f"{path / folder} lacks 1 of its 1 part"
    assert f"\n  damaged: {what}; `verify {path}` tells more\n" in said
    value = json.loads(invoke("status", path, "--json", code=4).stdout)
    assert value["damaged"] == [what]
    assert "damaged: " in invoke("status", path, "--watch", code=4).stdout


def test_a_layer_that_is_a_link(tmp_path):
    path = tmp_path / "run"
    run(path)
    (path / "layers/0036").rename(tmp_path / "elsewhere")
    (path / "layers/0036").symlink_to(tmp_path / "elsewhere")
    said = invoke("status", path, code=4).stdout
    assert f"damaged: {path / 'layers/0036'} is a link" in said


def test_a_file_of_somebody_else_s_is_no_part(tmp_path):
    """Not even one that is called like one."""
    path = tmp_path / "run"
    run(path, until=9)
    (path / "layers/0009/c.7").write_bytes(b"")
    assert "damaged" not in invoke("status", path).stdout
    assert run(path).complete


def test_a_list_that_is_lost_is_not_replaced_by_parts_of_the_layer_under_way(tmp_path):
    path = tmp_path / "run"
    store = run(path, until=9)
    (path / "layers/0008/c.0").unlink()
    store.layer_path(10).mkdir()
    for name in ("c.0.0.0", "c.1.0.0"):
        (store.layer_path(10) / name).write_bytes(b"")
    assert store.missing() == [f"{path / 'layers/0008'} lacks 1 of its 1 part"]


def test_a_layer_that_is_forgotten_while_one_looks_is_not_missing(tmp_path):
    path = tmp_path / "run"
    before = run(path, until=5)
    run(path, until=9)
    assert not set(before.stored_depths()) & set(RunStore.open(path).stored_depths())
    assert before.missing() == []


def test_a_newer_format_is_said_with_the_remedy(tmp_path):
    run(tmp_path / "run")
    identity = read_sealed(tmp_path / "run" / "run.json")
    for format, remedy in ((99, "install a newer frontier"), (1, "use the version that wrote it")):
        write_sealed(tmp_path / "run" / "run.json", {**identity, "format": format})
        said = invoke("status", tmp_path / "run", code=FormatError.exit_code).stderr
        assert f"format {format}" in said
        assert remedy in said
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
    assert said == f"frontier: 2x3 is not begun; begin with: {begin}\n"
    assert not path.exists()


def test_a_run_that_has_not_begun_is_waited_for(tmp_path, monkeypatch):
    config, path = config_of(tmp_path)
    sets = "--set", "cluster.kind=serial"
    monkeypatch.setattr(
        status_module.watch, "__defaults__", (lambda _: invoke("run", config, *sets),)
    )
    first, second, *_ = invoke("status", config, "--watch").stdout.splitlines()
    assert first.endswith("runs: not begun")
    assert "2x3: complete, depth 21" in second
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


# -- following ------------------------------------------------------------------------------------


def follow(paths, *steps):
    """Watch, and between two looks take a step."""
    todo = iter(steps)
    status_module.watch(paths, 0, lambda _: next(todo, pytest.fail)())


def test_a_run_is_followed_to_its_end(tmp_path, capsys):
    path = tmp_path / "run"
    run(path, until=5)
    follow([path], lambda: run(path, until=9), lambda: None, lambda: run(path))
    lines = capsys.readouterr().out.splitlines()
    depths = [int(re.search(r"depth (\d+)", line)[1]) for line in lines[:3]]
    assert depths == [5, 9, 36]
    assert ["stopped" in line for line in lines[:3]] == [True, True, False]
    assert lines[3].endswith(", complete")  # nothing changed at the look in between


def test_a_family_is_followed_to_its_end(tmp_path, capsys):
    config = CONFIGS / "3x3-diameter.toml"
    sets = [f"--set={s}" for s in settings(tmp_path / "run", "puzzle.rows=2", "puzzle.columns=3")]
    members = load_config(config, settings(tmp_path / "run", "puzzle.rows=2", "puzzle.columns=3"))
    first, second = members.members
    api.run(api.plan(first))
    said = invoke("status", tmp_path / "run").stdout
    assert "complete" in said.splitlines()[0]
    assert f"{second.path.name}: not begun" in said
    from frontier.find_runs import paths_of

    paths = paths_of(str(tmp_path / "run"))
    assert paths == [first.path, second.path]
    follow(paths, lambda: invoke("run", config, *sets))
    assert capsys.readouterr().out.count(", complete\n") == 2


def test_a_deleted_run_ends_the_watching(tmp_path):
    path = tmp_path / "run"
    run(path, until=5)
    with pytest.raises(InputError, match="gone: the run was deleted"):
        follow([path], lambda: shutil.rmtree(path))


def test_files_that_are_replaced_while_one_reads(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run"
    run(path, until=5)
    whole = RunStore.open
    failures = iter([CorruptRunError("half"), InputError("not there"), None])

    def flaky(place):
        if error := next(failures, None):
            raise error
        return whole(place)

    monkeypatch.setattr(RunStore, "open", flaky)
    monkeypatch.setattr(status_module, "progress_of", lambda store: progress_of(store))
    follow([path], lambda: None, lambda: None, lambda: (monkeypatch.undo(), run(path)))
    assert "complete" in capsys.readouterr().out


def test_ctrl_c_ends_the_watching_well(tmp_path, monkeypatch):
    run(tmp_path / "run", until=5)

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(status_module.watch, "__defaults__", (interrupted,))
    assert "stopped, depth 5" in invoke("status", tmp_path / "run", "--watch").stdout


def test_following_in_a_terminal(tmp_path, monkeypatch):
    path = tmp_path / "run"
    run(path, until=30)
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="truecolor")
    monkeypatch.setattr(status_module, "console_on", lambda: console)
    follow([path], lambda: run(path))
    shown = console.file.getvalue()
    assert "2x4: 2×4 tiles, stopped" in shown
    assert "2x4: 2×4 tiles, complete" in shown


# -- the terminal ---------------------------------------------------------------------------------


def picture(width, layers=50, **options):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, **options)
    progress = Progress()
    for event in events_of("2x7", layers, "http://here/"):
        progress(event)
    console.print(ProgressTable(progress))
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue()).splitlines()


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 200])
def test_columns_drop_rather_than_wrap(width):
    lines = picture(width)
    names, rows = lines[0].split(), lines[1:13]
    assert [row.split()[0] for row in rows] == [str(depth) for depth in range(38, 50)]
    assert len({len(row.rstrip()) for row in rows}) == 1
    assert max(map(len, lines)) <= width
    assert names[:2] == ["depth", "states"]
    assert not any("…" in line for line in lines)


def test_wider_terminals_show_more():
    columns = [picture(width)[0] for width in (20, 30, 40, 60, 80)]
    assert [len(line.split()) for line in columns] == sorted(len(line.split()) for line in columns)
    assert columns[-1].split() == [
        "depth",
        "states",
        "so",
        "far",
        "share",
        "rate",
        "time",
        "written",
    ]


def test_the_time_left_stands_below_the_table():
    assert any(line.startswith("time left: ") for line in picture(80))
    assert any(line.startswith("last depth: about ") for line in picture(80))


def test_the_dashboard_is_a_link_in_a_terminal_and_an_address_elsewhere():
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="truecolor")
    shown, plain = LiveProgress(console), PlainProgress(io.StringIO())
    for event in (*events_of("2x7", 50, "http://here/"), RunStopped(49, "enough", 1.0)):
        shown(event)
        plain(event)
    assert re.search(r"\x1b]8;[^;]*;http://here/\x1b", console.file.getvalue())
    said = plain._file.getvalue()
    assert "dashboard: http://here/\n" in said
    assert "\x1b" not in said
    assert "left too early to tell" not in said
    assert re.search(r"\n   49 +[\d,]+ .*  left .* to come", said)


def test_the_rate_of_a_line_is_that_since_the_line_before():
    progress = PlainProgress(io.StringIO())
    progress(RunStarted("a", "", "", -1, 0, 10**9, 1, False))
    layers = [(1, 1.0, 1.0), (5000, 0.5, 1.5), (1000, 0.5, 2.0), (7, 0.1, 2.1), (1, 0.1, 2.2)]
    for depth, (states, seconds, elapsed) in enumerate(layers):
        progress(LayerFinished(depth, states, 0, "list", seconds, elapsed, 0, 0))
    progress(RunFinished(4, 6009, False, 2.2))
    lines = progress._file.getvalue().splitlines()
    assert [(line.split()[0], line.split()[3]) for line in lines[2:5]] == [
        ("0", "1/s"), ("2", "6"), ("4", "40/s"),
    ]  # fmt: skip
    assert " 6 k/s " in lines[3]


def test_plain_lines_in_a_long_layer(monkeypatch):
    file = io.StringIO()
    progress = PlainProgress(file)
    for event in events_of("2x7", 50):
        progress(event)
    before = file.getvalue()
    progress(LayerStarted(50, 9))
    progress(TaskFinished(50, 1, 9, 5))
    assert file.getvalue() == before
    monkeypatch.setattr(PlainProgress, "TASK_SECONDS", 0.0)
    progress(TaskFinished(50, 2, 9, 10))
    assert "layer 50: 2 of 9 tasks, 10 states" in file.getvalue()


def test_a_terminal_that_goes_away():
    """What was to be shown is lost, and the run goes on."""
    lost = []

    class Gone(io.StringIO):
        def write(self, text):
            lost.append(text)
            raise OSError(5, "Input/output error")

    progress = LiveProgress(Console(file=Gone(), force_terminal=True, width=80))
    for event in (*events_of("2x5", 30), RunFinished(55, STATES["2x5"], True, 1.0)):
        progress(event)
    assert lost


@pytest.mark.parametrize("folder", ["[lab]", "[b]x[", ":smile:"])
def test_a_path_is_printed_as_it_is(tmp_path, monkeypatch, folder):
    """Not as markup: it might be lost, or end the search."""
    for name in ("FORCE_COLOR", "TTY_INTERACTIVE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("COLUMNS", "300")
    path = tmp_path / folder / "[/b]run"
    file = io.StringIO()
    progress = LiveProgress(console_on(file))
    run(path, until=5, listeners=[progress])
    assert f"{path}" in file.getvalue()
    other = tmp_path / "other" / "[/b]run"
    run(other, until=5)
    said = invoke("report", path, other).stdout
    assert f"2x4 in {folder} and 2x4 in other" in said.splitlines()[0]
    assert said.count(f"2x4 in {folder}") == 4  # in the title and in the heads of the tables


# -- as processes ---------------------------------------------------------------------------------


def process(*arguments, shell="", **environment):
    command = [sys.executable, "-m", "frontier", *map(str, arguments)]
    if shell:
        command = ["bash", "-o", "pipefail", "-c", f'"$@" {shell}', "bash", *command]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, env=environment)


def test_an_ascii_terminal(tmp_path):
    sets = [f"--set={s}" for s in settings(tmp_path / "run")]
    done = process("run", CONFIGS / "2x4.toml", *sets, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"2x4: 2x4 tiles" in done.stdout
    assert b"2x4: 2x4 tiles, 20,160 states" in done.stderr
    (done.stdout + done.stderr).decode("ascii")
    done = process("status", tmp_path / "run", PYTHONIOENCODING="iso8859-2")
    assert "2×4" in done.stdout.decode("iso8859-2")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize(("command", "unbuffered"), [("status", ""), ("--help", "1")])
def test_an_output_that_is_full(tmp_path, command, unbuffered):
    if command == "status":
        run(tmp_path / "run", until=5)
    named = [tmp_path / "run"] if command == "status" else []
    done = process(command, *named, shell=f"> {FULL}", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == b"frontier: standard output: No space left on device\n"


def test_an_error_of_another_file_is_not_that_of_the_output(tmp_path, monkeypatch):
    run(tmp_path / "run", until=5)

    def broken(path):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr("frontier.report.status.disk_bytes", broken)
    result = CliRunner().invoke(main, ["status", str(tmp_path / "run")])
    assert result.exit_code == 3
    assert "the system failed to read or write ([Errno 5] Input/output error" in result.stderr
    assert "standard output" not in result.output


def test_closed_streams_and_windows_line_ends(tmp_path):
    config = tmp_path / "w.toml"
    text = (CONFIGS / "2x4.toml").read_text().replace("\n", "\r\n")
    config.write_bytes(b"\xef\xbb\xbf" + text.encode())
    sets = [f"--set={s}" for s in settings(tmp_path / "run")]
    done = process("run", config, *sets, shell=">&- 2>&-")
    assert done.returncode == 0
    assert (done.stdout, done.stderr) == (b"", b"")
    done = process("status", tmp_path / "run", shell="| true")
    assert b"Traceback" not in done.stderr
    assert b"Error" not in done.stderr


# -- the page -------------------------------------------------------------------------------------


def test_the_page_is_kept(tmp_path):
    path = tmp_path / "run"
    run(path, until=20)
    assert "depth 20 reached as asked" in (path / "status.html").read_text()
    run(path)
    page = (path / "status.html").read_text()
    assert "http-equiv" not in page
    assert len(re.findall(r'class="bar"', page)) == 37
    assert {entry.name for entry in path.iterdir()} <= OWN_NAMES
    assert not re.search(r'(src|href)="|@import|url\(', page)


@pytest.fixture
def pages(monkeypatch):
    """The pages of a run as they are written, which here is often."""
    written = queue.Queue()
    monkeypatch.setattr(status_page_module.StatusPage, "SECONDS", 0.01)
    monkeypatch.setattr(status_page_module, "write_text", lambda _, text: written.put(text))
    return written


def wait_for(pages, words):
    """The next page that says something."""
    while words not in (page := pages.get(timeout=60)):
        pass
    return page


def writers():
    return [thread for thread in threading.enumerate() if thread.name == "status.html"]


def test_the_page_shows_a_layer_when_it_is_committed_and_when_it_begins(tmp_path, pages):
    """Not when its first task is done, which may be hours later."""
    *events, started = [*events_of("2x7", 30), LayerStarted(30, 9)]
    with status_page_module.StatusPage(tmp_path) as page:
        for event in events:
            page(event)
        shown = wait_for(pages, 'data-depth="29"')
        assert 'http-equiv="refresh"' in shown
        page(started)
        wait_for(pages, "Now: layer 30: 9 tasks, under way for ")
        page(RunStopped(29, "enough", 1.0))
        assert "Stopped: enough." in list(pages.queue)[-1]
        assert not writers()


def test_the_page_is_refreshed_in_a_long_layer(tmp_path, pages, monkeypatch):
    monkeypatch.setattr(status_page_module.StatusPage, "SECONDS", 0.01)
    with status_page_module.StatusPage(tmp_path) as page:
        for event in (*events_of("2x7", 30), LayerStarted(30, 9)):
            page(event)
        wait_for(pages, "Now: layer 30")
        wait_for(pages, "Now: layer 30")
    assert not writers()


def test_the_page_is_left_when_a_run_fails_without_a_word(tmp_path, pages):
    def fail(event):
        if isinstance(event, LayerFinished | RunStopped):
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run(tmp_path / "run", listeners=[fail])
    assert not writers()


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(28, "No space left on device"), "(No space left"), (KeyError("k"), "(KeyError")],
)
def test_a_page_that_cannot_be_written_does_not_stop_the_run(
    tmp_path, monkeypatch, capsys, error, words
):
    failed = threading.Event()

    def full(path, text):
        failed.set()
        raise error

    monkeypatch.setattr(status_page_module, "write_text", full)
    monkeypatch.setattr(status_page_module.StatusPage, "SECONDS", 0.01)

    def wait(event):
        if isinstance(event, LayerFinished) and event.depth == 30:
            assert failed.wait(60)

    assert run(tmp_path / "run", listeners=[wait]).complete
    said = capsys.readouterr().err
    assert said.count(f"status.html cannot be written {words}") == 1


def test_starting_a_run_loads_nothing_that_draws():
    command = "import sys, frontier.cli; assert not {'jinja2', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", command], check=True)
