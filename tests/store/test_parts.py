"""Parts: what was written comes back, and what was not written there is noticed."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import swept

from frontier.errors import CorruptRunError
from frontier.store import parts as parts_module
from frontier.store.codecs import CHECKSUM_BYTES, SlabCodec
from frontier.store.parts import (
    RECORD_BYTES,
    Part,
    PartWriter,
    Record,
    digest_of,
    footer_bytes,
)

CODECS = ["bitmap", "raw", "lz4", "zstd:1"]
SLABS, WORDS, RUN, DEPTH, TASK = 12, 40, "ab" * 16, 7, 3
WHO = SLABS, RUN, DEPTH, TASK


@pytest.fixture(scope="module")
def thread():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def slabs_of(seed=0, order=(4, 0, 1, 9, 8)):
    """Some slabs by their numbers, in the order in which they are written."""
    rng = np.random.default_rng(seed)
    return {
        number: rng.integers(1, 1 << 60, WORDS, dtype=np.uint64) * (rng.random(WORDS) < 0.5)
        for number in order
    }


def states_of(slabs):
    return sum(int(np.bitwise_count(slab).sum()) for slab in slabs.values())


def write(path, thread, slabs, codec="bitmap", run=RUN, depth=DEPTH, task=TASK, **more):
    with PartWriter(path, SLABS, SlabCodec(codec), thread, **more) as writer:
        for number, slab in slabs.items():
            writer.write(number, slab)
        return writer.finish(run, depth, task, states_of(slabs), False, None)


def read(part, wanted=None, codec="bitmap"):
    """Some slabs of a part, or all in the order in which they lie in the file."""
    slabs = part.slabs if wanted is None else np.array(wanted)
    data = np.empty(part.stored_bytes(slabs), dtype=np.uint8)
    found = np.empty((slabs.size, WORDS), dtype=np.uint64)
    rows = np.arange(slabs.size)
    assert SlabCodec(codec).decode_slabs(data, *part.read(slabs, data), found, rows) == slabs.size
    return dict(zip(slabs.tolist(), found, strict=True))


def assert_same(found, slabs):
    assert list(found) == list(slabs)
    assert all((found[number] == slabs[number]).all() for number in slabs)


# --- what is written


@pytest.mark.parametrize("codec", CODECS)
def test_slabs_come_back(tmp_path, thread, codec):
    slabs = slabs_of()
    record = write(tmp_path / "c.0.0.0", thread, slabs, codec)
    assert [file.name for file in tmp_path.iterdir()] == ["c.0.0.0"]
    part = Part(tmp_path / "c.0.0.0", *WHO)
    part.check()
    assert part.record == record
    assert (record.run, record.depth, record.task) == (RUN, DEPTH, TASK)
    assert part.states == record.states == states_of(slabs)
    assert record.bytes == (tmp_path / "c.0.0.0").stat().st_size
    assert part.slabs.tolist() == list(slabs)
    assert np.flatnonzero(part.has(np.arange(SLABS))).tolist() == sorted(slabs)
    assert_same(read(part, codec=codec), slabs)
    assert_same(read(part, [9, 0, 1], codec), {n: slabs[n] for n in (9, 0, 1)})


def test_a_part_without_states(tmp_path, thread):
    record = write(tmp_path / "c.0", thread, {})
    assert record.bytes == footer_bytes(SLABS)
    part = Part(tmp_path / "c.0", *WHO)
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
    text = json.dumps(asdict(record)).encode()
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
        with PartWriter(path, SLABS, SlabCodec("raw"), thread) as writer:
            writer.write(0, np.ones(WORDS, dtype=np.uint64))
            assert len(list(tmp_path.iterdir())) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "c.0")
    assert [file.name for file in tmp_path.iterdir()] == ["c.0"]
    assert (tmp_path / "c.0").read_bytes() == before


def test_what_has_another_name_too_is_not_written_over(tmp_path, thread):
    """A hard link, as backups make them, and a symbolic link."""
    write(tmp_path / "c.0", thread, slabs_of(1))
    before = (tmp_path / "c.0").read_bytes()
    os.link(tmp_path / "c.0", tmp_path / "backup")
    (tmp_path / "c.1").symlink_to(tmp_path / "backup")
    for name in ("c.0", "c.1"):
        write(tmp_path / name, thread, slabs_of(2))
        assert not (tmp_path / name).is_symlink()
        assert_same(read(Part(tmp_path / name, *WHO)), slabs_of(2))
    assert (tmp_path / "backup").read_bytes() == before


@pytest.mark.parametrize("block", [1, 100, 1000, 4 << 20])
def test_blocks_of_all_sizes(tmp_path, thread, block, monkeypatch):
    """The file does not depend on them."""
    slabs = slabs_of(order=range(SLABS))
    write(tmp_path / "a", thread, slabs, "raw")
    monkeypatch.setattr(parts_module, "BLOCK_BYTES", block)
    write(tmp_path / "b", thread, slabs, "raw")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    part = Part(tmp_path / "b", *WHO)
    part.check()
    assert_same(read(part, codec="raw"), slabs)


@pytest.mark.parametrize(
    ("slabs", "runs"),
    [([1, 2, 3, 6, 10, 11], [(1, 3), (6, 1), (10, 2)]), ([6, 3, 2], [(2, 2), (6, 1)]), ([], [])],
)
def test_only_slabs_that_are_wanted_are_read(tmp_path, thread, monkeypatch, slabs, runs):
    """Those that lie side by side at once."""
    write(tmp_path / "c.0", thread, slabs_of(order=range(SLABS)), "raw")
    part, asked, real, each = Part(tmp_path / "c.0", *WHO), [], os.preadv, 8 * WORDS + 4

    def noted(file, views, offset):
        asked.append((offset // each, len(views[0]) // each))
        return real(file, views, offset)

    monkeypatch.setattr(os, "preadv", noted)
    assert_same(read(part, np.array(slabs, dtype=np.int64), "raw"), {
        slab: slabs_of(order=range(SLABS))[slab] for slab in slabs
    })  # fmt: skip
    assert asked == runs


def test_a_file_may_give_less_than_it_is_asked_for(tmp_path, thread, monkeypatch):
    write(tmp_path / "c.0", thread, slabs_of(), "raw")
    part, real = Part(tmp_path / "c.0", *WHO), os.preadv
    monkeypatch.setattr(os, "preadv", lambda file, views, at: real(file, [views[0][:7]], at))
    assert_same(read(part, codec="raw"), slabs_of())


def test_a_damaged_slab_is_told_of_where_it_is_read(tmp_path, thread):
    write(tmp_path / "c.0", thread, slabs_of(order=range(SLABS)), "raw")
    turn(tmp_path / "c.0", 9 * (8 * WORDS + 4) + 17)
    part = Part(tmp_path / "c.0", *WHO)
    with pytest.raises(CorruptRunError, match=r"layer 7: .*c\.0: slab 9 is damaged"):
        read(part, codec="raw")
    read(part, [8, 10], "raw")
    with pytest.raises(CorruptRunError, match="slab 9"):
        part.check()


def turn(path, at, bit=2):
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


# --- what is not what was written


def noticed(path, who=WHO):
    """Whether a part is refused, by an error that names it and is nothing but CorruptRunError."""
    try:
        Part(path, *who).check()
    except CorruptRunError as error:
        return str(path) in str(error)
    return False


def overwrite(path, at, byte):
    """Change a byte of a file where it is."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))


