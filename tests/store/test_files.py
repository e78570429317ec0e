"""What a run needs of storage, which a file system and an object store give alike."""

import os

import numpy as np
import pytest

from frontier.errors import CorruptRunError, InputError
from frontier.store.buckets import Replaced
from frontier.store.directory import names_in
from frontier.store.files import (
    disk_bytes,
    new_file,
    read_bounded,
    read_json,
    read_ranges,
    read_tail,
    replace_bytes,
    sweep,
    unlink_all,
    version_of,
    write_bytes,
)
from frontier.store.objects import PIECE_BYTES, ObjectPath, place_of


@pytest.fixture(params=["tmp_path", "s3_bucket", "azure_bucket"])
def folder(request):
    """An empty folder of each kind."""
    return request.getfixturevalue(request.param)


def test_a_file_is_read_as_it_was_written(folder):
    for content in (b"", b"one", b"another", bytes(range(256)) * 1000):
        write_bytes(folder / "file", content)
        assert read_bounded(folder / "file") == content
        assert (folder / "file").stat().st_size == len(content)
        assert names_in(folder) == {"file"}
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_bounded(folder / "file", 10)


def test_the_end_of_a_file(folder):
    for content in (b"", b"1", b"12345678", b"123456789"):
        write_bytes(folder / "file", content)
        assert read_tail(folder / "file", 8) == (content[-8:], len(content))


def test_ranges_of_a_file(folder):
    rng = np.random.default_rng(0)
    content = rng.bytes(3_000_000)
    write_bytes(folder / "file", content)
    for count in (0, 1, 2, 30):
        begin = np.sort(rng.integers(len(content) - 200_000, size=count)).tolist()
        data = [bytearray(int(size)) for size in rng.integers(1, 200_000, size=count)]
        read_ranges(folder / "file", begin, list(map(memoryview, data)))
        assert data == [content[i : i + len(some)] for i, some in zip(begin, data, strict=True)]


def test_what_is_not_there(folder):
    missing = folder / "missing"
    for action in (
        lambda: read_bounded(missing),
        lambda: read_tail(missing, 10),
        lambda: read_ranges(missing, [0], [memoryview(bytearray(10))]),
        lambda: missing.stat(),
        lambda: missing.unlink(),
    ):
        with pytest.raises(FileNotFoundError, match="missing"):
            action()
    with pytest.raises(CorruptRunError, match="missing is missing"):
        read_json(missing)
    missing.unlink(missing_ok=True)
    unlink_all([missing])
    assert version_of(missing) is None
    assert not missing.exists()
    assert names_in(missing) == set()


def test_names_and_sizes(folder):
    names = ["ledger.json", "layers/0001/c.0.0.0", "layers/0001/c.0.1.0", "layers/0010/c.0"]
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / name, bytes(i + 1))
    assert names_in(folder) == {"ledger.json", "layers"}
    assert names_in(folder / "layers") == {"0001", "0010"}
    assert (folder / "layers").is_dir()
    assert not (folder / "layers").is_file()
    assert not (folder / "layer").exists()  # though names begin so
    assert (folder / "ledger.json").is_file()
    assert not (folder / "ledger.json").is_dir()
    assert disk_bytes(folder) == 10
    assert {path.name: path.stat().st_size for path in (folder / "layers" / "0001").iterdir()} == {
        "c.0.0.0": 2,
        "c.0.1.0": 3,
    }
    unlink_all(list((folder / "layers" / "0001").iterdir()))
    assert names_in(folder / "layers" / "0001") == set()
    (folder / "ledger.json").unlink()
    sweep(folder)
    assert disk_bytes(folder) == 4


def test_a_marker_of_a_folder_is_no_file(s3_bucket):
    """Some programs make one, of no bytes, to show a folder that is empty."""
    write_bytes(s3_bucket, b"")
    assert names_in(s3_bucket) == set()
    assert not s3_bucket.is_dir()
    write_bytes(s3_bucket / "file", b"1")
    assert names_in(s3_bucket) == {"file"}
    assert disk_bytes(s3_bucket) == 1


