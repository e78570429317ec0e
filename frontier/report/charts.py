"""The charts of a report, drawn with matplotlib: as files for papers, and as pictures in a page.

Steps show the layers of one run, and lines show the layers of several runs. Charts have a single
width, at which the letters are legible in a column of a page, on a telephone, and in print 8 cm
wide.
"""

import io
from base64 import b64encode
from collections.abc import Callable
from textwrap import fill
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter, ScalarFormatter

from frontier.report.colours import ACCENT, LINE, OKABE_ITO
from frontier.report.statistics import Report

WIDTH, PANEL = 6.3, 2.6
"""The width of a chart, 16 cm, and the height of each of its panels, in inches."""

TITLE, LEGEND = 50, 3
"""The most letters in a line of a title, and the most columns of a legend."""

CHARTS: dict[str, list[tuple[str, str, Callable[[], Any] | None]]] = {
    "layers": [
        ("states", "states", lambda: ScalarFormatter(useMathText=True)),
        ("states, logarithmic", "states", None),
    ],
    "share": [
        ("share of all states at each depth", "share", lambda: PercentFormatter(1)),
        ("share of all states up to each depth", "share_so_far", lambda: PercentFormatter(1)),
    ],
    "cost": [
        ("time of each layer", "seconds", lambda: EngFormatter("s")),
        ("bytes written for each layer", "bytes", lambda: EngFormatter("B")),
    ],
}
"""The panels of each chart: a title, a field of `LayerStatistics`, and the formatter of the axis,
None for a logarithmic scale."""

STYLE = {
    "font.size": 13,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(marker=("None", *"osD^vPX"))
    * (cycler(linestyle=("-", "--", "-.", ":")) + cycler(color=OKABE_ITO[:4])),
    "axes.formatter.limits": (-4, 4),
    "grid.color": LINE,
    "lines.markersize": 4,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "frontier",
}

ADDRESS = "data:image/svg+xml;base64,"
NO_DATE = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""Metadata that omits dates and versions, so that equal runs make equal files."""


def report_picture(report: Report, kind: str) -> bytes:
    """Return a picture of the number of states of each layer, for a paper. kind: "png", "pdf" or
    "svg"."""
    title = report.title
    if report.one and not report.one.complete:
        title += f", {report.one.standing}"
    return _saved(draw(report, "layers", title), kind)


def report_charts(report: Report) -> dict[str, str]:
    """Return each chart of a page by name, as a data URL; no charts if no layer is known yet."""
    if not report.layers:
        return {}
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # letters as text, not outlines
        svg = {name: _saved(draw(report, name), "svg", transparent=True) for name in CHARTS}
    return {name: ADDRESS + b64encode(of).decode() for name, of in svg.items()}


def draw(report: Report, chart: str, title: str = "") -> Figure:
    """Return one of `CHARTS`, with its panels one above another."""
    panels = CHARTS[chart]
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH, PANEL * len(panels) + 0.3), layout="constrained")
        column = figure.subplots(len(panels), sharex=True)
        for axes, (heading, key, form) in zip(column, panels, strict=True):
            axes.set_title(heading)
            axes.set_yscale("linear" if form or not report.layers else "log")
            for label, run in zip(report.labels, report.runs, strict=True):
                values = [getattr(layer, key) for layer in run.layers]
                if report.one:
                    edges = [depth - 0.5 for depth in range(len(values) + 1)]
                    axes.stairs(values, edges, fill=True, color=ACCENT)
                else:
                    axes.plot(values, label=label, markevery=0.1)
            axes.set_ylim(bottom=0 if form else 0.5)
            if form:
                axes.yaxis.set_major_formatter(form())
        column[-1].set_xlabel("depth")
        column[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
        if not report.one:
            lines, labels = axes.get_legend_handles_labels()
            figure.legend(lines, labels, loc="outside lower center", ncols=LEGEND)
        if title:
            figure.suptitle(fill(title, TITLE), x=0.02, ha="left", size="large")
    return figure


def _saved(figure: Figure, kind: str, **options) -> bytes:
    """Return a chart as a file."""
    target = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(target, format=kind, metadata=NO_DATE[kind], **options)
    return target.getvalue()