FLIPS = [(bit, CODECS[0]) for bit in (5, 0, 1, 2, 3, 4, 6, 7)]
FLIPS += [(5, codec) for codec in CODECS[1:]]


@swept(("bit", "codec"), FLIPS, few=1)
def test_each_flipped_bit_is_noticed(tmp_path, thread, codec, bit):
    """By default the one that tells large letters from small ones."""
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(order=(4, 0)), codec)
    good = path.read_bytes()
    for at, byte in enumerate(good):
        overwrite(path, at, byte ^ 1 << bit)
        assert noticed(path), at
        overwrite(path, at, byte)
    assert path.read_bytes() == good
    assert not noticed(path)


def test_each_other_byte_of_the_record_is_noticed(tmp_path, thread):
    """Also a blank that becomes another blank."""
    path = tmp_path / "c.0"
    write(path, thread, {})
    good = path.read_bytes()
    for at in range(RECORD_BYTES):
        for other in b"\t\r\n 0,":
            if other != good[at]:
                overwrite(path, at, other)
                assert noticed(path), (at, other)
        overwrite(path, at, good[at])
    assert not noticed(path)


def test_each_cut_and_what_is_longer_is_noticed(tmp_path, thread):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(order=(4, 0)))
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        assert noticed(path), size
        path.write_bytes(good[size + 1 :])
        assert noticed(path), size
    for longer in (good + b"\0", b"\0" + good, good + good, good + bytes(4096)):
        path.write_bytes(longer)
        assert noticed(path)


