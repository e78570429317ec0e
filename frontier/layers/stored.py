"""Reading a run: its layers by depth, each layer slab by slab or as a list.

Indices of parts, states of lists and the last few layers are kept, because they are often reread.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from frontier.codec.slabs import Slabs, encoded_slabs
from frontier.errors import CorruptRunError
from frontier.kernels.lists import list_bits, set_bits
from frontier.layers.files import LIST_SLAB, LayerFiles, list_slabs
from frontier.layers.parts import in_groups
from frontier.text import counted

OPEN_PARTS = 64
"""The number of parts of a layer whose index is kept in memory."""


def within(numbers: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """Return the members of a sorted array in a range; see `StoredLayer.between`."""
    begin = 0 if low is None else int(np.searchsorted(numbers, low))
    end = numbers.size if high is None else int(np.searchsorted(numbers, high))
    return numbers[begin:end]


class ListedSlabs:
    """Some slabs of a layer that is a list."""

    def __init__(self, layer: "StoredLayer", task: np.ndarray, slab: np.ndarray):
        self._layer, self._task, self._slab = layer, task, slab
        self._numbers, keys = layer.by_slab
        key = task * prod(layer.files.layout.grid) + slab
        self._first, self._end = (np.searchsorted(keys, key + more) for more in (0, 1))

    def stored(self, slab_words: int) -> Slabs:
        """Return the slabs as kernels decode them."""
        return encoded_slabs(self._decoded(slab_words), self._slab.size)

    def _decoded(self, slab_words: int) -> Iterator[tuple[int, np.ndarray]]:
        layout = self._layer.files.layout
        words = np.empty((layout.slab_nodes, slab_words // layout.slab_nodes), dtype=np.uint64)
        for i in np.flatnonzero(self._end > self._first).tolist():
            node, word = self._layer.place(int(self._task[i]), int(self._slab[i]))
            some = self._numbers[self._first[i] : self._end[i]]
            words[:] = 0
            set_bits(words, some, node, word, layout.space.code.half, layout.space.code.bits)
            yield i, words.reshape(-1)


class StoredLayer:
    """A layer of either form, read slab by slab or as a list.

    states: the number of states in the ledger; 0 for a layer that is not committed, and for the
    layer before the first. part: opens the part of a task, and keeps it open. Slabs have the shape
    [nodes, words], `slab_nodes` x `slab_words` of the layout.
    """

    def __init__(self, files: LayerFiles, states: int, committed: bool = True):
        self.files, self.is_list, self.states = files, files.listed is not None, states
        self.committed = committed
        self.codec = files.codec()
        self.part = lru_cache(OPEN_PARTS)(files.part)
        self._sorting = Lock()

    def load(self, task: np.ndarray, slab: np.ndarray) -> Slabs | ListedSlabs:
        """Read some slabs.

        task, slab: int64[N], the task of each slab, and its number in that task's part.
        """
        if self.is_list:
            with self._sorting:  # one thread sorts the list, other threads wait
                return ListedSlabs(self, task, slab)
        return self._read(task, slab)

    def _read(self, task: np.ndarray, slab: np.ndarray) -> Slabs:
        """Read slabs that are stored in parts, all slabs of a part together."""
        begin, end = np.zeros((2, slab.size), dtype=np.int64)
        numbers, of = np.unique(task, return_inverse=True)
        parts, memory = [], []
        for index, number in enumerate(numbers.tolist()):
            part, entries = self.part(number), np.flatnonzero(of == index)
            entries = entries[part.has(slab[entries])]
            data, first, last = part.read(slab[entries])
            begin[entries], end[entries] = data.ctypes.data + first, data.ctypes.data + last
            parts.append(part)
            memory.append(data)

        def damaged(entry: int, why: str) -> CorruptRunError:
            return parts[of[entry]].damaged(int(slab[entry]), why)

        return Slabs(begin, end, memory, self.codec, damaged)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The sorted state numbers of a list."""
        space = self.files.layout.space
        words = np.empty(0, dtype=np.uint64)
        if self.states:
            part = self.part(0)  # opened before memory is taken for the numbers
            rows = np.empty((list_slabs(self.files.list_words), LIST_SLAB), dtype=np.uint64)
            words = rows.reshape(-1)
            if part.states != self.states:
                raise part.miscounted(self.states)
            if part.slabs.size < len(rows):
                raise part.damaged(part.slabs.size, "it is missing")
            for some in in_groups(part.slabs):
                slabs = self._read(np.zeros_like(some), some)
                for i, row in enumerate(some.tolist()):
                    slabs.decode(i, rows[row])
        words = words[: self.files.list_words]
        return space.keys_of(words.reshape(self.states, space.words))

    @cached_property
    def by_slab(self) -> tuple[np.ndarray, np.ndarray]:
        """The state numbers of a list, slab by slab, and the slab of each, int64, counted through
        all parts."""
        layout, numbers = self.files.layout, self._numbers
        key = np.empty(numbers.size, dtype=np.int64)
        for i in range(0, numbers.size, LIST_SLAB):  # piecewise, so arrays of `locate` stay small
            task, slab, _, _ = layout.locate(self.files.side, numbers[i : i + LIST_SLAB])
            key[i : i + LIST_SLAB] = task * prod(layout.grid) + slab
        if (key[1:] < key[:-1]).any():
            order = np.argsort(key, kind="stable")
            numbers, key = numbers[order], key[order]
        return numbers, key

    @property
    def held(self) -> int:
        """The number of states that this object holds in memory."""
        return self.states if self.is_list else 0

    def decoded(
        self, task: int | np.ndarray, slabs: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Generate (slab, its words) for some slabs of a layer of bits, in the order given.

        slabs: int64[N]. task: the task whose part has them, or int64[N], the task of each slab.
        Words of a slab without a state are 0. The words are valid until the next slab is generated.
        """
        layout = self.files.layout
        words = np.empty((layout.slab_nodes, layout.slab_words), dtype=np.uint64)
        tasks = np.broadcast_to(task, slabs.shape)
        for some in in_groups(np.arange(slabs.size)):
            encoded = self._read(tasks[some], slabs[some])
            for i, slab in enumerate(slabs[some].tolist()):
                encoded.decode(i, words)
                yield slab, words

    def slabs(
        self, first_node: int = 0, last_node: int | None = None
    ) -> Iterator[tuple[int, int, np.ndarray]]:
        """Generate, from a layer of bits, the slabs that hold a state and have one of the nodes
        first_node .. last_node - 1, as (first node of the slab, its first word in that node's
        bitmap, the slab).

        The array is valid until the next slab is generated.
        """
        layout, side = self.files.layout, self.files.side
        last_node = layout.space.nodes[side] if last_node is None else last_node
        for number in self.files.tasks:
            task = layout.task(side, number)
            if task.last_node <= first_node or last_node <= task.first_node:
                continue
            slabs = self.part(number).slabs
            nodes = np.array([layout.slab_of(task, slab)[0] for slab in slabs.tolist()])
            inside = (first_node - layout.slab_nodes < nodes) & (nodes < last_node)
            for slab, words in self.decoded(number, slabs[inside]):
                yield *self.place(number, slab), words

    def place(self, task: int, slab: int) -> tuple[int, int]:
        """Return (first node of a slab, its first word in that node's bitmap)."""
        layout = self.files.layout
        node, prefix, word = layout.slab_of(layout.task(self.files.side, task), slab)
        return node, prefix * layout.strip_words + word

    def _listed(self, node: int, word: int, slab: np.ndarray) -> np.ndarray:
        """Return the sorted state numbers of a slab. node, word: the result of `place`."""
        code = self.files.layout.space.code
        numbers = np.empty(int(np.bitwise_count(slab).sum()), dtype=np.uint64)
        list_bits(slab, node, word, code.half, code.bits, numbers)
        return numbers

    def numbers_by_slab(self) -> Iterator[np.ndarray]:
        """Generate the state numbers of the layer, uint64, one slab after the other, sorted within
        each slab."""
        if self.is_list:
            yield self._numbers
            return
        count = 0
        for node, word, slab in self.slabs():
            numbers = self._listed(node, word, slab)
            count += numbers.size
            yield numbers
        if count != self.states:
            raise CorruptRunError(
                f"layer {self.files.depth}: {self.files.place} holds {counted(count, 'state')}, "
                f"but the ledger lists {self.states:,}"
            )

    def numbers(self) -> np.ndarray:
        """Return the sorted state numbers of the layer."""
        if self.is_list:
            return self._numbers
        numbers, size = np.empty(self.states, dtype=np.uint64), 0
        for batch in self.numbers_by_slab():
            kept = batch[: self.states - size]  # the error for too many states comes at the end
            numbers[size : size + kept.size] = kept
            size += kept.size
        numbers.sort()
        return numbers

    def between(self, low: Any, high: Any) -> np.ndarray:
        """Return the sorted state numbers from `low` up to, not including, `high`; None for either
        sets no border."""
        return within(self.numbers(), low, high)

    def contains(self, numbers: np.ndarray) -> np.ndarray:
        """Return whether each of uint64[N] state numbers of the layer's side is in the layer,
        bool[N]."""
        contained = np.zeros(numbers.size, dtype=bool)
        if self.is_list:
            if self.states:
                at = np.searchsorted(self._numbers, numbers)
                contained = self._numbers[np.minimum(at, self._numbers.size - 1)] == numbers
            return contained
        layout = self.files.layout
        task, slab, word, bit = layout.locate(self.files.side, numbers)
        key = task * prod(layout.grid) + slab
        order = np.argsort(key, kind="stable")
        keys, first = np.unique(key[order], return_index=True)
        groups = np.split(order, first)[1:]
        slabs = self.decoded(*np.divmod(keys, prod(layout.grid)))
        for queries, (_, words) in zip(groups, slabs, strict=True):
            bits = words.reshape(-1)[word[queries]] >> bit[queries].astype(np.uint64)
            contained[queries] = bits & np.uint64(1)
        return contained

    def sample(self, count: int, most_slabs: int, rng: np.random.Generator) -> np.ndarray:
        """Return up to `count` states of the layer, drawn at random from at most `most_slabs` of
        its slabs."""
        if self.is_list:
            return rng.choice(self._numbers, min(count, self.states), replace=False)
        slabs = [self.part(task).slabs for task in self.files.tasks]
        task = np.repeat(np.array(self.files.tasks), [some.size for some in slabs])
        slab = np.concatenate(slabs)
        drawn = rng.choice(slab.size, min(most_slabs, slab.size), replace=False)
        share = -(-count // drawn.size)
        samples = []
        for at, (number, words) in zip(
            task[drawn].tolist(), self.decoded(task[drawn], slab[drawn]), strict=True
        ):
            numbers = self._listed(*self.place(at, number), words)
            samples.append(rng.choice(numbers, min(share, numbers.size), replace=False))
        return np.concatenate(samples)
