"""What object stores do that file systems do not: they do not answer, or late."""

import errno
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import numpy as np
import pytest

from frontier.storage import requests as buckets
from frontier.storage.base import Replaced
from frontier.storage.bucket import CHUNK_BYTES, GAP_BYTES, in_chunks

SOON = {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=5)}

READS = """
import sys
from frontier.storage.places import storage_at
storage_at(sys.argv[1]).read_ranges("file", [0], [memoryview(bytearray(5))])
"""


@pytest.fixture
def impatient(monkeypatch, proxy):
    """Requests are made again at once, but not for long; answers are waited for for a second."""
    monkeypatch.setattr(buckets, "WAITS", SOON)
    monkeypatch.setattr(buckets, "FIRST_PATIENCE", 0.2)
    monkeypatch.setenv("AWS_TIMEOUT", "1s")
    buckets.bucket_of.cache_clear()


def first(count, harm):
    """Harm so many requests."""
    left = [harm] * count
    return lambda method, path: left.pop() if left else None


@pytest.mark.sweep
def test_a_store_that_is_away_for_a_while(s3_bucket, proxy, monkeypatch, impatient):
    """However many requests that costs."""
    assert not s3_bucket.exists("file")  # it answers
    proxy.harm = first(300, "refused")
    s3_bucket.write("file", b"there")
    assert s3_bucket.read("file") == b"there"
    assert proxy.injected["refused"] == 300


UNCONDITIONAL = (
    lambda place: place.exists("file"),
    lambda place: place.read("file"),
    lambda place: place.read_ranges("file", [0], [memoryview(bytearray(5))]),
    lambda place: place.names(),
    lambda place: place.write("file", b"again"),
    lambda place: place.delete("file"),
    lambda place: place.delete("file", "other"),
)


@pytest.mark.parametrize("harm", ["conflict", "precondition"])
def test_only_a_request_with_a_condition_finds_a_file_replaced(s3_bucket, proxy, harm):
    """Any other request that is refused like this fails: the store cannot do it."""
    s3_bucket.write("file", b"there")
    proxy.harm = lambda method, path: harm
    for ask in UNCONDITIONAL:
        with pytest.raises(OSError) as error:  # noqa: PT011
            ask(s3_bucket)
        assert error.value.filename.startswith(str(s3_bucket))
        assert error.value.errno == errno.EIO
    proxy.harm = lambda method, path: "precondition" if method == "PUT" else None
    was = s3_bucket.version("file")
    with pytest.raises(Replaced):
        s3_bucket.replace("file", b"mine", was)
    assert s3_bucket.read("file") == b"there"


@pytest.mark.sweep
def test_a_store_that_stays_away(s3_bucket, proxy, monkeypatch, impatient):
    """It is given up after some time, and then waited for no longer until it answers."""
    monkeypatch.setattr(buckets, "PATIENCE", 0.4)
    monkeypatch.setenv("AWS_TIMEOUT", "30s")  # what is answered here is answered at once
    for action in (
        lambda: s3_bucket.write("file", b"1"),
        lambda: s3_bucket.replace("file", b"1", None),
        lambda: s3_bucket.read("file"),
        lambda: s3_bucket.names(),
        lambda: s3_bucket.delete("file"),
    ):
        proxy.harm = lambda method, path: None
        assert not s3_bucket.exists("other")
        assert buckets.patience_for(s3_bucket.bucket) == 0.4
        proxy.harm = lambda method, path: "busy"
        with pytest.raises(OSError, match=r"has not answered for \d s .*503 Service Unavailable"):
            action()
        assert buckets.patience_for(s3_bucket.bucket) == 0.2


@pytest.mark.sweep
def test_a_request_that_is_never_answered(s3_bucket, proxy, impatient):
    """It is made again, also where obstore does not dare to as it may have been carried out."""
    assert not s3_bucket.exists("file")
    proxy.harm = first(1, "never")
    first_version = s3_bucket.replace("file", b"first", None)
    proxy.harm = first(1, "never")
    assert s3_bucket.replace("file", b"second", first_version) == s3_bucket.version("file")
    proxy.harm = first(1, "never")
    s3_bucket.delete("file")
    assert not s3_bucket.exists("file")
    assert proxy.injected["never"] == 3


@pytest.mark.sweep
def test_signals_are_heard_while_a_request_is_under_way(s3_bucket, proxy):
    heard, answered = threading.Event(), []

    def harm(method, path):
        os.kill(os.getpid(), signal.SIGUSR1)
        answered.append(heard.wait(20))

    before = signal.signal(signal.SIGUSR1, lambda *_: heard.set())
    try:
        proxy.harm = harm
        s3_bucket.write("file", b"1")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert all(answered)


@pytest.mark.sweep
def test_an_interrupted_process_ends_though_it_has_no_answer(s3_bucket, proxy, monkeypatch):
    monkeypatch.setenv("AWS_TIMEOUT", "1000s")
    s3_bucket.write("file", b"there")
    asked, ended, late = threading.Event(), threading.Event(), []

    def harm(method, path):
        asked.set()
        if not ended.wait(60):
            late.append(path)

    proxy.harm = harm
    command = [sys.executable, "-c", READS, str(s3_bucket)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert asked.wait(60), process.stderr.read()
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.stderr.read()
    ended.set()
    assert late == []


@pytest.mark.sweep
@pytest.mark.parametrize("count", [40, 200])
def test_what_is_read_in_one_request(count):
    """Ranges near each other, but never much at a time."""
    rng = np.random.default_rng(0)
    sizes = rng.choice([1, 1000, CHUNK_BYTES // 3, 3 * CHUNK_BYTES + 5], size=count)
    gaps = rng.choice([0, 1, GAP_BYTES, GAP_BYTES + 1], size=count)
    begin = np.cumsum(gaps) + np.cumsum(sizes) - sizes
    room = np.zeros(int(sizes.max()), dtype=np.uint8)
    pieces = in_chunks(begin.tolist(), [memoryview(room)[:size] for size in sizes])
    spans = [(piece[0][0], piece[-1][0] + len(piece[-1][1])) for piece in pieces]
    assert all(end - start <= CHUNK_BYTES for start, end in spans)
    wanted = np.zeros(int(begin[-1] + sizes[-1]), dtype=bool)
    for at, size in zip(begin, sizes, strict=True):
        wanted[at : at + size] = True
    for piece in pieces:
        for at, view in piece:
            assert wanted[at : at + len(view)].all()
            wanted[at : at + len(view)] = False
    assert not wanted.any()
    for gap, count in ((GAP_BYTES, 1), (GAP_BYTES + 1, 3)):
        views = [memoryview(room)[:10]] * 3
        assert len(in_chunks([0, 10 + gap, 20 + 2 * gap], views)) == count


@pytest.mark.sweep
def test_much_is_read_in_chunks(s3_bucket, proxy):
    content = np.random.default_rng(0).bytes(3 * CHUNK_BYTES + 7)
    s3_bucket.write("file", content)
    before, data = proxy.requests["GET"], bytearray(len(content))
    s3_bucket.read_ranges("file", [0], [memoryview(data)])
    assert data == content
    assert proxy.requests["GET"] - before == 4
