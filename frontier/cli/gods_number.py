"""The command that finds God's number without visiting every position: gods-number."""

import click

from frontier.api.start import carry_out
from frontier.cli import common
from frontier.cli.streams import echo
from frontier.cosets.kind import gods_number_value
from frontier.cosets.resources import plan_cosets
from frontier.cosets.run import CosetRun
from frontier.cosets.sampling import sample_next
from frontier.cosets.search import CosetSearch
from frontier.errors import Gone, Stopped
from frontier.report.displays import say_details
from frontier.report.gods_number import describe_gods_number
from frontier.report.plan_report import coset_plan_value, describe_coset_plan
from frontier.runs.resolve import command_of, place_of_cosets, resolve

SAMPLE_SECONDS = 30.0
"""The seconds that a sample of the next question takes."""


@click.command(
    short_help="Find God's number without visiting every position.",
    epilog="""\b
Examples:
  frontier gods-number 2x8 --layers 4  # find the last four layers
  frontier gods-number 2x8 --at-most 141  # do 141 moves suffice?
  frontier gods-number 4x4 --hours 2  # the best bounds after two hours
  frontier gods-number 2x8 --set puzzle.metric=multi
  frontier gods-number runs/2x8-gods-number  # resume by its directory
  frontier gods-number 2x9 --plan  # memory and time
""",
)
@common.config_argument
@common.workers_option
@common.memory_option
@common.out_option
@common.set_option
@click.option(
    "--at-most", type=common.Whole(min=1), metavar="T", help="Ask only whether T moves suffice."
)
@click.option(
    "--layers",
    type=common.Whole(min=0),
    metavar="N",
    default=1,
    help="Find all positions of the last N layers; --json lists them.",
)
@click.option(
    "--hours",
    type=click.FloatRange(min=0, min_open=True),
    metavar="H",
    help="Stop after H hours and print the bounds.",
)
@click.option(
    "--region", metavar="RxC", help="The region, such as 2x5. By default the program chooses it."
)
@click.option(
    "-n",
    "--dry-run",
    "--plan",
    "planning",
    is_flag=True,
    help="Search nothing. Estimate the memory and, if the tables exist, the time of the next "
    "question.",
)
@common.take_over_option
@common.quiet_option
@common.verbose_option
@common.json_option
def gods_number(
    config, settings, at_most, layers, hours, region, planning, take_over, quiet, verbose, as_json
):
    """Find God's number of the tile puzzle in CONFIG without visiting every position.

    `run` enumerates all positions, layer by layer. If a board has too many for that, this command
    searches coset by coset. It finds how many moves suffice from any position, and which positions
    need that many. If --hours ends it early, it prints bounds. docs/mathematics.md explains the
    theorem.

    The search narrows the bounds by asking whether all positions take at most T moves. It stores
    results every few seconds. To resume a search that was stopped (Ctrl-C) or killed, repeat the
    command, or give its directory as RUN: runs/NAME-gods-number or, with store.path = X,
    X-gods-number.
    """
    loaded = resolve(config, settings).config
    if planning:
        plan, samples = plan_cosets(loaded, region), None
        if CosetRun.exists(place_of_cosets(loaded)):
            run = CosetRun.open(place_of_cosets(loaded))
            run.check_is_of({"puzzle": loaded.puzzle_settings})
            run.check_region(region)
            samples = sample_next(run, SAMPLE_SECONDS)
        if as_json:
            common.echo_json([coset_plan_value(plan, samples)])
        else:
            echo(describe_coset_plan(plan, samples, verbose))
        return
    path, events = place_of_cosets(loaded), set()
    try:
        search = CosetSearch(loaded, at_most, layers, hours, region)
        listeners = [lambda event: events.add(type(event)), *([say_details] if verbose else ())]
        run, _ = carry_out(search, listeners, take_over, not quiet)
    except Gone:
        raise
    except (Stopped, KeyboardInterrupt) as error:  # the latter interrupts a portion at once
        reason = str(error) or "interrupted"
        if not CosetRun.exists(path):
            raise Stopped(reason) from None
        again = command_of(CosetRun.open(path), config, settings, region=region)
        raise Stopped(f"{reason}. Nothing is lost; resume with: {again}") from None
    if not events and not quiet:
        name = run.identity["name"]
        echo(f"{name} has already been searched; nothing to do.", err=True)
    value = gods_number_value(run)
    common.echo_json([value]) if as_json else echo(describe_gods_number(run, value, at_most))
