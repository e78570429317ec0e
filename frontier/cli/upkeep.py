"""Commands that look after a run's files: backup, verify, repair."""

import sys
from dataclasses import asdict

import click

from frontier.cli.common import confirmed, echo_json, json_option, run_argument, take_over_option
from frontier.cli.help import command
from frontier.config_values import at_home
from frontier.errors import CorruptRunError, InputError
from frontier.find_runs import open_all, open_one
from frontier.report.summary import summary, write_summary
from frontier.search.repair import caught_up, describe_repair, later_commit, plan_repair
from frontier.search.repair import repair as do_repair
from frontier.search.verify import Verified
from frontier.search.verify import verify as verify_run
from frontier.store.backup import Backup, back_up
from frontier.store.copies import check_copies, restore
from frontier.store.identity import kind_at
from frontier.store.lock import reading, writing
from frontier.store.run import RunStore
from frontier.text import counted, size

MOST_SHOWN = 20


@command(
    examples={
        "verify runs/2x7": "Read all that a resumed run would read.",
        "verify runs/2x7 --deep --states 2000": "Also check 2,000 states of each layer.",
    },
    exit_codes={"0": "all sound", "2": "no such run, or it is being written", "4": "damaged"},
    see_also=("repair", "status"),
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

    Of what `gods-number` has found, the way of every position is gone move by move; with --deep, N
    blocks of cosets are searched again as well.
    """
    if kind_at(at_home(run)):
        from frontier.cli.cosets import verify_search

        verify_search(run, states if deep else 0, seed, as_json, _say)
        return
    values = []
    for store in open_all(run):
        with reading(store.path / "lock"):
            store = RunStore.open(store.path)  # as it is now that nobody writes
            store, found = _verified(store, states if deep else 0, seed)
        values.append(asdict(found))
        if not as_json:
            click.echo(_describe(store, found))
    if as_json:
        echo_json(values)
    if faults := [fault["what"] for value in values for fault in value["faults"]]:
        raise CorruptRunError(f"{counted(len(faults), 'fault')}, the first: {faults[0]}")


@command(
    examples={
        "repair runs/2x7": "Say what would be given up, and ask.",
        "repair runs/2x7 --yes": "The same without asking; `run` then goes on.",
    },
    exit_codes={"0": "mended, or sound before", "2": "nothing was changed", "4": "no way back"},
    see_also=("verify", "run"),
)
@run_argument
@click.option("--yes", is_flag=True, help="Do not ask before layers are given up.")
@take_over_option
def repair(run, yes, take_over):
    """Roll a damaged RUN back to its last good layer.

    RUN is verified first. Whatever is damaged, or was computed from what is damaged, is given up;
    `run` then computes it again. If there is no way back, nothing is changed and `repair` says so.
    """
    path = at_home(run) if at_home(run).is_dir() else open_one(run).path
    if not (RunStore.exists(path) or (path / "copies" / "run.json").exists()):
        if (path / "ledger.json").exists():
            raise CorruptRunError(
                f"{path} cannot be repaired: its run.json and the copy of it are both missing, so "
                "nothing says what was searched; put one of them back"
            )
        raise InputError(f"{path} holds no run: it has no run.json, and no copy of it")
    with writing(path / "lock", take_over):
        restored = restore(path)
        for line in restored:
            click.echo(line)
        before = RunStore.open(path)
        if (store := caught_up(before)) is not before:
            restored.append("the ledger")
            click.echo(f"{path / 'ledger.json'}: brought up to its copy, which was written later")
        what = plan_repair(store, verify_run(store, say=_say))
        if not what.needed:
            click.echo(f"{path}: nothing {'else ' if restored else ''}to repair")
            return
        said = describe_repair(store, what)
        if what.lost and not yes and not confirmed(f"{said}. Go on?"):
            raise InputError(f"{said}. Nothing is changed; answer y, or give --yes")
        do_repair(store, what)
        if what.summary or (path / "summary.json").exists():
            write_summary(path, summary(RunStore.open(path)))
        check_copies(RunStore.open(path))
        click.echo(said)


@command(
    examples={
        "backup runs/2x7 runs/2x7-monday": "The run as it stands, in no time.",
        "backup configs/2x7.toml /backups/2x7": "A copy of the files on another disk.",
        "run runs/2x7-monday": "Go on from there.",
    },
    exit_codes={"2": "TARGET exists, or there is no such run", "4": "files of the run are missing"},
    see_also=("verify", "run"),
)
@run_argument
@click.argument("target", metavar="TARGET")
@json_option
def backup(run, target, as_json):
    """Copy RUN to a new run directory TARGET, also while it goes on.

    TARGET holds the committed layers that RUN has on disk and the finished tasks of the layer under
    way, as they stand at one moment. On the same file system it consists of hard links: it is there
    at once and takes no room of its own, until RUN deletes what it has no need of any more. Such
    a TARGET outlives all that is done to RUN, but not the disk; for that, name one on another disk.

    TARGET must not exist. It gets its name when it is whole.
    """
    made = back_up(open_one(run).path, at_home(target), _say)
    if as_json:
        echo_json([asdict(made)])
    else:
        click.echo(_describe_backup(made))


def _verified(store: RunStore, states: int, seed: int) -> tuple[RunStore, Verified]:
    """The run in the state from which `run` would go on, and what `verify` finds of it.

    Where a kill has left the ledger behind its copy, that is the state which the copy lists. In an
    object store no lock keeps writers out, so a run that seems to be damaged is verified again if
    another process has gone on with it meanwhile.
    """
    try:
        found = verify_run(store, states, seed, _say)
    except CorruptRunError:
        if (now := _moved_on(store)) is None:
            raise
        return _verified(now, states, seed)
    if found.faults and (now := _moved_on(store)):
        return _verified(now, states, seed)
    if found.faults and (copy := later_commit(store)):
        said = f"{store.path}: the ledger is behind its copy, which `run` goes on from"
        click.echo(said, err=True)
        return copy, verify_run(copy, states, seed, _say)
    return store, found


def _moved_on(store: RunStore) -> RunStore | None:
    """The run as it is now, if it has gone on since it was opened."""
    now = RunStore.open(store.path)
    same = now.identity == store.identity and now.records == store.records
    return None if same and now.complete == store.complete else now


def _describe_backup(made: Backup) -> str:
    parts = counted(made.parts, "part")
    if made.under_way:
        parts += f" ({made.under_way:,} of the layer under way)"
    depth = "before the first layer" if made.depth is None else f"depth {made.depth}"
    how = "linked, so it takes no room of its own" if made.linked else "copied"
    held = f"{counted(made.layers, 'layer')}, {parts}, {size(made.bytes)}"
    without = f"; without {', '.join(made.left_out)}" if made.left_out else ""
    return f"{made.path}: {depth}; {held}: {how}{without}"


def _say(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def _describe(store: RunStore, found: Verified) -> str:
    looked = (
        f"{counted(found.layers, 'layer')} on disk, {counted(found.parts, 'part')}, "
        f"{size(found.bytes)}"
    )
    if found.asked:
        looked += f"; {counted(found.asked, 'position')} asked"
    if not found.faults:
        return f"{store.path}: {looked}: all sound"
    lines = [f"{store.path}: {looked}: {counted(len(found.faults), 'fault')}"]
    lines += [f"  {fault.what}" for fault in found.faults[:MOST_SHOWN]]
    if len(found.faults) > MOST_SHOWN:
        lines.append(f"  … and {len(found.faults) - MOST_SHOWN:,} more")
    return "\n".join(lines)
