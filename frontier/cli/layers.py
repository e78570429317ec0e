"""Commands on the layers that a run has kept: layer, export."""

import json
from pathlib import Path

import click

from frontier import api
from frontier.cli import common
from frontier.cli.files import Target, check_targets, file_option, force_option
from frontier.errors import InputError
from frontier.report.layer import Excerpt
from frontier.runs.resolve import resolve

OR_OUTPUT = "; - is standard output."


@click.command(
    short_help="Print the positions of one layer, or some of them.",
    epilog="""\b
Examples:
  frontier run 2x5 --keep-all
  frontier layer runs/2x5 12
  frontier layer runs/2x5 30 --sample 1000 --seed 7 --csv 2x5-30.csv
  frontier layer runs/2x5 30 --npy 2x5-30.npy  # for numpy.load
  frontier layer runs/2x5 55 --limit 5 --numbers  # state numbers
""",
)
@common.run_argument
@click.argument("depth", metavar="DEPTH", type=common.Whole(min=0))
@click.option("--limit", type=common.Whole(min=0), metavar="N", help="The first N as stored.")
@click.option("--sample", type=common.Whole(min=0), metavar="N", help="N of them at random.")
@click.option(
    "--seed",
    type=common.Whole(0, 2**64 - 1),
    metavar="SEED",
    help="With --sample: a number that chooses the sample.  [default: 0]",
)
@click.option("--numbers", is_flag=True, help="State numbers instead of positions.")
@file_option("--csv", f"Write a table: the state number and the position of each{OR_OUTPUT}")
@file_option("--npy", f"Write an array of the codes of each position{OR_OUTPUT}")
@force_option
def layer(run, depth, limit, sample, seed, numbers, csv, npy, force):
    """Print the positions of RUN that are DEPTH moves from the goal, all or some of them.

    They are printed one a line, as `solve --file` reads them, unless a file is asked for. RUN must
    have kept that layer: by default a run keeps its last two, and all with search.keep = "all".
    However large the layer is, no more than a part of it is in memory.

    The same --seed draws the same sample of a layer, on any machine and however the run is stored.
    A state number says which state a position is among those that can lie at depths of the same
    parity, or at any depth where positions are not of two colours;
    docs/reference/files.md has more.
    """
    if limit is not None and sample is not None:
        raise InputError("--limit gives the first positions and --sample some at random; give one")
    if seed is not None and sample is None:
        raise InputError("--seed chooses a sample; give --sample N with it")
    check_targets([*csv, *npy], force)
    found = "`farthest` prints the positions that it has"
    stored_run = api.Run(resolve(run).open_layers(found))
    if depth >= len(stored_run.layers):
        raise InputError(
            f"{stored_run.path} has no layer {depth}: its layers are known to depth "
            f"{len(stored_run.layers) - 1}"
            + (", the greatest there is" if stored_run.complete else "; resume it with `run`")
        )
    excerpt = Excerpt(
        stored_run.puzzle,
        stored_run.layers[depth],
        limit if sample is None else sample,
        None if sample is None else seed or 0,
        numbers,
    )
    excerpt.check()
    for file in csv:
        file.write_chunks(excerpt.csv())
    for file in npy:
        file.write_chunks(excerpt.npy())
    if not (csv or npy):
        Target("layer", Path("-")).write_chunks(excerpt.text())


@click.command(
    short_help="Write the distances of all positions as an array.",
    epilog="""\b
Examples:
  frontier run pattern-2x7-k3 --keep-all
  frontier export runs/pattern-2x7-k3 2x7-k3.zarr
  frontier export runs/pattern-2x7-k3 2x7-k3.npy  # for numpy.load
""",
)
@common.run_argument
@click.argument("target", metavar="TARGET")
@common.json_option
def export(run, target, as_json):
    """Write the distances of all positions of RUN as an array at TARGET.

    It is a file for NumPy if TARGET ends in .npy, and else a Zarr array, in a directory. RUN must
    be complete and have kept its layers (search.keep = "all"). docs/reference/puzzles/pattern.md
    says how the array is indexed. TARGET must not exist.
    """
    few = "it has the distances of few positions: `run` the config with --keep-all"
    store = resolve(run).open_layers(f"{few}, and export that")
    array = api.Run(store).export(target)
    value = {"path": str(target), "shape": list(array.shape), "type": str(array.dtype)}
    rows, columns = array.shape
    form = "a file for NumPy" if Path(target).is_file() else "a Zarr array, in a directory"
    text = f"{target}: {rows:,} × {columns:,} distances, {array.dtype}, {form}"
    click.echo(json.dumps(value) if as_json else text)
