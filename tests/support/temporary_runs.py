"""Commands and their results; runs to report on, runs that say what is not so, and runs that
another process makes."""

import importlib.util
import time
from pathlib import Path

from click.testing import CliRunner

from frontier import api
from frontier.cli import main
from frontier.config import load_config
from frontier.runs.layer_run import LayerRun

CONFIGS = Path(__file__).parents[2] / "configs"

BY_TASKS = "--set", "search.in_memory=false"

IDENTITY = {
    "name": "x",
    "puzzle": {"kind": "tiles", "rows": 2, "columns": 4},
    "codec": "raw",
    "keep": "frontier",
    "layout": {"prefix_digits": 1, "task_nodes": 2, "shares": 1},
    "states": 20_160,
}
"""What makes a run of 2×4 the run that it is, as `LayerRun.create` takes it."""


def script(name):
    """The module of a script of scripts/."""
    spec = importlib.util.spec_from_file_location(name, CONFIGS.parent / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(path, name, *settings, until=None):
    """The store of a run of a config of configs/, made in this process."""
    settings = (f"store.path={path}", "cluster.kind=serial", *settings)
    return api.run(api.plan(load_config(CONFIGS / f"{name}.toml", settings)), until).store


def serial(path):
    """Options of `run` that make it in this process, in a directory below this one."""
    return "--set", "cluster.kind=serial", "--set", f"store.path={path / 'run'}"


def invoke(*arguments, code=0, **more):
    """The result of a command, in this process, that must end with this exit code."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **more)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def write_ledger(store):
    """Write the ledger as if what its lines say had been committed."""
    store.write_ledger()  # which makes the chain anew


def wait_for_depth(path, depth, process):
    """Wait until a run has a layer; AssertionError if the process that makes it ends before."""
    while process.poll() is None:
        if LayerRun.exists(path) and len(LayerRun.open(path).records) > depth:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())
