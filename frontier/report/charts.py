"""The charts of a report, drawn once and kept as PNG or as SVG inside a page.

A chart is drawn by a function on a matplotlib figure, whatever that is to become.
"""

import io
from collections.abc import Callable
from math import ceil, log10

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator

from frontier.report.comparison import FEW, Comparison
from frontier.report.figures import Figures
from frontier.report.page_svg import METADATA, for_a_page
from frontier.report.palette import ACCENT, INK, LINE, QUIET, SECOND
from frontier.text import brief, counted, power, size

DASHES = ("-",) * 6 + ("--",) * 6
RUNS = (ACCENT, SECOND, "#4d9221", "#b2772b", "#8e6bb5", "#5b6875")
"""Colours of the runs of a comparison; beyond these, dashes tell them apart."""

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "frontier",
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}
PAGE = {"font.size": 11}
PAPER = {"font.size": 14, "figure.facecolor": "white", "axes.titlesize": 15}
"""For a picture of 16 cm that is printed 8 cm wide."""

PAPER_INCHES, DPI = 6.3, 200
PAGE_INCHES = 480 / 72
"""How wide a chart in a page is drawn: narrow, so that its letters are legible on a telephone."""

LEGEND_LINE, LEGEND_LETTERS = 0.25, 52
"""Of a legend below the axes: inches that a line needs, and letters for which it has room."""

MOST_BARS = 400
"""Of more layers the outline is drawn, as bars would be too thin to see."""


def layers_png(run: Figures) -> bytes:
    """The states of the layers, linear above log, as a picture for a paper."""
    return _png(_draw_layers, run, _title(run))


def comparison_png(comparison: Comparison) -> bytes:
    """The layers of several runs as lines, linear above log."""
    return _png(_draw_lines, comparison, comparison.title)


def report_charts(run: Figures) -> dict[str, Markup]:
    """The charts of a run's page as SVG, by name; none if it has no layer yet."""
    if not run.layers:
        return {}
    said = f"of each depth from 0 to {run.depth}"
    states = {f"layer-{of.depth}": counted(of.states, "state") for of in run.layers}
    states |= {f"{key}-log": tip for key, tip in states.items()}
    costs = {f"seconds-{of.depth}": brief(of.seconds) for of in run.layers}
    costs |= {f"bytes-{of.depth}": size(of.bytes) for of in run.layers}
    return {
        "layers": _svg(_draw_layers, run, 5.6, "layers", f"States {said}, linear and log", states),
        "share": _svg(
            _draw_share, run, 2.8, "share", "Share of states up to each depth", {"share": "share"}
        ),
        "cost": _svg(_draw_cost, run, 4.4, "cost", f"Seconds and bytes {said}", costs),
    }


def comparison_charts(comparison: Comparison) -> dict[str, Markup]:
    """The charts of the page of several runs."""
    if comparison.depth is None:
        return {}
    of = f"of each depth, of {comparison.title}"
    tips = {f"run-{i}": name for i, name in enumerate(comparison.labels)}
    logs, shares = (
        {f"{key}-{kind}": tip for key, tip in tips.items()} for kind in ("log", "share")
    )
    below = LEGEND_LINE * ceil(len(tips) / _columns(comparison)) if _is_crowded(comparison) else 0
    return {
        "layers": _svg(
            _draw_lines, comparison, 5.6 + below, "layers", f"States {of}, linear and log",
            tips | logs,
        ),
        "share": _svg(
            _draw_shares, comparison, 3.4 + below, "share", f"Share of states {of}", shares
        ),
    }  # fmt: skip


def _title(run: Figures) -> str:
    title = run.puzzle.title
    return title if run.complete else f"{title}, {run.standing}"


def _draw_layers(canvas: Canvas, run: Figures) -> None:
    linear, log = _linear_and_log(canvas, max(run.counts, default=1))
    _draw_bars(linear, run.counts, ACCENT, "layer-{}")
    _draw_bars(log, run.counts, ACCENT, "layer-{}-log", bottom=0.5)


def _draw_lines(canvas: Canvas, comparison: Comparison) -> None:
    most = max((max(run.counts, default=1) for run in comparison.runs), default=1)
    linear, log = _linear_and_log(canvas, most)
    counts = [run.counts for run in comparison.runs]
    _lines(linear, comparison, counts, "run-{}")
    _lines(log, comparison, counts, "run-{}-log")
    _legend(canvas, comparison)


def _draw_shares(canvas: Canvas, comparison: Comparison) -> None:
    """As a share of the states of its puzzle a small one is as high as a large one."""
    axes = canvas.add_subplot()
    shares = [[layer.share for layer in run.layers] for run in comparison.runs]
    _lines(axes, comparison, shares, "run-{}-share")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axes.set_ylabel("share of states")
    _by_depth(axes)
    _legend(canvas, comparison)


