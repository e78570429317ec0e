"""Reports as text for a terminal, HTML, Markdown, CSV and JSON."""

import csv
import io
import re
from math import log

from markupsafe import Markup
from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.text import Text

from frontier.layers.summary import run_value
from frontier.puzzles import Board
from frontier.report.boards import board_svg, draw_boards
from frontier.report.console import fitting_table, pairs, tables_that_fit
from frontier.report.html import page
from frontier.report.origin import config_text, origin
from frontier.report.statistics import SPENDING, Report, RunStatistics
from frontier.report.tables import tables_of

BAR = 12
"""The width of the longest bar in a table of layers, in characters."""

DROPPED = ("log", "written", "growth", "time", "share", "up to here")
"""A narrow terminal omits some of these columns, in this order."""

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


def report_text(report: Report, console: Console) -> RenderableType:
    """Return the report for this console."""
    tables, run = tables_of(report), report.one
    title = f"{report.title}, {run.standing}" if run else report.title
    parts: list[RenderableType] = [Text(title, style="bold")]
    parts += [Text(difference, style="bold red") for difference in report.differences]
    if report.family:
        parts.append(Text(report.family.finding))
    if not run:
        for header, rows in tables:
            for table in tables_that_fit(header, rows, console):
                parts += ["", table]
        return Group(*parts)
    parts.append(pairs(tables.key.rows))
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
    sections["How it was made"] = pairs(origin(run.run.identity, run.starts))
    for heading, section in sections.items():
        parts += [Text(f"\n{heading}", style="bold"), section]
    return Group(*parts)


def _farthest(run: RunStatistics, console: Console) -> RenderableType:
    if not run.complete:
        return Text("They are in the last layer, but the run is not complete.")
    drawn = Text.from_ansi(draw_boards(run.puzzle, run.boards, console=console), no_wrap=True)
    more = (run.farthest or 0) - len(run.boards)
    return Group(drawn, f"… and {more:,} more (`farthest` prints them)") if more else drawn


def report_value(report: Report) -> dict:
    """Return a report as JSON: for each run the keys of ``summary.json`` and the statistics."""
    if not (run := report.one):
        runs = [report_value(Report((run,))) for run in report.runs]
        value = {"differences": report.differences, "runs": runs}
        return value | ({"diameter": report.family.diameter} if report.family else {})
    positions = [run.puzzle.write(board) for board in run.boards]
    value = run_value(run.run)
    return value | {
        "states": run.states,
        "states_of_the_puzzle": run.total,
        "depth": run.depth,
        "layers": run.counts,
        "state": run.state,
        "diameter": run.diameter,
        "mean_depth": run.mean,
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
    names = [*COLUMNS.values(), *(f"seconds_{kind}" for kind in kinds)]
    labels = [[]] if report.one else [[label] for label in report.labels]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(["run"] if any(labels) else []), "depth", *names])
    for label, run in zip(labels, report.runs, strict=True):
        for layer in run.layers:
            row = [*label, layer.depth, *(getattr(layer, key) for key in COLUMNS)]
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


def report_markdown(report: Report) -> str:
    """Return a report as text with tables."""
    return _document("report.md", report, fence=fence, code=_code)


def report_page(report: Report) -> str:
    """Return a report as a self-contained HTML page."""
    from frontier.report.charts import report_charts  # matplotlib is slow to import

    def draw(run: RunStatistics, board: Board) -> Markup:
        return Markup(board_svg(run.puzzle, board))

    return _document("report.html", report, charts=report_charts(report), draw=draw)


def _document(template: str, report: Report, **more) -> str:
    tables = tables_of(report)
    origins = {
        name: lambda run, tell=tell: tell(run.run.identity, run.starts)
        for name, tell in (("origin", origin), ("config", config_text))
    }
    return page(template, report=report, tables=tables, **origins, **more)


def fence(text: str, least: int = 1) -> str:
    """Return a sequence of backticks longer than any in a text, to delimit the text as code in
    Markdown."""
    return "`" * max([least, *(len(row) + 1 for row in re.findall("`+", text))])


def _code(text: str) -> str:
    """Return a Markdown code span."""
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence(text)}{room}{text}{room}{fence(text)}"
