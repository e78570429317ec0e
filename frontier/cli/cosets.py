"""The command that finds God's number without visiting every position: gods-number."""

import click

from frontier.cli import common
from frontier.cli.help import command
from frontier.cosets.checks import check_cosets
from frontier.cosets.search import find_gods_number, plan_cosets
from frontier.cosets.store import CosetRun
from frontier.errors import CorruptRunError, Stopped
from frontier.find_runs import config_at, run_command
from frontier.report.gods_number import (
    QuestionDisplay,
    describe_gods_number,
    describe_plan,
    gods_number_value,
    plan_value,
)
from frontier.report.summary import write_summary
from frontier.storage.lock import reading
from frontier.storage.places import storage_at
from frontier.text import counted


@command(
    examples={
        "gods-number configs/2x7.toml": "The number for 2×7, in seconds.",
        "gods-number configs/2x8.toml --layers 4": "That of 2×8, and its last four layers.",
        "gods-number configs/2x8.toml --at-most 141": "Whether 141 moves suffice.",
        "gods-number configs/4x4.toml --hours 2": "As close as two hours come; again to go on.",
        "gods-number configs/2x9.toml --plan": "What it would take, and nothing else.",
    },
    files={
        "runs/NAME-gods-number/": "where the search is kept; store.path names another",
        "…/summary.json": "what was found",
        "…/tables/": "the tables; they may be deleted, and are made anew",
    },
    exit_codes={
        "0": "done, or the hours are over",
        "3": "stopped; the same command goes on with it",
        "4": "a file is damaged",
    },
    see_also=("run", "verify", "docs/mathematics.md"),
)
@common.config_argument
@common.set_option
@click.option(
    "--at-most", type=click.IntRange(min=1), metavar="T", help="Ask only whether T moves suffice."
)
@click.option(
    "--layers",
    type=click.IntRange(min=0),
    metavar="N",
    default=1,
    help="The last layers whose positions are all listed.",
)
@click.option(
    "--hours",
    type=click.FloatRange(min=0, min_open=True),
    metavar="H",
    help="End after H hours, with the bounds known by then.",
)
@click.option(
    "--region", metavar="RxC", help="The region of the board, such as 2x5; by default it is chosen."
)
@click.option(
    "--plan", "planning", is_flag=True, help="Say what tables are needed, and search nothing."
)
@common.take_over_option
@common.json_option
def gods_number(config, settings, at_most, layers, hours, region, planning, take_over, as_json):
    """Find God's number of the tile puzzle in CONFIG without visiting every position.

    `run` enumerates all positions, layer by layer; this command looks at them coset by coset, and
    so answers for boards whose positions nobody can enumerate: how many moves suffice from
    anywhere, and which positions need so many. It ends with God's number itself, or with bounds
    from both sides where it is stopped before. docs/mathematics.md has the theorem.

    Bounds close in by questions: do all positions take at most T moves? What was found is kept
    every few seconds, so a search that was stopped (Ctrl-C) or killed goes on by the same command.
    """
    loaded = config_at(config, settings)
    if planning:
        plan = plan_cosets(loaded, region)
        common.echo_json([plan_value(plan)]) if as_json else click.echo(describe_plan(plan))
        return
    display = QuestionDisplay()
    try:
        run = find_gods_number(loaded, at_most, layers, hours, region, display, take_over)
    except Stopped as error:
        again = run_command(config, settings).replace(" run ", " gods-number ", 1)
        raise Stopped(f"{error}. Nothing is lost; go on with: {again}") from None
    finally:
        display.close()
    write_summary(run.path, gods_number_value(run))
    _print(run, as_json, at_most)


def show_search(path: str, as_json: bool) -> None:
    """What `status` says of a search."""
    _print(CosetRun(storage_at(path)), as_json)


def _print(run: CosetRun, as_json: bool, at_most: int | None = None) -> None:
    value = gods_number_value(run)
    common.echo_json([value]) if as_json else click.echo(describe_gods_number(run, value, at_most))


def verify_search(path: str, blocks: int, seed: int, as_json: bool, say) -> None:
    """What `verify` does with a search; CorruptRunError if something is wrong.

    blocks: how many blocks of cosets are searched again.
    """
    folder = storage_at(path)
    with reading(folder):
        faults = check_cosets(CosetRun(folder), blocks, seed, say)
    if as_json:
        common.echo_json([{"path": path, "faults": [{"what": fault} for fault in faults]}])
    elif not faults:
        click.echo(f"{path}: all sound")
    if faults:
        raise CorruptRunError(f"{counted(len(faults), 'fault')}, the first: {faults[0]}")
