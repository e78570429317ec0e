"""How fast a machine is, for tests that are not to measure one."""

from frontier.search.calibrate import Rates
from frontier.search.forecast import Codec, Disk

RATES = Rates(
    word=5e-9, listed=1e-7, list_bytes=4.0,
    codec=Codec([0.0, 0.2], [0.0, 0.9], [1e-10, 1e-9], [1e-10, 2e-10]),
    disk=Disk(1e-4, 4e9, 2e9, 5e8, 4e8), task=1e-3, layer=1e-2, start=3.0,
)  # fmt: skip
