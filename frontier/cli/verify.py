"""The command that checks a run's files: verify."""

import sys
from dataclasses import asdict

import click

from frontier.cli.common import Whole, echo_json, json_option, run_argument, trust_option
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError
from frontier.report.console import passing_line
from frontier.runs.checks import Checks
from frontier.runs.kind import open_run, verified
from frontier.runs.resolve import resolve
from frontier.runs.stored_run import StoredRun
from frontier.storage.lock import reading
from frontier.text import counted

MOST_SHOWN = 20


@click.command(
    epilog="""\b
Examples:
  frontier verify runs/2x7
  frontier verify runs/2x7 --deep --states 2000
""",
)
@run_argument
@click.option(
    "--deep",
    is_flag=True,
    help="Also check random states against the definition of a layer, in plain Python.",
)
@click.option(
    "--states",
    type=Whole(min=1),
    metavar="N",
    default=500,
    help="With --deep: check N states of each layer and the neighbours of N states of the layer "
    "before, or N portions of cosets.",
)
@click.option("--seed", type=int, metavar="N", default=0, help="With --deep: the seed of the draw.")
@json_option
@trust_option
def verify(run, deep, states, seed, as_json):
    """Check all files of RUN that the search reads.

    `verify` checks the records, checksums and counts of all layers on disk. With --deep, it also
    checks random states against the definition of a layer, without any kernel. It changes nothing,
    and no run can start in RUN until it has ended. The exit code is 4 if something is wrong;
    `repair` can then repair what is not lost. A damaged zarr.json is no fault, because only other
    programs read it; `verify` names the file, and `repair` rewrites it.

    In a search by `gods-number`, `verify` checks summary.json and the checksums of the tables, and
    follows the path of every listed position move by move. With --deep, it also searches N portions
    of cosets again.
    """
    values, damaged = [], []
    for store in resolve(run).open():
        with reading(store.storage), passing_line(sys.stderr) as say:
            store = open_run(store.storage)  # read it again now that no process writes it
            store, result = verified(store, states if deep else 0, seed, say)
        values.append(asdict(result))
        if result.faults:
            damaged.append(f"{store.path} has {counted(len(result.faults), 'fault')}")
        if not as_json:
            echo(_describe(store, result))
    if as_json:
        echo_json(values)
    if damaged:
        raise CorruptRunError(" and ".join(damaged))


def _describe(store: StoredRun, result: Checks) -> str:
    looked = "stopped before it did anything" if store.fresh else result.in_words
    faults = counted(len(result.faults), "fault") if result.faults else "no faults"
    messages = [*(fault.message for fault in result.faults), *result.notes]
    lines = [f"{store.path}: {looked}: {faults}", *(f"  {of}" for of in messages[:MOST_SHOWN])]
    if len(messages) > MOST_SHOWN:
        lines.append(f"  … and {len(messages) - MOST_SHOWN:,} more")
    return "\n".join(lines)