def test_a_part_that_is_missing_or_empty(tmp_path):
    with pytest.raises(CorruptRunError, match=r"layer 7: .*c\.0 is missing"):
        Part(tmp_path / "c.0", *WHO)
    (tmp_path / "c.0").write_bytes(b"")
    with pytest.raises(CorruptRunError, match=r"c\.0 is cut: 0 bytes, at least 708 expected"):
        Part(tmp_path / "c.0", *WHO)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"run": "cd" * 16}, "it is task 3 of layer 7 of run cdcdcd"),
        ({"run": "a\nb"}, r"it is task 3 of layer 7 of run a\\nb"),
        ({"depth": 9}, "it is task 3 of layer 9 of this run"),
        ({"task": 4}, "it is task 4 of layer 7 of this run"),
    ],
)
def test_parts_of_another_run_or_layer_or_task_are_refused(tmp_path, thread, other, words):
    write(tmp_path / "c.0", thread, slabs_of(), **other)
    with pytest.raises(CorruptRunError, match=f"not the one that was written there: {words}"):
        Part(tmp_path / "c.0", *WHO)


@pytest.mark.parametrize("slabs", [1, SLABS - 1, SLABS + 1, 1000])
def test_a_part_of_another_layout_is_refused(tmp_path, thread, slabs):
    write(tmp_path / "c.0", thread, slabs_of())
    assert noticed(tmp_path / "c.0", (slabs, RUN, DEPTH, TASK))


def test_slabs_of_another_part_are_noticed_though_each_is_whole(tmp_path, thread):
    """Exchanged with slabs of the same sizes, checksums included."""
    for name, seed in (("a", 1), ("b", 2)):
        write(tmp_path / name, thread, slabs_of(seed), "raw")
    one, other = (tmp_path / name for name in "ab")
    size = 8 * WORDS + 4
    data = other.read_bytes()[:size] + one.read_bytes()[size:]
    one.write_bytes(data)
    assert len(read(Part(one, *WHO), codec="raw")) == 5  # no slab tells
    with pytest.raises(CorruptRunError, match="its slabs are not those that were written there"):
        Part(one, *WHO).check()


# --- what is forged, digests and all


def forge(path, thread, change=None, index=None):
    """Write a part whose record or index says something else, and seal it as if it were true."""
    record = write(path, thread, slabs_of(), "raw")
    data = path.read_bytes()
    slabs = data[: -footer_bytes(SLABS)]
    if index is None:
        index = data[-16 * SLABS - CHECKSUM_BYTES : -CHECKSUM_BYTES]
    value = {**asdict(record), **(change or {})}
    value.pop("digest")
    sealed = json.dumps(value, sort_keys=True).encode() + index
    value["digest"] = hashlib.sha256(sealed).hexdigest()
    footer = json.dumps(value).ljust(RECORD_BYTES - 1).encode() + b"\n"
    footer += index + google_crc32c.value(index).to_bytes(4, "little")
    path.write_bytes(slabs + footer)


def test_a_forgery_that_changes_nothing_is_as_good_as_the_original(tmp_path, thread):
    forge(tmp_path / "c.0", thread)
    assert not noticed(tmp_path / "c.0")


HOSTILE = [0, 1, 5, 323, 324, 325, 1619, 1620, 1621, 2**31, 2**32, 2**62, 2**63 - 1, 2**63,
           2**63 + 1, 2**64 - 700, 2**64 - 2, 2**64 - 1]  # fmt: skip


