"""The formats in which other programs define puzzles. The content of a file shows its format.

A config may use any of them instead of TOML. It is then only a [puzzle] table, and the run is named
after the file.
"""

import re

from frontier.puzzles.formats import gap, kpuzzle, twsearch

READERS = (kpuzzle, gap, twsearch)
"""The formats. Each module has a function that recognises its format and one that reads it."""

SUFFIXES = (".tws", ".ksolve", ".def", ".kpuzzle.json", ".gap", ".g")
"""The usual endings of the names of such files."""

KNOWN = (
    "kpuzzle definitions (JSON with orbits, defaultPattern and moves), definitions of twsearch or "
    "ksolve (lines with Name, Set, Solved, Move) and generators of GAP (a:=(1,2,3)(4,5);)"
)
"""The formats in words."""


def puzzle_table(text: str, file: str) -> dict | None:
    """Return the [puzzle] table, of kind `permutations`, of another program's definition; None if
    the text is in none of the formats.

    Raises InputError, beginning with `file`, if the text breaks the rules of its format or defines
    what permutation puzzles do not support.
    """
    reader = next((module for module in READERS if module.is_definition(text)), None)
    return None if reader is None else reader.read_definition(text, file).table(file)


def name_of(file: str) -> str:
    """Return the name of a run, made from the file's name."""
    suffix = next((of for of in SUFFIXES if file.endswith(of)), re.findall(r"\.[^.]*$|$", file)[0])
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", file.removesuffix(suffix)).lstrip(".-_")
    return name or "puzzle"
