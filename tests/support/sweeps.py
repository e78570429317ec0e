"""Tests of which a few cases run by default; `pytest -m ""` runs the others too, the sweeps."""

from collections.abc import Collection, Iterable

import pytest

left_out = False
"""Whether sweeps are deselected (`conftest.py`): then their cases need not even be collected."""


def swept(names, values: Iterable, few: int | Collection, **more):
    """Parametrize a test as `pytest.mark.parametrize` does; all but a few values are a sweep.

    few: how many of the first values run by default, or which ones.
    """
    return pytest.mark.parametrize(names, cases(values, few, isinstance(names, str)), **more)


def tried(few: int, many: int) -> int:
    """How many random cases a test tries: few by default, many among the sweeps."""
    return few if left_out else many


def cases(values: Iterable, few: int | Collection, single: bool = True) -> list:
    """The same values for a fixture's `params`. single: each is one, not a tuple of several."""
    values = list(values)
    kept = values[:few] if isinstance(few, int) else list(few)
    assert kept
    assert all(value in values for value in kept)
    if left_out:
        return [value for value in values if value in kept]
    return [value if value in kept else _as_sweep([value] if single else value) for value in values]


def _as_sweep(value):
    return pytest.param(*value, marks=pytest.mark.sweep)
