"""Calls by each executor: each is done once, however many workers there are."""

import threading
import time
from types import SimpleNamespace

import pytest
from distributed import Client, LocalCluster
from sweeps import swept

from frontier.clusters import dask_executor
from frontier.clusters.dask_executor import TOPIC, WINDOW, Batch, DaskExecutor, Pending
from frontier.clusters.executor import Call, Serial, Threads
from frontier.errors import Stopped
from frontier.stopwatch import Preparing, preparing


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
    """Notes the batches that are handed out."""

    def __init__(self, client):
        super().__init__(client, 10)
        self.batches = []

    def _hand_out(self, batches, priority=0):
        self.batches += [[number for number, _ in batch] for batch in batches]
        super()._hand_out(batches, priority)


def test_so_many_are_under_way_as_workers_can_use(client, monkeypatch):
    """Also when there are fewer workers than before."""
    executor, ahead = Noted(client), []
    monkeypatch.setattr(dask_executor, "BATCHES_A_SECOND", float("inf"))
    for taken, _ in enumerate(executor.run(calls_of(abs, 60), lambda: False), 1):
        ahead.append(len(executor.batches) - taken)
        if taken == 20:
            executor.workers, executor._looked = 1, float("inf")  # one has gone
    assert executor.batches == [[i] for i in range(60)]
    assert max(ahead) <= 2 * WINDOW * 2  # those that have ended are not told yet
    assert max(ahead[40:]) <= 2 * WINDOW


def test_short_calls_are_handed_out_together(client):
    """At most as many as leave work for each worker; none before it is known how long they take."""
    executor, calls = Noted(client), calls_of(abs, 300)
    assert sorted(executor.run(calls, lambda: False)) == list(range(300))
    assert executor.batches[: executor.at_once] == [[i] for i in range(executor.at_once)]
    assert [call for batch in executor.batches for call in batch] == list(range(300))
    assert len(executor.batches) < 100
    assert max(map(len, executor.batches)) <= 150


def compile_something(number):
    preparing.tell()
    return number


def test_a_worker_that_compiles_says_so_to_the_driver(client, monkeypatch):
    """The worker here is a thread of this process, but has its own clock as if it were none."""
    here, told = Preparing(), threading.Event()
    monkeypatch.setattr(dask_executor, "preparing", here)
    here.say = told.set
    executor = DaskExecutor(client, 10)
    monkeypatch.setattr(preparing, "say", dask_executor._tell_driver)
    monkeypatch.setattr(preparing, "_said", False)
    calls = calls_of(compile_something, 3)
    assert sorted(executor.run(calls, lambda: False)) == [0, 1, 2]
    assert told.wait(60)


@pytest.mark.sweep
def test_results_whose_event_is_lost(client):
    executor = DaskExecutor(client, 10)
    client.unsubscribe_topic(TOPIC)
    assert sorted(executor.run(calls_of(abs, 20), lambda: False)) == list(range(20))


HELD, FREE = threading.Event(), threading.Event()


def held_once(number: int) -> int:
    if number == 7 and not HELD.is_set():
        HELD.set()
        FREE.wait(60)
    return number


def test_a_call_that_takes_too_long_is_handed_out_again(client, monkeypatch):
    executor = Noted(client)
    monkeypatch.setattr(dask_executor, "BATCHES_A_SECOND", float("inf"))
    try:
        done = list(executor.run(calls_of(held_once, 40), lambda: False))
        assert HELD.is_set()
        assert not FREE.is_set()
    finally:
        FREE.set()
    assert sorted(done) == list(range(40))
    assert executor.batches[40:] == [[7]]


def test_a_copy_is_not_copied_soon():
    """Where nearly all workers are idle, a call is copied at once, and not again and again."""
    executor, before = DaskExecutor.__new__(DaskExecutor), time.monotonic() - 1
    executor.workers, executor._call_seconds, executor._durations = 100, 10.0, [10.0]
    first, second = Call(abs, (0,)), Call(abs, (1,))
    executor._pending = {0: Pending(first, before), 1: Pending(second, before, copied=True)}
    assert executor._late() == [(0, first)]
    executor._pending[0].copied = True
    assert executor._late() == []
    executor._pending[1].last_sign -= dask_executor.OVERDUE * 10
    assert executor._late() == [(1, second)]
    executor.workers = 2
    assert executor._late() == []  # every worker has something to do


@pytest.mark.sweep
def test_a_call_is_not_measured_by_those_of_another_run(client):
    executor = Noted(client)
    list(executor.run(calls_of(abs, 40), lambda: False))
    executor.batches.clear()
    assert list(executor.run([Call(slowly, (1,))], lambda: False)) == [1]
    assert len(executor.batches) == 1


def slowly(number):
    time.sleep(20 * dask_executor.OVERDUE_SECONDS)
    return number


class Told(DaskExecutor):
    """Asks workers only for what they have not told."""

    def _reported(self):
        assert any(batch.missing for batch in self._batches.values())
        return super()._reported()


def test_a_stopped_run_ends_with_its_last_result(client):
    """It does not wait for Dask to say that the batches are over that have been told in full."""
    executor, stopping, done = Told(client, 10), threading.Event(), []
    for result in executor.run(calls_of(abs, 100), stopping.is_set):
        done.append(result)
        stopping.set()
        executor._looked = float("inf")  # no batch is dropped from now on
    assert sorted(done) == list(range(executor.at_once))


def test_a_client_that_has_lost_its_scheduler():
    """It first tries to find it again, and then gives up."""
    about = {"n_workers": 2}
    client = SimpleNamespace(
        dashboard_link=None,
        status="running",
        scheduler_info=lambda n_workers: about,
        subscribe_topic=lambda topic, handler: None,
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


def test_a_scheduler_that_is_gone(client):
    executor = DaskExecutor(client, 10)
    future = client.submit(abs, 1, pure=False)
    future.result()
    future.cancel()
    executor._batches[future.key] = Batch(future, {0})
    executor._pending[0] = Pending(Call(abs, (1,)), time.monotonic())
    with pytest.raises(Stopped, match="connection to the scheduler was lost"):
        list(executor._results(executor._finished()))
