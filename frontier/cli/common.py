"""The common parts of commands: arguments, options and their completion by a shell, questions,
JSON.

Click makes the completion script: ``eval "$(_FRONTIER_COMPLETE=bash_source frontier)"`` in bash,
and similarly in zsh and fish. All commands load this module, so it imports modules that only some
commands use where it uses them.
"""

import json
import sys
from collections.abc import Iterable
from functools import partial, wraps
from glob import escape, iglob
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

import click

from frontier.cli.streams import echo
from frontier.jit.notices import compiling_told_to
from frontier.text import fitted_to, program

if TYPE_CHECKING:
    from frontier.storage.base import Storage

MOST = 500
"""The most paths that a shell is offered."""


class Whole(click.IntRange):
    """A whole number within limits; click would call it an integer range in messages."""

    name = "whole number"


class PlaceName(click.ParamType):
    """A path or a URL. It is never blank: a script whose variable is unset must not get the
    default, or the working directory, instead."""

    name = "place"

    def convert(self, value, parameter, context) -> str:
        if not str(value).strip():
            self.fail(f"{value!r} names no place", parameter, context)
        return value


class Size(click.ParamType):
    """A size with a unit, such as 4GB."""

    name = "size"

    def convert(self, value, parameter, context) -> str:
        from frontier.values import size_written

        try:
            return size_written(value)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", parameter, context)


def complete_run(context, parameter, incomplete: str) -> list[str]:
    """Offer run directories and configs, here and one folder down, but not the copies that a run
    keeps of its files. Once a letter is typed, also offer configs that come with the program."""
    from frontier.config import bundled
    from frontier.config.loading import CONFIG_SUFFIXES

    start = escape(incomplete) + "*"
    paths = sorted(islice(chain(iglob(start), iglob(f"{start}/*")), MOST))
    found = [name for name in paths if name.endswith(CONFIG_SUFFIXES) or _is_run(Path(name))]
    names = bundled.names() if incomplete else []
    return found + [name for name in names if name.startswith(incomplete)]


def _is_run(path: Path) -> bool:
    from frontier.layers.run import LayerRun

    return LayerRun.exists(path) and not LayerRun.exists(path.parent)


def complete_setting(context, parameter, incomplete: str) -> list[str]:
    """Offer the keys of a config, with their values if only a few are possible."""
    from frontier.config.schema import TABLES
    from frontier.puzzles.settings import KIND_TABLES

    settings = []
    for name, table in TABLES.items():
        for key, field in table.model_fields.items():
            is_literal = get_origin(field.annotation) is Literal
            values = get_args(field.annotation) if is_literal else [""]
            begin = f"{'puzzle' if name in KIND_TABLES else name}.{key}"
            settings += [f"{begin}={value}" for value in values]
    return [setting for setting in dict.fromkeys(settings) if setting.startswith(incomplete)]


def note_searches(places: "Iterable[Storage]") -> None:
    """Say on standard error how to see what gods-number has found at some places."""
    for place in dict.fromkeys(places):
        echo(f"gods-number has results too: {program()} report {place}", err=True)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def _be_quiet(context, parameter, quiet: bool) -> bool:
    if quiet:
        context.with_resource(compiling_told_to(None))
    return quiet


quiet_option = click.option(
    "--quiet",
    is_flag=True,
    callback=_be_quiet,
    help="Show warnings but no progress.",
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show details.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_setting,
    help="Override a key of the config, such as --set puzzle.metric=multi. May be repeated.",
)


def _short_option(*names: str, key: str, help: str, **more):
    """Return an option that is short for ``--set KEY=VALUE``."""
    name = names[0].strip("-").replace("-", "_")
    option = click.option(*names, name, help=f"{help} Short for --set {key}.", **more)

    def decorate(command):
        @wraps(command)
        def setting_first(*arguments, settings, **options):
            value = options.pop(name)
            if value is not None:
                from frontier.config.loading import setting_of

                settings = (setting_of(key, value), *settings)
            return command(*arguments, settings=settings, **options)

        return option(setting_first)

    return decorate


workers_option = _short_option(
    "--workers", key="cluster.workers", type=Whole(1, 100_000), metavar="N",
    help="Search with N workers. The default is one per core.",
)  # fmt: skip
memory_option = _short_option(
    "--memory", key="cluster.memory", type=Size(), metavar="SIZE",
    help="Memory of each worker, such as 4GB.",
)  # fmt: skip
out_option = _short_option(
    "--out", key="store.path", type=PlaceName(), metavar="DIRECTORY",
    help="The run directory, by default runs/NAME; gods-number appends -gods-number.",
)  # fmt: skip
keep_all_option = _short_option(
    "--keep-all", key="search.keep", flag_value="all",
    help="Keep all layers, for solve, layer and export, instead of the last two.",
)  # fmt: skip
codec_option = _short_option(
    "--codec", key="store.codec", metavar="CODEC", help="The compression of layers, such as zstd:1."
)
path_argument = partial(click.argument, type=PlaceName(), shell_complete=complete_run)

run_argument = path_argument("run", metavar="RUN")
config_argument = path_argument("config", metavar="CONFIG|RUN")
puzzle_argument = path_argument("run", metavar="RUN|CONFIG")
boards_argument = click.argument("boards", metavar="[BOARD]...", nargs=-1)


def _trust(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        from frontier.puzzles.program_file import trust_stored

        trust_stored()


trust_option = click.option(
    "--trust",
    is_flag=True,
    expose_value=False,
    callback=_trust,
    help="Run the text of a program that a run directory has stored. It is code: trust its author.",
)

take_over_option = click.option(
    "--take-over",
    is_flag=True,
    help="Take over a run that a dead process on another host still holds.",
)


def confirmed(question: str) -> bool:
    """Return whether the user says yes; no answer counts as no."""
    try:
        return click.confirm(fitted_to(question, sys.stderr), err=True)
    except click.Abort:
        return False


def echo_json(values: list[dict]) -> None:
    """Print the value of one run, or the values of several runs, as one JSON object."""
    click.echo(json.dumps(values[0] if len(values) == 1 else {"runs": values}))
