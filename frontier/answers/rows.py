"""The distance of every position of a run as a table: a CSV or a Parquet file.

A row is the number of a state, its distance, and its position in the form that `solve` reads. Rows
are in the order of the layers and, within a layer, of `Layer.number_batches`. Memory holds only one
part of the rows and what `Layers` keeps open.
"""

import csv
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from frontier.answers.layers import Layers
from frontier.errors import InputError
from frontier.layers.run import LayerRun
from frontier.storage.base import PARTIAL

COLUMNS = ("number", "distance", "position")

PART_ROWS = 100_000
"""The most rows that are written at once: the rows of a group of a Parquet file."""


def _parts(run: LayerRun) -> Iterator[list[tuple[int, int, str]]]:
    """Return an iterator over all rows in parts."""
    line = run.puzzle.line
    rows = (
        (number, layer.depth, line(tuple(board)))
        for layer in Layers(run)
        for numbers in layer.number_batches()
        for number, board in zip(numbers.tolist(), layer.boards_of(numbers).tolist(), strict=True)
    )
    return iter(lambda: list(islice(rows, PART_ROWS)), [])


def _write_csv(run: LayerRun, path: Path) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for part in _parts(run):
            table.writerows(part)


def _write_parquet(run: LayerRun, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise InputError(
            "a .parquet file needs pyarrow, which is not installed; install it with: pip install "
            "pyarrow, or name a .csv file"
        ) from None
    types = pyarrow.uint64(), pyarrow.int32(), pyarrow.string()
    schema = pyarrow.schema(list(zip(COLUMNS, types, strict=True)))
    with ParquetWriter(path, schema) as file:
        for part in _parts(run):
            columns = map(list, zip(*part, strict=True))
            file.write_table(pyarrow.table(list(columns), schema=schema))


WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
"""The function that writes a table, by the ending of the file's name."""


def write_rows(run: LayerRun, target: Path, ending: str) -> Path:
    """Write the rows of a complete run that kept all its layers, whole or not at all, and return
    the path. Raises InputError if `ending` is ".parquet" and pyarrow is not installed."""
    scratch = target.with_name(f"{target.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        WRITERS[ending](run, scratch)
        return scratch.rename(target)
    finally:
        scratch.unlink(missing_ok=True)
