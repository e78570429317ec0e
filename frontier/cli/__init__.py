"""The command line: ``python -m frontier COMMAND``.

A command prints what it was asked for on standard output and everything else on standard
error.
"""

import errno
import gc
import signal
import sys
from collections import UserDict
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import ModuleType

import click

from frontier import __version__
from frontier.cli.hints import explain, options
from frontier.cli.streams import OutputError, drop_output, echo, prepare_streams
from frontier.errors import (
    CorruptRunError,
    FormatError,
    FrontierError,
    Stopped,
    StorageError,
)
from frontier.jit.notices import compiling_told_to
from frontier.signals import ending, handling, leaving_at_once
from frontier.text import program

VERIFIED = ". `{program} repair` repairs what it can"
REMEDY = ". `{program} verify` lists all damage, `{program} repair` repairs what it can"


class _Commands(UserDict):
    """The commands by name. The data are the short help of each command. Its module is imported
    only when the command is used, because no command needs another's module."""

    def __getitem__(self, name: str) -> click.Command:
        module = name.replace("-", "_")
        attribute = "list_command" if name == "list" else module
        return getattr(_loaded(f"frontier.cli.{module}"), attribute)


def _loaded(name: str) -> ModuleType:
    """Return a module, importing it if necessary.

    During the import Ctrl-C ends the process at once. Imported objects stay in memory, so the
    garbage collector skips them, then and later. Collecting them would take a seventh of the time
    of a small command.
    """
    if name in sys.modules:
        return sys.modules[name]
    collects = gc.isenabled()
    gc.disable()
    try:
        with leaving_at_once():
            return import_module(name)
    finally:
        gc.freeze()
        if collects:
            gc.enable()


class _Group(click.Group):
    """Turns the package's errors into one paragraph and the right exit code, and lists the commands
    in the order of their use, without importing their modules."""

    def list_commands(self, context):
        return [*self.commands]

    def get_command(self, context, name):
        """Return a command that has only a name and a short help, for lists."""
        if name not in self.commands:
            return None
        return click.Command(name, short_help=COMMANDS[name])

    def resolve_command(self, context, arguments):
        """Return the name, the real command to invoke, and the remaining arguments."""
        name, listed, rest = super().resolve_command(context, arguments)
        return name, listed and self.commands[listed.name or ""], rest

    def main(self, *arguments, **settings):
        prepare_streams()
        try:
            return super().main(*arguments, **settings)
        except OutputError as error:
            drop_output()
            if error.errno != errno.EPIPE:  # EPIPE: a reader such as `head` has read enough
                _say(f"standard output: {error.strerror}")
            sys.exit(FrontierError.exit_code)

    def invoke(self, context):
        try:
            # These signals end a command as Ctrl-C does, so the command releases what it holds.
            ends = handling(dict.fromkeys(ending(), signal.default_int_handler))
            person = sys.stderr is not None and sys.stderr.isatty()
            with ends, compiling_told_to(cache(_say_compiling) if person else None):
                return super().invoke(context)
        except OutputError:
            raise
        except click.NoSuchOption as error:
            explain(error)
            raise
        except (FrontierError, OSError, KeyboardInterrupt) as error:
            if isinstance(error, OSError):
                error = StorageError.of(error)
            elif isinstance(error, KeyboardInterrupt):
                error = Stopped("interrupted")
            # Stopped itself ends with the command that resumes the run.
            hint = "" if type(error) is Stopped else options(str(error))
            _say(f"{error}{hint}{_remedy(error, context.invoked_subcommand)}")
            context.exit(error.exit_code)


def _say(message: str) -> None:
    """Print a message on standard error, unless writing fails: the terminal may be gone."""
    with suppress(OSError):
        echo(f"frontier: {message}", err=True)


def _say_compiling() -> None:
    from frontier.report.console import COMPILING, say  # slow to import

    say(COMPILING, sys.stderr)


def _remedy(error: FrontierError, command: str | None) -> str:
    """Return the remedy for damage; "" if it is the command that has just reported the damage."""
    if not isinstance(error, CorruptRunError) or isinstance(error, FormatError):
        return ""
    # `repair` itself says what remains to be done.
    remedy = {"repair": "", "verify": VERIFIED}.get(command or "", REMEDY)
    return remedy.format(program=program())


COMMANDS = {
    "list": "List the configs that come with the program.",
    "init": "Write a config to start from.",
    "plan": "Estimate the memory, disk and time of a run.",
    "run": "Start or resume searches.",
    "status": "Show how far RUN has got, and how long it may still take.",
    "gods-number": "Find God's number without visiting every position.",
    "report": "Report the results of RUN, or compare several runs.",
    "farthest": "Print the positions that need the most moves.",
    "layer": "Print all or some of the positions of one layer.",
    "solve": "Find a shortest solution of each BOARD.",
    "draw": "Draw positions.",
    "export": "Write all distances, or the moves between positions.",
    "verify": "Check all files of RUN that the search reads.",
    "repair": "Roll a damaged RUN back to its last good layer.",
}
"""The short help of each command, in the order of their use. Its module has its name."""


@click.group(
    cls=_Group,
    commands=_Commands(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="""\b
Examples:
  frontier list  # the configs that come with the program
  frontier run 2x5
  frontier status 2x5
  frontier farthest 2x5 --limit 3
  frontier init 2x5  # writes configs/2x5.toml for you to change

\b
Completion in bash (for zsh: zsh_source; for fish: fish_source):
  eval "$(_FRONTIER_COMPLETE=bash_source frontier)"

\b
Exit codes:
  0  done
  1  failed
  2  bad input
  3  stopped, or refused by the system; repeat the command to resume
  4  corrupt data
""",
)
@click.version_option(__version__)
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    CONFIG is a small TOML file that describes a run, or the name of a config that comes with the
    program, such as 2x5. It may also be a puzzle definition for twsearch, ksolve or cubing.js, or
    permutations written for GAP. A run can be stopped (Ctrl-C) or killed at any time; the same
    command resumes it. RUN is a run directory, such as runs/2x5, or the config that made it.
    """
