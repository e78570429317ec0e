"""The time of a process, by kind of work."""

import threading
import time

KINDS = ("disk", "codec", "kernel", "rest")


class Preparing:
    """A clock that runs while kernels are prepared: while Numba is imported, and kernels are loaded
    or compiled.

    Several threads may be inside at the same time, because all but one wait for the compiler.
    Entering it again from inside changes nothing.
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
        """The seconds that the clock has run so far."""
        with self._one_thread:
            now = time.perf_counter()
            return self._seconds + (now - self._began if self._inside else 0.0)


preparing = Preparing()


def working_time() -> float:
    """Return the seconds of a clock that stops while kernels are prepared, because preparing them
    is not part of a search. The clock is accurate to a microsecond, so a difference may be negative
    by that much."""
    return time.perf_counter() - preparing.seconds


class Stopwatch:
    """Adds up the seconds of `working_time` by kind of work; a lap adds the time since the last
    lap."""

    def __init__(self):
        self.seconds = dict.fromkeys(KINDS, 0.0)
        self._last = working_time()

    def go_on(self) -> None:
        """Ignore the time since the last lap."""
        self._last = working_time()

    def lap(self, kind: str) -> None:
        now = working_time()
        self.seconds[kind] += max(0.0, now - self._last)
        self._last = now
