"""The axes of charts: how large they are, where they stand and what is marked on them.

All axes of one size begin and end at the same places across and have the same range of depths, so
that a depth stands in one column in all charts of a page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from frontier.report.colours import INK, LINE, QUIET, SECOND
from frontier.text import power

POINTS = 72
"""The points of an inch; in a page a point is a pixel."""

LEFT, RIGHT, ABOVE, BELOW, BETWEEN = 4.3, 1.2, 2.2, 3.2, 0.8
"""The room around axes, in letter sizes: for tick labels at the left, at the right, for the title
above, for ticks and depths below the last axes, and between axes and the title of the next."""

TITLE_LETTERS, TITLE_LINE = 1.2, 1.7
"""The letter size of a title above all axes, and the height of a line of it, in letter sizes of the
chart."""

LEGEND_LINE, LEGEND_HANDLE = 1.5, 5.5
"""The height of a line of a legend, and the width of its sample, in letter sizes."""

LETTER = 0.6
"""The average width of a letter, in letter sizes."""

MARKED = 1.9
"""The room for a mark above the highest bar, in letter sizes."""


@dataclass(frozen=True)
class Size:
    """The size at which a chart is drawn.

    width, panel: the width of the chart and the height of each of its axes, in points. letters: the
    letter size in points. ticks: the greatest number of ticks along the depths.
    """

    width: float
    panel: float
    letters: float
    ticks: int

    @property
    def style(self) -> dict:
        """The rcParams of matplotlib."""
        return {
            "font.size": self.letters,
            "font.family": "DejaVu Sans",
            "text.color": INK,
            "axes.titlesize": self.letters,
            "axes.titlecolor": QUIET,
            "axes.titlelocation": "left",
            "axes.titlepad": 0.6 * self.letters,
            "axes.labelcolor": QUIET,
            "axes.edgecolor": QUIET,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "axes.axisbelow": True,
            "axes.facecolor": "none",
            "figure.facecolor": "none",
            "xtick.color": QUIET,
            "ytick.color": QUIET,
            "grid.color": LINE,
            "grid.linewidth": 0.8,
            "legend.frameon": False,
            "legend.borderpad": 0,
            "legend.borderaxespad": 0,
            "legend.handlelength": 3.5,
            "legend.columnspacing": 1.2,
        }


LARGE = Size(856, 190, 14, 15)
"""The size for a page on a screen, as wide as its text, and on paper."""

SMALL = Size(340, 150, 13, 6)
"""The size for a page on a telephone."""

PAPER = Size(453.6, 190, 13, 8)
"""The size for a picture of 16 cm that is printed half as wide."""


def stacked(
    size: Size, titles: Sequence[str], depth: int, title: str = "", labels: Sequence[str] = ()
) -> tuple[Canvas, list[Axes]]:
    """A canvas with axes one above the other, for layers up to a depth.

    titles: the title of each axes. title: that of the whole. labels: those of a legend below the
    axes, for which room is left; `legend` draws it.
    """
    letter, number = size.letters, len(titles)
    lines = wrap(title, floor((size.width / letter - LEFT - RIGHT) / LETTER / TITLE_LETTERS))
    top = (0.5 + TITLE_LINE * len(lines)) * letter if lines else 0
    bottom = (BELOW + LEGEND_LINE * _lines(size, labels)) * letter
    gap = (ABOVE + BETWEEN) * letter
    height = top + ABOVE * letter + number * (size.panel + gap) - gap + bottom
    canvas = Canvas(figsize=(size.width / POINTS, height / POINTS))
    left = LEFT * letter / size.width
    room = {
        "left": left,
        "right": 1 - RIGHT * letter / size.width,
        "top": 1 - (top + ABOVE * letter) / height,
        "bottom": bottom / height,
        "hspace": gap / size.panel,
    }
    panels = list(canvas.subplots(number, sharex=True, squeeze=False, gridspec_kw=room)[:, 0])
    for axes, of_axes in zip(panels, titles, strict=True):
        axes.set_title(of_axes)
        axes.yaxis.set_major_locator(_few(whole=False))
    _by_depth(panels[-1], depth, size.ticks)
    canvas.text(
        left, 1 - 0.5 * letter / height, "\n".join(lines), va="top",
        size=TITLE_LETTERS * letter, linespacing=1.2,
    )  # fmt: skip
    return canvas, panels


def of_states(
    size: Size, depth: int, most: int, title: str = "", labels: Sequence[str] = ()
) -> tuple[Canvas, list[Axes]]:
    """A canvas with a linear axis of up to `most` states, in thousands, millions and so on, above a
    logarithmic one. Without labels there is room for marks."""
    canvas, (linear, log) = stacked(size, ["states", "states, logarithmic"], depth, title, labels)
    digits = (len(str(most)) - 1) // 3 * 3
    linear.yaxis.set_major_formatter(lambda count, _: f"{count / 10**digits:g}")
    if digits:
        linear.set_title(f"states ({power(digits)})")
    log.set_yscale("log")
    log.yaxis.set_major_formatter(lambda count, _: power(round(log10(count))))
    leave_room(linear, size, 0, most, marked=not labels)
    leave_room(log, size, 0.5, most, marked=not labels)
    return canvas, [linear, log]


def _few(whole: bool) -> MaxNLocator:
    """The ticks of a linear vertical axis; whole: only at whole numbers."""
    return MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=whole)


def _by_depth(axes: Axes, depth: int, most: int) -> None:
    """Set up the axis of depths, which has a tick at the last depth."""
    ticks = MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=True).tick_values(0, depth)
    step = ticks[1] - ticks[0]
    axes.set_xticks([tick for tick in ticks if 0 <= tick < depth - 0.6 * step] + [depth])
    axes.set_xlim(-0.8, depth + 0.8)
    axes.set_xlabel("depth (moves)")


def legend(canvas: Canvas, size: Size, labels: Sequence[str]) -> None:
    """Draw the legend below all axes."""
    lines, _ = canvas.axes[0].get_legend_handles_labels()
    height = canvas.get_figheight() * POINTS
    canvas.legend(
        lines, labels, loc="lower left", ncols=_columns(size, labels),
        bbox_to_anchor=(LEFT * size.letters / size.width, 0.3 * size.letters / height),
    )  # fmt: skip


def _columns(size: Size, labels: Sequence[str]) -> int:
    room = size.width - (LEFT + RIGHT) * size.letters
    broad = (LETTER * max(map(len, labels)) + LEGEND_HANDLE) * size.letters
    return max(1, min(len(labels), floor(room / broad)))


def _lines(size: Size, labels: Sequence[str]) -> int:
    return ceil(len(labels) / _columns(size, labels)) if labels else 0


def of_shares(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")


def leave_room(axes: Axes, size: Size, low: float, most: float, marked: bool) -> None:
    """Let the axis reach from `low` to a little above `most`, or to where a mark is written. It has
    ticks up to `most` alone, so that no line goes through a mark."""
    share = 1 - (MARKED if marked else 0.3) * size.letters / size.panel
    if axes.get_yscale() == "log":
        axes.set_ylim(low, low * (most / low) ** (1 / share))
        ticks = axes.get_yticks()
    else:
        axes.set_ylim(low, low + (most - low) / share)
        ticks = _few(whole=most >= 1).tick_values(low, most)
    axes.set_yticks([tick for tick in ticks if low <= tick <= most])
    axes.minorticks_off()


def mark_peak(axes: Axes, size: Size, depth: int, states: int) -> None:
    """Write the height of a bar above it."""
    low, high = axes.get_xlim()
    aside = ("left", "center", "right")[min(2, floor(3 * (depth - low) / (high - low)))]
    axes.annotate(
        f"depth {depth}: {states:,}", (depth, states), (0, 0.3 * size.letters),
        textcoords="offset points", ha=aside, va="bottom", size=0.92 * size.letters,
    )  # fmt: skip


def mark_end(axes: Axes, size: Size, depth: int, states: int) -> None:
    """Write the states of the last layer at the right end, with a line down to them."""
    foot = 1 - 1.3 * size.letters / size.panel
    axes.annotate(
        "", (depth, states), (depth, foot), textcoords=axes.get_xaxis_transform(),
        arrowprops={
            "arrowstyle": "-", "linestyle": ":", "color": SECOND, "shrinkA": 0, "shrinkB": 0,
        },
    )  # fmt: skip
    axes.text(
        1, 1, f"depth {depth}: {states:,}", transform=axes.transAxes, ha="right", va="top",
        size=0.92 * size.letters,
    )  # fmt: skip
