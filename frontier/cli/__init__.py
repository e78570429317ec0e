"""The command line: ``python -m frontier COMMAND``.

A command prints what it was asked for on standard output and everything else on standard
error. Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
"""

import signal
from contextlib import contextmanager

import click

from frontier.cli.drawing import draw
from frontier.cli.planning import plan
from frontier.cli.reporting import report
from frontier.cli.runs import export, farthest, run, status
from frontier.cli.solving import rotate, solve
from frontier.cli.streams import prepare_streams
from frontier.cli.studies import thesis
from frontier.cli.upkeep import repair, verify
from frontier.errors import CorruptRunError, FormatError, FrontierError, Stopped


class _Commands(click.Group):
    """Turns the package's errors into one paragraph and the right exit code."""

    def list_commands(self, context):
        return list(self.commands)

    def invoke(self, context):
        prepare_streams()
        try:
            with _terminated_as_interrupted():
                return super().invoke(context)
        except FrontierError as error:
            click.echo(f"frontier: {error}{_remedy(error)}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("frontier: interrupted", err=True)
            context.exit(Stopped.exit_code)


@contextmanager
def _terminated_as_interrupted():
    """SIGTERM ends a command as Ctrl-C does: what it holds is given back."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not in the main thread: signals go elsewhere
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _remedy(error: FrontierError) -> str:
    if isinstance(error, FormatError):
        return ""
    if isinstance(error, CorruptRunError) and "repair" not in str(error):
        return ". `verify RUN` lists all that is damaged, `repair RUN` mends what can be mended"
    return ""


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="frontier")
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    A run is described by a small TOML file. Start one, watch it, ask what it found:

    \b
      python -m frontier plan configs/2x7.toml
      python -m frontier run configs/2x5.toml
      python -m frontier status configs/2x5.toml
      python -m frontier report configs/2x5.toml --html 2x5.html
      python -m frontier farthest configs/2x5.toml --limit 3
      python -m frontier solve configs/goat.toml --method ida

    A run can be stopped (Ctrl-C) or killed at any time; the same command resumes it. RUN is a
    run directory, such as runs/2x5, or the config that made it.

    Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
    """


for command in (
    plan, run, status, report, farthest, solve, export, rotate, draw, thesis, verify, repair,
):  # fmt: skip
    main.add_command(command)
