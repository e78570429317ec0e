"""The expansion of sorted lists of keys, whose neighbours a program's function lists.

What the function states is checked: the digits and the number of all neighbours, the depth of all
states if it gives one, and for some states of each layer that moves are undone. So a wrong function
ends the search with an error that names a state.
"""

from collections.abc import Callable
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from frontier.errors import InputError, Stopped
from frontier.kernels.key_parts import MOST_PARTS, PART_KEYS, Parts, ordered, spread
from frontier.kernels.key_rules import (
    compiled_classes,
    compiled_expansion,
    compiled_values,
    reason,
)
from frontier.kernels.lists import ListKernel, without
from frontier.space.keys import KeySpace, Rules
from frontier.stopwatch import preparing
from frontier.text import size

SMALL_LIST = 4096
"""Shorter lists of keys are expanded by one thread and sorted by NumPy."""

PROCESS_BYTES = 330_000_000
"""The bytes of a process with its libraries and kernels, before it does any work (measured)."""

BLOCK_KEYS = 1 << 18
"""The most neighbours that a thread lists at a time."""

SAMPLE, TRIED = 1000, 256
"""States of a layer by which its neighbours are estimated, and states whose moves are tried."""

FEW = 500
"""A search by a function of this package expands so many states before it compiles the function,
which takes two seconds. `_few` of them remain."""


