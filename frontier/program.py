"""What messages call the program, in the commands that they name."""

import sys
from pathlib import Path


def program() -> str:
    """Return `frontier` where that was typed to start this process, and `python -m frontier`
    anywhere else."""
    typed = Path(sys.argv[0]).name if sys.argv else ""
    return typed if typed == "frontier" else "python -m frontier"
