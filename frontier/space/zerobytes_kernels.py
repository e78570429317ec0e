"""The kernels of `frontier.space.zerobytes`.

Sixty-four bytes are done at a time: by two instructions where the processor has AVX-512 VBMI2, else
word by word. To bring the bytes of a word together that are not zero, the word is shifted by one,
two and four bytes, each time under a mask that depends on the byte of the mask alone (H. S. Warren,
Hacker's Delight, 2nd edition, section 7-4).
"""

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

from frontier.space.bits import count_bits
from frontier.space.jit import kernel

VECTOR_BYTES = 64
"""The bytes that are encoded or decoded at a time."""


def has_vectors() -> bool:
    """Return whether kernels are compiled for a processor with AVX-512 VBMI2."""
    if numba_config.CPU_NAME:  # the user compiles for another processor than this one
        return "+avx512vbmi2" in (numba_config.CPU_FEATURES or "")
    features = llvm.get_host_cpu_features()
    return bool(features.get("avx512vbmi2") and features.get("avx512bw"))


def _shift_table() -> np.ndarray:
    """Return uint64[256, 4] for each byte of a mask: a word's lowest bytes, as many as the mask has
    ones; and the bytes that move by one, two and four places when bytes under the mask move
    down."""
    table = np.zeros((256, 4), dtype=np.uint64)
    for mask in range(256):
        places = [k for k in range(8) if mask >> k & 1]
        table[mask, 0] = (1 << 8 * len(places)) - 1
        for step in range(3):
            # Before it moves by 2^step, a byte has moved by the lower bits of its distance.
            table[mask, 1 + step] = sum(
                0xFF << 8 * (k - (k - rank) % 2**step)
                for rank, k in enumerate(places)
                if (k - rank) >> step & 1
            )
    return table


SHIFTS = _shift_table()


@kernel
def _ones(x):
    return np.int64(count_bits(x))


_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), 64)
_BITS = ir.VectorType(ir.IntType(1), 64)


def _address(context, builder, kind, array, at, pointee):
    """LLVM: return the address of byte `at` of an array, as that of a `pointee`."""
    data = context.make_array(kind)(context, builder, array).data
    data = builder.bitcast(data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(data, [at]), pointee.as_pointer())


def _rearranged(builder, name: str, value, bits):
    """LLVM: return 64 bytes compressed or expanded under 64 bits."""
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(_BYTES, [_BYTES, _BYTES, _BITS]),
        f"llvm.x86.avx512.mask.{name}.v64i8",
    )
    return builder.call(function, [value, ir.Constant(_BYTES, [0] * 64), bits])


@intrinsic
def _load(typing, array, at):
    """Return the eight bytes array[at:] as a little-endian word."""

    def generate(context, builder, signature, values):
        place = _address(context, builder, signature.args[0], *values, _WORD)
        return builder.load(place, align=1)

    return types.uint64(array, types.intp), generate


@intrinsic
def _store(typing, array, at, word):
    """Write a word to the eight bytes array[at:]."""

    def generate(context, builder, signature, values):
        array, at, word = values
        place = _address(context, builder, signature.args[0], array, at, _WORD)
        builder.store(word, place, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), generate


@intrinsic
def _squeeze_vector(typing, source, at, data, to):
    """Do what `_squeeze_words` does; writes 64 bytes of the data."""

    def generate(context, builder, signature, values):
        source, at, data, to = values
        place = _address(context, builder, signature.args[0], source, at, _BYTES)
        value = builder.load(place, align=1)
        bits = builder.icmp_unsigned("!=", value, ir.Constant(_BYTES, [0] * 64))
        place = _address(context, builder, signature.args[2], data, to, _BYTES)
        builder.store(_rearranged(builder, "compress", value, bits), place, align=1)
        return builder.bitcast(bits, _WORD)

    return types.uint64(source, types.intp, data, types.intp), generate


@intrinsic
def _spread_vector(typing, mask, data, at, target, to):
    """Do what `_spread_words` does; reads 64 bytes of the data."""

    def generate(context, builder, signature, values):
        mask, data, at, target, to = values
        place = _address(context, builder, signature.args[1], data, at, _BYTES)
        value = _rearranged(
            builder, "expand", builder.load(place, align=1), builder.bitcast(mask, _BITS)
        )
        place = _address(context, builder, signature.args[3], target, to, _BYTES)
        builder.store(value, place, align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, data, types.intp, target, types.intp), generate


@kernel
def _squeeze_words(source, at, data, to):
    """Write the bytes of source[at : at + 64] that are not zero to data[to:], and return their
    mask.

    Up to eight bytes more than these are written.
    """
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    mask = np.uint64(0)
    for i in range(8):
        word = _load(source, at + 8 * i)
        if word == 0:
            continue
        tops = (((word & low) + low) | word) & ~low
        byte = ((tops >> np.uint64(7)) * np.uint64(0x0102040810204080)) >> np.uint64(56)
        for step in range(3):
            moved = word & SHIFTS[byte, 1 + step]
            word = (word ^ moved) | (moved >> np.uint64(8 << step))
        _store(data, to, word)
        to += _ones(byte)
        mask |= byte << np.uint64(8 * i)
    return mask


