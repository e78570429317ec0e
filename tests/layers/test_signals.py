"""Runs that are asked to end, by a signal or by a terminal that is closed."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from frontier.signals import handling, interrupts_stop
from tests.support.commands import invoke
from tests.support.stopped_runs import SETTINGS
from tests.support.temporary_runs import CONFIGS


@pytest.mark.sweep
@pytest.mark.parametrize("moment", ["start", "layers"])
def test_two_terms_stop_a_run_as_one_does(tmp_path, moment):
    path = tmp_path / "run"
    words = "--set", "search.in_memory=false", "--set", f"store.path={path}"
    process = subprocess.Popen(
        [sys.executable, "-m", "frontier", "run", str(CONFIGS / "2x6.toml"), *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    awaited = "lock" if moment == "start" else "layers/*/0042"
    while not list(path.glob(awaited)) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    if moment == "layers":
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 3, said
    assert "Traceback" not in said
    assert (path / "lock").read_text() == ""
    assert os.listdir(path)


@pytest.mark.parametrize("ignored", [False, True], ids=["terminal", "nohup"])
def test_a_hangup_stops_a_run_unless_it_is_ignored(tmp_path, monkeypatch, ignored):
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
    commit, where = LayerRun.commit, ["--set", f"store.path={tmp_path / 'run'}"]

    def hangs_up(run, records, complete, forget=()):
        commit(run, records, complete, forget)
        if len(run.records) in (5, 6):  # the system's, and that of the shell
            signal.raise_signal(signal.SIGHUP)

    monkeypatch.setattr(LayerRun, "commit", hangs_up)
    with handling({signal.SIGHUP: signal.SIG_IGN if ignored else signal.SIG_DFL}):
        words = "run", CONFIGS / "2x3.toml", *where, *SETTINGS
        said = invoke(*words, code=0 if ignored else 3).output
    assert ignored or "resume with: python -m frontier run" in said
    logged = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    last = json.loads(logged[-1])
    assert last["event"] == ("Finished" if ignored else "Stopped")
    assert len(LayerRun.open(tmp_path / "run").records) - 1 == (21 if ignored else 4)
    monkeypatch.setattr(LayerRun, "commit", commit)
    invoke(*words)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["serial", "local"])
def test_a_terminal_that_goes_away(tmp_path, kind):
    """Nothing can be said any more, workers are reached by the signal too; the run stops as by
    Ctrl-C."""
    path = tmp_path / "run"
    settings = "search.in_memory=false", f"cluster.kind={kind}", f"store.path={path}"
    words = ["run", str(CONFIGS / "2x6.toml"), *(w for s in settings for w in ("--set", s))]
    driver, terminal = pty.fork()
    if not driver:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests under nohup would hand on to ignore it
        os.execv(sys.executable, [sys.executable, "-m", "frontier", *words])
    while not list(path.glob("layers/*/00[2-7]?")):
        if select.select([terminal], [], [], 0.01)[0]:
            os.read(terminal, 100_000)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(driver, 0)[1]) == 3
    assert (path / "lock").read_text() == ""
    last = json.loads((path / "events.jsonl").read_text().splitlines()[-1])
    assert last["event"] == "Stopped"
    assert verify(LayerRun.open(path)).faults == []


def test_what_is_said_of_a_stop_does_not_hold_up_who_holds_its_lock():
    """A display has a lock, and whoever holds it may be the thread that a signal interrupts."""
    lock, said, stops = threading.Lock(), [], []

    def say():
        with lock:
            said.append("stopping")

    with interrupts_stop(lambda: stops.append(True), say), lock:
        signal.raise_signal(signal.SIGINT)
        assert stops
        assert not said
    assert said == ["stopping"]
