"""Puzzles of the user's own: a file whose function lists the neighbours of a state.

The file defines `puzzle`, a function that takes the keys of the [puzzle] table, except `kind`,
`file` and `title`, as parameters and returns a table of

    radices      the radix of each digit of a state
    start        the state at depth 0; or `starts`, a list of them
    neighbours   neighbours(state, out) writes the neighbours of a state to the rows of `out`, and
                 returns their number; compiled by Numba
    most         the most neighbours of a state
    undone       (True) whether each move is undone by a move
    layer        layer(state), the depth of a state, if it can be read off the state; compiled
    canonical    canonical(state, out) writes the representative of the state's class under a
                 symmetry to `out`; the search then keeps one state of each class; compiled
    class_size   class_size(state), the number of states in the class of a state; compiled
    by_key       (False) whether `neighbours` takes and writes keys of one word, uint64, and
                 canonical(key) returns a key
    show, read   show(state) returns a text, read(text) the digits of the state
    move         move(before, after) returns the name of a move

The file is code. A process runs it only if its user names the file, or trusts the text that a run
has stored.
"""

import inspect
import operator
import sys
import traceback
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from frontier.errors import InputError
from frontier.space.keys import Packing, Rules
from frontier.text import counted

MAKER = "puzzle"
"""The name of the function in a user's file."""

OWN_KEYS = ("kind", "file", "title", "start", "text", "stated")
"""The keys of a [puzzle] table that are not parameters of the function."""

NEEDED = ("radices", "neighbours", "most")
FUNCTIONS = ("neighbours", "layer", "canonical", "class_size", "show", "read", "move")
ALLOWED = (*NEEDED, *FUNCTIONS[1:], "start", "starts", "undone", "by_key")

GREATEST_RADIX, GREATEST_MOST = 1 << 62, 1 << 16
"""The greatest radix of a digit, and the greatest number of neighbours of a state."""

FILE_BYTES = 1 << 20
"""The greatest size of a user's file."""

_trusted: set[str] = set()
"""The digests of the texts that the user of this process has named or trusted."""

_trusts_stored = False
"""True if the user trusts any text that a run has stored."""


def trust_stored() -> None:
    """Allow this process to run any text that a run has stored."""
    global _trusts_stored
    _trusts_stored = True


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def trust(digest: str) -> None:
    """Allow this process to run the text with this digest as code."""
    _trusted.add(digest)


