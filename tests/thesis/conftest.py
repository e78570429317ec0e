"""Runs that tests of the thesis share."""

from functools import cache

import pytest

from frontier.thesis import comparison


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """Where the runs are that these tests share."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session", autouse=True)
def sums_once():
    """Manhattan sums, which take seconds and are the same each time (test_manhattan.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "manhattan_counts", cache(comparison.manhattan_counts))
        yield
