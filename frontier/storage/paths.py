"""What the system reports about paths: what is there, and whether it is a file that can be read.

Only some errors mean that nothing is there. After any other error, such as an error of the disk,
the system cannot tell; the error is raised, never taken for absence. Only regular files and folders
are opened, because a process that opens a pipe waits for its writer.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frontier.errors import NotAFile

ABSENT = errno.ENOENT, errno.ENOTDIR, errno.ELOOP
"""The system errors that mean that nothing has a name. No other error means this."""

NO_FILE = {
    errno.ELOOP: "a link that leads to itself",
    errno.ENXIO: "a socket or a device",
    errno.ENODEV: "a device",
}
"""The errors raised when something other than a file is opened, and what that something is."""

KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a named pipe"}


def about_path(path: str | Path, follow: bool = True) -> os.stat_result | None:
    """Return what the system knows about a path, None if nothing is there. Raises OSError if the
    system cannot tell. follow: describe the target of a link."""
    try:
        return os.stat(path) if follow else os.lstat(path)
    except OSError as error:
        if error.errno in ABSENT:
            return None
        raise


def is_file(path: str | Path) -> bool:
    """Return whether a path leads to a regular file."""
    about = about_path(path)
    return about is not None and stat.S_ISREG(about.st_mode)


def is_folder(path: str | Path, follow: bool = True) -> bool:
    """Return whether a path leads to a folder."""
    about = about_path(path, follow)
    return about is not None and stat.S_ISDIR(about.st_mode)


@contextmanager
def opened(path: str | Path, or_folder: bool = False) -> Iterator[int]:
    """Yield the descriptor of a regular file that is open for reading, or of a folder if
    `or_folder` is set.

    Raises NotAFile if something else has the name, and FileNotFoundError also if the folder is a
    file.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # does not wait for a pipe's writer
    except (NotADirectoryError, BlockingIOError) as error:  # the second if it is being overwritten
        raise FileNotFoundError(errno.ENOENT, error.strerror, str(path)) from None
    except OSError as error:
        if error.errno == errno.ENOENT and os.path.islink(path):
            raise NotAFile.at(path, "a link that leads nowhere") from None
        if error.errno in NO_FILE:
            raise NotAFile.at(path, NO_FILE[error.errno]) from None
        raise
    try:
        with naming(path):
            mode = os.fstat(number).st_mode
            if not (stat.S_ISREG(mode) or (or_folder and stat.S_ISDIR(mode))):
                raise NotAFile.at(path, KINDS.get(stat.S_IFMT(mode), "a device"))
            yield number
    finally:
        os.close(number)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Name the file in system errors. The system knows open files only by their numbers."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