def _lines(axes: Axes, comparison: Comparison, values: list[list], gid: str) -> None:
    """A line for each run, named by `gid`; values: of each run by depth."""
    for number, (label, of) in enumerate(zip(comparison.labels, values, strict=True)):
        axes.plot(
            range(len(of)), of, color=RUNS[number % len(RUNS)], label=label,
            linestyle=DASHES[number % len(DASHES)], linewidth=1.8, gid=gid.format(number),
        )  # fmt: skip


def _legend(canvas: Canvas, comparison: Comparison) -> None:
    """Among the lines, or below them where it would hide them."""
    if not _is_crowded(comparison):
        canvas.axes[0].legend(loc="best")
        return
    lines = canvas.axes[0].get_legend_handles_labels()
    canvas.legend(*lines, loc="outside lower center", ncols=_columns(comparison))


def _is_crowded(comparison: Comparison) -> bool:
    return len(comparison.runs) > FEW


def _columns(comparison: Comparison) -> int:
    """Of a legend below the axes."""
    return max(1, min(4, LEGEND_LETTERS // (max(map(len, comparison.labels)) + 7)))


def _draw_share(canvas: Canvas, run: Figures) -> None:
    axes = canvas.add_subplot()
    shares = [layer.share_so_far for layer in run.layers]
    axes.plot(range(len(shares)), shares, color=ACCENT, linewidth=1.8, gid="share")
    axes.axvline(run.median, color=SECOND, linewidth=1, linestyle="--")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axes.set_ylabel("states up to here")
    _by_depth(axes)


def _draw_cost(canvas: Canvas, run: Figures) -> None:
    above, below = canvas.subplots(2, 1, sharex=True)
    seconds = [layer.seconds for layer in run.layers]
    unit, factor = ("seconds", 1) if max(seconds) >= 1 else ("milliseconds", 1000)
    _draw_bars(above, [factor * value for value in seconds], ACCENT, "seconds-{}")
    _draw_bars(below, [layer.bytes for layer in run.layers], SECOND, "bytes-{}")
    above.set_ylabel(unit)
    below.set_ylabel("bytes written")
    below.yaxis.set_major_formatter(EngFormatter("B"))
    above.yaxis.grid(True)
    _by_depth(below)


def _draw_bars(axes: Axes, values: list, colour: str, gid: str, bottom: float = 0) -> None:
    """A bar for each depth, named by `gid`."""
    if len(values) > MOST_BARS:
        edges = [depth - 0.5 for depth in range(len(values) + 1)]
        axes.stairs(values, edges, baseline=bottom, fill=True, color=colour)
        return
    bars = axes.bar(
        range(len(values)), [value - bottom for value in values], 0.8, bottom, color=colour
    )
    for depth, bar in enumerate(bars):
        bar.set_gid(gid.format(depth))
        bar.set_clip_on(False)  # or each would say by what


def _linear_and_log(canvas: Canvas, most: int) -> tuple[Axes, Axes]:
    """Axes for states by depth, one above the other."""
    linear, log = canvas.subplots(2, 1, sharex=True)
    digits = (len(str(most)) - 1) // 3 * 3
    linear.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count / 10**digits:g}"))
    linear.set_ylabel(f"states ({power(digits)})" if digits else "states")
    log.set_yscale("log")
    log.set_ylim(0.5, 3 * most)
    log.yaxis.set_major_formatter(FuncFormatter(lambda count, _: power(round(log10(count)))))
    log.minorticks_off()
    log.set_ylabel("states, log")
    linear.yaxis.grid(True)
    _by_depth(log)
    return linear, log


def _by_depth(axes: Axes) -> None:
    axes.yaxis.grid(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12, steps=[1, 2, 5, 10]))
    axes.set_xlabel("depth (moves)")
    axes.margins(x=0.01)


def _png(draw: Callable, subject, title: str) -> bytes:
    target = io.BytesIO()
    with matplotlib.rc_context(STYLE | PAPER):
        canvas = Canvas(figsize=(PAPER_INCHES, PAPER_INCHES * 1.05), layout="constrained")
        draw(canvas, subject)
        canvas.axes[0].set_title(title, wrap=True)
        canvas.savefig(target, format="png", dpi=DPI, metadata={"Software": None})
    return target.getvalue()


def _svg(
    draw: Callable, subject, height: float, name: str, label: str, tips: dict[str, str]
) -> Markup:
    """A chart as an element of a page. tips: what is said of the parts that have such a gid."""
    target = io.BytesIO()
    with matplotlib.rc_context(STYLE | PAGE):
        canvas = Canvas(figsize=(PAGE_INCHES, height), layout="constrained")
        draw(canvas, subject)
        canvas.savefig(target, format="svg", metadata=METADATA)
    return for_a_page(target.getvalue(), name, label, tips)
