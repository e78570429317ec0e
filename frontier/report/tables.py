"""The layers of runs as tables: CSV for programs, Markdown for texts."""

import csv
import io
import re
from html import escape

from frontier.report.comparison import Comparison
from frontier.report.facts import (
    LAYER_HEADER,
    comparison_layers,
    comparison_rows,
    comparison_spending,
    config_text,
    key_figures,
    layer_cells,
    layers_at,
    origin,
    spending,
)
from frontier.report.figures import Figures

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
"""The numbers of a layer, and what a CSV file calls them."""


def layers_csv(run: Figures) -> str:
    """One row a layer; what does not apply is empty."""
    header = [*COLUMNS.values(), *(f"seconds_{kind}" for kind in run.spent)]
    rows = [
        [getattr(layer, name) for name in COLUMNS]
        + [layer.spent.get(kind, 0) for kind in run.spent]
        for layer in run.layers
    ]
    return _csv(header, rows)


def comparison_csv(comparison: Comparison) -> str:
    """One row a depth, and three columns a run."""
    names = {"states": "states", "seconds": "seconds", "bytes": "bytes_written"}
    header = [f"{label}: {said}" for label in comparison.labels for said in names.values()]
    rows = [
        [depth]
        + [getattr(layer, name, None) for layer in layers_at(comparison, depth) for name in names]
        for depth in comparison.depths
    ]
    return _csv(["depth", *header], rows)


def report_markdown(run: Figures) -> str:
    """A report of one run."""
    lines = [
        f"# {_text(run.name)}: {_text(run.puzzle.title)}",
        "",
        f"{_text(run.standing[0].upper() + run.standing[1:])}.",
    ]
    lines += ["", *_table(["", run.name], [[key, value] for key, value in key_figures(run)], "lr")]
    if run.spent:
        lines += ["", "Where the time in layers went:", ""]
        lines += _table(["", "time", "share"], spending(run), "lrr")
    if run.boards:
        lines += ["", f"Farthest positions, {len(run.boards)} of {run.farthest:,}:", ""]
        lines += [f"* {_code(run.puzzle.line(board))}" for board in run.boards]
    lines += ["", *_table(LAYER_HEADER, map(layer_cells, run.layers))]
    lines += ["", "How it was made:", "", *_made(run)]
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """A report of several runs."""
    lines = [f"# {_text(comparison.title)}"]
    lines += [part for said in comparison.findings for part in ("", f"**{_text(said)}**")]
    lines += ["", *_table(["", *comparison.labels], comparison_rows(comparison))]
    if rows := comparison_spending(comparison):
        lines += ["", "Where the time in layers went:", ""]
        lines += _table(["", *comparison.labels], rows, "l")
    lines += ["", *_table(["depth", *comparison.labels], comparison_layers(comparison))]
    for label, run in zip(comparison.labels, comparison.runs, strict=True):
        lines += ["", f"## {_text(label)}", "", *_made(run)]
    return "\n".join(lines) + "\n"


def _made(run: Figures) -> list[str]:
    """How a run was made, and the config that makes it again."""
    facts = [f"* {key}: {_text(value)}" for key, value in origin(run)]
    config = config_text(run)
    fence = "`" * max(3, _backticks(config) + 1)
    return [*facts, "", f"{fence}toml", config, fence]


def _csv(header: list[str], rows: list[list]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_number(cell) for cell in row] for row in rows])
    return text.getvalue()


def _number(value):
    """Nine digits are more than any of these numbers means; whole ones are exact."""
    return f"{value:.9g}" if isinstance(value, float) else value


def _code(said: str) -> str:
    """A Markdown code span, with more backticks around it than stand together in it."""
    fence = "`" * (_backticks(said) + 1)
    room = " " if said.startswith("`") or said.endswith("`") else ""
    return f"{fence}{room}{said}{room}{fence}"


def _backticks(said: str) -> int:
    """How many stand together at most."""
    return max(map(len, re.findall("`+", said)), default=0)


def _text(said: str) -> str:
    """Text that Markdown shall not take for HTML."""
    return escape(said, quote=False)


def _table(header: list[str], rows, align: str = "") -> list[str]:
    """A Markdown table; align: "l" or "r" for each column, by default "r"."""
    marks = [":---" if mark == "l" else "---:" for mark in align.ljust(len(header), "r")]
    lines = [header, marks, *rows]
    return [
        "| " + " | ".join(_text(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    ]
