"""Slabs are compressed and come back; what is no slab is refused."""

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.config.loading import Config
from frontier.errors import InputError
from tests.support.sweeps import swept

CODECS = ["bitmap", "raw", "lz4", "zstd:1", "zstd:-5", "zstd:22", "zstd:-50"]


def slab_of(seed, size=3000, share=0.3):
    rng = np.random.default_rng(seed)
    slab = rng.integers(0, 1 << 60, size, dtype=np.uint64)
    slab[rng.random(size) >= share] = 0
    return slab


def data_of(codec, slab):
    room = np.empty(encoded_bytes(slab.nbytes), dtype=np.uint8)
    data = room[: codec.encode(slab, room)]
    return data.copy()


@pytest.mark.parametrize("codec", CODECS)
@swept("share", [0, 0.01, 0.5, 1], few=[0, 0.5])
@pytest.mark.parametrize("shape", [(1,), (7,), (3000,), (5, 336), (32768,)])
def test_slabs_come_back(codec, shape, share):
    slab = slab_of(1, int(np.prod(shape)), share).reshape(shape)
    codec = SlabCodec(codec)
    data = data_of(codec, slab)
    again = np.full(shape, 2**64 - 1, dtype=np.uint64)
    codec.decode(data, again)
    assert (again == slab).all()


@pytest.mark.parametrize("codec", CODECS)
def test_a_codec_is_used_again_and_again(codec):
    """Slabs of all sizes, larger and smaller ones in turn."""
    codec = SlabCodec(codec)
    for size in (10, 4000, 1, 500, 32768, 4000):
        slab, again = slab_of(size, size), np.empty(size, dtype=np.uint64)
        codec.decode(data_of(codec, slab), again)
        assert (again == slab).all()


@pytest.mark.parametrize("codec", CODECS)
def test_data_may_lie_anywhere_and_be_read_only(codec):
    codec, slab = SlabCodec(codec), slab_of(2)
    data = data_of(codec, slab)
    shifted = np.frombuffer(b"\1" + data.tobytes() + b"\2", dtype=np.uint8)[1:-1]
    again = np.empty(slab.size + 2, dtype=np.uint64)[1:-1]
    codec.decode(shifted, again)
    assert (again == slab).all()


@pytest.mark.parametrize("codec", CODECS)
def test_data_of_another_size_are_refused(codec):
    codec, slab = SlabCodec(codec), slab_of(3, 47 * 64)
    slab[-1] = 1  # a bitmap that is a little shorter or longer by zeros may have the same data
    data = data_of(codec, slab)
    for size in (slab.size - 1, slab.size + 1, 1, 2 * slab.size):
        with pytest.raises(ValueError, match=r".+"):
            codec.decode(data, np.empty(size, dtype=np.uint64))
    for cut in (0, 1, 3, data.size // 2, data.size - 1):
        with pytest.raises(ValueError, match=r".+"):
            codec.decode(data[:cut], np.empty(slab.size, dtype=np.uint64))


@pytest.mark.parametrize("codec", CODECS)
@given(data=st.data())
def test_damaged_data_are_refused_or_are_another_slab(codec, data):
    """That is why there are checksums; but nothing worse comes of it."""
    codec, slab = SlabCodec(codec), slab_of(4, 200)
    damaged = data_of(codec, slab)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, damaged.size - 1))] = data.draw(st.integers(0, 255))
    check_safe(codec, damaged)


@pytest.mark.parametrize("codec", CODECS)
@given(data=st.binary(max_size=300))
def test_any_bytes(codec, data):
    check_safe(SlabCodec(codec), np.frombuffer(data, dtype=np.uint8))


def check_safe(codec, data):
    """A slab is filled or a ValueError raised, and nothing beside the slab is written."""
    buffer = np.full(264, 0xA5A5A5A5A5A5A5A5, dtype=np.uint64)
    try:
        codec.decode(data, buffer[32:232])
    except ValueError:
        assert (buffer == buffer[0]).all()
    assert (buffer[:32] == 0xA5A5A5A5A5A5A5A5).all()
    assert (buffer[232:] == 0xA5A5A5A5A5A5A5A5).all()


def test_data_that_claim_to_be_huge():
    """Of a length of lz4 and of a frame of zstd that say 2 GB and more."""
    slab = np.empty(100, dtype=np.uint64)
    huge = [
        ("lz4", b"\xff\xff\xff\x7f" + bytes(20)),
        ("zstd:1", b"\x28\xb5\x2f\xfd\xe0" + (1 << 60).to_bytes(8, "little") + bytes(9)),
    ]
    for name, data in huge:
        with pytest.raises(ValueError, match=r".+"):
            SlabCodec(name).decode(np.frombuffer(data, dtype=np.uint8), slab)


UNKNOWN = [
    "gzip",
    "zstd",
    "zstd:99",
    "zstd:-51",
    "zstd:-0",
    "zstd:01",
    "zstd:x",
    "lz4:1",
    "",
    "Bitmap",
    "bitmap:1",
]


@pytest.mark.parametrize("codec", UNKNOWN)
def test_unknown_codecs_are_named_with_those_there_are(codec):
    with pytest.raises(InputError) as error:
        SlabCodec(codec)
    assert f'store.codec = "{codec}"' in str(error.value)
    for known in ("bitmap", "raw", "lz4", "zstd:N"):
        assert f'"{known}"' in str(error.value)


def test_bitmap_is_the_default():
    puzzle = {"kind": "tiles", "rows": 2, "columns": 3}
    assert Config(name="x", puzzle=puzzle).store.codec == "bitmap"


def test_a_checksum_has_four_bytes():
    assert len(google_crc32c.Checksum().digest()) == CHECKSUM_BYTES


def test_bitmap_stores_less_than_lz4_and_lz4_less_than_raw():
    """At random bits one in twenty of which is set, as in the fullest layers of 2×n."""
    rng = np.random.default_rng(0)
    bits = rng.random((32768, 64)) < 0.05
    slab = np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(-1)
    bitmap, lz4, raw = (data_of(SlabCodec(codec), slab).size for codec in ("bitmap", "lz4", "raw"))
    assert bitmap <= 0.8 * lz4 < lz4 < raw == slab.nbytes
