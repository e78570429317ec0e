"""The common part of the searches in memory: two layers as bitmaps, which threads expand."""

import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import numpy as np

from frontier.jit import kernel
from frontier.space.layout import Layout
from frontier.space.words import count_bits

PART_BYTES = 64_000_000
"""The most bytes of a task's bitmaps, unless one node needs more."""


class LayerBitmaps(ABC):
    """A layer as bitmaps, with what is known about its rows.

    words: uint64[prefixes, nodes, words of the strip].
    """

    def __init__(self, layout: Layout, side: int):
        self._layout = layout
        nodes, prefixes, strip = layout.shape(side)
        self.words = np.zeros((prefixes, nodes, strip), dtype=np.uint64)

    @abstractmethod
    def add(self, numbers: np.ndarray) -> None:
        """Set the bits of uint64[N] state numbers."""

    @abstractmethod
    def find_live(self) -> None:
        """Update what is known about the rows, after strips have been filled."""

    def holds(self, number: int) -> bool:
        """Return whether the bit of a state is set."""
        code = self._layout.space.code
        node, index = divmod(number, code.half)
        word, bit = divmod(index, code.bits)
        prefix, word = divmod(word, self._layout.strip_words)
        return bool(int(self.words[prefix, node, word]) >> bit & 1)

    def strips(self, first_node: int, nodes: int, prefix: int) -> np.ndarray:
        """Return a view of the strips of some nodes under a prefix: uint64[nodes, words of a
        strip], with fewer nodes at the end of the side."""
        return self.words[prefix, first_node : first_node + nodes]


LayerT = TypeVar("LayerT", bound=LayerBitmaps)


class BitmapSearch(ABC, Generic[LayerT]):
    """The last two layers as bitmaps, and the code that expands them.

    The layer at a depth is `layer(depth)` until the layer at depth + 2 is made.
    """

    def __init__(self, layout: Layout, threads: int, layers: list[LayerT]):
        """layers: room for two layers, one of even and one of odd depth."""
        self.layout, self.threads, self._layers = layout, threads, layers
        if threads > 1:
            # The system clears a page when it is touched; otherwise one thread would touch them all
            # as it reads a layer.
            bitmaps = (layer.words.reshape(-1) for layer in layers)
            self.spread(_touch, (part for words in bitmaps for part in _parts_of(words)))

    def layer(self, depth: int) -> LayerT:
        return self._layers[depth % 2]

    @abstractmethod
    def expand(self, depth: int) -> np.ndarray:
        """Make the layer at `depth` from the layers before it. Returns the number of its states at
        each node, int64."""

    def layers(self, origins: tuple[np.ndarray, np.ndarray]) -> Iterator[np.ndarray]:
        """Search from some states, (vertices, sequences), to the last layer. Yields for each layer
        the number of its states at each node of its side, int64."""
        space, depth = self.layout.space, 0
        numbers = np.unique(space.numbers(*origins)[1])
        self.layer(0).add(numbers)
        nodes = (numbers // np.uint64(space.code.half)).astype(np.int64)
        counts = np.bincount(nodes, minlength=space.nodes[0])
        while counts.any():
            yield counts
            depth += 1
            counts = self.expand(depth)

    def spread(self, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
        """Return function(item) for each item, computed on all threads."""
        if self.threads == 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(function, items))


def _parts_of(words: np.ndarray) -> Iterator[np.ndarray]:
    """Generate views of uint64[words], of at most `PART_BYTES` each."""
    step = PART_BYTES // words.itemsize
    return (words[first : first + step] for first in range(0, words.size, step))


def _touch(words: np.ndarray) -> None:
    """Write a word of each page of uint64[words], all of them zero."""
    words[:: mmap.PAGESIZE // words.itemsize] = 0


@kernel
def count_ones(words, counts):
    """Count the ones of each row of contiguous uint64[rows, words]."""
    for i in range(counts.size):
        total = np.uint64(0)
        for word in words[i]:
            total += count_bits(word)
        counts[i] = total
