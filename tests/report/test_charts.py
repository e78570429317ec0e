"""Charts: what they show, that it fits, and how their lines differ."""

import re
from base64 import b64decode
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.colors import to_rgba

from frontier.report import charts
from frontier.report.charts import CHARTS, draw, report_charts, report_picture
from frontier.report.statistics import Report, statistics_of
from tests.support.sweeps import swept
from tests.support.temporary_runs import made


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
    return Report(runs, tuple(of.name for of in runs))


def drawn(report, chart, title=""):
    canvas = draw(report, chart, title)
    with matplotlib.rc_context(charts.STYLE):
        canvas.draw_without_rendering()
    return canvas


def shown(axis):
    """The labels of the ticks of an axis that are seen."""
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label for at, label in ticks if low <= at <= high]


def inside(canvas, artist):
    box = artist.get_tightbbox() if hasattr(artist, "get_tightbbox") else artist.get_window_extent()
    room = canvas.bbox.padded(1)
    return room.contains(*box.min) and room.contains(*box.max)


@swept("name", ["2x4", "2x2", "hexagram", "2x3"], few=1)
def test_all_numbers_of_a_run_are_drawn(figures, name):
    """Each layer is a step as high as its number, around its depth."""
    run = figures[name]
    for chart, panels in CHARTS.items():
        canvas = drawn(Report((run,)), chart)
        for axes, (heading, key, _) in zip(canvas.axes, panels, strict=True):
            (steps,) = axes.patches
            values, edges, _ = steps.get_data()
            assert list(values) == [getattr(layer, key) for layer in run.layers]
            assert list(edges) == [depth - 0.5 for depth in range(len(run.layers) + 1)]
            assert axes.get_title(loc="left") == heading
            low, high = axes.get_ylim()
            assert low <= min(values) or low == 0.5
            assert max(values) <= high
    scales = [axes.get_yscale() for axes in drawn(Report((run,)), "layers").axes]
    assert scales == ["linear", "log"]


@pytest.mark.sweep
def test_all_numbers_of_several_runs_are_drawn(figures):
    runs = figures["2x4"], figures["2x2"], figures["2x3"]
    for chart, panels in CHARTS.items():
        canvas = drawn(Report(runs), chart)
        for axes, (_, key, _) in zip(canvas.axes, panels, strict=True):
            for run, line in zip(runs, axes.get_lines(), strict=True):
                assert list(line.get_xdata()) == list(range(len(run.layers)))
                assert list(line.get_ydata()) == [getattr(layer, key) for layer in run.layers]
        (legend,) = canvas.legends
        assert [text.get_text() for text in legend.get_texts()] == ["2x4", "2x2", "2x3"]


