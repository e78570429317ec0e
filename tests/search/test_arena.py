"""The arena of a task: each batch finds in it what it needs, however small it is."""

from itertools import combinations

import numpy as np
import pytest
from engine import layouts_of
from hypothesis import given
from hypothesis import strategies as st

from frontier.puzzles import tile_puzzle
from frontier.search import expansion as expansion_module
from frontier.search.expansion import Arena, ArenaSlots
from frontier.space.program import Reads, needed_next, program_of, reads_of
from frontier.stopwatch import Stopwatch

SPACES = [
    tile_puzzle(2, 5).model.space,
    tile_puzzle(3, 3).model.space,
    tile_puzzle(2, 5, metric="multi").model.space,
]


class NumberedSlabs:
    """Each slab has its number in all its words; some are empty, and some hold only zeros."""

    def __init__(self, reads, layout):
        self.filled = np.arange(reads.slab.size) % 5 > 0
        self.decoded = []
        self._layout = layout

    def content(self, entry):
        return 0 if entry % 7 == 0 else entry

    def decode(self, some, out, rows):
        self.decoded += some.tolist()
        for entry, row in zip(some.tolist(), rows.tolist(), strict=True):
            nodes = out[row].reshape(self._layout.slab_nodes, -1)
            content = self.content(entry)
            nodes[:] = content * 1000 + np.arange(len(nodes))[:, None] if content else 0


@pytest.mark.parametrize("size", [0, 3000, 1 << 20])
@pytest.mark.parametrize("space", SPACES)
def test_each_batch_finds_what_it_needs(space, size, monkeypatch):
    monkeypatch.setattr(expansion_module, "ARENA_BYTES", size)
    if size == 0:  # no more than the largest batch needs
        monkeypatch.setattr(expansion_module, "arena_slots", most_needed)
    again = 0
    for layout in layouts_of(space, most_prefixes=60):
        for number in range(min(2, layout.task_count(0))):
            task = layout.task(0, number)
            program = program_of(layout, task)
            reads = reads_of(layout, task, program)
            slabs = NumberedSlabs(reads, layout)
            arena = Arena(layout, program, reads, slabs, room_of_ones, Stopwatch())
            for batch, entries in enumerate(reads.batches):
                arena.prepare(batch)
                for entry in entries.tolist():
                    assert_there(arena, layout, program, reads, slabs, entry)
            again += len(slabs.decoded) - len(set(slabs.decoded))
            needed = {entry for batch in reads.batches for entry in batch.tolist()}
            assert set(slabs.decoded) == {entry for entry in needed if slabs.filled[entry]}
    if size != 3000:
        assert (again == 0) == (size > 0)


def most_needed(layout, reads):
    return max(1, *(entries.size for entries in reads.batches))


def room_of_ones(size):
    return np.full(size, 255, dtype=np.uint8)


def assert_there(arena, layout, program, reads, slabs, entry):
    """Words, live rows and offsets of one slab."""
    for member in range(reads.first[entry], reads.last[entry]):
        at = arena.base[member, reads.slot[entry]]
        if not slabs.filled[entry]:
            assert at == -1
            continue
        inside = int(program.sources[member]) % layout.slab_nodes
        content = slabs.content(entry)
        words = arena.words[at : at + layout.slab_words]
        assert (words == (content * 1000 + inside if content else 0)).all()
        rows = arena.live[at // layout.row_words : (at + layout.slab_words) // layout.row_words]
        assert (rows == words.reshape(-1, layout.row_words).any(axis=1)).all()


def decoded_least(batches, count):
    """How many slabs are decoded if, of all choices of what is replaced, the best is taken."""
    best = {frozenset(): 0}
    for batch in map(frozenset, batches):
        next_best = {}
        for held, decoded in best.items():
            others = sorted(held - batch)
            for kept in combinations(others, min(len(others), count - len(batch))):
                state = batch.union(kept)
                cost = decoded + len(batch - held)
                next_best[state] = min(cost, next_best.get(state, cost))
        best = next_best
    return min(best.values())


@given(
    st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=8),
    st.integers(3, 6),
)
def test_no_choice_of_what_is_replaced_decodes_fewer(batches, count):
    entries = [np.array(sorted(batch)) for batch in batches]
    none = np.zeros(7, dtype=np.int64)
    reads = Reads(none, none, none, none, none, entries, needed_next(entries, none.size))
    slots = ArenaSlots(reads, count)
    decoded = sum(slots.take(number, batch)[0].size for number, batch in enumerate(entries))
    assert decoded == decoded_least(batches, count)
