"""The command that shows the progress of a run: status."""

import json

import click

from frontier.cli import common
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError, InputError, NotAFile
from frontier.report.displays import watch
from frontier.report.status import describe_status, status_of
from frontier.runs.resolve import begun_at, resolve
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage


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
    help="With --watch: the time between updates.",
)
@common.json_option
def status(run, watching, interval, as_json):
    """Show how far RUN has got, and how long it may still take.

    `status` only reads the files of RUN, so it works while the run is under way, from another
    terminal or machine. status.html in the run directory shows the same in a browser. `status`
    reports missing and truncated files; only `verify` checks their contents.

    With --watch, `status` follows RUN until it is complete. In a terminal it updates a table in
    place; elsewhere it prints rows, as `run` does. If the run stops, `status` says so and waits
    until the run is resumed. It also waits for a run that has not begun, or whose directory does
    not exist yet. Ctrl-C ends `status`, not the run.
    """
    if watching and as_json:
        raise InputError("--watch and --json cannot be used together; use one of them")

    def find() -> list[Storage]:
        return resolve(run).places(watching)

    try:
        paths = find()
        if watching:
            for path in paths:
                if not StoredRun.exists(begun_at(path)):
                    echo(f"waiting for a run in {path}", err=True)
            paths = watch(find, interval)
        resume = resolve(run).resume_command
        values = [status_of(path, resume(path)) for path in paths]
    except KeyboardInterrupt:
        if watching:
            return
        raise
    except (CorruptRunError, NotAFile) as error:
        if as_json:
            click.echo(json.dumps({"path": run, "state": "corrupt", "message": str(error)}))
        raise
    if as_json:
        common.echo_json(values)
    else:
        echo("\n".join(map(describe_status, values)))
    if any(value.get("damaged") for value in values):
        click.get_current_context().exit(CorruptRunError.exit_code)
