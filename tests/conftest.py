"""Lets tests import `twins.py` and `engine.py`, and depend on no machine's speed."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("sweep", deadline=None, database=None)
settings.register_profile("default", settings.get_profile("sweep"), max_examples=25)


def pytest_configure(config):
    """Properties are tried on few examples where sweeps are left out."""
    settings.load_profile("default" if config.option.markexpr == "not sweep" else "sweep")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Power does not fail in a test."""
    monkeypatch.setattr(os, "fsync", lambda number: None)
