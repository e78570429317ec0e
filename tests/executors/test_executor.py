"""Calls by each executor: each is done once, however many workers there are."""

import os
import socket
import threading
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import Client, Future, LocalCluster

from frontier import __version__
from frontier.errors import InputError, Stopped
from frontier.executors import dask_executor
from frontier.executors.dask_executor import WINDOW, DaskExecutor
from frontier.executors.executor import Call, Serial, Threads
from tests.support.sweeps import swept


@pytest.fixture(scope="module")
def client():
    """Of a scheduler with two workers, threads of this process."""
    workers = LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    )
    with workers as cluster, Client(cluster) as client:
        yield client


def calls_of(function, count):
    return [Call(function, (number,)) for number in range(count)]


EXECUTORS = {
    "serial": lambda client: Serial(),
    "threads": lambda client: Threads(3),
    "dask": lambda client: DaskExecutor(client, 10),
}


@pytest.mark.parametrize("kind", EXECUTORS)
@swept("count", [0, 1, 5, 6, 7, 200], few=[0, 7, 200])
def test_each_call_is_done_once(client, kind, count):
    executor, done = EXECUTORS[kind](client), []
    for result in executor.run([Call(divmod, (i, 7)) for i in range(count)], lambda: False):
        done.append(result)
    assert sorted(done) == [divmod(i, 7) for i in range(count)]


def test_a_worker_with_another_program_is_named(client, monkeypatch):
    """Before it looks at the call, which it may know under the same name with other arguments."""
    here, first = dask_executor.program_here(), iter([("far-away", "0.0.1")])
    monkeypatch.setattr(dask_executor, "program_here", lambda: next(first, here))
    with pytest.raises(InputError) as error:
        list(DaskExecutor(client, 10).run([Call(divmod, ())], lambda: False))
    for part in (socket.gethostname(), "far-away", "0.0.1", __version__):
        assert part in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("kind", EXECUTORS)
def test_calls_without_arguments(client, kind):
    assert list(EXECUTORS[kind](client).run([Call(dict)] * 9, lambda: False)) == [{}] * 9


@pytest.mark.parametrize("kind", EXECUTORS)
def test_one_run_follows_another(client, kind):
    """What the first has left does not count in the second."""
    executor = EXECUTORS[kind](client)
    for start in (0, 100):
        results = executor.run([Call(abs, (start + i,)) for i in range(50)], lambda: False)
        assert next(results) >= start
        results.close()
    assert sorted(executor.run([Call(abs, (200,))] * 3, lambda: False)) == [200] * 3


@pytest.mark.parametrize("kind", EXECUTORS)
def test_an_error_of_a_call_is_raised(client, kind):
    """By Dask after some tries; what has ended beside it does not matter."""
    calls = [Call(divmod, both) for both in [(1, 1), (1, 0), (1, 2)]]
    with pytest.raises(ZeroDivisionError):
        list(EXECUTORS[kind](client).run(calls, lambda: False))


@pytest.mark.parametrize("kind", EXECUTORS)
def test_no_call_is_begun_after_a_stop(client, kind):
    executor, stopping, done = EXECUTORS[kind](client), threading.Event(), []
    for result in executor.run(calls_of(abs, 100), stopping.is_set):
        done.append(result)
        stopping.set()
    assert 1 <= len(done) <= 2 * executor.at_once


class Noted(DaskExecutor):
    """Notes how many calls there are in each bundle that is handed out."""

    def __init__(self, client):
        super().__init__(client, 10)
        self.sizes = []

    def _hand_out(self, bundles):
        self.sizes += map(len, bundles)
        return super()._hand_out(bundles)


def test_so_many_are_under_way_as_workers_can_use(client, monkeypatch):
    """Also when there are fewer workers than before."""
    executor, ahead = Noted(client), []
    monkeypatch.setattr(dask_executor, "BUNDLES_A_SECOND", float("inf"))
    for taken, _ in enumerate(executor.run(calls_of(abs, 60), lambda: False), 1):
        ahead.append(len(executor.sizes) - taken)
        if taken == 20:
            executor.workers, executor._looked = 1, float("inf")  # one has gone
    assert executor.sizes == [1] * 60
    assert WINDOW <= max(ahead) < WINDOW * 2
    assert max(ahead[40:]) < WINDOW


def test_short_calls_are_handed_out_together(client):
    """At most as many as leave work for each worker; none before it is known how long they take."""
    executor, calls = Noted(client), calls_of(abs, 300)
    assert sorted(executor.run(calls, lambda: False)) == list(range(300))
    assert executor.sizes[: executor.at_once] == [1] * executor.at_once
    assert sum(executor.sizes) == 300
    assert len(executor.sizes) < 100
    assert 1 < max(executor.sizes) <= 150


