"""How fast a machine is, for tests that are not to measure one."""

from frontier.forecast.rates import Rates

RATES = Rates(
    density=[0.0, 0.2], stored=[0.0, 0.9], task=[6e-9, 2e-8], kernel=5e-9, listed=1e-7, read=2e-9,
    write=2.5e-9, read_work=2.5e-10, write_work=2.5e-10,
)  # fmt: skip
