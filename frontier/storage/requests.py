"""Requests to an object store, and how long to wait for an answer.

A request that fails is repeated, at first immediately and then less and less often. So the store
may carry out a request twice; the requests made here can safely be repeated. If a store has not
answered for minutes, the request fails. Until the store answers again, further requests to it fail
much sooner. While the main thread waits for an answer, Ctrl-C interrupts it.

obstore finds credentials and the address of a bucket as its documentation describes: in variables
such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL, or from the machine on which it runs.
"""

import errno
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import timedelta
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from frontier.errors import InputError
from frontier.storage.base import Replaced

if TYPE_CHECKING:
    from obstore.store import ObjectStore

PATIENCE, FIRST_PATIENCE = 240.0, 20.0
"""The seconds for which a request is repeated before it fails. The second number is for a store
that has never answered this process, or has failed and not answered since. obstore waits 30 seconds
for each answer (AWS_TIMEOUT)."""

WAITS = {
    "init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=15), "base": 4,
}  # fmt: skip
"""The waits before a request is repeated. Each is drawn at random, up to `base` times the previous
wait; with a base below e the waits would not grow."""

T = TypeVar("T")


def library() -> ModuleType:
    """Return obstore; raises InputError if it is not installed."""
    try:
        import obstore
        import obstore.store
    except ImportError:
        raise InputError(
            "the library for object stores is not installed: pip install 'frontier[cloud]'"
        ) from None
    return obstore


def masked(text: str) -> str:
    """Return a text without the user names and passwords of the URLs in it."""
    return re.sub(r"[^\s/@]+:[^\s/@]*@", "…@", text)


@lru_cache
def bucket_of(url: str, patience: float = PATIENCE) -> "ObjectStore":
    """Return the bucket at a URL, with the credentials of this process. The bucket and its
    connections are cached.

    patience: the seconds for which a request is repeated.
    """
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        if not re.match("https?://", endpoint := os.environ.get(name, "http://")):
            raise InputError(
                f"{name} = {masked(endpoint)}: expected a URL that begins with https://"
            )
    return library().store.from_url(
        url,
        retry_config={
            "max_retries": 1_000_000,
            "retry_timeout": timedelta(seconds=patience),
            "backoff": WAITS,
        },
    )


_answering: set[str] = set()
"""The buckets that answered their last request from this process, whichever object it was about."""

UNANSWERED = re.compile(r"error sending|error decoding|status code: 5")
"""The obstore errors for a request without an answer, or with a useless one."""


def patience_for(bucket: str) -> float:
    """Return the seconds for which a request to a bucket is repeated."""
    return PATIENCE if bucket in _answering else FIRST_PATIENCE


def ask_store(bucket: str, name: str, request: Callable[[], T], conditional: bool = False) -> T:
    """Return a store's answer to a request; raises the OSError that a file would give.

    name: the name of the object that the request is about, for errors. conditional: True if the
    request is only for one version of the object; raises `Replaced` if the object has another.
    """
    from obstore import exceptions

    began, patience = time.monotonic(), patience_for(bucket)
    while True:
        error_raised: Exception | None
        try:
            answer = _interruptible(request)
        except FileNotFoundError:
            error_raised = FileNotFoundError(errno.ENOENT, "there is no such object", name)
        except (exceptions.PreconditionError, exceptions.AlreadyExistsError) as error:
            refusal = OSError(errno.EIO, _first_line(error), name)
            error_raised = Replaced(name) if conditional else refusal
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            error_raised = PermissionError(errno.EACCES, _first_line(error), name)
        except exceptions.BaseError as error:
            line = _first_line(error)
            error_raised = OSError(errno.EIO, line, name)
            if UNANSWERED.search(line):
                # obstore itself repeats a request only if carrying it out twice changes nothing.
                if time.monotonic() - began < patience:
                    time.sleep(1)
                    continue
                _answering.discard(bucket)
                message = f"the object store has not answered for {time.monotonic() - began:.0f} s"
                reason = re.sub(r" in [^ ]+s,? .*- ", ": ", line)
                raise OSError(errno.EIO, f"{message} ({reason})", name) from None
        else:
            error_raised = None
        _answering.add(bucket)
        if error_raised:
            raise error_raised
        return answer


def _interruptible(request: Callable[[], T]) -> T:
    """Return the result of a request. The main thread lets another thread wait for it, because
    Python handles no signals, such as Ctrl-C, while obstore waits."""
    if threading.current_thread() is not threading.main_thread():
        return request()
    answer: Future[T] = Future()

    def ask() -> None:
        try:
            answer.set_result(request())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    while not answer.done():  # a signal that arrives in another thread does not end a wait
        wait([answer], timeout=0.2)
    return answer.result()


def _first_line(error: Exception) -> str:
    """Return the first line of an error, with the code and message of the XML that the store
    sent."""
    text = masked(str(error).strip())
    details = re.findall("<(?:Code|Message)>([^<]*)<", text)
    return ": ".join([text.partition("\n")[0].partition("<?xml")[0].strip(" :"), *details])
