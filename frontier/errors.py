"""The errors a user can meet. Each names the value, the limit and the remedy.

The command line prints the message and exits with the class's `exit_code`; nothing else about an
error decides how a command ends.
"""

import errno

NO_PLACE = {
    errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT,
    errno.ENOTDIR,
}  # fmt: skip
"""The errors of the system for a path at which no file can be made, such as one below a file."""


FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
"""What the system says where files take no more, in words."""

SYSTEM_WORDS = {**FULL, errno.EFBIG: "a file may not grow that large (see ulimit -f)"}
"""What the system says, in words, where its own do not help."""


class FrontierError(Exception):
    """Base of all errors of this package."""

    exit_code = 1


class InputError(FrontierError, ValueError):
    """Something the user gave cannot be used: a config, a board, a path, a resource."""

    exit_code = 2


class TooLarge(InputError):
    """A search needs more memory than it may have, or than any worker has."""


class Stopped(FrontierError):
    """The run was stopped before its end and can be resumed."""

    exit_code = 3


class Gone(Stopped):
    """The run directory is no longer where it was, or now holds another run."""


class StorageError(Stopped):
    """The system failed to read or write a file. That says nothing about what the file holds."""

    @classmethod
    def of(cls, error: OSError) -> "StorageError":
        said = system_words(error)
        return cls(f"the system failed to read or write ({said}); fix that and try again")


def unwritable(message: str, error: OSError) -> FrontierError:
    """Return the error, with this message, for a path of the user's that cannot be written: an
    InputError if the path is to blame, otherwise a StorageError, as the same path may do once the
    system is mended."""
    return (InputError if error.errno in NO_PLACE else StorageError)(message)


def reason_of(error: BaseException) -> str:
    """Return why a run ends with an error, in words."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    said = system_words(error) if isinstance(error, OSError) else str(error)
    return said or type(error).__name__


def system_words(error: OSError) -> str:
    """Return what the system says of a file, without numbers."""
    said = SYSTEM_WORDS.get(error.errno or 0) or error.strerror or str(error)
    return said if error.filename is None else f"{said}: {error.filename}"


def why_unreadable(error: OSError | ValueError) -> str:
    """Return why a text of the user's cannot be read, in words and without its name."""
    if isinstance(error, UnicodeDecodeError):
        number = error.object[: error.start].count(b"\n") + 1
        return f"line {number} is not UTF-8; save it as UTF-8"
    return (isinstance(error, OSError) and error.strerror) or str(error)


class Unsolved(FrontierError):
    """A search for one position reached its limit of nodes before it had a solution."""


class CorruptRunError(FrontierError):
    """A file of a run directory is corrupt or missing."""

    exit_code = 4


class NotAFile(CorruptRunError, ValueError):
    """Something else has the name of a file, such as a directory or a named pipe."""

    @classmethod
    def at(cls, path: object, what: str) -> "NotAFile":
        return cls(f"{path} is {what}, not a file")


class FormatError(CorruptRunError):
    """A run directory was written by a version of frontier that has another format."""
