"""docs/reference/python.md: its examples and its names; what `import frontier` loads."""

import contextlib
import io
import os
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

import frontier
from frontier.answers.layers import MOST_NUMBERS
from frontier.api import runs as api

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"


TILES = {"kind": "tiles", "rows": 2, "columns": 3}


def blocks_of(section):
    """The examples of a section: (Python, what it prints)."""
    found = re.findall(r"^```(python|text)\n(.*?)^```$", section, re.M | re.S)
    for number, (kind, text) in enumerate(found):
        if kind == "python":
            after = found[number + 1] if number + 1 < len(found) else ("", "")
            yield text, after[1] if after[0] == "text" else ""


def test_the_examples_print_what_stands_below_them(tmp_path, monkeypatch):
    (tmp_path / "configs").symlink_to(PAGE.parents[2] / "configs")
    monkeypatch.chdir(tmp_path)
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    names, ran = {}, 0
    for section in sections[1:6]:
        for source, expected in blocks_of(section):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(source, str(PAGE), "exec"), names)
            lines = [line.rstrip() for line in said.getvalue().splitlines()]
            assert lines == [line.rstrip() for line in expected.splitlines()]
            ran += 1
    assert ran == 6
    assert (tmp_path / "2x4.png").read_bytes()[1:4] == b"PNG"


def test_the_page_has_every_name():
    table = PAGE.read_text(encoding="utf-8").split("| `frontier.` | |\n| --- | --- |\n")[1]
    rows = takewhile(lambda line: line.startswith("|"), table.splitlines())
    names = {name for row in rows for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert names == set(frontier.__all__)


def test_the_page_names_what_there_is():
    """Attributes of runs and layers, in the text below the table."""
    text = PAGE.read_text(encoding="utf-8").split("## Every name")[1]
    named = re.findall(r"`run\.(\w+)", text)
    assert {"distance", "oracle", "layers"} <= set(named)
    assert all(hasattr(api.Run, name) or name in api.Run.__annotations__ for name in named)
    for name in ("boards", "batches", "numbers", "sample"):
        assert f"`{name}(" in text
        assert hasattr(frontier.Layer, name)


@pytest.mark.parametrize("what", [api.Plan, api.Run, frontier.Layer, api.Drawings, api.Solved])
def test_everything_is_typed(what):
    for name, member in vars(what).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if callable(function) and not name.startswith("_"):
            hints = function.__annotations__
            taken = function.__code__.co_varnames[1 : function.__code__.co_argcount]
            assert "return" in hints, name
            assert set(taken) <= set(hints), name
    assert (Path(frontier.__file__).parent / "py.typed").exists()


USER = """
import sys
import numba
import frontier.api.runs

@numba.njit(cache=True)
def mine(x):
    return x + 1

assert mine(1) == 2
"""


@pytest.mark.sweep
def test_a_users_own_kernels_stay_where_numba_puts_them(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER)
    home = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(frontier.__file__).parents[1]),
    }
    subprocess.run(
        [sys.executable, script], check=True, env={**os.environ, **home, "NUMBA_CACHE_DIR": ""}
    )
    assert list((tmp_path / "__pycache__").glob("user.mine-*.nbi"))
    assert not list((tmp_path / "cache").rglob("*mine*"))


def test_importing_loads_no_kernels():
    code = "import sys, frontier; print({'numba', 'dask', 'zarr', 'pydantic'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
    assert set(frontier.__all__) <= set(dir(frontier))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = frontier.nothing


def test_limits_stand_in_the_page():
    said = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at most {MOST_NUMBERS:,} of them" in said
