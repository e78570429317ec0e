"""Commands that reproduce published studies: thesis."""

import json
from functools import partial
from pathlib import Path

import click

from frontier.cli.common import PlaceName, Size, Whole, json_option
from frontier.cli.files import Target, check_targets, force_option
from frontier.errors import Stopped
from frontier.thesis.comparison import TABLES, beyond
from frontier.thesis.report import describe_thesis, thesis_value
from frontier.thesis.runs import ThesisRuns


@click.command(
    short_help="Reproduce a thesis on the 2×n puzzle, claim by claim.",
    epilog="""\b
Examples:
  frontier thesis  # all tables; first makes missing small runs in runs/
  frontier thesis --table 5.2 --json
  frontier thesis --table beyond --limit 20000000000
""",
)
@click.option(
    "--table",
    "names",
    multiple=True,
    type=click.Choice([*TABLES, "beyond"]),
    help="Print only this table. May be repeated. The default is all tables of the thesis.",
)
@click.option(
    "--runs",
    "directory",
    type=PlaceName(),
    default="runs",
    metavar="DIR",
    help="The directory of the runs.",
)
@click.option(
    "--limit",
    type=Whole(min=0),
    default=300_000_000,
    metavar="STATES",
    help="Make missing runs of at most this many states.",
)
@click.option(
    "--columns",
    type=Whole(min=1),
    default=12,
    metavar="N",
    help='With "beyond": make no run of more than N columns, except the runs of the thesis.',
)
@click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="Memory of each worker of these runs, such as 4GB.",
)
@click.option(
    "--write",
    "target",
    type=PlaceName(),
    metavar="DIR",
    help="Write thesis.md and thesis.json in a directory.",
)
@force_option
@json_option
def thesis(names, directory, limit, columns, memory, target, force, as_json):
    """Reproduce a thesis on the 2×n puzzle, claim by claim, and go beyond it.

    For each number of the thesis (R. Sato, 2021), the tables show what it says, what is computed
    here, and whether the two agree. The computed numbers come from exhaustive runs in --runs; small
    runs that are missing are made there. For boards that are too large, they come from results of
    `gods-number` in --runs. "beyond" combines all runs there: the patterns of k columns, and lower
    and upper bounds on God's numbers.
    """
    targets = [
        Target("--write", Path(target) / name, makes_folder=True)
        for name in ("thesis.md", "thesis.json")
        if target is not None
    ]
    check_targets(targets, force)
    runs = ThesisRuns(Path(directory), limit, say=partial(click.echo, err=True), memory=memory)
    try:
        tables = {name: list(TABLES[name](runs)) for name in names or TABLES if name in TABLES}
        runs.most = columns
        more = beyond(runs) if "beyond" in names else None
    except KeyboardInterrupt:
        raise Stopped("interrupted; the same command resumes the current run") from None
    value = thesis_value(tables, more, runs)
    text = describe_thesis(value)
    contents = text, json.dumps(value, indent=1, ensure_ascii=False)
    for file, content in zip(targets, contents, strict=False):
        file.write(content)
    click.echo(json.dumps(value) if as_json else text)
