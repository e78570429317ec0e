"""Kernels: functions that Numba compiles when they are first called.

Importing Numba takes longer than many commands, so it is imported at the first call of a kernel.
`frontier.jit.cache` compiles kernels and stores them.
"""

import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from frontier.stopwatch import preparing

SMALL = 10_000

_one_thread = threading.RLock()


class Kernel:
    """A function that is compiled when Python or another kernel first calls it."""

    def __init__(self, function: Callable):
        self.function = function
        self._compiled: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments):
        return (self._compiled or self.compiled)(*arguments)

    def python_if_small(self, size: float) -> Callable:
        """Return the kernel, or for little work the Python function, which finishes before Numba
        could be loaded.

        size: the approximate number of times that the innermost loop runs.
        """
        return self.function if size <= SMALL and self._compiled is None else self

    @property
    def compiled(self) -> Any:
        """The function that Numba makes from it."""
        with _one_thread:
            if self._compiled is None:
                with preparing:
                    from frontier.jit.cache import compiled
                self._compiled = compiled(self.function)
        return self._compiled

    @property
    def _numba_type_(self):
        """The type through which another kernel calls it under Numba."""
        return self.compiled._numba_type_


kernel = Kernel
