"""Parts: what was written comes back, from whole files and from none."""

import json
import os
import sys
from dataclasses import asdict, replace

import google_crc32c
import numpy as np
import pytest

from frontier.codec import zerobytes
from frontier.codec.codecs import SlabCodec
from frontier.errors import CorruptRunError, NotAFile
from frontier.layers import parts as parts_module
from frontier.layers.parts import (
    RECORD_BYTES,
    PartRecord,
    PartWriter,
    digest_of,
    footer_bytes,
)
from frontier.layers.tally import Tally
from frontier.storage.local import LocalStorage
from frontier.storage.places import storage_at
from tests.support.part_files import (
    CODECS,
    DEPTH,
    RUN,
    SLABS,
    TASK,
    WHO,
    WORDS,
    assert_same,
    part_at,
    read,
    slabs_of,
    states_of,
    turn,
    write,
)

# --- what is written


@pytest.mark.parametrize("codec", CODECS)
def test_slabs_come_back(tmp_path, thread, codec):
    slabs = slabs_of()
    record = write(tmp_path / "c.0.0.0", thread, slabs, codec)
    assert [file.name for file in tmp_path.iterdir()] == ["c.0.0.0"]
    part = part_at(tmp_path / "c.0.0.0")
    part.check()
    assert part.record == record
    assert (record.run, record.depth, record.task) == (RUN, DEPTH, TASK)
    assert part.states == record.states == states_of(slabs)
    assert record.bytes == (tmp_path / "c.0.0.0").stat().st_size
    assert part.slabs.tolist() == list(slabs)
    assert np.flatnonzero(part.has(np.arange(SLABS))).tolist() == sorted(slabs)
    assert_same(read(part, codec=codec), slabs)
    assert_same(read(part, [9, 0, 1], codec), {n: slabs[n] for n in (9, 0, 1)})


@pytest.mark.parametrize(
    ("codec", "at_once"), [("bitmap", 2), ("bitmap", 9), *((codec, 1) for codec in CODECS)]
)
def test_bitmaps_are_added_as_slabs_are_written(tmp_path, thread, codec, at_once):
    """Whatever the codec, the file is the same, byte for byte."""
    slabs = slabs_of()
    record = write(tmp_path / "written", thread, slabs, codec)
    path, left = tmp_path / "added", list(slabs.items())
    with PartWriter(storage_at(path), "", SLABS, WHO[1:], SlabCodec(codec), thread) as writer:
        while left:
            room, sizes, at = writer.room(8 * WORDS), [], 0
            for _, words in left[:at_once]:
                size = zerobytes.encode(words, room[at:])
                checksum = google_crc32c.value(room[at : at + size]).to_bytes(4, "little")
                room[at + size : at + size + 4] = np.frombuffer(checksum, dtype=np.uint8)
                sizes.append(size)
                at += size + 4
            numbers = [number for number, _ in left[: len(sizes)]]
            writer.add(np.array(numbers), np.array(sizes))
            del left[: len(sizes)]
        assert writer.finish(record.tally) == record
    assert path.read_bytes() == (tmp_path / "written").read_bytes()


def test_a_part_without_states(tmp_path, thread):
    record = write(tmp_path / "c.0", thread, {})
    assert record.bytes == footer_bytes(SLABS)
    part = part_at(tmp_path / "c.0")
    part.check()
    assert part.slabs.size == 0
    assert read(part) == {}


def test_the_file_is_the_one_that_the_text_describes(tmp_path, thread):
    """Slabs with their checksums, the record, the index and its checksum; nothing else."""
    slabs = slabs_of()
    record = write(tmp_path / "c.0", thread, slabs, "raw")
    expected, index = b"", [(2**64 - 1, 2**64 - 1)] * SLABS
    for number, slab in slabs.items():
        data = slab.tobytes()
        index[number] = len(expected), len(data) + 4
        expected += data + google_crc32c.value(data).to_bytes(4, "little")
    packed = b"".join(n.to_bytes(8, "little") for place in index for n in place)
    text = json.dumps(asdict(record) | {"tally": record.tally.stored}).encode()
    expected += text.ljust(RECORD_BYTES - 1) + b"\n"
    expected += packed + google_crc32c.value(packed).to_bytes(4, "little")
    assert (tmp_path / "c.0").read_bytes() == expected


def test_the_same_bytes_each_time(tmp_path, thread):
    for name in ("a", "b"):
        write(tmp_path / name, thread, slabs_of())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_writer_that_fails_leaves_what_was_there(tmp_path, thread):
    write(tmp_path / "c.0", thread, slabs_of())
    before = (tmp_path / "c.0").read_bytes()

    def written(path):
        with PartWriter(storage_at(path), "", SLABS, WHO[1:], SlabCodec("raw"), thread) as writer:
            writer.write(0, np.ones(WORDS, dtype=np.uint64))
            assert len(list(tmp_path.iterdir())) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "c.0")
    assert [file.name for file in tmp_path.iterdir()] == ["c.0"]
    assert (tmp_path / "c.0").read_bytes() == before


def test_what_has_another_name_too_is_not_written_over(tmp_path, thread):
    """A hard link, as some copies of runs have, and a symbolic link."""
    write(tmp_path / "c.0", thread, slabs_of(1))
    before = (tmp_path / "c.0").read_bytes()
    os.link(tmp_path / "c.0", tmp_path / "backup")
    (tmp_path / "c.1").symlink_to(tmp_path / "backup")
    for name in ("c.0", "c.1"):
        write(tmp_path / name, thread, slabs_of(2))
        assert not (tmp_path / name).is_symlink()
        assert_same(read(part_at(tmp_path / name)), slabs_of(2))
    assert (tmp_path / "backup").read_bytes() == before


