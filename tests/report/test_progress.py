"""How far a run is, in words and numbers."""

import dataclasses
import io
import json
import re
import shlex
import time
from datetime import datetime

import pytest
from rich.console import Console

from frontier import text
from frontier.layers.estimate import TimeLeft
from frontier.layers.events import LayerFinished, LayerStarted, TaskFinished
from frontier.layers.progress import LayerProgress, time_left_words
from frontier.layers.run import LayerRun
from frontier.layers.summary import describe, summary
from frontier.report import status_page as status_page_module
from frontier.report.displays import PlainProgress
from frontier.report.displays import shown as table_of
from frontier.report.statistics import statistics_of
from frontier.report.status import describe_status, line, status_of
from frontier.runs.events import Started, Stopped
from frontier.runs.progress import progress_of
from tests.support.commands import invoke
from tests.support.ledgers import line_of
from tests.support.recorded_runs import RECORDED, config_of, events_of, run

# -- words ----------------------------------------------------------------------------------------
from tests.support.start_events import layers_started
from tests.support.sweeps import swept


def test_durations():
    hour = 3600
    assert text.span(47 * hour) == "47 h 00 min"
    assert text.span(76 * hour + 60) == "3 d 04 h"
    assert [text.span(s * hour) for s in (23_999, 24_000, 1e9)] == [
        "999 d 23 h", "3 years", "114,077 years",
    ]  # fmt: skip
    assert [text.rough(s) for s in (40.4, 99.6, 5940, 40 * hour, 72 * hour, 1e8)] == [
        "40 s", "2 min", "99 min", "40 h", "3 d", "3 years",
    ]  # fmt: skip
    ranges = (40, 90), (40, 180), (150, 500), (0.2, 10), (1e8, 1e9)
    assert [text.rough_range(*some) for some in ranges] == [
        "40 to 90 s", "40 s to 3 min", "2 to 8 min", "0 to 10 s", "3 to 32 years",
    ]  # fmt: skip
    assert [text.age(s) for s in (-1, 1, 59.6, 3599, 3600, 50 * hour)] == [
        "0 seconds", "1 second", "1 minute", "59 minutes", "1 hour", "2 days",
    ]  # fmt: skip


def test_numbers_are_not_rounded_over_their_unit():
    assert [text.span(s) for s in (59.94, 59.97, 3599.6)] == ["59.9 s", "1 min 00 s", "1 h 00 min"]
    assert [text.size(n) for n in (999, 99_940, 99_960, 999_400, 999_600)] == [
        "999 B", "99.9 kB", "100 kB", "999 kB", "1.0 MB",
    ]  # fmt: skip
    assert [text.rate(n, 1) for n in (999.4, 999.6, 999_600)] == ["999/s", "1.00 k/s", "1.00 M/s"]
    assert [text.rate(n, 1) for n in (1.04e9, 99.96e6, 9.26e6)] == [
        "1.04 G/s",
        "100 M/s",
        "9.26 M/s",
    ]
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
    store = LayerRun.create(tmp_path / "most", identity)
    store.commit([line_of(0, 2 * 10**9 - 1, seconds=1.0)], complete=False)
    held(store.path)
    progress = progress_of(store)
    rows, console = (
        PlainProgress(io.StringIO(), LayerProgress()),
        Console(file=io.StringIO(), width=200),
    )
    states = 2 * 10**9 - 1
    rows(layers_started("most", "", "", states + 1, 1))
    rows(LayerFinished(line_of(0, states, seconds=1.0), states, 1.0, 0))
    rows(Stopped(1.0, "enough"))
    console.print(table_of([progress], console))
    shown = {
        "status": describe_status(status_of(store.path)),
        "line": line(progress),
        "page": status_page_module.status_page(progress),
        "live": console.file.getvalue(),
        "summary": describe(summary(store), store.path),
        "standing": statistics_of(store).standing,
    }
    assert {name for name, said in shown.items() if not re.search("(>|&gt;) 99.99%", said)} == set()
    assert rows._file.getvalue().splitlines()[-1].split()[4] == "99.99"
    assert {name for name, said in shown.items() if re.search(r"100\.0+%[^\"]", said)} == set()


