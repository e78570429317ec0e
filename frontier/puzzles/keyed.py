"""Puzzles searched by keys instead of numbers: all of them, and those of kinds with numbers.

The states of a `DigitEncoding` are digits that a function changes, so neither the lift nor a tower
is built. How many states can be reached is then unknown. If a kind has a base graph, its boards,
goals and notation stay, and `frontier.space.key_moves` makes the digits of a vertex and a sequence.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from frontier.errors import InputError, TooLarge
from frontier.puzzles.model import Encoding, Model
from frontier.puzzles.puzzle import Puzzle
from frontier.space.graph import BaseGraph
from frontier.space.key_moves import KeyMoves
from frontier.space.keys import Everything, KeySpace, Packing, Rules


class DigitEncoding(Encoding):
    """Boards as digits that a function changes: one vertex, and the digits as the sequence.

    undone: True if every move can be undone. classes: True if one state of each class is searched.
    """

    counted, undone, classes = False, True, False

    @property
    @abstractmethod
    def radices(self) -> Sequence[int]:
        """The radices of the digits."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The most neighbours of a state."""

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """The function that lists the neighbours of a state."""

    @property
    def graph(self) -> BaseGraph:
        raise InputError(
            "this puzzle is searched by keys and has no base graph, which the method ida needs; no "
            "other method solves positions if moves cannot be undone"
        )

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Everything:
        return Everything(prod(self.radices))

    def space(self, reach, vertex: np.ndarray, sequence: np.ndarray) -> KeySpace:
        radices = self.radices
        if Packing.of(radices) is None:
            raise TooLarge(
                f"a state of {len(radices)} digits below {max(radices):,} does not fit in a key of "
                "255 bits; choose a puzzle with fewer pieces"
            )
        return KeySpace(radices, self.undone, self.most, lambda: self.rules, self.classes)


class KeyedEncoding(DigitEncoding):
    """Boards as digits of the vertices and sequences of a base graph."""

    def __init__(self, model: Model):
        """model: the model whose base graph and origins are used."""
        of = model.encoding
        super().__init__(of.pieces, of.metric, of.given)
        self._model, self._of, self.shape_bytes = model, of, of.shape_bytes

    @cached_property
    def _moves(self) -> KeyMoves:
        return self._of.key_moves

    @property
    def radices(self) -> Sequence[int]:
        return self._moves.radices

    @property
    def most(self) -> int:
        return self._moves.most

    @property
    def rules(self) -> Rules:
        return self._moves.rules

    @property
    def graph(self) -> BaseGraph:
        return self._of.graph

    @property
    def explicit(self) -> Encoding:
        return self._of.explicit

    def _states(self, boards: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._digits(*self._of.states_of(boards))

    def _digits(self, vertex: np.ndarray, sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(vertex, 0), self._moves.digits_of(np.maximum(vertex, 0), sequence)

    def boards_of(self, vertex: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        return self._of.boards_of(*self._moves.states_of(sequence))

    def goal_states(self) -> np.ndarray:
        if not self.all_goals:
            return np.column_stack(self._digits(*self._model.origins()))
        states = self._of.goal_states()
        return np.column_stack(self._digits(states[:, 0], states[:, 1:]))


def keyed_model(model: Model, undone: bool = True) -> Model:
    """Return the model whose states are keys. undone: True if every move can be undone."""
    encoding = model.encoding
    if not isinstance(encoding, DigitEncoding):
        encoding = KeyedEncoding(model)
    encoding.undone, encoding.all_goals = undone, encoding.all_goals or not undone
    return Model(encoding, model.start)


def keyed(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle whose states are keys."""
    if not puzzle.model.counted:
        return puzzle
    maker = (_remade, puzzle.maker) if puzzle.maker else None
    return replace(puzzle, model=keyed_model(puzzle.model), maker=maker)


def _remade(make: Callable[..., Puzzle], arguments: tuple[Any, ...]) -> Puzzle:
    return keyed(make(*arguments))
