"""A run as it is watched: in a terminal and in a pipe."""

import io
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rich.console import Console

from frontier.cli import main
from frontier.cosets.progress import Asking, CosetProgress
from frontier.layers.events import (
    LayerFinished,
    LayerMade,
    LayerStarted,
    StoringLayers,
    TaskFinished,
)
from frontier.layers.progress import LayerProgress
from frontier.report.console import console_on
from frontier.report.displays import LiveProgress, PlainProgress, say_details
from frontier.report.displays import shown as table_of
from frontier.report.status import headline
from frontier.runs.events import Compiling, Finished, Starting, Stopped, Stopping
from frontier.runs.kinds import KINDS, Entry
from frontier.storage.local import LocalStorage
from tests.support.commands import invoke
from tests.support.ledgers import line_of
from tests.support.recorded_runs import CONFIGS, events_of, run, settings

# -- the terminal ---------------------------------------------------------------------------------
from tests.support.start_events import cosets_started, layers_started
from tests.support.sweeps import swept


def picture(width, layers=50, height=60, **options):
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, **options
    )
    progress = LayerProgress()
    for event in events_of("2x7", layers, "http://here/"):
        progress(event)
    console.print(table_of([progress], console))
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue()).splitlines()


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 200])
def test_columns_drop_rather_than_wrap(width):
    lines = picture(width)
    head = next(at for at, line in enumerate(lines) if line.startswith("depth"))
    names, rows = lines[head].split(), lines[head + 1 : head + 11]
    assert [row.split()[0] for row in rows] == [str(depth) for depth in range(40, 50)]
    assert len({len(row.rstrip()) for row in rows}) == 1
    assert max(map(len, lines)) <= width
    assert names[:2] == ["depth", "states"]
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("width", [40, 80])
def test_low_terminals_show_fewer_layers_and_all_figures(width):
    tall = picture(width)
    for height in (15, 20, 25):
        lines = picture(width, height=height)
        layers = [line for line in lines if re.match(r" *\d+ ", line)]
        assert layers == [line for line in tall if line in layers][-len(layers) :]
        most = max(height - 3, len(tall) - 9)  # one layer at least, ten at most
        assert len(lines) == min(len(tall), most)
        assert [line for line in tall if ": " in line] == [line for line in lines if ": " in line]


def test_wider_terminals_show_more():
    columns = [
        next(line for line in picture(width) if line.startswith("depth"))
        for width in (20, 30, 40, 60, 80)
    ]
    assert [len(line.split()) for line in columns] == sorted(len(line.split()) for line in columns)
    assert columns[0].split() == ["depth", "states"]
    assert columns[-1].split() == ["depth", "states", "time", "rate"]


def test_a_bar_shows_the_share_of_the_states_found():
    progress = LayerProgress()
    progress(layers_started("a", "", "", 1000, 1))
    for depth, (states, bar) in enumerate([(1, 0), (249, 10), (500, 30), (250, 40)]):
        progress(LayerFinished(line_of(depth, states), 0, 1.0, 0))
        console = Console(file=io.StringIO(), width=80)  # where what is left has no colour
        console.print(table_of([progress], console))
        lines = console.file.getvalue().splitlines()
        at = next(at for at, line in enumerate(lines) if line.endswith("%"))
        assert lines[at].count("━") == bar
        assert lines[at].split()[-1] == f"{progress.states / 10:.2f}%"
        assert depth == 3 or lines[at + 1].startswith("time left: ")


def test_a_bar_shows_the_share_of_a_question():
    progress, console = CosetProgress(), Console(file=io.StringIO(), width=30)
    progress(cosets_started("a", "tiles", "/no/run", 2, None, 1))
    console.print(table_of([progress], console))
    assert "━" not in console.file.getvalue()
    progress(Asking("asking", 1, 9, 8, done=3, portions=4))
    console.print(table_of([progress], console))
    assert re.search(r"\n━{16}╸ +75\.00%\n", console.file.getvalue())


