"""The checksum as a kernel: that of the library, whatever the size and the place."""

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.codec import crc32c as kernels
from frontier.codec.crc32c import LANE_BYTES, crc32c

DATA = np.random.default_rng(0).integers(0, 256, 7 * LANE_BYTES, dtype=np.uint8)


@given(st.binary(max_size=100), st.integers(0, 9), st.integers(0, 9))
def test_short_data(data, before, behind):
    padded = np.frombuffer(bytearray(b"\x55" * before + data + b"\xaa" * behind), dtype=np.uint8)
    assert crc32c(padded, before, before + len(data)) == google_crc32c.value(data)


@given(st.integers(0, DATA.size), st.integers(0, DATA.size))
def test_data_of_several_lanes(begin, end):
    end = max(begin, end)
    assert crc32c(DATA, begin, end) == google_crc32c.value(DATA[begin:end].tobytes())


@pytest.mark.parametrize("more", [-8, -1, 0, 1, 8])
@pytest.mark.parametrize("lanes", [1, 3, 6])
def test_sizes_around_a_lane(lanes, more):
    size = lanes * LANE_BYTES + more
    assert crc32c(DATA, 0, size) == google_crc32c.value(DATA[:size].tobytes())


def test_the_example_of_the_standard():
    """RFC 3720, section B.4: 32 bytes of zeros, of ones, and counted up."""
    for octets, expected in (
        (np.zeros(32), 0x8A9136AA),
        (np.full(32, 255), 0x62A8AB43),
        (np.arange(32), 0x46DD794E),
    ):
        assert crc32c(octets.astype(np.uint8), 0, 32) == expected


@pytest.mark.skipif(not kernels.instruction(), reason="this processor has no such instruction")
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_the_instruction_feeds_as_the_loop_does(register, word):
    register, word = np.uint64(register), np.uint64(word)
    assert _by_instruction(register, word) == kernels._feed_bytes(register, word)


@kernels.kernel
def _by_instruction(register, word):
    return kernels._feed_by_instruction(register, word)
