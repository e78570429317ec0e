"""Bitmaps without their zero bytes, compared with a slow and obvious twin."""

import subprocess
import sys
from itertools import compress, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontier.codec import zerobytes_kernels
from frontier.codec.zerobytes import (
    SLACK,
    decode,
    encode,
    most_bytes,
    plain_decode,
    plain_encode,
)
from tests.support.sweeps import swept

GUARD = 0xA5


# --- the twin


def suppressed(octets: bytes) -> tuple[bytes, bytes]:
    """The bytes that are not zero; and a bit for each byte, whether it is one of these."""
    mask = bytearray(-(-len(octets) // 8))
    for i, octet in enumerate(octets):
        mask[i // 8] |= (octet != 0) << i % 8
    return bytes(octet for octet in octets if octet), bytes(mask)


def twin_of_encode(words: list[int]) -> bytes:
    """The data as the module's text says."""
    octets = b"".join(word.to_bytes(8, "little") for word in words)
    kept, first = suppressed(octets)
    assert len(first) == len(words)
    of_first, second = suppressed(first)
    of_second, third = suppressed(second)
    return kept + of_first + of_second + third


# --- what is tested


def as_array(data: bytes) -> np.ndarray:
    """Data as uint8 that can be written, as kernels would be compiled again for what cannot."""
    return np.frombuffer(bytearray(data), dtype=np.uint8)


def encoded(words) -> bytes:
    """The data of `encode`, which writes nothing behind its room."""
    words = np.array(words, dtype=np.uint64)
    room = most_bytes(words.size) + SLACK
    buffer = np.full(room + 256, GUARD, dtype=np.uint8)
    size = encode(words, buffer[128 : 128 + room])
    assert size <= most_bytes(words.size)
    assert (buffer[:128] == GUARD).all()
    assert (buffer[128 + room :] == GUARD).all()
    return buffer[128 : 128 + size].tobytes()


def decoded(data: bytes, size: int) -> list[int]:
    """The words of `decode`, which writes nothing beside them. ValueError if it says so; nothing
    is written then."""
    buffer = np.full(size + 32, 0xA5A5A5A5A5A5A5A5, dtype=np.uint64)
    untouched = buffer.copy()
    plain = np.zeros(size, dtype=np.uint64)
    try:
        decode(as_array(data), buffer[16 : 16 + size])
    except ValueError:
        assert (buffer == untouched).all()
        with pytest.raises(ValueError, match="are not a bitmap of"):
            plain_decode(as_array(data), plain)
        raise
    plain_decode(as_array(data), plain)
    assert (plain == buffer[16 : 16 + size]).all()
    assert (buffer[:16] == untouched[:16]).all()
    assert (buffer[16 + size :] == untouched[:16]).all()
    return buffer[16 : 16 + size].tolist()


OCTETS = st.one_of(st.just(0), st.just(0), st.integers(0, 255))
WORDS = st.one_of(
    st.lists(st.integers(0, 2**64 - 1), max_size=70),
    st.lists(st.lists(OCTETS, min_size=8, max_size=8).map(lambda w: int.from_bytes(bytes(w)))),
    st.tuples(st.integers(0, 600), st.dictionaries(st.integers(0, 599), st.integers(1, 2**64 - 1)))
    .map(lambda case: [case[1].get(i, 0) for i in range(case[0])]),
)  # fmt: skip
"""Dense ones; of bytes most of which are zero; of words most of which are."""


@given(WORDS)
@example([])
@example([0] * 513)
@example([2**64 - 1] * 513)
@example([1 << 63] * 65)
def test_data_are_those_of_the_twin_and_come_back(words):
    data = encoded(words)
    assert data == twin_of_encode(words)
    assert data == plain_encode(np.array(words, dtype=np.uint64)).tobytes()
    assert decoded(data, len(words)) == words


@swept(
    "size",
    [*range(20), 63, 64, 65, 127, 511, 512, 513, 4095, 4097, 32768],
    few=[0, 1, 7, 8, 9, 63, 64, 65, 513, 32768],
)
@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.5, 1])
def test_bitmaps_of_all_sizes_and_densities(size, share):
    rng = np.random.default_rng(size)
    bits = rng.random((size, 64)) < share
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(-1)
    data = encoded(words)
    if size <= 4097:
        assert data == twin_of_encode(words.tolist())
    assert decoded(data, size) == words.tolist()


def test_nothing_is_stored_of_nothing_but_a_mask():
    assert encoded([0] * 4096) == bytes(64)
    assert len(encoded([2**64 - 1] * 4096)) == most_bytes(4096) == 9 * 4096 + 512 + 64


def test_an_error_names_the_sizes():
    with pytest.raises(ValueError, match="its 1,234 bytes are not a bitmap of 5,000 words"):
        decoded(bytes(1234), 5000)


def test_room_that_is_too_small_is_refused():
    words = np.ones(100, dtype=np.uint64)
    with pytest.raises(ValueError, match="too few for 100 words"):
        encode(words, np.empty(most_bytes(100) + SLACK - 1, dtype=np.uint8))


# --- piece by piece


@given(WORDS, st.integers(1, 40))
@example([0] * 100 + [1] * 9 + [0] * 91, 7)
def test_bitmaps_piece_by_piece(words, piece):
    """Pieces without a one are known by the masks alone, and neither decoded nor encoded."""
    kernels, size = zerobytes_kernels, len(words)
    words, data = np.array(words, dtype=np.uint64), as_array(encoded(words))
    masks, again = kernels.masks_for(size), kernels.masks_for(size)
    assert kernels.decode_masks(data, size, masks)
    again[0][:] = 0
    room, at, to = np.full(9 * size + 200, GUARD, dtype=np.uint8), 0, 0
    for first in range(0, size, piece):
        some = words[first : first + piece]
        assert kernels.has_ones(masks, first, some.size) == some.any()
        if some.any():
            out = np.full(some.size + 1, GUARD, dtype=np.uint64)
            at = kernels.decode_words(data, at, masks, first, out[:-1].view(np.uint8))
            assert (out[:-1] == some).all()
            assert out[-1] == GUARD
            to = kernels.encode_words(out[:-1].view(np.uint8), first, again, room, to)
    end = kernels.encode_masks(size, again, room, to)
    assert at == to
    assert room[:end].tobytes() == data.tobytes()


# --- data that are none


@given(WORDS, st.data())
def test_damaged_data_are_refused_or_are_others(words, data):
    """Whatever the bytes are, nothing is read or written outside; what is not refused is the
    data of what comes of it, but for what masks say of bytes that are zero all the same."""
    whole = bytearray(encoded(words))
    for _ in range(data.draw(st.integers(0, 3))):
        if whole:
            at = data.draw(st.integers(0, len(whole) - 1))
            whole[at] = data.draw(st.integers(0, 255))
    assert_safe(bytes(whole), len(words))


@given(WORDS, st.integers(-9, 9), st.data())
def test_data_of_another_size_are_refused_or_are_others(words, more, data):
    whole = encoded(words)
    assert_safe(whole, max(0, len(words) + more))
    cut = data.draw(st.integers(0, len(whole)))
    assert_safe(whole[:cut], len(words))
    assert_safe(whole[cut:], len(words))
    assert_safe(whole + whole[cut:], len(words))


@given(st.binary(max_size=400), st.integers(0, 300))
def test_any_bytes(data, size):
    assert_safe(data, size)


def assert_safe(data, size):
    try:
        words = decoded(data, size)
    except ValueError:
        return
    assert len(words) == size
    zeros = [mask.count(b"\0") for mask in parts_of(data, size)]
    if not any(zeros):
        assert encoded(words) == data


def parts_of(data, size):
    """What is kept of the words and of the masks, by the twin of the format."""
    sizes = [8 * size, size, -(-size // 8), -(-size // 64)]
    end = len(data) - sizes[3]
    mask, kept = data[end:], []
    for length in reversed(sizes[:3]):
        ones = [mask[i // 8] >> i % 8 & 1 for i in range(length)]
        assert not mask or not mask[-1] >> (length - 1) % 8 + 1
        begin = end - sum(ones)
        assert begin >= 0
        kept.append(data[begin:end])
        octets = iter(data[begin:end])
        mask, end = bytes(next(octets) if one else 0 for one in ones), begin
    assert end == 0
    return kept


def test_every_byte_of_some_data_flipped_and_every_cut():
    rng = np.random.default_rng(3)
    words = rng.integers(0, 1 << 20, 200, dtype=np.uint64) * (rng.random(200) < 0.4)
    data = encoded(words)
    refused = 0
    for at, bit in product(range(len(data)), range(8)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        try:
            decoded(bytes(flipped), 200)
        except ValueError:
            refused += 1
    assert refused > 8 * 25  # at least those of the masks
    for cut in range(len(data)):
        with pytest.raises(ValueError, match="not a bitmap"):
            decoded(data[:cut], 200)


# --- with vectors and word by word


def squeezed(function, octets):
    """(mask, bytes written) of a function that squeezes 64 bytes."""
    source = as_array(bytes(7) + octets)
    data = np.full(3 + 64 + SLACK, GUARD, dtype=np.uint8)
    mask = int(by_kernel(function)(source, 7, data, 3))
    assert (data[:3] == GUARD).all()
    assert (data[3 + 64 + 8 :] == GUARD).all()
    return mask, data[3 : 3 + mask.bit_count()].tobytes()


def spread(function, mask, data):
    source = as_array(b"\1" + data + bytes([GUARD] * 72))
    target = np.full(5 + 64 + 5, GUARD, dtype=np.uint8)
    by_kernel(function)(np.uint64(mask), source, 1, target, 5)
    assert (target[:5] == GUARD).all()
    assert (target[69:] == GUARD).all()
    return target[5:69].tobytes()


KERNELS = {}


def by_kernel(function):
    """An intrinsic can only be called by a kernel."""
    import numba

    if function not in KERNELS:
        KERNELS[function] = numba.njit(lambda *arguments: function(*arguments))
    return KERNELS[function]


WAYS = [(zerobytes_kernels._squeeze_words, zerobytes_kernels._spread_words)]
if zerobytes_kernels.has_vectors():
    WAYS.append((zerobytes_kernels._squeeze_vector, zerobytes_kernels._spread_vector))


@pytest.mark.parametrize("way", WAYS, ids=["words", "vectors"][: len(WAYS)])
@given(st.lists(OCTETS, min_size=64, max_size=64).map(bytes))
@example(bytes(64))
@example(bytes([255] * 64))
@example(bytes([1, 0] * 32))
@example(bytes([0, 128] * 32))
def test_sixty_four_bytes_each_way(way, octets):
    squeeze, expand = way
    kept, mask = suppressed(octets)
    assert squeezed(squeeze, octets) == (int.from_bytes(mask, "little"), kept)
    assert spread(expand, int.from_bytes(mask, "little"), kept) == octets


@pytest.mark.parametrize("way", WAYS, ids=["words", "vectors"][: len(WAYS)])
def test_every_mask_of_a_word_each_way(way):
    for mask in range(256):
        octets = bytes((k + 1) * (mask >> k & 1) for k in range(8)) * 8
        kept = bytes(compress(octets, octets))
        found, data = squeezed(way[0], octets)
        assert (found, data) == (int.from_bytes(bytes([mask] * 8), "little"), kept)
        assert spread(way[1], found, kept) == octets


@pytest.mark.skipif(not zerobytes_kernels.shuffle_instruction(), reason="the processor has none")
@given(
    st.integers(0, 2**64 - 1), st.lists(st.sampled_from([*range(8), 128]), min_size=8, max_size=8)
)
@example(0x0807060504030201, [7, 0, 128, 3, 3, 1, 128, 6])
def test_the_instruction_shuffles_as_the_loop_does(word, places):
    octets = word.to_bytes(8, "little")
    shuffled = bytes(0 if place == 128 else octets[place] for place in places)
    for function in (
        zerobytes_kernels._shuffle_bytes,
        zerobytes_kernels._shuffle_by_instruction,
    ):
        as_word = np.uint64(int.from_bytes(bytes(places), "little"))
        found = int(by_kernel(function)(np.uint64(word), as_word))
        assert found == int.from_bytes(shuffled, "little")


OTHER_PROCESSOR = """
import sys
import numpy as np
import google_crc32c
from frontier.codec import crc32c
from frontier.codec import zerobytes_kernels
from frontier.codec import zerobytes

assert not zerobytes_kernels.has_vectors()
words = np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint64)
data = np.empty(zerobytes.most_bytes(words.size) + zerobytes.SLACK, dtype=np.uint8)
data = data[: zerobytes.encode(words, data)]
again = np.empty_like(words)
zerobytes.decode(data, again)
assert (again == words).all()
assert crc32c.crc32c(data, 0, data.size) == google_crc32c.value(data)
sys.stdout.buffer.write(data.tobytes())
"""


@pytest.mark.sweep
def test_another_processor_writes_the_same(tmp_path, monkeypatch):
    """A cluster may have processors of several kinds, and its disk is one."""
    rng = np.random.default_rng(8)
    words = rng.integers(0, 1 << 63, 5001, dtype=np.uint64)
    words &= rng.integers(0, 1 << 63, 5001, dtype=np.uint64) * (rng.random(5001) < 0.5)
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", OTHER_PROCESSOR]
    done = subprocess.run(command, input=words.tobytes(), stdout=subprocess.PIPE, check=True)
    assert done.stdout == encoded(words)