def test_moments():
    noon = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))
    assert text.moment(noon, noon + 60) == "12:00"
    assert text.moment(noon, noon + 86400) == "2026-03-05 12:00"


# -- the progress ---------------------------------------------------------------------------------


def test_the_time_left_runs_down_while_a_layer_is_under_way():
    progress = LayerProgress()
    for event in events_of("2x7", 90):
        progress(event, 1000.0)
    progress(LayerStarted(90, 9), 1000.0)
    whole = progress.left(1000.0)
    first = whole.first
    begun, half, late = (progress.left(1000 + part * first) for part in (0, 0.5, 100))
    assert begun.seconds - half.seconds == pytest.approx(first / 2)
    assert late.seconds == pytest.approx(begun.seconds - first)  # what comes after it is not less
    assert begun == whole
    assert progress.next_layer_words(1012.0) == "0 of 9 tasks done, under way for 12.0 s"
    progress(TaskFinished(90, 2, 9, 1000), 1003.0)
    assert progress.next_layer_words(1012.0) == "2 of 9 tasks done, under way for 12.0 s"


def test_how_sure_it_is_said_to_be():
    said = []
    for layers in (5, 50, 90):
        progress = LayerProgress()
        for event in events_of("2x7", layers):
            progress(event, 0.0)
        said.append(time_left_words(progress.left(0.0)))
    assert said[0] == "too early to tell"
    assert re.fullmatch(r"\d+ to \d+ min \(the largest layers are still to come\)", said[1])
    assert re.fullmatch(r"about \d+ s \(\d+ to \d+ s\)", said[2])


def test_after_the_peak_nothing_larger_is_said_to_come():
    sizes = [states for states, _, _ in RECORDED["2x7"]]
    peak = sizes.index(max(sizes))
    said = {}
    for layers in range(40, peak + 8):
        progress = LayerProgress()
        for event in events_of("2x7", layers):
            progress(event, 0.0)
        said[layers - 1] = re.search(r"\((.*)\)", time_left_words(progress.left(0.0)))[1]
    assert said[39] == "the largest layers are still to come"
    assert said[peak + 2] == "among the largest layers so far"
    assert said[peak + 3] == "among the largest layers so far"
    assert "still to come" not in "".join(said[depth] for depth in range(peak + 1, peak + 7))


def left_of(least, likely, most, passed=True):
    return TimeLeft(likely, least, most, 9, 9, 9, passed, rising=True)


def test_when_it_ends(monkeypatch):
    noon = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))
    progress = LayerProgress()
    for event in events_of("2x7", 50):
        progress(event)

    def said(*left):
        made = left_of(*left) if left else None
        monkeypatch.setattr(LayerProgress, "left", lambda progress, now: made)
        return progress.figures(noon).get("ends")

    hour = 3600
    assert said(60, 120, 300) == "12:01–12:05"
    assert said(2, 3, 4) == "12:00"
    assert said(11 * hour, 13 * hour, 14 * hour) == "23:00–2026-03-06 02:00"
    assert said(13 * hour, 13 * hour, 15 * hour) == "2026-03-06 01:00–03:00"
    assert said(60, 1e14, 1e20) is said() is None
    assert said(0, 1, 1.5) == "12:00"
    progress(Stopped(1.0, "enough"))
    assert said(60, 120, 300) is None


