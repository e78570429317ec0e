"""The frames of an arena: each band finds in it what it needs, and as little as can be is decoded
twice."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontier.kernels.expand_encoded import Arena, assign_frames
from frontier.space.program import Reads, in_bands


def decoded_least(bands, count):
    """How many slabs are decoded if, of all choices of what is replaced, the best is taken."""
    best = {frozenset(): 0}
    for band in map(frozenset, bands):
        next_best = {}
        for held, decoded in best.items():
            others = sorted(held - band)
            for kept in combinations(others, min(len(others), count - len(band))):
                state = band.union(kept)
                cost = decoded + len(band - held)
                next_best[state] = min(cost, next_best.get(state, cost))
        best = next_best
    return min(best.values())


BANDS = st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=8)


@given(BANDS, st.integers(3, 6))
def test_no_choice_of_what_is_replaced_decodes_fewer(bands, count):
    decoded = 0
    for _, _, new in held_after_each(bands, count, range(7)):
        decoded += len(new)
    assert decoded == decoded_least(bands, count)


@given(BANDS, st.integers(3, 6), st.sets(st.integers(0, 6)))
def test_each_band_finds_what_it_needs(bands, count, filled):
    """Entries that hold no state have no frame; others are decoded if they had none."""
    before = set()
    for band, frame_of, new in held_after_each(bands, count, filled):
        held = {entry for entry, frame in enumerate(frame_of) if frame >= 0}
        assert band & filled <= held <= filled
        assert sorted(new) == sorted(band & filled - before)
        frames = [frame_of[entry] for entry in held]
        assert len(set(frames)) == len(frames)
        assert set(frames) <= set(range(count))
        before = held


def held_after_each(bands, count, filled):
    """Generate (band, the frame of each entry, those that have got one) of each band."""
    entries, none = [np.array(sorted(band)) for band in bands], np.zeros(7, dtype=np.int64)
    reads = Reads(none, none, none, none, **in_bands(entries, none.size))
    end = np.isin(np.arange(7), list(filled)).astype(np.int64)
    empty, frame_of = np.full(count, -1), np.full(7, -1)
    arena = Arena(
        words=np.empty(0, dtype=np.uint64),
        data=np.empty(0, dtype=np.uint8),
        live=np.empty((count, 0), dtype=bool),
        base=np.empty((0, 0), dtype=np.int64),
        holds=empty,
        frame_of=frame_of,
        needed_next=np.full(count, len(bands)),
    )
    new = np.empty(count, dtype=np.int64)
    for number, band in enumerate(bands):
        size = assign_frames(number, (none, end), tuple(arena), tuple(reads), new)
        yield band, frame_of.tolist(), new[:size].tolist()
