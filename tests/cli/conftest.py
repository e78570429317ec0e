"""Speeds of a machine that plans need not measure."""

import pytest

from frontier.layers import forecast
from frontier.layers.rates import Rates

RATES = Rates(density=[0.0, 0.2], stored=[0.0, 0.9], kernel=5e-9, codec=5e-9, listed=1e-7)


@pytest.fixture
def known_rates(monkeypatch):
    """Nothing is measured."""
    monkeypatch.setattr(forecast, "try_machine", lambda layout, codec, listed: RATES)
