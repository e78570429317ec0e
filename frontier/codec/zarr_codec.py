"""How Zarr for Python encodes and decodes bitmaps without their zero bytes.

Wherever `frontier` is installed, Zarr finds this codec by its name in a layer's metadata (an entry
point in the group ``zarr.codecs``). Importing this module also registers it.
"""

from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer
from zarr.registry import register_codec

from frontier.codec import zerobytes
from frontier.codec.codecs import ZARR_NAME


@dataclass(frozen=True)
class BitmapCodec(BytesBytesCodec):
    """`frontier.codec.zerobytes` as a Zarr codec, for arrays whose items have 8 bytes."""

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        return cls()

    def to_dict(self) -> dict:
        return {"name": ZARR_NAME}

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        words = np.ascontiguousarray(chunk_bytes.as_numpy_array()).view(np.uint64)
        room = np.empty(zerobytes.most_bytes(words.size) + zerobytes.SLACK, dtype=np.uint8)
        data = room[: zerobytes.encode(words, room)]
        return chunk_spec.prototype.buffer.from_bytes(data.tobytes())

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        size = prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize
        words = np.empty(size // 8, dtype=np.uint64)
        zerobytes.decode(np.ascontiguousarray(chunk_bytes.as_numpy_array()).view(np.uint8), words)
        return chunk_spec.prototype.buffer.from_bytes(words.tobytes())

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return zerobytes.most_bytes(input_byte_length // 8)


register_codec(ZARR_NAME, BitmapCodec)
