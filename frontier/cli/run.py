"""The command that searches: run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from frontier.runs.resolve import Named, again_command, resolve
from frontier.storage.base import Storage
from frontier.text import size


@click.command(
    short_help="Start or resume searches.",
    epilog="""\b
Examples:
  frontier run 2x5  # a config that comes with the program
  frontier run mine.toml --workers 4 --memory 4GB
  frontier run 2x5 --keep-all --out runs/2x5-all  # for solve
  frontier run 2x7 --dry-run  # memory, disk and time
  frontier run runs/2x5  # resume a run by its directory
  frontier run 2x3 2x4 2x5  # one after another
  frontier run 3x4 --until 20 --set cluster.kind=serial
""",
)
@common.path_argument("configs", metavar="CONFIG|RUN...", nargs=-1, required=True)
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
@common.trust_option
def run(
    configs, settings, until, fresh, yes, dry_run, take_over, job, quiet, verbose, as_json
):  # fmt: skip
    """Start or resume the search that CONFIG describes, or resume the search in the directory RUN.

    CONFIG is a file, or the name of a config that comes with the program (`frontier list`). The
    search ends when a layer is empty. Layers are stored in runs/NAME, or in the directory of --out.
    Progress goes to standard error. The summary goes to standard output and to summary.json in the
    run directory. Ctrl-C finishes current tasks and stops; a second Ctrl-C stops at once. The same
    command resumes a run that was stopped or killed. If the run is complete, the command prints the
    summary again.

    Several configs or runs are all checked first, and then searched one after another. Options
    apply to each; --out needs a single CONFIG. Ctrl-C ends them all.
    """
    named = [resolve(config, settings) for config in configs]
    _check_apart(named)
    members = [member for one in named for member in one.config.members]
    if dry_run:
        from frontier.cli.plan import show_plans  # a run needs no forecast

        show_plans(members, until, verbose, as_json, quiet)
        return
    again = f"resume with: {again_command(named, until)}"
    runs = _Runs(until, fresh, yes, take_over or job or False, quiet, verbose, as_json, again)
    if len(named) > 1:
        runs.check(members)
    values = [runs.search(one.config) for one in named]
    if as_json:
        common.echo_json(values)


def _check_apart(named: Sequence[Named]) -> None:
    """Raise InputError if several configs cannot be searched by one command."""
    if len(named) == 1:
        return
    places: dict[Storage, Named] = {}
    for one in named:
        place = one.config.storage.resolved()
        if one.config.cluster.kind == "slurm-runner":
            raise InputError(
                f'{one.what}: with cluster.kind = "slurm-runner" a job searches only one config; '
                "start the others in jobs of their own"
            )
        if place in places:
            raise InputError(
                f"{places[place].what} and {one.what} have the same run directory, {place}; name "
                "each config once, and run configs that need --out or store.path one by one"
            )
        places[place] = one


@dataclass
class _Runs:
    """The runs of a command: its options, and a listener that notes what happens to the runs.

    take_over: a bool, or the name of a job. again: how to resume, in words. agreed: True if runs
    may be deleted. begun: True once a run has begun, now or earlier. searched: True if the current
    run is searched now. stopping: True once a stop is requested.
    """

    until: int | None
    fresh: bool
    yes: bool
    take_over: Any
    quiet: bool
    verbose: bool
    as_json: bool
    again: str
    agreed: bool = False
    begun: bool = False
    searched: bool = False
    stopping: bool = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.begun = self.searched = True
        elif isinstance(event, Stopping):
            self.stopping = True

    def check(self, members: Sequence[Config]) -> None:
        """Raise InputError if one of several runs cannot start, or if the user does not agree to
        delete one; nothing is deleted yet."""
        for member in members:
            self._plan(member)
        for member in members if self.fresh else ():
            _ask_to_delete(member, self.yes)
        self.agreed = True

    def _plan(self, member: Config) -> tuple[Plan, str | None]:
        """Return the plan of a run, and a warning if it may fill its disk; nothing is deleted
        yet."""
        with passing_line(None if self.quiet else sys.stderr) as say:
            say("Planning the run")
            plan = start_runs.plan(member, self.fresh, until=self.until)  # refuses bad configs
            return plan, _problem_of_disk(plan, self.until, self.yes)

    def search(self, config: Config) -> dict[str, Any]:
        """Search the run of a config, or its family of runs, and return the summary."""
        with allocation(config) as loaded:
            values = list(map(self._search, loaded.members))
        if not loaded.from_every_blank:
            return values[0]
        if not self.as_json:
            echo(family_in(values).finding)
        return family_summary(values)

    def _search(self, member: Config) -> dict[str, Any]:
        try:
            plan, problem = self._plan(member)
            if self.stopping:
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not self.begun:
                raise
            raise Stopped(f"interrupted before {member.name}; {self.again}") from None
        if problem:
            echo(f"warning: {problem}", err=True)
        if self.fresh:
            _ask_to_delete(member, self.yes or self.agreed)
        _warn(plan)
        exists = LayerRun.exists(member.storage)
        if exists and not self.fresh:
            self.begun = True
        self.searched = False
        listeners = [self, *([say_details] if self.verbose else ())]
        try:
            store, value = start_runs.start(
                plan, self.until, listeners, self.take_over,
                fresh=self.fresh, progress=not self.quiet,
            )  # fmt: skip
        except Gone:
            raise
        except Stopped as error:
            if not self.begun:
                raise
            raise Stopped(f"{error}. Nothing is lost; {self.again}") from None
        except KeyboardInterrupt:  # at once, in the middle of a task
            if self.begun:
                kept = "interrupted; all layers on disk are kept"
                raise Stopped(f"{kept}; {self.again}") from None
            there = LayerRun.exists(member.storage) and LayerRun.open(member.storage).records
            deleted = ", and after the old one was deleted" if exists and not there else ""
            raise Stopped(f"interrupted before the run began{deleted}") from None
        if not self.searched and not self.quiet:
            known = "complete" if value["complete"] else f"at depth {value['depth']}"
            echo(f"{member.name} is already {known}; nothing to do.", err=True)
        if not self.as_json:
            echo(describe(value, store.path))
        return value


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
