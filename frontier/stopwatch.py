"""Where a worker's time goes."""

import time

KINDS = ("disk", "codec", "kernel", "rest")


class Stopwatch:
    """Adds up seconds by kind; each lap takes what passed since the last one."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        self.seconds = dict.fromkeys(KINDS, 0.0)
        self._last = time.perf_counter()

    def go_on(self) -> None:
        """Leave out what passed since the last lap."""
        self._last = time.perf_counter()

    def lap(self, kind: str) -> None:
        now = time.perf_counter()
        self.seconds[kind] += now - self._last
        self._last = now
