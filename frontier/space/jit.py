"""The one place where Numba is told how to compile the kernels.

Kernels release the interpreter lock, so a worker still answers its scheduler while one
runs, and are cached on disk, so only the first run on a machine compiles them. Numba does
not notice when a kernel that was inlined from another file changes; the cache folder's
name therefore carries a hash of the sources of this package. The cache is local to the
machine and the user, and ``NUMBA_CACHE_DIR`` overrides it.
"""

import hashlib
import os
from pathlib import Path

import numba


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


if not numba.config.CACHE_DIR:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    numba.config.CACHE_DIR = str(base / "frontier" / f"kernels-{_source_hash()}")

kernel = numba.njit(nogil=True, cache=True, error_model="numpy")
