"""Files of a directory that are deleted, but kept to be written over.

Part by part a layer replaces another one, so that as many files are deleted as are made. Where a
new file takes the place of a deleted one, the system need not free memory and blocks of the disk,
and find others: with 2 x 7 tiles from disk that is a quarter of its share of the processor's time.
For this the two should be about as large. So the folder holds a few more files than there are
writers, and a writer takes the one that fits best.

A file is offered to all processes, but written over by one, and only if nobody else sees it.
"""

import fcntl
import os
import signal
import stat
import uuid
from contextlib import suppress
from typing import BinaryIO

from frontier.storage.base import DELETING, PARTIAL, REUSABLE

MOST_UNFIT = 2
"""The number of files that are kept although they do not fit; of more, the smallest is used."""


def set_aside(path: str, folder: str) -> str | None:
    """Move a file to a folder, under a name by which it is not yet offered to be written over.

    Returns its new path; None if that is not possible, or the file could not be used.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return None  # nothing would tell who else reads it
    aside = f"{folder}/{REUSABLE}.{uuid.uuid4().hex}{DELETING}"
    try:
        if not _is_on_a_disk_of_ours(os.lstat(path)):
            return None
        os.rename(path, aside)
    except OSError:  # there may be no room for another name
        return None
    return aside


def offer(aside: str) -> None:
    """Offer a file that was set aside to be written over. If that fails, it is swept as it is."""
    with suppress(OSError):
        os.rename(aside, aside.removesuffix(DELETING) + PARTIAL)


def take(folder: str, path: str, size: int) -> BinaryIO | None:
    """Give the best of the files that a folder offers another path, and return it open for writing.

    That is the one whose size is nearest to `size`, in bytes, if it is between half and one and a
    half times as large. If none is and more than `MOST_UNFIT` are offered, it is the smallest; else
    the result is None.
    """
    offered = _sizes(folder)
    while offered:
        name = min(offered, key=lambda name: abs(offered[name] - size))
        if 2 * abs(offered[name] - size) > size:
            if len(offered) <= MOST_UNFIT:
                return None
            name = min(offered, key=offered.__getitem__)
        del offered[name]
        with suppress(OSError):  # another process may have taken or deleted it
            os.rename(f"{folder}/{name}", path)
            if (file := _opened_if_unused(path)) is not None:
                return file
            os.unlink(path)
    return None


def _sizes(folder: str) -> dict[str, int]:
    """Return the names of the files that a folder offers, and the bytes of each."""
    sizes = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(f"{REUSABLE}.") and entry.name.endswith(PARTIAL):
                with suppress(FileNotFoundError):
                    about = entry.stat(follow_symlinks=False)
                    if _is_on_a_disk_of_ours(about):
                        sizes[entry.name] = about.st_size
    return sizes


def _is_on_a_disk_of_ours(about: os.stat_result) -> bool:
    """Return whether this is a file, and no link, in a file system that only this host writes to.

    One on a disk has the number of a device. Those of networks have none, and some of them would
    tell us of the readers on this host alone.
    """
    return stat.S_ISREG(about.st_mode) and os.major(about.st_dev) != 0


def _opened_if_unused(path: str) -> BinaryIO | None:
    """Return a file open for writing if it has no other name and nobody else has it open or mapped;
    None if it has or somebody has, or if the file system cannot tell.

    Linux grants a write lease on no other file. Whoever opened the file while the lease lasts would
    make it send a signal to this process, so that is one that processes ignore.
    """
    try:
        file = open(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b", buffering=0)  # noqa: SIM115
    except OSError:
        return None
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        about = os.fstat(file.fileno())
        unused = about.st_nlink == 1 and _is_on_a_disk_of_ours(about)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (OSError, AttributeError):
        unused = False
    if unused:
        return file
    file.close()
    return None
