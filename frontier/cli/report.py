"""The command that reports on runs: report."""

import json
from pathlib import Path

import click

from frontier.cli.common import PlaceName, json_option, note_searches, path_argument
from frontier.cli.files import OR_OUTPUT, check_targets, file_option, force_option
from frontier.cli.streams import echo
from frontier.cosets.run import CosetRun
from frontier.errors import InputError
from frontier.layers.run import LayerRun
from frontier.report import formats
from frontier.report.console import console_on
from frontier.report.gods_number import SearchReport
from frontier.report.origin import starts_of
from frontier.report.published import compare
from frontier.report.statistics import Report, statistics_of
from frontier.runs.kind import kind_at
from frontier.runs.kinds import BY_COSETS
from frontier.runs.resolve import resolve
from frontier.storage.base import Storage

PLAIN_WIDTH = 120


@click.command(
    epilog="""\b
Examples:
  frontier report runs/2x5
  frontier report runs/2x5 --html 2x5.html --chart 2x5.pdf --csv 2x5.csv
  frontier report runs/3x3 --expect b089473.txt  # verify a published table
  frontier report runs/2x5 runs/2x6 --html both.html  # side by side
  frontier report runs/2x8-gods-number --html 2x8.html
""",
)
@path_argument("runs", metavar="RUN...", nargs=-1, required=True)
@file_option("--html", f"Write an HTML page with charts and boards{OR_OUTPUT}")
@file_option(
    "--chart --png chart",
    "Write the chart of the layers, 16 cm wide, as PDF, SVG or PNG (200 dpi), according to the "
    "suffix. May be repeated.",
    *(".png", ".pdf", ".svg"),
)
@file_option("--csv", f"Write the layers as a CSV table{OR_OUTPUT}")
@file_option("--bfile", f"Write the layer sizes of one run as an OEIS b-file{OR_OUTPUT}")
@click.option(
    "--expect",
    type=PlaceName(),
    metavar="FILE",
    help="Compare the layers with a published table: an OEIS b-file (lines of depth and count) or "
    "CSV. If they differ, the exit code is 1.",
)
@file_option("--markdown", f"Write the report as Markdown{OR_OUTPUT}")
@force_option
@json_option
def report(runs, expect, force, as_json, **options):
    """Report the results of RUN, or compare several runs.

    The report lists the number of states in each layer, with shares, growth, time and bytes; the
    mean and median depth; how the time was spent; the farthest positions; and the config and the
    machine. It is printed, unless an option names a file. `report` only reads the run's files, so
    it also works while the run is under way. If runs of the same puzzle disagree, the comparison
    says so. A config with several goals names several runs.

    A CSV file has a row for each run and depth. The column `run` is omitted if there is one run.

    For a search for God's number, the report lists the bounds, the questions that prove them, the
    farthest positions, and the config and the machine. `report` takes one such search at a time. If
    RUN is a directory that holds runs and such searches, only the runs are compared.
    """
    targets = [(kind, file) for kind, files in options.items() for file in files]
    check_targets([file for _, file in targets], force, as_json)
    paths: list[Storage] = []
    searches: list[Storage] = []
    left_out: list[Storage] = []
    for named in map(resolve, runs):
        places = named.places()
        found = [path for path in places if kind_at(path) == BY_COSETS]
        by_layers = [path for path in places if path not in found]
        paths += by_layers
        (left_out if by_layers else searches).extend(found)
        left_out += named.searches_beside
    _check_distinct([*paths, *searches])
    made: Report | SearchReport
    if searches:
        if paths or len(searches) > 1:
            raise InputError(
                f"{searches[0]} is a search for God's number; report it without other runs"
            )
        if expect:
            raise InputError(f"--expect compares layers, and {searches[0]} has none")
        made = _search_report(CosetRun.open(searches[0]), {kind for kind, _ in targets})
    else:
        note_searches(left_out)
        begun = [path for path in paths if LayerRun.exists(path)]
        statistics = tuple(statistics_of(LayerRun.open(path)) for path in begun)
        made = Report(statistics, tuple(map(str, begun)), several=len(paths) > 1)
        if options["bfile"] and len(paths) > 1:
            raise InputError(f"--bfile takes one run, not {len(paths)}; name one of them")
        if expect and len(paths) > 1:
            raise InputError(f"--expect takes one run, not {len(paths)}; name one of them")
        if expect:
            echo(compare(made.runs[0], Path(expect)), err=bool(as_json or targets))
        for difference in made.differences:
            echo(f"warning: {difference}", err=True)
    files = [(file, _content(kind, file.path, made)) for kind, file in targets]
    for file, content in files:
        file.write(content)
    if as_json:
        click.echo(json.dumps(formats.report_value(made)))
    elif not (files or expect):
        _print(made)


def _search_report(run: CosetRun, kinds: set[str]) -> SearchReport:
    """Return the report of a search for God's number. kinds: the kinds of the files to write."""
    if layered := sorted(kinds - {"html", "markdown"}):
        raise InputError(
            f"--{layered[0]} writes layers, and {run.path}, a search for God's number, has none; "
            "use --html, --markdown or --json"
        )
    return SearchReport(run, starts_of(run.storage))


def _check_distinct(paths: list[Storage]) -> None:
    """Raise InputError if a run is named twice, because comparing it with itself is useless."""
    first_named: dict[Storage, Storage] = {}
    for path in paths:
        if (before := first_named.setdefault(path.resolved(), path)) is not path:
            also = "" if str(before) == str(path) else f" (also as {before})"
            raise InputError(f"the run {path} is named twice{also}; name each run once")


def _content(kind: str, path: Path, report: Report | SearchReport) -> str | bytes:
    """Return the content of a file that an option names."""
    if kind == "markdown":
        return formats.report_markdown(report)
    if kind == "html" or isinstance(report, SearchReport):
        return formats.report_page(report)
    if kind == "chart":
        from frontier.report.charts import report_picture  # matplotlib is slow to import

        return report_picture(report, path.suffix.removeprefix("."))
    # A b-file has one run.
    return formats.report_csv(report) if kind == "csv" else formats.report_bfile(report.runs[0])


def _print(report: Report | SearchReport) -> None:
    """Print a report as wide as the terminal; without a terminal, in plain text, at full width."""
    console = console_on()
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    with console.capture() as captured:
        console.print(formats.report_text(report, console))
    lines = captured.get().splitlines()
    click.echo("\n".join(map(str.rstrip, lines)), color=console.is_terminal)
