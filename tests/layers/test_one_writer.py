"""Who waits for whom: runs that are written, verified and taken over by several processes."""

import errno
import json
import os
import socket

import pytest

from frontier.api import runs as api
from frontier.errors import InputError
from frontier.layers import verify as verify_module
from frontier.runs.resolve import Named
from frontier.storage.lock import RunLock
from tests.support.commands import invoke
from tests.support.stopped_runs import config_of, finished


def test_a_holder_on_another_host(copy, whole):
    path = copy("frontier")
    holder = {"host": "elsewhere", "process": 7, "since": 0}
    (path / "lock").write_text(json.dumps(holder))
    with pytest.raises(InputError, match=r"process 7 on host elsewhere .* take_over=True"):
        finished(path, "frontier")
    assert json.loads((path / "lock").read_text()) == holder
    plan = api.plan(config_of(path))
    assert api.run(plan, take_over=True).counts == whole[1]
    assert (path / "lock").read_text() == ""


def test_a_dead_holder_on_this_host(copy, whole):
    path = copy("frontier")
    holder = {"host": socket.gethostname(), "process": 7, "since": 0}
    (path / "lock").write_text(json.dumps(holder))
    assert finished(path, "frontier") == whole[1]


@pytest.mark.sweep
def test_a_run_that_starts_while_another_one_is_verified_is_refused(copy, whole, monkeypatch):
    """It would delete what is being read, which would look like damage."""
    path, look, refused = copy("frontier"), verify_module._whole_part, []

    def starts(*arguments):
        try:
            finished(path, "frontier")
        except InputError as error:
            refused.append(str(error))
        if len(refused) == 1:
            assert "no faults" in invoke("verify", path).output  # another one at once
        return look(*arguments)

    monkeypatch.setattr(verify_module, "_whole_part", starts)
    assert "no faults" in invoke("verify", path).output
    assert set(refused) == {
        f"{path} is being read by another process, such as verify; wait until that process "
        "has ended"
    }
    monkeypatch.undo()
    assert finished(path, "frontier") == whole[1]


def test_what_is_committed_before_the_lock_is_had_is_read(copy, whole, monkeypatch):
    """The run goes on and ends between the command's first look and its lock."""
    path, opens = copy("frontier"), Named.open

    def opens_and_goes_on(named):
        found = opens(named)
        finished(path, "frontier")
        return found

    monkeypatch.setattr(Named, "open", opens_and_goes_on)
    assert "no faults" in invoke("verify", path).output


def test_a_run_that_is_being_written_is_not_verified(copy):
    path = copy("frontier")
    with RunLock(path / "lock"):
        assert "is being written by process" in invoke("verify", path, code=2).output


def test_a_run_where_nothing_can_be_written_is_verified(copy, monkeypatch):
    """Whether its lock can be read or not."""
    path, opened = copy("frontier"), os.open

    def refuses(what, flags, *arguments, **more):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), what)
        return opened(what, flags, *arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuses)
        assert "no faults" in invoke("verify", path).output
    (path / "lock").unlink()
    assert "no faults" in invoke("verify", path).output
    assert not (path / "lock").exists()
