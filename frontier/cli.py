"""The command line: ``python -m frontier COMMAND``.

A command prints what it was asked for on standard output and everything else on standard
error. Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
"""

import json
import sys
from pathlib import Path

import click

from frontier import api
from frontier.answers.farthest import farthest as farthest_of
from frontier.config import load_config
from frontier.errors import FrontierError, InputError, Stopped
from frontier.puzzles import puzzle_of
from frontier.report.progress import progress_display
from frontier.report.status import describe_status, status_of
from frontier.report.summary import describe, write_summary
from frontier.store.files import disk_bytes
from frontier.store.run import RunStore

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a key of the config, such as --set cluster.workers=4. May be given often.",
)
run_argument = click.argument("run", metavar="RUN")


class _Commands(click.Group):
    """Turns the package's errors into one paragraph and the right exit code."""

    def list_commands(self, context):
        return list(self.commands)

    def invoke(self, context):
        try:
            return super().invoke(context)
        except FrontierError as error:
            click.echo(f"frontier: {error}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("frontier: interrupted; nothing committed is lost", err=True)
            context.exit(Stopped.exit_code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="frontier")
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    A run is described by a small TOML file. Start one, watch it, ask what it found:

    \b
      python -m frontier run configs/2x5.toml
      python -m frontier status configs/2x5.toml
      python -m frontier farthest configs/2x5.toml --limit 3

    A run can be stopped (Ctrl-C) or killed at any time; the same command resumes it. RUN is a
    run directory, such as runs/2x5, or the config that made it.

    Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
    """


@main.command()
@click.argument("config")
@set_option
@click.option("--until", type=click.IntRange(min=0), metavar="DEPTH", help="Stop after this depth.")
@click.option("--fresh", is_flag=True, help="Delete the run in the run directory, start anew.")
@click.option("--yes", is_flag=True, help="Do not ask before --fresh deletes.")
@json_option
def run(config, settings, until, fresh, yes, as_json):
    """Start or resume the search that CONFIG describes.

    Layers are written to runs/NAME (or store.path) and counted until one is empty. Progress
    goes to standard error, the summary to standard output and to summary.json beside the
    layers. Ctrl-C finishes the tasks under way and stops; a second Ctrl-C stops at once.

    \b
    Examples:
      python -m frontier run configs/2x7.toml
      python -m frontier run configs/3x4.toml --set cluster.kind=serial --until 20
      python -m frontier run configs/2x6.toml --set 'store.codec="zstd:1"' --fresh
    """
    checked = load_config(config, settings)
    if fresh and RunStore.exists(checked.path):
        plan = api.plan(checked, fresh=True)  # refuse a bad config before anything is deleted
        held = disk_bytes(checked.path)
        question = f"Delete the run in {checked.path} ({held:,} bytes) and start anew?"
        if not (yes or _confirmed(question)):
            raise InputError("nothing is deleted; answer y, or give --yes with --fresh")
        api.delete_run(checked.path)
    plan = api.plan(checked)
    again = f"resume with: {_command(config, settings)}"
    try:
        finished = api.run(plan, until, [progress_display()])
    except Stopped as error:
        raise Stopped(f"{error}. Nothing is lost; {again}") from None
    value = write_summary(finished)
    click.echo(json.dumps(value) if as_json else describe(value, finished.path))


@main.command()
@run_argument
@json_option
def status(run, as_json):
    """Say how far RUN is.

    Reads its files alone, so it works while the run is under way, from another terminal or
    machine.
    """
    value = status_of(_open(run))
    click.echo(json.dumps(value) if as_json else describe_status(value))


@main.command()
@run_argument
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="At most so many."
)
@json_option
def farthest(run, limit, as_json):
    """Print the positions that need most moves.

    They are those of the last layer, so RUN must be complete.
    """
    opened = _open(run)
    count, boards = farthest_of(opened, limit)
    depth = opened.records[-1].depth
    if as_json:
        click.echo(json.dumps({"depth": depth, "count": count, "positions": boards}))
        return
    puzzle = puzzle_of(opened.identity["puzzle"])
    click.echo(f"{count:,} position{'s' if count != 1 else ''} at depth {depth}")
    for board in boards:
        click.echo("\n" + puzzle.draw(board))
    if len(boards) < count:
        click.echo(f"\n… and {count - len(boards):,} more (--limit)")


def _confirmed(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort:  # no answer
        return False


def _open(run: str) -> RunStore:
    """The run that a run directory or a config names."""
    path = Path(run)
    if path.is_dir():
        return RunStore.open(path)
    if path.suffix == ".toml" or path.exists():
        return RunStore.open(load_config(path).path)
    raise InputError(f"{run}: no such run directory or config")


def _command(config: str, settings: tuple[str, ...]) -> str:
    words = ["python -m frontier run", config, *(f"--set {setting}" for setting in settings)]
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
