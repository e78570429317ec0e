"""Errors of a config's schema, in words, with the lines of the file that they concern."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_core import ErrorDetails

from frontier.config.schema import TABLES
from frontier.puzzles.settings import KIND_TABLES, Table
from frontier.text import counted
from frontier.values import A_SIZE

MOST_SAID = 5
"""The most errors of one config that a message describes."""

KEY_PART = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
KEY = rf"{KEY_PART}(?:[ \t]*\.[ \t]*{KEY_PART})*"
HEADER, SETTING = re.compile(rf"\[+[ \t]*({KEY})[ \t]*\]+"), re.compile(rf"[ \t]*({KEY})[ \t]*=")
"""The beginning of a table, and of a line that sets a key, in TOML. A row of an array is indented,
so it is not taken for the beginning of a table."""

EXPECTED = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_short": "a list that is not empty",
    "literal_error": "{expected}",
}
"""What the schema expects, by the type of its error."""


@dataclass(frozen=True)
class Source:
    """Where the keys of a config are written.

    name: the file, or a phrase. text: the content of the file if it is TOML. settings: overrides,
    which are written elsewhere.
    """

    name: str
    text: str = ""
    settings: tuple[str, ...] = ()

    def is_overridden(self, key: str) -> bool:
        """Return whether an override sets a key, a key in its table, or the table of the key."""
        overridden = (f"{setting.partition('=')[0].strip()}." for setting in self.settings)
        return any(of.startswith(f"{key}.") or f"{key}.".startswith(of) for of in overridden)

    def line(self, key: str) -> str:
        """Return the line that sets a key, or else the line where its table begins, in words; "" if
        there is none.

        The text is scanned, not parsed: a line inside a string of several lines may be taken for
        the line of a key.
        """
        wanted, table, longest, found = key.split("."), list[str](), 0, ""
        for number, line in enumerate(self.text.split("\n"), start=1):
            if header := HEADER.match(line):
                path = table = _parts(header[1])
            elif setting := SETTING.match(line):
                path = table + _parts(setting[1])
            else:
                continue
            if longest < len(path) and path == wanted[: len(path)]:
                longest, found = len(path), f"line {number}"
        return "" if self.is_overridden(key) else found

    def begin(self, *keys: str) -> str:
        """Return the beginning of a message about some keys: the file and the line of the first;
        "" if overrides set all of them."""
        if keys and all(map(self.is_overridden, keys)):
            return ""
        line = self.line(keys[0]) if keys else ""
        return f"{self.name}, {line}: " if line else f"{self.name}: "


def _parts(key: str) -> list[str]:
    """Return the parts of a dotted key of TOML, without quotes."""
    return [part.strip("\"'") for part in re.findall(KEY_PART, key)]


def complaints(errors: Sequence[ErrorDetails], schema: type[Table], source: Source) -> str:
    """Return a sentence for the first errors of the schema of a whole config, with their lines.
    Consecutive errors share a list of known keys."""
    keys, said = list(map(key_of, errors)), [_complaint(of, schema) for of in errors[:MOST_SAID]]
    lines = ["", *map(source.line, keys[1:MOST_SAID])]
    following = [hint for _, hint in said[1:]] + [""]
    sentences = [
        f"{line}{': ' if line else ''}{text}"
        + ("" if hint == next_hint and ("known:" in hint or "under" in hint) else hint)
        for line, (text, hint), next_hint in zip(lines, said, following, strict=True)
    ]
    if len(errors) > MOST_SAID:
        sentences.append(f"and {counted(len(errors) - MOST_SAID, 'more error')}")
    return source.begin(*keys) + "; ".join(sentences)


def key_of(error: ErrorDetails) -> str:
    """Return the dotted key of a schema error."""
    return ".".join(str(part) for part in error["loc"] if part not in KIND_TABLES)


def _complaint(error: ErrorDetails, schema: type[Table]) -> tuple[str, str]:
    """Return a sentence for a schema error, and a hint that ends it."""
    location, key = [str(part) for part in error["loc"]], key_of(error)
    input, context = error["input"], error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        table = TABLES[location[-2]] if len(location) > 1 else schema
        return f"unknown key {key}", _hint(location, key, list(table.model_fields))
    if error["type"] == "missing":
        return (f"the table [{key}] is missing" if key == "puzzle" else f"{key} is missing"), ""
    if error["type"] == "union_tag_not_found":
        return f"{key}.kind is missing", f"; known: {', '.join(KIND_TABLES)}"
    if error["type"] == "union_tag_invalid":
        return f"{key}.kind = {context['tag']!r}", f"; known: {', '.join(KIND_TABLES)}"
    if error["type"] in ("model_type", "model_attributes_type", "dict_type"):
        such = ' with kind = "tiles"' if key == "puzzle" else ""
        return f"{key} = {input!r}: expected a table of keys, such as [{key}]{such}", ""
    if error["type"].startswith("byte_size"):
        return f"{key} = {input!r}: {A_SIZE}", ""
    if error["type"] == "value_error":
        prefix = f"{key} = {input!s}: " if len(location) > 1 else ""
        return f"{prefix}{context['error']}", ""
    expected = EXPECTED.get(error["type"])
    said = f"expected {expected.format_map(context)}" if expected else error["msg"].lower()
    return f"{key} = {input!r}: {said}", ""


def _hint(location: list[str], key: str, known: list[str]) -> str:
    """Return the key that was probably meant by an unknown one, or all keys of its table."""
    homes = _homes_of(location[-1], key)
    if len(location) == 1 and any(home.startswith("puzzle.") for home in homes):
        return "; the keys of a puzzle stand under [puzzle]"
    table = "".join(f"{part}." for part in key.split(".")[:-1])
    near = homes or [
        f"{table}{name}" for name in difflib.get_close_matches(location[-1], known, 1, 0.5)
    ]
    hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(known))}."
    if location[:-1] != ["cluster"]:
        return hint.removesuffix(".")
    return f"{hint} Requests to a queue go into cluster.options (docs/reference/clusters.md)"


def _homes_of(name: str, key: str) -> list[str]:
    """Return the dotted keys of a misplaced name in the tables that allow it. key: as written."""
    keys = (
        f"{'puzzle' if table in KIND_TABLES else table}.{name}"
        for table, schema in TABLES.items()
        if name in schema.model_fields
    )
    return [home for home in dict.fromkeys(keys) if home != key]
