"""Makes `tests/twins.py` importable, and lets no test depend on how fast the machine is."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("untimed", deadline=None, database=None)
settings.load_profile("untimed")
