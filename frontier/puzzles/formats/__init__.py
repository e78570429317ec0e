"""The formats of definitions of puzzles by other programs, which a file's content tells apart.

A config may be written in any of them instead of TOML: it is then the [puzzle] table alone, and has
the name of its file.
"""

import re

from frontier.puzzles.formats import gap, kpuzzle, twsearch

READERS = (kpuzzle, gap, twsearch)
"""The formats: a module each, with a function that tells whether a text is of it, and one that
reads it."""

SUFFIXES = (".tws", ".ksolve", ".def", ".kpuzzle.json", ".gap", ".g")
"""What the names of such files usually end with."""

KNOWN = (
    "kpuzzle definitions (JSON with orbits, defaultPattern and moves), definitions of twsearch or "
    "ksolve (lines with Name, Set, Solved, Move) and generators of GAP (a:=(1,2,3)(4,5);)"
)
"""The formats in words."""


def puzzle_table(text: str, file: str) -> dict | None:
    """Return the [puzzle] table, of kind `permutations`, of a definition of another program; None
    if the text is of none of the formats.

    Raises InputError, beginning with `file`, for what its format does not have or what is not
    supported by this kind of puzzle.
    """
    reader = next((module for module in READERS if module.is_definition(text)), None)
    return None if reader is None else reader.read_definition(text, file).table(file)


def name_of(file: str) -> str:
    """Return the name of the run of a file, by the file's name."""
    suffix = next((of for of in SUFFIXES if file.endswith(of)), re.findall(r"\.[^.]*$|$", file)[0])
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", file.removesuffix(suffix)).lstrip(".-_")
    return name or "puzzle"
