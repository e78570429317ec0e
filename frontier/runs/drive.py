"""One start of a run of any kind: its directory, its lock, its workers, its signals and its events.

`drive` opens the run or creates it, starts the workers, and lets a `Search` do the work. A kind of
run defines the search.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import ClassVar, Generic, TypeVar

from frontier.config.loading import Config
from frontier.errors import Stopped, reason_of, system_errors
from frontier.executors.choice import check_cluster, executor_of, workers_to_start
from frontier.executors.executor import Executor
from frontier.jit.notices import compiling_told_to
from frontier.runs import events
from frontier.runs.directory import make_directory
from frontier.runs.events import Event, Listener
from frontier.runs.stored_run import StoredRun
from frontier.signals import interrupts_stop
from frontier.storage.base import Storage
from frontier.storage.lock import NotWritable, writing

RunT = TypeVar("RunT", bound=StoredRun)


class Search(ABC, Generic[RunT]):
    """What a start of a run is to do.

    kind: the kind of the run. config: the config of the start. storage: where the run is. request:
    the arguments of the start, for the log. mode: how the run searches, in words. alone: True if
    local workers need not start, because there is no work to share. client: a Dask client whose
    workers do the tasks; None for the cluster of the config. stopping: set once the run should
    stop.
    """

    kind: ClassVar[str]
    mode, alone = "", False

    def __init__(self, config: Config, storage: Storage, request: dict[str, int | None], client):
        self.config, self.storage, self.request = config, storage, request
        self.client, self.stopping = client, threading.Event()

    @abstractmethod
    def open(self) -> RunT:
        """Open the run, or create it if there is none.

        Raises InputError if the run there does not belong to this search, CorruptRunError if it
        lacks a file.
        """

    @abstractmethod
    def is_done(self, run: RunT) -> bool:
        """Return whether the run has all that the start is to find."""

    def prepare(self, run: RunT) -> None:
        """Make the opened run ready for this start; the caller holds the lock."""

    @property
    def workers(self) -> int:
        """How many workers are started or joined; 0 if this process does all the work."""
        return workers_to_start(self.config.cluster, self.alone, self.client)

    def check_cluster(self) -> None:
        """Raise InputError if the workers cannot be started from here."""
        check_cluster(self.config.cluster, not self.workers, self.client)

    def executor(self) -> AbstractContextManager[Executor]:
        """Return the workers as a context manager."""
        return executor_of(self.config.cluster, self.alone, self.client)

    @abstractmethod
    def search(self, run: RunT, executor: Executor, emit: Listener, began: float) -> None:
        """Search until the start is done, and commit the results.

        began: `time.perf_counter()` when the start began. Raises errors.Stopped if the run should
        stop, FrontierError if it fails; in both cases the run can be resumed from its last commit.
        """

    def stop(self) -> None:
        """Make `search` stop as soon as it can; called from a signal handler."""
        self.stopping.set()

    def check_goes_on(self) -> None:
        """Raise errors.Stopped if the run should stop."""
        if self.stopping.is_set():
            raise Stopped("interrupted")

    def close(self, run: RunT) -> None:
        """Free the memory that the search holds, perhaps gigabytes."""

    def check(self, run: RunT) -> None:
        """Raise CorruptRunError if the results of the run contradict what is known."""

    @abstractmethod
    def pause(self, run: RunT) -> str:
        """Return why the start has ended though the run is not complete."""


def drive(
    search: Search[RunT], listeners: Sequence[Listener] = (), take_over: bool | str = False
) -> RunT:
    """Start or resume a run, and return it when the start is done.

    take_over: see `RunLock`. Raises errors.Stopped if the run is interrupted, InputError if it
    cannot be done, CorruptRunError if its files are damaged or its results are wrong.
    """
    storage = search.storage

    def emit(event: Event) -> None:
        for listener in listeners:
            listener(event)

    with system_errors():
        if not StoredRun.exists(storage):
            search.check_cluster()
        make_directory(storage)
        try:
            with writing(storage, take_over):
                run = search.open()
                search.prepare(run)
                run.sweep()
                if not search.is_done(run):
                    with run.gone_instead():
                        _start(search, run, emit)
                return run
        except NotWritable:
            if not StoredRun.exists(storage) or not search.is_done(run := search.open()):
                raise
            return run  # all is written


def _start(search: Search[RunT], run: RunT, emit: Listener) -> None:
    began = time.perf_counter()
    search.check_cluster()

    def before_compiling() -> None:
        search.check_goes_on()
        emit(events.Compiling())

    emit(events.Starting(**run.particulars(search.workers)))
    with search.executor() as executor:
        about = run.particulars(executor.workers)
        emit(events.Started(**about, request=search.request, mode=search.mode,
                            dashboard=executor.dashboard))  # fmt: skip
        try:
            # `gone_instead` also applies here, so that the log has the reason.
            with (
                compiling_told_to(before_compiling),
                interrupts_stop(search.stop, partial(emit, events.Stopping())),
                run.gone_instead(),
            ):
                search.search(run, executor, emit, began)
        except BaseException as error:
            emit(events.Stopped(time.perf_counter() - began, reason_of(error)))
            raise
        finally:
            search.close(run)
    search.check(run)
    elapsed = time.perf_counter() - began
    emit(events.Finished(elapsed) if run.complete else events.Stopped(elapsed, search.pause(run)))
