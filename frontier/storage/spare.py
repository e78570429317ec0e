"""Files of a directory that are deleted, but kept to be written over.

Part by part a layer replaces another one, so that as many files are deleted as are made. Where a
new file takes the place of a deleted one, the system need not free memory and blocks of the disk,
and find others: with 2 x 7 tiles from disk that is a quarter of its share of the processor's time.
For this the two should be about as large. So the folder holds a few more files than there are
writers, and a writer takes the one that fits best.
"""

import fcntl
import os
import signal
import stat
import uuid
from contextlib import suppress

from frontier.storage.base import SPARE

MOST_UNFIT = 2
"""The number of files that are kept although they do not fit; of more, the smallest is used."""


def keep(path: str, folder: str, marked: str, durable: bool) -> bool:
    """Move a file to the spare ones of a folder; returns False if that is not possible.

    marked: the end of the new name. durable: return only when the old name is gone from the disk,
    as after a power failure it must not lead to what is written over the file.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False  # nothing would tell who else reads it
    try:
        if not _is_on_a_disk_of_ours(path):
            return False
        os.rename(path, f"{folder}/{SPARE}.{uuid.uuid4().hex}{marked}")
    except OSError:  # there may be no room for another name
        return False
    if durable:
        number = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
    return True


def take(folder: str, path: str, marked: str, size: int) -> bool:
    """Give the spare file of a folder that is nearest to a size another path.

    Returns False if there is none, or if few are left of which none is at most half as large again,
    and at least half as large. size: in bytes. marked: as for `keep`.
    """
    spares = _sizes(folder, marked)
    while spares:
        name = min(spares, key=lambda name: abs(spares[name] - size))
        if 2 * abs(spares[name] - size) > size:
            if len(spares) <= MOST_UNFIT:
                return False
            name = min(spares, key=spares.__getitem__)
        del spares[name]
        with suppress(FileNotFoundError):  # another process has taken it
            os.rename(f"{folder}/{name}", path)
            if _is_unused(path):
                return True
            os.unlink(path)
    return False


def _sizes(folder: str, marked: str) -> dict[str, int]:
    """Return the names of the spare files of a folder, and the bytes of each."""
    sizes = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(f"{SPARE}.") and entry.name.endswith(marked):
                with suppress(FileNotFoundError):
                    sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
    return sizes


def _is_on_a_disk_of_ours(path: str) -> bool:
    """Return whether a path is a file, and no link, in a file system that only this host writes to.

    One on a disk has the number of a device. Those of networks have none, and some of them would
    tell us of the readers on this host alone.
    """
    about = os.lstat(path)
    return stat.S_ISREG(about.st_mode) and os.major(about.st_dev) != 0


def _is_unused(path: str) -> bool:
    """Return whether a file has no other name and nobody has it open or mapped; False where the
    file system cannot tell.

    Linux grants a write lease on no other file. Whoever opened the file while the lease lasts would
    make it send a signal to this process, so that is one that processes ignore.
    """
    with suppress(OSError), open(path, "r+b") as file:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        return os.fstat(file.fileno()).st_nlink == 1
    return False
