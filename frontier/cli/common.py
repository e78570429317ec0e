"""What the commands share: options, and the puzzle that a user names."""

import json
from pathlib import Path

import click

from frontier.cli.completion import complete_run, complete_setting
from frontier.config import load_config
from frontier.errors import InputError
from frontier.find_runs import open_one
from frontier.puzzles import Puzzle, puzzle_of

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_setting,
    help="Override a key of the config, such as --set cluster.workers=4. May be given often.",
)
run_argument = click.argument("run", metavar="RUN", shell_complete=complete_run)


def confirmed(question: str) -> bool:
    """Whether the user says yes; without an answer it is a no."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:  # no answer
        return False


def echo_json(values: list[dict]) -> None:
    """Print the value of one run, or those of several, as one JSON object."""
    click.echo(json.dumps(values[0] if len(values) == 1 else {"runs": values}))


def puzzle_at(run: str, settings: tuple[str, ...]) -> Puzzle:
    """The puzzle of a config or a run."""
    if Path(run).is_dir():
        return puzzle_of(open_one(run, settings).identity["puzzle"])
    members = load_config(run, settings).members
    if len(members) > 1:
        raise InputError(f"{run} names several goals; name one with --set puzzle.blank=[0,0]")
    return members[0].make_puzzle()
