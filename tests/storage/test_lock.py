"""One writer a run: the lock of a run directory."""

import errno
import os
from contextlib import nullcontext

import pytest

from frontier.errors import InputError
from frontier.storage.lock import NotWritable, RunLock, describe_holder, is_held, shared


def test_one_writer(tmp_path):
    lock = tmp_path / "lock"
    assert not is_held(lock)
    with RunLock(lock):
        assert is_held(lock)
        with pytest.raises(InputError, match=rf"process {os.getpid()} on host"), RunLock(lock):
            pass
    assert not is_held(lock)
    with RunLock(lock):
        assert is_held(lock)


@pytest.mark.parametrize("content", ["", "garbage", "null", "{}", "[]", '{"process": 1}'])
def test_a_lock_file_without_a_holder_holds_nobody_back(tmp_path, content):
    lock = tmp_path / "lock"
    lock.write_text(content)
    assert describe_holder(lock) == "another process"
    with RunLock(lock):
        assert str(os.getpid()) in describe_holder(lock)


def test_a_lock_that_cannot_be_made(tmp_path):
    with pytest.raises(NotWritable, match="cannot be written"), RunLock(tmp_path / "no" / "lock"):
        pass


ODD_LOCKS = {
    "link": lambda lock: lock.symlink_to(lock.with_name("other")),
    "pipe": os.mkfifo,
    "folder": os.mkdir,
}


@pytest.mark.parametrize("kind", ODD_LOCKS)
def test_a_lock_that_is_no_file_is_refused_and_left_alone(tmp_path, kind):
    """What it leads to is neither written nor cut, nobody waits for it, and nobody reads as if it
    kept writers out."""
    other, lock = tmp_path / "other", tmp_path / "lock"
    other.write_text("mine")
    ODD_LOCKS[kind](lock)
    for use in RunLock, shared:
        with pytest.raises(InputError, match=r"lock is not a regular file.* remove it"), use(lock):
            pass
    assert (other.read_text(), is_held(lock)) == ("mine", False)
    assert describe_holder(lock) == "another process"


def test_a_lock_that_the_system_refuses_is_no_lock_that_is_missing(tmp_path, monkeypatch):
    """Who cannot ask whether somebody writes does not read as if nobody did."""
    lock, opened = tmp_path / "lock", os.open
    lock.write_text("")

    def refuses(path, *arguments, **options):
        if path == lock:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuses)
    with pytest.raises(PermissionError), shared(lock):
        pass
    with pytest.raises(NotWritable, match="Permission denied"), RunLock(lock):
        pass


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOLCK, InputError), (errno.EIO, OSError)])
def test_a_file_system_without_locks_is_told_from_one_that_fails(
    tmp_path, monkeypatch, number, kind
):
    def fails(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("frontier.storage.lock.fcntl.flock", fails)
    with pytest.raises(kind, match=os.strerror(number)), RunLock(tmp_path / "lock"):
        pass
    refused = pytest.raises(OSError, match=os.strerror(number))
    with refused if kind is OSError else nullcontext(), shared(tmp_path / "lock"):
        pass


def test_readers_share_the_lock_and_keep_writers_out(tmp_path):
    lock = tmp_path / "lock"
    with shared(lock):  # nobody has written here
        assert not lock.exists()
    with RunLock(lock):
        pass
    with shared(lock), shared(lock):
        assert not is_held(lock)
        with pytest.raises(InputError, match="is being read by another process"), RunLock(lock):
            pass
        assert lock.read_text() == ""
    written = pytest.raises(InputError, match=f"written by process {os.getpid()}")
    with RunLock(lock), written, shared(lock):
        pass


def test_an_interrupt_as_the_lock_is_taken_leaves_no_holder(tmp_path, monkeypatch):
    """Another host would take the name that is left for that of a process at work."""
    opened = RunLock._opened

    class Interrupted:
        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def flush(self):
            self._file.flush()
            assert (tmp_path / "lock").read_text()
            raise KeyboardInterrupt

    monkeypatch.setattr(RunLock, "_opened", lambda lock: Interrupted(opened(lock)))
    with pytest.raises(KeyboardInterrupt), RunLock(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").read_text() == ""
    monkeypatch.undo()
    with RunLock(tmp_path / "lock"):
        pass


def test_a_lock_that_cannot_be_emptied_is_given_back(tmp_path):
    """Its process has done what it held it for."""
    with RunLock(tmp_path / "lock") as lock:
        device = os.open("/dev/full", os.O_WRONLY)
        os.dup2(device, lock._file.fileno())
        os.close(device)
    assert not is_held(tmp_path / "lock")
    with RunLock(tmp_path / "lock"):
        assert is_held(tmp_path / "lock")
    assert (tmp_path / "lock").read_text() == ""
