"""What commands say while they work, on a terminal and elsewhere."""

import io
import os
import re
import select
import sys

import pytest
from rich.console import Console

from frontier.cli import main
from frontier.errors import InputError
from frontier.jit.notices import tell_compiling
from frontier.report.console import passing_line, say, tables_that_fit
from tests.support.commands import invoke
from tests.support.recorded_runs import run
from tests.support.temporary_runs import CONFIGS


class Terminal:
    """A terminal of 40 columns. file: what programs write to."""

    def __init__(self):
        self._ours, theirs = os.openpty()
        self.file = os.fdopen(theirs, "w", encoding="utf-8")
        self.seen = []  # every line that was wiped out

    def close(self):
        self.file.close()
        os.close(self._ours)

    def lines(self):
        """The lines that stand on it, of what was written since the last call."""
        self.file.flush()
        text = b""
        while select.select([self._ours], [], [], 0)[0]:
            text += os.read(self._ours, 4096)
        lines, at = [""], 0
        for part in re.findall(r"\x1b\[[?\d]*\w|\r|\n|[^\x1b\r\n]+", text.decode()):
            if part == "\n":
                at += 1
                lines += [""] * (at == len(lines))
            elif part == "\x1b[1A":
                at -= 1
            elif part == "\x1b[2K":
                self.seen.append(lines[at])
                lines[at] = ""
            elif part[0] not in "\x1b\r":
                lines[at] += part
        return lines


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    made = Terminal()
    yield made
    made.close()


def test_a_line_takes_the_place_of_the_one_before_and_leaves_nothing(terminal):
    with passing_line(terminal.file) as say_instead:
        say_instead("layer 21: 500 states and as many others, and more")
        say_instead("layer 7")
        assert terminal.lines() == ["layer 7 …"]
    terminal.lines()
    assert terminal.seen[0] == "layer 21: 500 states and as many others…"  # as wide as it is
    assert not any(terminal.lines())


def test_a_line_is_wiped_out_before_an_error(terminal):
    def fail():
        with passing_line(terminal.file) as say_instead:
            say_instead("layer 3")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert not any(terminal.lines())
    assert "layer 3 …" in terminal.seen


def test_what_is_said_fits_the_terminal(terminal):
    say("what is said on a terminal is broken between two words", terminal.file)
    assert terminal.lines() == [
        "what is said on a terminal is broken",
        "  between two words",
        "",
    ]


@pytest.mark.parametrize("more", [(), ("--quiet",)])
def test_a_command_says_once_in_a_terminal_that_kernels_are_compiled(
    terminal, monkeypatch, tmp_path, more
):
    def compile_some(*arguments, **settings):
        for _ in range(2):
            tell_compiling()
        raise InputError("enough")

    monkeypatch.setattr("frontier.api.start.plan", compile_some)
    monkeypatch.setattr(sys, "stderr", terminal.file)
    with pytest.raises(SystemExit):
        main(["run", str(CONFIGS / "2x3.toml"), "--set", f"store.path={tmp_path / 'run'}", *more])
    assert "enough" in " ".join(terminal.lines())
    said = [line for line in terminal.seen if "Compiling kernels (up to" in line]
    assert len(set(said)) == (not more)


def test_elsewhere_nothing_passes_and_no_line_is_broken():
    for file in (None, io.StringIO()):
        with passing_line(file) as say_instead:
            say_instead("layer 3")
    assert file.getvalue() == ""
    say("a long line " * 20, file)
    assert file.getvalue() == "a long line " * 20 + "\n"


def test_commands_wipe_out_their_lines(terminal, tmp_path, monkeypatch):
    path = tmp_path / "run"
    run(path)
    for command in (["verify", path], ["repair", path]):
        asked = []

        def passing(file, asked=asked):
            asked.append(file)
            return passing_line(terminal.file)

        monkeypatch.setattr(f"frontier.cli.{command[0]}.passing_line", passing)
        invoke(*command)
        assert not any(terminal.lines())
        assert len(asked) == 1
    assert "layer 36 …" in terminal.seen


@pytest.mark.parametrize("width", [20, 40, 80, 1000])
def test_wide_tables_are_cut_into_tables_that_fit(width):
    console = Console(file=io.StringIO(), width=width)
    names = [f"run-{number}" for number in range(20)]
    rows = [["depth", *map(str, range(100, 120))], ["puzzle", *["tiles of many kinds " * 3] * 20]]
    tables = list(tables_that_fit(["", *names], rows, console))
    for table in tables:
        console.print(table)
    said = console.file.getvalue()
    assert max(map(len, said.splitlines())) <= width
    assert len(tables) == {20: 20, 40: 20, 80: 10, 1000: 1}[width]
    heads = [word for line in said.splitlines() for word in line.split() if "run-" in word]
    assert heads == names
    assert all(str(depth) in said for depth in range(100, 120))
