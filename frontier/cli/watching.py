"""The command that shows the progress of a run: status."""

import json
from functools import partial

import click

from frontier.cli import common
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError, InputError
from frontier.report.displays import watch
from frontier.report.status import describe_status, status_of
from frontier.runs.layer_run import LayerRun
from frontier.runs.resolve import begun_at, resolve
from frontier.storage.base import Storage


def _places(run: str, watching: bool) -> list[Storage]:
    return resolve(run).places(watching)


@click.command(
    epilog="""\b
Examples:
  frontier status 2x7
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

    This command only reads the files of RUN, so it works while the run is under way, from another
    terminal or machine. status.html in the run directory shows the same in a browser. Missing and
    truncated files are named; only `verify` checks their contents.

    With --watch it follows RUN until it is complete: in a terminal by a table that stays in place,
    elsewhere by rows as `run` prints them. When the run stops, it says so and waits until the run
    is resumed. It also waits for a run that has not begun, and for a directory that does not exist
    yet. Ctrl-C ends the watching, never the run.
    """
    if watching and as_json:
        raise InputError("--watch is for people; without it, --json says how far a run is now")
    try:
        find = partial(_places, run, watching)
        paths = find()
        if watching:
            for path in paths:
                if not LayerRun.exists(begun_at(path)):
                    echo(f"waiting for a run in {path}", err=True)
            paths = watch(find, interval)
        resume = resolve(run).resume_command
        values = [status_of(path, resume(path)) for path in paths]
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
