"""Handlers of signals that are in place for a while."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def handling(handlers: Mapping[int, Callable | int]) -> Iterator[None]:
    """Handle signals, by number, in these ways, and afterwards as before.

    Outside the main thread nothing changes, as Python allows handlers in the main thread alone.
    """
    here = threading.current_thread() is threading.main_thread()
    before = {n: signal.signal(n, handler) for n, handler in handlers.items() if here}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending() -> list[int]:
    """The signals that ask this process to end: SIGTERM, and SIGHUP, which the closing of a
    terminal sends, unless that is ignored, as under nohup."""
    hung_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGHUP] if hung_up else [signal.SIGTERM]


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process there and then, unless it has a handler that is not Python's own.

    Libraries are imported so, as they may swallow an exception when they are half imported.
    """
    asked = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with handling({signal.SIGINT: _leave} if asked else {}):
        yield


def _leave(number, frame) -> None:
    os.write(2, b"frontier: interrupted\n")
    os._exit(3)  # as for frontier.errors.Stopped, which may not be loaded yet
