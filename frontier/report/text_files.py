"""A report as JSON, CSV and Markdown."""

import csv
import io
import re

from frontier.report.comparison import Comparison
from frontier.report.html import page
from frontier.report.statistics import RunStatistics
from frontier.report.summary import run_value
from frontier.report.tables import config_text, origin, tables_of

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
    look = {"tables": tables_of(subject), "origin": origin, "config": config_text}
    look |= {"fence": _fence, "code": _code}
    if isinstance(subject, Comparison):
        return page("comparison.md", of=subject, **look)
    return page("report.md", run=subject, **look)


def _fence(text: str, least: int = 1) -> str:
    """So many backticks as stand nowhere together in a text, with which Markdown marks it."""
    return "`" * max([least, *(len(row) + 1 for row in re.findall("`+", text))])


def _code(text: str) -> str:
    """A Markdown code span."""
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{_fence(text)}{room}{text}{room}{_fence(text)}"


def _number(value):
    """A cell of a CSV file: nine digits of a fraction, a whole number exactly."""
    return f"{value:.9g}" if isinstance(value, float) else value
