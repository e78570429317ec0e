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
from frontier.cli.common import RUN_NAMED
from frontier.cli.hints import explain
from frontier.cli.streams import OutputError, drop_output, echo, prepare_streams
from frontier.compiling import compiling_told_to
from frontier.errors import (
    CorruptRunError,
    FormatError,
    FrontierError,
    Stopped,
    StorageError,
)
from frontier.signals import ending, handling, leaving_at_once
from frontier.text import program

VERIFIED = ". See what `{program} repair {run}` can do"
REMEDY = ". `{program} verify {run}` lists all damage, `{program} repair {run}` repairs what it can"


class _Commands(UserDict):
    """The commands by name. Its data are the names of their modules, and what they do: each module
    is imported when its command is asked for, as no command needs what the others do."""

    def __getitem__(self, name: str) -> click.Command:
        module, _ = self.data[name]
        attribute = "list_command" if name == "list" else name.replace("-", "_")
        return getattr(_loaded(f"frontier.cli.{module}"), attribute)


def _loaded(name: str) -> ModuleType:
    """Return a module, which is imported if it is not yet.

    Meanwhile Ctrl-C ends the process at once. What is loaded stays, so the collector of garbage
    does not look at it, then or later: that would take a seventh of the time of a small command.
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
    in the order in which one uses them, without their modules."""

    def list_commands(self, context):
        return list(self.commands)

    def get_command(self, context, name):
        """Return what a list shows of a command."""
        if name not in self.commands:
            return None
        _, short_help = COMMANDS[name]
        return click.Command(name, short_help=short_help)

    def resolve_command(self, context, arguments):
        """Return the command to be invoked, itself."""
        name, listed, rest = super().resolve_command(context, arguments)
        return name, listed and self.commands[listed.name or ""], rest

    def main(self, *arguments, **settings):
        prepare_streams()
        try:
            return super().main(*arguments, **settings)
        except OutputError as error:
            drop_output()
            if error.errno != errno.EPIPE:  # as after `| head`, which has read enough
                _say(f"standard output: {error.strerror}")
            sys.exit(FrontierError.exit_code)

    def invoke(self, context):
        try:
            # Such a signal ends a command as Ctrl-C does, so what the command holds is given back.
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
            _say(f"{error}{_remedy(error, context)}")
            context.exit(error.exit_code)


def _say(message: str) -> None:
    """Print a message on standard error, if that takes it; its terminal may be gone."""
    with suppress(OSError):
        echo(f"frontier: {message}", err=True)


def _say_compiling() -> None:
    from frontier.report.console import COMPILING, say  # which take time to load

    say(COMPILING, sys.stderr)


def _remedy(error: FrontierError, context: click.Context) -> str:
    """Return the remedy for damage, unless it is the command that has just reported it."""
    if not isinstance(error, CorruptRunError) or isinstance(error, FormatError):
        return ""
    # `repair` says itself what is left to be done.
    remedy = {"repair": "", "verify": VERIFIED}.get(context.invoked_subcommand or "", REMEDY)
    return remedy.format(program=program(), run=context.meta.get(RUN_NAMED, "RUN"))


COMMANDS = {
    "list": ("starting", "List the configs that come with the program."),
    "init": ("starting", "Write a config to start from."),
    "plan": ("planning", "Say what a run will take, without running it."),
    "run": ("runs", "Start or resume a search."),
    "status": ("watching", "Say how far RUN is, and how long it may still take."),
    "gods-number": ("cosets", "Find God's number without visiting every position."),
    "report": ("reporting", "Report what RUN found, and how; compare several runs."),
    "farthest": ("results", "Print the positions that need the most moves."),
    "layer": ("layers", "Print the positions of one layer, or some of them."),
    "solve": ("solving", "Find a shortest solution of each BOARD."),
    "draw": ("drawing", "Draw positions."),
    "export": ("layers", "Write the distances of all positions as an array."),
    "backup": ("copying", "Copy a run to a new place."),
    "verify": ("upkeep", "Check all files of RUN that the search reads."),
    "repair": ("upkeep", "Roll a damaged RUN back to its last good layer."),
    "thesis": ("studies", "Reproduce a thesis on the 2×n puzzle, claim by claim."),
    "rotate": ("rotating", "Solve a 15-puzzle by rotations of three loops."),
}
"""The module of each command in `frontier.cli`, and its short help, in the order in which one uses
them."""


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
  frontier init 2x5  # writes configs/2x5.toml, to be changed

\b
Exit codes:
  0  done
  1  failed
  2  bad input
  3  stopped, or refused by the system; the same command resumes
  4  corrupt data
""",
)
@click.version_option(__version__)
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    A small TOML file, CONFIG, describes a run; the name of one that comes with the program, such as
    2x5, will do. A run can be stopped (Ctrl-C) or killed at any time; the same command resumes it.
    A CONFIG may also be a puzzle that twsearch, ksolve or cubing.js reads, or generators of GAP.
    RUN is a run directory, such as runs/2x5, or the config that made it.
    """
