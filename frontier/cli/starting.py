"""The command that gives a config to start from: init."""

import sys

import click

from frontier import bundled
from frontier.cli.files import Target, check_targets, force_option
from frontier.cli.streams import echo
from frontier.errors import InputError
from frontier.text import terminal_width


def _complete(context, parameter, incomplete: str) -> list[str]:
    return [name for name in bundled.names() if name.startswith(incomplete)]


@click.command(
    short_help="Write configs that come with the program, or list them.",
    epilog="""\b
Examples:
  frontier init  # lists all
  frontier init 2x5
  frontier init goat hexagram
""",
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_complete)
@force_option
def init(names, force):
    """Write the config NAME, which comes with the program, as configs/NAME.toml, or list all.

    In a clone of the repository the configs are there already. Elsewhere this writes those that
    are named, below the working directory. A file that was changed stays as it is.
    """
    if not names:
        formatter = click.HelpFormatter(width=terminal_width(sys.stdout))
        formatter.write_dl([(name, bundled.title_of(name)) for name in bundled.names()])
        click.echo(formatter.getvalue(), nl=False)
        return
    missing = {}
    for name in dict.fromkeys(names):
        text = bundled.text_of(name)
        target = Target("init", bundled.FOLDER / f"{name}.toml", makes_folder=True)
        if not target.path.is_file():
            missing[target] = text
        elif target.path.read_bytes() == text.encode():
            echo(f"{target.path} is there already", err=True)
        elif force:
            missing[target] = text
        else:
            raise InputError(
                f"{target.path} exists already, and differs from the config that comes with the "
                "program; move it away, or write over it with --force"
            )
    check_targets(missing, force=True)
    for target, text in missing.items():
        target.write(text)
