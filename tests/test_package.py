"""What an installation has besides the modules."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from sweeps import swept

ROOT = Path(__file__).parents[1]


def test_every_file_of_the_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {
        file
        for package, patterns in settings["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for file in ROOT.joinpath(*package.split(".")).glob(pattern)
        if file.is_file()
    }
    files = (file for file in (ROOT / "frontier").rglob("*") if file.is_file())
    data = {file for file in files if file.suffix not in (".py", ".pyc", ".nbi", ".nbc")}
    assert data == listed
    assert ROOT / "frontier" / "py.typed" in data
    assert ROOT / "frontier" / "report" / "templates" / "notebook" / "run.html" in data


def test_the_citation_is_that_of_this_version():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == settings["project"]["version"]
    assert cited["license"] == settings["project"]["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


INTERRUPTED = """
import os, signal, sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
sys.argv = ["frontier", "run", "--help"]
{start}
"""


@swept("module", ["click", "numpy.random", "frontier.config"], few=1)
@pytest.mark.parametrize(
    "start", ["import runpy; runpy.run_module('frontier', run_name='__main__')", "script"]
)
def test_ctrl_c_while_the_program_is_loaded(module, start):
    if start == "script":  # as an installer writes it
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        home, function = settings["project"]["scripts"]["frontier"].split(":")
        start = f"from {home} import {function}; sys.exit({function}())"
    code = INTERRUPTED.format(module=module, start=start)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "frontier: interrupted\n")