def test_the_time_left_stands_below_the_table():
    assert any(line.startswith("time left: ") for line in picture(80))
    assert any(line.startswith("last depth: about ") for line in picture(80))
    assert any(line.startswith("next layer: 50 (under way for ") for line in picture(80))


def live_on(width=80):
    """A display in a terminal, and what it writes to."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False)
    return LiveProgress(console, LayerProgress()), console.file


def test_the_dashboard_is_named_in_a_terminal_and_to_those_who_ask(capsys):
    display, file = live_on()
    begins, *others = events_of("2x7", 50, "http://here/")
    for event in (begins, *others, Stopped(1.0, "enough")):
        display(event)
    assert "dashboard: http://here/" in file.getvalue()
    say_details(begins)
    assert "  2 workers\n  dashboard: http://here/\n" in capsys.readouterr().err


STARTING = Starting("layers", "a", "tiles", "/no/run", False, 2, states=1000)
BEGUN = layers_started("a", "tiles", "/no/run", 1000, 2)


def test_what_happens_is_said_at_once(plain):
    """Each once, before there is a layer."""
    for event in (STARTING, BEGUN, Compiling(), Compiling(), Compiling(elsewhere=True)):
        plain(event)
    assert plain._file.getvalue().splitlines() == [
        "a: tiles, 1,000 states, in /no/run",
        "Starting 2 workers …",
        "Compiling kernels (up to half a minute the first time) …",
        "Workers load or compile their kernels (up to half a minute the first time) …",
    ]


def test_the_headline_says_what_a_run_of_any_kind_finds(monkeypatch):
    monkeypatch.setitem(KINDS, "paths", Entry("paths", "paths", "paths.kind"))
    cosets, other = (replace(STARTING, kind=kind, states=None) for kind in ("cosets", "paths"))
    assert headline(cosets) == "a: tiles, God's number, in /no/run"
    assert headline(other) == "a: tiles, in /no/run"


def test_a_terminal_shows_a_line_a_block_and_nothing_at_the_end():
    display, file = live_on()
    display(STARTING)
    assert file.getvalue().startswith("a: tiles, 1,000 states, in /no/run\n")
    assert re.search(r"Starting 2 workers … 0\.\d s", file.getvalue())
    display(BEGUN)
    display(LayerFinished(line_of(0, 1), 1, 1.0, 0))
    display(Finished(1.0))
    assert file.getvalue().count("a: tiles") == 1


def test_a_start_that_fails_leaves_nothing_in_place():
    display, file = live_on()
    display(STARTING)
    assert not file.getvalue().endswith("\x1b[?25h")
    display.close()
    assert "\x1b[?25h" in file.getvalue()  # the cursor is back


def test_kernels_are_being_made_ready_until_there_is_news():
    progress = LayerProgress()
    progress(BEGUN, 0.0)
    for event, words in (
        (Compiling(elsewhere=True), "workers load or compile their kernels (12.0 s)"),
        (LayerStarted(0, 9), "workers load or compile their kernels (12.0 s)"),
        (TaskFinished(0, 1, 9, 1), None),
        (Compiling(), "compiling kernels (12.0 s)"),
        (Compiling(), "compiling kernels (12.0 s)"),
        (Stopping(), "compiling kernels (12.0 s)"),
        (TaskFinished(0, 2, 9, 1), None),
    ):
        progress(event, 0.0)
        known = progress.figures(12.0)
        assert known.get("now") == words
        assert ("next layer" in known) == (words is None)


FOUR_LAYERS = [line_of(depth, 10**depth, seconds=1.0) for depth in range(4)]


@pytest.fixture
def clock(monkeypatch):
    """The time that displays read, as `now`."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def plain():
    """What is printed of a run."""
    return PlainProgress(io.StringIO(), LayerProgress())


