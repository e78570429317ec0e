"""The command that writes a config to start from: init."""

import click

from frontier.cli.files import Target, check_targets, force_option
from frontier.cli.streams import echo
from frontier.config import bundled
from frontier.errors import InputError


def _complete(context, parameter, incomplete: str) -> list[str]:
    return [name for name in bundled.names() if name.startswith(incomplete)]


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
    """Write the config NAME, which comes with the program, to configs/NAME.toml for you to change,
    and its program, if it has one, beside it.

    Without --force, a file that you have changed is not overwritten.
    """
    missing = {}
    texts: dict[str, str] = {}
    for name in names:
        texts |= bundled.files_of(name)
    for name, text in texts.items():
        target = Target("init", bundled.FOLDER / name, makes_folder=True)
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
