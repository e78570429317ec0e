"""Boards as text: rows on lines of their own or separated by slashes, or a label a cell."""

import unicodedata
from collections.abc import Callable, Hashable, Mapping, Sequence

from frontier.errors import InputError
from frontier.text import counted

GOALS = "puzzle.goals"
"""The key of a config for several boards at depth 0."""

BLANKS = {".", "·", "_", "□"}
"""Marks of an empty cell."""

OPEN_MARK = "?"
"""Mark of a cell of a goal that may hold anything."""


def rows_of_words(text: str) -> list[list[str]]:
    """Return rows of words separated by spaces or commas."""
    rows = [row.replace(",", " ").split() for row in text.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def rows_of_letters(notation, name: str) -> list[str]:
    """Return rows of single letters of a board that is text, or a list of rows of text.

    Spaces do not count. Raises InputError, beginning with `name`, if it is neither.
    """
    if isinstance(notation, list | tuple) and all(isinstance(row, str) for row in notation):
        notation = "\n".join(notation)
    if not isinstance(notation, str):
        raise InputError(f"{name} = {notation!r}: expected text, or a list of rows of text")
    rows = ["".join(row.split()) for row in notation.replace("/", "\n").splitlines()]
    return [row for row in rows if row]


def _words(text: str) -> list[str]:
    return [word for row in rows_of_words(text) for word in row]


def labels_given(
    notation,
    cells: int,
    name: str,
    place: str = "cell",
    whole: Callable[[str], bool] = str.isdigit,
) -> list[str]:
    """Return the labels of a board that is given as text or as a list, one a cell.

    place: what a message calls a cell. whole: returns True if a word of more than one letter is
    surely one label; then all words of this board are labels, and their letters are not.
    """
    if isinstance(notation, str):
        words = _words(notation)
        # Where it is not one word, 12 is a label of two figures rather than two labels.
        wholes = len(words) > 1 and any(len(word) > 1 and whole(word) for word in words)
        if len(words) != cells and not wholes:
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
            f"of the {counted(cells, place)}"
        )
    return words


def joined(labels: Sequence[str]) -> str:
    """Return labels as one line of text, from which `labels_given` reads them."""
    return ("" if all(len(label) == 1 for label in labels) else " ").join(labels)


def check_label(label: str, name: str) -> None:
    """Raise InputError unless a text can hold the label."""
    if _words(label) != [label]:
        raise InputError(
            f"{name}: {label!r} is no label; labels have one letter or more, and no spaces, / or ,"
        )


def boards_given(goal, goals: Sequence | None, start=None) -> list[tuple[str, object]]:
    """Return (key of the config, board) of the boards at depth 0, which are `goal` or `goals`, and
    of the start, if there is one."""
    if (goal is None) == (goals is None):
        raise InputError("a puzzle of this kind needs either puzzle.goal or puzzle.goals")
    if goals is not None and (not isinstance(goals, list | tuple) or not goals):
        raise InputError(f"puzzle.goals = {goals!r}: expected a list of one board or more")
    boards = [("puzzle.goal", goal)] if goals is None else [(GOALS, board) for board in goals]
    return boards if start is None else [*boards, ("puzzle.start", start)]


def first_whole(boards: Sequence[tuple[str, Sequence]]) -> tuple[str, Sequence]:
    """Return the first of (key, labels) that leaves no cell open; raises InputError if all do."""
    for key, labels in boards:
        if OPEN_MARK not in labels:
            return key, labels
    raise InputError(
        "no board of this puzzle is drawn whole, so its pieces are not known; give a puzzle.start "
        "without ?"
    )


def groups_given(alike, forms: Mapping[str, Hashable]) -> dict[str, int]:
    """Return the number of its group for each label of `puzzle.alike` that counts as the same as
    others.

    forms: for each label of the puzzle, what must be equal for all labels of one group.
    """
    if not isinstance(alike, list | tuple) or not all(map(_is_group, alike)):
        raise InputError(
            f"puzzle.alike = {alike!r}: expected a list of groups of labels, each a text of "
            'letters or a list of labels, as in ["ab", ["c1", "c2"]]'
        )
    group_of: dict[str, int] = {}
    for number, group in enumerate(alike):
        for label in group:
            message = f"puzzle.alike = {list(alike)}: {label!r}"
            if label not in forms:
                pieces = " ".join(forms)
                raise InputError(f"{message} is no piece of this puzzle; its pieces are {pieces}")
            if label in group_of:
                raise InputError(f"{message} is named twice")
            group_of[label] = number
            if forms[label] != forms[group[0]]:
                raise InputError(
                    f"puzzle.alike = {list(alike)}: {group[0]!r} and {label!r} differ in form or "
                    "in where they can go, so they cannot count as the same"
                )
    return {label: number for label, number in group_of.items() if len(alike[number]) > 1}


def _is_group(group) -> bool:
    is_list_of_labels = isinstance(group, list | tuple) and all(
        isinstance(label, str) for label in group
    )
    return is_list_of_labels or isinstance(group, str)


def width(text: str) -> int:
    """Return the columns that text takes in a terminal: two for wide letters such as 狼."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def centred(text: str, columns: int) -> str:
    """Return text in the middle of `columns` columns of a terminal."""
    margin = (columns - width(text)) // 2
    return " " * margin + text + " " * (columns - width(text) - margin)
