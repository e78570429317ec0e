"""Puzzles: what their positions are, how they move, how they are written."""

from frontier.puzzles.puzzle import Board, Puzzle, State
from frontier.puzzles.tiles import Tiles

KINDS: dict[str, type[Puzzle]] = {"tiles": Tiles}

__all__ = ["KINDS", "Board", "Puzzle", "State", "Tiles", "puzzle_of"]


def puzzle_of(settings: dict) -> Puzzle:
    """The puzzle that a checked ``[puzzle]`` table describes; its `kind` names the class."""
    settings = dict(settings)
    kind = KINDS[settings.pop("kind")]
    return kind(**{key: _frozen(value) for key, value in settings.items()})


def _frozen(value):
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
