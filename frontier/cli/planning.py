"""The command that looks ahead: plan."""

import click

from frontier import start_runs
from frontier.cli.common import config_argument, echo_json, json_option, set_option
from frontier.cli.streams import echo
from frontier.config import Config
from frontier.errors import TooLarge
from frontier.forecast.forecast import described_cluster, forecast_of
from frontier.report.plan_report import describe_plan, gods_number_need, need_words, plan_value
from frontier.runs.resolve import resolve


@click.command(
    short_help="Say what a run will take, without running it.",
    epilog="""\b
Examples:
  frontier plan configs/2x7.toml
  frontier plan configs/2x8.toml --workers 100 --set cluster.memory=4GB
""",
)
@config_argument
@set_option
@click.option(
    "--workers",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Plan for a cluster of N workers, each as fast as one core here.",
)
@json_option
def plan(config, settings, workers, as_json):
    """Say what the run of CONFIG, or the one in the directory RUN, will take, without running it.

    Layout, memory and disk come from arithmetic, the time from trying one core here for some
    seconds: a range, for a machine that has nothing else to do. The sizes of the layers are
    estimated from the first ones, unless the run directory has them. Warnings say what will not go
    well. Where a board of tiles does not fit or takes long, the plan names what `gods-number` would
    need instead. Nothing is written.
    """
    members = resolve(config, settings).config.members
    if workers is not None:
        members = [described_cluster(member, workers) for member in members]
    plans, values = list(map(_planned, members)), []
    for planned in plans:
        forecast = forecast_of(planned)
        values.append(plan_value(forecast))
        if not as_json:
            echo(describe_plan(values[-1], forecast))
    if as_json:
        echo_json(values)


def _planned(config: Config) -> start_runs.Plan:
    """Return the plan of a config; the error of one that is too large names what would do."""
    try:
        return start_runs.plan(config)
    except TooLarge as error:
        if need := gods_number_need(config):
            raise TooLarge(f"{error}. {need_words(need)}") from None
        raise
