"""Settings of all tests, which depend on no machine's speed."""

import os

import pytest
from hypothesis import settings

from frontier import machine
from tests.support import sweeps
from tests.support.browsers import browser, pytest_collection_modifyitems  # noqa: F401
from tests.support.buckets import (  # noqa: F401
    azure_bucket,
    azure_endpoint,
    bucket,
    memory_bucket,
    proxy,
    s3_bucket,
    s3_endpoint,
)

settings.register_profile("sweep", deadline=None, database=None)
settings.register_profile("default", settings.get_profile("sweep"), max_examples=10)


def pytest_configure(config):
    """Properties are tried on few examples where sweeps are left out.

    The many processes that tests start keep the bytecode of what they import, even where the
    environment says that none is kept.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sweeps.left_out = config.option.markexpr == "not sweep"
    settings.load_profile("default" if sweeps.left_out else "sweep")


def pytest_xdist_auto_num_workers(config):
    """More processes than processors: many tests wait for servers and clusters."""
    return machine.cores() * 3 // 2


@pytest.fixture(autouse=True, scope="session")
def databases_of_tests(tmp_path_factory):
    """Pattern databases are kept apart from those of the user, also by processes of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FRONTIER_DATABASES", str(tmp_path_factory.mktemp("databases")))
        yield


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Power does not fail in a test."""
    monkeypatch.setattr(os, "fsync", lambda number: None)
