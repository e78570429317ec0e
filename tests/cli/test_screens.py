"""The screens of `run`, `status`, `report` and `plan`, whole. Other tests assert values.

Here ~ stands for what depends on the machine or the moment, and two spaces for any number of them.
"""

import re

import pytest

from tests.support.commands import invoke, serial
from tests.support.temporary_runs import CONFIGS

VARIES = (
    r"(< )?\d[\d.,]*( [kMG])?(/s| ?(ms|s|ns|B|kB|MB|GB)\b)", r"\d\d:\d\d:\d\d",
    r"(?<=states per second  ).*", r"(?<=begun  ).*", r"(?<=processor  ).*", r"(?<=platform  ).*",
    r"(?<=Python  ).*", r"(?<=libraries  ).*", r"\d+(?=% of its bits)", r", in all: ~",
    r"(?<=100.00  -  )[\d.]+", r"\([\d.]+%\)$",
)  # fmt: skip


def screen(text):
    """The lines of a screen, without what varies."""
    lines = []
    for line in text.splitlines():
        if not re.search("[─-╿]", line):
            line = re.sub("(?<=[^ ]) {2,}", "  ", line)
            for pattern in VARIES:
                line = re.sub(pattern, "" if pattern.startswith(", in") else "~", line)
        lines.append(line)
    return lines


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a run, and the result of the command that made it."""
    folder = tmp_path_factory.mktemp("made")
    return folder / "run", invoke("run", CONFIGS / "2x2.toml", *serial(folder))


def test_run(made):
    path, result = made
    assert screen(result.stdout) == [
        "2×2 tiles",
        "  depth (God's number from this goal): 6",
        "  states: 12",
        "  farthest positions: 1",
        f"  time in layers: ~; written: ~; on disk: ~ in {path}",
    ]
    first, heads, *_, last = screen(result.stderr)
    assert first == f"2×2 tiles, 12 states, in {path}"
    assert " ".join(heads.split()) == "clock depth states total percent tasks seconds left"
    assert last == "~  6  1  12  100.00  -  ~  -"


def test_status(made):
    assert screen(invoke("status", made[0]).stdout) == [
        "2×2 tiles, complete",
        "  depth: 6 (1 state there)",
        "  states: 12 (all)",
        "  time in layers: ~ (~)",
        "  layers on disk: ~",
        f"  on disk: ~ in {made[0]}",
    ]


def test_report(made):
    lines = screen(invoke("report", made[0]).stdout)
    drawing = [line.rstrip() for line in invoke("draw", made[0], "3 2/1 0").stdout.splitlines()]
    assert lines == [
        "2×2 tiles, complete",
        "depth  6 moves",
        "states  12",
        "farthest positions  1",
        "mean depth  3.00",
        "median depth  3",
        "fullest layer  depth 1",
        "time in layers  ~",
        "states per second  ~",
        "written  ~",
        "",
        "Layers",
        "depth  states  share  up to here  growth  time  written  log",
        "    0  1  8.33%  8.33%  ~  ~  ███████▌",
        "    1  2  16.67%  25.00%  2.000  ~  ████████████",
        "    2  2  16.67%  41.67%  1.000  ~  ████████████",
        "    3  2  16.67%  58.33%  1.000  ~  ████████████",
        "    4  2  16.67%  75.00%  1.000  ~  ████████████",
        "    5  2  16.67%  91.67%  1.000  ~  ~  ████████████",
        "    6  1  8.33%  100.00%  0.500  ~  ~  ███████▌",
        "",
        "Where the time in layers went",
        "layers as lists  ~ ~",
        "",
        "Farthest positions",
        *drawing,
        "",
        "How it was made",
        "begun  ~",
        "processor  ~",
        "memory  ~",
        "platform  ~",
        "cluster  serial",
        "Python  ~",
        "libraries  ~",
    ]


def test_plan(tmp_path):
    words = *serial(tmp_path), "--set", "cluster.memory=1GB"
    assert screen(invoke("plan", CONFIGS / "2x2.toml", *words).stdout) == [
        "2×2 tiles",
        "  states  12, depth 6",
        "  memory  ~ of ~, in one process of 1 thread",
        "  disk  at most ~; free: ~",
        "  time  0 to ~",
    ]