def rows_of(plain):
    """The rows of the table that was printed, each as its values by the heads of the columns."""
    lines = plain._file.getvalue().splitlines()[1:]
    head, *rows = (line.split() for line in lines if not line.startswith("#"))
    assert all(len(row) == len(head) for row in rows)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_that_layers_are_stored_is_said_until_they_are():
    first, *others = FOUR_LAYERS
    progress = LayerProgress()
    progress(layers_started("a", "", "", 10**9, 1))
    for number, event in enumerate([
        LayerFinished(first, 1, 0.0, 0), *(LayerMade(layer, 1.0) for layer in others),
        StoringLayers(2), Stopping(), *(LayerFinished(layer, 0, 1.0, 7) for layer in others),
    ]):  # fmt: skip
        progress(event)
        known = progress.figures(time.time())
        assert (known.get("now") == "storing 2 layers") == (4 <= number <= 7)
        assert ("not stored yet" in known) == (1 <= number <= 7)


def test_layers_that_take_no_while_have_no_rows_of_their_own(clock, plain):
    plain(layers_started("a", "", "", 10**9, 1))
    for depth, clock.now in enumerate([1.0, 1.5, 2.0, 2.1, 2.2]):
        plain(LayerFinished(line_of(depth, 10**depth, seconds=0.1), 0, clock.now, 0))
    plain(Stopped(2.2, "depth 4 reached, as requested"))
    rows = rows_of(plain)
    assert [row["depth"] for row in rows] == ["0", "2", "4"]
    assert rows[-1] | {"clock": ""} == {
        "clock": "", "depth": "4", "states": "10000", "total": "11111", "percent": "0.00",
        "tasks": "-", "seconds": "2.2", "left": "-",
    }  # fmt: skip


def test_columns_stay_one_below_the_other(plain, clock):
    events = list(events_of("2x7", 100))
    for clock.now, event in enumerate(events):
        plain(event)
    lines = plain._file.getvalue().splitlines()[1:]
    assert len(lines) == 101
    assert len({len(line) for line in lines}) == 1
    assert not any("," in line for line in lines)


def test_a_table_of_a_search(plain, clock):
    plain = PlainProgress(io.StringIO(), CosetProgress())
    plain(cosets_started("a", "tiles", "/no/run", 2, None, 1))
    plain(Asking("making the tables"))
    for clock.now, done in ((1.0, 0), (2.0, 1), (61.0, 2)):
        plain(Asking("asking", 1, 9, 8, done=done, portions=4, left=7.0, positions=3))
    clock.now = 61.1
    plain(Asking("", 9, 9))
    plain(Finished(62.0))
    rows = rows_of(plain)
    assert [list(row.values())[1:5] for row in rows] == [
        ["1", "9", ">8", "0.00"], ["1", "9", ">8", "50.00"], ["9", "9", "-", "-"],
    ]  # fmt: skip
    assert [row["question_left"] for row in rows] == ["7", "7", "-"]
    assert rows[-1]["seconds"] == "62.0"


@pytest.mark.parametrize(
    ("asked", "command"),
    [((None, 1), "gods-number /no/run"), ((8, 3), "gods-number /no/run --at-most 8 --layers 3")],
)
def test_a_stopped_search_says_how_to_resume_and_no_time_left(asked, command):
    progress = CosetProgress()
    progress(cosets_started("a", "tiles", "/no/run", 2, *asked))
    progress(Asking("asking", 1, 9, 8, done=1, portions=4, left=7.0))
    assert "time left" in progress.figures(time.time())
    progress(Stopped(1.0, "interrupted"))
    assert progress.figures(time.time())["resume with"].endswith(command)
    assert "time left" not in progress.figures(time.time())


