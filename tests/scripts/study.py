"""The script of the thesis as a user starts it, and what tests of it share."""

import io
import runpy
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from frontier.layers.run import LayerRun

SCRIPT = Path(__file__).parents[2] / "scripts" / "thesis" / "__main__.py"


@dataclass
class Said:
    stdout: str
    stderr: str


def study(*arguments, code=0):
    """What the script prints, in this process; it must end with this exit code."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("sys.argv", ["thesis", *map(str, arguments)])
        patch.syspath_prepend(str(SCRIPT.parents[1]))
        try:
            runpy.run_path(str(SCRIPT), run_name="__main__")
            ended = 0
        except SystemExit as end:
            ended = end.code
    assert ended == code, err.getvalue()
    return Said(out.getvalue(), err.getvalue())


def verdicts(tables):
    return [row["verdict"] for table in tables.values() for row in table]


def without_home(path, depths=None):
    """Let the ledger of a run be one that does not say where blanks are, at some depths."""
    run = LayerRun.open(path)
    for depth, record in enumerate(run.records):
        if depths is None or depth in depths:
            tally = replace(record.tally, at_goal=None)
            run.records[depth] = replace(record, tally=tally)
    run.roll_back(len(run.records) - 1, run.stored_depths())
