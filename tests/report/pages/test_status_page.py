"""``status.html`` in a browser."""

import json
from pathlib import Path

import pytest

from frontier.layers.events import LayerFinished, LayerStarted, TaskFinished
from frontier.layers.progress import LayerProgress
from frontier.report.status_page import status_page
from frontier.runs.events import Finished, Stopped
from tests.support.ledgers import line_of
from tests.support.start_events import layers_started

RECORDED = json.loads((Path(__file__).parents[2] / "layers" / "recorded.json").read_text())


def recorded(name, layers=None, ended=None, now=None):
    """A recorded run, of which so many layers are known."""
    lines = RECORDED[name]
    progress, states = LayerProgress(), sum(line[0] for line in lines)
    start = layers_started(
        name, f"{name} <tiles>", f"/runs/{name}", states, 2, dashboard="http://[::1]/a"
    )
    progress(start, now)
    for depth, (count, seconds, form) in enumerate(lines[:layers]):
        progress(LayerFinished(line_of(depth, count, form, seconds), 0, 0.0, 10**9), now)
    if ended:
        progress(ended, now)
    else:
        progress(LayerStarted(len(progress.layers), 9), now)
        progress(TaskFinished(len(progress.layers), 2, 9, 1000), now)
    return progress


ENDINGS = {
    "under way": None,
    "stopped": Stopped(3.0, "interrupted"),
    "complete": Finished(3.0),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_is_all_there(browser, size, tmp_path, ending):
    path, ended = tmp_path / "status.html", ENDINGS[ending]
    progress = recorded("2x7", None if ending == "complete" else 61, ended)
    path.write_text(status_page(progress))
    with browser.open(path, size) as page:
        assert page.locator(".state").inner_text().startswith(ending)
        depths = page.locator(".bar").evaluate_all("bars => bars.map(bar => bar.dataset.depth)")
        assert depths == [str(depth) for depth in range(len(progress.layers))]
        boxes = page.locator(".bar").evaluate_all(
            "bars => bars.map(bar => [bar.clientWidth, bar.clientHeight])"
        )
        heights = [height for _, height in boxes]
        assert min(width for width, _ in boxes) >= 1
        assert min(heights) >= 1
        sizes = [layer.states for layer in progress.layers]
        assert heights.index(max(heights)) <= sizes.index(max(sizes))
        assert page.locator(".bar").nth(9).get_attribute("title") == "depth 9: 198 states"
        ticks = page.locator(".depths span").all_inner_texts()
        last = len(progress.layers) - 1 if ended else progress.left(0.0).depth
        assert ticks == ["0", str(last)]
        refreshes = page.locator("meta[http-equiv=refresh]").count()
        links = page.locator("a").count()
        assert refreshes == links == (ended is None)
        assert page.locator("#stale").is_hidden()
        assert page.locator(".guessed").count() == (
            len(progress.left(0.0).sizes) if not ended else 0
        )
        assert "<tiles>" in page.inner_text("body")


def test_it_says_that_it_is_old(browser, tmp_path):
    """A killed run leaves a page that says it is under way."""
    progress, now = recorded("2x5", 20, now=1_000_000.0), 1_000_000.0
    path = tmp_path / "status.html"
    path.write_text(status_page(progress, now))
    with browser.open(path) as page:
        assert "was killed" in page.locator("#stale").inner_text()
        assert page.locator("#stale").is_visible()