def test_a_file_that_is_written_piece_by_piece(folder):
    pieces = [bytes([i]) * (PIECE_BYTES // 2 + i) for i in range(6)]
    for some in (pieces[:0], pieces[:1], pieces):
        before = version_of(folder / "file")
        file = new_file(folder / "file")
        for piece in some:
            room = bytearray(piece)
            file.write(memoryview(room))
            room[:] = bytes(len(room))  # memory is used again
        assert version_of(folder / "file") == before
        file.finish(durable=True)
        assert read_bounded(folder / "file") == b"".join(some)


def test_a_file_that_is_abandoned(folder):
    for pieces in (0, 1, 3):
        file = new_file(folder / "file")
        for _ in range(pieces):
            file.write(memoryview(bytes(PIECE_BYTES)))
        file.abandon()
        assert names_in(folder) == set()


def test_a_file_that_is_replaced_if_it_is_the_one_that_was_read(folder):
    file = folder / "ledger.json"
    first = replace_bytes(file, b"first", None)
    assert first == version_of(file)
    with pytest.raises(Replaced):
        replace_bytes(file, b"another", None)
    second = replace_bytes(file, b"second", first)
    assert second not in (None, first)
    for was in (None, first):
        with pytest.raises(Replaced):
            replace_bytes(file, b"late", was)
        assert read_bounded(file) == b"second"
    write_bytes(file, b"by another")
    with pytest.raises(Replaced):
        replace_bytes(file, b"late", second)
    file.unlink()
    with pytest.raises(Replaced):
        replace_bytes(file, b"late", second)
    assert not file.exists()


def test_two_who_replace_an_object_at_once(s3_bucket):
    """One of them gets an error, however close together they are."""
    from concurrent.futures import ThreadPoolExecutor

    def put(content):
        try:
            return (s3_bucket / "ledger.json").replace_bytes(content, was)
        except Replaced:
            return None

    was = None
    with ThreadPoolExecutor(8) as threads:
        for turn in range(10):
            found = list(threads.map(put, [b"%d %d" % (turn, i) for i in range(8)]))
            (was,) = filter(None, found)
            assert was == version_of(s3_bucket / "ledger.json")


def test_an_answer_that_was_lost(s3_bucket, monkeypatch):
    """Who asks again finds that the object is the one that it wrote."""
    import obstore

    put, file = obstore.put, s3_bucket / "ledger.json"

    def twice(*arguments, **options):
        put(*arguments, **options)
        return put(*arguments, **options)

    monkeypatch.setattr(obstore, "put", twice)
    was = replace_bytes(file, b"one", None)
    assert replace_bytes(file, b"two", was) == version_of(file)


def test_names_of_places():
    place = place_of("s3://bucket/runs/2x8/")
    assert isinstance(place, ObjectPath)
    assert str(place) == "s3://bucket/runs/2x8"
    assert (place.name, place.key) == ("2x8", "runs/2x8")
    assert str(place / "layers" / "0001/c.0") == "s3://bucket/runs/2x8/layers/0001/c.0"
    assert (place / "a.toml").suffix == ".toml"
    assert str(place.parent) == "s3://bucket/runs"
    assert place == place_of("s3://bucket/runs/2x8")
    assert len({place, place_of("s3://bucket/runs/2x8"), place.parent}) == 2
    with pytest.raises(TypeError):
        os.fspath(place)  # nobody takes it for a path of a file system


@pytest.mark.parametrize(
    "url", ["s3://", "s3://bucket", "s3://bucket/", "s4://bucket/run", "s3://b/../c", "s3:///run",
            "http://host/run", "s3://bucket/a//b", "s3:/bucket/run", "s3://key:secret@bucket/run"],
)  # fmt: skip
def test_urls_that_name_no_place(url):
    with pytest.raises(InputError, match="names no place in an object store: expected one") as said:
        place_of(url)
    assert "secret" not in str(said.value)
