"""The errors that users may see. Each names the value, the limit and the remedy.

The command line prints the message and exits with the class's `exit_code`; nothing else about an
error determines how a command ends.
"""

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from frontier.text import printable

NO_PLACE = {
    errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT,
    errno.ENOTDIR,
}  # fmt: skip
"""The system errors for a path that cannot hold a file, such as a path below a file."""


FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
"""The system errors for a full disk, in words."""

SYSTEM_WORDS = {**FULL, errno.EFBIG: "a file may not grow that large (see ulimit -f)"}
"""The words for system errors whose own messages do not help."""


LONGEST, BEGINNING = 1200, 800
"""The most characters of a message, and how many of the first ones a longer message keeps."""


class FrontierError(Exception):
    """The base class of all errors of this package.

    A message may quote what other people wrote, so it shows what does not print as an escape
    sequence, and omits the middle if it is long.
    """

    exit_code = 1

    def __init__(self, message: object = ""):
        text = printable(str(message))
        if len(text) > LONGEST:
            text = f"{text[:BEGINNING]}…{text[BEGINNING + 1 - LONGEST :]}"
        super().__init__(text)


class InputError(FrontierError, ValueError):
    """A config, board, path or resource from the user cannot be used."""

    exit_code = 2


class TooLarge(InputError):
    """A search needs more memory than it may use, or than any worker has."""


class Stopped(FrontierError):
    """The run was stopped before its end and can be resumed."""

    exit_code = 3


class Gone(Stopped):
    """The run directory is no longer where it was, or now holds another run."""


class StorageError(Stopped):
    """The system failed to read or write a file. The content of the file may still be sound."""

    @classmethod
    def of(cls, error: OSError) -> "StorageError":
        said = system_words(error)
        return cls(f"the system failed to read or write ({said}); fix that and try again")


def path_error(message: str, error: OSError | ValueError) -> FrontierError:
    """Return the error, with this message, for a path from the user that cannot be read or written:
    an InputError if the path or the content of the file is to blame, otherwise a StorageError,
    because the path may work once the system is repaired."""
    system = isinstance(error, OSError) and error.errno not in NO_PLACE
    return (StorageError if system else InputError)(message)


def reason_of(error: BaseException) -> str:
    """Return why a run ends with an error, in words."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    said = system_words(error) if isinstance(error, OSError) else str(error)
    return said or type(error).__name__


def system_words(error: OSError) -> str:
    """Return the system's message about a file, without its error number."""
    said = SYSTEM_WORDS.get(error.errno or 0) or error.strerror or str(error)
    return said if error.filename is None else f"{said}: {error.filename}"


def why_unreadable(error: OSError | ValueError) -> str:
    """Return why a text file from the user cannot be read, in words and without its name."""
    if isinstance(error, UnicodeDecodeError):
        number = error.object[: error.start].count(b"\n") + 1
        return f"line {number} is not UTF-8; save it as UTF-8"
    return (isinstance(error, OSError) and error.strerror) or str(error)


class Unsolved(FrontierError):
    """A search for a solution of one position reached its limit of nodes."""


class CorruptRunError(FrontierError):
    """A file of a run directory is corrupt or missing."""

    exit_code = 4


class NotAFile(FrontierError, ValueError):
    """A directory, a named pipe or something else is where a file should be. Nothing is read or
    written in its place, and nothing repairs it."""

    exit_code = 4

    @classmethod
    def at(cls, path: object, what: str) -> "NotAFile":
        return cls(f"{path} is {what}, not a file; move it away")


class FormatError(CorruptRunError):
    """A version of frontier with another format wrote the run directory."""


NO_THREAD = "can't start new thread"
"""Python's message where the system gives no thread."""


@contextmanager
def system_errors() -> Iterator[None]:
    """Raise Stopped or StorageError in place of a system error. The run can be resumed."""
    try:
        yield
    except (OSError, ImportError, RuntimeError, MemoryError) as error:
        if (stopped := _stopped_by(error)) is None:
            raise
        raise stopped from None


def _stopped_by(error: Exception) -> Stopped | None:
    """Return the error that stands for a system error; None for any other error."""
    said, (limit, _) = str(error) or type(error).__name__, resource.getrlimit(resource.RLIMIT_AS)
    limited = limit != resource.RLIM_INFINITY
    raised = f"; the address space is limited to {limit:,} bytes (ulimit -v)" if limited else ""
    if isinstance(error, MemoryError):
        return Stopped(
            f"the system has no more memory ({said}); stop other programs, or lower "
            f"cluster.workers or cluster.memory{raised}"
        )
    if isinstance(error, RuntimeError) and NO_THREAD in said:
        return Stopped(
            f"the system starts no more threads ({said}); stop other programs, or lower "
            f"cluster.workers{raised}"
        )
    if limited and not getattr(error, "errno", None) and isinstance(error, OSError | ImportError):
        return Stopped(f"a library cannot be loaded ({said}){raised}")
    if not isinstance(error, OSError):
        return None
    if error.errno in FULL:
        return Stopped(f"{system_words(error)}; make room")
    return StorageError.of(error)
