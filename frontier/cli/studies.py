"""Commands that reproduce published studies: thesis."""

import json
from functools import partial
from pathlib import Path

import click

from frontier.cli.common import Whole, json_option
from frontier.cli.files import Target, check_targets, force_option
from frontier.errors import Stopped
from frontier.thesis.comparison import TABLES, beyond
from frontier.thesis.report import describe_thesis, thesis_value
from frontier.thesis.runs import ThesisRuns


@click.command(
    short_help="Reproduce a thesis on the 2×n puzzle, claim by claim.",
    epilog="""\b
Examples:
  frontier thesis  # all tables; makes small runs below runs/ first
  frontier thesis --table 5.2 --json
  frontier thesis --table beyond --limit 20000000000
""",
)
@click.option(
    "--table",
    "names",
    multiple=True,
    type=click.Choice([*TABLES, "beyond"]),
    help="Only this table; may be repeated. By default all tables of the thesis.",
)
@click.option(
    "--runs", "directory", default="runs", metavar="DIR", help="Where the runs are, or are made."
)
@click.option(
    "--limit",
    type=Whole(min=0),
    default=300_000_000,
    metavar="STATES",
    help="Make a run that is missing if it has at most this many states.",
)
@click.option(
    "--columns",
    type=Whole(min=1),
    default=12,
    metavar="N",
    help='Make no run of more columns, but for those that the thesis has ("beyond").',
)
@click.option("--memory", metavar="SIZE", help="Memory of a worker of runs made here, such as 4GB.")
@click.option(
    "--write", "target", metavar="DIR", help="Write thesis.md and thesis.json to a directory."
)
@force_option
@json_option
def thesis(names, directory, limit, columns, memory, target, force, as_json):
    """Reproduce a thesis on the 2×n puzzle, claim by claim, and go beyond it.

    The tables have, for each number of the thesis (R. Sato, 2021), what it says, what is computed
    here, and whether the two agree. Everything rests on exhaustive runs, which are looked for in
    --runs and made there if they are small, or, where a board is too large, on what `gods-number`
    has found there. "beyond" shows what all runs there say: the patterns of k columns, and lower
    and upper bounds of God's numbers.
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
