"""A thread that writes parts."""

from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture(scope="module")
def thread():
    with ThreadPoolExecutor(1) as pool:
        yield pool
