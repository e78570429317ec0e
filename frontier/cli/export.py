"""The command that writes the distances of all positions: export."""

import json
from pathlib import Path

import click

from frontier.api import runs as api
from frontier.cli import common
from frontier.layers.run import layers_of
from frontier.runs.resolve import resolve


@click.command(
    short_help="Write all distances, or the moves between positions.",
    epilog="""\b
Examples:
  frontier run pattern-2x7-k3 --keep-all
  frontier export runs/pattern-2x7-k3 2x7-k3.zarr
  frontier export runs/pattern-2x7-k3 2x7-k3.npy  # for numpy.load
  frontier export runs/pattern-2x7-k3 2x7-k3.csv  # a row for each position
  frontier run 2x3 --keep-all
  frontier export runs/2x3 2x3.csv --edges  # the state graph
""",
)
@common.run_argument
@click.argument("target", type=common.PlaceName(), metavar="TARGET")
@click.option("--edges", is_flag=True, help="Write the moves between positions as a table.")
@common.trust_option
@common.json_option
def export(run, target, edges, as_json):
    """Write the distances of all positions of RUN at TARGET, as an array or a table.

    If TARGET ends in .csv or .parquet, it becomes a table with a row for each position: the number
    of the state, its distance, the position. Parquet needs pyarrow. If TARGET ends in .npy, it
    becomes a NumPy file, and otherwise a Zarr array, which is a directory. TARGET must not exist.
    RUN must be complete and have kept its layers (search.keep = "all").
    docs/reference/puzzles/pattern.md explains how the array is indexed.

    With --edges, the table has a row for each edge of the state graph instead: two positions one
    move apart, and their distances. It has every edge once, or, if moves cannot be undone, every
    move from `source` to `target`. RUN need not be complete. It may have at most 10 million
    states.
    """
    store = layers_of(
        resolve(run).open_one(), "`run` its config with --keep-all, and export that run"
    )
    array = api.Run(store).export(target, edges=edges)
    value: dict[str, object] = {"path": str(target)}
    if edges:
        text = f"{target}: the edges between {store.states:,} positions, one a row"
    elif isinstance(array, Path):
        value |= {"rows": store.states}
        text = f"{target}: {store.states:,} distances, one a row"
    else:
        value |= {"shape": list(array.shape), "type": str(array.dtype)}
        rows, columns = array.shape
        form = "NumPy file" if Path(target).is_file() else "Zarr array"
        text = f"{target}: {rows:,} × {columns:,} distances, {array.dtype}, {form}"
    click.echo(json.dumps(value) if as_json else text)
