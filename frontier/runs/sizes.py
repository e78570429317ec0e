"""The sizes of the layers of a search, estimated from the known layers.

The first layers of a space grow by a factor that declines slowly, until the space runs out. Let y
be the logarithm of the size of the last known layer and s the growth of the logarithm there. The
logarithm of the size of the k-th layer after it is taken to be

    y + s k - (y + s K) (k / K)^(5/2)

so that one state is left K layers later. K is the least number of layers that holds all states. The
exponent rests on no theory. With the exponent 2, the estimates for the searches of 2x6, 2x7, 3x4
and 4x4 are too long; with 3, they are too short (docs/scale.md). The resulting depth is only a
guess, but the breadth of the peak, which decides the cost of a run, is a good estimate.
"""

import time
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from frontier.kernels.engines import engine_of
from frontier.puzzles import Puzzle

EXPONENT = 2.5

TRIAL_STATES = 2_000_000
TRIAL_BYTES = 500_000_000
"""A trial ends with the layer that has more states than this, or needs more bytes of memory."""

MOST_LAYERS = 100_000

GROWTH_LAYERS = 6
"""The growth is the mean over this many layers, because sides and symmetries make single layers
uneven."""


class Sizes(NamedTuple):
    """The sizes of all layers from depth 0. Those after the first `known` are estimates."""

    states: list[int]
    known: int

    @property
    def depth(self) -> int:
        return len(self.states) - 1

    @property
    def complete(self) -> bool:
        return self.known == len(self.states)


class Trial(NamedTuple):
    """The first layers of a search, made as lists in this process.

    sizes: the number of states of each layer. state_seconds: the processor seconds for each state.
    """

    sizes: list[int]
    state_seconds: float


def trial_of(puzzle: Puzzle, most: int = TRIAL_STATES) -> Trial:
    """Search until there are more than `most` states."""
    kernel = engine_of(puzzle.model.space).lists(puzzle.model.space)
    most = min(most, TRIAL_BYTES // kernel.bytes_for(1))
    sizes: list[int] = []
    began = time.process_time()
    for layer in kernel.layers(puzzle.model.origins()):
        if len(sizes) == 1:
            began = time.process_time()  # the first step loads the kernels
        sizes.append(int(layer.size))
        if sum(sizes) > most:
            break
    return Trial(sizes, (time.process_time() - began) / max(1, sum(sizes[2:])))


def estimate_sizes(known: list[int], states: int, exponent: float = EXPONENT) -> Sizes:
    """Return the sizes of all layers of a space of `states` states. known: the sizes of the first
    layers."""
    remaining = states - sum(known)
    if remaining <= 0:
        return Sizes(list(known), len(known))
    y = np.log(known[-1])
    back = min(GROWTH_LAYERS, len(known) - 1)
    s = (y - np.log(known[-1 - back])) / back if back else 0.0

    def layers(count: int) -> np.ndarray:
        k = np.arange(1, count + 1)
        with np.errstate(over="ignore"):
            return np.exp(y + s * k - (y + s * count) * (k / count) ** exponent)

    most = 1
    while layers(most).sum() < remaining and most < MOST_LAYERS:
        most *= 2
    fewer = range(most // 2 + 1, most)
    count = most // 2 + 1 + bisect_left(fewer, remaining, key=lambda count: layers(count).sum())
    later = layers(min(count, most))
    sizes = np.maximum(1, later / later.sum() * remaining).astype(np.int64)
    sizes = sizes[np.cumsum(sizes) <= remaining]
    sizes[sizes.argmax()] += remaining - sizes.sum()
    return Sizes([*known, *sizes.tolist()], len(known))
