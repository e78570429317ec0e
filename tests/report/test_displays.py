"""A run as it is watched: in a terminal and in a pipe."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from ledgers import line_of
from making import invoke
from report.watching import CONFIGS, STATES, events_of, run, settings
from rich.console import Console
from sweeps import swept

from frontier.cli import main
from frontier.report.console import console_on
from frontier.report.displays import LiveProgress, PlainProgress
from frontier.report.displays import shown as table_of
from frontier.report.figures import title
from frontier.runs.events import (
    Asking,
    Compiling,
    LayerFinished,
    LayerMade,
    LayerStarted,
    RunFinished,
    RunStarted,
    RunStopped,
    SearchStarted,
    Stopping,
    StoringLayers,
    TaskFinished,
)
from frontier.runs.progress import Progress, SearchProgress
from frontier.storage.local import LocalStorage

# -- the terminal ---------------------------------------------------------------------------------


def picture(width, layers=50, height=60, **options):
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, **options
    )
    progress = Progress()
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
        assert len(lines) == max(height - 3, len(tall) - 9)  # one layer at least, ten at most
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
    progress = Progress()
    progress(RunStarted("a", "", "", -1, 0, 1000, 1, False))
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
    progress, console = SearchProgress(), Console(file=io.StringIO(), width=30)
    progress(SearchStarted("a", "tiles", "/no/run", 2, None, 1, False))
    console.print(table_of([progress], console))
    assert "━" not in console.file.getvalue()
    progress(Asking("asking", 1, 9, 8, done=3, portions=4))
    console.print(table_of([progress], console))
    assert re.search(r"\n━{16}╸ +75\.00%\n", console.file.getvalue())


def test_the_time_left_stands_below_the_table():
    assert any(line.startswith("time left: ") for line in picture(80))
    assert any(line.startswith("last depth: about ") for line in picture(80))
    assert any(line.startswith("next layer: 50 (under way for ") for line in picture(80))


def test_the_dashboard_is_named_in_a_terminal_and_elsewhere(monkeypatch):
    monkeypatch.setattr(PlainProgress, "LAYER_SECONDS", 0.0)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="truecolor")
    shown, plain = LiveProgress(console), PlainProgress(io.StringIO())
    for event in (*events_of("2x7", 50, "http://here/"), RunStopped(49, "enough", 1.0)):
        shown(event)
        plain(event)
    assert "dashboard: http://here/" in console.file.getvalue()
    said = plain._file.getvalue()
    assert "dashboard: http://here/\n" in said
    assert "\x1b" not in said
    assert re.search(r"\n[\d:]+  2x7: .* under way; depth 49 .*; time left .* to come\)\n", said)


def test_a_stop_says_that_a_kernel_is_compiled_first():
    plain = PlainProgress(io.StringIO())
    begins = RunStarted("a", "", "", -1, 0, 10**9, 1, False)
    for event in (Compiling(elsewhere=True), Compiling(), TaskFinished(1, 1, 9, 1)):
        for each in (begins, event, Stopping()):
            plain(each)
    elsewhere, here, over = re.findall("stopping: .*", plain._file.getvalue())
    assert here.startswith(f"{over}; a kernel is being compiled")
    assert elsewhere == over


def test_kernels_are_being_made_ready_until_there_is_news():
    progress = Progress()
    progress(RunStarted("a", "tiles", "", -1, 0, 10**9, 1, False))
    for event, words in (
        (Compiling(elsewhere=True), ", workers load or compile their kernels"),
        (LayerStarted(0, 9), ", workers load or compile their kernels"),
        (TaskFinished(0, 1, 9, 1), ""),
        (Compiling(), ", compiling kernels"),
        (Stopping(), ", compiling kernels"),
        (TaskFinished(0, 2, 9, 1), ""),
    ):
        progress(event)
        assert title(progress) == f"a: tiles, under way{words}"


FOUR_LAYERS = [line_of(depth, 10**depth, seconds=1.0) for depth in range(4)]


@pytest.fixture
def clock(monkeypatch):
    """The time that displays read, as `now`."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def plain(clock):
    """The lines of a run that has begun."""
    plain = PlainProgress(io.StringIO())
    plain(RunStarted("a", "", "", -1, 0, 10**9, 1, False))
    return plain


