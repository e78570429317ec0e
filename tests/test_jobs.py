"""jobs/, docs/reference/clusters.md: scripts are well formed, know their options, stop well."""

import inspect
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

import dask_jobqueue
import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

from frontier.cli import main
from frontier.config.schema import ClusterTable
from frontier.executors.queues import CLASSES
from frontier.storage.lock import RunLock
from tests.support.temporary_runs import wait_for_depth

ROOT = Path(__file__).parents[1]
JOBS = sorted((ROOT / "jobs").iterdir())
HERE = sorted((ROOT / "tests" / "campaigns").glob("*-here"))
PAGE = ROOT / "docs" / "reference" / "clusters.md"
CONFIG = ROOT / "configs" / "2x6.toml"
COMMANDS = {
    "dask scheduler": dask_scheduler.main,
    "dask worker": dask_worker.main,
    "frontier run": main.commands["run"],
}


@pytest.mark.parametrize("script", [*JOBS, *HERE], ids=lambda p: p.name)
def test_scripts_are_well_formed(script):
    text = script.read_text(encoding="utf-8")
    if script.suffix == ".yaml":
        assert all("kind" in part for part in yaml.safe_load_all(text))
    elif text.startswith("#!"):
        assert os.access(script, os.X_OK)
        subprocess.run(["bash", "-n", script], check=True)
    assert max(map(len, text.splitlines())) <= 100


def test_there_is_a_script_for_each_queue():
    kinds = {"slurm", "slurm-runner", "pbs", "lsf", "sge", "oar", "htcondor", "ssh", "kubernetes"}
    assert kinds <= {path.stem for path in JOBS}
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"jobs/{path.name}" in page for path in JOBS if path.name != "htcondor.sh")


@pytest.mark.parametrize("path", [*JOBS, PAGE], ids=lambda path: path.name)
def test_commands_have_known_options(path):
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    for name, command in COMMANDS.items():
        known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        for line in re.findall(rf"{name} (.*)", text):
            assert set(re.findall(r"(?<=\s)--[a-z-]+", f" {line}")) <= known, line
    for words in (part for part in re.findall(r"args: \[(.*)\]", text)):
        name = " ".join(words.split(", ")[:2])
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", words)) <= known, words
    for key in re.findall(r"\bcluster\.([a-z_]+)[.=]", text):
        assert key in ClusterTable.model_fields, key
    for option in re.findall(r"\bcluster\.options\.([a-z_]+)", text):
        kind = next((kind for kind in CLASSES if kind in path.stem), "slurm")
        job = getattr(dask_jobqueue, CLASSES[kind]).job_cls
        known = {of for each in job.__mro__ for of in inspect.signature(each).parameters}
        assert option in known | {"scheduler_options"}, option


def test_all_keys_are_explained():
    table = PAGE.read_text(encoding="utf-8").split("## All keys")[1]
    assert set(re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE)) == set(
        ClusterTable.model_fields
    )


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Stand-ins for what the scripts call; gives the file where they note how."""
    log, folder = tmp_path / "called", tmp_path / "bin"
    folder.mkdir()
    called = f'#!/bin/sh\necho "$(basename "$0") $*" >> {shlex.quote(str(log))}\n'
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    srun = '#!/bin/bash\nshift\nexec "${@}"\n'
    for name, text in {
        "scontrol": called, "qsub": called, "srun": srun, "python": python,
    }.items():  # fmt: skip
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    log.touch()
    return log


def start(script, path, *settings, **environment):
    """Start a script of jobs/ on a run of 2×6."""
    settings = ("search.in_memory=false", "store.codec=zstd:5", f"store.path={path}", *settings)
    return subprocess.Popen(
        ["bash", ROOT / "jobs" / script],
        cwd=ROOT,
        env={**os.environ, "CONFIG": str(CONFIG), "VENV": "", "SETTINGS": " ".join(settings),
             **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


AGAIN = {  # what comes when the walltime is near, whether to the whole group; exit code, calls
    "slurm.sh": (signal.SIGUSR1, False, 3, "scontrol requeue 17"),
    "lsf.sh": (signal.SIGUSR1, True, 99, ""),
    "sge.sh": (signal.SIGUSR1, True, 99, ""),
    "oar.sh": (signal.SIGUSR1, False, 99, ""),
    "pbs.sh": (signal.SIGTERM, False, 3, "qsub jobs/pbs.sh"),
}


@pytest.mark.sweep
@pytest.mark.parametrize("script", AGAIN)
def test_a_walltime_stops_the_run_and_lets_it_go_on(tmp_path, commands, script):
    number, group, code, called = AGAIN[script]
    path = tmp_path / "run"
    kind = "local" if group else "serial"  # workers hear what the whole group is told
    process = start(script, path, f"cluster.kind={kind}", SLURM_JOB_ID="17", PBS_O_WORKDIR=".",
                    SECONDS_TO_RUN="0")  # fmt: skip
    wait_for_depth(path, 33, process)
    (os.killpg if group else os.kill)(process.pid, number)
    said, _ = process.communicate()
    assert process.returncode == code, said
    assert "Nothing is lost" in said
    assert commands.read_text().strip() == called


NUMBERS = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "OAR_JOB_ID"}


@pytest.mark.sweep
@pytest.mark.parametrize("script", AGAIN)
def test_only_the_same_job_takes_over_what_it_held(tmp_path, commands, script):
    """A job that died on another host goes on when its queue starts it anew; the same run
    submitted once more is refused."""
    path = tmp_path / "run"
    path.mkdir()

    def submitted(number):
        jobs = {**dict.fromkeys(NUMBERS, number), "PBS_O_WORKDIR": "."}
        settings = "cluster.kind=serial", "search.in_memory=true", "search.until=9"
        said, _ = (process := start(script, path, *settings, **jobs)).communicate()
        return process.returncode, said

    name = f"{script.removesuffix('.sh')}-17"
    holder = json.dumps({"host": "elsewhere", "process": 7, "since": 0, "job": name})
    (path / "lock").write_text(holder)
    code, said = submitted("18")
    assert code == 2, said
    assert "process 7 on host elsewhere" in said
    assert (path / "lock").read_text() == holder
    code, said = submitted("17")
    assert code == 0, said
    with RunLock(path / "lock", name):
        assert json.loads((path / "lock").read_text())["job"] == name


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.name)
def test_no_script_takes_over_what_another_holds(path):
    assert "--take-over" not in path.read_text(encoding="utf-8")


@pytest.mark.sweep
@pytest.mark.parametrize("script", ["slurm.sh", "pbs.sh"])
def test_a_cancelled_driver_does_not_come_back(tmp_path, commands, script):
    path = tmp_path / "run"
    process = start(script, path, "cluster.kind=serial", SLURM_JOB_ID="17", PBS_O_WORKDIR=".")
    wait_for_depth(path, 33, process)
    process.terminate()
    said, _ = process.communicate()
    assert process.returncode == 3, said
    assert commands.read_text() == ""
