"""One worker of Dask for all processes of a host."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from distributed import Client, LocalCluster

from frontier.clusters.executors import Distributed
from frontier.clusters.kinds import on_client
from frontier.config import config_of

PROCESSES = 2


@pytest.fixture
def client():
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def host(client):
    """The process of a worker that has others below it."""
    worker = subprocess.Popen(
        [
            sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address,
            "--no-nanny", "--no-dashboard", "--resources", f"processes={PROCESSES}",
            "--nthreads", str(2 * PROCESSES), "--memory-limit", "1GB",
            "--preload", "frontier.clusters.host",
        ],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client.wait_for_workers(1)
    yield worker
    worker.kill()
    worker.wait()


def test_calls_are_done_below(client, host):
    executor = Distributed(client, 10)
    assert executor.workers == PROCESSES
    done = list(executor.run(process_of, [(number,) for number in range(60)], lambda: False))
    assert sorted(number for number, _ in done) == list(range(60))
    below = {process.pid for process in psutil.Process(host.pid).children(recursive=True)}
    assert {process for _, process in done} <= below


def process_of(number):
    time.sleep(0.01)
    return number, os.getpid()


def test_a_plan_counts_the_processes(client, host):
    config = config_of({"name": "any", "puzzle": {"kind": "tiles", "rows": 2, "columns": 3}}, "")
    cluster = on_client(config, client).cluster
    assert cluster.workers == PROCESSES
    assert cluster.memory <= 10**9 // PROCESSES


def test_an_error_of_a_call_is_raised(client, host):
    with pytest.raises(ZeroDivisionError):
        list(Distributed(client, 10).run(divmod, [(1, 1), (1, 0)], lambda: False))


def test_a_process_that_is_killed(client, host, tmp_path):
    """It is replaced, and its calls are done again."""
    calls = [(number, tmp_path / "killed") for number in range(30)]
    assert sorted(Distributed(client, 10).run(killed_once, calls, lambda: False)) == [*range(30)]
    assert (tmp_path / "killed").exists()


def killed_once(number, mark):
    if number == 7 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_is_below_ends_with_the_host(client, host, number):
    below = psutil.Process(host.pid).children(recursive=True)
    assert len(below) >= PROCESSES
    host.send_signal(number)
    host.wait()
    psutil.wait_procs(below)
    assert not any(process.is_running() for process in below)
