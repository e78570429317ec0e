"""The command that repairs a run's files: repair."""

import sys

import click

from frontier.cli.common import confirmed, run_argument, take_over_option
from frontier.cli.streams import echo
from frontier.errors import CorruptRunError, InputError
from frontier.report.console import passing_line
from frontier.runs.copies import COPIES, LEDGER, RUN
from frontier.runs.directory import SUMMARY
from frontier.runs.kind import kind_of, mend, open_run
from frontier.runs.resolve import resolve
from frontier.storage.lock import writing


@click.command(
    epilog="""\b
Examples:
  frontier repair runs/2x7  # says what it will delete, and asks
  frontier repair runs/2x7 --yes
""",
)
@run_argument
@click.option("--yes", is_flag=True, help="Delete damaged layers without asking.")
@take_over_option
def repair(run, yes, take_over):
    """Roll a damaged RUN back to its last good layer.

    `repair` first verifies RUN. It deletes damaged layers, and those computed from them; `run` then
    computes them again. It rewrites zarr.json, which describes layers to other programs. If RUN
    cannot be repaired, for example because a directory has the name of a file of the run, `repair`
    says so and changes nothing.
    """
    path = resolve(run).one.place
    if not (path.exists(RUN) or path.exists(COPIES[RUN])):
        if path.exists(LEDGER):
            raise CorruptRunError(
                f"{path} cannot be repaired: its run.json and the copy of it are both missing; put "
                "one of them back"
            )
        raise InputError(f"{path} holds no run: it has neither run.json nor a copy of it")
    with writing(path, take_over):
        restored = mend(path)
        for line in restored:
            echo(line)
        store = open_run(path)
        with passing_line(sys.stderr) as say:
            steps = kind_of(store).repair(store, say)
        if not steps.needed:
            echo(f"{path}: nothing {'else ' if restored else ''}to repair")
            return
        sentence = steps.in_words(store)
        if steps.lost and not yes and not confirmed(f"{sentence}. Proceed?"):
            raise InputError("No layer was deleted. Confirm with y, or pass --yes")
        steps.take(store)
        if steps.summary or path.exists(SUMMARY):
            store = open_run(path)
            store.write_summary(kind_of(store).summary(store))
        echo(sentence)
