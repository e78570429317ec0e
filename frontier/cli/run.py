"""The command that searches: run."""

import json
import sys
from dataclasses import dataclass, field

import click

from frontier.api import start as start_runs
from frontier.cli import common
from frontier.cli.streams import echo
from frontier.config.loading import Config
from frontier.errors import Gone, InputError, Stopped
from frontier.executors.allocation import allocation
from frontier.layers.plan import Plan
from frontier.layers.run import LayerRun
from frontier.layers.summary import describe, family_in, family_summary
from frontier.report.console import passing_line
from frontier.report.displays import say_details
from frontier.runs.events import Event, Started, Stopping
from frontier.runs.resolve import resolve
from frontier.text import size


@click.command(
    short_help="Start or resume a search.",
    epilog="""\b
Examples:
  frontier run 2x5  # a config that comes with the program
  frontier run mine.toml --workers 4 --memory 4GB
  frontier run 2x5 --keep-all --out runs/2x5-all  # for solve
  frontier run 2x7 --dry-run  # memory, disk and time
  frontier run runs/2x5  # resume a run by its directory
  frontier run 3x4 --until 20 --set cluster.kind=serial
""",
)
@common.config_argument
@common.workers_option
@common.memory_option
@common.out_option
@common.keep_all_option
@common.codec_option
@common.set_option
@click.option("--until", type=common.Whole(min=0), metavar="DEPTH", help="Stop after this depth.")
@click.option("--fresh", is_flag=True, help="Delete the run in the run directory and start over.")
@click.option(
    "--yes",
    is_flag=True,
    help="Start even if the disk seems too small; delete with --fresh without asking.",
)
@click.option(
    "-n",
    "--dry-run",
    is_flag=True,
    help="Estimate memory, disk and time, as `plan` does, and run nothing.",
)
@common.take_over_option
@click.option(
    "--job",
    metavar="NAME",
    help="The name of this job in its queue. Take over from an earlier start of the job on another "
    "host.",
)
@common.quiet_option
@common.verbose_option
@common.json_option
def run(
    config, settings, until, fresh, yes, dry_run, take_over, job, quiet, verbose, as_json
):  # fmt: skip
    """Start or resume the search that CONFIG describes, or resume the search in the directory RUN.

    CONFIG is a file, or the name of a config that comes with the program (`frontier list`). The
    search ends when a layer is empty. Layers are stored in runs/NAME, or in the directory of --out.
    Progress goes to standard error. The summary goes to standard output and to summary.json in the
    run directory. Ctrl-C finishes current tasks and stops; a second Ctrl-C stops at once. The same
    command resumes a run that was stopped or killed. If the run is complete, the command prints the
    summary again.
    """
    named = resolve(config, settings)
    if dry_run:
        from frontier.cli.plan import show_plans  # a run needs no forecast

        show_plans(named.config.members, verbose, as_json, quiet)
        return
    again = f"resume with: {named.again_command(until)}"
    take_over, values, noted = take_over or job or False, [], _Noted()
    with allocation(named.config) as loaded:
        for member in loaded.members:
            with passing_line(None if quiet else sys.stderr) as say:
                say("Planning the run")
                plan = start_runs.plan(member, fresh)  # refuses bad configs; nothing is deleted yet
                problem = _problem_of_disk(plan, until, yes)
            if problem:
                echo(f"warning: {problem}", err=True)
            if noted.stopping:
                raise Stopped(f"interrupted before {member.name}; {again}")
            if fresh:
                _ask_to_delete(member, yes)
            _warn(plan)
            exists = LayerRun.exists(member.storage)
            if exists and not fresh:
                noted.begun.add(member.name)
            listeners = [noted, *([say_details] if verbose else ())]
            try:
                store, value = start_runs.start(
                    plan, until, listeners, take_over, fresh=fresh, progress=not quiet
                )
            except Gone:
                raise
            except Stopped as error:
                if not noted.begun:
                    raise
                raise Stopped(f"{error}. Nothing is lost; {again}") from None
            except KeyboardInterrupt:  # at once, in the middle of a task
                if noted.begun:
                    raise Stopped(f"interrupted; all layers on disk are kept; {again}") from None
                there = LayerRun.exists(member.storage) and LayerRun.open(member.storage).records
                deleted = ", and after the old one was deleted" if exists and not there else ""
                raise Stopped(f"interrupted before the run began{deleted}") from None
            if member.name not in noted.searched and not quiet:
                known = "complete" if value["complete"] else f"at depth {value['depth']}"
                echo(f"{member.name} is already {known}; nothing to do.", err=True)
            values.append(value)
            if not as_json:
                echo(describe(value, store.path))
        if as_json:
            click.echo(json.dumps(family_summary(values) if loaded.from_every_blank else values[0]))
        elif loaded.from_every_blank:
            echo(family_in(values).finding)


@dataclass
class _Noted:
    """A listener that notes what happens to the runs of a command.

    begun: the names of the runs that have begun, now or earlier. searched: the names of the runs
    searched now. stopping: True once a stop is requested.
    """

    begun: set[str] = field(default_factory=set)
    searched: set[str] = field(default_factory=set)
    stopping: bool = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.begun.add(event.name)
            self.searched.add(event.name)
        elif isinstance(event, Stopping):
            self.stopping = True


def _problem_of_disk(plan: Plan, until: int | None, yes: bool) -> str | None:
    """Return a warning if a run may fill its disk.

    Raises InputError instead if the run would begin, unless the user says yes. A run that has begun
    stops before its disk is full.
    """
    if plan.in_memory and plan.policy.layers_kept is not None:
        return None  # it writes little, and how much depends on when it stores layers
    from frontier.layers.forecast import disk_warning

    if not (problem := disk_warning(plan, until, plan.fresh)):
        return None
    if not yes and (plan.fresh or not LayerRun.exists(plan.config.storage)):
        # With --fresh, --yes also allows the deletion.
        advice = "" if plan.fresh else "; to search as far as the disk allows, add --yes"
        raise InputError(f"{plan.config.name} was not started: {problem}{advice}")
    return problem


def _warn(plan: Plan) -> None:
    """Warn of what is unusual in a puzzle, and say what may take a long time."""
    cluster = plan.config.cluster
    for remark in plan.puzzle.remarks:
        echo(f"warning: {remark}", err=True)
    if cluster.kind in ("address", "scheduler-file"):  # it may take half a minute
        scheduler = cluster.address or cluster.scheduler_file
        echo(f"connecting to the scheduler ({scheduler}) …", err=True)


def _ask_to_delete(config: Config, yes: bool) -> None:
    """Raise InputError if a config has a run and the user does not agree to delete it."""
    if yes or not LayerRun.exists(config.storage):
        return
    held = config.storage.size()
    if not common.confirmed(f"Delete the run in {config.path} ({size(held)}) and start over?"):
        raise InputError(
            f"{config.path} was not deleted. Confirm with y, or pass --yes with --fresh"
        )
