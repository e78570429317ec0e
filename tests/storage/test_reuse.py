"""Files that are written over others."""

import errno
import mmap
import os

import pytest

from frontier.storage.base import REUSABLE
from frontier.storage.places import storage_at
from frontier.storage.reuse import MOST_UNFIT


@pytest.fixture
def place(tmp_path):
    place = storage_at(tmp_path)
    for folder in ("old", "new"):
        place.make_folder(folder)
    return place


def make(place, name, content=b"first", size=5):
    """Make a file, and return a number that is that of the one that it is written over."""
    with place.new_file(name, size) as file:
        file.write(memoryview(content))
        file.finish(durable=False)
    return os.stat(place.place(name)).st_ino


def offered(place):
    return {name for name in place.names() if name.startswith(f"{REUSABLE}.")}


@pytest.fixture
def keeps(place):
    """Skips a test on a file system that does not tell who else reads a file."""
    first = make(place, "old/file")
    place.recycle("old/file")
    if not offered(place):
        pytest.skip("deleted files are not kept here")
    if make(place, "new/file") != first:
        pytest.skip("the file system grants no lease")
    place.delete("new/file")


@pytest.mark.usefixtures("keeps")
class TestKept:
    def test_a_file_is_written_over(self, place):
        first = make(place, "old/file", b"first")
        place.recycle("old/file")
        assert place.names("old") == set()
        assert make(place, "new/file", b"other") == first
        assert (place.read("new/file"), offered(place)) == (b"other", set())

    def test_others_are_not(self, place):
        """Files whose size is not known, as those that are not parts."""
        make(place, "old/file")
        place.recycle("old/file")
        make(place, "new/file", size=0)
        assert len(offered(place)) == 1

    @pytest.mark.parametrize("seen_by", ["a name", "a reader", "a map"])
    def test_what_others_see_is_not_written_over(self, place, seen_by):
        seen, path = make(place, "old/file", b"first"), place.place("old/file")
        with open(path, "rb") as reader:
            data = mmap.mmap(reader.fileno(), 0, prot=mmap.PROT_READ)
            if seen_by == "a name":
                os.link(path, place.place("copy"))
            if seen_by != "a map":
                data.close()
            if seen_by != "a reader":
                reader.close()
            place.recycle("old/file")
            assert make(place, "new/file", b"other") != seen
            if seen_by == "a name":
                assert place.read("copy") == b"first"
            else:
                assert (reader.read() if data.closed else data[:]) == b"first"
        data.close()
        assert offered(place) == set()

    def test_a_link_is_deleted(self, place):
        make(place, "file", b"first", size=0)
        place.place("old/link").symlink_to(place.place("file"))
        place.recycle("old/link")
        assert place.names("old") == offered(place) == set()
        make(place, "new/file", b"other")
        assert place.read("file") == b"first"

    def test_the_one_that_fits_best_is_written_over(self, place):
        sizes = (1000, 3000, 2000, 90)
        numbers = dict(
            zip(sizes, (make(place, f"old/{n}", b"x" * n, 0) for n in sizes), strict=True)
        )
        for n in sizes:
            place.recycle(f"old/{n}")
        assert make(place, "new/a", size=1400) == numbers[1000]
        assert make(place, "new/b", size=2100) == numbers[2000]
        assert make(place, "new/c", size=100) == numbers[90]
        assert len(offered(place)) == 1

    def test_of_many_that_do_not_fit_the_smallest_is_used(self, place):
        """So that it is not left for good when layers grow."""
        numbers = [make(place, f"old/{n}", b"x" * (10 + n), 0) for n in range(MOST_UNFIT + 1)]
        for n in range(MOST_UNFIT + 1):
            place.recycle(f"old/{n}")
        assert make(place, "new/a", size=1000) == numbers[0]
        assert make(place, "new/b", size=1000) not in numbers
        assert len(offered(place)) == MOST_UNFIT

    def test_another_process_may_take_it_first(self, place, monkeypatch):
        numbers = [make(place, f"old/{n}", b"x" * n, 0) for n in (10, 11)]
        for n in (10, 11):
            place.recycle(f"old/{n}")
        rename, taken = os.rename, []

        def late(path, to):
            if not taken:
                taken.append(path)
                os.unlink(path)
            rename(path, to)

        monkeypatch.setattr(os, "rename", late)
        assert make(place, "new/file", size=10) == numbers[1]
        assert offered(place) == set()

    @pytest.mark.parametrize("durable", [True, False])
    def test_the_name_is_gone_from_the_disk_first(self, place, durable, monkeypatch):
        """And until then nobody can take the file."""
        forced = []
        first = make(place, "old/file")
        folder = place.place("old").stat().st_ino

        def fsync(number):
            forced.append(os.fstat(number).st_ino)
            assert make(place, "new/early") != first

        monkeypatch.setattr(os, "fsync", fsync)
        place.recycle("old/file", durable)
        assert forced == [folder] * durable
        assert make(place, "new/file") == first

    def test_what_is_no_file_is_not_written_over(self, place):
        make(place, "file", b"other", size=0)
        link, folder = place.place(f"{REUSABLE}.1.partial"), place.place(f"{REUSABLE}.2.partial")
        link.symlink_to(place.place("file"))
        folder.mkdir()
        for number, odd in enumerate((link, folder)):
            make(place, f"new/{number}", size=odd.lstat().st_size)
        assert place.read("file") == b"other"

    def test_a_file_that_is_swept_meanwhile(self, place, monkeypatch):
        make(place, "old/file")
        monkeypatch.setattr(os, "fsync", lambda number: place.sweep("", REUSABLE))
        place.recycle("old/file", durable=True)
        assert offered(place) == set()


def test_a_file_that_cannot_be_kept_is_deleted(place, monkeypatch):
    """On a full disk there may be no room for another name."""
    make(place, "old/file")

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "rename", full)
    place.recycle("old/file")
    assert place.names("old") == offered(place) == set()
