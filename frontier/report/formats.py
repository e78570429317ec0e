"""Reports as text for a terminal, HTML, Markdown, CSV and JSON."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from math import log

from markupsafe import Markup
from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.text import Text

from frontier.cosets.kind import gods_number_value
from frontier.layers.summary import run_value
from frontier.puzzles import Board, Puzzle
from frontier.report.boards import board_svg, draw_boards
from frontier.report.console import fitting_table, pairs, tables_that_fit
from frontier.report.gods_number import QUESTIONS, SearchReport
from frontier.report.html import page
from frontier.report.origin import Origin
from frontier.report.statistics import SPENDING, Report, RunStatistics
from frontier.report.tables import Tables, tables_of

BAR = 12
"""The width of the longest bar in a table of layers, in characters."""

DROPPED = ("log", "written", "growth", "time", "share", "up to here")
DROPPED_OF_QUESTIONS = ("nodes", "look-ups", "left open", "cosets")
"""A narrow terminal omits some of these columns of layers and of questions, in this order."""

COLUMNS = {
    "states": "states",
    "share": "share_of_all_states",
    "so_far": "states_so_far",
    "share_so_far": "share_so_far",
    "growth": "growth_factor",
    "seconds": "seconds",
    "bytes": "bytes_written",
}
"""The fields of a layer, and the names of their columns in a CSV file."""


def report_text(report: Report | SearchReport, console: Console) -> RenderableType:
    """Return the report for this console."""
    if isinstance(report, SearchReport):
        heading, boards = report.farthest
        table = fitting_table(*report.questions, DROPPED_OF_QUESTIONS, console, ["answer"])
        sections = {QUESTIONS: table, heading: _drawn(report.run.puzzle, boards, console)}
        return _sections(report.title, report.key_figures.items(), sections, report)
    if report.one:
        return _run_text(report.one, tables_of(report), report.title, console)
    parts: list[RenderableType] = [Text(report.title, style="bold")]
    parts += [Text(difference, style="bold red") for difference in report.differences]
    if report.family:
        parts.append(Text(report.family.finding))
    for header, rows in tables_of(report):
        for table in tables_that_fit(header, rows, console):
            parts += ["", table]
    return Group(*parts)


def _run_text(run: RunStatistics, tables: Tables, title: str, console: Console) -> RenderableType:
    """Return the report of one run by layers."""
    sections: dict[str, RenderableType] = {}
    if run.layers:
        longest = log(1 + max(run.counts))
        bars = [Bar(longest, 0, log(1 + states), width=BAR) for states in run.counts]
        drawn: list[list[RenderableType]] = [
            [*row, bar] for row, bar in zip(tables.layers.rows, bars, strict=True)
        ]
        header = [*tables.layers.header, "log"]
        sections["Layers"] = fitting_table(header, drawn, DROPPED, console, ["log"])
        sections["Where the time in layers went"] = pairs(tables.spending.rows)
    sections["Farthest positions"] = _farthest(run, console)
    return _sections(f"{title}, {run.standing}", tables.key.rows, sections, run)


def _sections(
    title: str, facts: Iterable[Sequence[str]], sections: Mapping[str, RenderableType], run: Origin
) -> RenderableType:
    """Return facts under a title, sections under their headings, and the origin of the run."""
    parts: list[RenderableType] = [Text(title, style="bold"), pairs(facts)]
    for heading, section in {**sections, "How it was made": pairs(run.origin)}.items():
        parts += [Text(f"\n{heading}", style="bold"), section]
    return Group(*parts)


def _drawn(puzzle: Puzzle, boards: Sequence[Board], console: Console) -> RenderableType:
    return Text.from_ansi(draw_boards(puzzle, boards, console=console), no_wrap=True)


def _farthest(run: RunStatistics, console: Console) -> RenderableType:
    if not run.complete:
        return Text("They are in the last layer, but the run is not complete.")
    drawn = _drawn(run.puzzle, run.boards, console)
    more = (run.farthest or 0) - len(run.boards)
    return Group(drawn, f"… and {more:,} more (`farthest` prints them)") if more else drawn


def report_value(report: Report | SearchReport) -> dict:
    """Return a report as JSON: for each run the keys of ``summary.json``, the statistics and the
    starts."""
    if isinstance(report, SearchReport):
        return gods_number_value(report.run) | {"starts": list(report.starts)}
    if not (run := report.one):
        runs = [report_value(Report((run,))) for run in report.runs]
        value = {"differences": report.differences, "runs": runs}
        return value | ({"diameter": report.family.diameter} if report.family else {})
    positions = [run.puzzle.write(board) for board in run.boards]
    return run_value(run.run) | {
        "state": run.state,
        "diameter": run.diameter,
        "mean_depth": run.mean_depth if run.layers else None,
        "median_depth": run.median,
        "fullest_layer": run.fullest.depth if run.fullest else None,
        "seconds_spent": run.spent,
        "layer_statistics": [vars(layer) for layer in run.layers],
        "starts": list(run.starts),
        "farthest": {"count": run.farthest, "positions": positions} if run.complete else None,
    }


def report_csv(report: Report) -> str:
    """Return a row for each depth, or for each run and depth if there are several runs; cells that
    do not apply are empty."""
    kinds = [kind for kind in SPENDING if any(kind in run.spent for run in report.runs)]
    more = ["members"] if any(run.members for run in report.runs) else []
    names = [*COLUMNS.values(), *more, *(f"seconds_{kind}" for kind in kinds)]
    labels = [[]] if report.one else [[label] for label in report.labels]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(["run"] if any(labels) else []), "depth", *names])
    for label, run in zip(labels, report.runs, strict=True):
        for layer in run.layers:
            row = [*label, layer.depth, *(getattr(layer, key) for key in [*COLUMNS, *more])]
            row += [layer.spent.get(kind, 0) for kind in kinds]
            # Fractions have nine significant digits.
            writer.writerow([f"{of:.9g}" if isinstance(of, float) else of for of in row])
    return text.getvalue()


def report_bfile(run: RunStatistics) -> str:
    """Return the sizes of the layers as a b-file of the On-Line Encyclopedia of Integer Sequences:
    a comment line describes them, and a line "n a(n)" follows for each depth n."""
    known = "all terms" if run.complete else "not all terms, because the search is not complete"
    goals = " or ".join(map(run.puzzle.line, run.puzzle.goals))
    title = f"# {run.puzzle.title}: number of positions at n moves from {goals}; {known}.\n"
    return title + "".join(f"{layer.depth} {layer.states}\n" for layer in run.layers)


def report_markdown(report: Report | SearchReport) -> str:
    """Return a report as text with tables."""
    return _document("md", report, fence=_fence, code=_code)


def report_page(report: Report | SearchReport) -> str:
    """Return a report as a self-contained HTML page."""
    return _document("html", report, draw=lambda of, board: Markup(board_svg(of.puzzle, board)))


def _document(end: str, report: Report | SearchReport, **more) -> str:
    if isinstance(report, SearchReport):
        return page(f"search.{end}", report=report, heading=QUESTIONS, **more)
    if end == "html":
        from frontier.report.charts import report_charts  # matplotlib is slow to import

        more["charts"] = report_charts(report)
    return page(f"report.{end}", report=report, tables=tables_of(report), **more)


def _fence(text: str, least: int = 1) -> str:
    """Return a sequence of backticks longer than any in a text, to delimit the text as code in
    Markdown."""
    return "`" * max([least, *(len(row) + 1 for row in re.findall("`+", text))])


def _code(text: str) -> str:
    """Return a Markdown code span."""
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{_fence(text)}{room}{text}{room}{_fence(text)}"
