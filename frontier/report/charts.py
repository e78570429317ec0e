"""The charts of a report, drawn by matplotlib: as pictures for papers, and as SVG inside a page.

A page holds each chart twice, for a screen and for a telephone, and shows the one that is legible
where it is read (``templates/report_style.html``).
"""

import io
import re
from collections.abc import Callable
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import EngFormatter, PercentFormatter

from frontier.report.axes import (
    LARGE,
    PAPER,
    SMALL,
    Size,
    leave_room,
    legend,
    mark_end,
    mark_peak,
    of_states,
    stacked,
    whole,
)
from frontier.report.colours import ACCENT, INK, LINE, QUIET, SECOND
from frontier.report.comparison import Comparison
from frontier.report.statistics import RunStatistics
from frontier.text import brief, counted, size

RUNS = (ACCENT, SECOND, "#4d9221", "#b2772b", "#8e6bb5", "#5b6875")
DASHES = tuple((0, of) for of in ((), (5, 2), (1, 1), (6, 2, 1, 2), (10, 3), (3, 2, 1, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Lines of a comparison differ in colour, dashes and in the marker at their peak and end; there
are as many colours as dashes, and one marker more, so that 42 runs differ in all but colour."""

MOST_BARS = 400
"""More layers than this are drawn as an outline, as bars would be too thin to see."""

DPI = 200

THEME = {INK: "--ink", QUIET: "--quiet", LINE: "--line", ACCENT: "--accent", SECOND: "--second"}
"""The colours of a drawing, and the variables of the page that replace them (``base.html``)."""

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""The metadata for `savefig`, without what matplotlib writes about itself, with links."""


def report_picture(subject: RunStatistics | Comparison, kind: str) -> bytes:
    """The states of the layers, linear above logarithmic, for a paper: bars of one run, lines of
    several. kind: "png", "pdf" or "svg"."""
    if isinstance(subject, Comparison):
        return _picture(_draw_lines, subject, subject.title, kind)
    title = f"{subject.name}: {subject.puzzle.title}"
    title = title if subject.complete else f"{title}, {subject.standing}"
    return _picture(_draw_layers, subject, title, kind)


def report_charts(run: RunStatistics) -> dict[str, Markup]:
    """The charts of the page of a run as SVG, by name; none if the run has no layer yet."""
    if not run.layers:
        return {}
    which = f"of each depth from 0 to {run.depth}"
    states = {f"layer-{of.depth}": counted(of.states, "state") for of in run.layers}
    states |= {f"{key}-log": tip for key, tip in states.items()}
    costs = {f"seconds-{of.depth}": brief(of.seconds) for of in run.layers}
    costs |= {f"bytes-{of.depth}": size(of.bytes) for of in run.layers}
    share = {"share": "share"}
    return {
        "layers": _svg(_draw_layers, run, "layers", f"States {which}, linear and log", states),
        "share": _svg(_draw_share, run, "share", "Share of states up to each depth", share),
        "cost": _svg(_draw_cost, run, "cost", f"Time and bytes {which}", costs),
    }


def comparison_charts(comparison: Comparison) -> dict[str, Markup]:
    """The charts of the page of several runs."""
    if not comparison.depths:
        return {}
    of = f"of each depth, of {comparison.title}"
    tips = {f"run-{i}": name for i, name in enumerate(comparison.labels)}
    logs, shares = (
        {f"{key}-{kind}": tip for key, tip in tips.items()} for kind in ("log", "share")
    )
    label = f"States {of}, linear and log"
    return {
        "layers": _svg(_draw_lines, comparison, "layers", label, tips | logs),
        "share": _svg(_draw_shares, comparison, "share", f"Share of states {of}", shares),
    }


def _draw_layers(run: RunStatistics, size: Size, title: str = "") -> Canvas:
    depth, most = run.depth or 0, max(run.counts, default=1)
    canvas, (linear, log) = of_states(size, depth, most, title)
    _draw_bars(linear, run.counts, ACCENT, "layer-{}")
    _draw_bars(log, run.counts, ACCENT, "layer-{}-log", bottom=0.5)
    if run.layers:
        mark_peak(linear, size, run.fullest.depth, most)
        mark_end(log, size, depth, run.counts[-1])
    return canvas


def _draw_lines(comparison: Comparison, size: Size, title: str = "") -> Canvas:
    most = max((max(run.counts, default=1) for run in comparison.runs), default=1)
    counts, depth = [run.counts for run in comparison.runs], max(0, len(comparison.depths) - 1)
    canvas, (linear, log) = of_states(size, depth, most, title, marked=False)
    _draw_each(linear, comparison, counts, size, "run-{}")
    _draw_each(log, comparison, counts, size, "run-{}-log")
    legend(log, size)
    return canvas


def _draw_shares(comparison: Comparison, size: Size) -> Canvas:
    """Draw the layers as shares of all states, so that a small puzzle is as high as a large one."""
    shares = [[layer.share for layer in run.layers] for run in comparison.runs]
    canvas, (axes,) = stacked(size, ["share of the states of each puzzle"], comparison.depths[-1])
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    leave_room(axes, size, 0, max(map(max, filter(None, shares))), marked=False)
    _draw_each(axes, comparison, shares, size, "run-{}-share")
    legend(axes, size)
    return canvas


def _draw_each(
    axes: Axes, comparison: Comparison, values: list[list], size: Size, gid: str
) -> None:
    """A line for each run, named by `gid`; values: of each run by depth."""
    for number, (label, of) in enumerate(zip(comparison.labels, values, strict=True)):
        axes.plot(
            range(len(of)), of, color=RUNS[number % len(RUNS)], label=label,
            linestyle=DASHES[number % len(DASHES)], linewidth=1.8, gid=gid.format(number),
            marker=MARKERS[number % len(MARKERS)], markersize=0.5 * size.letters,
            markevery=sorted({of.index(max(of)), len(of) - 1}) if of else None,
            clip_on=False,
        )  # fmt: skip


def _draw_share(run: RunStatistics, size: Size) -> Canvas:
    canvas, (axes,) = stacked(size, ["share of states up to each depth"], run.depth)
    shares = [layer.share_so_far for layer in run.layers]
    axes.plot(range(len(shares)), shares, color=ACCENT, linewidth=1.8, gid="share")
    axes.axvline(run.median, color=SECOND, linewidth=1, linestyle="--")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    return canvas


def _draw_cost(run: RunStatistics, size: Size) -> Canvas:
    seconds = [layer.seconds for layer in run.layers]
    unit, factor = ("seconds", 1) if max(seconds) >= 1 else ("milliseconds", 1000)
    titles = [f"time of each layer ({unit})", "bytes written"]
    canvas, (above, below) = stacked(size, titles, run.depth)
    _draw_bars(above, [factor * value for value in seconds], ACCENT, "seconds-{}")
    _draw_bars(below, [layer.bytes for layer in run.layers], SECOND, "bytes-{}")
    below.yaxis.set_major_formatter(EngFormatter("B"))
    return canvas


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
        bar.set_clip_on(False)  # else each bar would name its clip path


def _picture(draw: Callable, subject, title: str, kind: str) -> bytes:
    """A chart as a file. The file holds no date, so that equal runs make equal files."""
    look = {"figure.facecolor": "white", "svg.fonttype": "path", "svg.hashsalt": "frontier"}
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": METADATA}
    look |= {"pdf.fonttype": 42, "savefig.dpi": DPI}
    return _saved(draw, subject, PAPER, look, kind, metadata[kind], title)


def _svg(draw: Callable, subject, name: str, label: str, tips: dict[str, str]) -> Markup:
    """A chart as elements of a page. tips: the tooltips of the parts that have such a gid."""
    drawn = []
    for kind, of_kind in (("large", LARGE), ("small", SMALL)):
        look = {"svg.fonttype": "none", "svg.hashsalt": f"{kind} {name}"}
        svg = _saved(draw, subject, of_kind, look, "svg", METADATA)
        drawn.append(_for_a_page(svg, kind, label, tips))
    return Markup("\n").join(drawn)


def _saved(
    draw: Callable, subject, size: Size, look: dict, kind: str, metadata: dict, title: str = ""
) -> bytes:
    """A chart as matplotlib saves it. look: rcParams besides those of the size."""
    target = io.BytesIO()
    with matplotlib.rc_context(size.style | look):
        canvas = draw(subject, size, title) if title else draw(subject, size)
        part = whole(canvas, size)
        canvas.savefig(target, format=kind, metadata=metadata, bbox_inches=part)
    return target.getvalue()


def _for_a_page(svg: bytes, kind: str, label: str, tips: dict[str, str]) -> Markup:
    """A chart as an element of a page.

    It takes the page's size and colours, so that it follows the page into dark mode and onto paper,
    and its names and styles do not reach other elements: only what something may refer to keeps its
    id, and what has a tip. svg: a file of matplotlib's with texts kept as texts, and with a salt of
    its own, so that no other chart of the page refers to the same names. kind: "large" or "small",
    a class of the element. label: the text that a screen reader reads. tips: the tooltips of the
    parts that have such a gid.
    """
    root = ElementTree.fromstring(svg)
    for key in ("width", "height", "version"):
        del root.attrib[key]
    root.attrib |= {"role": "img", "aria-label": label, "class": f"chart {kind}"}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    referred = {of for defs in root.iter(f"{{{SVG}}}defs") for of in defs.iter()}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
                parent.remove(child)
        key = None if parent in referred else parent.attrib.pop("id", None)
        if key in tips:
            parent.set("id", f"small-{key}" if kind == "small" else key)
            tip = ElementTree.Element(f"{{{SVG}}}title")
            tip.text = tips[key]
            parent.insert(0, tip)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    drawn = ElementTree.tostring(root, encoding="unicode")
    for colour, variable in THEME.items():
        drawn = drawn.replace(f": {colour}", f": var({variable})")
    drawn = drawn.replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
    return Markup(re.sub(r">\s+<", "><", drawn))