def test_a_progress_that_tells_the_end_tells_it_everywhere(tmp_path, held, monkeypatch):
    """The run is fast, so that its end is near; here it is not."""
    store = run(tmp_path / "run", until=20)
    held(store.path)
    monkeypatch.setattr(LayerProgress, "left", lambda progress, now=None: left_of(3600, 7200, 9000))
    value = json.loads(invoke("status", store.path, "--json").stdout)
    ends = {name: datetime.fromisoformat(end) for name, end in value["ends"].items()}
    assert (ends["likely"] - ends["least"]).total_seconds() == 3600
    assert (ends["most"] - ends["likely"]).total_seconds() == 1800
    assert abs(ends["likely"].timestamp() - 7200 - time.time()) < 3600
    assert value["left"]["seconds"] == 7200
    assert f"\n  ends: {value['in_words']['ends']}\n" in invoke("status", store.path).stdout + "\n"
    page = status_page_module.status_page(progress_of(store))
    assert re.search(r"<dt>ends</dt><dd>[-\d: ]+–[-\d: ]+</dd>", page)
    console = Console(file=io.StringIO(), width=100)
    console.print(table_of([progress_of(store)], console))
    assert re.search(r"\nends: [-\d: ]+–[-\d: ]+\n", console.file.getvalue())


def test_a_stopped_run_says_that_it_is_stopped_and_how_to_resume(tmp_path):
    config, path = config_of(tmp_path)
    invoke("run", config, "--set", "cluster.kind=serial", "--until", "12")
    command = f"python -m frontier run {shlex.quote(str(config))}"
    said = invoke("status", config).stdout
    assert f"\n  resume with: {command}\n" in said
    assert "time left" not in said
    again = f"python -m frontier run {shlex.quote(str(path))}"
    assert f"\n  resume with: {again}\n" in invoke("status", path).stdout
    assert json.loads(invoke("status", config, "--json").stdout)["resume"] == command
    page = (path / "status.html").read_text()
    assert re.search(r"<strong>Stopped at [^<]*</strong>", page)
    assert f"<code>{again}</code>" in page
    assert "time left" not in page
    invoke("run", path)
    assert "resume" not in invoke("status", config).stdout
    assert "time left" not in (path / "status.html").read_text()


def test_what_is_left_of_a_stopped_run():
    """Not less by the time that it stands, and not nothing as it got as far as was asked."""
    progress = LayerProgress()
    for event in events_of("2x7", 90):
        if isinstance(event, Started):
            event = dataclasses.replace(event, request={"until": 89})
        progress(event, 0.0)
    assert progress.left(0.0).seconds > 0
    progress(Stopped(1.0, "depth 89 reached, as requested"), 0.0)
    assert progress.left(1e9) == progress.left(0.0)


def layers_of(progress):
    return [(of.depth, of.states, of.form, of.seconds, of.bytes) for of in progress.layers]


def test_a_progress_from_files_is_that_from_events(tmp_path):
    heard = LayerProgress()
    store = run(tmp_path / "run", until=30, listeners=[heard])
    read = progress_of(store)
    assert read.started == heard.started
    assert read.ended == heard.ended
    assert read.layers == store.records
    assert [layer.chain for layer in heard.layers] == [layer.chain for layer in store.records]
    assert layers_of(read) == layers_of(heard)
    assert (read.depth, read.states, read.disk) == (30, heard.states, heard.disk)
    again = LayerProgress()
    store = run(tmp_path / "run", until=33, listeners=[again])
    assert again.depth == 33
    assert len(again.layers) == 34
    assert layers_of(progress_of(store)) == layers_of(again)
    assert progress_of(store).states == again.states == store.states


@swept("damage", ["missing", "empty", "cut", "rubbish", "foreign"], few=["missing", "cut"])
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
                "foreign": b'[1]\n{"event": "Unheard", "time": 1}\n{"event": "Started"}\n',
            }[damage]
        )
    progress = progress_of(store)
    assert progress.depth == 20
    assert [layer.depth for layer in progress.layers] == list(range(21))
    assert progress.states == store.states
    assert "stopped" in invoke("status", tmp_path / "run").stdout