class Program:
    """A user's file, with the parameters of its function.

    file: its path as written in the config. text: its content. parameters: what its function is
    called with.
    """

    def __init__(self, file: str, text: str, parameters: Mapping[str, Any]):
        self.file, self.text, self.parameters = file, text, dict(parameters)

    @property
    def trusted(self) -> bool:
        """True if this process may run the text."""
        return _trusts_stored or digest_of(self.text) in _trusted

    @cached_property
    def table(self) -> dict[str, Any]:
        """What the function returns, checked; raises InputError if the text is not trusted."""
        if not self.trusted:
            raise InputError(
                f"the moves are code, in the text of {self.file} that the run has stored, and "
                "nobody has named it here: name the config that belongs to the file, or trust the "
                "stored text"
            )
        table = self._returned()
        if not isinstance(table, Mapping):
            raise self._wrong(f"{MAKER}() returns {table!r:.100}: expected a dict")
        for key in table:
            if key not in ALLOWED:
                raise self._wrong(f"{MAKER}() returns {key!r}; known: {', '.join(ALLOWED)}")
        for key in NEEDED:
            if key not in table:
                raise self._wrong(f"{MAKER}() returns no {key!r}")
        for key in FUNCTIONS:
            if not callable(value := table.get(key)) and (key in NEEDED or value is not None):
                raise self._wrong(f"{key} = {value!r:.100}: expected a function")
        if table.get("class_size") is not None and table.get("canonical") is None:
            raise self._wrong("class_size counts the states of classes, and there is no canonical")
        for key in ("undone", "by_key"):
            if not isinstance(value := table.get(key, False), bool):
                raise self._wrong(f"{key} = {value!r:.100}: expected True or False")
        return dict(table)

    def _returned(self) -> Any:
        """Return what the user's function returns. What it prints goes to standard error."""
        names: dict[str, Any] = {"__name__": Path(self.file).stem, "__file__": self.file}
        try:
            with redirect_stdout(sys.stderr):
                exec(compile(self.text, self.file, "exec"), names)
                if not callable(make := names.get(MAKER)):
                    raise self._wrong(f"it defines no function {MAKER}")
                known = inspect.signature(make).parameters
                takes_any = any(of.kind is of.VAR_KEYWORD for of in known.values())
                for key in self.parameters:
                    if key not in known and not takes_any:
                        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
                        raise self._wrong(f"puzzle.{key}: {MAKER}() {takes}")
                if taken := [key for key in known if key in OWN_KEYS]:
                    raise self._wrong(
                        f"{MAKER}() takes {taken[0]}, which the program uses itself; rename it"
                    )
                return make(**self.parameters)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            lines = [
                frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == self.file
            ]  # fmt: skip
            line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
            where = f"line {line}: " if line else ""
            raise self._wrong(f"{where}{type(error).__name__}: {error}") from None

    def _wrong(self, why: str) -> InputError:
        return InputError(f"puzzle.file = {self.file}: {why}")

    def call(self, name: str, *arguments: Any) -> Any:
        """Return the result of a function of the file; raises InputError if it raises an error."""
        try:
            with redirect_stdout(sys.stderr):
                return self.table[name](*arguments)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise self._wrong(f"{name} raises {type(error).__name__}: {error}") from None

    def written(self, name: str, *arguments: Any) -> str:
        """Return the text that a function of the file returns."""
        text = self.call(name, *arguments)
        if not (isinstance(text, str) and text.strip() and text.replace("\n", "").isprintable()):
            raise self._wrong(
                f"{name} returns {text!r:.100}: expected a text of printable characters"
            )
        return text

    @cached_property
    def rules(self) -> Rules:
        """The functions of the space."""
        table = self.table
        most, optional = operator.index(table["most"]), ("layer", "canonical", "class_size")
        given: dict[str, Any] = {name: table.get(name) for name in optional}
        return Rules(table["neighbours"], most, table.get("by_key", False), **given)

    def _whole(self, key: str, values: Iterable[Any]) -> list[int]:
        """Return values as whole numbers."""
        try:
            return [operator.index(value) for value in values]
        except TypeError:
            raise self._wrong(
                f"{key} = {values!r:.100}: expected a list of whole numbers"
            ) from None

    @property
    def stated(self) -> dict[str, Any]:
        """What the function states of the space, as a run stores it."""
        table = self.table
        if ("start" in table) == ("starts" in table):
            raise self._wrong(f"{MAKER}() returns either 'start' or 'starts'")
        radices = self._whole("radices", table["radices"])
        starts = [table["start"]] if "start" in table else table["starts"]
        if not isinstance(starts, Iterable):
            raise self._wrong(f"starts = {starts!r:.100}: expected a list of states")
        starts = [self._whole("start", state) for state in starts]
        if not radices or min(radices) < 1 or max(radices) > GREATEST_RADIX:
            raise self._wrong(
                f"radices = {radices}: expected one number, from 1 to 2^62, for each digit"
            )
        if (packing := Packing.of(radices)) is None:
            raise self._wrong(
                f"the {counted(len(radices), 'digit')} of a state do not fit four words of 64 bits"
            )
        most = table["most"]
        if not hasattr(most, "__index__") or not 1 <= operator.index(most) <= GREATEST_MOST:
            raise self._wrong(
                f"most = {most!r:.100}: expected a whole number from 1 to {GREATEST_MOST:,}"
            )
        for state in starts:
            if len(state) != len(radices) or not all(
                0 <= digit < radix for digit, radix in zip(state, radices, strict=True)
            ):
                raise self._wrong(
                    f"start = {state}: expected {counted(len(radices), 'digit')}, each from 0 to "
                    "below its radix"
                )
        if not starts:
            raise self._wrong("starts is empty: name at least one state")
        if table.get("by_key") and packing.word[-1] > 0:
            raise self._wrong("by_key is for keys of one word, 63 bits")
        return {
            "radices": radices,
            "starts": starts,
            "most": operator.index(most),
            "undone": table.get("undone", True),
            "layer": table.get("layer") is not None,
            "classes": table.get("canonical") is not None,
        }


def read_program(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the [puzzle] table of a program with the text of its file, and with what the file
    states, after running the file.

    folder: the directory from which its path counts. Raises InputError if the file cannot be used.
    """
    for key in ("text", "stated"):
        if key in table:
            raise InputError(f"puzzle.{key}: the program sets this key itself; remove it")
    if not isinstance(file := table.get("file"), str):
        raise InputError("puzzle.file is missing: name the Python file with the moves")
    path = folder / file
    try:
        data = path.read_bytes()
        if len(data) > FILE_BYTES:
            raise InputError(f"puzzle.file = {file}: more than {FILE_BYTES:,} bytes")
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"puzzle.file = {file}: {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"puzzle.file = {file}: not UTF-8: {error}") from None
    trust(digest_of(text))
    parameters = {key: value for key, value in table.items() if key not in OWN_KEYS}
    return {**table, "text": text, "stated": Program(file, text, parameters).stated}
