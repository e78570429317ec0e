"""Text for people: numbers and times, the name of the program, lines that fit the terminal.

A line that is too long for a terminal is broken between words; the further lines are aligned with
its text. Commands stay whole, because people copy them. Drawings also stay whole.
"""

import os
import re
import sys
import time
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TextIO

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

DRAWING = re.compile("[─-▟]")
"""Characters of the drawings of boards and bars."""

LABEL = re.compile(r" *\S.*? {2,}(?=\S)| *")
"""The beginning of a line before its text: a label in a separate column, or only spaces."""

QUOTED = re.compile("`[^`]*`")
"""A command within a sentence."""


def program() -> str:
    """Return the name of the program in messages: `frontier` if the user typed that to start this
    process, otherwise `python -m frontier`."""
    typed = Path(sys.argv[0]).name if sys.argv else ""
    return typed if typed == "frontier" else "python -m frontier"


def near(path: str) -> str:
    """Return a path below the working directory relative to it, and any other path unchanged."""
    with suppress(ValueError, OSError):  # it is a URL, or the working directory no longer exists
        return str(Path(path).relative_to(Path.cwd()))
    return path


def named(name: str, title: str) -> str:
    """Return a name with its title; only the title if it begins with the name, as 2×5 tiles begins
    with 2x5; only the name if there is no title."""
    begins = re.match(rf"{re.escape(name)}\b", title.replace("×", "x"), re.IGNORECASE)
    return title if begins else f"{name}: {title}" if title else name


def printable(text: str) -> str:
    """Return text with an escape sequence for each character that does not print, except line
    breaks: \\x1b for ESC, which would start a command to the terminal."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


DAY, YEAR = 86400, 365.25 * 86400
"""The seconds of a day and of a year."""

MOST_DAYS = 1000
"""Longer durations are given in years."""


def counted(number: int, noun: str) -> str:
    """Return a number with a noun: 1 state, 2,000 states."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """Return a duration: 3.2 s, 4 min 05 s, 7 h 12 min, 3 d 04 h, 12 years."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours:02d} h" if days < MOST_DAYS else f"{seconds / YEAR:,.0f} years"


def brief(seconds: float) -> str:
    """Return a duration that may be less than a tenth of a second: 0.2 ms, 3.2 s, 4 min 05 s."""
    if 0 < seconds < 0.0001:
        return "< 0.1 ms"
    return f"{1000 * seconds:.1f} ms" if 0 < seconds < 0.1 else span(seconds)


def rough(seconds: float) -> str:
    """Return an approximate duration: 40 s, 5 min, 7 h, 3 d, 12 years."""
    units = ("s", 1, 100), ("min", 60, 100), ("h", 3600, 48), ("d", DAY, MOST_DAYS)
    for unit, length, most in units:
        if round(seconds / length) < most:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / YEAR:,.0f} years"


def rough_range(least: float, most: float) -> str:
    """Return a range of approximate durations: 1 to 3 min, 40 s to 2 min."""
    (low, unit), high = rough(least).split(), rough(most)
    return f"{low if high.endswith(f' {unit}') else f'{low} {unit}'} to {high}"


def age(seconds: float) -> str:
    """Return an age: 40 seconds, 1 minute, 5 hours, 3 days."""
    seconds = max(0, round(seconds))
    for unit, length, most in (("second", 1, 60), ("minute", 60, 60), ("hour", 3600, 48)):
        if seconds < most * length:
            return counted(seconds // length, unit)
    return counted(seconds // DAY, "day")


def moment(when: float, now: float | None = None) -> str:
    """Return a local time of day, 14:03, with the date unless it is today. when: a Unix time."""
    then, today = time.localtime(when), time.localtime(now)
    same = then[:3] == today[:3]
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", then)


def percent(share: float) -> str:
    """Return a share in percent. Only exactly 0 becomes 0.00%, and only exactly 1 becomes
    100.00%."""
    if 0 < share < 0.0001:
        return "< 0.01%"
    if 0.9999 < share < 1:
        return "> 99.99%"
    return f"{share:.2%}"


def size(count: float) -> str:
    """Return a number of bytes: 812 B, 3.4 MB, 1.2 TB."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if round(count) < 1000 or unit == "PB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" or count >= 99.95 else f"{count:.1f} {unit}"


def rounded_up(count: int) -> int:
    """Return a number of bytes rounded up to three digits, and to whole megabytes."""
    step = 10 ** max(6, len(str(count)) - 3)
    return -(-count // step) * step


def size_to_set(count: int) -> str:
    """Return a number of bytes, rounded up, in the form of a config and of the command line: 402MB,
    1.21GB."""
    count = rounded_up(count)
    unit, length = next(
        of for of in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)) if count >= of[1]
    )
    return f"{count / length:.10g}{unit}"


def rate(states: float, seconds: float) -> str:
    """Return states per second: 812/s, 45.2 M/s."""
    if seconds <= 0:
        return "–"
    value = states / seconds
    for unit in ("", " k", " M", " G"):
        if round(value) < 1000 or unit == " G":
            break
        value /= 1000
    return f"{value:.0f}{unit}/s" if value >= 99.95 else f"{value:#.3g}{unit}/s"


def power(exponent: int) -> str:
    """Return a power of ten as the label of an axis: 0.1, 1, 100, 10⁴."""
    return f"{10.0**exponent:g}" if exponent < 3 else f"10{str(exponent).translate(SUPERSCRIPTS)}"


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """Return facts under a title, as a table for a notebook."""
    left = 'style="text-align: left"'
    rows = [
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(fact)}</td></tr>"
        for name, fact in facts.items()
    ]
    return f"<strong>{escape(title)}</strong><table>{''.join(rows)}</table>"


def width(text: str) -> int:
    """Return the columns that text takes in a terminal: two for a wide character such as 狼."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def centred(text: str, columns: int) -> str:
    """Return text in the middle of `columns` columns of a terminal."""
    margin = (columns - width(text)) // 2
    return " " * margin + text + " " * (columns - width(text) - margin)


def terminal_width(file: TextIO | None) -> int:
    """Return the columns of the terminal that a file writes to: the value of COLUMNS, if set; 80 if
    unknown."""
    with suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", ""))) > 0:
            return columns
    with suppress(AttributeError, OSError, ValueError):  # there is no file, or it is not a terminal
        if file and (columns := os.get_terminal_size(file.fileno()).columns):
            return columns
    return 80


def fitted_to(text: str, file: TextIO | None) -> str:
    """Return a text, fitted to the width of the terminal if the file is one."""
    is_terminal = file is not None and file.isatty()
    return fitted(text, terminal_width(file)) if is_terminal else text


def fitted(text: str, width: int) -> str:
    """Return a text in lines of at most `width` characters, as far as its words and commands
    allow."""
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width or DRAWING.search(line):
        return [line]
    kept = QUOTED.sub(lambda found: found[0].replace(" ", "\0"), line)
    words, name, rest = kept.partition(f"{program()} ")  # a command at the end of a line
    label = LABEL.match(words)[0]  # type: ignore[index]  # the pattern matches every text
    column = len(label) if label.strip() else len(label) + 2
    indent = " " * (column if column < width // 2 else 4)
    lines = wrap(
        words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    lines += [indent + name + rest] if name else []
    return [part.replace("\0", " ") for part in lines]
