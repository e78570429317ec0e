"""Text as wide as the terminal that it is printed to."""

import fcntl
import os
import struct
import termios

import pytest

from frontier.cli.streams import echo
from frontier.config.loading import make_config
from frontier.report.console import say
from frontier.text import fitted, named, size_to_set

TEXT = """\
2x6: 2×6 tiles
  layers            depth unknown, perhaps 79; 31 layers are known
  region 2x4: 20,160 boards; 4 labelled tiles outside: 95,040 patterns
  resume with: python -m frontier run a/long/path/that/nobody/breaks.toml --set search.keep=all
┌───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┐ and more of it
frontier: x: no such run directory or config at all; `python -m frontier init x` writes it
/a/path/that/is/longer/than/any/terminal/of/sixty/columns/is/and/stays/whole

"""


def test_lines_are_broken_between_words():
    assert fitted(TEXT, 60).split("\n") == [
        "2x6: 2×6 tiles",
        "  layers            depth unknown, perhaps 79; 31 layers are",
        "                    known",
        "  region 2x4: 20,160 boards; 4 labelled tiles outside:",
        "    95,040 patterns",
        "  resume with:",
        "    python -m frontier run a/long/path/that/nobody/breaks.toml --set search.keep=all",
        TEXT.split("\n")[4],
        "frontier: x: no such run directory or config at all;",
        "  `python -m frontier init x` writes it",
        *TEXT.split("\n")[6:],
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 100, 200])
def test_nothing_is_lost(width):
    assert fitted(TEXT, width).split() == TEXT.split()


def test_what_fits_is_left_alone():
    assert fitted(TEXT, 100) == TEXT


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_breaks_lines(monkeypatch, capsys, terminal):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    echo("word " * 20)
    said = capsys.readouterr().out
    assert said.split() == ["word"] * 20
    assert (said.count("\n") > 1) == terminal


@pytest.mark.parametrize("columns", [60, 200])
def test_what_is_said_is_as_wide_as_its_own_terminal(monkeypatch, capsys, columns):
    """Whatever terminal standard output is, or is not; one without a width is taken as 80 wide."""
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = os.openpty()

    def lines_said():
        said = ""
        while said.count("word") < 60 or not said.endswith("\n"):  # it comes piece by piece
            said += os.read(ours, 4096).decode()
        return said.splitlines()

    with os.fdopen(theirs, "w") as file:
        for width in (columns, 0):
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
            say("word " * 60, file)
            lines = lines_said()
            assert 0 <= (width or 80) - max(map(len, lines)) <= len(" word")
        monkeypatch.setattr("sys.stderr", file)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        echo("word " * 60, err=True)
        assert lines_said()[0].count("word") == columns // 5
    os.close(ours)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1MB"),
        (401_809_186, "402MB"),
        (999_000_001, "1GB"),
        (1_000_000_001, "1.01GB"),
        (45_123_456_789, "45.2GB"),
        (999_000_000_000, "999GB"),
        (12_345_678_901_234, "12.4TB"),
        (1_234_567_890_123_456, "1240TB"),
    ],
)
def test_a_size_to_be_set_is_rounded_up_and_can_be_pasted(count, text):
    assert size_to_set(count) == text
    config = make_config("x", {"kind": "tiles", "rows": 2, "columns": 2}, cluster={"memory": text})
    assert count <= config.cluster.memory <= 1.01 * count + 10**6


@pytest.mark.parametrize(
    ("name", "title", "expected"),
    [
        ("2x5", "2×5 tiles", "2×5 tiles"),
        ("goat", "Goat", "Goat"),
        ("2x1", "2×10 tiles", "2x1: 2×10 tiles"),
        ("8-puzzle", "3×3 tiles", "8-puzzle: 3×3 tiles"),
        ("a.b", "axb", "a.b: axb"),
        ("mine", "", "mine"),
    ],
)
def test_a_title_that_begins_with_the_name_stands_alone(name, title, expected):
    assert named(name, title) == expected
