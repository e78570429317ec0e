"""Rows, slabs and parts: how the bitmaps of a layer are divided.

A layer holds a bitmap of ``code.words`` words for each node of its side. The leading Lehmer digits
form the number of a word, the most significant first:

    prefix digits | slab digits | row digits | the rest,

* a **strip** is the words of one node under one prefix;
* a **slab** is the words of a node under one choice of prefix and slab digits, at most
  `SLAB_BYTES`; where strips are small, it is the strips of some consecutive nodes under one prefix.
  Each slab is compressed separately and can be read separately;
* a **row** is the words of one node under one choice of all these digits: a few kilobytes, the unit
  of the kernels;
* a **task** computes one *part* of a layer, which is one file in the store: some consecutive nodes
  under prefixes that are *siblings* (they differ only in their last digit). A task has all siblings
  or an equal share of them. A swap of two digits after the prefix stays in its strip. A swap of
  the last prefix digit with the next one stays among the siblings. Only swaps of two prefix digits
  bring states from elsewhere, as whole slabs; for the 2 x n puzzle these are the moves of the blank
  in the first columns. Tasks that divide the siblings among themselves read less than tasks that
  divide the nodes, because most moves change the node and few change these digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from frontier.errors import InputError
from frontier.space.tower_space import NumberedSpace
from frontier.space.words import ROW_WORDS, SLAB_BYTES, WORD_BYTES
from frontier.text import counted

SpaceT = TypeVar("SpaceT", bound=NumberedSpace)

LAYOUT_KEYS = ("prefix_digits", "task_nodes", "shares")


def split_voltage(voltage: tuple[int, ...], border: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two voltages whose product is the given one; the second acts only after a border.

    Swaps of positions i, i+1 with i >= border act only after it. Such a swap goes to the second
    part if it shares no position with a later swap of the first.
    """
    outer: list[int] = []
    inner: list[int] = []
    for i in reversed(voltage):
        if i >= border and all(abs(i - outer_swap) > 1 for outer_swap in outer):
            inner.append(i)
        else:
            outer.append(i)
    return tuple(reversed(outer)), tuple(reversed(inner))


def digits_moved(outer: tuple[int, ...], border: int) -> int:
    """Return how many leading digits determine where a stretch comes from. outer: the first of the
    two voltages that `split_voltage` returns."""
    return max([border, *(i + 2 for i in outer)])


class Work(NamedTuple):
    """The work of making one layer.

    words: the words of its bitmaps. look_ups: the stretches that the kernel looks up, for each row
    and each arc into its node. The shorter the rows, the more look-ups.
    """

    words: int
    look_ups: int


@dataclass(frozen=True)
class Task:
    """Nodes [first_node, last_node) under prefixes [first_prefix, last_prefix) of one layer."""

    number: int
    side: int
    first_node: int
    last_node: int
    first_prefix: int
    last_prefix: int

    @property
    def nodes(self) -> range:
        return range(self.first_node, self.last_node)


