"""The page of a solution in a browser."""

import re
from itertools import pairwise

import pytest

from frontier.puzzles import block_puzzle, tile_puzzle
from frontier.report.boards import captions_of, film_page
from tests.report.test_boards import solved
from tests.report.test_films import TURNING
from tests.support.sweeps import cases

PUZZLES = {
    "tiles": (tile_puzzle(3, 3), "1 4 2/3 5 0/6 7 8"),
    "path": (
        block_puzzle("..../###./ba..", start="a.../###./b...", metric="path"),
        "a.../###./b...",
    ),
}
TURN = {name: TURNING[name][:2] for name in ("cube", "lamps")}
"""Puzzles whose pieces have other labels when they have turned."""


@pytest.fixture(scope="module", params=cases(PUZZLES, few=["path"]))
def film(request, tmp_path_factory):
    """(puzzle, solution, the file of its page)"""
    return made(*PUZZLES[request.param], tmp_path_factory)


@pytest.fixture(scope="module", params=cases(PUZZLES | TURN, few=["path", "cube"]))
def any_film(request, tmp_path_factory):
    """The same, also of puzzles whose pieces turn."""
    return made(*(PUZZLES | TURN)[request.param], tmp_path_factory)


def made(puzzle, board, tmp_path_factory):
    solution = solved(puzzle, board)
    file = tmp_path_factory.mktemp("film") / "film.html"
    file.write_text(film_page(puzzle, solution, "A <title> & more"), encoding="utf-8")
    return puzzle, solution, file


def middles(page, inside):
    """Label -> where it is seen on the screen, measured from the board, in sides of the board."""
    return page.evaluate(
        """(inside) => {
          const board = document.querySelector(inside + " svg").getBoundingClientRect();
          const texts = [...document.querySelectorAll(inside + " svg text")]
            .filter((t) => getComputedStyle(t).visibility === "visible");
          return Object.fromEntries(texts.map((t) => {
            const box = t.getBoundingClientRect();
            return [t.textContent, [
              Math.round(100 * ((box.left + box.right) / 2 - board.left) / board.width),
              Math.round(100 * ((box.top + box.bottom) / 2 - board.top) / board.height),
            ]];
          }));
        }""",
        inside,
    )


def near(one, other):
    return one.keys() == other.keys() and all(
        abs(a - b) <= 2 for key in one for a, b in zip(one[key], other[key], strict=True)
    )


def settle(page):
    page.evaluate("document.getAnimations().forEach((a) => a.finish())")


def test_steps_show_the_boards_of_the_strip(browser, any_film, size):
    puzzle, solution, file = any_film
    with browser.open(file, size) as page:
        assert page.title() == "A <title> & more"
        seen = []
        for position in range(solution.distance + 1):
            assert page.text_content("#now") == captions_of(puzzle, solution)[position]
            settle(page)
            seen.append(middles(page, "#stage"))
            assert near(seen[-1], middles(page, f"#strip li:nth-child({position + 1})"))
            labels = {
                piece.label for piece in puzzle.notation.picture(solution.boards[position]).pieces
            }
            assert set(seen[-1]) == labels
            page.keyboard.press("ArrowRight")
        assert all(one != other for one, other in pairwise(seen))
        for position in reversed(range(solution.distance)):
            page.click("#back")
            settle(page)
            assert near(middles(page, "#stage"), seen[position])
        assert page.is_disabled("#back")


@pytest.mark.sweep
def test_pieces_slide(browser, film):
    """In the middle of a move its piece is neither where it was nor where it comes to."""
    puzzle, solution, file = film
    with browser.open(file) as page:
        before = middles(page, "#stage")
        page.click("#on")
        page.evaluate(
            "document.getAnimations().forEach((a) => { a.pause(); a.currentTime = 100; })"
        )
        between = middles(page, "#stage")
        page.evaluate("document.getAnimations().forEach((a) => a.finish())")
        after = middles(page, "#stage")
        (moved,) = (label for label in before if before[label] != after[label])
        assert between[moved] not in (before[moved], after[moved])
        assert (
            page.text_content("#strip li.here").strip().endswith(captions_of(puzzle, solution)[1])
        )


def test_slider_strip_keys_and_play(browser, film):
    puzzle, solution, file = film
    last = solution.distance
    with browser.open(file, reduced_motion="reduce") as page:
        page.fill("#slider", str(last))
        assert page.text_content("#now") == captions_of(puzzle, solution)[last]
        assert page.is_disabled("#on")
        page.keyboard.press("Home")  # the slider's own
        page.click("#strip li:nth-child(2)")
        assert page.text_content("#now") == captions_of(puzzle, solution)[1]
        page.click("#first")
        page.locator("#first").evaluate("(button) => button.blur()")
        page.keyboard.press("End")
        assert page.text_content("#now") == captions_of(puzzle, solution)[last]
        page.keyboard.press(" ")
        assert page.get_attribute("#play", "aria-label") == "Pause"
        page.wait_for_function(f"document.querySelector('#now').dataset.position == {last}")
        assert page.get_attribute("#play", "aria-label") == "Play"


@pytest.mark.sweep
def test_without_script_and_on_paper_it_is_a_strip(browser, film, size):
    puzzle, solution, file = film
    with browser.open(file, size, java_script_enabled=False) as page:
        assert not page.is_visible("#stage")
        shown = page.locator("#strip li")
        assert [text.strip().split("\n")[-1] for text in shown.all_inner_texts()] == captions_of(
            puzzle, solution
        )
    with browser.open(file, size) as page:
        page.emulate_media(media="print")
        assert not page.is_visible("#stage")
        assert page.is_visible("#strip li:last-child svg")


def test_the_page_needs_nothing_from_outside(film):
    _, _, file = film
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)
