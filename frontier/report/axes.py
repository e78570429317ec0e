"""The axes of charts: how large they are, where they stand and what is marked on them.

All axes of one size begin and end at the same places across and have the same range of depths, so
that a depth stands in one column in all charts of a page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from frontier.report.colours import INK, LINE, QUIET, SECOND
from frontier.text import power

POINTS = 72
"""The points of an inch; in a page a point is a pixel."""

LEFT, RIGHT, BETWEEN, BELOW = 4.3, 1.2, 3.0, 3.2
"""The room around axes, in letter sizes: for tick labels at the left, at the right, between two
axes, and below the last ones until a legend begins."""

MOST_COLUMNS = 6
"""The number of columns of a legend, at most."""

LETTER = 0.72
"""The average width of a letter of a title, in letter sizes of the chart."""

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
    size: Size, titles: Sequence[str], depth: int, title: str = ""
) -> tuple[Canvas, list[Axes]]:
    """A canvas with axes one above the other, for layers up to a depth.

    titles: the title of each axes. title: that of the whole. What stands above and below all axes
    is beyond the canvas, so a picture of it is that of `whole`.
    """
    letter, number, gap = size.letters, len(titles), BETWEEN * size.letters
    height = number * (size.panel + gap) - gap
    canvas = Canvas(figsize=(size.width / POINTS, height / POINTS))
    left, right = LEFT * letter / size.width, 1 - RIGHT * letter / size.width
    room = {"left": left, "right": right, "top": 1, "bottom": 0, "hspace": gap / size.panel}
    panels = list(canvas.subplots(number, sharex=True, squeeze=False, gridspec_kw=room)[:, 0])
    for axes, of_axes in zip(panels, titles, strict=True):
        axes.set_title(of_axes)
        axes.yaxis.set_major_locator(_few(whole=False))
    _by_depth(panels[-1], depth, size.ticks)
    if title:
        lines = wrap(title, floor((size.width / letter - LEFT - RIGHT) / LETTER))
        above = {"x": left, "y": 1 + 2.2 * letter / height, "ha": "left", "va": "bottom"}
        canvas.suptitle("\n".join(lines), size=1.2 * letter, **above)
    return canvas, panels


def whole(canvas: Canvas, size: Size) -> Bbox:
    """The part of a canvas that a picture shows, in inches: as broad as the canvas, and as high as
    what is drawn."""
    drawn, margin = canvas.get_tightbbox(), 0.5 * size.letters / POINTS
    return Bbox([[0, drawn.y0 - margin], [canvas.get_figwidth(), drawn.y1 + margin]])


def of_states(
    size: Size, depth: int, most: int, title: str = "", marked: bool = True
) -> tuple[Canvas, list[Axes]]:
    """A canvas with a linear axis of up to `most` states, in thousands, millions and so on, above a
    logarithmic one. marked: whether there is room for marks."""
    canvas, (linear, log) = stacked(size, ["states", "states, logarithmic"], depth, title)
    digits = (len(str(most)) - 1) // 3 * 3
    linear.yaxis.set_major_formatter(lambda count, _: f"{count / 10**digits:g}")
    if digits:
        linear.set_title(f"states ({power(digits)})")
    log.set_yscale("log")
    log.yaxis.set_major_formatter(lambda count, _: power(round(log10(count))))
    leave_room(linear, size, 0, most, marked)
    leave_room(log, size, 0.5, most, marked)
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


def legend(axes: Axes, size: Size) -> None:
    """Draw the legend of the last axes below them, in as many columns as there is room for."""
    place = {"loc": "upper left", "bbox_to_anchor": (0, -BELOW * size.letters / size.panel)}
    for columns in range(MOST_COLUMNS, 0, -1):
        drawn = axes.legend(ncols=columns, **place)
        if drawn.get_window_extent().width <= axes.bbox.width:
            break


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
        textcoords="offset points", ha=aside, size=0.92 * size.letters,
    )  # fmt: skip


def mark_end(axes: Axes, size: Size, depth: int, states: int) -> None:
    """Write the states of the last layer at the top, with a line down to them."""
    line = {"arrowstyle": "-", "linestyle": ":", "color": SECOND, "shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        f"depth {depth}: {states:,}", (depth, states), (depth, 1), ha="right", va="top",
        textcoords=axes.get_xaxis_transform(), arrowprops=line | {"relpos": (1, 0)},
        size=0.92 * size.letters,
    )  # fmt: skip