@pytest.mark.sweep
@pytest.mark.parametrize("depth", [*range(1, 13), 24, 31, 44, 55, 84, 99, 100, 101, 124, 152])
def test_depths_are_whole_numbers_that_stand_apart(figures, depth):
    layer = figures["2x2"].layers[0]
    layers = tuple(replace(layer, depth=at) for at in range(depth + 1))
    canvas = drawn(Report((replace(figures["2x2"], layers=layers),)), "layers")
    labels = shown(canvas.axes[-1].xaxis)
    ticks = [int(label.get_text()) for label in labels]
    assert ticks == sorted(set(ticks))
    assert len(ticks) >= 2
    boxes = [label.get_window_extent() for label in labels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


@pytest.mark.sweep
def test_large_numbers_fit_beside_the_axes(figures):
    """Of as many states as the 15-puzzle has; and a title of several lines, above all else."""
    run = figures["2x4"]
    factor = 10**13 // run.states
    layers = tuple(
        replace(
            of, states=of.states * factor, so_far=of.so_far * factor,
            bytes=of.states * factor // 30, seconds=0.3 * of.states,
        )
        for of in run.layers
    )  # fmt: skip
    large = Report((replace(run, layers=layers),))
    title = "2×4 tiles, not complete (stopped): known to depth 12, 3.00% of all, and so on"
    for chart in CHARTS:
        canvas = drawn(large, chart, title)
        assert canvas._suptitle.get_text().split() == title.split()
        assert inside(canvas, canvas._suptitle)
        for axes in canvas.axes:
            assert canvas._suptitle.get_window_extent().y0 > axes.get_tightbbox().y1 - 1
            assert len(shown(axes.yaxis)) >= 3
            assert inside(canvas, axes)


def test_a_picture_has_the_name_of_the_run_and_of_its_puzzle(figures, monkeypatch):
    """As the page of the run has; a run that is not complete says so too."""
    named = []
    monkeypatch.setattr(charts, "draw", lambda of, chart, title: named.append(title))
    monkeypatch.setattr(charts, "_saved", lambda figure, kind: b"")
    for name in ("2x4", "2x3"):
        report_picture(Report((figures[name],)), "png")
    assert named[0] == "2×4 tiles"
    assert named[1].startswith("2×3 tiles, not complete (")


@pytest.mark.sweep
def test_lines_differ_in_more_than_colour(figures):
    run = figures["2x2"]
    for number in (2, 4, 32):
        canvas = drawn(several(run, number), "layers")
        for axes in canvas.axes:
            lines = axes.get_lines()
            looks = {(line.get_marker(), line.get_linestyle()) for line in lines}
            assert len(lines) == number == len(looks)
    assert len({to_rgba(line.get_color()) for line in canvas.axes[0].get_lines()}) == 4


@pytest.mark.sweep
@pytest.mark.parametrize("number", [2, 7, 20])
def test_a_legend_stands_below_the_lines_and_within_the_chart(figures, number):
    for chart in CHARTS:
        canvas = drawn(several(figures["2x4"], number), chart)
        (legend,) = canvas.legends
        assert inside(canvas, legend)
        assert legend.get_window_extent().y1 <= canvas.axes[-1].get_tightbbox().y0 + 1


@swept(("seconds", "unit"), [(0.002, "ms"), (2.5, "s")], few=1)
def test_times_have_their_unit(figures, seconds, unit):
    layers = tuple(replace(of, seconds=seconds) for of in figures["2x2"].layers)
    canvas = drawn(Report((replace(figures["2x2"], layers=layers),)), "cost")
    *_, last = [label.get_text().split() for label in shown(canvas.axes[0].yaxis)]
    scale = 1000 if unit == "ms" else 1
    assert last[1] == unit
    assert seconds * scale / 2 <= float(last[0]) <= canvas.axes[0].get_ylim()[1] * scale


@swept("most", [1_500_000, 5_000, 1_000], few=1)
def test_ticks_of_an_axis_are_as_far_apart_as_they_say(figures, most):
    layers = tuple(replace(layer, bytes=most) for layer in figures["2x2"].layers)
    canvas = drawn(Report((replace(figures["2x2"], layers=layers),)), "cost")
    said = [label.get_text() for label in shown(canvas.axes[1].yaxis)]
    ticks = [re.fullmatch(r"([\d.]+) ([kM]?)B", text).groups() for text in said]
    values = [float(number) * {"": 1, "k": 1e3, "M": 1e6}[unit] for number, unit in ticks]
    steps = [after - before for before, after in pairwise(values)]
    assert len(values) >= 3
    assert steps == pytest.approx([steps[0]] * len(steps))


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_equal_runs_make_equal_pictures(figures, kind):
    report = Report((figures["2x4"],))
    one, other = (report_picture(report, kind) for _ in range(2))
    assert one == other
    if kind == "svg":  # letters are outlines, so that it looks the same where the font is missing
        root = ElementTree.fromstring(one)
        assert not list(root.iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.sweep
def test_a_page_holds_its_charts(figures):
    """As pictures that need nothing from outside; without layers there are none."""
    found = report_charts(Report((figures["2x4"],)))
    assert set(found) == set(CHARTS)
    for address in found.values():
        kind, data = address.split(",")
        assert kind == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(b64decode(data)).get("viewBox")
    assert report_charts(Report((replace(figures["2x4"], layers=()),))) == {}
