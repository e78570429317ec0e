"""The command that lists the configs that come with the program: list."""

import sys

import click

from frontier.config import bundled
from frontier.errors import InputError
from frontier.text import terminal_width


@click.command(
    "list",
    short_help="List the configs that come with the program.",
    epilog="""\b
Examples:
  frontier list
  frontier list cube pancake  # configs with one of these words
""",
)
@click.argument("words", metavar="[WORD]...", nargs=-1)
def list_command(words):
    """List the names of the configs that come with the program, with a sentence on each.

    Commands take such a name as a CONFIG: `frontier run 2x5`. If WORDs are given, only configs
    whose name or sentence contains one of them are listed.
    """
    names = bundled.found_by(words) if words else bundled.names()
    if not names:
        raise InputError(
            f"no config has {' or '.join(words)} in its name or its description; `list` shows all "
            "configs"
        )
    formatter = click.HelpFormatter(width=terminal_width(sys.stdout))
    formatter.write_dl([(name, bundled.title_of(name)) for name in names])
    click.echo(formatter.getvalue(), nl=False)
