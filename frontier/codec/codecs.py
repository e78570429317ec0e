"""How slabs are compressed: `bitmap`, `raw`, `lz4` or `zstd:N`, always with a checksum at the end.

The bytes are those of Zarr's own codecs, and Zarr reads every array of a run. Slabs are encoded and
decoded here rather than through Zarr's array calls, which make two or three more copies of each
slab and compare it with zeros before they write it.

`bitmap` leaves out zero bytes (`frontier.codec.zerobytes`). It is the fastest codec, and its files
are smaller than those of lz4. For the densest slabs, `zstd:1` stores a quarter less than `bitmap`
and takes about twenty times as long. lz4 runs at acceleration 30: on the densest layers of 2x7 it
encodes 1.9 times as fast as at 1, and its files are a fifth larger.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.codec import zerobytes
from frontier.errors import InputError

LZ4_ACCELERATION = 30
ZSTD_LEVELS = range(-50, 23)

LITTLE_ENDIAN = {"name": "bytes", "configuration": {"endian": "little"}}
"""The byte order, as Zarr's metadata name it."""

ZARR_NAME = "frontier.bitmap"
"""Zarr finds the codec of `frontier.codec.zarr_codec` by this name."""


def encoded_bytes(size: int) -> int:
    """Return the most bytes that a slab of `size` bytes takes under any codec, including its
    checksum."""
    return size + size // 7 + 1024


class SlabCodec:
    """Encodes and decodes slabs one by one, for one thread at a time.

    plain: avoid the kernels, which take longer to load than NumPy takes for a few slabs.
    zarr_codecs: the codecs of a slab, as Zarr's metadata name them. by_kernels: True if kernels
    encode and decode slabs; another kernel may then call them directly.
    """

    def __init__(self, name: str, plain: bool = False):
        """Raises InputError for an unknown name."""
        self._name = name
        codec: Any = None
        self.by_kernels = name == "bitmap" and not plain
        match = re.fullmatch(r"zstd:(0|-?[1-9]\d*)", name)
        level = int(match[1]) if match else None
        compressor: list[dict[str, Any]] = []
        if name == "bitmap":
            compressor = [{"name": ZARR_NAME}]
        elif name == "lz4":
            from numcodecs.lz4 import LZ4  # this import is slow

            codec = LZ4(acceleration=LZ4_ACCELERATION)
            settings = {"acceleration": LZ4_ACCELERATION}
            compressor = [{"name": "numcodecs.lz4", "configuration": settings}]
        elif level in ZSTD_LEVELS:
            from numcodecs.zstd import Zstd

            codec = Zstd(level=level)
            compressor = [{"name": "zstd", "configuration": {"level": level, "checksum": False}}]
        elif name != "raw":
            raise InputError(
                f'store.codec = "{name}": use "bitmap", "raw", "lz4" or "zstd:N" with '
                f"N from {ZSTD_LEVELS[0]} to {ZSTD_LEVELS[-1]}"
            )
        self._encode: Callable = codec.encode if codec else memoryview
        self._decode: Callable = codec.decode if codec else memoryview
        self.zarr_codecs = [LITTLE_ENDIAN, *compressor, {"name": "crc32c"}]

    def encode(self, slab: np.ndarray, data: np.ndarray) -> int:
        """Encode a contiguous uint64 slab into uint8 `data`, and return the number of bytes.

        data: room for `encoded_bytes` of the slab's bytes.
        """
        flat = slab.reshape(-1)
        if self.by_kernels:
            return zerobytes.encode(flat, data)
        if self._name == "bitmap":
            encoded = zerobytes.plain_encode(flat)
        else:
            encoded = np.frombuffer(self._encode(flat), dtype=np.uint8)
        data[: encoded.size] = encoded
        return encoded.size

    def decode(self, data: np.ndarray, slab: np.ndarray) -> None:
        """Decode uint8 data into a contiguous uint64 slab; raises ValueError if the data do not
        encode one."""
        flat = slab.reshape(-1)
        if self._name == "bitmap":
            (zerobytes.decode if self.by_kernels else zerobytes.plain_decode)(data, flat)
            return
        try:
            decoded = np.frombuffer(self._decode(data), dtype=np.uint8)
        except (RuntimeError, MemoryError) as error:
            raise ValueError(str(error) or "it claims to be larger than the memory") from None
        if decoded.size != flat.nbytes:
            raise ValueError(f"it decodes to {decoded.size:,} bytes, not {flat.nbytes:,}")
        flat.view(np.uint8)[:] = decoded
