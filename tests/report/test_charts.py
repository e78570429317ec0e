"""Charts: where their axes stand, what is marked on them, and how their lines differ."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import pytest
from making import made
from matplotlib.colors import to_rgba
from matplotlib.text import Text
from matplotlib.transforms import BboxTransformFrom, TransformedBbox
from sweeps import swept

from frontier.report import charts
from frontier.report.axes import LARGE, PAPER, SMALL, whole
from frontier.report.comparison import Comparison
from frontier.report.statistics import statistics_of

SIZES = (LARGE, SMALL, PAPER)


class Figures(dict):
    """Of runs by their names, made when they are asked for."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __missing__(self, name):
        run = made(self.folder / name, name, until=9 if name == "2x3" else None)
        self[name] = statistics_of(run)
        return self[name]


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    return Figures(tmp_path_factory.mktemp("runs"))


def several(run, number):
    runs = tuple(replace(run, name=f"{run.name} {i}") for i in range(number))
    return Comparison(runs, tuple(of.name for of in runs))


def drawn(draw, subject, size, *more):
    with matplotlib.rc_context(size.style):
        canvas = draw(subject, size, *more)
        canvas.draw_without_rendering()
        return canvas


def box(canvas, artist):
    """Where an artist stands in the picture of its canvas: left, low, right, high as parts."""
    extent = Text.get_window_extent if isinstance(artist, Text) else type(artist).get_window_extent
    picture = TransformedBbox(whole(canvas, PAPER), canvas.dpi_scale_trans)
    return extent(artist).transformed(BboxTransformFrom(picture)).extents


@swept("size", SIZES, few=1)
@swept("name", ["2x4", "2x2", "hexagram", "2x3"], few=1)
def test_axes_of_all_charts_stand_in_one_column(figures, size, name):
    run = figures[name]
    of_several = several(run, 3)
    canvases = [
        *(drawn(draw, run, size) for draw in
          (charts._draw_layers, charts._draw_share, charts._draw_cost)),
        *(drawn(draw, of_several, size) for draw in (charts._draw_lines, charts._draw_shares)),
    ]  # fmt: skip
    axes = [of for canvas in canvases for of in canvas.axes]
    assert len(axes) == 8
    assert (
        len({(round(of.get_position().x0, 9), round(of.get_position().x1, 9)) for of in axes}) == 1
    )
    assert len({of.get_xlim() for of in axes}) == 1


@swept("size", SIZES, few=[SMALL])
@swept("depth", [*range(1, 13), 24, 31, 44, 55, 84, 99, 100, 101, 124, 152], few=[1, 44, 101])
def test_the_last_tick_is_at_the_depth(figures, size, depth):
    layer = figures["2x2"].layers[0]
    layers = tuple(replace(layer, depth=at) for at in range(depth + 1))
    canvas = drawn(charts._draw_layers, replace(figures["2x2"], layers=layers), size)
    ticks = list(canvas.axes[-1].get_xticks())
    assert ticks[0] == 0
    assert ticks[-1] == depth
    assert ticks == sorted(set(ticks))
    boxes = [box(canvas, label) for label in canvas.axes[-1].get_xticklabels()]
    assert all(one[2] < other[0] for one, other in pairwise(boxes))


@swept("size", SIZES, few=[PAPER])
@swept("name", ["2x4", "2x2", "hexagram", "2x3"], few=1)
def test_peak_and_depth_are_marked(figures, size, name):
    """Within the chart, above what they are said of, and not over bars."""
    run = figures[name]
    canvas = drawn(charts._draw_layers, run, size)
    linear, log = canvas.axes
    (peak,) = (text for text in linear.texts if text.get_text())
    (end,) = (text for text in log.texts if text.get_text())
    assert peak.get_text() == f"depth {run.fullest.depth}: {run.fullest.states:,}"
    assert end.get_text() == f"depth {run.depth}: {run.counts[-1]:,}"
    for axes, mark in ((linear, peak), (log, end)):
        left, low, right, high = box(canvas, mark)
        assert 0 <= left < right <= 1
        assert low >= max(box(canvas, bar)[3] for bar in axes.patches)
        assert high <= box(canvas, axes.patch)[3]
        lines = [box(canvas, line)[1] for line in axes.get_ygridlines()]
        assert len(lines) >= 1
        assert not any(low <= line <= high for line in lines)


