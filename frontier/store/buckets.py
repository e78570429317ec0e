"""How an object store is asked, and how long it is waited for.

Requests that fail are made again, at first at once and then less and less often, so the same one
may be carried out twice; each one that is made here can be. A store that has not answered for
minutes is an error, and is hardly waited for after that until it answers. Who waits in the main
thread hears Ctrl-C meanwhile.

Who may use a bucket, and where it is, obstore finds out as its documentation says: from variables
such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL, or from the machine that it runs on.
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

if TYPE_CHECKING:
    from obstore.store import ObjectStore

PATIENCE, FIRST_PATIENCE = 240.0, 20.0
"""The seconds for which a store is asked again and again before that is an error. The second is for
one that has never answered this process, or was given up and has not answered since. obstore waits
for an answer for thirty seconds before it asks again (AWS_TIMEOUT)."""

WAITS = {
    "init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=15), "base": 4,
}  # fmt: skip
"""How long it takes until a request is made again. A wait is drawn at random, up to `base` times
the one before; below e they would not grow."""

T = TypeVar("T")


class Replaced(Exception):
    """A file is no longer the one that was read."""


def library() -> ModuleType:
    """obstore; InputError if it is not installed."""
    try:
        import obstore
        import obstore.store
    except ImportError:
        raise InputError(
            "the library for object stores is not installed: pip install 'frontier[cloud]'"
        ) from None
    return obstore


def masked(text: str) -> str:
    """A text that names URLs, without the names and passwords in them."""
    return re.sub(r"[^\s/@]+:[^\s/@]*@", "…@", text)


@lru_cache
def bucket_of(url: str, patience: float = PATIENCE) -> "ObjectStore":
    """The bucket at a URL, as the environment of this process says who may use it; it is kept, as
    its connections are.

    patience: how many seconds a request is made again and again.
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
"""The buckets that have answered this process when it asked last: what one path finds out of a
bucket, all others need."""

UNANSWERED = re.compile(r"error sending|error decoding|status code: 5")
"""What obstore says of a request that had no answer, or none of use."""


def patience_for(bucket: str) -> float:
    """The seconds for which a bucket is asked again and again."""
    return PATIENCE if bucket in _answering else FIRST_PATIENCE


def asked(bucket: str, name: str, request: Callable[[], T]) -> T:
    """What a store answers to a request; what it refuses, as the OSError of a file that does so.

    name: of what the request is about, for errors.
    """
    from obstore import exceptions

    began, patience = time.monotonic(), patience_for(bucket)
    while True:
        try:
            answer = _heard(request)
        except FileNotFoundError:
            said = FileNotFoundError(errno.ENOENT, "there is no such object", name)
        except (exceptions.PreconditionError, exceptions.AlreadyExistsError):
            said = Replaced(name)
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            said = PermissionError(errno.EACCES, _first_line(error), name)
        except exceptions.BaseError as error:
            said = OSError(errno.EIO, _first_line(error), name)
            if UNANSWERED.search(said.strerror):
                # obstore makes only those requests again that change nothing when carried out twice
                if time.monotonic() - began < patience:
                    time.sleep(1)
                    continue
                _answering.discard(bucket)
                why = f"the object store has not answered for {time.monotonic() - began:.0f} s"
                reason = re.sub(r" in [^ ]+s,? .*- ", ": ", said.strerror)
                raise OSError(errno.EIO, f"{why} ({reason})", name) from None
        else:
            said = None
        _answering.add(bucket)
        if said:
            raise said
        return answer


def _heard(request: Callable[[], T]) -> T:
    """The result of a request. The main thread lets another one wait for it, as the library below
    hears no signal, such as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        return request()
    answer: Future[T] = Future()

    def ask() -> None:
        try:
            answer.set_result(request())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    while not answer.done():  # a signal may come to another thread, which does not end the wait
        wait([answer], timeout=0.2)
    return answer.result()


def _first_line(error: Exception) -> str:
    """What went wrong, with what the store says of it in its XML."""
    text = masked(str(error).strip())
    said = re.findall("<(?:Code|Message)>([^<]*)<", text)
    return ": ".join([text.partition("\n")[0].partition("<?xml")[0].strip(" :"), *said])
