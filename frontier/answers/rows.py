"""The positions of a run, or the edges between them, as a table: a CSV or a Parquet file.

A row is the number of a state, its distance, and its position in the form that `solve` reads; or it
is an edge (`frontier.answers.edges`). Rows are in the order of the layers and, within a layer, of
`Layer.number_batches`. Memory holds only one part of the rows and what `Layers` keeps open.
"""

import csv
import uuid
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from frontier.answers.edges import COLUMNS as EDGE_COLUMNS
from frontier.answers.edges import edges_of
from frontier.answers.excerpts import integers
from frontier.answers.layers import Layers
from frontier.errors import InputError
from frontier.layers.run import LayerRun
from frontier.storage.base import PARTIAL

COLUMNS = {"number": "uint64", "distance": "int32", "position": "string"}
"""The columns of positions, with the names of their types in Arrow."""

PART_ROWS = 100_000
"""The most rows that are written at once: the rows of a group of a Parquet file."""


class Table(NamedTuple):
    """Rows, and the names of their columns with their types in Arrow."""

    columns: Mapping[str, str]
    rows: Iterable[tuple]

    def parts(self) -> Iterator[list[tuple]]:
        """Return an iterator over all rows in parts."""
        rows = iter(self.rows)
        return iter(lambda: list(islice(rows, PART_ROWS)), [])


def _positions(run: LayerRun) -> Table:
    line, wide = run.puzzle.line, run.puzzle.model.space.dtype.kind == "S"
    rows = (
        (str(number) if wide else number, layer.depth, line(tuple(board)))
        for layer in Layers(run)
        for numbers in layer.number_batches()
        for number, board in zip(integers(numbers), layer.boards_of(numbers).tolist(), strict=True)
    )
    return Table(COLUMNS | ({"number": "string"} if wide else {}), rows)  # Arrow has no wider type


def _write_csv(rows: Table, path: Path) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(rows.columns)
        for part in rows.parts():
            table.writerows(part)


def _write_parquet(rows: Table, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise InputError(
            "a .parquet file needs pyarrow, which is not installed; install it with: pip install "
            "pyarrow, or name a .csv file"
        ) from None
    schema = pyarrow.schema(
        [(name, getattr(pyarrow, kind)()) for name, kind in rows.columns.items()]
    )
    with ParquetWriter(path, schema) as file:
        for part in rows.parts():
            columns = map(list, zip(*part, strict=True))
            file.write_table(pyarrow.table(list(columns), schema=schema))


WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
"""The function that writes a table, by the ending of the file's name."""


def write_rows(run: LayerRun, target: Path, ending: str, edges: bool = False) -> Path:
    """Write the positions of a run that kept all its layers, or the edges between them, whole or
    not at all, and return the path. Raises InputError if `ending` is ".parquet" and pyarrow is not
    installed, or if the run has too many states for a table of edges."""
    rows = Table(EDGE_COLUMNS, edges_of(run)) if edges else _positions(run)
    scratch = target.with_name(f"{target.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        WRITERS[ending](rows, scratch)
        return scratch.rename(target)
    finally:
        scratch.unlink(missing_ok=True)
