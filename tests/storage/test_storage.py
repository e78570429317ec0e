"""The contract of a storage, which every kind of place keeps."""

import errno
import os
import pickle
import resource
from concurrent.futures import ThreadPoolExecutor
from math import isinf

import numpy as np
import pytest

from frontier.errors import CorruptRunError, InputError, NotAFile, system_words
from frontier.storage.base import Replaced
from frontier.storage.bucket import CHUNK_BYTES
from frontier.storage.places import storage_at
from frontier.storage.sealed import read_json
from tests.support.sweeps import swept


class Contract:
    """What holds of an empty place, `place`, of any kind."""

    def test_a_file_is_read_as_it_was_written(self, place):
        for content in (b"", b"one", b"another", bytes(range(256)) * 1000):
            place.write("file", content)
            assert place.read("file") == content
            assert place.read_tail("file", 1 << 20) == (content, len(content))
            assert dict(place.files()) == {"file": len(content)}
            assert place.names() == {"file"}
            assert place.below("file").read("") == content
        with pytest.raises(ValueError, match="more than 10 bytes"):
            place.read("file", 10)

    def test_the_end_of_a_file(self, place):
        for content in (b"", b"1", b"12345678", b"123456789"):
            place.write("file", content)
            assert place.read_tail("file", 8) == (content[-8:], len(content))

    def test_ranges_of_a_file(self, place):
        rng = np.random.default_rng(0)
        content = rng.bytes(3_000_000)
        place.write("file", content)
        for count in (0, 1, 2, 30):
            begin = np.sort(rng.integers(len(content) - 200_000, size=count)).tolist()
            data = [bytearray(int(size)) for size in rng.integers(1, 200_000, size=count)]
            place.read_ranges("file", begin, list(map(memoryview, data)))
            assert data == [content[i : i + len(some)] for i, some in zip(begin, data, strict=True)]
        with pytest.raises((EOFError, OSError)):
            place.read_ranges("file", [len(content) - 5], [memoryview(bytearray(10))])

    def test_a_file_as_memory(self, place):
        content = np.random.default_rng(0).bytes(300_000)
        place.write("file", content)
        memory = place.map_ranges("file", [(0, 10), (100_000, 300_000)])
        if memory is None:
            pytest.skip("files of this place cannot be mapped")
        place.delete("file")
        assert memory.tobytes() == content
        place.write("file", content)
        with pytest.raises(EOFError):
            place.map_ranges("file", [(0, 300_001)])
        with pytest.raises(FileNotFoundError, match="missing"):
            place.map_ranges("missing", [(0, 10)])

    def test_what_is_not_there(self, place):
        for action in (
            lambda: place.read("missing"),
            lambda: place.read_tail("missing", 10),
            lambda: place.read_ranges("missing", [0], [memoryview(bytearray(10))]),
            lambda: place.modified("missing"),
        ):
            with pytest.raises(FileNotFoundError, match="missing"):
                action()
        with pytest.raises(CorruptRunError, match="missing is missing"):
            read_json(place, "missing")
        place.delete()
        place.delete("missing", "missing too")
        assert place.version("missing") is None
        assert not place.exists("missing")
        assert not place.is_folder("missing")
        assert place.names("missing") == set()
        assert list(place.files("missing")) == []
        assert not place.is_link("missing")

    def test_names_and_sizes(self, place):
        names = ["ledger.json", "layers/0001/c.0.0.0", "layers/0001/c.0.1.0", "layers/0010/c.0"]
        for folder in ("layers", "layers/0001", "layers/0010", "layers/0010"):
            place.make_folder(folder)
        for i, name in enumerate(names):
            place.write(name, bytes(i + 1))
        assert place.names() == {"ledger.json", "layers"}
        assert place.names("layers") == {"0001", "0010"}
        assert place.names("layers/0001") == {"c.0.0.0", "c.0.1.0"}
        assert place.below("layers").names("0010") == {"c.0"}
        assert place.is_folder("layers")
        assert not place.is_folder("layer")  # though names begin so
        assert not place.is_folder("ledger.json")
        assert place.exists("ledger.json")
        assert dict(place.files()) == {name: i + 1 for i, name in enumerate(names)}
        assert (place.size(), place.size("layers")) == (10, 9)
        place.remove_folder("layers/0001")  # something is in it
        place.delete("layers/0001/c.0.0.0", "layers/0001/c.0.1.0", "ledger.json")
        assert place.names("layers/0001") == set()
        place.remove_folder("layers/0001")
        place.sweep()
        assert place.names("layers") == {"0010"}
        assert dict(place.files()) == {"layers/0010/c.0": 4}

    def test_a_file_that_is_written_piece_by_piece(self, place):
        pieces = [bytes([i]) * (CHUNK_BYTES // 2 + i) for i in range(6)]
        for some in (pieces[:0], pieces[:1], pieces):
            before = place.version("file")
            with place.new_file("file") as file:
                for piece in some:
                    room = bytearray(piece)
                    file.write(memoryview(room))
                    room[:] = bytes(len(room))  # memory is used again
                assert place.version("file") == before
                file.finish(durable=True)
            assert place.read("file") == b"".join(some)

    def test_a_file_that_is_abandoned(self, place):
        for pieces in (0, 1, 3):
            with place.new_file("file") as file:
                for _ in range(pieces):
                    file.write(memoryview(bytes(CHUNK_BYTES)))
            assert place.names() == set()

    def test_a_file_that_is_replaced_if_it_is_the_one_that_was_read(self, place):
        first = place.replace("ledger.json", b"first", None)
        assert first == place.version("ledger.json")
        with pytest.raises(Replaced):
            place.replace("ledger.json", b"another", None)
        second = place.replace("ledger.json", b"second", first)
        assert second not in (None, first)
        for was in (None, first):
            with pytest.raises(Replaced):
                place.replace("ledger.json", b"late", was)
            assert place.read("ledger.json") == b"second"
        place.write("ledger.json", b"by another")
        with pytest.raises(Replaced):
            place.replace("ledger.json", b"late", second)
        place.delete("ledger.json")
        with pytest.raises(Replaced):
            place.replace("ledger.json", b"late", second)
        assert not place.exists("ledger.json")

    def test_what_is_added_to_a_file(self, place):
        for line in (b"one\n", b"", b"two\n"):
            place.append("log", line)
        assert place.read("log") == b"one\ntwo\n"
        assert abs(place.modified("log") - place.modified("log")) < 1

    def test_what_is_forced_stays(self, place):
        place.write("file", b"1", durable=True)
        place.force("file", "")
        place.force_above()
        assert place.read("file") == b"1"

    def test_a_whole_file_as_memory(self, place):
        for content in (b"", b"1", bytes(range(256)) * 1000):
            place.write("file", content)
            for shared in (False, True):
                assert place.memory("file", shared).tobytes() == content
        with pytest.raises(FileNotFoundError):
            place.memory("missing", True)

    def test_the_room(self, place):
        assert place.free() > 0
        assert isinf(place.free()) == (place.lock_file is None)

    def test_places_and_their_names(self, place):
        one, other = place.below("a").below("b"), place.below("a/b")
        assert (one, one.name, one.parent) == (other, "b", place.below("a"))
        assert len({one, other, one.parent}) == 2
        assert str(one.path) == str(one) == str(place.place("a/b")) == f"{place}/a/b"
        assert storage_at(str(one)) == storage_at(one.path) == storage_at(one) == one
        assert one.absolute() == one


class TestDirectory(Contract):
    @pytest.fixture
    def place(self, tmp_path):
        return storage_at(tmp_path)

    def test_a_link_is_not_followed(self, place, tmp_path):
        place.make_folder("folder")
        place.write("folder/file", b"1")
        (tmp_path / "link").symlink_to("folder")
        assert place.is_link("link")
        assert place.names("link") == set()
        assert storage_at(tmp_path / "link").names() == {"file"}  # but as the place itself

    def test_a_file_that_is_about_to_be_written_over_is_gone(self, place, monkeypatch):
        """While another process makes sure that nobody reads it."""
        place.write("file", b"1")

        def leased(*_):
            raise BlockingIOError(errno.EWOULDBLOCK, "leased")

        monkeypatch.setattr(os, "open", leased)
        with pytest.raises(FileNotFoundError):
            place.read("file")

    def test_what_is_added_to_goes_into_no_other_name(self, place, tmp_path):
        place.write("other", b"mine\n")
        for make in (os.link, os.symlink):
            make(tmp_path / "other", tmp_path / "log")
            place.append("log", b"more\n")
            assert (place.read("other"), place.read("log")) == (b"mine\n", b"mine\nmore\n")
            place.delete("log")

    @swept("number", [errno.EIO, errno.ESTALE, errno.EPERM, errno.EACCES], few=1)
    @pytest.mark.parametrize("call", ["stat", "lstat", "scandir", "listdir"])
    def test_what_the_system_cannot_tell_is_an_error(self, place, monkeypatch, call, number):
        place.make_folder("folder")
        place.write("folder/file", b"1")
        asked = {
            "stat": ["exists", "is_folder", "version"],
            "lstat": ["is_link"],
            "scandir": ["size"],
            "listdir": ["names"],
        }

        def fails(path, *_, **more):
            raise OSError(number, os.strerror(number), path)

        monkeypatch.setattr(os, call, fails)
        for name in asked[call]:
            with pytest.raises(OSError, match=os.strerror(number)):
                getattr(place, name)("folder")

    @pytest.mark.parametrize(
        ("kind", "what"),
        [
            ("pipe", "a named pipe"),
            ("link", "a link that leads to itself"),
            ("lost link", "a link that leads nowhere"),
            ("folder", "a direc"),
        ],
    )
    def test_what_is_no_file_is_not_waited_for(self, place, tmp_path, kind, what):
        made = {
            "pipe": os.mkfifo,
            "folder": os.mkdir,
            "link": lambda path: path.symlink_to("odd"),
            "lost link": lambda path: path.symlink_to("nothing"),
        }
        made[kind](tmp_path / "odd")
        reads = {
            "read": lambda: place.read("odd"),
            "memory": lambda: place.memory("odd", shared=False),
            "shared memory": lambda: place.memory("odd", shared=True),
        }
        if kind != "folder":
            reads["force"] = lambda: place.force("odd")
        for read in reads.values():
            with pytest.raises(NotAFile, match=f"{tmp_path}/odd is {what}.*, not a file"):
                read()


class TestMemoryStore(Contract):
    @pytest.fixture
    def place(self, memory_bucket):
        return memory_bucket


class TestS3(Contract):
    @pytest.fixture
    def place(self, s3_bucket):
        return s3_bucket

    def test_a_marker_of_a_folder_is_no_file(self, place):
        """Some programs make one, of no bytes, to show a folder that is empty."""
        place.write("", b"")
        assert place.names() == set()
        assert not place.is_folder()
        place.write("file", b"1")
        assert place.names() == {"file"}
        assert place.size() == 1

    def test_two_who_replace_an_object_at_once(self, place):
        """One of them gets an error, however close together they are."""

        def put(content):
            try:
                return place.replace("ledger.json", content, was)
            except Replaced:
                return None

        was = None
        with ThreadPoolExecutor(8) as threads:
            for turn in range(10):
                found = list(threads.map(put, [b"%d %d" % (turn, i) for i in range(8)]))
                (was,) = filter(None, found)
                assert was == place.version("ledger.json")

    def test_an_answer_that_was_lost(self, place, monkeypatch):
        """Who asks again finds that the object is the one that it wrote."""
        import obstore

        put = obstore.put

        def twice(*arguments, **options):
            put(*arguments, **options)
            return put(*arguments, **options)

        monkeypatch.setattr(obstore, "put", twice)
        was = place.replace("ledger.json", b"one", None)
        assert place.replace("ledger.json", b"two", was) == place.version("ledger.json")


class TestAzure(Contract):
    @pytest.fixture
    def place(self, azure_bucket):
        return azure_bucket


def test_errors_of_the_system_name_the_file(tmp_path):
    """Those of open files do not by themselves."""
    place, limits = storage_at(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    writes = {
        "written": lambda name: place.write(name, bytes(2000)),
        "appended": lambda name: place.append(name, bytes(2000)),
    }
    for name, write in writes.items():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            with pytest.raises(OSError) as caught:  # noqa: PT011
                write(name)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        said = f"a file may not grow that large (see ulimit -f): {place.place(name)}"
        assert system_words(pickle.loads(pickle.dumps(caught.value))) == said
    assert place.names() <= {"appended"}


def test_nobody_takes_a_bucket_for_a_path():
    place = storage_at("s3://bucket/runs/2x8/")
    assert str(place) == "s3://bucket/runs/2x8"
    with pytest.raises(TypeError):
        os.fspath(place)


@pytest.mark.parametrize(
    "url", ["s3://", "s3://bucket", "s3://bucket/", "s4://bucket/run", "s3://b/../c", "s3:///run",
            "http://host/run", "s3://bucket/a//b", "s3:/bucket/run", "s3://key:secret@bucket/run"],
)  # fmt: skip
def test_urls_that_name_no_place(url):
    with pytest.raises(InputError, match="is not a place in an object store: expected one") as said:
        storage_at(url)
    assert "secret" not in str(said.value)
