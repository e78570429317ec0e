"""The configs that come with the program, by name.

They are in `configs/` in the repository, and inside the package in a wheel.
"""

import difflib
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeVar

from frontier.errors import InputError
from frontier.text import program

PlaceT = TypeVar("PlaceT")

FOLDER = Path("configs")
"""The folder, below the working directory, where commands and pages expect the configs."""


@cache
def _folder() -> Path:
    """Return the folder of the configs: inside an installed package, or beside the package in a
    clone."""
    packed = Path(__file__).parents[1] / "configs"
    return packed if packed.is_dir() else Path(__file__).parents[2] / "configs"


def place_of(what: PlaceT) -> PlaceT | Path:
    """Return the path of a config if `what` is only its name and the working directory holds
    nothing of that name; otherwise `what`."""
    if isinstance(what, str | Path):
        path = _folder() / f"{what}.toml"
        if str(what) == path.stem and path.is_file() and not Path(what).exists():
            return path
    return what


def names() -> list[str]:
    """Return the names of all configs, sorted by the numbers and words in them."""
    split_names = (re.split(r"(\d+)", path.stem) for path in _folder().glob("*.toml"))
    return ["".join(parts) for parts in sorted(split_names, key=_numbered)]


def _numbered(parts: list[str]) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in parts]


def text_of(name: str) -> str:
    """Return the text of a config; raises InputError if no config has this name."""
    if name not in names():
        hint = _near(name) or f"`{program()} list` shows them"
        raise InputError(f"no config {name!r} comes with the program; {hint}")
    return (_folder() / f"{name}.toml").read_text(encoding="utf-8")


def files_of(name: str) -> dict[str, str]:
    """Return the texts of the files of a config, by their names: its TOML, and its program if it
    has one; raises InputError if no config has this name."""
    files, program_file = {f"{name}.toml": text_of(name)}, _folder() / f"{name}.py"
    if program_file.is_file():
        files[program_file.name] = program_file.read_text(encoding="utf-8")
    return files


def found_by(words: Collection[str]) -> list[str]:
    """Return the names of the configs whose names or first sentences contain one of some words,
    whatever their case."""
    lower = [word.lower() for word in words]
    texts = {name: f"{name} {title_of(name)}".lower() for name in names()}
    return [name for name, text in texts.items() if any(word in text for word in lower)]


def title_of(name: str) -> str:
    """Return the first sentence of a config's comment."""
    comment = "".join(re.findall(r"\A(?:#.*\n)*", text_of(name)))
    return re.split(r"(?<=\.)\s", re.sub(r"\s*\n?# ", " ", f"\n{comment}").strip())[0]


def remedy(missing: str) -> str:
    """Return advice for a user who named the config `missing`, which does not exist."""
    name = PurePosixPath(missing).name.removesuffix(".toml")
    if name in names():
        return f"use the name alone, {name}, for the config that comes with the program"
    return _near(name) or f"`{program()} list` shows the configs that come with the program"


def _near(name: str) -> str | None:
    """Return a question that names the config most like `name`, or None."""
    near = difflib.get_close_matches(name.lower(), names(), 1, cutoff=0.75)
    found = near or (found_by([name]) if len(name) > 2 else [])
    return f"did you mean {' or '.join(found[:3])}?" if found else None