@kernel
def _spread_words(mask, data, at, target, to):
    """Fill target[to : to + 64] with the bytes data[at:] where the mask has ones, else with zeros.

    Up to eight bytes more than these are read.
    """
    for i in range(8):
        byte = (mask >> np.uint64(8 * i)) & np.uint64(255)
        word = np.uint64(0)
        if byte != 0:
            word = _load(data, at) & SHIFTS[byte, 0]
            for step in range(2, -1, -1):
                moved = word & (SHIFTS[byte, 1 + step] >> np.uint64(8 << step))
                word = (word ^ moved) | (moved << np.uint64(8 << step))
            at += _ones(byte)
        _store(target, to + 8 * i, word)


_squeeze = _squeeze_vector if has_vectors() else _squeeze_words
_spread = _spread_vector if has_vectors() else _spread_words


@kernel
def _suppress(source, size, masks, data, to):
    """Write the bytes of source[:size] that are not zero to data[to:], and their mask to `masks`.

    Returns where the data end. Up to 64 bytes more are written to either.
    """
    whole = size - size % 64
    for at in range(0, whole, 64):
        mask = _squeeze(source, at, data, to)
        _store(masks, at // 8, mask)
        to += _ones(mask)
    if size > whole:
        mask = np.uint64(0)
        for at in range(whole, size):
            if source[at] != 0:
                data[to] = source[at]
                to += 1
                mask |= np.uint64(1) << np.uint64(at - whole)
        _store(masks, whole // 8, mask)
    return to


@kernel
def _restore(data, at, end, masks, target, size):
    """Fill target[:size] with data[at:end], a byte for each one of the masks, else with zeros."""
    whole = size - size % 64
    for to in range(0, whole, 64):
        mask = _load(masks, to // 8)
        count = _ones(mask)
        if at + 64 <= data.size:
            _spread(mask, data, at, target, to)
            at += count
            continue
        for k in range(64):  # so near to the end of the data that nothing behind them is read
            byte = np.uint8(0)
            if (mask >> np.uint64(k)) & np.uint64(1):
                byte = data[at]
                at += 1
            target[to + k] = byte
    for to in range(whole, size):
        byte = np.uint8(0)
        if (masks[to // 8] >> np.uint8(to % 8)) & np.uint8(1):
            byte = data[at]
            at += 1
        target[to] = byte


@kernel
def _count(masks, size):
    """Return the ones of the mask of `size` bytes, a bit for each; -1 if it has ones behind these
    bits."""
    total = 0
    for i in range(size // 8):
        total += _ones(np.uint64(masks[i]))
    if size % 8:
        last = np.uint64(masks[size // 8])
        if last >> np.uint64(size % 8):
            return -1
        total += _ones(last)
    return total


@kernel
def _masks(words):
    """Return scratch for the three masks, each with room for `VECTOR_BYTES` more."""
    second = -(-words // 8)
    return (
        np.empty(words + VECTOR_BYTES, dtype=np.uint8),
        np.empty(second + VECTOR_BYTES, dtype=np.uint8),
        np.empty(-(-second // 8) + VECTOR_BYTES, dtype=np.uint8),
    )


@kernel
def encode(source, data):
    """Write the data of uint8 source, a multiple of eight, and return their number of bytes."""
    size = source.size
    first, second, third = _masks(size // 8)
    to = _suppress(source, size, first, data, 0)
    to = _suppress(first, size // 8, second, data, to)
    last = -(-size // 64)
    to = _suppress(second, last, third, data, to)
    for i in range(-(-last // 8)):
        data[to + i] = third[i]
    return to + -(-last // 8)


@kernel
def encode_slabs(slabs, rows, data, most, gap, sizes):
    """Encode slabs[rows[i]] to data, with a gap of some bytes behind each, as long as there is room
    for `most` bytes; fill in the sizes, and return the number encoded."""
    at = 0
    for i in range(rows.size):
        if data.size - at < most:
            return i
        sizes[i] = encode(slabs[rows[i]], data[at:])
        at += sizes[i] + gap
    return rows.size


@kernel
def decode(data, target):
    """Fill uint8 target; returns False, and writes nothing, if the data do not encode as many
    bytes."""
    size = target.size
    first, second, third = _masks(size // 8)
    sizes = size // 8, -(-size // 64)
    last = -(-sizes[1] // 8)
    end = data.size - last
    if end < 0:
        return False
    for i in range(last):
        third[i] = data[end + i]
    count = _count(third, sizes[1])
    if count < 0 or count > end:
        return False
    _restore(data, end - count, end, third, second, sizes[1])
    end -= count
    count = _count(second, sizes[0])
    if count < 0 or count > end:
        return False
    _restore(data, end - count, end, second, first, sizes[0])
    end -= count
    if _count(first, size) != end:
        return False
    _restore(data, 0, end, first, target, size)
    return True


@kernel
def decode_slabs(data, begin, end, slabs, rows):
    """Decode data[begin[i] : end[i]] to slabs[rows[i]], and return the number decoded: all, if they
    are right."""
    for i in range(begin.size):
        if not decode(data[begin[i] : end[i]], slabs[rows[i]]):
            return i
    return begin.size
