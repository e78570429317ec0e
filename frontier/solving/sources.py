"""The sources of the tables of a search."""

from collections.abc import Callable

import numpy as np

TableSource = Callable[[str, Callable[[], np.ndarray]], np.ndarray]
"""Called with the name of a table and the function that makes it; returns the table, which may have
been made before."""
