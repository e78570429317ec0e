"""What commands load: nothing that they do not use, as loading takes longer than many a command."""

import subprocess
import sys

import pytest

from frontier.cli import COMMANDS
from tests.support.temporary_runs import CONFIGS

COMMAND = """
import gc, sys
from frontier.cli import main
main(sys.argv[1:], prog_name="frontier", standalone_mode=False)
"""

PARTS = {
    f"frontier.{part}"
    for part in ("answers", "clusters", "config", "cosets", "forecast", "puzzles", "report",
                 "search", "space", "storage", "store")
}  # fmt: skip


def after(expression, *arguments):
    """The words of an expression after a command."""
    words = [sys.executable, "-c", f"{COMMAND}print({expression})", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def loaded(*arguments):
    """The modules that a command loads."""
    return set(after("*sys.modules", *arguments))


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_loads_none_of_them(option):
    modules = loaded(option)
    assert not modules & (PARTS | {"numpy", "pydantic", "rich"})
    assert not modules & {f"frontier.cli.{name.replace('-', '_')}" for name in COMMANDS}


def test_a_small_run_loads_what_it_uses(tmp_path):
    modules = loaded("run", CONFIGS / "3x3.toml", "--set", f"store.path={tmp_path / 'run'}")
    assert (tmp_path / "run" / "summary.json").exists()
    assert not modules & {
        "asyncio", "dask", "distributed", "matplotlib", "multiprocessing", "numba", "psutil",
        "zarr",
        "frontier.solving.methods", "frontier.api.runs", "frontier.executors.dask_executor",
        "frontier.cosets", "frontier.report.boards", "frontier.storage.bucket",
    }  # fmt: skip
    for command in ("status", "farthest"):
        modules = loaded(command, tmp_path / "run")
        assert not modules & {"numba", "zarr", "frontier.cosets", "frontier.layers.loop"}


def test_a_list_loads_no_run():
    assert not loaded("list") & {"pydantic", "frontier.config.loading", "frontier.layers.run"}


def test_the_collector_of_garbage_passes_over_what_is_loaded():
    assert after("gc.isenabled(), gc.get_freeze_count() > 10_000", "list") == ["True", "True"]
