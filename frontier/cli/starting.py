"""The commands that list and write the configs that come with the program: list, init."""

import sys

import click

from frontier.cli.files import Target, check_targets, force_option
from frontier.cli.streams import echo
from frontier.config import bundled
from frontier.errors import InputError
from frontier.text import terminal_width


def _complete(context, parameter, incomplete: str) -> list[str]:
    return [name for name in bundled.names() if name.startswith(incomplete)]


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


@click.command(
    short_help="Write a config to start from.",
    epilog="""\b
Examples:
  frontier init 2x5
  frontier init goat hexagram
""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=_complete)
@force_option
def init(names, force):
    """Write the config NAME, which comes with the program, to configs/NAME.toml for you to change.

    Without --force, a file that you have changed is not overwritten.
    """
    missing = {}
    for name in dict.fromkeys(names):
        text = bundled.text_of(name)
        target = Target("init", bundled.FOLDER / f"{name}.toml", makes_folder=True)
        if not target.path.is_file():
            missing[target] = text
        elif target.path.read_bytes() == text.encode():
            echo(f"{target.path} already exists", err=True)
        elif force:
            missing[target] = text
        else:
            raise InputError(
                f"{target.path} already exists and differs from the config that comes with the "
                "program; move it away, or overwrite it with --force"
            )
    check_targets(missing, force=True)
    for target, text in missing.items():
        target.write(text)
