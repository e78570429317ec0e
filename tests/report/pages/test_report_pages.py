"""Reports as a browser shows them, on a desk, in a hand and on paper."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from making import made
from PIL import Image
from sweeps import swept

from frontier.report.comparison import Comparison
from frontier.report.html import across
from frontier.report.report_pages import report_page
from frontier.report.statistics import statistics_of

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
        self.several = Comparison(runs, tuple(figures))
        self.many = Comparison(2 * runs, tuple(f"{i}" for i in range(many)))
        self.figures, self.folder = figures, folder

    def __missing__(self, name):
        of = {"several": self.several, "many": self.many, **self.figures}[name]
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


@swept("name", NAMES, few=["2x4", "several"])
def test_the_page_is_one_well_formed_file(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith("#") for link in reader.links)
    referred = {*(link[1:] for link in reader.links), *re.findall(r"url\(#([^)]*)\)", text)}
    assert referred <= set(reader.ids)
    assert set(re.findall(r"https?://[^\"' ]*", text)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert text.count("<!doctype") + text.count("<!DOCTYPE") + text.count("<?xml") == 1


HEIGHTS = """([gid, number]) => [...Array(number).keys()].map(depth => {
  const bar = document.getElementById(gid.replace("?", depth));
  return bar && bar.querySelector("path").getBoundingClientRect().height;
})"""


def shown(size, gid):
    """The id of a part of the chart that is shown at a size."""
    return f"small-{gid}" if size == "phone" else gid


@pytest.mark.parametrize("name", NAMES[:3])
def test_all_bars_are_there_and_as_high_as_they_should(pages, figures, browser, size, name):
    counts = figures[name].counts
    with browser.open(pages[name], size) as page:
        for gid in ("layer-?", "layer-?-log", "seconds-?", "bytes-?"):
            heights = page.evaluate(HEIGHTS, [shown(size, gid), len(counts)])
            assert None not in heights
            if gid == "layer-?":
                unit = max(heights) / max(counts)
                for height, count in zip(heights, counts, strict=True):
                    assert abs(height - count * unit) < 1
        assert page.locator(".table-of-layers tbody tr").count() == len(counts)
        tip = page.locator(f"#{shown(size, 'layer-1')} title").text_content()
        assert f"{counts[1]:,} state" in tip


def test_lines_of_several(pages, figures, browser, size):
    with browser.open(pages["several"], size) as page:
        for gid, value in (("run-?", "states"), ("run-?-log", "states"), ("run-?-share", "share")):
            heights = page.evaluate(HEIGHTS, [shown(size, gid), 3])
            assert None not in heights
            if gid != "run-?-log":
                most = [max(getattr(at, value) for at in of.layers) for of in figures.values()]
                assert heights.index(max(heights)) == most.index(max(most))
        assert page.locator(".table-of-layers tbody tr").count() == max(
            len(of.counts) for of in figures.values()
        )


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


ROWS = """boxes => {
  const rows = {};
  for (const box of boxes.map(box => box.getBoundingClientRect()))
    (rows[Math.round(box.top)] ??= []).push(Math.round(box.right));
  return Object.values(rows);
}"""
"""The right edges of boxes, by rows from above."""


@pytest.mark.parametrize("number", [1, 2, 4, 7, 8])
def test_boards_and_figures_stand_in_full_rows(figures, browser, number, tmp_path):
    """As far as their number lets them."""
    of = figures["2x4"]
    path = tmp_path / "page.html"
    path.write_text(report_page(replace(of, boards=of.boards * number, farthest=number)))
    with browser.open(path) as page:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            rows = page.locator(".boards").nth(1).locator("li").evaluate_all(ROWS)
            most = max(map(len, rows))
            assert sum(map(len, rows)) == number
            if number in (4, 8):
                assert {len(row) for row in rows} == {most}
            assert most > 1 or number == 1
            tiles = page.locator(".figures div").evaluate_all(ROWS)
            assert len({row[-1] for row in tiles}) == 1


@pytest.mark.parametrize(
    ("number", "most", "found"),
    [
        (1, 5, 1),
        (9, 5, 3),
        (10, 5, 5),
        (8, 5, 4),
        (7, 5, 4),
        (7, 8, 7),
        (6, 4, 3),
        (5, 2, 2),
        (0, 4, 1),
    ],
)
def test_as_many_side_by_side_as_leave_few_empty_places(number, most, found):
    assert across(number, most) == found


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
    fill = "element => getComputedStyle(element).fill"
    with browser.open(pages[name], color_scheme=scheme) as page:
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(ground) < 0.1) == (scheme == "dark")
        texts = page.locator(f"{CHARTS} text")
        assert texts.count() > 20
        fills = set(texts.evaluate_all(f"elements => elements.map({fill})"))
        assert all(contrast(colour, ground) > 4.5 for colour in fills)
        if name == "2x4":
            assert contrast(page.locator("#layer-20 path").evaluate(fill), ground) > 3


CHARTS = "svg.chart:visible"


@pytest.mark.parametrize("name", NAMES)
def test_charts_and_tables_are_of_one_width(pages, browser, size, name):
    """Nobody scrolls sideways to see the rest of a chart."""
    with browser.open(pages[name], size) as page:
        room = page.evaluate("innerWidth - 2 * document.querySelector('h1').offsetLeft")
        assert room >= min(page.viewport_size["width"] - 40, 800)
        assert page.locator(CHARTS).count() == (2 if name == "several" else 3)
        for selector in (CHARTS, ".wide", "table.facts", "pre"):
            boxes = [box.bounding_box() for box in page.locator(selector).all()]
            assert {round(box["width"]) for box in boxes} == {room}
        for table in page.locator(".wide table").all():
            assert table.bounding_box()["width"] >= room - 1
        for bar in page.locator(".part").all():
            box = bar.bounding_box()
            assert box["x"] + box["width"] <= page.viewport_size["width"]


@pytest.mark.parametrize("name", NAMES)
def test_letters_of_charts_are_large_enough(pages, browser, name):
    with browser.open(pages[name]) as page:
        for width, least in [(1280, 12.5), (900, 12.5), (390, 12), (360, 11), (320, 10)]:
            page.set_viewport_size({"width": width, "height": 800})
            letters = page.locator(f"{CHARTS} text").evaluate_all(LETTERS)
            assert len(letters) > 20
            assert min(letters) >= least
            assert max(letters) < 18


LETTERS = """texts => texts.map(text =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
"""The size of letters in pixels."""


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
            ("figure", "breakInside", "avoid"), ("pre", "breakInside", "avoid"),
        ):  # fmt: skip
            styles = f"parts => parts.map(part => getComputedStyle(part).{rule})"
            assert set(page.locator(name).evaluate_all(styles)) == {value}


@pytest.mark.sweep
def test_very_many_layers_are_drawn_as_an_outline(tmp_path, monkeypatch):
    """As bars they would be too thin, and the page too large."""
    figures = statistics_of(made(tmp_path / "run", "2x2"))
    many = report_page(figures)
    monkeypatch.setattr("frontier.report.charts.MOST_BARS", 6)
    few = report_page(figures)
    assert 'id="layer-6"' in many
    assert 'id="layer-6"' not in few
    assert "aria-label" in few
