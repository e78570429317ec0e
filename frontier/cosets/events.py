"""The steps of a run by cosets, as events."""

from dataclasses import dataclass

from frontier.runs.events import Working


@dataclass(frozen=True)
class Asking(Working):
    """Tables are made or read, or a question about all cosets is under way."""

    doing: str
    """What is under way, in words."""
    lower: int | None = None
    """The lower bound on God's number, None before there are tables."""
    upper: int | None = None
    """The upper bound, None before there are tables."""
    limit: int | None = None
    """The number of moves that the question is about, None before there is one."""
    done: int = 0
    """How many portions of the question are done."""
    portions: int = 0
    """How many portions the question has."""
    left: float | None = None
    """The seconds that the question may still take, None if unknown."""
    positions: int = 0
    """How many positions were found to need more moves."""
