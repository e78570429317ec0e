"""Commands that make documents of runs: report."""

import json
from pathlib import Path

import click

from frontier.cli.common import json_option, paths_of
from frontier.cli.completion import complete_run
from frontier.cli.help import Command
from frontier.errors import InputError
from frontier.report.comparison import Comparison, comparison_value
from frontier.report.console import console_on
from frontier.report.figures import Figures, figures_of, report_value
from frontier.report.tables import (
    comparison_csv,
    comparison_markdown,
    layers_csv,
    report_markdown,
)
from frontier.report.terminal import comparison_text, report_text
from frontier.store.files import write_bytes
from frontier.store.run import RunStore

PLAIN_WIDTH = 200


def _file_option(name: str, what: str):
    return click.option(f"--{name}", metavar="FILE", help=f"Write {what}.")


@click.command(
    cls=Command,
    examples={
        "report runs/2x5": "In the terminal.",
        "report runs/2x5 --html 2x5.html --png 2x5.png --csv 2x5.csv": "As a page, a picture and a "
        "table.",
        "report runs/2x5 runs/2x6 --html both.html": "Two runs side by side.",
    },
    see_also=("status", "farthest", "draw", "docs/results/"),
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_run)
@_file_option("html", "a page with charts and boards, one file for browsers and paper")
@_file_option("png", "the chart of the layers as a picture for a paper, 16 cm at 200 dpi")
@_file_option("csv", "the layers as a table for programs")
@_file_option("markdown", "the report as text with tables")
@click.option("--force", is_flag=True, help="Overwrite these files where they exist.")
@json_option
def report(runs, html, png, csv, markdown, force, as_json):
    """Report what RUN found, and how; of several runs, compare them.

    States of each layer, shares, mean and median depth, growth, time and bytes, where the time
    went, the farthest positions, and the config and machine that made it: in the terminal, unless
    a file is asked for. Reads the run's files alone, so it works while the run is under way, and
    says how much is known. Runs of the same puzzle must agree: where they do not, the comparison
    says so. A config with several goals names several runs.
    """
    targets = {"html": html, "png": png, "csv": csv, "markdown": markdown}
    targets = {kind: Path(name) for kind, name in targets.items() if name is not None}
    _check(targets, force)
    named = [path for run in runs for path in paths_of(run)]
    begun = [path for path in named if RunStore.exists(path)]
    found = [figures_of(RunStore.open(path)) for path in begun]
    if len(named) == 1:
        subject, value = found[0], report_value(found[0])
    else:
        subject = Comparison(tuple(found), tuple(map(str, begun)))
        value = comparison_value(subject)
        for said in subject.differences:
            click.echo(f"warning: {said}", err=True)
    contents = {target: _content(kind, subject) for kind, target in targets.items()}
    for target, content in contents.items():
        _write(target, content)
    if as_json:
        click.echo(json.dumps(value))
    elif targets:
        click.echo("\n".join(f"written: {target}" for target in contents))
    else:
        _print(subject)


def _content(kind: str, subject: Figures | Comparison) -> bytes:
    """A document of one run or of several. What draws is imported when it is needed."""
    several = isinstance(subject, Comparison)
    if kind == "html":
        from frontier.report.documents import comparison_page, report_page

        made = comparison_page(subject) if several else report_page(subject)
    elif kind == "png":
        from frontier.report.charts import comparison_png, layers_png

        made = comparison_png(subject) if several else layers_png(subject)
    elif kind == "csv":
        made = comparison_csv(subject) if several else layers_csv(subject)
    else:
        made = comparison_markdown(subject) if several else report_markdown(subject)
    return made if isinstance(made, bytes) else made.encode()


def _print(subject: Figures | Comparison) -> None:
    """As wide as the terminal; where there is none, as wide as the report, without colours."""
    console = console_on()
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    several = isinstance(subject, Comparison)
    with console.capture() as captured:
        console.print(comparison_text(subject) if several else report_text(subject, console))
    lines = captured.get().splitlines()
    click.echo("\n".join(map(str.rstrip, lines)), color=console.is_terminal)


def _check(targets: dict[str, Path], force: bool) -> None:
    """InputError if one of the files cannot or must not be written."""
    for kind, target in targets.items():
        said = f"--{kind} {target}"
        if [other.absolute() for other in targets.values()].count(target.absolute()) > 1:
            raise InputError(f"{said}: another option names the same file; give each its own")
        if target.is_dir():
            raise InputError(f"{said} is a directory; name a file")
        if not target.absolute().parent.is_dir():
            raise InputError(f"{said}: there is no directory {target.parent}; make it first")
        if any(RunStore.exists(folder) for folder in target.absolute().parents):
            raise InputError(
                f"{said} lies in a run directory, which holds nothing but its run; choose another "
                "place"
            )
        if target.exists() and not force:
            raise InputError(f"{said} exists already; name another file, or give --force")


def _write(target: Path, content: bytes) -> None:
    try:
        write_bytes(target, content)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
