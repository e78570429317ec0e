"""The index of docs/results/ in a browser."""

import pytest
from markupsafe import Markup

from tests.support.commands import script

pytestmark = pytest.mark.sweep

BOARD = Markup('<svg viewBox="0 0 2 1" width="80" height="40"></svg>')


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The file of an index with groups of 11, 5 and 2 cards; the first group has long numbers."""
    results = script("results")

    def cards(number, states):
        facts = [("states", states), ("depth", "84"), ("farthest", "1")]
        return [results.Card(f"{n}", "3×5 tiles", facts, BOARD, [1, 2]) for n in range(number)]

    groups = {
        "Tiles": cards(11, "653,837,184,000"),
        "Sliding blocks": cards(5, "5,443,200"),
        "On graphs": cards(2, "12,012"),
    }
    file = tmp_path_factory.mktemp("index") / "index.html"
    file.write_text(results.index_page(groups), encoding="utf-8")
    return file


def test_cards_stand_in_rows_with_few_empty_places(index, browser):
    rows = """list => {
      const tops = [...list.children].map(card => Math.round(card.getBoundingClientRect().top));
      return [...new Set(tops)].map(top => tops.filter(of => of === top).length);
    }"""
    with browser.open(index) as page:
        found = [group.evaluate(rows) for group in page.locator(".cards").all()]
    assert found == [[4, 4, 3], [4, 1], [2]]


@pytest.mark.parametrize("width", [1280, 840, 720, 390])
def test_a_number_stands_beside_its_name(index, browser, width):
    with browser.open(index) as page:
        page.set_viewport_size({"width": width, "height": 800})
        tops = page.locator(".cards dl div").evaluate_all(
            "facts => facts.map(fact => [...fact.children].map(part => part.offsetTop))"
        )
        assert len(tops) == 3 * (11 + 5 + 2)
        assert all(name == number for name, number in tops)