@pytest.mark.parametrize("block", [1, 100, 1000, 4 << 20])
def test_blocks_of_all_sizes(tmp_path, thread, block, monkeypatch):
    """The file does not depend on them."""
    slabs = slabs_of(order=range(SLABS))
    write(tmp_path / "a", thread, slabs, "raw")
    monkeypatch.setattr(parts_module, "BUFFER_BYTES", block)
    write(tmp_path / "b", thread, slabs, "raw")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    part = part_at(tmp_path / "b")
    part.check()
    assert_same(read(part, codec="raw"), slabs)


@pytest.fixture(params=[True, False], ids=["mapped", "read"])
def mapped(request, monkeypatch):
    """Whether files are mapped, which some systems cannot do."""
    if not request.param:
        monkeypatch.setattr(LocalStorage, "map_ranges", lambda self, name, ranges: None)
    elif sys.platform != "linux":
        pytest.skip("files are mapped on Linux only")
    return request.param


@pytest.mark.parametrize(
    ("slabs", "runs"),
    [([1, 2, 3, 6, 10, 11], [(1, 3), (6, 1), (10, 2)]), ([6, 3, 2], [(2, 2), (6, 1)]), ([], [])],
)
def test_only_slabs_that_are_wanted_are_read(tmp_path, thread, monkeypatch, mapped, slabs, runs):
    """Those that lie side by side at once."""
    write(tmp_path / "c.0", thread, slabs_of(order=range(SLABS)), "raw")
    part, asked, each = part_at(tmp_path / "c.0"), [], 8 * WORDS + 4
    preadv, sendfile = os.preadv, os.sendfile

    def read_there(file, views, offset):
        asked.append((offset // each, len(views[0]) // each))
        return preadv(file, views, offset)

    def sent(to, file, offset, size):
        asked.append((offset // each, size // each))
        return sendfile(to, file, offset, size)

    monkeypatch.setattr(os, "sendfile" if mapped else "preadv", sent if mapped else read_there)
    assert_same(read(part, np.array(slabs, dtype=np.int64), "raw"), {
        slab: slabs_of(order=range(SLABS))[slab] for slab in slabs
    })  # fmt: skip
    assert asked == runs


def test_a_file_may_give_less_than_it_is_asked_for(tmp_path, thread, monkeypatch, mapped):
    write(tmp_path / "c.0", thread, slabs_of(), "raw")
    preadv, sendfile = os.preadv, os.sendfile
    monkeypatch.setattr(os, "preadv", lambda file, views, at: preadv(file, [views[0][:7]], at))
    monkeypatch.setattr(os, "sendfile", lambda to, file, at, size: sendfile(to, file, at, 7))
    assert_same(read(part_at(tmp_path / "c.0"), codec="raw"), slabs_of())


def test_a_damaged_slab_is_told_of_where_it_is_read(tmp_path, thread):
    write(tmp_path / "c.0", thread, slabs_of(order=range(SLABS)), "raw")
    turn(tmp_path / "c.0", 9 * (8 * WORDS + 4) + 17)
    part = part_at(tmp_path / "c.0")
    with pytest.raises(CorruptRunError, match=r"layer 7: .*c\.0: slab 9 is damaged"):
        read(part, codec="raw")
    read(part, [8, 10], "raw")
    with pytest.raises(CorruptRunError, match="slab 9"):
        part.check()


# --- records


def test_records_come_back():
    for at_goal, start in ((None, 0), (0, 1), (10**18, 0)):
        tally = Tally(10**18, start, at_goal)
        record = PartRecord(RUN, 10**6, 10**9, tally, 2**62, "0123abcd").sealed(b"index")
        data = record.to_bytes()
        assert len(data) == RECORD_BYTES
        assert PartRecord.from_bytes(data) == record
        assert record.matches(b"index")
        assert not record.matches(b"other")
        assert not replace(record, tally=Tally(5)).matches(b"index")


def test_the_digest_of_a_layer_is_of_its_parts_in_their_order():
    records = [PartRecord(RUN, 1, task, Tally(5), 900, "").sealed(b"") for task in range(3)]
    assert digest_of(records) == digest_of(list(records))
    others = [records[::-1], records[:2], [*records, records[0]], []]
    assert len({digest_of(some) for some in [records, *others]}) == 5


# --- what is no file


def test_a_folder_or_a_pipe_in_the_place_of_a_part(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("folder", "pipe", "device"):
        with pytest.raises(NotAFile, match=f"{name} is .*, not a file"):  # and does not wait
            part_at(tmp_path / name)


def test_a_part_that_goes_while_it_is_read(tmp_path, thread):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(), "raw")
    part = part_at(path)
    os.truncate(path, 400)
    with pytest.raises(CorruptRunError, match="was truncated while it was read"):
        part.check()
    path.unlink()
    with pytest.raises(CorruptRunError, match="was deleted while it was read"):
        part.check()


def test_a_part_that_becomes_a_pipe_while_it_is_read(tmp_path, thread):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(), "raw")
    part = part_at(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(NotAFile, match=r"c\.0"):
        part.check()
