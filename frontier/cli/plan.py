"""The command that estimates the resources of a run: plan."""

import sys
from collections.abc import Sequence

import click

from frontier import machine
from frontier.api import start as start_runs
from frontier.cli import common
from frontier.cli.streams import echo
from frontier.config.loading import Config, setting_of
from frontier.errors import TooLarge
from frontier.layers.forecast import described_cluster, forecast_of
from frontier.layers.plan import with_search
from frontier.report.console import passing_line
from frontier.report.plan_report import (
    describe_key_plan,
    describe_plan,
    gods_number_need,
    key_plan_value,
    need_words,
    plan_value,
)
from frontier.runs.resolve import resolve


@click.command(
    short_help="Estimate the memory, disk and time of a run.",
    epilog="""\b
Examples:
  frontier plan 2x7
  frontier plan 2x8 --workers 100 --memory 4GB
  frontier plan mine.toml --until 8  # first layers of a puzzle of any size
""",
)
@common.config_argument
@common.memory_option
@common.out_option
@common.keep_all_option
@common.codec_option
@common.set_option
@click.option(
    "--workers",
    type=common.Whole(1, 100_000),
    metavar="N",
    help="Plan for N workers. If this machine has fewer cores, plan for a cluster, with workers as "
    "fast as one core here.",
)
@click.option("--until", type=common.Whole(min=0), metavar="DEPTH", help="Plan up to this depth.")
@common.verbose_option
@common.json_option
def plan(config, settings, workers, until, verbose, as_json):
    """Estimate the memory, disk and time of the run of CONFIG, or of the run in the directory RUN.

    Memory and disk are computed. The time is a range: `plan` measures one core for about a second
    and assumes that the machine is otherwise idle. The sizes of layers are estimated from the first
    layers, unless the run directory has them. Warnings say what will fail or take a long time. If a
    tile puzzle does not fit or takes a long time, the plan also says how much memory `gods-number`
    would need. Nothing is written.
    """
    if workers is not None and workers <= machine.cores():
        settings, workers = (setting_of("cluster.workers", workers), *settings), None
    members = resolve(config, settings).config.members
    if workers is not None:
        members = [described_cluster(member, workers) for member in members]
    show_plans(members, until, verbose, as_json)


def show_plans(
    members: Sequence[Config], until: int | None, verbose: bool, as_json: bool, quiet: bool = False
) -> None:
    """Print the plans of the runs of configs. until: the last depth, instead of the config's.
    verbose: True to add the layout and the rates."""
    if until is not None:
        members = [with_search(member, until=until) for member in members]
    with passing_line(None if quiet else sys.stderr) as say:
        say("Planning")
        plans = list(map(_planned, members))
        if plans[0].puzzle.model.counted:
            say("Measuring one core")
            forecasts = list(map(forecast_of, plans))
            values = list(map(plan_value, forecasts))
            texts = [describe_plan(*of, verbose) for of in zip(values, forecasts, strict=True)]
        else:
            values = list(map(key_plan_value, plans))
            texts = list(map(describe_key_plan, values, plans))
    if as_json:
        common.echo_json(values)
        return
    for text in texts:
        echo(text)


def _planned(config: Config) -> start_runs.Plan:
    """Return the plan of a config. If the search is too large, the error says what `gods-number`
    needs."""
    try:
        return start_runs.plan(config)
    except TooLarge as error:
        if need := gods_number_need(config):
            raise TooLarge(f"{error}. {need_words(need)}") from None
        raise
