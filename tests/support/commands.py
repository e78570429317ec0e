"""Commands, run in the process of a test, and the scripts of scripts/."""

import importlib.util
from pathlib import Path

from click.testing import CliRunner

from frontier.cli import main

SCRIPTS = Path(__file__).parents[2] / "scripts"

BY_TASKS = "--set", "search.in_memory=false"


def script(name):
    """The module of a script of scripts/."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def serial(path):
    """Options of `run` that make it in this process, in a directory below this one."""
    return "--set", "cluster.kind=serial", "--set", f"store.path={path / 'run'}"


def invoke(*arguments, code=0, **more):
    """The result of a command, in this process, that must end with this exit code."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **more)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result
