"""Commands on runs: run, status, farthest, export."""

import json
from functools import partial

import click

from frontier import api
from frontier.answers.layers import farthest as farthest_of
from frontier.cli import common
from frontier.cli.streams import echo
from frontier.clusters.allocation import allocation
from frontier.config import Config
from frontier.cosets.store import CosetRun
from frontier.errors import CorruptRunError, Gone, InputError, Stopped
from frontier.find_runs import (
    config_at,
    open_all,
    open_one,
    paths_of,
    refuse_search,
    resume_commands,
    run_command,
)
from frontier.report.boards import draw_boards
from frontier.report.displays import watch
from frontier.report.gods_number import farthest_found
from frontier.report.status import describe_status, status_of
from frontier.report.summary import describe, family_in, family_summary
from frontier.search.events import Event, RunStarted
from frontier.storage.places import storage_at
from frontier.store.beside import begun_at
from frontier.store.run import RunStore
from frontier.text import counted, size


@click.command(
    short_help="Start or resume a search.",
    epilog="""\b
Examples:
  frontier run configs/2x7.toml
  frontier run configs/2x5.toml --set search.keep=all  # for solve
  frontier run runs/2x5  # go on with a run by its directory
  frontier run configs/3x4.toml --until 20 --set cluster.kind=serial
  frontier run configs/2x6.toml --set 'store.codec="zstd:1"' --fresh
""",
)
@common.config_argument
@common.set_option
@click.option("--until", type=click.IntRange(min=0), metavar="DEPTH", help="Stop after this depth.")
@click.option("--fresh", is_flag=True, help="Delete the run in the run directory, start anew.")
@click.option(
    "--yes",
    is_flag=True,
    help="Begin even if the disk seems too small; do not ask before --fresh deletes.",
)
@common.take_over_option
@click.option(
    "--job",
    metavar="NAME",
    help="The name of this job in its queue: take over from its earlier start on another host.",
)
@common.quiet_option
@common.json_option
def run(config, settings, until, fresh, yes, take_over, job, quiet, as_json):
    """Start or resume the search that CONFIG describes, or resume the one in the directory RUN.

    Layers are written to runs/NAME (or store.path) and counted until one is empty. Progress
    goes to standard error, the summary to standard output and to summary.json beside the
    layers. Ctrl-C finishes the tasks under way and stops; a second Ctrl-C stops at once. The same
    command resumes a run that was stopped or killed, and repeats the summary of a complete one.
    """
    again = f"resume with: {run_command(config, settings, until)}"
    take_over, values, begun = take_over or job or False, [], set()
    searched: set[str] = set()
    with allocation(config_at(config, settings)) as loaded:
        for member in loaded.members:
            plan = api.plan(member, fresh)  # refuses a bad config before anything is deleted
            _check_disk(plan, until, yes)
            if fresh:
                _ask_to_delete(member, yes)
            _warn(plan)
            if not fresh and RunStore.exists(member.storage):
                begun.add(member.name)
            begins = partial(_note_start, begun, searched)
            try:
                finished = api.run(
                    plan, until, [begins], take_over, fresh=fresh, progress=not quiet
                )
            except Gone:
                raise
            except Stopped as error:
                if not begun:
                    raise
                raise Stopped(f"{error}. Nothing is lost; {again}") from None
            except KeyboardInterrupt:  # at once, in the middle of a task
                if not begun:
                    raise Stopped("interrupted before the run began") from None
                raise Stopped(f"interrupted; nothing committed is lost; {again}") from None
            if member.name not in searched and not quiet:
                known = f"searched up to depth {finished.depth}"
                known = "complete" if finished.complete else known
                said = f"{member.name}: already {known}; this is what was found"
                echo(said, err=True)
            values.append(finished.summary)
            if not as_json:
                echo(describe(values[-1], finished.path))
        if as_json:
            click.echo(json.dumps(family_summary(values) if loaded.from_every_blank else values[0]))
        elif loaded.from_every_blank:
            echo(family_in(values).finding)


def _note_start(begun: set[str], searched: set[str], event: Event) -> None:
    """Add the name of a run that begins to those that have begun and to those searched now."""
    if isinstance(event, RunStarted):
        begun.add(event.name)
        searched.add(event.name)


def _check_disk(plan: api.Plan, until: int | None, yes: bool) -> None:
    """Raise InputError if a run that begins may fill its disk, unless the user says yes. A run that
    has begun goes on with a warning, as it stops before its disk is full."""
    if plan.in_memory:
        return
    from frontier.forecast.forecast import disk_warning

    if not (problem := disk_warning(plan, until, plan.fresh)):
        return
    if not yes and (plan.fresh or not RunStore.exists(plan.config.storage)):
        # Beside --fresh the same option lets it delete.
        advice = "" if plan.fresh else "; to begin all the same, add --yes"
        raise InputError(f"{plan.config.name} is not begun: {problem}{advice}")
    echo(f"warning: {problem}", err=True)


