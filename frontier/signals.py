"""Signals that are answered otherwise for a while."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def handling(handlers: Mapping[int, Callable | int]) -> Iterator[None]:
    """Answer signals, by number, in these ways; afterwards as before.

    Nothing changes outside the main thread, where Python lets nobody say how: signals go elsewhere.
    """
    before = {}
    try:
        for number, handler in handlers.items():
            before[number] = signal.signal(number, handler)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
