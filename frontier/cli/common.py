"""What the commands share: options, questions, JSON."""

import json

import click

from frontier.cli.completion import complete_run, complete_setting

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_setting,
    help="Override a key of the config, such as --set cluster.workers=4. May be given often.",
)
run_argument = click.argument("run", metavar="RUN", shell_complete=complete_run)
take_over_option = click.option(
    "--take-over", is_flag=True, help="The process on another host that held the run is gone."
)


def confirmed(question: str) -> bool:
    """Whether the user says yes; without an answer it is a no."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:  # no answer
        return False


def echo_json(values: list[dict]) -> None:
    """Print the value of one run, or those of several, as one JSON object."""
    click.echo(json.dumps(values[0] if len(values) == 1 else {"runs": values}))
