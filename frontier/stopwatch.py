"""The time of a process, by kind of work."""

import threading
import time

KINDS = ("disk", "codec", "kernel", "rest")


class Preparing:
    """A clock that runs while kernels are made ready: Numba imported, kernels loaded or compiled.

    Threads may enter it while others are inside, as all but one wait for the compiler; and entering
    it again inside itself changes nothing.
    """

    def __init__(self):
        self._seconds, self._began, self._inside = 0.0, 0.0, 0
        self._one_thread = threading.Lock()

    def __enter__(self) -> None:
        with self._one_thread:
            if not self._inside:
                self._began = time.perf_counter()
            self._inside += 1

    def __exit__(self, *_) -> None:
        with self._one_thread:
            self._inside -= 1
            if not self._inside:
                self._seconds += time.perf_counter() - self._began

    @property
    def seconds(self) -> float:
        """How long it has run by now."""
        with self._one_thread:
            now = time.perf_counter()
            return self._seconds + (now - self._began if self._inside else 0.0)


preparing = Preparing()


def working_time() -> float:
    """The seconds of a clock that stands still while kernels are made ready, as that is no part of
    a search. It stands to within a microsecond, so a difference may be that much below 0."""
    return time.perf_counter() - preparing.seconds


class Stopwatch:
    """Adds up the seconds of `working_time` by kind; a lap adds what passed since the last one."""

    def __init__(self):
        self.seconds = dict.fromkeys(KINDS, 0.0)
        self._last = working_time()

    def go_on(self) -> None:
        """Leave out the time since the last lap."""
        self._last = working_time()

    def lap(self, kind: str) -> None:
        now = working_time()
        self.seconds[kind] += max(0.0, now - self._last)
        self._last = now
