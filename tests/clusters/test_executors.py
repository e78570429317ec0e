"""Calls on the workers of a Dask scheduler: each is done once, however many workers there are."""

import threading
from types import SimpleNamespace

import pytest
from distributed import Client, LocalCluster
from sweeps import swept

from frontier.clusters.executors import Distributed
from frontier.errors import Stopped


@pytest.fixture(scope="module")
def client():
    """Of a scheduler with two workers, threads of this process."""
    workers = LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    )
    with workers as cluster, Client(cluster) as client:
        yield client


@swept("count", [0, 1, 5, 6, 7, 200], few=[0, 7, 200])
def test_each_call_is_done_once(client, count):
    executor, done = Distributed(client, 10), []
    for result in executor.run(divmod, [(i, 7) for i in range(count)], lambda: False):
        done.append(result)
    assert sorted(done) == [divmod(i, 7) for i in range(count)]


def test_calls_without_arguments(client):
    assert list(Distributed(client, 10).run(dict, [()] * 9, lambda: False)) == [{}] * 9


def test_so_many_are_under_way_as_workers_can_use(client):
    """Also when there are fewer workers than before."""
    executor, under_way, most, lock = Distributed(client, 10), 0, [], threading.Lock()
    handed_out = 0

    def calls():
        nonlocal handed_out
        for i in range(60):
            handed_out += 1
            yield (i,)

    taken = 0
    for _ in executor.run(abs, calls(), lambda: False):
        taken += 1
        with lock:
            most.append(handed_out - taken)
            under_way = max(under_way, most[-1])
        if taken == 20:
            executor.workers, executor._looked = 1, float("inf")  # one has gone
    assert taken == 60
    assert under_way <= 2 * Distributed.WINDOW * 2  # those that have ended are not told yet
    assert max(most[40:]) <= 2 * Distributed.WINDOW


def test_no_call_is_begun_after_a_stop(client):
    stopping, done = threading.Event(), []
    for result in Distributed(client, 10).run(abs, [(i,) for i in range(100)], stopping.is_set):
        done.append(result)
        stopping.set()
    assert 1 <= len(done) <= 4 * Distributed.WINDOW


def test_an_error_of_a_call_is_raised(client):
    """After some tries; what has ended beside it does not matter."""
    calls = [(1, 1), (1, 0), (1, 2)]
    with pytest.raises(ZeroDivisionError):
        list(Distributed(client, 10).run(divmod, calls, lambda: False))


def test_a_client_that_has_lost_its_scheduler():
    """It first tries to find it again, and then gives up."""
    about = {"n_workers": 2}
    client = SimpleNamespace(
        dashboard_link=None, status="running", scheduler_info=lambda n_workers: about
    )
    executor = Distributed(client, 10)
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


def test_a_scheduler_that_is_gone(client):
    executor = Distributed(client, 10)
    future = client.submit(abs, 1, pure=False)
    future.result()
    future.cancel()
    with pytest.raises(Stopped, match="connection to the scheduler was lost"):
        executor._results([future])
