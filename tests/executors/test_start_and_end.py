"""Workers that start, do not start, end, and do not end."""

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from multiprocessing import spawn
from types import SimpleNamespace

import dask
import psutil
import pytest
from distributed import SpecCluster

from frontier.api import runs as api
from frontier.errors import Stopped
from frontier.executors import local
from frontier.layers.events import TaskFinished
from frontier.runs.events import Started
from tests.executors.test_clusters import (
    CONFIG,
    KNOWN,
    TASKS,
    assert_right,
    config_of,
    python,
    workers_of,
)
from tests.support.queue_jobs import group_of
from tests.support.tile_runs import as_bits

SCRIPT = """
import sys
from frontier import make_config, plan, run

print("the script runs")
config = make_config(
    "script", {"kind": "tiles", "rows": 2, "columns": 5}, search={"in_memory": False},
    store={"path": sys.argv[1]}, cluster={"workers": 1, "memory": "600MB"},
)
print(run(plan(config)).depth)
"""


@pytest.mark.sweep
def test_a_script_without_a_main_part(tmp_path):
    """Workers do not run it again, as a process that Python spawns would."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    home = {**os.environ, "PYTHONPATH": str(CONFIG.parents[1])}
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, env=home
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["the script runs", "55", ""]


def spawned(name):
    with local._script_left_alone():
        return spawn.get_preparation_data(name)


def test_other_processes_are_prepared_as_ever(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/a/script.py", raising=False)
    assert spawned("Process-1")["init_main_from_path"] == "/a/script.py"
    assert not {key for key in spawned("Dask Worker process (from Nanny)") if "main" in key}


@pytest.mark.sweep
def test_workers_hear_no_ctrl_c(tmp_path):
    """Neither the first ones nor one that replaces another."""
    heard = []

    def look(event):
        if isinstance(event, Started):
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            first = workers_of(cluster)
            os.kill(min(first), signal.SIGKILL)
            while len(now := workers_of(cluster)) < 2 or now == first:
                time.sleep(0.05)
            for process in first & now | now - first:
                os.kill(process, signal.SIGINT)
            heard.extend([first, now])

    assert_right(api.run(api.plan(config_of(tmp_path / "run", 6)), listeners=[look]), 6)
    first, now = heard
    assert len(first | now) == 3


def command(path, **settings):
    return subprocess.Popen(
        python("run", CONFIG, **TASKS, **{"store.path": path, **settings}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


MANY = {"cluster.workers": "30", "cluster.memory": "600MB", "cluster.oversubscribe": "true"}
"""More workers than start at once anywhere."""


@pytest.mark.sweep
def test_ctrl_c_while_a_cluster_starts(tmp_path):
    """The first worker's process is there, the last one's not yet ready."""
    run = command(tmp_path / "run", **MANY)
    while len(psutil.Process(run.pid).children()) < 5:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    said = run.communicate()[1]
    assert run.returncode == 3, said
    assert "Traceback" not in said
    assert "interrupted before the run began" in said
    while any(group_of(process.pid) == run.pid for process in psutil.process_iter()):
        time.sleep(0.05)


@pytest.mark.sweep
@pytest.mark.parametrize("interrupted", [False, True])
def test_workers_that_do_not_end_are_ended(tmp_path, interrupted):
    """Those that hang, here because they are stopped, hold nobody up."""
    hung = set()

    def hang(event):
        # After the last task of all, that of the empty layer: nobody waits for another one.
        if not isinstance(event, TaskFinished) or event.depth <= KNOWN[4][0]:
            return
        if event.done == event.tasks:
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            hung.update(workers_of(cluster))
            for process in hung:
                os.kill(process, signal.SIGSTOP)
            if interrupted:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        api.run(as_bits(api.plan(config_of(tmp_path / "run"))), listeners=[hang])
    assert len(hung) == 2
    assert not any(psutil.pid_exists(process) for process in hung)
    assert api.open_run(tmp_path / "run").complete != interrupted
    assert_right(api.run(api.plan(config_of(tmp_path / "run"))), 4)


@pytest.mark.sweep
class Ending:
    """What looks after a worker, whose process is taken away after some looks at it."""

    def __init__(self, process, looks):
        self._process, self._looks = process, looks

    @property
    def pid(self):
        self._looks -= 1
        return self._process.pid if self._looks >= 0 else None


def test_workers_that_end_while_they_are_ended():
    """Dask forgets the process of a worker in another thread, between any two steps."""
    for looks in (0, 1, 2):
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        nannies = [Ending(None, 1), Ending(process, looks)]  # of the first, None has no pid
        local._kill(SimpleNamespace(_created=nannies))
        if looks == 0:
            process.kill()
        assert process.wait() == -signal.SIGKILL
        process.stdin.close()


@pytest.mark.parametrize(("files", "named"), [(40, True), (100_000, False)])
def test_few_open_files_are_named_where_workers_do_not_start(monkeypatch, files, named):
    """Dask says no more than that they do not."""

    def refused(start, loop):
        start.close()
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(local.resource, "getrlimit", lambda limit: (files, files))
    monkeypatch.setattr("asyncio.run_coroutine_threadsafe", refused)
    cluster = SimpleNamespace(worker_spec={}, new_worker_spec=dict, loop=None)
    cluster.loop = SimpleNamespace(asyncio_loop=None)
    cluster._correct_state = lambda: None
    with pytest.raises(Stopped, match="1 worker did not start") as caught:
        local._start(cluster, 1)
    assert ("with more open files than 40 (ulimit -n)" in str(caught.value)) == named


@pytest.mark.sweep
def test_workers_that_do_not_start(tmp_path):
    config = config_of(tmp_path / "run")
    with (
        dask.config.set({"distributed.worker.preload": ["no_such_module"]}),
        pytest.raises(Stopped, match=r"2 workers did not start .*cluster\.workers"),
    ):
        api.run(api.plan(config))


def test_workers_are_ended_where_the_system_gives_no_thread(monkeypatch):
    """As where memory is limited (ulimit -v): the reason why the cluster ends is told, no other."""

    class NoThread:
        def __init__(self, **_):
            pass

        def start(self):
            raise RuntimeError("can't start new thread")

    worker = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(local.threading, "Thread", NoThread)
    local._end(SimpleNamespace(_created=[worker]), 0.0)
    assert worker.wait() == -signal.SIGKILL
