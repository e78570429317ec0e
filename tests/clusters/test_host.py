"""One worker of Dask for all processes of a host."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from distributed import Client, LocalCluster

from frontier.clusters.executors import Call, Distributed
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


def started(client, *options):
    """The process of a worker that has others below it."""
    return subprocess.Popen(
        [
            sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address,
            "--no-dashboard", "--memory-limit", "1GB", "--preload", "frontier.clusters.host",
            *options,
        ],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture
def host(client):
    worker = started(
        client, "--no-nanny", "--resources", f"processes={PROCESSES}", "--nthreads", "4"
    )
    client.wait_for_workers(1)
    yield worker
    worker.kill()
    worker.communicate()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--no-nanny"], "--resources processes=0 --nthreads"),
        (["--no-nanny", "--resources", "processes=1.5"], "a whole number of processes"),
        (["--no-nanny", "--resources", "processes=-2"], "a whole number of processes"),
        (["--no-nanny", "--resources", "processes=2", "--nthreads", "2"], "2 threads for each"),
        (["--resources", "processes=1", "--nthreads", "2", "--death-timeout", "9"], "--no-nanny"),
    ],
)
def test_a_host_that_cannot_be(client, options, reason):
    """It says why, and the scheduler never hears of it."""
    worker = started(client, *options)
    _, said = worker.communicate()
    assert worker.returncode != 0
    assert reason in said
    assert client.scheduler_info()["workers"] == {}


def test_calls_are_done_below(client, host):
    executor = Distributed(client, 10)
    assert executor.workers == PROCESSES
    done = list(executor.run([Call(process_of, (number,)) for number in range(60)], lambda: False))
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
        list(Distributed(client, 10).run(map(Call, [divmod] * 2, [(1, 1), (1, 0)]), lambda: False))


def test_a_process_that_is_killed(client, host, tmp_path):
    """It is replaced, and its calls are done again."""
    calls = [Call(killed_once, (number, tmp_path / "killed")) for number in range(30)]
    assert sorted(Distributed(client, 10).run(calls, lambda: False)) == [*range(30)]
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
