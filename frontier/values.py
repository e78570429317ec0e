"""Values from Python code, in the form of a config file."""

import json
import re
from collections.abc import Mapping
from datetime import time
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from frontier.errors import InputError

A_SIZE = 'a size is a number with a unit and without commas, such as "4GB" or "1.5GB"'
NUMBER, LEAST_BARE = re.compile(r"(\d*\.)?\d+", re.ASCII), 10**6
"""A size without a unit, and the least that is taken for a number of bytes."""
SIZE = re.compile(r"(\d*\.)?\d+\s*[A-Za-z]*", re.ASCII)
"""The form of a size, in words and as a pattern."""


def as_written(values: Any, name: str) -> Any:
    """Return values as text, numbers, booleans, lists and tables; None stays None.

    Tuples and arrays become lists, as in a file. Raises InputError, beginning with `name`, if
    `values` holds anything else.
    """
    try:
        return json.loads(json.dumps(values, default=_written))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from None


def size_written(size: Any) -> Any:
    """Return a size unchanged, for pydantic to read. Raises ValueError unless the whole text is a
    size, because pydantic reads "1,5GB" as one byte, or if it is a small number without a unit."""
    if isinstance(size, bool) or (isinstance(size, str) and not SIZE.fullmatch(size.strip())):
        raise ValueError(A_SIZE)
    text = str(size).strip()
    if NUMBER.fullmatch(text) and 0 < float(text) < LEAST_BARE:
        raise ValueError(f'{text} without a unit is a number of bytes; did you mean "{text}GB"?')
    return size


def bytes_of(name: str, size: str | int) -> int:
    """Return a size, such as "4GB", in bytes. Raises InputError, beginning with `name`, unless it
    is a size."""
    from pydantic import ByteSize, TypeAdapter, ValidationError

    try:
        return int(TypeAdapter(ByteSize).validate_python(size_written(size)))
    except ValueError as error:
        reason = A_SIZE if isinstance(error, ValidationError) else error
        raise InputError(f"{name} = {size!r}: {reason}") from None


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} = {value!r}: expected a whole number, at least {least}")


def _written(value: Any) -> Any:
    if isinstance(value, Path | time):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is nothing that a config file could say")
