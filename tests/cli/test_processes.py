"""`frontier run` in a process of its own that is killed, interrupted, or not alone."""

import json
import random
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from frontier.layers.run import LayerRun
from tests.support.commands import BY_TASKS, invoke, serial
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS, wait_for_depth


def python(*arguments):
    return [sys.executable, "-m", "frontier", *map(str, arguments)]


MORTAL = """
import os, signal, sys
from frontier.cli import main
from frontier.layers import by_tasks
from frontier.layers import plan

plan.THIN_STATES = 0  # all layers but the first are bitmaps
expand_task, calls = by_tasks.expand_task, []

def mortal(*call):
    calls.append(call)
    if len(calls) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return expand_task(*call)

by_tasks.expand_task = mortal
main(sys.argv[2:])
"""
"""The command line, which kills itself when it begins so many tasks."""


@swept("kills", [(20,), (5, 20)], few=1)
def test_a_killed_run_goes_on(tmp_path, kills):
    """Its layers are those of a run that nothing disturbs."""
    words = ["run", CONFIGS / "2x4.toml", *BY_TASKS, *serial(tmp_path), "--json"]
    for tasks in kills:
        command = [sys.executable, "-c", MORTAL, str(tasks), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not LayerRun.open(tmp_path / "run").complete
    done = invoke(*words)
    assert "resuming after depth" in done.stderr
    value = json.loads(done.stdout)
    assert (value["depth"], value["states"]) == (36, 20_160)
    undisturbed = invoke(
        "run", CONFIGS / "2x4.toml", *BY_TASKS, *serial(tmp_path / "calm"), "--json"
    )
    calm = json.loads(undisturbed.stdout)
    assert {key: value[key] for key in TIMELESS} == {key: calm[key] for key in TIMELESS}


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The summary of an undisturbed 2x6 run."""
    path = tmp_path_factory.mktemp("calm") / "run"
    command = python("run", CONFIGS / "2x6.toml", "--set", f"store.path={path}", "--json")
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


TIMELESS = ("complete", "depth", "states", "layers", "farthest", "goals", "puzzle")


@pytest.mark.sweep
@pytest.mark.parametrize("victim", ["driver", "worker"])
def test_killed_runs_go_on(tmp_path, calm, victim):
    """kill -9 at random moments, several times in one run, then run it to the end."""
    assert (calm["depth"], calm["states"]) == (80, 239_500_800)
    rng = random.Random(victim)
    path = tmp_path / "run"
    command = python(
        "run", CONFIGS / "2x6.toml", *BY_TASKS, "--set", f"store.path={path}", "--json"
    )
    kills = 0
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (path / "ledger.json").exists():
            time.sleep(0.02)
        for _ in range(3 if victim == "worker" else 1):
            time.sleep(rng.uniform(0.1, 1.5))
            try:
                children = psutil.Process(process.pid).children(recursive=True)
            except psutil.NoSuchProcess:
                break
            workers = [child for child in children if "spawn_main" in " ".join(_command(child))]
            target = process if victim == "driver" else rng.choice(workers or [None])
            if target and process.poll() is None:
                target.kill()
                kills += 1
        if victim == "driver":
            process.kill()
        output, _ = process.communicate()
        if process.returncode == 0:
            break
    output = subprocess.run(command, check=True, capture_output=True).stdout
    value = json.loads(output)
    assert kills > 0
    assert {key: value[key] for key in TIMELESS} == {key: calm[key] for key in TIMELESS}


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.sweep
def test_ctrl_c_stops_cleanly_and_says_how_to_resume(tmp_path, calm):
    path = tmp_path / "run"
    command = python(
        "run", CONFIGS / "2x6.toml", *BY_TASKS, "--set", f"store.path={path}", "--json"
    )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_depth(path, 5, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert process.returncode == 3, errors
    assert output == ""
    # Workers may still load their kernels.
    assert len(re.findall("Finishing .*current tasks.* Press Ctrl-C again", errors)) == 1
    assert "resume with: python -m frontier run" in errors
    assert "Traceback" not in errors
    assert (path / "lock").read_text() == ""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["layers"] == calm["layers"]
    assert "resuming after depth" in done.stderr


@pytest.mark.sweep
def test_a_second_run_is_refused_while_one_writes(tmp_path):
    path = tmp_path / "run"
    command = python("run", CONFIGS / "2x6.toml", *BY_TASKS, *serial(tmp_path), "--json")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not (path / "lock").exists() and process.poll() is None:
        time.sleep(0.02)
    second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 2
    assert f"process {process.pid}" in second.stderr
    output, _ = process.communicate()
    assert json.loads(output)["depth"] == 80


@pytest.mark.sweep
def test_a_given_scheduler(tmp_path, monkeypatch):
    """`address` and `scheduler-file` join workers that are there already."""
    from distributed import LocalCluster

    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    with LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as c:
        file = tmp_path / "scheduler.json"
        file.write_text(json.dumps(c.scheduler.identity()))
        for kind, place in (
            ("address", f"cluster.address={c.scheduler_address}"),
            ("scheduler-file", f"cluster.scheduler_file={file}"),
        ):
            where = f"store.path={tmp_path / kind}"
            settings = f"cluster.kind={kind}", place, where
            value = json.loads(
                invoke(
                    "run",
                    CONFIGS / "2x4.toml",
                    *(x for s in settings for x in ("--set", s)),
                    "--json",
                ).stdout
            )
            assert (value["depth"], value["states"]) == (36, 20_160)


@pytest.mark.sweep
def test_the_only_worker_is_replaced(tmp_path):
    """Killed in the middle of layers of bits, one after the other, with no other to take over."""
    path = tmp_path / "run"
    command = python(
        "run", CONFIGS / "2x6.toml", *BY_TASKS, "--set", f"store.path={path}",
        "--set", "cluster.workers=1", "--set", "store.codec=zstd:5", "--json",
    )  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    kills = 0
    while process.poll() is None and kills < 2:
        if list(path.glob(f"layers/*/{38 + 6 * kills:04d}")):
            children = psutil.Process(process.pid).children(recursive=True)
            for child in children:
                if "spawn_main" in " ".join(_command(child)):
                    child.kill()
                    kills += 1
        time.sleep(0.002)
    output, _ = process.communicate()
    assert kills == 2
    assert json.loads(output)["depth"] == 80


@pytest.mark.sweep
def test_a_progress_display_that_nobody_reads_does_not_stop_a_search(tmp_path):
    command = python("run", CONFIGS / "2x6.toml", *BY_TASKS, *serial(tmp_path))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.stderr.close()
    assert process.wait() == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["depth"] == 80


@pytest.mark.sweep
def test_no_scheduler_there(tmp_path, monkeypatch):
    monkeypatch.setattr("frontier.executors.choice.CONNECT_SECONDS", 1)
    settings = "--set", "cluster.kind=address", "--set", "cluster.address=tcp://127.0.0.1:9"
    where = "--set", f"store.path={tmp_path / 'run'}"
    message = invoke("run", CONFIGS / "2x2.toml", *settings, *where, code=3).stderr
    assert message.startswith("connecting to the scheduler (tcp://127.0.0.1:9) …\n")
    assert "no scheduler answered at tcp://127.0.0.1:9" in message
    file = tmp_path / "none.json"
    settings = "--set", "cluster.kind=scheduler-file", "--set", f"cluster.scheduler_file={file}"
    assert str(file) in invoke("run", CONFIGS / "2x2.toml", *settings, *where, code=2).stderr
