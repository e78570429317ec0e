"""How large the layers of a search will be, from those that are known.

The first layers of a space grow by a factor that declines slowly, until the space runs out. Where
y is the logarithm of the last known layer and s the growth of the logarithm there, the k-th layer
after it is taken to have

    y + s k - (y + s K) (k / K)^(5/2)

as its logarithm, so that K layers later one state is left. K is the least number of layers that
holds all states. There is no theory behind the exponent: 2 makes the search of 2x6, 2x7, 3x4 and
4x4 longer than it is, 3 shorter (docs/scale.md). The depth so found is no more than a guess, the
breadth of the peak, which decides what a run costs, is a good one.
"""

import time
from dataclasses import dataclass

import numpy as np

from frontier.puzzles import Puzzle
from frontier.space.lists import ListKernel

EXPONENT = 2.5

TRIAL_STATES = 2_000_000
TRIAL_BYTES = 500_000_000
"""A trial ends with the layer that exceeds so many states, or so much memory."""

MOST_LAYERS = 100_000

GROWTH_LAYERS = 6
"""It is the mean of so many layers: colours and symmetries make single ones uneven."""


@dataclass(frozen=True)
class Shape:
    """sizes: states of each layer from depth 0. known: how many of them are not estimates."""

    sizes: list[int]
    known: int

    @property
    def depth(self) -> int:
        return len(self.sizes) - 1

    @property
    def complete(self) -> bool:
        return self.known == len(self.sizes)


@dataclass(frozen=True)
class Trial:
    """The first layers of a search, as lists, in this process.

    sizes: states of each. complete: whether there are no more. state_seconds: what a state took.
    largest: the largest layer, sorted state numbers.
    """

    sizes: list[int]
    complete: bool
    state_seconds: float
    largest: np.ndarray


def trial_of(puzzle: Puzzle, most: int = TRIAL_STATES) -> Trial:
    """Search until more than `most` states are found."""
    space = puzzle.space
    kernel = ListKernel(space)
    most = min(most, TRIAL_BYTES // kernel.room(1))
    current = np.unique(space.numbers(*puzzle.origins())[1])
    previous, largest = current[:0], current
    sizes, began = [int(current.size)], time.perf_counter()
    while current.size and sum(sizes) <= most:
        found = kernel.expand(space.class_of(len(sizes) - 1), current, previous)
        if len(sizes) == 1:
            began = time.perf_counter()  # the first step loads the kernels
        sizes.append(int(found.size))
        largest = max(largest, found, key=len)
        current, previous = found, current
    seconds = (time.perf_counter() - began) / max(1, sum(sizes[2:]))
    return Trial(sizes if current.size else sizes[:-1], not current.size, seconds, largest)


def shape_of(known: list[int], states: int, exponent: float = EXPONENT) -> Shape:
    """The sizes of all layers of a space, of which the first ones are known."""
    rest = states - sum(known)
    if rest <= 0:
        return Shape(list(known), len(known))
    later = _later(known, rest, exponent)
    sizes = np.maximum(1, later / later.sum() * rest).astype(np.int64)
    sizes = sizes[np.cumsum(sizes) <= rest]
    sizes[sizes.argmax()] += rest - sizes.sum()
    return Shape([*known, *sizes.tolist()], len(known))


def _later(known: list[int], rest: int, exponent: float) -> np.ndarray:
    """The layers after the known ones, float64, that together have about `rest` states or more."""
    y = np.log(known[-1])
    back = min(GROWTH_LAYERS, len(known) - 1)
    s = (y - np.log(known[-1 - back])) / back if back else 0.0

    def layers(count: int) -> np.ndarray:
        k = np.arange(1, count + 1)
        with np.errstate(over="ignore"):
            return np.exp(y + s * k - (y + s * count) * (k / count) ** exponent)

    least, most = 0, 1
    while layers(most).sum() < rest and most < MOST_LAYERS:
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        if layers(middle).sum() < rest:
            least = middle
        else:
            most = middle
    return layers(most)
