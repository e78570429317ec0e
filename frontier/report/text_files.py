"""A report as JSON, CSV and Markdown."""

import csv
import io
import re
from html import escape

from frontier.report.comparison import Comparison
from frontier.report.statistics import RunStatistics
from frontier.report.summary import run_value
from frontier.report.tables import Table, config_text, origin, tables_of

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


def report_markdown(subject: RunStatistics | Comparison) -> str:
    """A report as text with tables."""
    tables, several = tables_of(subject), isinstance(subject, Comparison)
    if several:
        lines = [f"# {_text(subject.title)}"]
        lines += [part for finding in subject.findings for part in ("", f"**{_text(finding)}**")]
    else:
        standing = subject.standing[0].upper() + subject.standing[1:]
        title = f"{_text(subject.name)}: {_text(subject.puzzle.title)}"
        lines = [f"# {title}", "", f"{_text(standing)}."]
    lines += ["", *_table(tables.key, "" if several else "l")]
    if tables.spending.rows:
        lines += ["", "Where the time in layers went:", "", *_table(tables.spending, "l")]
    if not several and subject.boards:
        lines += ["", f"Farthest positions, {len(subject.boards)} of {subject.farthest:,}:", ""]
        lines += [f"* {_code(subject.puzzle.line(board))}" for board in subject.boards]
    lines += ["", *_table(tables.layers)]
    for number, run in enumerate(subject.runs if several else [subject]):
        heading = f"## {_text(subject.labels[number])}" if several else "How it was made:"
        lines += ["", heading, "", *_made(run)]
    return "\n".join(lines) + "\n"


def _made(run: RunStatistics) -> list[str]:
    """How a run was made, as a list, and the config that makes it again."""
    facts = [f"* {key}: {_text(value)}" for key, value in origin(run)]
    config = config_text(run)
    fence = "`" * max(3, _backticks(config) + 1)
    return [*facts, "", f"{fence}toml", config, fence]


def _number(value):
    """A cell of a CSV file: nine digits of a fraction, a whole number exactly."""
    return f"{value:.9g}" if isinstance(value, float) else value


def _code(text: str) -> str:
    """A Markdown code span, with more backticks around it than stand together in it."""
    fence = "`" * (_backticks(text) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{text}{room}{fence}"


def _backticks(text: str) -> int:
    """The length of the longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _text(text: str) -> str:
    """Text with its HTML escaped."""
    return escape(text, quote=False)


def _table(table: Table, align: str = "") -> list[str]:
    """A Markdown table; align: "l" or "r" for each column, by default "r"."""
    marks = [":---" if mark == "l" else "---:" for mark in align.ljust(len(table.header), "r")]
    lines = [table.header, marks, *table.rows]
    return [
        "| " + " | ".join(_text(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    ]
