"""Commands that look after a run's files: verify, repair."""

import sys
from collections.abc import Callable
from dataclasses import asdict

import click

from frontier.cli.common import (
    confirmed,
    echo_json,
    json_option,
    note_searches,
    run_argument,
    take_over_option,
)
from frontier.cli.streams import echo
from frontier.cosets.checks import Checked, check_cosets
from frontier.cosets.store import CosetRun
from frontier.errors import CorruptRunError, CorruptSearchError, InputError
from frontier.find_runs import open_all, open_one, place_of, refuse_search
from frontier.open_runs import open_any
from frontier.report.console import passing_line
from frontier.report.summary import NAME as SUMMARY
from frontier.report.summary import summary, write_summary
from frontier.search.repair import describe_repair, plan_repair
from frontier.search.repair import repair as do_repair
from frontier.search.verify import Verified
from frontier.search.verify import verify as verify_run
from frontier.storage.lock import reading, writing
from frontier.store.directory import COPIES, LEDGER, RUN, mend
from frontier.store.run import RunStore
from frontier.text import counted, size

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
    type=click.IntRange(min=1),
    metavar="N",
    default=500,
    help="With --deep: check N states of each layer, and N others, or N blocks of cosets.",
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
    the way of every position is gone move by move; with --deep, N blocks of cosets are searched
    again as well.
    """
    values, stores = [], open_all(run)
    note_searches([store.storage for store in stores])
    for store in stores:
        with reading(store.storage), passing_line(sys.stderr) as say:
            store = open_any(store.storage)  # as it is now that nobody writes
            store, result = _verified(store, states if deep else 0, seed, say)
        values.append(asdict(result))
        if not as_json:
            echo(_describe(store, result))
    if as_json:
        echo_json(values)
    if faults := [fault["message"] for value in values for fault in value["faults"]]:
        kind = CorruptSearchError if isinstance(store, CosetRun) else CorruptRunError
        raise kind(f"{counted(len(faults), 'fault')}, the first: {faults[0]}")


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

    RUN is verified first. Whatever is damaged, or was computed from what is damaged, is given up;
    `run` then computes it again. If there is no way back, nothing is changed and `repair` says so.
    """
    path = place_of(run)
    path = path if path.is_folder() else open_one(run).storage
    refuse_search(
        path,
        "nothing of it is repaired: a table or ledger that `verify` names may be deleted, and "
        "`gods-number` makes it anew",
    )
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
        store = RunStore.open(path)
        with passing_line(sys.stderr) as say:
            steps = plan_repair(store, verify_run(store, say=say))
        if not steps.needed:
            echo(f"{path}: nothing {'else ' if restored else ''}to repair")
            return
        sentence = describe_repair(store, steps)
        if steps.lost and not yes and not confirmed(f"{sentence}. Go on?"):
            raise InputError(f"{sentence}. Nothing is changed; answer y, or give --yes")
        do_repair(store, steps)
        if steps.summary or path.exists(SUMMARY):
            write_summary(path, summary(RunStore.open(path)))
        echo(sentence)


def _verified(
    store: RunStore | CosetRun, states: int, seed: int, say: Callable[[str], None]
) -> tuple[RunStore | CosetRun, Verified | Checked]:
    """Return the run in the state from which `run` would go on, and the result of `verify`.

    In an object store no lock keeps writers out, so a run that seems to be damaged is verified
    again if another process has gone on with it meanwhile.
    """
    if isinstance(store, CosetRun):
        return store, check_cosets(store, states, seed, say)
    try:
        result = verify_run(store, states, seed, say)
    except CorruptRunError:
        if (reopened := _moved_on(store)) is None:
            raise
        return _verified(reopened, states, seed, say)
    if result.faults and (reopened := _moved_on(store)):
        return _verified(reopened, states, seed, say)
    return store, result


def _moved_on(store: RunStore) -> RunStore | None:
    """Return the run as it is now, if it has gone on since it was opened."""
    reopened = RunStore.open(store.storage)
    same = reopened.identity == store.identity and reopened.records == store.records
    return None if same and reopened.complete == store.complete else reopened


def _looked_at(result: Verified | Checked) -> str:
    if isinstance(result, Checked):
        steps = f"{counted(result.tables, 'table')}, {counted(result.paths, 'path')} followed"
        return (
            f"{steps}, {counted(result.blocks, 'block')} searched again" if result.blocks else steps
        )
    looked = (
        f"{counted(result.layers, 'layer')} on disk, {counted(result.parts, 'part')}, "
        f"{size(result.bytes)}"
    )
    if not result.positions:
        return looked
    return f"{looked}; {counted(result.positions, 'position')} held against the definition"


def _describe(store: RunStore | CosetRun, result: Verified | Checked) -> str:
    looked = _looked_at(result)
    if not result.faults:
        return f"{store.path}: {looked}: all sound"
    lines = [f"{store.path}: {looked}: {counted(len(result.faults), 'fault')}"]
    lines += [f"  {fault.message}" for fault in result.faults[:MOST_SHOWN]]
    if len(result.faults) > MOST_SHOWN:
        lines.append(f"  … and {len(result.faults) - MOST_SHOWN:,} more")
    return "\n".join(lines)
