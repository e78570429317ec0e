"""The command that copies runs: backup."""

import sys
from dataclasses import asdict

import click

from frontier.cli.common import echo_json, json_option, run_argument
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError
from frontier.report.console import passing_line
from frontier.runs.backup import Backup, back_up
from frontier.runs.directory import FOR_PEOPLE
from frontier.runs.kinds import open_run
from frontier.runs.resolve import resolve
from frontier.storage.lock import reading
from frontier.storage.places import storage_at
from frontier.text import counted, size


@click.command(
    short_help="Copy a run to a new place.",
    epilog="""\b
Examples:
  frontier backup runs/2x7 /backups/2x7
  frontier backup runs/2x7 s3://my-bucket/2x7
  frontier backup s3://my-bucket/2x7 runs/2x7-again
  frontier run runs/2x7-again  # resumes from there
""",
)
@run_argument
@click.argument("target", metavar="TARGET")
@json_option
def backup(run, target, as_json):
    """Copy RUN, which must not be under way, to a new place TARGET.

    RUN and TARGET may each be a directory or a place in a bucket. TARGET holds all files of RUN,
    also the finished tasks of the layer under way. Each file is read again and compared. TARGET
    must not exist; it is a run once it is whole, like any other: `run` goes on from it, `verify`
    checks it. What `gods-number` has found is copied in the same way.
    """
    source = resolve(run).open_one().storage
    with reading(source):
        store = open_run(source)
        if missing := store.missing():
            message = f"{missing[0]}, though its layer is stored; nothing is backed up"
            raise CorruptRunError(message)
        wrong = [name for name in store.misplaced() if name not in FOR_PEOPLE]
    if wrong:
        place = source.place(wrong[0])
        raise CorruptRunError(f"{place} is not what a run makes there; nothing is backed up")
    with passing_line(sys.stderr) as say:
        result = back_up(source, storage_at(target), FOR_PEOPLE, say)
    if as_json:
        echo_json([asdict(result)])
    else:
        echo(_describe_backup(result))


def _describe_backup(result: Backup) -> str:
    without = f"; without {', '.join(result.left_out)}" if result.left_out else ""
    return (
        f"{result.path}: {counted(result.files, 'file')}, {size(result.bytes)}, compared{without}"
    )