@pytest.mark.parametrize(
    ("seconds", "workers", "together"),
    [(1.0, 100, 1), (1.0, 300, 2), (1.0, 1000, 7), (0.1, 10, 1), (0.01, 10, 7)],
)
def test_a_batch_has_more_calls_the_more_workers_there_are(seconds, workers, together):
    executor = DaskExecutor.__new__(DaskExecutor)
    executor.workers, executor._call_seconds = workers, seconds
    waiting = deque([Call(abs)] * 10_000)
    assert executor._next_bundles(waiting, 2) == [[Call(abs)] * together] * 2
    assert len(waiting) == 10_000 - 2 * together
    last = deque([Call(abs)] * workers)
    assert executor._next_bundles(last, 10_000) == [[Call(abs)]] * workers


def slowly(number):
    time.sleep(0.2)
    return number


def test_slow_calls_that_follow_short_ones_are_handed_out_one_by_one(client):
    executor = Noted(client)
    list(executor.run(calls_of(abs, 40), lambda: False))
    executor.sizes.clear()
    list(executor.run(calls_of(slowly, 20), lambda: False))
    assert executor.sizes[-1] == 1
    assert executor._call_seconds >= 0.2


def test_calls_whose_futures_are_cancelled(client):
    """As somebody else may do, or a scheduler that is restarted."""
    results = DaskExecutor(client, 10).run(calls_of(slowly, 40), lambda: False)
    next(results)
    client.cancel([Future(key, client) for key in client.futures])
    with pytest.raises(Stopped, match="connection to the scheduler was lost"):
        list(results)


def test_a_run_that_is_stopped_without_workers_ends(client):
    """Nobody would do the calls under way."""
    executor, done = DaskExecutor(client, 10), []
    for result in executor.run(calls_of(abs, 100), lambda: len(done) > 0):
        done.append(result)
        executor.workers, executor._looked = 0, float("inf")
    assert 1 <= len(done) < 10


def test_calls_that_do_not_finish_hold_up_no_stop(client, monkeypatch, tmp_path):
    """Such as those whose workers compile kernels first."""
    monkeypatch.setattr(dask_executor, "STOP_SECONDS", 0.1)
    pipe, done = tmp_path / "pipe", []
    os.mkfifo(pipe)
    calls = [Call(abs, (1,)), Call(Path.read_text, (pipe,))]
    try:
        for result in DaskExecutor(client, 10).run(calls, lambda: bool(done)):
            done.append(result)
            if result != 1:
                break
    finally:
        pipe.write_text("end")  # the reader waits for it
    assert done == [1]


def test_a_client_that_has_lost_its_scheduler():
    """It first tries to find it again, and then gives up."""
    about = {"n_workers": 2}
    client = SimpleNamespace(
        dashboard_link=None,
        status="running",
        scheduler_info=lambda n_workers: about,
    )
    executor = DaskExecutor(client, 10)
    assert executor.workers == 2
    about.clear()
    for status, workers in (("connecting", 0), ("closed", None)):
        client.status, executor._looked = status, float("-inf")
        if workers is None:
            with pytest.raises(Stopped, match="connection to the scheduler was lost"):
                executor._look()
        else:
            executor._look()
            assert executor.workers == workers


@swept("what", ["client", "cluster", "scheduler"], few=1)
@swept("looks", [False, True], few=1)
@swept("at", [0, 1, 5], few=2)
def test_a_client_that_is_closed_under_way(what, looks, at):
    """The sentence is the same, whichever call meets it. looks: the next count of the workers."""
    workers = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with workers as cluster, Client(cluster, set_as_default=False) as client:
        closes = {"client": client.close, "cluster": cluster.close, "scheduler": client.shutdown}
        executor, ended = DaskExecutor(client, 10), 0

        def close():
            closes[what]()
            executor._looked = float("-inf" if looks else "inf")

        if not at:
            close()
        with pytest.raises(Stopped, match="connection to the scheduler was lost"):  # noqa: PT012
            for _ in executor.run([Call(time.sleep, (0.01,))] * 40, lambda: False):
                ended += 1
                if ended == at:
                    close()


def test_a_client_that_is_closed_already(client):
    with Client(client.cluster, set_as_default=False) as closed:
        pass
    with pytest.raises(Stopped, match="connection to the scheduler was lost"):
        DaskExecutor(closed, 10)
