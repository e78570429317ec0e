"""Telling a listener that a kernel is about to be compiled. Compiling may take half a minute."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[], None] | None = None


@contextmanager
def compiling_told_to(listener: Callable[[], None] | None) -> Iterator[None]:
    """While the body runs, call `listener` before each kernel is compiled, in the thread that
    compiles it, and again while this process waits for another one to compile. An error that it
    raises ends the call of the kernel. It replaces any other listener for that time. With None,
    nothing is called."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def tell_compiling() -> None:
    """Tell the listener, if there is one, that a kernel is about to be compiled."""
    if _listener:
        _listener()
