"""Boards as text: rows on lines of their own or parted by slashes."""

import unicodedata
from collections.abc import Sequence

from frontier.errors import InputError
from frontier.text import counted

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


def split(text: str) -> list[str]:
    """The words of a text."""
    return text.replace("/", " ").replace(",", " ").split()


def labels_given(notation, cells: int, name: str) -> list[str]:
    """The labels of a board that is given as text or as a list, one a cell."""
    if isinstance(notation, str):
        words = split(notation)
        # Where it is not one word, 12 is a label of two figures rather than two labels.
        numbers = len(words) > 1 and any(len(w) > 1 and w.isdigit() for w in words)
        if len(words) != cells and not numbers:
            words = list("".join(words))
    elif isinstance(notation, list | tuple):
        words = [str(word) for word in notation]
        for word in words:
            check_label(word, f"{name} = {notation!r}")
    else:
        raise InputError(f"{name} = {notation!r}: expected a label a cell, as text or a list")
    if len(words) != cells:
        raise InputError(
            f"{name} = {notation!r} has {counted(len(words), 'label')}: expected one for each "
            f"of the {counted(cells, 'cell')}"
        )
    return words


def joined(labels: Sequence[str]) -> str:
    """Labels as one line of text, from which `labels_given` reads them."""
    return ("" if all(len(label) == 1 for label in labels) else " ").join(labels)


def check_label(label: str, name: str) -> None:
    """InputError unless a text can hold the label."""
    if split(label) != [label]:
        raise InputError(
            f"{name}: {label!r} is no label; labels have one letter or more, and no spaces, / or ,"
        )


def width(text: str) -> int:
    """Columns that text takes in a terminal: two for wide letters such as 狼."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def centred(text: str, columns: int) -> str:
    left = (columns - width(text)) // 2
    return " " * left + text + " " * (columns - width(text) - left)
