"""Boards as text: rows on lines of their own or parted by slashes."""

import unicodedata
from collections.abc import Sequence

from frontier.errors import InputError

BLANKS = {".", "·", "_", "□"}
"""Marks of an empty cell."""

OPEN_MARK = "?"
"""Mark of a cell of a goal that may hold anything."""


def rows_of_words(text: str) -> list[list[str]]:
    """Rows of words parted by spaces or commas."""
    rows = [row.replace(",", " ").split() for row in text.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def rows_of_letters(text: str) -> list[str]:
    """Rows of single letters; spaces do not count."""
    rows = ["".join(row.split()) for row in text.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def in_rows(flat: Sequence, columns: int) -> list[list]:
    """A flat board as rows."""
    return [list(flat[i : i + columns]) for i in range(0, len(flat), columns)]


def text_of(notation, name: str) -> str:
    """Text of a board that is text, or a list of rows of text."""
    if isinstance(notation, str):
        return notation
    if isinstance(notation, list | tuple) and all(isinstance(row, str) for row in notation):
        return "\n".join(notation)
    raise InputError(f"{name} = {notation!r}: expected text, or a list of rows of text")


def width(text: str) -> int:
    """Columns that text takes in a terminal: two for wide letters such as 狼."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def centred(text: str, columns: int) -> str:
    left = (columns - width(text)) // 2
    return " " * left + text + " " * (columns - width(text) - left)
