"""A layer of keys that tasks have made: its files, and how they are read.

Each part holds the states in a range of keys, and their neighbours, except those that the part
itself shows to be in its layer or in the layer before. Both are sorted lists without repetition, in
slabs of as many whole keys as fit. A slab stores its first key, and each other key as the
difference from the key before it, word by word modulo 2^64, because codecs leave out zero bytes. A
slab in front of the lists, the *guide*, has the lengths of both and the first key of each slab. So
a task finds the slabs that overlap any range of keys.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frontier.errors import Stopped
from frontier.layers.files import LayerFiles
from frontier.layers.parts import PartRecord, in_groups
from frontier.layers.stored import StoredLayer, within
from frontier.layers.tally import Tally
from frontier.space.key_layout import KeyLayout
from frontier.space.keys import KeySpace


@dataclass
class KeyFiles(LayerFiles):
    """The files of a layer of keys; see `LayerFiles`.

    parts: the number of parts; 0 if it does not matter.
    """

    layout: KeyLayout
    parts: int = 0

    def __post_init__(self):
        self.side = 0
        self.tasks, self._slabs = range(self.parts), self.layout.part_slabs

    @property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        words = self._slabs * self.layout.slab_words
        return (self.parts, words), (1, words), (1, self.layout.slab_words)

    def name(self, task: int) -> str:
        return f"{self.folder}/c.{task}.0"

    def task_of(self, name: str) -> int | None:
        number = name.removeprefix("c.").removesuffix(".0")
        return int(number) if number.isdecimal() and name == f"c.{int(number)}.0" else None

    def write_keys(
        self, task: int, states: np.ndarray, near: np.ndarray, tally: Tally, durable: bool
    ) -> PartRecord:
        """Write a part from the words of its states and of their neighbours, uint64[N, words] each,
        sorted."""
        each = self.layout.slab_keys
        slabs = [some[i : i + each] for some in (states, near) for i in range(0, len(some), each)]
        if len(slabs) >= self._slabs:
            raise Stopped(
                f"a part of layer {self.depth} needs {len(slabs) + 1:,} slabs, and the run was "
                f"planned for {self._slabs:,}: start a new run with another cluster.memory"
            )
        words, slab = states.shape[1], np.zeros(self.layout.slab_words, dtype=np.uint64)
        slab[:2] = len(states), len(near)
        for i, keys in enumerate(slabs):
            slab[2 + i * words : 2 + (i + 1) * words] = keys[0]
        with ThreadPoolExecutor(1) as thread, self.write_part(task, thread, durable) as writer:
            writer.write(0, slab)
            for i, keys in enumerate(slabs):
                slab[words : keys.size] = (keys[1:] - keys[:-1]).reshape(-1)
                slab[:words], slab[keys.size :] = keys[0], 0
                writer.write(1 + i, slab)
            return writer.finish(tally)


class SlabsOfLists(NamedTuple):
    """The slabs of the lists of a layer, list by list, an entry for each slab.

    first: the first keys. last: bool, True for the last slab of a list. task, slab: the part, and
    the number of the slab there. size: the number of keys.
    """

    first: np.ndarray
    last: np.ndarray
    task: np.ndarray
    slab: np.ndarray
    size: np.ndarray


class StoredKeys(StoredLayer):
    """A layer of keys that tasks have made. Keys are those of the space, as arrays of one
    dimension."""

    files: KeyFiles

    @property
    def _space(self) -> KeySpace:
        return self.files.layout.space

    def _lists(self, task: int) -> tuple[SlabsOfLists, SlabsOfLists]:
        """Return the slabs of the states of a part, and those of their neighbours.

        Raises CorruptRunError if the guide does not fit the slabs.
        """
        part, words, each = self.part(task), self._space.words, self.files.layout.slab_keys
        ((_, (guide,)),) = self.decoded(task, np.zeros(1, np.int64))
        sizes = guide[:2].astype(np.int64)
        ends = np.cumsum(-(-sizes // each))
        if sizes[0] != part.states or part.slabs.tolist() != list(range(1 + int(ends[1]))):
            raise part.damaged(0, "it does not fit the other slabs")
        first = self._space.keys_of(guide[2 : 2 + ends[1] * words].reshape(-1, words).copy())

        def of(begin: int, end: int, size: int) -> SlabsOfLists:
            number = np.arange(end - begin)
            keys, last = np.minimum(each, size - each * number), number == end - begin - 1
            return SlabsOfLists(
                first[begin:end], last, np.full_like(number, task), 1 + begin + number, keys
            )

        return of(0, int(ends[0]), int(sizes[0])), of(int(ends[0]), int(ends[1]), int(sizes[1]))

    @cached_property
    def _slabs(self) -> tuple[SlabsOfLists, SlabsOfLists]:
        """The slabs of the states, whose keys ascend, and those of the neighbours."""
        lists = zip(*map(self._lists, self.files.tasks), strict=True)
        states, near = (
            SlabsOfLists(*map(np.concatenate, zip(*some, strict=True))) for some in lists
        )
        return states, near

    def between(self, low: Any, high: Any) -> np.ndarray:
        return self._between(self._slabs[0], low, high)

    def neighbours_between(self, low: Any, high: Any) -> np.ndarray:
        """Return the neighbours in a range, list by list; see `between`."""
        return self._between(self._slabs[1], low, high)

    def _between(self, slabs: SlabsOfLists, low: Any, high: Any) -> np.ndarray:
        chosen = np.ones(slabs.size.size, bool)
        if low is not None:  # a slab ends below the first key of the next one
            chosen[:-1] &= slabs.last[:-1] | (slabs.first[1:] > low)
        if high is not None:
            chosen &= slabs.first < high
        return self._keys(slabs, np.flatnonzero(chosen), low, high)

    def _keys(self, slabs: SlabsOfLists, chosen: np.ndarray, low=None, high=None) -> np.ndarray:
        """Return the keys in some slabs that lie in a range."""
        space, at = self._space, 0
        keys = np.empty(int(slabs.size[chosen].sum()), space.dtype)
        decoded = self.decoded(slabs.task[chosen], slabs.slab[chosen])
        for size, (_, (words,)) in zip(slabs.size[chosen].tolist(), decoded, strict=True):
            rows = words[: size * space.words].reshape(size, space.words)
            some = space.keys_of(np.cumsum(rows, axis=0, dtype=np.uint64))
            some = within(some, low, high)
            keys[at : at + some.size] = some
            at += some.size
        return keys[:at]

    def borders(self) -> np.ndarray:
        """Return the borders that divide the neighbours into about equal ranges, of at most about
        `part_keys` keys."""
        near = self._slabs[1]
        parts, first = -(-int(near.size.sum()) // self.files.layout.part_keys), np.sort(near.first)
        return np.unique(first[len(first) * np.arange(1, parts) // parts])

    @property
    def first_states(self) -> np.ndarray:
        """The first state of each slab, of at least one."""
        return self._slabs[0].first

    def numbers_by_slab(self) -> Iterator[np.ndarray]:
        slabs = self._slabs[0]
        for some in in_groups(np.arange(slabs.size.size)):
            yield self._keys(slabs, some)

    def numbers(self) -> np.ndarray:
        return self.between(None, None)

    def contains(self, numbers: np.ndarray) -> np.ndarray:
        slabs, contained = self._slabs[0], np.zeros(numbers.size, bool)
        at = np.searchsorted(slabs.first, numbers, "right") - 1
        for slab in np.unique(at[at >= 0]).tolist():
            mine = at == slab
            contained[mine] = np.isin(numbers[mine], self._keys(slabs, np.array([slab])))
        return contained

    def sample(self, count: int, most_slabs: int, rng: np.random.Generator) -> np.ndarray:
        slabs = self._slabs[0]
        drawn = rng.choice(slabs.size.size, min(most_slabs, slabs.size.size), replace=False)
        keys = self._keys(slabs, drawn)
        return rng.choice(keys, min(count, keys.size), replace=False)

    def check_lists(self, task: int) -> None:
        """Raise CorruptRunError unless the lists of a part ascend and its guide fits them."""
        for slabs in self._lists(task):
            keys = self._keys(slabs, np.arange(slabs.size.size))
            ascend = (keys[1:] > keys[:-1]).all()
            if not ascend or (keys[:: self.files.layout.slab_keys] != slabs.first).any():
                raise self.part(task).damaged(0, "its keys do not ascend")
            if not self._space.has_numbers(0, keys):
                raise self.part(task).damaged(0, "some of its keys are no states")
