"""Parts that are not what was written: damaged, cut, or of another run, layer or task."""

import pytest

from frontier.errors import CorruptRunError
from frontier.layers.parts import (
    RECORD_BYTES,
)
from tests.support.part_files import (
    CODECS,
    DEPTH,
    RUN,
    SLABS,
    TASK,
    WORDS,
    noticed,
    overwrite,
    part_at,
    read,
    slabs_of,
    write,
)
from tests.support.sweeps import swept

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
        part_at(tmp_path / "c.0")
    (tmp_path / "c.0").write_bytes(b"")
    with pytest.raises(CorruptRunError, match=r"c.0 is truncated: 0 bytes, expected at least 708"):
        part_at(tmp_path / "c.0")


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
    with pytest.raises(CorruptRunError, match=f"is the wrong part: {words}"):
        part_at(tmp_path / "c.0")


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
    assert len(read(part_at(one), codec="raw")) == 5  # no slab tells
    with pytest.raises(CorruptRunError, match="its slabs do not match its record"):
        part_at(one).check()
