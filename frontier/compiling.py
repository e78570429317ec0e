"""Who is told that a kernel is about to be compiled, which may take half a minute."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[], None] | None = None


@contextmanager
def compiling_told_to(listener: Callable[[], None] | None) -> Iterator[None]:
    """Call `listener` in the body before a kernel is compiled, in the thread that compiles it. It
    takes the place of any other one for so long; None says nothing."""
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
