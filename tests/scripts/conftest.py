"""Runs that tests of the thesis share."""

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from thesis import comparison


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """Where the runs are that these tests share."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session", autouse=True)
def sums_once():
    """Manhattan sums, which take seconds and are the same each time (test_thesis_manhattan.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "manhattan_counts", cache(comparison.manhattan_counts))
        yield