def test_that_layers_are_stored_is_said_until_they_are(clock, plain):
    first, *others = FOUR_LAYERS
    for clock.now, event in enumerate([
        LayerFinished(first, 1, 0.0, 0), *(LayerMade(layer, 1.0) for layer in others),
        StoringLayers(2), Stopping(), *(LayerFinished(layer, 0, 1.0, 7) for layer in others),
    ]):  # fmt: skip
        plain(event)
        assert plain._progress.storing == (2 if 4 <= clock.now <= 7 else 0)
    lines = plain._file.getvalue().splitlines()
    assert ["storing 2 layers" in line for line in lines].count(True) == 1
    waiting = [re.search(r"not stored yet (\d)", line) for line in lines]
    assert [found[1] for found in waiting if found] == ["1", "2", "3", "3"]


def test_layers_that_are_committed_together_are_not_called_unstored(clock, plain):
    """Though the line that says that they are stored came too soon after another one."""
    for layer in FOUR_LAYERS:
        plain(LayerMade(layer, 1.0))
    plain(StoringLayers(2))
    before, clock.now = len(plain._file.getvalue().splitlines()), 9.0
    for layer in FOUR_LAYERS:
        plain(LayerFinished(layer, 0, 1.0, 7))
    (line,) = plain._file.getvalue().splitlines()[before:]
    assert "depth 3 " in line
    assert "not stored" not in line


def test_layers_that_take_no_while_have_no_lines_of_their_own(monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = PlainProgress(io.StringIO())
    progress(RunStarted("a", "", "", -1, 0, 10**9, 1, False))
    for depth, now in enumerate([1.0, 1.5, 2.0, 2.1, 2.2]):
        progress(LayerFinished(line_of(depth, 10**depth, seconds=0.1), 0, now, 0))
    progress(RunFinished(4, 11111, False, 2.2))
    lines = progress._file.getvalue().splitlines()
    assert [re.search(r"; depth (\d)", line)[1] for line in lines[1:]] == ["0", "2", "4"]
    assert lines[-1].endswith("; time in layers 0.5 s (22 k/s); time left too early to tell")


def test_layers_are_told_as_they_are_made_and_not_again_when_they_are_committed(monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    console = Console(file=io.StringIO(), width=80)
    plain, page = PlainProgress(io.StringIO()), Progress()
    layers = [line_of(depth, 10**depth, seconds=1.0) for depth in range(4)]
    events = [RunStarted("a", "", "", -1, 0, 10**9, 1, False), LayerFinished(layers[0], 1, 0.0, 0)]
    events += [LayerMade(layer, layer.depth) for layer in layers[1:]]
    for event in events:
        plain(event)
        page(event)
        now += 1.0
    console.print(table_of([page], console))
    assert "not stored yet: 3 layers (from depth 1 on)" in console.file.getvalue()
    for layer in layers[1:]:
        plain(LayerFinished(layer, 0, now, 7))
        page(LayerFinished(layer, 0, now, 7))
    assert re.findall(r"; depth (\d)", plain._file.getvalue()) == ["0", "1", "2", "3"]
    assert page.layers == layers
    assert page.committed == 4
    page(LayerMade(line_of(4, 10**4), 5.0))
    page(RunStopped(3, "killed", 5.0))
    assert page.layers == layers


def test_plain_lines_in_a_long_layer(monkeypatch):
    file = io.StringIO()
    progress = PlainProgress(file)
    with monkeypatch.context() as patch:
        patch.setattr(PlainProgress, "LAYER_SECONDS", 0.0)
        for event in events_of("2x7", 50):
            progress(event)
    before = file.getvalue()
    progress(LayerStarted(50, 9))
    progress(TaskFinished(50, 1, 9, 5))
    assert file.getvalue() == before
    monkeypatch.setattr(PlainProgress, "TASK_SECONDS", 0.0)
    progress(TaskFinished(50, 2, 9, 10))
    assert "; next layer 50 (2 of 9 tasks done, under way for " in file.getvalue()


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


@pytest.mark.sweep
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