@dataclass(unsafe_hash=True)
class Layout(Generic[SpaceT]):
    """The way the layers of a space are divided; see the module docstring.

    prefix_digits: leading digits that are fixed in a strip. task_nodes: nodes of a task, a multiple
    of `slab_nodes`. shares: the number of tasks among which siblings are divided, a divisor of the
    number of siblings.

    row_digits, slab_digits: leading digits that are fixed in a row and in a slab, including the
    prefix digits. prefixes, task_prefixes: prefixes of a layer and of a task. siblings: how many
    prefixes differ only in their last digit. rows, cuts: rows and slabs of a strip. row_words,
    strip_words: words of a row and of a strip. slab_words: words of one node in a slab. slab_nodes:
    nodes of a slab, one unless strips are small. grid: slabs of a part along (its nodes, its
    prefixes, each strip); the slabs of a strip are consecutive. slab_bytes, part_bytes: bytes of a
    slab and of a part, one bit for each state, with nothing left out. fits_voltages: True if no
    voltage reaches from the prefix into the words' bits.
    """

    space: SpaceT
    prefix_digits: int
    task_nodes: int
    shares: int = 1

    def __post_init__(self) -> None:
        leading, prefix = self.space.code.leading, self.prefix_digits
        if prefix > self._most_digits(self.space):
            raise InputError(
                f"prefix_digits = {prefix}: layers of this puzzle may be divided by at most "
                f"{counted(self._most_digits(self.space), 'leading digit')}; divide their nodes"
            )
        self.row_digits = self._row_digits()
        self.fits_voltages = self._border_fits(self.row_digits)
        self.prefixes = prod(leading[:prefix])
        self.siblings = leading[prefix - 1] if prefix else 1
        self.task_prefixes = self.siblings // self.shares
        self.rows = prod(leading[prefix : self.row_digits])
        self.row_words = prod(leading[self.row_digits :])
        self.strip_words = self.rows * self.row_words
        self.slab_digits = prefix
        while (
            self.slab_digits < self.row_digits
            and prod(leading[self.slab_digits :]) * WORD_BYTES > SLAB_BYTES
        ):
            self.slab_digits += 1
        self.cuts = prod(leading[prefix : self.slab_digits])
        self.slab_words = self.strip_words // self.cuts
        most_nodes = SLAB_BYTES // (self.strip_words * WORD_BYTES)
        self.slab_nodes = max(1, min(self.task_nodes, most_nodes))
        while self.space.rows_are_numbered and self.task_nodes % self.slab_nodes:
            self.slab_nodes -= 1  # parts, and so slabs, end where digits change
        self.grid = ceil(self.task_nodes / self.slab_nodes), self.task_prefixes, self.cuts
        self.slab_bytes = self.slab_nodes * self.slab_words * WORD_BYTES
        self.part_bytes = prod(self.grid) * self.slab_bytes

    @staticmethod
    def _most_digits(space: "NumberedSpace") -> int:
        """Return the most prefix digits; none where a tower numbers the rows."""
        return 0 if space.rows_are_numbered else len(space.code.leading)

    def _row_digits(self) -> int:
        """Return the least number of digits that keeps a row within `ROW_WORDS`, or a smaller
        number if a voltage would otherwise reach from before the row's border into its words'
        bits."""
        leading, digits = self.space.code.leading, self.prefix_digits
        while prod(leading[digits:]) > ROW_WORDS:
            digits += 1
        while digits > self.prefix_digits and not self._border_fits(digits):
            digits -= 1
        return digits

    def _border_fits(self, digits: int) -> bool:
        last = len(self.space.code.leading) - 1
        outer = (split_voltage(voltage, digits)[0] for voltage in self.space.voltages)
        return not any(max(swaps) + 1 > last for swaps in outer if swaps)

    @classmethod
    def with_tasks(cls, space: SpaceT, prefix_digits: int, tasks: int) -> "Layout[SpaceT]":
        """Return the layout that divides the nodes under a prefix among about `tasks` tasks."""
        nodes = ceil(max(space.nodes) / tasks)
        slab = cls(space, prefix_digits, nodes).slab_nodes
        return cls(space, prefix_digits, ceil(nodes / slab) * slab)

    @classmethod
    def from_settings(cls, space: SpaceT, settings: dict[str, int]) -> "Layout[SpaceT]":
        """Return the layout of an existing run; raises InputError if it does not fit the space."""
        cut = {key: settings[key] for key in settings if key != "numbering"}
        same_numbers = settings.get("numbering") == space.numbering
        if same_numbers and cut["prefix_digits"] <= cls._most_digits(space):
            layout = cls(space, **cut)
            nodes, slab, task = max(space.nodes), layout.slab_nodes, layout.task_nodes
            # No two tasks share a slab, so only a task that has all nodes may end within one.
            whole_slabs = task % slab == 0 or task >= nodes
            equal_shares = layout.siblings % layout.shares == 0
            if task < nodes + slab and whole_slabs and equal_shares and layout.fits_voltages:
                return layout
        raise InputError(
            f"layers of this puzzle cannot be cut by layout = {settings}; put back the run.json "
            "that was written"
        )

    @property
    def settings(self) -> dict[str, int]:
        """The settings from which `from_settings` makes the same layout. For a tower they include a
        checksum of its numbers, because the numbers depend on random members of groups."""
        settings = {key: getattr(self, key) for key in LAYOUT_KEYS}
        numbering = self.space.numbering
        return settings if numbering is None else {**settings, "numbering": numbering}

    def shape(self, side: int) -> tuple[int, int, int]:
        """Return (nodes, prefixes, words of a strip) of a layer of this side."""
        return self.space.nodes[side], self.prefixes, self.strip_words

    def layer_bytes(self, side: int) -> int:
        """Return the bytes of a layer of this side, one bit for each state, with nothing left
        out."""
        return prod(self.shape(side)) * WORD_BYTES

    def work(self, side: int) -> Work:
        """Return the work of making a layer of this side in which every row holds a state."""
        space, leading = self.space, self.space.code.leading
        look_ups = space.look_ups
        for voltage, arcs in zip(space.voltages, space.arc_counts[side], strict=True):
            outer, _ = split_voltage(voltage, self.row_digits)
            look_ups += int(arcs) * prod(leading[: digits_moved(outer, self.row_digits)])
        return Work(prod(self.shape(side)), look_ups)

    def groups(self, side: int) -> int:
        """Return the number of tasks that share the nodes of the side under the same prefixes."""
        return ceil(self.space.nodes[side] / self.task_nodes)

    def task_count(self, side: int) -> int:
        return self.prefixes // self.task_prefixes * self.groups(side)

    def task(self, side: int, number: int) -> Task:
        """Return one task of a layer of this side; numbers follow the order of the prefixes."""
        parent, group = divmod(number, self.groups(side))
        first_node, first_prefix = group * self.task_nodes, parent * self.task_prefixes
        return Task(
            number=number,
            side=side,
            first_node=first_node,
            last_node=min(first_node + self.task_nodes, self.space.nodes[side]),
            first_prefix=first_prefix,
            last_prefix=first_prefix + self.task_prefixes,
        )

    def slabs_made(self, task: Task) -> float:
        """Return how many slabs a task makes; a slab with only some of its nodes counts in part."""
        return len(task.nodes) / self.slab_nodes * self.task_prefixes * self.cuts

    def bands(self, task: Task) -> Iterator[tuple[int, int, int, int]]:
        """Generate the bands of a task. A band is the strips of a slab's nodes under one prefix.

        Yields (first node, counted from the task's; nodes; prefix, counted from the task's; the
        first of the band's `cuts` slabs in the part). The bands under one prefix are consecutive.
        """
        stacks, prefixes, cuts = self.grid
        for prefix in range(prefixes):
            for stack in range(stacks):
                first = stack * self.slab_nodes
                nodes = min(self.slab_nodes, len(task.nodes) - first)
                if nodes > 0:
                    yield first, nodes, prefix, (stack * prefixes + prefix) * cuts

    def slab_at(self, side: int, node, prefix, cut):
        """Return where one of the `cuts` of a node's strip under a prefix is stored: task, slab of
        its part, number of the node in the slab. All arguments may be arrays."""
        group, node = np.divmod(node, self.task_nodes)
        stack, node = np.divmod(node, self.slab_nodes)
        parent, prefix = np.divmod(prefix, self.task_prefixes)
        task = parent * self.groups(side) + group
        return task, (stack * self.task_prefixes + prefix) * self.cuts + cut, node

    def locate(self, side: int, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return where uint64[N] states of a side are stored: task, slab of its part, word of the
        slab and bit, int64[N] each."""
        code = self.space.code
        node, index = np.divmod(numbers.astype(np.int64), code.half)
        word, bit = np.divmod(index, code.bits)
        prefix, word = np.divmod(word, self.strip_words)
        cut, word = np.divmod(word, self.slab_words)
        task, slab, node = self.slab_at(side, node, prefix, cut)
        return task, slab, node * self.slab_words + word, bit

    def has_strays(self, task: Task, slab: int, words: np.ndarray) -> bool:
        """Return whether a slab has bits that stand for no state. words: uint64[nodes, words]."""
        node, prefix, word = self.slab_of(task, slab)
        code, nodes = self.space.code, max(0, self.space.nodes[task.side] - node)
        first = prefix * self.strip_words + word
        bits = code.half - code.bits * np.arange(first, first + words.shape[1])
        unused = np.minimum(64 - np.clip(bits, 0, code.bits), 63).astype(np.uint64)
        states = np.where(bits > 0, ~np.uint64(0) >> unused, np.uint64(0))
        return bool(words[nodes:].any() or (words & ~states).any())

    def slab_of(self, task: Task, slab: int) -> tuple[int, int, int]:
        """Return (first node, prefix, first word in the strip) of a slab of a task's part."""
        stack, prefix, cut = np.unravel_index(slab, self.grid)
        return (
            task.first_node + int(stack) * self.slab_nodes,
            task.first_prefix + int(prefix),
            int(cut) * self.slab_words,
        )
