"""The command line: ``python -m frontier COMMAND``.

A command prints what it was asked for on standard output and everything else on standard
error. Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
"""

import signal
from contextlib import suppress

import click

from frontier.cli.help import Group
from frontier.cli.streams import OutputError, drop_output, prepare_streams
from frontier.errors import CorruptRunError, FormatError, FrontierError, Stopped, StorageError
from frontier.signals import handling

REMEDY = ". `verify RUN` lists all that is damaged, `repair RUN` mends what can be mended"


class _Commands(Group):
    """Turns the package's errors into one paragraph and the right exit code."""

    def main(self, *arguments, **settings):
        prepare_streams()
        try:
            return super().main(*arguments, **settings)
        except OutputError as error:
            drop_output()
            with suppress(OSError):
                click.echo(f"frontier: standard output: {error.strerror}", err=True)
            raise SystemExit(FrontierError.exit_code) from None

    def invoke(self, context):
        try:
            # SIGTERM ends a command as Ctrl-C does: what it holds is given back.
            with handling({signal.SIGTERM: signal.default_int_handler}):
                return super().invoke(context)
        except FrontierError as error:
            corrupt = isinstance(error, CorruptRunError) and not isinstance(error, FormatError)
            remedy = REMEDY if corrupt and "repair" not in str(error) else ""
            click.echo(f"frontier: {error}{remedy}", err=True)
            context.exit(error.exit_code)
        except OutputError:
            raise
        except OSError as error:
            click.echo(f"frontier: {StorageError.of(error)}", err=True)
            context.exit(StorageError.exit_code)
        except KeyboardInterrupt:
            click.echo("frontier: interrupted", err=True)
            context.exit(Stopped.exit_code)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    examples={
        "plan configs/2x7.toml": "What it would take.",
        "run configs/2x5.toml": "Search, or go on with a search.",
        "status configs/2x5.toml": "How far it is.",
        "farthest configs/2x5.toml --limit 3": "What it found.",
        "run --help": "What else a command can do; each has a page.",
    },
)
@click.version_option(package_name="frontier")
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    A run is described by a small TOML file, CONFIG. It can be stopped (Ctrl-C) or killed at any
    time; the same command resumes it. RUN is a run directory, such as runs/2x5, or the config that
    made it.
    """


RUNS, SOLVING = "frontier.cli.runs", "frontier.cli.solving"
UPKEEP = "frontier.cli.upkeep"

main.add_section("Search", plan="frontier.cli.planning", run=RUNS, status=RUNS)
main.add_section(
    "Ask what was found",
    report="frontier.cli.reporting",
    farthest=RUNS,
    solve=SOLVING,
    draw=SOLVING,
    export=RUNS,
)
main.add_section("Look after runs", backup=UPKEEP, verify=UPKEEP, repair=UPKEEP)
main.add_section("Studies", thesis="frontier.cli.studies", rotate=SOLVING)
