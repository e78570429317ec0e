"""Rows, chunks and tasks: how the bitmaps of a layer are cut up.

A layer holds a bitmap of ``code.words`` words for each node of its class. Writing a word's
number by its leading Lehmer digits, the first one most significant,

    prefix digits | row digits | the rest,

* a **strip** is what one node has under one prefix;
* a **chunk** is a *block* of consecutive nodes under one prefix: one object in the store;
* a **row** is what one node has under one prefix and one choice of the row digits: a few
  kilobytes, the unit the kernels work on;
* a **task** computes a few whole chunks. Its blocks are consecutive, and its prefixes are
  *siblings*: alike but for their last digit. A swap of two digits behind the prefix stays in
  its strip, the swap of the last prefix digit with the next one stays among the siblings, and
  only swaps of two prefix digits come from other tasks, as whole strips. For the 2 x n tiles
  those are the moves of the blank in the first columns: almost everything is local.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from frontier.space.graph import Space

WORD_BYTES = 8
ROW_WORDS = 4096  # a row and its image stay in a core's first caches


def split_word(word: tuple[int, ...], border: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A voltage as one that comes first and one that comes after and stays behind a border.

    Swaps of positions i, i+1 with i >= border stay behind it. They are put off to the second
    part where they share no position with a swap of the first part that comes after them.
    """
    outer, inner = [], []
    for i in reversed(word):
        if i >= border and all(abs(i - other) > 1 for other in outer):
            inner.append(i)
        else:
            outer.append(i)
    return tuple(reversed(outer)), tuple(reversed(inner))


@dataclass(frozen=True)
class Task:
    """Chunks [first_block, last_block) x [first_prefix, last_prefix) of one layer."""

    number: int
    klass: int
    first_block: int
    last_block: int
    first_prefix: int
    last_prefix: int


@dataclass(frozen=True)
class Layout:
    """How the layers of a space are cut; see the module's text.

    prefix_digits: leading digits that are fixed in a chunk.
    block_nodes: nodes of a chunk.
    task_blocks: blocks of a task.
    """

    space: Space
    prefix_digits: int
    block_nodes: int
    task_blocks: int

    @cached_property
    def row_digits(self) -> int:
        """Leading digits that are fixed in a row, prefix included.

        As few as keep a row within `ROW_WORDS`, but never so many that a voltage reaches
        from before the border of the row into its words' bits.
        """
        leading = self.space.code.leading
        digits = self.prefix_digits
        while prod(leading[digits:]) > ROW_WORDS:
            digits += 1
        while digits > self.prefix_digits and not self._border_fits(digits):
            digits -= 1
        return digits

    def _border_fits(self, digits: int) -> bool:
        last = len(self.space.code.leading) - 1
        outer = (split_word(word, digits)[0] for word in self.space.graph.words)
        return not any(max(swaps) + 1 > last for swaps in outer if swaps)

    @property
    def fits_voltages(self) -> bool:
        """Whether no voltage reaches from the prefix into the words' bits."""
        return self._border_fits(self.row_digits)

    @cached_property
    def prefixes(self) -> int:
        return prod(self.space.code.leading[: self.prefix_digits])

    @cached_property
    def siblings(self) -> int:
        """Prefixes of a task."""
        return self.space.code.leading[self.prefix_digits - 1] if self.prefix_digits else 1

    @cached_property
    def rows(self) -> int:
        """Rows of a strip."""
        return prod(self.space.code.leading[self.prefix_digits : self.row_digits])

    @cached_property
    def row_words(self) -> int:
        return prod(self.space.code.leading[self.row_digits :])

    @property
    def strip_words(self) -> int:
        return self.rows * self.row_words

    @property
    def chunk_bytes(self) -> int:
        return self.block_nodes * self.strip_words * WORD_BYTES

    def shape(self, klass: int) -> tuple[int, int, int]:
        """(nodes, prefixes, words of a strip) of a layer of this class."""
        return self.space.nodes[klass], self.prefixes, self.strip_words

    def layer_bytes(self, klass: int) -> int:
        """Bytes of a layer of this class, one bit a state, nothing left out."""
        return prod(self.shape(klass)) * WORD_BYTES

    def blocks(self, klass: int) -> int:
        return ceil(self.space.nodes[klass] / self.block_nodes)

    def block(self, klass: int, number: int) -> range:
        """The nodes of a block."""
        first = number * self.block_nodes
        return range(first, min(first + self.block_nodes, self.space.nodes[klass]))

    def task_count(self, klass: int) -> int:
        return self.prefixes // self.siblings * ceil(self.blocks(klass) / self.task_blocks)

    def task(self, klass: int, number: int) -> Task:
        """One task of a layer of this class; numbers follow the order of the prefixes."""
        family, part = divmod(number, ceil(self.blocks(klass) / self.task_blocks))
        first_block, first_prefix = part * self.task_blocks, family * self.siblings
        return Task(
            number=number,
            klass=klass,
            first_block=first_block,
            last_block=min(first_block + self.task_blocks, self.blocks(klass)),
            first_prefix=first_prefix,
            last_prefix=first_prefix + self.siblings,
        )
