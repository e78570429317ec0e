"""Processor instructions and access to memory by address, for kernels."""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic
from numba.np import arrayobj

WORD = ir.IntType(64)


def features() -> set[str]:
    """Return the features of the processor for which kernels are compiled, as LLVM names them."""
    named = config.CPU_FEATURES  # None unless the user compiles for another processor
    named = get_host_cpu_features() if named is None else named
    return {feature[1:] for feature in named.split(",") if feature.startswith("+")}


def is_arm() -> bool:
    """Return whether this is a 64-bit ARM processor."""
    return platform.machine() in ("aarch64", "arm64")


def call(builder, name: str, result, arguments):
    """LLVM: call one of LLVM's own functions."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def address(context, builder, kind, array, at, pointee):
    """LLVM: return the address of byte `at` of an array, as a pointer to `pointee`."""
    data = context.make_array(kind)(context, builder, array).data
    data = builder.bitcast(data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(data, [at]), pointee.as_pointer())


@intrinsic
def load(typing, array, at):
    """Return the eight bytes array[at:] as a word, the first byte in the lowest place."""

    def generate(context, builder, signature, values):
        place = address(context, builder, signature.args[0], *values, WORD)
        return builder.load(place, align=1)

    return types.uint64(array, types.intp), generate


@intrinsic
def store(typing, array, at, word):
    """Write a word to the eight bytes array[at:]."""

    def generate(context, builder, signature, values):
        array, at, word = values
        place = address(context, builder, signature.args[0], array, at, WORD)
        builder.store(word, place, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), generate


@intrinsic
def prefetch(typing, array, at):
    """Have the processor bring the bytes at array[at:] into its first-level cache.

    The program does not wait for them, and nothing happens if there is no memory at that address.
    """

    def generate(context, builder, signature, values):
        place = address(context, builder, signature.args[0], *values, ir.IntType(8))
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        to_read, soon, data = number(0), number(3), number(1)
        builder.call(function, [place, to_read, soon, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def bytes_at(typing, begin, size):
    """Return `size` bytes of memory that begin at an address, uint8. The caller keeps the memory
    alive."""
    kind = types.Array(types.uint8, 1, "C")

    def generate(context, builder, signature, values):
        begin, size = values
        made = context.make_array(kind)(context, builder)
        data, one = builder.inttoptr(begin, made.data.type), context.get_constant(types.intp, 1)
        arrayobj.populate_array(made, data, [size], [one], one, meminfo=None)
        return made._getvalue()

    return kind(types.intp, types.intp), generate