class KeyLists(ListKernel):
    """Expands lists of keys."""

    space: KeySpace

    def __init__(self, space: KeySpace):
        self.space = space
        self._threads, self._room, self._few = 1, 1 << 62, FEW

    def allow(self, threads: int, room: int) -> None:
        self._threads, self._room = threads, room

    @cached_property
    def _rules(self) -> Rules:
        return self.space.rules

    @cached_property
    def _expand(self) -> Callable:
        return self._compiled(compiled_expansion, self._rules)

    @cached_property
    def _represent(self) -> Callable:
        return self._compiled(compiled_classes, self._rules)

    def _compiled(self, make: Callable, *of: Any) -> Callable:
        """Return a function that Numba makes from functions of the program."""
        with preparing:
            from numba.core.errors import NumbaError

            import frontier.jit.cache  # noqa: F401  # its clock begins before Numba compiles

            try:
                return make(self.space, *of)
            except (NumbaError, TypeError) as error:
                raise InputError(f"puzzle.file: Numba cannot compile it: {reason(error)}") from None

    def _all_neighbours(self, side: int, numbers: np.ndarray) -> np.ndarray:
        return self._found(self._listed, numbers)[0]

    def neighbours(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys, degree = self._found(self._listed, numbers)
        return keys, np.repeat(np.arange(numbers.size), degree)

    def moves(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours themselves, where `neighbours` returns their representatives."""
        keys, degree = self._found(self._moved, numbers)
        return keys, np.repeat(np.arange(numbers.size), degree)

    def _found(self, listed: Callable, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all neighbours, in order, and the number of each state's."""
        ((words, degree),) = spread(1, listed, [self.space.words_of(numbers)])
        return self.space.keys_of(words).copy(), degree

    def represented(self, numbers: np.ndarray) -> np.ndarray:
        """Return the keys of the representatives of states."""
        if not self.space.classes:
            return numbers
        words = np.array(self.space.words_of(numbers), order="C")
        spread(1, self._classify, [words])
        return self.space.keys_of(words)

    def members(self, numbers: np.ndarray) -> int:
        """Return the number of states in some classes; 0 if the program does not define
        `class_size`."""
        if self._rules.class_size is None or not numbers.size:
            return 0
        sizes = self._values("class_size", self._rules.class_size, self.space.words_of(numbers))
        for at in int(sizes.argmin()), int(sizes.argmax()):
            if not 1 <= sizes[at] <= self.space.states:
                raise InputError(
                    f"puzzle.file: class_size says {sizes[at]} for the state "
                    f"{self._digits(numbers[at])}: a class has at least one state, and at most "
                    f"{self.space.states:,}"
                )
        return (int((sizes >> 31).sum()) << 31) + int((sizes & 0x7FFFFFFF).sum())

    def _values(self, name: str, function: Callable, words: np.ndarray) -> np.ndarray:
        """Return what a function of the program gives for states, int64[N]. name: its name."""
        values = self._compiled(compiled_values, name, function)
        try:
            return spread(1, values, [np.ascontiguousarray(words)])[0]
        except Exception as error:  # what the user's function raises
            raise InputError(
                f"puzzle.file: {name} raises {type(error).__name__}: {error}"
            ) from None

    def _listed(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of the representatives of all neighbours, and the number of each
        state's."""
        found, degree = self._moved(words)
        if self.space.classes:
            self._classify(found)
        return found, degree

    def _classify(self, words: np.ndarray) -> None:
        """Replace states by their representatives."""
        states, represent = words.copy(), self._represent
        try:
            if represent(words):
                return
        except Exception:  # what the user's function raises
            pass
        for i in range(len(states)):
            self.space.represented(self.space.keys_of(states[i : i + 1]))
        raise InputError("puzzle.file: canonical is wrong, but only when Numba compiles it")

    def _moved(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of all neighbours, and the number of each state's."""
        if self._rules.ours and len(words) <= self._few:
            self._few -= len(words)
            keys = self.space.keys_of(words)
            listed = [keys[:0], *(self.space.listed(keys[i : i + 1]) for i in range(len(keys)))]
            degree = np.array([len(near) for near in listed[1:]], np.int64)
            return self.space.words_of(np.concatenate(listed)), degree
        words = np.ascontiguousarray(words)
        found = np.empty((len(words) * self._rules.most, self.space.words), np.uint64)
        degree, expand, why = np.empty(len(words), np.int64), self._expand, ""
        try:
            count = expand(words, found, degree)
        except Exception as error:  # what the user's function raises
            count, why = -1, f"it raises {type(error).__name__}: {error}"
        if count < 0:
            self._refuse(words, why)
        return found[:count], degree

    def _refuse(self, words: np.ndarray, why: str) -> None:
        """Raise InputError that says which of some states has wrong neighbours."""
        if len(words) > 1:
            for i in range(len(words)):
                self._moved(words[i : i + 1])
        key = self.space.keys_of(words)[:1]
        try:
            self.space.listed(key)
            why = why or "but only when Numba compiles it"
        except ValueError as error:
            why = str(error)
        raise InputError(
            f"puzzle.file: neighbours is wrong for the state {self._digits(key)}: {why}"
        )

    def expand(self, side: int, current: np.ndarray, previous: np.ndarray) -> np.ndarray:
        # At the growth so far the next layer has so many keys, twice while it is put in order.
        expected = 2 * current.size**2 // (previous.size or current.size)
        if current.size >= SMALL_LIST:
            self._check_room(previous.size + current.size + expected)
        new = self.beside(current, previous)
        self.check_layer(new, current)
        return new

    def beside(self, current: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """Return the neighbours of states that are in neither of two sorted lists of keys, sorted.

        current: the states. previous: states of the layer before theirs.
        """
        space = self.space
        self._try_moves(current)
        if current.size < SMALL_LIST:
            neighbours = self._all_neighbours(0, current)
            neighbours.sort()
            return without(neighbours, previous, current)
        before, words = space.words_of(previous), space.words_of(current)
        _, degree = self._found(self._moved, current[:: max(1, len(words) // SAMPLE)])
        total = len(before) + ceil((1 + degree.mean()) * len(words))
        most = self._rules.most
        return space.keys_of(
            self._new((before, words), words, words, lambda w: self._listed(w)[0], most, total)
        )

    def unseen(self, found: np.ndarray, previous: np.ndarray, current: np.ndarray) -> np.ndarray:
        """Return the keys of a list that are in neither of two sorted lists, each once, sorted."""
        space = self.space
        if found.size < SMALL_LIST:
            return without(np.sort(found), previous, current)
        words, layers = space.words_of(found), (space.words_of(previous), space.words_of(current))
        like = ordered(words[:: max(1, len(words) // MOST_PARTS // 4)].copy())
        total = len(words) + len(layers[0]) + len(layers[1])
        return space.keys_of(self._new(layers, like, words, lambda keys: keys, 1, total))

    def _new(
        self,
        layers: tuple[np.ndarray, np.ndarray],
        like: np.ndarray,
        words: np.ndarray,
        listed: Callable[[np.ndarray], np.ndarray],
        most: int,
        total: int,
    ) -> np.ndarray:
        """Return what `Parts.next_layer` returns. total: about how many keys are compared."""
        parts = Parts(layers, like, max(1, min(MOST_PARTS, total // PART_KEYS)))
        # As many neighbours are in memory at a time as half of what is free there holds.
        block, held = max(64, BLOCK_KEYS // most), sum(map(len, layers))
        free = (self._room - PROCESS_BYTES) / (8 * self.space.words) - held
        wave = block * max(self._threads, int(free / 2 / most / block))
        return parts.next_layer(words, listed, most, self._threads, block, wave, self._check_room)

    def _check_room(self, keys: int) -> None:
        """Raise Stopped if this many keys do not fit in memory."""
        if (need := PROCESS_BYTES + 8 * self.space.words * keys) > self._room:
            raise Stopped(
                f"the next layer needs more than {size(need)} of memory, and {size(self._room)} is "
                "allowed: set a larger cluster.memory, or search.in_memory = false"
            )

    def check_layer(self, new: np.ndarray, current: np.ndarray) -> None:
        """Raise InputError unless all new states have the depth that the program states.

        current: states of the layer before, at least one.
        """
        if (layer := self._rules.layer) is None or not new.size:
            return
        first = self._values("layer", layer, self.space.words_of(current[:1]))[0]
        depths = self._values("layer", layer, self.space.words_of(new))
        wrong = np.flatnonzero(depths != first + 1)
        if wrong.size:
            raise InputError(
                f"puzzle.file: layer says {depths[wrong[0]]} for the state "
                f"{self._digits(new[wrong[0]])}, and {first} for states one "
                "move before it: the depth must grow by one with each move"
            )

    def _try_moves(self, current: np.ndarray) -> None:
        """Raise InputError if a move of some states of a layer is not undone, but should be, or if
        the moves of a representative do not lead to the classes to which its class has moves."""
        if self._rules.ours or not (self.space.undone or self.space.classes):
            return
        some = current[:: max(1, current.size // TRIED)]
        moved, source = self.moves(some)
        near = self.represented(moved)
        back, of = self.neighbours(0, near)
        if self.space.classes:
            self._try_classes(some, self.represented(some), moved, near, back, of)
        if not self.space.undone:
            return
        found = np.zeros(near.size, bool)
        found[of[back == some[source[of]]]] = True
        if not found.all():
            at = int(found.argmin())
            raise InputError(
                f"puzzle.file: a move leads from {self._digits(some[source[at]])} to "
                f"{self._digits(near[at])}, but none leads back; if moves cannot be undone, state "
                "undone = False"
            )

    def _try_classes(self, some, again, moved, near, back, of) -> None:
        """Raise InputError if a representative is not its own representative, or if its moves lead
        to other classes than the moves of a state that it represents.

        some, again: states, and their representatives. moved, near: their neighbours, and the
        representatives of these. back, of: the neighbours of `near`, and the index in `near` that
        each comes from.
        """
        if (wrong := again != some).any():
            at = int(wrong.argmax())
            raise InputError(
                f"puzzle.file: canonical gives {self._digits(some[at])}, but for this state it "
                f"gives {self._digits(again[at])}: a representative must be its own "
                "representative"
            )
        others, their = self.neighbours(0, moved)
        _, rank = np.unique(np.concatenate([back, others]), return_inverse=True)
        index = np.concatenate([of, their]) * rank.size + rank
        if (apart := np.setxor1d(index[: back.size], index[back.size :])).size:
            at = int(apart[0]) // rank.size
            raise InputError(
                f"puzzle.file: canonical gives {self._digits(near[at])} for the state "
                f"{self._digits(moved[at])}, but their moves lead to different classes: it must "
                "come from a symmetry of the moves"
            )

    def _digits(self, key) -> list[int]:
        return self.space.digits_of(np.array([key], self.space.dtype).reshape(-1))[0].tolist()
