"""Parts of made-up slabs, written and read."""

import numpy as np

from frontier.codec.codecs import SlabCodec
from frontier.errors import CorruptRunError
from frontier.layers.parts import (
    Part,
    PartWriter,
)
from frontier.layers.tally import Tally
from frontier.storage.places import storage_at

CODECS = ["bitmap", "raw", "lz4", "zstd:1"]
SLABS, WORDS, RUN, DEPTH, TASK = 12, 40, "ab" * 16, 7, 3
WHO = SLABS, RUN, DEPTH, TASK


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
    who = run, depth, task
    with PartWriter(storage_at(path), "", SLABS, who, SlabCodec(codec), thread, **more) as writer:
        for number, slab in slabs.items():
            writer.write(number, slab)
        return writer.finish(Tally(states_of(slabs)))


def part_at(path, who=WHO):
    """The part in a file."""
    return Part(storage_at(path), "", *who)


def read(part, wanted=None, codec="bitmap"):
    """Some slabs of a part, or all in the order in which they lie in the file."""
    slabs = part.slabs if wanted is None else np.array(wanted)
    found = np.empty((slabs.size, WORDS), dtype=np.uint64)
    data, begin, end = part.read(slabs)
    part.check_slabs(slabs, data, begin, end)
    for words, first, last in zip(found, begin, end, strict=True):
        SlabCodec(codec).decode(data[first:last], words)
    return dict(zip(slabs.tolist(), found, strict=True))


def assert_same(found, slabs):
    assert list(found) == list(slabs)
    assert all((found[number] == slabs[number]).all() for number in slabs)


def turn(path, at, bit=2):
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def noticed(path, who=WHO):
    """Whether a part is refused, by an error that names it and is nothing but CorruptRunError."""
    try:
        part_at(path, who).check()
    except CorruptRunError as error:
        return str(path) in str(error)
    return False


def overwrite(path, at, byte):
    """Change a byte of a file where it is."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))
