"""The distance of every position of a run as one array, which can serve as a pattern database.

The array is ``distances[row, column]``, unsigned; the greatest value of its type marks a position
that cannot be reached. For the state (vertex, sequence of m members) of a board,

    row = 2 * vertex + sign,      column = index,

where sign is 1 for an odd sequence, and index is its Lehmer index among the m!/2 sequences of that
sign (see `frontier.space.lehmer`). For a pattern of the tile puzzle a formula also gives the vertex
(see `frontier.puzzles.pattern_graph`), so other programs can use the array;
docs/reference/puzzles/pattern.md has an example.

An array is made from a run that kept all its layers, a batch of rows at a time; memory holds only
one batch and one layer's list. Each slab of a layer of bits is read once or twice, and each list
once per batch.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from frontier.answers.excerpts import head_of
from frontier.answers.rows import WRITERS, write_rows
from frontier.errors import CorruptRunError, InputError, path_error
from frontier.jit import kernel
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer
from frontier.puzzles import Puzzle
from frontier.runs.directory import refuse_inside_run
from frontier.space.graph import Space
from frontier.space.keys import KeySpace
from frontier.space.tower_space import TowerSpace
from frontier.storage.base import PARTIAL, Storage
from frontier.storage.local import FileWriter, remove_tree
from frontier.storage.places import Place, storage_at

if TYPE_CHECKING:
    import zarr

ROWS_BYTES = 256_000_000
"""The approximate bytes of a batch of rows, and the most bytes of one row of an exported array."""

CHUNK_BYTES = 16_000_000
"""The approximate bytes of a chunk of an exported array; a chunk has at least two rows."""

NAME = "frontier-distances"

NPY = ".npy"

OTHER_FORMATS = {
    ".npz", ".tsv", ".txt", ".json", ".h5", ".hdf5", ".feather", ".mat", ".pkl", ".zip", ".gz",
}  # fmt: skip
"""Endings of names that suggest a format that `export` does not write."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of all positions of a puzzle, in memory.

    values: unsigned[2 * vertices, half], with the greatest value of the type where there is no
    position.
    """

    puzzle: Puzzle
    values: np.ndarray

    @classmethod
    def of_run(cls, run: LayerRun) -> "Distances":
        """Read distances from the layers of a run; raises InputError if it did not keep them, or if
        memory has no room for them."""
        reader = reader_of(run)
        shape, dtype = _form(reader)
        size = prod(shape) * dtype.itemsize
        if size > (free := psutil.virtual_memory().available):
            raise InputError(
                f"the distances of {run.path} are {size:,} bytes, more than the {free:,} bytes of "
                "free memory; use a smaller pattern"
            )
        values = np.empty(shape, dtype=dtype)
        for first, chunk in _chunks(reader):
            values[first : first + len(chunk)] = chunk
        return cls(reader.puzzle, values)


def reader_of(run: LayerRun, *limits: int) -> RunReader:
    """Return the reader of a run that kept all its layers; raises InputError if it did not.

    limits: the limits of the layers that stay open, as for `RunReader`.
    """
    if run.identity["keep"] != "all":
        raise InputError(
            f'{run.path} kept only its last layers (search.keep = "{run.identity["keep"]}"), so '
            'distances cannot be read from it. Run its config with search.keep = "all" and another '
            "store.path, and use that run. To solve a few positions, `solve` needs only the config"
        )
    return RunReader(run, *limits)


def export(run: LayerRun, place: Place, edges: bool = False) -> "zarr.Array | np.ndarray | Path":
    """Write the distances of a complete run: as a table if the name of the place ends in ".csv" or
    ".parquet", whose path is returned; as a NumPy file if it ends in ".npy"; otherwise as a Zarr
    array in a directory. edges: True to write the moves between the positions as a table instead,
    also from a run that is not complete.

    Raises InputError if `place` exists, if its name suggests another format, or if the run does not
    have all layers.
    """
    storage = storage_at(place)
    ending = Path(storage.name).suffix.lower()
    if ending in OTHER_FORMATS:
        raise InputError(
            f"{storage}: distances cannot be written as {ending}; name a {NPY}, "
            f"{' or '.join(WRITERS)} file or, for a Zarr array, a directory such as x.zarr"
        )
    if edges and ending not in WRITERS:
        raise InputError(f"{storage}: edges are a table; name a {' or '.join(WRITERS)} file")
    target = _new_place(storage)
    reader = reader_of(run if edges else complete(run))
    try:
        if ending in WRITERS:
            return write_rows(run, target, ending, edges)
        (_, half), dtype = _form(reader)
        if half * dtype.itemsize > ROWS_BYTES:
            raise InputError(
                f"{reader.puzzle.title}: a row of its array has {half:,} distances, more than the "
                f"{ROWS_BYTES:,} that `export` can write; name a .csv or .parquet file, use the "
                "run itself, or label fewer tiles"
            )
        return (_write_npy if ending == NPY else _write_zarr)(reader, target)
    except OSError as error:
        raise path_error(f"{target} cannot be written: {error.strerror or error}", error) from None


def _write_npy(reader: RunReader, target: Path) -> np.ndarray:
    shape, dtype = _form(reader)
    with FileWriter(target) as writer:
        writer.write(head_of(dtype, shape))
        for _, values in _chunks(reader):
            writer.write(values.reshape(-1).view(np.uint8).data)
        writer.finish(durable=False)
    return np.load(target, mmap_mode="r")


def _write_zarr(reader: RunReader, target: Path) -> "zarr.Array":
    import zarr
    from zarr.codecs import Crc32cCodec, ZstdCodec

    run, ((rows, half), dtype) = reader.run, _form(reader)
    scratch = target.with_name(f"{target.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        array = zarr.create_array(
            scratch,
            shape=(rows, half),
            chunks=(_chunk_rows(rows, half * dtype.itemsize), half),
            dtype=dtype,
            fill_value=np.iinfo(dtype).max,
            compressors=[ZstdCodec(level=0), Crc32cCodec()],
            attributes={
                "kind": NAME,
                "puzzle": run.identity["puzzle"],
                "run": run.identity["identifier"],
                "states": run.states,
                "depth": len(run.records) - 1,
                "index": "distances[2 * vertex + sign, Lehmer index]; "
                "see docs/reference/puzzles/pattern.md",
            },
        )
        for first, values in _chunks(reader):
            array[first : first + len(values)] = values
        scratch.rename(target)
    finally:
        remove_tree(scratch)
    return zarr.open_array(target, mode="r")


def _new_place(storage: Storage) -> Path:
    """Return the path of an empty place, and make its parent directory."""
    if storage.lock_file is None:
        raise InputError(
            f"{storage} is in an object store; export to a file system, and copy the result with a "
            "tool of the store"
        )
    if storage.exists(""):
        raise InputError(f"{storage} already exists; name another place")
    refuse_inside_run(storage)
    try:
        storage.parent.make_folder()
    except OSError as error:
        raise path_error(f"{storage.parent} cannot be made: {error.strerror}", error) from None
    return Path(storage.path)


def complete(run: LayerRun) -> LayerRun:
    """Return the run; raises InputError if it is not complete."""
    if not run.complete:
        raise InputError(
            f"{run.path} is not complete, so it does not know all distances; resume it until "
            "it is complete"
        )
    return run


def _form(reader: RunReader) -> tuple[tuple[int, int], np.dtype]:
    """Return the shape and the type of the array of a run."""
    space, depth = reader.space, len(reader.run.records) - 1
    if isinstance(space, KeySpace):
        raise InputError(
            f"{reader.puzzle.title}: only numbered states have an array of distances; name a .csv "
            "or .parquet file"
        )
    # The greatest value of the type marks entries without a position, so no distance may have it.
    return (space.lifted_nodes, space.code.half), np.min_scalar_type(depth + 1)


def _chunk_rows(rows: int, row_bytes: int) -> int:
    """Return an even number of rows with about `CHUNK_BYTES` in all."""
    return max(2, min(rows, CHUNK_BYTES // row_bytes & ~1))


def _chunks(reader: RunReader) -> Iterator[tuple[int, np.ndarray]]:
    """Generate batches (first row, rows) of the array, each of whole chunks."""
    run, ((rows, half), dtype) = reader.run, _form(reader)
    chunk = _chunk_rows(rows, half * dtype.itemsize)
    step = chunk * max(1, ROWS_BYTES // (chunk * half * dtype.itemsize))
    total = 0
    for first in range(0, rows, step):
        values = np.full((min(step, rows - first), half), np.iinfo(dtype).max, dtype=dtype)
        for record in run.records:
            # Only one layer is open at a time, because memory may not hold all layers of a deep
            # run.
            assert not isinstance(reader.space, KeySpace)  # `_form` has refused it
            total += _fill(reader.space, reader.open_layer(record.depth), first, values)
        yield first, values
    if total != run.states:
        raise CorruptRunError(
            f"the layers of {run.path} hold {total:,} positions, but its ledger lists "
            f"{run.states:,}"
        )


def _fill(space: Space | TowerSpace, layer: StoredLayer, first: int, values: np.ndarray) -> int:
    """Set the distances of the states of a layer that lie in the rows `values`, and return the
    number of these states. first: the number of the first row."""
    depth, side, code, count = layer.files.depth, layer.files.side, space.code, 0
    lifted = space.lifted(side)
    begin, stop = np.searchsorted(lifted, [first, first + len(values)]).tolist()
    rows = lifted[begin:stop] - first
    if layer.is_list:
        numbers = layer.between(*np.array([begin, stop], np.uint64) * np.uint64(code.half))
        node, column = np.divmod(numbers.astype(np.int64), code.half)
        values[rows[node - begin], column] = depth
        return numbers.size
    for first_node, word, slab in layer.slabs(begin, stop):
        mine = slab[max(begin - first_node, 0) : max(stop - first_node, 0)]
        slab_rows = rows[max(first_node - begin, 0) :]
        count += _fill_bits(mine, slab_rows, word * code.bits, code.bits, depth, values)
    return count


@kernel
def _fill_bits(strips, rows, first_column, bits, depth, values):
    """Set the distance at each bit of uint64[nodes, words], and return the number of bits."""
    count = 0
    for n in range(strips.shape[0]):
        row, column = values[rows[n]], first_column
        for word in strips[n]:
            if word:
                for bit in range(bits):
                    if (word >> np.uint64(bit)) & np.uint64(1):
                        row[column + bit] = depth
                        count += 1
            column += bits
    return count
