"""A browser for tests that look at pages."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
BROADER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Browser:
    """Opens files as pages; fails when one has complained, or is broader than its window."""

    def __init__(self, chromium):
        self.chromium = chromium

    @contextmanager
    def open(self, path, size="desktop", **context):
        """The page of a file, or at an address; size: a name of SIZES. More is for playwright's
        new_context."""
        width, height = SIZES[size]
        opened = self.chromium.new_context(viewport={"width": width, "height": height}, **context)
        try:
            page, complaints = opened.new_page(), []
            page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
            page.on(
                "console",
                lambda said: complaints.append(said.text) if said.type == "error" else None,
            )
            page.on("requestfailed", lambda asked: complaints.append(f"failed: {asked.url}"))
            page.goto(path if isinstance(path, str) else path.resolve().as_uri())
            yield page
            assert not complaints
            assert page.evaluate(BROADER) <= 0
        finally:
            opened.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs a browser, which takes seconds to start, is among the sweeps."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.sweep)


@pytest.fixture(scope="module")
def browser():
    """Not for all tests: playwright keeps an event loop in the thread while it is open."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("no browser: install the package chromium (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("no playwright: pip install playwright; the browser is the package chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield Browser(chromium)
        chromium.close()