def _warn(plan: api.Plan) -> None:
    """Say what is odd about a puzzle, and what may take long."""
    cluster = plan.config.cluster
    if plan.puzzle.remark:
        echo(f"warning: {plan.puzzle.remark}", err=True)
    if cluster.kind in ("address", "scheduler-file"):  # it may take half a minute
        scheduler = cluster.address or cluster.scheduler_file
        echo(f"connecting to the scheduler of {scheduler} …", err=True)


@click.command(
    epilog="""\b
Examples:
  frontier status configs/2x7.toml
  frontier status runs/2x7 --watch  # follow it until it is complete
  frontier status runs/2x7 --json
""",
)
@common.run_argument
@click.option("--watch", "watching", is_flag=True, help="Follow the run until it is complete.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    metavar="SECONDS",
    help="With --watch: how often to look.",
)
@common.json_option
def status(run, watching, interval, as_json):
    """Say how far RUN is, and how long it may still take.

    It reads the files of RUN alone, so it works while the run is under way, from another terminal
    or machine. status.html in the run directory says the same in a browser. Files that are missing
    or truncated are named; only `verify` looks into them.

    With --watch it goes on until RUN is complete: in a terminal it shows a table that stays in
    place, elsewhere it prints lines as `run` does. When the run stops, it says so and waits until
    the run is resumed. It also waits for the run of a config to begin, or for its search by
    `gods-number`, whichever begins first, and for a directory that is not there yet. Ctrl-C ends
    the watching, never the run.
    """
    if watching and as_json:
        raise InputError("--watch is for people; without it, --json says how far a run is now")
    try:
        find = partial(paths_of, run, waiting=watching)
        paths = find()
        if watching:
            for path in paths:
                if not RunStore.exists(begun_at(path)):
                    echo(f"waiting for a run in {path}", err=True)
            paths = watch(find, interval)
        common.note_searches(paths)
        values = list(map(status_of, paths, resume_commands(run, paths)))
    except KeyboardInterrupt:
        if watching:
            return
        raise
    except CorruptRunError as error:
        if as_json:
            click.echo(json.dumps({"path": run, "state": "corrupt", "message": str(error)}))
        raise
    if as_json:
        common.echo_json(values)
    else:
        echo("\n".join(map(describe_status, values)))
    if any(value.get("damaged") for value in values):
        click.get_current_context().exit(CorruptRunError.exit_code)


@click.command(
    epilog="""\b
Examples:
  frontier farthest configs/2x5.toml
  frontier farthest runs/goat --limit 3 --json
""",
)
@common.run_argument
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", default=100, help="At most N of them."
)
@common.json_option
def farthest(run, limit, as_json):
    """Print the positions that need the most moves.

    They are those of the last layer, so RUN must be complete; of what `gods-number` has found, the
    last layer must have been asked for, as it is by default.
    """
    values, stores = [], open_all(run)
    common.note_searches([store.storage for store in stores])
    for store in stores:
        positions_of = farthest_found if isinstance(store, CosetRun) else farthest_of
        depth, count, boards = positions_of(store, limit)
        puzzle = store.puzzle
        positions = [puzzle.write(board) for board in boards]
        values.append({"depth": depth, "count": count, "positions": positions})
        if as_json:
            continue
        of = "" if len(puzzle.goals) > 1 else f" from {puzzle.line(puzzle.goals[0])}"
        echo(f"{counted(count, 'position')} at depth {depth}{of}")
        if boards:
            click.echo("\n" + draw_boards(puzzle, boards))
        if len(boards) < count:
            echo(f"\n… and {count - len(boards):,} more (--limit)")
    if as_json:
        common.echo_json(values)


@click.command(
    short_help="Write the distances of all positions as an array.",
    epilog="""\b
Examples:
  frontier run configs/pattern-2x7-k3.toml --set search.keep=all
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
    be complete and have kept its layers (search.keep = "all"). docs/patterns.md says how the array
    is indexed. TARGET must not exist.
    """
    refuse_search(
        storage_at(run),
        "it has the distances of few positions: `run` the config with --set search.keep=all, and "
        "export that",
    )
    store = open_one(run)
    array = api.Run(store).export(target)
    value = {"path": str(target), "shape": list(array.shape), "type": str(array.dtype)}
    rows, columns = array.shape
    text = f"{target}: {rows:,} × {columns:,} distances, {array.dtype}"
    click.echo(json.dumps(value) if as_json else text)


def _ask_to_delete(config: Config, yes: bool) -> None:
    """Raise InputError if there is a run of a config and the user does not agree that it is
    deleted."""
    if yes or not RunStore.exists(config.storage):
        return
    held = config.storage.size()
    if not common.confirmed(f"Delete the run in {config.path} ({size(held)}) and start anew?"):
        raise InputError("nothing is deleted; answer y, or give --yes with --fresh")
