"""Commands that check and repair a run's files: verify, repair."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from frontier.cli.common import (
    Whole,
    confirmed,
    echo_json,
    json_option,
    run_argument,
    take_over_option,
)
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError, InputError
from frontier.report.console import passing_line
from frontier.report.results import summary_of
from frontier.runs.directory import COPIES, LEDGER, RUN, SUMMARY
from frontier.runs.kinds import open_run
from frontier.runs.mending import mend
from frontier.runs.resolve import resolve
from frontier.runs.stored_run import StoredRun
from frontier.runs.summary import write_summary
from frontier.search.upkeep import repair_of, verified
from frontier.storage.lock import reading, writing
from frontier.text import counted

if TYPE_CHECKING:
    from frontier.search.coset_checks import Checked
    from frontier.search.verify import Verified

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
    help="Also check states drawn at random against the definition of a layer, in plain Python.",
)
@click.option(
    "--states",
    type=Whole(min=1),
    metavar="N",
    default=500,
    help="With --deep: check N states of each layer, and N others, or N portions of cosets.",
)
@click.option("--seed", type=int, metavar="N", default=0, help="With --deep: the seed of the draw.")
@json_option
def verify(run, deep, states, seed, as_json):
    """Check all files of RUN that the search reads.

    Records, checksums and counts of all layers on disk are checked. With --deep, states drawn at
    random are also checked against the definition of a layer, without any kernel. Nothing is
    changed, and no run can start in RUN before `verify` has ended. The exit code is 4 if something
    is wrong; `repair` may mend it.

    Of what `gods-number` has found, checksums of the tables and summary.json are checked, and
    the way of every position is gone move by move; with --deep, N portions of cosets are searched
    again as well.
    """
    values = []
    for store in resolve(run).open():
        with reading(store.storage), passing_line(sys.stderr) as say:
            store = open_run(store.storage)  # read it again now that no process writes it
            store, result = verified(store, states if deep else 0, seed, say)
        values.append(asdict(result))
        if not as_json:
            echo(_describe(store, result))
    if as_json:
        echo_json(values)
    if faults := [fault["message"] for value in values for fault in value["faults"]]:
        raise CorruptRunError(f"{run} is damaged: {counted(len(faults), 'fault')}")


@click.command(
    epilog="""\b
Examples:
  frontier repair runs/2x7  # says what would be given up, and asks
  frontier repair runs/2x7 --yes
""",
)
@run_argument
@click.option("--yes", is_flag=True, help="Do not ask before layers are given up.")
@take_over_option
def repair(run, yes, take_over):
    """Roll a damaged RUN back to its last good layer.

    `repair` verifies RUN first. It gives up what is damaged, and what was computed from that; `run`
    then computes it again. It moves anything that is not a regular file out of the way. If RUN
    cannot be repaired, `repair` says so and changes nothing.
    """
    path = resolve(run).one.place
    if not (path.exists(RUN) or path.exists(COPIES[RUN])):
        if path.exists(LEDGER):
            raise CorruptRunError(
                f"{path} cannot be repaired: its run.json and the copy of it are both missing, so "
                "nothing says what was searched; put one of them back"
            )
        raise InputError(f"{path} holds no run: it has no run.json, and no copy of it")
    with writing(path, take_over):
        restored = mend(path)
        for line in restored:
            echo(line)
        store = open_run(path)
        with passing_line(sys.stderr) as say:
            steps: Any = repair_of(store, say)  # their type depends on the kind of run
        if not steps.needed:
            echo(f"{path}: nothing {'else ' if restored else ''}to repair")
            return
        sentence = steps.in_words(store)
        if steps.lost and not yes and not confirmed(f"{sentence}. Go on?"):
            raise InputError(f"{sentence}. Nothing is changed; answer y, or give --yes")
        steps.take(store)
        if steps.summary or path.exists(SUMMARY):
            write_summary(path, summary_of(open_run(path)))
        echo(sentence)


def _describe(store: StoredRun, result: "Verified | Checked") -> str:
    looked = result.in_words
    if not result.faults:
        return f"{store.path}: {looked}: all sound"
    lines = [f"{store.path}: {looked}: {counted(len(result.faults), 'fault')}"]
    lines += [f"  {fault.message}" for fault in result.faults[:MOST_SHOWN]]
    if len(result.faults) > MOST_SHOWN:
        lines.append(f"  … and {len(result.faults) - MOST_SHOWN:,} more")
    return "\n".join(lines)
