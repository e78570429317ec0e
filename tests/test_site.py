"""The documentation as a site."""

import re
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

import frontier
from frontier import errors
from frontier.cli import main
from tests.support.page_blocks import ROOT

pytest.importorskip("mkdocs", reason="the site is made by pip install 'frontier[docs]'")
pytestmark = pytest.mark.sweep

SETTINGS = ROOT / "scripts" / "site" / "mkdocs.yml"
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
"""Elements whose file a browser loads with the page, and the attributes that name it."""


def build(settings, target):
    command = [sys.executable, "-m", "mkdocs", "build", "-f", settings, "-d", target]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    target = tmp_path_factory.mktemp("site")
    done = build(SETTINGS, target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


class Page(HTMLParser):
    """The elements of a page: how often each occurs, their names, what is loaded and linked."""

    def __init__(self, path: Path):
        super().__init__()
        self.counts, self.names = Counter(), set()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.counts[tag] += 1
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}
        if values.get(LOADED.get(tag)) and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values[LOADED[tag]])
        if tag == "a" and values.get("href"):
            self.linked.append(values["href"])


@pytest.fixture(scope="module")
def parsed(site):
    """All pages of the site by their paths."""
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_nothing_is_loaded_from_elsewhere(site, parsed):
    assert len(parsed) > 50
    for path, page in parsed.items():
        assert not [url for url in page.loaded if re.match(r"\w+://|//", url)], path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(.?(https?:)?//|@import", style.read_text(encoding="utf-8")), (
            style
        )


def test_every_link_leads_somewhere(site, parsed):
    """Also those in raw HTML, which MkDocs does not look at."""
    for path, page in parsed.items():
        for url in page.loaded + page.linked:
            if re.match(r"\w+:", url):
                continue
            file, _, anchor = unquote(url).partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_relative_to(site), f"{path}: {url}"
            assert target.is_file(), f"{path}: {url}"
            if anchor and not anchor.startswith("__"):
                assert anchor in parsed[target].names, f"{path}: {url}"


@pytest.mark.parametrize("text", ["[none](none.md)", "[none](#none)", "![none](none.png)"])
def test_a_broken_link_is_an_error(tmp_path, text):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Page\n\n{text}\n")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(
        f"INHERIT: {SETTINGS}\ndocs_dir: docs\nhooks: []\nnav: [index.md]\nplugins: []\n"
    )
    done = build(settings, tmp_path / "site")
    assert done.returncode == 1
    assert "Aborted with 1 warnings in strict mode" in done.stdout + done.stderr


@pytest.mark.parametrize("name", main.commands)
def test_each_command_has_a_page(site, name):
    text = (site / "commands" / f"{name}.html").read_text(encoding="utf-8")
    said = re.sub(r"<[^>]*>", "", text)
    options = [of for of in main.commands[name].params if of.param_type_name == "option"]
    assert all(option in said for of in options for option in of.opts)
    assert f"frontier {name}" in said.split("Examples")[-1]
    assert f'<a href="{name}.html"' in (site / "commands" / "index.html").read_text("utf-8")


def test_the_reference_has_sections(site):
    """Docstrings are read as NumPy's: no heading of theirs is left as text."""
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    gods_number = text.split('id="frontier.api.gods_number.gods_number"')[1].split("</article>")[0]
    for section in ("Parameters:", "Returns:", "Raises:"):
        assert section in gods_number
    assert "----" not in re.sub(r"<[^>]*>", "", text)


def test_every_public_name_stands_in_the_reference(site, parsed):
    names = parsed[site / "reference" / "api.html"].names
    for name in set(frontier.__all__) - {"errors"}:
        of = getattr(frontier, name)
        assert f"{of.__module__}.{of.__qualname__}" in names
    assert {"frontier.api.runs.Run.distance", "frontier.layers.events.LayerFinished"} <= names
    # Also those of a parent, and of a field.
    for name in (
        "api.runs.Run.counts",
        "api.runs.Run.path",
        "layers.plan.Plan.task_bytes",
        "api.runs.Run.solve",
    ):
        assert f"frontier.{name}" in names
    for name, of in vars(errors).items():
        if isinstance(of, type) and of.__module__ == "frontier.errors":
            assert f"frontier.errors.{name}" in names


def test_pages_are_read_as_on_github(site, parsed):
    """Two readings of Markdown agree on lists, tables and blocks of code."""
    reader = MarkdownIt("gfm-like", {"linkify": False})
    pages = {"README.md": "index.html", "CONTRIBUTING.md": "contributing.html"}
    for source in (ROOT / "docs").rglob("*.md"):
        name = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        pages[source.relative_to(ROOT).as_posix()] = name.replace("README", "index")
    for source, page in pages.items():
        tokens = Counter(of.tag for of in reader.parse((ROOT / source).read_text("utf-8")))
        text = (site / page).read_text(encoding="utf-8")
        body = text.split('<article class="md-content__inner', 1)[1].split("</article>")[0]
        for tag, opened in (("table", 2), ("li", 2), ("code", 1), ("h2", 2)):
            shown = len(re.findall(r"<pre\b" if tag == "code" else rf"<{tag}\b", body))
            assert shown == tokens[tag] / opened, f"{source}: {tag}"


@pytest.fixture(scope="module")
def address(site):
    """The address of a server of the site on this machine."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_search_finds_a_command(browser, address):
    with browser.open(f"{address}/index.html") as page:
        page.wait_for_load_state("networkidle")  # what is typed before is lost
        page.locator(".md-search__input").press_sequentially("farthest positions")
        # The list grows while it is read, so the browser itself looks for the page.
        found = '.md-search-result__link[href*="commands/farthest.html"]'
        page.locator(found).first.wait_for(state="attached")


def test_no_page_is_broader_than_its_window(browser, address, site):
    pages = [path.relative_to(site).as_posix() for path in site.rglob("*.html")]
    ours = [page for page in pages if not page.startswith("results/")]
    with browser.open(f"{address}/index.html") as page:
        page.wait_for_load_state("networkidle")
        for name in [*ours, "results/index.html"]:
            page.goto(f"{address}/{name}")
            for width in (390, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                # A script of the theme puts broad tables into boxes that scroll, in a moment.
                page.wait_for_function("document.body.scrollWidth <= innerWidth")
