"""Runs that another process seems to hold."""

import fcntl
import json
import time

import pytest


@pytest.fixture
def held():
    """Hold the lock of a run directory, as another process would."""
    files = []

    def hold(path):
        file = (path / "lock").open("w")
        files.append(file)
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"host": "there", "process": 7, "since": time.time() - 3 * 3600}))
        file.flush()

    yield hold
    for file in files:
        file.close()
