"""Lets tests import `twins.py` and `engine.py`, and depend on no machine's speed."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("untimed", deadline=None, database=None)
settings.load_profile("untimed")
