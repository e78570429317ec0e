"""The [puzzle] table of each kind in a config, as schemas.

docs/reference/puzzles.md explains the keys.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
)

from frontier.puzzles.moves import metrics_of
from frontier.text import printable

LONGEST_TITLE = 100

# A type checker cannot know `Literal[*metrics_of(…)]`.


SPACES = str.maketrans(dict.fromkeys("\t\n\r\u00a0\u3000", " "))
"""Spaces and line breaks that a board may have between its labels, as a translation."""


def _check_prints(value: Any) -> Any:
    """Return a value of a puzzle's table unchanged; raises ValueError if a text in it does not
    print, because a terminal could take it for a command."""
    if isinstance(value, str) and not value.translate(SPACES).isprintable():
        raise ValueError(f"{printable(value)} has a character that does not print; remove it")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not str(key).isprintable():
                raise ValueError(f"{printable(str(key))} has a character that does not print")
            _check_prints(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_prints(item)
    return value


class Table(BaseModel):
    """A table of a config, which allows no other keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _notation(value):
    """Return a board in the form of its puzzle: text, lists of text and numbers, or a table of
    pieces and their cells. The puzzle checks the rest."""
    if isinstance(value, dict):
        return {str(key): _notation(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_notation(item) for item in value]
    if not isinstance(value, str | int | float):
        raise ValueError("expected text, or lists of text and numbers")
    return value


def _title(title: str) -> str:
    """Return a title; raises ValueError if it is not one line of text."""
    if not title.strip() or not title.isprintable() or len(title) > LONGEST_TITLE:
        raise ValueError(f"expected one line of at most {LONGEST_TITLE} characters")
    return title


Notation = Annotated[Any, AfterValidator(_notation)]
Title = Annotated[str, AfterValidator(_title)] | None


class TitledTable(Table):
    """The keys of all kinds. title: the title of pages and pictures, instead of the kind's own."""

    _prints = field_validator("*")(_check_prints)

    title: Title = None
    goal: Notation | None = None
    start: Notation | None = None


class GoalsTable(TitledTable):
    """The keys of the kinds that may have several goals."""

    goals: list[Notation] | None = Field(default=None, min_length=1)


Colour = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]


class TilesTable(GoalsTable):
    kind: Literal["tiles"]
    rows: StrictInt = Field(ge=1)
    columns: StrictInt = Field(ge=1)
    metric: Literal[*metrics_of("tiles")] = "step"  # type: ignore[valid-type]  # see above
    blank: Notation | None = None


class BlocksTable(GoalsTable):
    kind: Literal["blocks"]
    alike: list[str] = []
    metric: Literal[*metrics_of("blocks")] = "step"  # type: ignore[valid-type]  # see above
    symbols: dict[str, str] = {}
    colours: dict[str, Colour] = {}
    horizontal: str | None = None
    vertical: str | None = None


class GraphTable(GoalsTable):
    kind: Literal["graph"]
    adjacency: list[list[StrictInt]]
    blank: str = "."
    colours: dict[str, Colour] = {}
    picture: str | None = None


class CellsTable(GoalsTable):
    kind: Literal["cells"]
    cells: list[Notation]
    moves: Notation
    pieces: Notation
    alike: list[str | list[str]] = []
    metric: Literal[*metrics_of("cells")] = "step"  # type: ignore[valid-type]  # see above


class PatternTable(TitledTable):
    kind: Literal["pattern"]
    rows: StrictInt = Field(ge=1)
    columns: StrictInt = Field(ge=1)
    k: StrictInt | None = None
    labels: list[StrictInt] | None = None
    blank: Notation | None = None
    metric: Literal[*metrics_of("pattern")] = "step"  # type: ignore[valid-type]  # see above


class PermutationsTable(GoalsTable):
    kind: Literal["permutations"]
    generators: dict[str, Notation]
    positions: StrictInt | None = None
    orientations: Notation = 1
    closed: StrictBool = False
    metric: Literal[*metrics_of("permutations")] = "turns"  # type: ignore[valid-type]  # see above
    picture: str | None = None
    rotations: dict[str, Notation] | None = None
    up_to_rotations: StrictBool = False


class ProgramTable(TitledTable):
    """The keys of a program; all others are parameters of its function. text, stated: see
    `frontier.puzzles.program_file.read_program`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Notation]

    kind: Literal["program"]
    file: str
    text: str
    stated: dict[str, Any]


AnyPuzzleTable = (
    TilesTable
    | BlocksTable
    | GraphTable
    | CellsTable
    | PatternTable
    | PermutationsTable
    | ProgramTable
)
PuzzleTable = Annotated[AnyPuzzleTable, Field(discriminator="kind")]

KIND_TABLES: dict[str, type[TitledTable]] = {
    get_args(table.model_fields["kind"].annotation)[0]: table for table in get_args(AnyPuzzleTable)
}
"""The schemas by kind."""
