"""Positions of a layer as text, CSV and NumPy arrays, in batches, because a layer may be larger
than memory."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.lib import format as npy

from frontier.answers.layers import BATCH, Layer
from frontier.puzzles import Puzzle


@dataclass(frozen=True)
class Excerpt:
    """All positions of a layer, the first few that are stored, or a sample of them.

    limit: the most positions; None for all. seed: the seed of a sample of `limit` positions; None
    for the first ones. by_number: True to give only the state numbers of positions.
    """

    puzzle: Puzzle
    layer: Layer
    limit: int | None = None
    seed: int | None = None
    by_number: bool = False

    def check(self) -> None:
        """Raise InputError if the run did not keep the layer."""
        self.layer.number_batches()

    @property
    def count(self) -> int:
        """The number of positions."""
        return min(self.layer.states, self.layer.states if self.limit is None else self.limit)

    @cached_property
    def _sample(self) -> np.ndarray:
        return self.layer.sample(self.count, self.seed or 0)

    def _batches(self) -> Iterator[np.ndarray]:
        """Generate the state numbers in batches, uint64[N]: a sample in ascending order, other
        excerpts in stored order."""
        if self.seed is not None and self.count < self.layer.states:
            yield from np.split(self._sample, range(BATCH, self.count, BATCH))
            return
        remaining = self.count
        for numbers in self.layer.number_batches() if remaining else ():
            yield numbers[:remaining]
            remaining -= numbers[:remaining].size
            if not remaining and self.limit is not None:
                return  # a whole layer is read to the end, which checks its size

    def _lines(self, numbers: np.ndarray) -> list[str]:
        """Return the positions of state numbers, each in the form that `solve` reads."""
        boards = self.layer.boards_of(numbers).tolist()
        return [self.puzzle.line(tuple(board)) for board in boards]

    def text(self) -> Iterator[bytes]:
        """Return the positions, or their numbers, one per line."""
        for numbers in self._batches():
            lines = map(str, integers(numbers)) if self.by_number else self._lines(numbers)
            yield "".join(f"{line}\n" for line in lines).encode()

    def csv(self) -> Iterator[bytes]:
        """Return a table of the state numbers and, unless `by_number`, the positions."""
        yield b"number\n" if self.by_number else b"number,position\n"
        for numbers in self._batches():
            columns = [integers(numbers), *([] if self.by_number else [self._lines(numbers)])]
            table = io.StringIO()
            csv.writer(table, lineterminator="\n").writerows(zip(*columns, strict=True))
            yield table.getvalue().encode()

    def npy(self) -> Iterator[bytes]:
        """Return a NumPy file: the codes of the positions, [N, cells], in the smallest unsigned
        type that can hold them, or their state numbers, [N]."""
        pieces, batches = self.puzzle.notation.pieces, self._batches()
        if self.by_number:
            first = next(batches, np.empty(0, np.uint64))
            yield head_of(first.dtype, (self.count,))
            yield from (numbers.tobytes() for numbers in chain([first], batches))
            return
        kind = np.min_scalar_type(pieces.greatest_code)
        yield head_of(kind, (self.count, pieces.cells))
        for numbers in batches:
            yield self.layer.boards_of(numbers).astype(kind).tobytes()


def integers(numbers: np.ndarray) -> list[int]:
    """Return state numbers as whole numbers, also keys of several words."""
    if numbers.dtype.kind != "S":
        return numbers.tolist()
    width = numbers.dtype.itemsize
    return [int.from_bytes(key.ljust(width, b"\0"), "big") for key in numbers.tolist()]


def head_of(kind: np.dtype, shape: tuple[int, ...]) -> bytes:
    """Return the header of a NumPy file whose values follow row by row."""
    head = io.BytesIO()
    value = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(head, value)
    return head.getvalue()
