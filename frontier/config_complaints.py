"""Errors of a config's schema, in words."""

import difflib
from collections.abc import Sequence

from pydantic_core import ErrorDetails

from frontier.config_tables import TABLES
from frontier.config_values import A_SIZE
from frontier.puzzles.settings import KIND_TABLES, Table

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


def complaints(errors: Sequence[ErrorDetails], schema: type[Table]) -> str:
    """Return a sentence for errors of the schema of a whole config. Consecutive errors share a list
    of known keys."""
    said = [_complaint(error, schema) for error in errors]
    following = [hint for _, hint in said[1:]] + [""]
    return "; ".join(
        text if hint == next_hint and "known:" in hint else f"{text}{hint}"
        for (text, hint), next_hint in zip(said, following, strict=True)
    )


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
    near = _homes_of(location[-1], key) or difflib.get_close_matches(location[-1], known, 1, 0.5)
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
