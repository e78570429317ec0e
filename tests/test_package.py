"""The packages, their version, and how the program starts."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import frontier
from tests.support.sweeps import swept

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


COMPILED = (".pyc", ".nbi", ".nbc")


def files_of(folder):
    """The files of a folder by their paths below the root, but what was compiled."""
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if path.suffix not in COMPILED}


def test_the_wheel_has_the_package_and_the_configs(tmp_path):
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        assert f"\nVersion: {frontier.__version__}\n" in archive.read(metadata).decode()
    assert names == files_of("frontier") | {f"frontier/{name}" for name in files_of("configs")}
    assert {"frontier/py.typed", "frontier/report/templates/notebook/run.html"} <= names


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no list of files but in a clone")
def test_the_sdist_has_all_that_is_kept(tmp_path):
    git = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    kept = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    assert kept <= names
    assert {name.split("/")[0] for name in names} == {name.split("/")[0] for name in kept} | {
        "PKG-INFO"
    }


def test_one_version_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == frontier.__version__
    assert cited["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## ([^,\n]+)", changes, re.MULTILINE)[1] == frontier.__version__


def test_what_runs_elsewhere_is_what_the_gate_runs():
    """Each command begins a line of .ci/run; versions that are classified are among its own."""
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(workflow)["jobs"]["tests"]
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert ".ci/packages" in commands
    for command in commands:
        assert any(line.startswith(command) for line in gate), command
    classified = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "3." in line}
    assert classified <= set(job["strategy"]["matrix"]["python"])


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


@swept("module", ["click", "numpy.random", "frontier.config.loading"], few=1)
@pytest.mark.parametrize(
    "start", ["import runpy; runpy.run_module('frontier', run_name='__main__')", "script"]
)
def test_ctrl_c_while_the_program_is_loaded(module, start):
    if start == "script":  # as an installer writes it
        home, function = PROJECT["scripts"]["frontier"].split(":")
        start = f"from {home} import {function}; sys.exit({function}())"
    code = INTERRUPTED.format(module=module, start=start)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "frontier: interrupted\n")
