"""The page of a run that is watched."""

import queue
import re
import threading

import pytest

from frontier.layers.events import LayerFinished, LayerStarted
from frontier.layers.progress import LayerProgress
from frontier.report import status_page as status_page_module
from frontier.runs.directory import OWN_NAMES
from frontier.runs.events import Stopped
from frontier.storage.local import LocalStorage
from tests.support.recorded_runs import events_of, run


def test_the_page_is_kept(tmp_path):
    path = tmp_path / "run"
    run(path, until=20)
    assert "depth 20 reached, as requested" in (path / "status.html").read_text()
    run(path)
    page = (path / "status.html").read_text()
    assert "http-equiv" not in page
    assert len(re.findall(r'class="bar"', page)) == 37
    assert {entry.name for entry in path.iterdir()} <= OWN_NAMES
    assert not re.search(r'(src|href)="|@import|url\(', page)


def page_by(put):
    """How files are written, where the status page is given to a function."""
    write = LocalStorage.write

    def written(storage, name, content, durable=False):
        if name == "status.html":
            put(content.decode())
        else:
            write(storage, name, content, durable)

    return written


@pytest.fixture
def pages(monkeypatch):
    """The pages of a run as they are written, which here is often."""
    written = queue.Queue()
    monkeypatch.setattr(status_page_module, "SECONDS", 0.01)
    monkeypatch.setattr(LocalStorage, "write", page_by(lambda text: written.put(text)))
    return written


def wait_for(pages, words):
    """The next page that says something."""
    while words not in (page := pages.get(timeout=60)):
        pass
    return page


def writers():
    return [thread for thread in threading.enumerate() if thread.name == "status.html"]


def test_the_page_shows_a_layer_when_it_is_committed_and_when_it_begins(tmp_path, pages):
    """Not when its first task is done, which may be hours later."""
    *events, started = [*events_of("2x7", 30), LayerStarted(30, 9)]
    with status_page_module.kept_page(tmp_path, LayerProgress()) as page:
        for event in events:
            page(event)
        shown = wait_for(pages, 'data-depth="29"')
        assert 'http-equiv="refresh"' in shown
        page(started)
        wait_for(pages, "<dt>next layer</dt><dd>30 <small>0 of 9 tasks done, under way for ")
        page(Stopped(1.0, "enough"))
    assert ": enough.</strong>" in list(pages.queue)[-1]
    assert not writers()


def test_the_page_is_refreshed_in_a_long_layer(tmp_path, pages, monkeypatch):
    monkeypatch.setattr(status_page_module, "SECONDS", 0.01)
    with status_page_module.kept_page(tmp_path, LayerProgress()) as page:
        for event in (*events_of("2x7", 30), LayerStarted(30, 9)):
            page(event)
        wait_for(pages, "<dt>next layer</dt><dd>30 ")
        wait_for(pages, "<dt>next layer</dt><dd>30 ")
    assert not writers()


def test_the_page_is_left_when_a_run_fails_without_a_word(tmp_path, pages):
    def fail(event):
        if isinstance(event, LayerFinished | Stopped):
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run(tmp_path / "run", listeners=[fail])
    assert not writers()


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(28, "No space left on device"), "(No space left"), (KeyError("k"), "(KeyError")],
)
def test_a_page_that_cannot_be_written_does_not_stop_the_run(
    tmp_path, monkeypatch, capsys, error, words
):
    failed = threading.Event()

    def full(text):
        failed.set()
        raise error

    monkeypatch.setattr(LocalStorage, "write", page_by(full))
    monkeypatch.setattr(status_page_module, "SECONDS", 0.01)

    def wait(event):
        if isinstance(event, LayerFinished) and event.depth == 30:
            assert failed.wait(60)

    assert run(tmp_path / "run", listeners=[wait]).complete
    said = capsys.readouterr().err
    assert said.count(f"status.html cannot be written {words}") == 1


def test_a_page_that_cannot_be_written_at_the_end(tmp_path, monkeypatch, capsys):
    def full(text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalStorage, "write", page_by(full))
    monkeypatch.setattr(status_page_module, "SECONDS", 10**6)
    assert run(tmp_path / "run", until=5)
    said = capsys.readouterr().err
    assert "status.html cannot be written (No space left on device)\n" in said
