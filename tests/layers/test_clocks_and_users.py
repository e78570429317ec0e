"""Runs of both kinds under a clock that jumps, and in directories of another user."""

import json
import os
import random
import shutil
import time
import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner

from frontier.cli import main
from tests.support.commands import invoke
from tests.support.temporary_runs import CONFIGS

DAY = 86_400

RUNS = {
    "in memory": ("run", "search.in_memory=true"),
    "by tasks": ("run", "search.in_memory=false"),
    "cosets": ("gods-number", "search.in_memory=true"),
}


def words_of(kind, path):
    command, setting = RUNS[kind]
    settings = f"store.path={json.dumps(str(path))}", "cluster.kind=serial", setting
    return [command, str(CONFIGS / "2x4.toml"), *(w for s in settings for w in ("--set", s))]


def place_of(kind, path):
    return path.with_name(f"{path.name}-gods-number") if kind == "cosets" else path


@pytest.mark.parametrize("kind", RUNS)
def test_a_clock_that_jumps_changes_no_result(tmp_path, monkeypatch, kind):
    """Back and forth, by days, each time that somebody looks."""
    rng, real = random.Random(kind), time.time
    monkeypatch.setattr(time, "time", lambda: real() + rng.uniform(-30, 30) * DAY)
    invoke(*words_of(kind, tmp_path / "run"))
    place = place_of(kind, tmp_path / "run")
    invoke("verify", place)
    said = json.loads(invoke("status", place, "--json").stdout)
    assert said["state"] == "complete"
    assert said.get("depth", said.get("upper")) == 36


def as_nobody(words):
    """The exit code of a command, and what it says, in a fork of this process as the user nobody.

    The modules were imported before, since nobody may not read those of root.
    """
    reader, writer = os.pipe()
    if not (pid := os.fork()):
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            result = CliRunner().invoke(main, [str(word) for word in words])
            broken = not isinstance(result.exception, SystemExit | None)
            said = traceback.format_exception(result.exception) if broken else [result.output]
            os.write(writer, json.dumps([result.exit_code, "".join(said)[-2000:]]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        said = file.read()
    os.waitpid(pid, 0)
    return json.loads(said)


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.sweep
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root becomes nobody")
@pytest.mark.parametrize("kind", RUNS)
def test_a_directory_of_another_user_is_left_alone(kind):
    """It can be read and not written. The directory is not below one that only root may enter."""
    folder = Path("/var/tmp") / f"frontier-test-{os.getpid()}-{kind.replace(' ', '-')}"
    folder.mkdir(mode=0o755)
    try:
        until = [] if kind == "cosets" else ["--until", "20"]
        invoke(*words_of(kind, folder / "run"), *until)
        place = place_of(kind, folder / "run")
        commands = {
            "begin": words_of(kind, folder / "other"),
            "resume": words_of(kind, folder / "run"),
            "verify": ["verify", place],
            "status": ["status", place],
        }
        for name in ("verify", "status"):
            invoke(*commands[name])
        before = contents(folder)
        codes = {}
        for name, words in commands.items():
            codes[name], said = as_nobody(words)
            assert "Traceback" not in said, said
        assert contents(folder) == before
        resume = 0 if kind == "cosets" else 3  # the search is complete: nothing is written
        assert codes == {"begin": 3, "resume": resume, "verify": 0, "status": 0}
    finally:
        shutil.rmtree(folder)
