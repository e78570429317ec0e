"""Runs in an object store whose driver is killed, or which the store leaves alone for too long."""

import signal
import subprocess
import sys

import pytest

from frontier.api import runs as api
from frontier.errors import StorageError
from frontier.layers.run import LayerRun
from frontier.layers.verify import verify
from tests.support.bucket_runs import CONFIGS, assert_same, plan_of

FINELY = CONFIGS.parent / "tests" / "support" / "many_tasks.py"


@pytest.mark.sweep
def test_a_driver_that_is_killed_within_a_layer(s3_bucket, proxy, tmp_path):
    """What is there of the layer is used, and all is right."""
    words = ["search.in_memory=false", f"store.path={s3_bucket}", "cluster.kind=serial"]
    command = [sys.executable, FINELY, "run", CONFIGS / "2x4.toml"]
    seen, driver = [], []

    def harm(method, path):
        if method == "PUT" and "/0013/c." in path and path not in seen:
            seen.append(path)
            if len(seen) == 3:
                driver[0].kill()

    proxy.harm = harm
    sets = [word for each in words for word in ("--set", each)]
    driver.append(subprocess.Popen([*command, *sets]))
    assert driver[0].wait() == -signal.SIGKILL
    assert len(LayerRun.open(s3_bucket).records) == 13
    run = api.run(plan_of(s3_bucket, "tasks")).store
    assert not verify(run, deep=20).faults
    assert_same(run, api.run(plan_of(tmp_path / "run", "tasks")).store)


@pytest.mark.sweep
def test_a_store_that_stays_away_stops_a_run_which_goes_on(s3_bucket, proxy, monkeypatch):
    monkeypatch.setattr("frontier.layers.loop.LIST_SECONDS", 0)
    monkeypatch.setattr("frontier.layers.loop.MEMORY_SECONDS", 0)
    for name in ("PATIENCE", "FIRST_PATIENCE"):
        monkeypatch.setattr(f"frontier.storage.requests.{name}", 0.1)
    commits = []

    def harm(method, path):
        if method == "PUT" and path.endswith("/ledger.json"):
            commits.append(path)
        return "refused" if len(commits) > 5 and "/layers/" in path else None

    proxy.harm = harm
    with pytest.raises(StorageError, match="the object store has not answered for"):
        api.run(plan_of(s3_bucket, "tasks"))
    proxy.harm = lambda method, path: None
    assert not (run := LayerRun.open(s3_bucket)).complete
    assert run.records
    run = api.run(plan_of(s3_bucket, "tasks")).store
    assert not verify(run, deep=20).faults
