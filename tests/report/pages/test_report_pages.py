"""Reports as a browser shows them, on a desk, in a hand and on paper."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from PIL import Image

from frontier.report.charts import STYLE, WIDTH
from frontier.report.formats import report_page
from frontier.report.statistics import Report, statistics_of
from tests.support.sweeps import swept
from tests.support.temporary_runs import made

VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    wanted = (("2x4", None), ("2x3", 12), ("hakoiri-exit", None))
    return {name: statistics_of(made(folder / name, name, until=until)) for name, until in wanted}


class Pages(dict):
    """The files of the reports, by name, each made when it is asked for."""

    def __init__(self, figures, folder):
        runs, many = tuple(figures.values()), 2 * len(figures)
        self.several = Report(runs, tuple(figures))
        self.many = Report(2 * runs, tuple(f"{i}" for i in range(many)))
        self.figures, self.folder = figures, folder

    def __missing__(self, name):
        several = {"several": self.several, "many": self.many}
        of = several.get(name) or Report((self.figures[name],))
        self[name] = self.folder / f"{name}.html"
        self[name].write_text(report_page(of), encoding="utf-8")
        return self[name]


@pytest.fixture(scope="module")
def pages(figures, tmp_path_factory):
    return Pages(figures, tmp_path_factory.mktemp("pages"))


NAMES = ("2x4", "2x3", "hakoiri-exit", "several")


class Reader(HTMLParser):
    """Checks that what is opened is closed, and collects ids and links."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self._look(attributes)

    def handle_startendtag(self, tag, attributes):
        self._look(attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def _look(self, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.append(value)
            if key in ("src", "href", "xlink:href"):
                self.links.append(value)


@swept("name", NAMES, few=["2x4"])
def test_the_page_is_one_well_formed_file(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert len(reader.links) == 3
    assert all(link.startswith("data:image/svg+xml;base64,") for link in reader.links)
    assert set(re.findall(r"https?://[^\"' ]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert text.count("<!doctype") + text.count("<!DOCTYPE") + text.count("<?xml") == 1


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_known_is_there(pages, figures, browser, size, name):
    """Charts, which `tests/report/test_charts.py` looks into, and rows of layers."""
    runs = list(figures.values()) if name == "several" else [figures[name]]
    with browser.open(pages[name], size) as page:
        charts = page.locator(CHARTS)
        assert charts.count() == 3
        assert all(charts.evaluate_all("charts => charts.map(chart => chart.naturalWidth > 300)"))
        said = charts.evaluate_all("charts => charts.map(chart => chart.alt)")
        assert len(set(said)) == 3
        rows = page.locator(".table-of-layers tbody tr")
        assert rows.count() == max(len(run.counts) for run in runs)
        cells = rows.nth(1).locator("td").all_inner_texts()
        states = [f"{run.counts[1]:,}" for run in runs]
        assert cells[1 : 1 + len(runs)] == states


def test_what_is_not_complete_says_so_at_the_top(pages, browser):
    with browser.open(pages["2x3"]) as page:
        assert "not complete" in page.title()
        assert "known to depth 12" in page.locator(".alarm").inner_text()
        assert page.locator(".boards li svg").count() == 1  # the goal alone


def test_boards(pages, figures, browser, size):
    with browser.open(pages["2x4"], size) as page:
        drawn = page.locator(".boards li svg")
        assert drawn.count() == 1 + len(figures["2x4"].boards)
        assert all(drawn.nth(i).bounding_box()["width"] > 50 for i in range(drawn.count()))


@pytest.mark.parametrize("number", [1, 4, 8])
def test_boards_stand_side_by_side(figures, browser, number, tmp_path):
    """As far as there is room."""
    of = figures["2x4"]
    path = tmp_path / "page.html"
    run = replace(of, boards=of.boards * number, farthest=number)
    path.write_text(report_page(Report((run,))))
    with browser.open(path) as page:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            boards = page.locator(".boards").nth(1).locator("li").all()
            boxes = [board.bounding_box() for board in boards]
            assert len(boxes) == number
            first = sum(box["y"] == boxes[0]["y"] for box in boxes)
            assert first == min(number, 4 if width == 1280 else 2)
            assert all(box["x"] + box["width"] <= width for box in boxes)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """As the Web Content Accessibility Guidelines define it, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["2x4", "several"])
def test_charts_are_legible_by_day_and_night(pages, browser, name, scheme):
    """Their ground is that of the page, their letters are far from it, and so are the steps."""
    with browser.open(pages[name], color_scheme=scheme) as page:
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(ground) < 0.1) == (scheme == "dark")
        for chart in page.locator(CHARTS).all():
            picture = Image.open(io.BytesIO(chart.screenshot())).convert("RGB")
            colours = sorted(picture.getcolors(picture.width * picture.height), reverse=True)
            assert str(colours[0][1]) == ground.removeprefix("rgb")
            assert max(contrast(str(colour), ground) for _, colour in colours) > 10
            if name == "2x4":
                assert contrast(str(colours[1][1]), ground) > 3


CHARTS = "img.chart"


@pytest.mark.parametrize("name", NAMES)
def test_charts_and_tables_fit(pages, browser, size, name):
    """Nobody scrolls sideways to see the rest of a chart, and all are of one size."""
    with browser.open(pages[name], size) as page:
        room = page.evaluate("innerWidth - 2 * document.querySelector('h1').offsetLeft")
        assert room >= min(page.viewport_size["width"] - 40, 800)
        charts = [chart.bounding_box() for chart in page.locator(CHARTS).all()]
        assert len({round(chart["width"]) for chart in charts}) == 1
        assert charts[0]["width"] > (room * 0.45 if size == "desktop" else room - 1)
        for selector in (".wide", "table.facts", "pre"):
            boxes = [box.bounding_box() for box in page.locator(selector).all()]
            assert {round(box["width"]) for box in boxes} == {room}
        for table in page.locator(".wide table").all():
            assert table.bounding_box()["width"] >= room - 1


@pytest.mark.parametrize("name", NAMES)
def test_letters_of_charts_are_large_enough(pages, browser, name):
    with browser.open(pages[name]) as page:
        for width, least in [(1280, 11), (900, 11), (390, 9.5), (360, 9), (320, 8)]:
            page.set_viewport_size({"width": width, "height": 800})
            for chart in page.locator(CHARTS).all():
                inches = chart.bounding_box()["width"] / WIDTH
                assert least <= STYLE["font.size"] * inches / 72 < 18


LINES = """cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
}"""
"""The number of lines that the text of a cell takes."""


def test_three_runs_are_read_on_a_telephone_without_scrolling(pages, browser):
    """No column is cut, and no text is broken into a line for each word."""
    with browser.open(pages["several"], "phone") as page:
        for table in page.locator(".wide").all():
            assert table.evaluate("box => box.scrollWidth - box.clientWidth") == 0
        puzzles = page.locator(".side tr", has_text="puzzle").first.locator("td")
        assert puzzles.all_inner_texts() == [
            "2×4 tiles",
            "2×3 tiles",
            "5×4 blocks, 10 pieces (path)",
        ]
        assert max(cell.evaluate(LINES) for cell in puzzles.all()) <= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["2x4", "many"])
def test_a_table_that_is_cut_shows_it(pages, browser, name, scheme):
    """Its edge is shaded as long as there is more behind it, and the first column stays."""
    with browser.open(pages[name], "phone", color_scheme=scheme) as page:
        cut = 0
        for table in page.locator(".wide").all():
            broader = table.evaluate("box => box.scrollWidth - box.clientWidth")
            before = edge(table)
            table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
            if broader > 16:
                cut += 1
                assert abs(before - edge(table)) > 30
                left = table.locator("td, th").first.bounding_box()["x"]
                assert left == pytest.approx(table.bounding_box()["x"], abs=1)
        assert cut > 0


@pytest.mark.parametrize(("name", "scheme"), [("2x4", "dark"), ("many", "light")])
def test_only_a_table_that_is_cut_is_shaded(pages, browser, size, name, scheme):
    """Behind the letters of one that fits there is the ground of the page and nothing else."""
    with browser.open(pages[name], size, color_scheme=scheme) as page:
        page.add_style_tag(content="table { opacity: 0 }")
        found = set()
        for table in page.locator(".wide").all():
            cut = table.evaluate("box => box.scrollWidth > box.clientWidth")
            picture = Image.open(io.BytesIO(table.screenshot())).convert("RGB")
            assert (len(picture.getcolors()) > 1) == cut
            found.add(cut)
        assert False in found


def edge(element):
    """How bright the right edge of an element is, in the row above its last line, 0 to 255."""
    picture = Image.open(io.BytesIO(element.screenshot())).convert("L")
    return picture.getpixel((picture.width - 2, picture.height - 6))


@pytest.mark.parametrize("name", NAMES)
def test_on_paper(pages, browser, name):
    """Everything fits on the width of the paper, and there are a few sheets of it."""
    with browser.open(pages[name]) as page:
        data = page.pdf(format="A4")
        assert data.startswith(b"%PDF")
        assert 1 <= len(re.findall(rb"/Type /Page\b", data)) <= 12
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 700, "height": 990})
        charts = [chart.bounding_box() for chart in page.locator(CHARTS).all()]
        assert {chart["width"] for chart in charts} == {charts[0]["width"]}
        assert {chart["y"] for chart in charts} == {charts[0]["y"]}  # no sheet is left half empty
        assert all(chart["x"] + chart["width"] <= 700 for chart in charts)
        for table in page.locator(".wide").all():
            assert table.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
            positions = table.locator("td, th").evaluate_all(
                "cells => cells.map(cell => getComputedStyle(cell).position)"
            )
            assert set(positions) == {"static"}  # else lines of rows are not printed below them
        for name in ("figure", ".boards li", "table.facts"):  # what must not break is small
            blocks = [block.bounding_box() for block in page.locator(name).all()]
            assert all(block["height"] < 990 / 2 for block in blocks)
        for name, rule, value in (
            ("h2", "breakAfter", "avoid"), ("h2 + p", "breakAfter", "avoid"),
            ("figure", "breakInside", "avoid"), ("pre", "breakInside", "auto"),
        ):  # fmt: skip
            styles = f"parts => parts.map(part => getComputedStyle(part).{rule})"
            assert set(page.locator(name).evaluate_all(styles)) == {value}
