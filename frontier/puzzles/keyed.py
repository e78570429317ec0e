"""Puzzles of known kinds, searched by keys instead of numbers.

Boards, goals and notation stay those of the kind. A state is the digits that
`frontier.space.key_moves` makes of the kind's vertex and sequence, so neither the lift nor a tower
is built. How many states can be reached is then unknown.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from frontier.errors import TooLarge
from frontier.puzzles.model import Encoding, Model
from frontier.puzzles.puzzle import Puzzle
from frontier.space.graph import BaseGraph
from frontier.space.key_moves import KeyMoves
from frontier.space.keys import Everything, KeySpace, Packing


class KeyedEncoding(Encoding):
    """Boards as the digits of states: one vertex, and the digits as the sequence."""

    counted = False

    def __init__(self, model: Model, undone: bool):
        """model: the model whose base graph and origins are used."""
        of = model.encoding
        super().__init__(of.pieces, of.metric, of.given)
        self._model, self._of, self.undone, self.shape_bytes = model, of, undone, of.shape_bytes

    @cached_property
    def _moves(self) -> KeyMoves:
        return self._of.key_moves

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

    def reach(self, vertex: np.ndarray, sequence: np.ndarray) -> Everything:
        return Everything(prod(self._moves.radices))

    def space(self, reach, vertex: np.ndarray, sequence: np.ndarray) -> KeySpace:
        radices = self._moves.radices
        if Packing.of(radices) is None:
            raise TooLarge(
                f"a state of {len(radices)} digits below {max(radices):,} does not fit in a key of "
                "255 bits; choose a puzzle with fewer pieces"
            )
        return KeySpace(radices, self.undone, self._moves.most, lambda: self._moves.rules)

    def goal_states(self) -> np.ndarray:
        if self.undone:
            return np.column_stack(self._digits(*self._model.origins()))
        states = self._of.goal_states()  # whichever of them a start reaches
        return np.column_stack(self._digits(states[:, 0], states[:, 1:]))


def keyed_model(model: Model, undone: bool = True) -> Model:
    """Return the model whose states are keys. undone: True if every move can be undone."""
    return Model(KeyedEncoding(model, undone), model.start)


def keyed(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle whose states are keys."""
    if not puzzle.model.counted:
        return puzzle
    maker = (_remade, puzzle.maker) if puzzle.maker else None
    return replace(puzzle, model=keyed_model(puzzle.model), maker=maker)


def _remade(make: Callable[..., Puzzle], arguments: tuple[Any, ...]) -> Puzzle:
    return keyed(make(*arguments))