@swept("size", SIZES, few=[PAPER])
def test_large_numbers_fit_beside_the_axes(figures, size):
    """Labels of ticks and marks, of as many states as the 15-puzzle has."""
    run = figures["2x4"]
    factor = 10**13 // run.states
    layers = tuple(
        replace(
            of, states=of.states * factor, so_far=of.so_far * factor,
            bytes=of.states * factor // 30, seconds=0.3 * of.states,
        )
        for of in run.layers
    )  # fmt: skip
    large = replace(run, layers=layers)
    for draw in (charts._draw_layers, charts._draw_share, charts._draw_cost):
        canvas = drawn(draw, large, size)
        for axes in canvas.axes:
            least, most = axes.get_ylim()
            ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
            shown = [label for at, label in ticks if least <= at <= most]
            assert len(shown) >= 3
            texts = [*shown, *axes.get_xticklabels(), *axes.texts, axes._left_title]
            for text in texts:
                left, low, right, high = box(canvas, text)
                assert min(left, low) >= 0
                assert max(right, high) <= 1


def test_a_title_has_room(figures):
    """Also where it takes several lines: it stands above all else and within the picture."""
    for title in (
        "2×4 tiles",
        "2×4 tiles, not complete (stopped): known to depth 12, 3.00% of all",
    ):
        canvas = drawn(charts._draw_layers, figures["2x4"], PAPER, title)
        (text,) = canvas.texts
        assert text.get_text().split() == title.split()
        left, low, right, high = box(canvas, text)
        assert 0 < left < right < 1
        assert high < 1
        assert low > box(canvas, canvas.axes[0]._left_title)[3]


def test_a_picture_has_the_name_of_the_run_and_of_its_puzzle(figures, monkeypatch):
    """As the page of the run has; a run that is not complete says so too."""
    named = []
    monkeypatch.setattr(charts, "_picture", lambda draw, of, title, kind: named.append(title))
    for name in ("2x4", "2x3"):
        charts.report_picture(figures[name], "png")
    assert named[0] == "2x4: 2×4 tiles"
    assert named[1].startswith("2x3: 2×3 tiles, not complete (")


def test_lines_differ_in_more_than_colour(figures):
    run = figures["2x2"]
    for number in (2, 6, 40):
        canvas = drawn(charts._draw_lines, several(run, number), LARGE)
        for axes in canvas.axes:
            lines = axes.get_lines()
            looks = {(line.get_marker(), line._unscaled_dash_pattern[1]) for line in lines}
            assert len(lines) == number == len(looks)
    colours = [to_rgba(line.get_color()) for line in canvas.axes[0].get_lines()]
    assert len(set(colours)) == len(charts.RUNS)
    markevery = canvas.axes[0].get_lines()[0].get_markevery()
    assert markevery == sorted({run.fullest.depth, run.depth})


@swept("size", SIZES, few=[SMALL])
@swept("number", [2, 7, 20], few=[7])
def test_a_legend_stands_below_the_lines_and_within_the_chart(figures, size, number):
    for draw in (charts._draw_lines, charts._draw_shares):
        canvas = drawn(draw, several(figures["2x4"], number), size)
        legend = canvas.axes[-1].get_legend()
        left, low, right, high = box(canvas, legend)
        assert 0 <= left < right <= 1
        assert low >= 0
        assert high <= box(canvas, canvas.axes[-1].xaxis.label)[1]


@swept(("seconds", "unit"), [(0.002, "milliseconds"), (2.5, "seconds")], few=1)
def test_the_unit_of_times_is_said_once_and_right(figures, seconds, unit):
    layers = tuple(replace(of, seconds=seconds) for of in figures["2x2"].layers)
    run = replace(figures["2x2"], layers=layers)
    chart = charts.report_charts(run)["cost"]
    said = re.findall(r"\b(?:milli)?seconds\b(?!-)", chart, re.IGNORECASE)
    assert said == [unit, unit]  # once in the chart of each size
    canvas = drawn(charts._draw_cost, run, LARGE)
    assert max(bar.get_height() for bar in canvas.axes[0].patches) == pytest.approx(
        seconds * (1000 if unit == "milliseconds" else 1)
    )


@swept("kind", ["png", "pdf", "svg"], few=["svg"])
def test_equal_runs_make_equal_pictures(figures, kind):
    one, other = (charts.report_picture(figures["2x4"], kind) for _ in range(2))
    assert one == other
    if kind == "svg":  # letters are outlines, so that it looks the same where the font is missing
        root = ElementTree.fromstring(one)
        assert not list(root.iter("{http://www.w3.org/2000/svg}text"))