@swept("offset", HOSTILE, few=HOSTILE[::4])
@swept("size", HOSTILE, few=HOSTILE[1::4])
def test_an_index_that_points_anywhere(tmp_path, thread, offset, size):
    """It is refused, or its slab is not what was written there; nothing outside is read."""
    path = tmp_path / "c.0"
    index = np.full((SLABS, 2), 2**64 - 1, dtype="<u8")
    index[5] = offset, size
    forge(path, thread, index=index.tobytes())
    if offset == 2**64 - 1:
        part = Part(path, *WHO)
        assert part.slabs.size == 0
        return
    if offset + size > 1620 or size <= 4:
        with pytest.raises(CorruptRunError, match="its index points outside its slabs"):
            Part(path, *WHO)
        return
    part = Part(path, *WHO)
    with pytest.raises(CorruptRunError, match=r"c\.0"):
        part.check()


@given(data=st.binary(min_size=16 * SLABS, max_size=16 * SLABS))
def test_an_index_of_any_bytes(tmp_path_factory, thread, data):
    path = tmp_path_factory.mktemp("forged") / "c.0"
    forge(path, thread, index=data)
    assert noticed(path) or data == b"\xff" * 16 * SLABS


CHANGES = [
    {"states": "5"}, {"states": None}, {"states": 1.5}, {"bytes": "x"}, {"bytes": None},
    {"bytes": 10}, {"bytes": 10**30}, {"depth": "7"}, {"depth": None}, {"task": [3]}, {"run": 5},
    {"run": None}, {"content": 3}, {"content": "0"}, {"home": "many"}, {"home": 1.5},
    {"start": "no"}, {"start": None}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_record_that_says_nonsense(tmp_path, thread, change):
    forge(tmp_path / "c.0", thread, change)
    assert noticed(tmp_path / "c.0")


NONSENSE = [b"", b"null", b"[]", b"{}", b"1", b'"x"', b"\xff" * 9, b"[" * 511, b'{"run": ' * 60]
NONSENSE += [b'{"run": NaN}', b"9" * 511, b"\0" * 512]


@pytest.mark.parametrize("text", NONSENSE)
def test_a_record_that_is_none(tmp_path, thread, text):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of())
    data, end = path.read_bytes(), footer_bytes(SLABS)
    path.write_bytes(data[:-end] + text.ljust(RECORD_BYTES) + data[RECORD_BYTES - end :])
    with pytest.raises(CorruptRunError, match="has no record at its end"):
        Part(path, *WHO)


@given(text=st.binary(max_size=RECORD_BYTES))
def test_a_record_of_any_bytes(text):
    with pytest.raises(ValueError, match=r".*"):
        Record.from_bytes(text.ljust(RECORD_BYTES))


def test_records_come_back():
    for home, start in ((None, False), (0, True), (10**18, False)):
        record = Record(RUN, 10**6, 10**9, 10**18, 2**62, "0123abcd", start, home).sealed(b"index")
        data = record.to_bytes()
        assert len(data) == RECORD_BYTES
        assert Record.from_bytes(data) == record
        assert record.matches(b"index")
        assert not record.matches(b"other")
        assert not replace(record, states=5).matches(b"index")


def test_the_digest_of_a_layer_is_of_its_parts_in_their_order():
    records = [Record(RUN, 1, task, 5, 900, "").sealed(b"") for task in range(3)]
    assert digest_of(records) == digest_of(list(records))
    others = [records[::-1], records[:2], [*records, records[0]], []]
    assert len({digest_of(some) for some in [records, *others]}) == 5


# --- what is no file


def test_a_folder_or_a_pipe_in_the_place_of_a_part(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("folder", "pipe", "device"):
        with pytest.raises(CorruptRunError, match=f"{name} is no file"):  # and does not wait
            Part(tmp_path / name, *WHO)


def test_a_part_that_goes_while_it_is_read(tmp_path, thread):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(), "raw")
    part = Part(path, *WHO)
    os.truncate(path, 400)
    with pytest.raises(CorruptRunError, match="was cut while it was read"):
        part.check()
    path.unlink()
    with pytest.raises(CorruptRunError, match="was deleted while it was read"):
        part.check()


def test_a_part_that_becomes_a_pipe_while_it_is_read(tmp_path, thread):
    path = tmp_path / "c.0"
    write(path, thread, slabs_of(), "raw")
    part = Part(path, *WHO)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CorruptRunError, match=r"c\.0"):
        part.check()