def test_layers_are_told_as_they_are_made_and_not_again_when_they_are_committed(clock, plain):
    console = Console(file=io.StringIO(), width=80)
    page = LayerProgress()
    layers = FOUR_LAYERS
    events = [layers_started("a", "", "", 10**9, 1), LayerFinished(layers[0], 1, 0.0, 0)]
    events += [LayerMade(layer, layer.depth) for layer in layers[1:]]
    for event in events:
        plain(event)
        page(event)
        clock.now += 1.0
    console.print(table_of([page], console))
    assert "not stored yet: 3 layers (from depth 1 on)" in console.file.getvalue()
    for layer in layers[1:]:
        plain(LayerFinished(layer, 0, clock.now, 7))
        page(LayerFinished(layer, 0, clock.now, 7))
    assert [row["depth"] for row in rows_of(plain)] == ["0", "1", "2", "3"]
    assert page.layers == layers
    assert page.committed == 4
    page(LayerMade(line_of(4, 10**4), 5.0))
    page(Stopped(5.0, "killed"))
    assert page.layers == layers


def test_a_stop_that_loses_layers_shows_none_again(clock, plain):
    plain(layers_started("a", "", "", 10**9, 1))
    plain(LayerFinished(FOUR_LAYERS[0], 1, 0.0, 0))
    for clock.now, layer in enumerate(FOUR_LAYERS[1:], 1):
        plain(LayerMade(layer, 1.0))
    plain(Stopped(5.0, "killed"))
    assert [row["depth"] for row in rows_of(plain)] == ["0", "1", "2", "3"]


def test_rows_in_a_long_layer(clock, plain):
    for clock.now, event in enumerate(events_of("2x7", 50)):
        plain(event)
    before = rows_of(plain)
    plain(LayerStarted(50, 9))
    plain(TaskFinished(50, 1, 9, 5))
    assert rows_of(plain) == before
    clock.now += 60
    plain(TaskFinished(50, 2, 9, 10))
    (row,) = rows_of(plain)[len(before) :]
    assert (row["depth"], row["states"], row["tasks"]) == ("50", "10", "2/9")
    assert int(row["total"]) == int(before[-1]["total"]) + 10


def test_a_layer_whose_tasks_end_together_is_shown_whole(clock, plain):
    first, *events = events_of("2x7", 6)
    plain(first)
    for layer in (event for event in events if isinstance(event, LayerFinished)):
        clock.now += 10
        for done in (1, 2):
            plain(TaskFinished(layer.layer.depth, done, 2, layer.layer.states // 2))
        plain(layer)
    assert [row["tasks"] for row in rows_of(plain)] == ["-"] * 6


def test_a_terminal_that_goes_away():
    """What was to be shown is lost, and the run goes on."""
    lost = []

    class Gone(io.StringIO):
        def write(self, text):
            lost.append(text)
            raise OSError(5, "Input/output error")

    progress = LiveProgress(Console(file=Gone(), force_terminal=True, width=80), LayerProgress())
    for event in (*events_of("2x5", 30), Finished(1.0)):
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
    progress = LiveProgress(console_on(file), LayerProgress())
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


@pytest.mark.sweep
def test_an_ascii_terminal(tmp_path):
    sets = [f"--set={s}" for s in settings(tmp_path / "run")]
    done = process("run", CONFIGS / "2x4.toml", *sets, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"2x4 tiles" in done.stdout
    assert b"2x4 tiles, 20,160 states" in done.stderr
    (done.stdout + done.stderr).decode("ascii")
    done = process("status", tmp_path / "run", PYTHONIOENCODING="iso8859-2")
    assert "2×4" in done.stdout.decode("iso8859-2")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@swept(("command", "unbuffered"), [("status", ""), ("--help", "1")], few=1)
def test_an_output_that_is_full(tmp_path, command, unbuffered):
    if command == "status":
        run(tmp_path / "run", until=5)
    named = [tmp_path / "run"] if command == "status" else []
    done = process(command, *named, shell=f"> {FULL}", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == b"frontier: standard output: No space left on device\n"


def test_an_error_of_another_file_is_not_that_of_the_output(tmp_path, monkeypatch):
    run(tmp_path / "run", until=5)

    def broken(path, folder=""):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(LocalStorage, "size", broken)
    result = CliRunner().invoke(main, ["status", str(tmp_path / "run")])
    assert result.exit_code == 3
    assert "the system failed to read or write (Input/output error: " in result.stderr
    assert "standard output" not in result.output


@pytest.mark.sweep
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
