"""Signal handlers that are installed only for a while."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def handling(handlers: Mapping[int, Callable | int]) -> Iterator[None]:
    """Handle signals, given by number, with these handlers, and restore the previous ones
    afterwards.

    Outside the main thread nothing changes, because Python allows handlers only in the main thread.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = {n: signal.signal(n, handler) for n, handler in handlers.items() if in_main_thread}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending() -> list[int]:
    """Return the signals that end this process: SIGTERM, and SIGHUP, which a terminal sends when it
    closes. An ignored SIGHUP, as under nohup, stays ignored."""
    hung_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGHUP] if hung_up else [signal.SIGTERM]


@contextmanager
def interrupts_stop(stop: Callable[[], None], say: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C, or another signal that ends this process, request a clean stop; a
    second Ctrl-C ends the process at once.

    stop: requests the stop, and may be called again. say: called once, at the first signal, in a
    thread of its own. A handler that waited for a lock would wait for ever if the main thread held
    that lock, or a lock that its holder needs.

    Queues send SIGTERM to each process of a job, and their scripts forward it, so it arrives twice.
    The SIGHUP of a terminal and its shell also arrives twice.
    """
    before, answered = signal.getsignal(signal.SIGINT), False
    saying = threading.Thread(target=say, daemon=True)

    def handle(number, frame):
        nonlocal answered
        stop()
        signal.signal(signal.SIGINT, before)
        if not answered:
            answered = True
            saying.start()

    with handling(dict.fromkeys([signal.SIGINT, *ending()], handle)):
        try:
            yield
        finally:
            if answered:
                saying.join()


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once, unless a handler other than Python's own is in place.

    Use it for imports: a library that is only half imported may swallow an exception.
    """
    default_handler = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with handling({signal.SIGINT: _leave} if default_handler else {}):
        yield


def _leave(number, frame) -> None:
    os.write(2, b"frontier: interrupted\n")
    os._exit(3)  # the code of frontier.errors.Stopped, which may not be loaded yet
