"""Reports as text: in a terminal, as Markdown, CSV and JSON."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from math import log

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from frontier.report.boards import draw_boards
from frontier.report.comparison import Comparison
from frontier.report.console import fitting_table, table_of
from frontier.report.html import page
from frontier.report.statistics import RunStatistics
from frontier.report.summary import run_value
from frontier.report.tables import config_text, origin, spending_note, tables_of, why_no_boards

BAR = 12
"""The width of the longest bar in a table of layers, in characters."""

DROPPED = ("log", "written", "growth", "time", "share", "up to here")
"""A narrow terminal leaves out these columns, the first ones first."""

COLUMNS = {
    "depth": "depth",
    "states": "states",
    "share": "share_of_all_states",
    "so_far": "states_so_far",
    "share_so_far": "share_so_far",
    "growth": "growth_factor",
    "seconds": "seconds",
    "bytes": "bytes_written",
}
"""The numbers of a layer, and the names of their columns in a CSV file."""

COMPARED = ("states", "seconds", "bytes")
"""The numbers of a layer that the CSV file of several runs has."""


def report_text(subject: RunStatistics | Comparison, console: Console) -> RenderableType:
    """The report of one run or of several, for this console."""
    if isinstance(subject, Comparison):
        return _comparison_text(subject)
    tables, run = tables_of(subject), subject
    title = f"{run.name}: {run.puzzle.title}, {run.standing}"
    parts: list[RenderableType] = [Text(title, style="bold"), _pairs(tables.key.rows)]
    if run.layers:
        cells = zip(*tables.layers.rows, strict=True)
        columns = dict(zip(tables.layers.header, map(list, cells), strict=True))
        longest = log(1 + max(run.counts))
        columns["log"] = [Bar(longest, 0, log(1 + of.states), width=BAR) for of in run.layers]
        table = fitting_table(columns, DROPPED, console, console.width, left=["log"])
        parts += [_heading("Layers"), table]
    if run.spent:
        spending = table_of(tables.spending.rows, ("left", "right", "right"), overflow="fold")
        parts += [_heading("Where the time in layers went"), spending]
        if note := spending_note(run):
            parts.append(Text(note, style="dim"))
    parts += [_heading("Farthest positions"), *_farthest(run, console)]
    parts += [_heading("How it was made"), _pairs(origin(run))]
    return Group(*parts)


def _comparison_text(comparison: Comparison) -> RenderableType:
    differences, tables = comparison.differences, tables_of(comparison)
    parts: list[RenderableType] = [Text(comparison.title, style="bold")]
    parts += [Text(finding, style="bold red") for finding in differences]
    parts += [Text(finding) for finding in comparison.findings[len(differences) :]]
    headers = tables.key.header, ["time in layers", *comparison.labels], tables.layers.header
    for header, table in zip(headers, (tables.key, tables.spending, tables.layers), strict=True):
        parts += ["", table_of(table.rows, ["right"] * len(header), header, overflow="fold")]
    return Group(*parts)


def _farthest(run: RunStatistics, console: Console) -> list[RenderableType]:
    if reason := why_no_boards(run):
        return [Text(reason)]
    drawn = Text.from_ansi(draw_boards(run.puzzle, run.boards, console=console), no_wrap=True)
    parts: list[RenderableType] = [drawn]
    if more := run.farthest - len(run.boards):
        parts.append(Text(f"… and {more:,} more (`farthest` prints them)"))
    return parts


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _pairs(rows: Iterable[Sequence[str]]) -> Table:
    """Names, which are dim, and values."""
    table = table_of(rows, ("left", "left"), overflow="fold")
    table.columns[0].style = "dim"
    return table


def report_value(of: RunStatistics | Comparison) -> dict:
    """A report as JSON: of each run the keys of ``summary.json``, and the statistics."""
    if isinstance(of, Comparison):
        runs = [report_value(run) for run in of.runs]
        value = {"differences": of.differences, "runs": runs}
        return value | ({"diameter": of.family.diameter} if of.family else {})
    value = run_value(of.run) | {
        "state": of.state,
        "diameter": of.diameter,
        "mean_depth": of.mean,
        "median_depth": of.median,
        "fullest_layer": of.fullest.depth if of.fullest else None,
        "seconds_spent": of.spent,
        "layer_statistics": [vars(layer) for layer in of.layers],
        "starts": list(of.starts),
        "farthest": None,
    }
    if of.complete:
        positions = [of.puzzle.write(board) for board in of.boards]
        value["farthest"] = {"count": of.farthest, "positions": positions}
    return value


def report_csv(subject: RunStatistics | Comparison) -> str:
    """A row for each depth; what does not apply is empty. Of several runs it has fewer columns."""
    if isinstance(subject, Comparison):
        names = [COLUMNS[key] for key in COMPARED]
        header = ["depth", *(f"{label}: {name}" for label in subject.labels for name in names)]
        rows = [
            [
                depth,
                *(getattr(of, key, None) for of in subject.layers_at(depth) for key in COMPARED),
            ]
            for depth in subject.depths
        ]
    else:
        header = [*COLUMNS.values(), *(f"seconds_{kind}" for kind in subject.spent)]
        rows = [
            [*(getattr(of, key) for key in COLUMNS), *(of.spent.get(k, 0) for k in subject.spent)]
            for of in subject.layers
        ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([map(_number, row) for row in rows])
    return text.getvalue()


def report_bfile(run: RunStatistics) -> str:
    """The sizes of the layers as the On-Line Encyclopedia of Integer Sequences takes tables, a line
    "n a(n)" for each depth n; lines before them say what they are, behind a #."""
    known = "all terms" if run.complete else "not all terms, as the search is not complete"
    goals = " or ".join(map(run.puzzle.line, run.puzzle.goals))
    return "".join(
        [
            f"# {run.puzzle.title}: number of positions at n moves from {goals}; {known}.\n",
            *(f"{layer.depth} {layer.states}\n" for layer in run.layers),
        ]
    )


def report_markdown(subject: RunStatistics | Comparison) -> str:
    """A report as text with tables."""
    look = {"tables": tables_of(subject), "origin": origin, "config": config_text}
    look |= {"fence": _fence, "code": _code}
    if isinstance(subject, Comparison):
        return page("comparison.md", of=subject, **look)
    return page("report.md", run=subject, **look)


def _fence(text: str, least: int = 1) -> str:
    """A run of backticks longer than any in a text, as Markdown marks the ends of code by one."""
    return "`" * max([least, *(len(row) + 1 for row in re.findall("`+", text))])


def _code(text: str) -> str:
    """A Markdown code span."""
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{_fence(text)}{room}{text}{room}{_fence(text)}"


def _number(value):
    """A cell of a CSV file: nine digits of a fraction, a whole number exactly."""
    return f"{value:.9g}" if isinstance(value, float) else value
