"""The command that looks ahead: plan."""

from functools import partial

import click
from pydantic import ByteSize, TypeAdapter

from frontier import start_runs
from frontier.cli.common import config_argument, echo_json, json_option, set_option
from frontier.cli.streams import echo
from frontier.config import Config
from frontier.config_values import size_written
from frontier.errors import InputError, TooLarge
from frontier.forecast.forecast import described_cluster, forecast_of
from frontier.report.plan import describe_plan, gods_number_need, need_words, plan_value
from frontier.runs.resolve import resolve


@click.command(
    short_help="Say what a run will take, without running it.",
    epilog="""\b
Examples:
  frontier plan configs/2x7.toml
  frontier plan configs/2x8.toml --workers 100 --set cluster.memory=4GB
  frontier plan configs/2x8.toml --workers 100 --disk-rate 5GB --json
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
@click.option(
    "--disk-rate",
    metavar="SIZE",
    help="Bytes a second that the cluster's file system moves in all, such as 5GB.",
)
@json_option
def plan(config, settings, workers, disk_rate, as_json):
    """Say what the run of CONFIG, or the one in the directory RUN, will take, without running it.

    Layout, memory, disk and bytes moved come from arithmetic, the time from trying tasks and disk
    here for some seconds, or for half a minute on a machine that is busy; what is being done goes
    to standard error. The sizes of the layers are estimated from the first ones, unless the run
    directory has them. Warnings say what will not go well. Where a board of tiles does not fit or
    takes long, the plan names what `gods-number` would need instead. Nothing is written.
    """
    if disk_rate is not None and workers is None:
        raise InputError("--disk-rate is of a cluster; say how many --workers it has")
    rate = None if disk_rate is None else _bytes(disk_rate)
    members = resolve(config, settings).config.members
    if workers is not None:
        members = [described_cluster(member, workers) for member in members]
    plans, values = list(map(_planned, members)), []
    for planned in plans:
        forecast = forecast_of(planned, rate, say=partial(_say, planned.config.name))
        values.append(plan_value(forecast))
        if not as_json:
            echo(describe_plan(values[-1], forecast))
    if as_json:
        echo_json(values)


def _say(name: str, doing: str) -> None:
    """Say on standard error what is being done for a plan."""
    echo(f"{name}: {doing} …", err=True)


def _planned(config: Config) -> start_runs.Plan:
    """Return the plan of a config; the error of one that is too large names what would do."""
    try:
        return start_runs.plan(config)
    except TooLarge as error:
        if need := gods_number_need(config):
            raise TooLarge(f"{error}. {need_words(need)}") from None
        raise


def _bytes(text: str) -> int:
    try:
        count = int(TypeAdapter(ByteSize).validate_python(size_written(text)))
    except ValueError:
        count = 0
    if count <= 0:
        raise InputError(f"--disk-rate {text}: expected bytes a second, such as 500MB or 5GB")
    return count
