"""Runs of 2×4 that several files of tests damage, each in a copy of its own; and a thread that
writes parts."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from frontier.api import runs as api
from tests.support.stopped_runs import config_of


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """Runs of 2×4, stopped at depth 20, by what they keep; and the counts of all layers."""
    base = tmp_path_factory.mktemp("whole")
    for name, search in (("frontier", {}), ("spare", {"spare": 2}), ("all", {"keep": "all"})):
        for depth in (12, 16, 20):
            api.run(api.plan(config_of(base / name, **search)), until=depth)
    return base, api.run(api.plan(config_of(base / "complete"))).counts


@pytest.fixture
def copy(whole, tmp_path):
    def made(name):
        shutil.copytree(whole[0] / name, tmp_path / name, dirs_exist_ok=True)
        return tmp_path / name

    return made


@pytest.fixture(scope="module")
def thread():
    with ThreadPoolExecutor(1) as pool:
        yield pool
