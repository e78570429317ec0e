"""Published sizes of layers, read from a file, and the differences of a run from them."""

import re
from pathlib import Path

from frontier.errors import FrontierError, InputError, path_error, why_unreadable
from frontier.report.statistics import RunStatistics

SHOWN = 10
"""The greatest number of differing depths to list."""

FORMS = 'lines "depth count", as in a b-file of the OEIS, or CSV with the columns depth and states'


class Differs(FrontierError):
    """A run has found sizes of layers that differ from the sizes in a table."""


def published(path: Path) -> dict[int, int]:
    """Return the number of states at each depth from a table: lines with a depth and a count, as in
    b-files of the OEIS, or CSV. Empty lines and comments after # are ignored.

    Raises InputError if the file is not such a table.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {why_unreadable(error)}"
        raise path_error(message, error) from None
    rows = [(number, _cells(line)) for number, line in enumerate(lines, start=1) if _cells(line)]
    columns = 0, 1
    if rows and not rows[0][1][0].isdecimal():
        head = [name.lower() for name in rows.pop(0)[1]]
        columns = _column(path, head, "depth", "n"), _column(path, head, "states", "count")
    counts: dict[int, int] = {}
    for number, cells in rows:
        try:
            depth, states = (int(cells[column]) for column in columns)
        except (ValueError, IndexError):
            raise InputError(f"{path}, line {number}: expected {FORMS}") from None
        if depth in counts:
            raise InputError(f"{path}, line {number}: depth {depth} is listed twice")
        counts[depth] = states
    if not counts:
        raise InputError(f"{path} has no counts: expected {FORMS}")
    return counts


def _cells(line: str) -> list[str]:
    """Return the values in a line, without its comment."""
    return re.split(r"[\s,;]+", line) if (line := line.partition("#")[0].strip(" \t,;")) else []


def _column(path: Path, head: list[str], *names: str) -> int:
    for name in names:
        if name in head:
            return head.index(name)
    raise InputError(f"{path} has no column {names[0]}: expected {FORMS}")


def compare(run: RunStatistics, path: Path) -> str:
    """Return a sentence that says that a run agrees with a table; raises Differs if it does not.

    Only the known layers of an incomplete run are compared; a complete run and the table must have
    the same depths.
    """
    expected = published(path)
    depths = range(max(len(run.counts), *(depth + 1 for depth in expected)))
    found = dict(enumerate(run.counts))
    known = [depth for depth in depths if run.complete or depth in found]
    wrong = [depth for depth in known if found.get(depth, 0) != expected.get(depth, 0)]
    if wrong:
        lines = [
            f"  depth {depth}: {_said(found, depth)} found, {_said(expected, depth)} expected"
            f"{_row(found, depth, path)}"
            for depth in wrong[:SHOWN]
        ]
        if len(wrong) > SHOWN:
            lines.append(f"  … and {len(wrong) - SHOWN} more depths")
        raise Differs("\n".join([f"{run.run.path} differs from {path}:", *lines]))
    whole = "" if run.complete else "; the run is not complete"
    return f"{run.run.path} agrees with {path} at all {len(known):,} depths{whole}"


def _row(found: dict[int, int], depth: int, path: Path) -> str:
    """Return the row that the table would have for a depth, to be pasted; "" if it would have
    none."""
    comma = "," if path.suffix.lower() == ".csv" else " "
    return f"; as a row: {depth}{comma}{found[depth]}" if depth in found else ""


def _said(counts: dict[int, int], depth: int) -> str:
    return f"{counts[depth]:,}" if depth in counts else "none"
