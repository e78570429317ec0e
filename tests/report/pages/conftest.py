"""Fixtures of tests that look at pages."""

import pytest

from tests.support.browsers import SIZES


@pytest.fixture(params=SIZES)
def size(request):
    """Each of the sizes of a screen."""
    return request.param
