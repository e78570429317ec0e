"""The command that copies runs: backup."""

import sys
from dataclasses import asdict

import click

from frontier.cli.common import PlaceName, echo_json, json_option, run_argument
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
@click.argument("target", type=PlaceName(), metavar="TARGET")
@json_option
def backup(run, target, as_json):
    """Copy RUN, which must not be under way, to a new place TARGET.

    RUN and TARGET may each be a directory or a place in a bucket. TARGET must not exist. `backup`
    copies all files of RUN, including the finished tasks of an unfinished layer. It reads each copy
    back and compares it with the original. TARGET is then a run like any other: `run` resumes it,
    and `verify` checks it. The results of `gods-number` are copied in the same way.
    """
    source = resolve(run).open_one().storage
    with reading(source):
        store = open_run(source)
        if missing := store.missing():
            message = f"{missing[0]}; nothing was backed up"
            raise CorruptRunError(message)
        wrong = [name for name in store.misplaced() if name not in FOR_PEOPLE]
    if wrong:
        place = source.place(wrong[0])
        raise CorruptRunError(f"{place} has the wrong file type; nothing was backed up")
    with passing_line(sys.stderr) as say:
        result = back_up(source, storage_at(target), FOR_PEOPLE, say)
    if as_json:
        echo_json([asdict(result)])
    else:
        echo(_describe_backup(result))


def _describe_backup(result: Backup) -> str:
    without = f"; without {', '.join(result.left_out)}" if result.left_out else ""
    return (
        f"{result.path}: {counted(result.files, 'file')}, {size(result.bytes)}, copied and "
        f"compared{without}"
    )
