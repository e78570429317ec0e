"""Text as wide as the terminal that it is printed to.

A line that is too long for a terminal is broken between words, and what follows is indented as far
as its text is. Commands stay whole, as people copy them, and so do drawings.
"""

import re
from textwrap import wrap

from frontier.program import program

DRAWING = re.compile("[─-▟]")
"""Lines and blocks of which boards and bars are drawn."""

LABEL = re.compile(r" *\S.*? {2,}(?=\S)| *")
"""The begin of a line up to its text: a label in a column of its own, or spaces alone."""

QUOTED = re.compile("`[^`]*`")
"""A command within a sentence."""


def fitted(text: str, width: int) -> str:
    """Return a text in lines of at most `width` letters, as far as its words and commands allow."""
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width or DRAWING.search(line):
        return [line]
    kept = QUOTED.sub(lambda found: found[0].replace(" ", "\0"), line)
    words, name, rest = kept.partition(f"{program()} ")  # a command at the end of a line
    label = LABEL.match(words)[0]
    column = len(label) if label.strip() else len(label) + 2
    indent = " " * (column if column < width // 2 else 4)
    lines = wrap(
        words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    lines += [indent + name + rest] if name else []
    return [part.replace("\0", " ") for part in lines]
