"""The command that prints positions of one layer: layer."""

from pathlib import Path

import click

from frontier.answers.excerpts import Excerpt
from frontier.api import runs as api
from frontier.cli import common
from frontier.cli.files import OR_OUTPUT, Target, check_targets, file_option, force_option
from frontier.errors import InputError
from frontier.layers.run import layers_of
from frontier.runs.resolve import resolve


@click.command(
    short_help="Print all or some of the positions of one layer.",
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
@click.option(
    "--limit", type=common.Whole(min=0), metavar="N", help="Print only the first N, as stored."
)
@click.option("--sample", type=common.Whole(min=0), metavar="N", help="Print N, drawn at random.")
@click.option(
    "--seed",
    type=common.Whole(0, 2**64 - 1),
    metavar="SEED",
    help="With --sample: the seed of the draw.  [default: 0]",
)
@click.option("--numbers", is_flag=True, help="Print state numbers instead of positions.")
@file_option("--csv", f"Write a CSV table of state numbers and positions{OR_OUTPUT}")
@file_option("--npy", f"Write a NumPy array with the codes of each position{OR_OUTPUT}")
@force_option
@common.trust_option
def layer(run, depth, limit, sample, seed, numbers, csv, npy, force):
    """Print all or some of the positions of RUN that are DEPTH moves from the goal.

    They are printed one per line, in the form that `solve --file` reads, unless --csv or --npy
    names a file. RUN must have kept the layer: a run keeps all layers with search.keep = "all", and
    otherwise the last two. A layer may be larger than memory, because it is read in parts.

    The same --seed draws the same sample of a layer on any machine, however the run is stored.
    docs/reference/files.md explains state numbers.
    """
    if limit is not None and sample is not None:
        raise InputError("--limit and --sample cannot be used together; use one of them")
    if seed is not None and sample is None:
        raise InputError("--seed needs --sample N")
    check_targets([*csv, *npy], force)
    found = "`farthest` prints the positions that it has"
    stored_run = api.Run(layers_of(resolve(run).open_one(), found))
    if depth >= len(stored_run.layers):
        raise InputError(
            f"{stored_run.path} has no layer {depth}: "
            + ("its last layer is " if stored_run.complete else "its layers are known to depth ")
            + f"{len(stored_run.layers) - 1}"
            + ("" if stored_run.complete else "; resume it with `run`")
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
