"""Processes that share a run directory, as threads of which one at a time goes on.

An actor stops before each change of a name in the file system, and goes on as far as it is told to.
So a test decides, change by change, in which order several of them write, and where one is killed:
it is then never told to go on. What it holds ends with `end`.
"""

import os
import threading
from collections.abc import Callable

from numba.core.compiler_lock import global_compiler_lock

CHANGES = ("mkdir", "replace", "rename", "rmdir", "unlink")
"""What changes a name, in the module os."""


class Ended(BaseException):
    """Raised in an actor that is not wanted any more."""


class Actor:
    """process: whatever tells processes apart; an actor is one thread of it."""

    def __init__(self, target: Callable[[], object], process: object = None):
        self.process = process
        self.ended, self.result, self.error = False, None, None
        self._left, self._unwanted = 0, False
        self._told, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(target,), daemon=True)
        self._thread.actor = self
        self._thread.start()

    def _run(self, target: Callable[[], object]) -> None:
        self._told.acquire()
        try:
            if not self._unwanted:
                self.result = target()
        except BaseException as error:
            self.error = error
        self.ended = True
        self._stopped.release()

    def go_on(self, changes: int = 10**9) -> None:
        """Let it do so many changes of names, or what it can until it ends or has to wait."""
        if not self.ended:
            self._left = changes
            self._told.release()
            self._stopped.acquire()

    def wait(self) -> None:
        """In its thread: stop until it is told to go on."""
        self._stopped.release()
        self._told.acquire()
        if self._unwanted:
            raise Ended

    def before_change(self) -> None:
        """In its thread: stop, if it has done what it may."""
        while not (self._left or self._unwanted):
            self.wait()
        self._left -= 1

    def end(self) -> None:
        """Let its thread end, however."""
        self._unwanted = True
        self.go_on()
        self._thread.join()


def here() -> Actor | None:
    """The actor whose thread this is."""
    return getattr(threading.current_thread(), "actor", None)


def stop_before_changes(patch) -> None:
    """From now on actors stop; patch: a `pytest.MonkeyPatch`."""

    def stopping(change: Callable) -> Callable:
        def changed(*arguments, **more):
            # An actor that stopped while it saves a kernel would keep the others from compiling.
            if (actor := here()) and not global_compiler_lock.is_locked():
                actor.before_change()
            return change(*arguments, **more)

        return changed

    for name in CHANGES:
        patch.setattr(os, name, stopping(getattr(os, name)))
