"""How the tiles are split into groups, and what their databases take."""

import random
from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.errors import InputError
from frontier.puzzles import pattern_puzzle, tile_puzzle
from frontier.solving import groups
from frontier.solving.groups import (
    MOST_LABELLED,
    MOST_OF_LINES,
    compact_groups,
    group_bytes,
    group_sizes,
    runs_of_tiles,
)
from frontier.solving.line_groups import Split
from frontier.solving.lines import Lines
from tests.support.coset_boards import as_homes, tiles_of
from tests.support.reference_cosets import Board, board_of
from tests.support.sweeps import swept

METRICS = ("step", "multi")


@cache
def bytes_of_groups(shape, metric):
    """The bytes of one, two, three, ... groups, by their sizes."""
    puzzle, taken = tile_puzzle(*shape, metric=metric), {}
    tiles, most = puzzle.cells - 1, MOST_LABELLED if metric == "step" else MOST_OF_LINES
    for count in range(1, tiles + 1):
        sizes = tuple(tiles // count + (i < tiles % count) for i in range(count))
        if metric == "multi":
            sizes = sizes[:1] * count
        if sizes[0] <= most:
            taken[sizes] = group_bytes(puzzle, sizes)
    return taken


@pytest.mark.parametrize("metric", METRICS)
@swept("bits", range(4, 30, 4), few=[12, 24])
@swept("shape", [(2, 3), (3, 3), (2, 6), (4, 4)], few=[(2, 6)])
def test_groups_are_as_few_as_fit(shape, bits, metric):
    puzzle, room = tile_puzzle(*shape, metric=metric), 1 << bits
    fit = [sizes for sizes, taken in bytes_of_groups(shape, metric).items() if taken <= room]
    if fit:
        assert group_sizes(puzzle, room) == fit[0]
    else:
        with pytest.raises(InputError, match=f"{room:,} bytes"):
            group_sizes(puzzle, room)


def test_groups_that_fit_and_that_do_not():
    """So that the test above is of both."""
    puzzle = tile_puzzle(2, 6)
    assert len(group_sizes(puzzle, 1 << 20)) > len(group_sizes(puzzle, 1 << 24)) == 2
    assert group_sizes(tile_puzzle(2, 6, metric="multi"), 1 << 24) == (6, 6)
    for metric in METRICS:
        with pytest.raises(InputError, match="4,096 bytes"):
            group_sizes(tile_puzzle(2, 6, metric=metric), 1 << 12)


@pytest.mark.parametrize(("shape", "size"), [((2, 4), 3), ((2, 5), 4), ((3, 3), 4), ((3, 4), 3)])
def test_the_sample_tells_how_many_regions_the_blank_has(shape, size):
    """Of the databases of a group; the estimate is of the table's bytes, within a tenth."""
    tiles = range(1, size + 1)
    exact = pattern_puzzle(*shape, labels=tiles, metric="labelled").model.graph.vertices
    assert groups._regions(*shape, size) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(("shape", "sizes"), [((2, 4), (4, 4)), ((3, 3), (4, 4)), ((2, 5), (5, 5))])
def test_the_bytes_of_databases_of_lines(shape, sizes):
    puzzle, kept = tile_puzzle(*shape, metric="multi"), {}
    Lines(puzzle, sizes, 1, lambda name, make: kept.setdefault(name, make()))
    base = group_bytes(puzzle, sizes) - kept["groups"].nbytes * 5 // 4
    assert 0 < base < 400 * 2 * puzzle.cells * 200


CASES = [
    ((2, 3), (0, 1), (3, 3)),
    ((3, 2), (0, 0), (1, 1, 1, 1, 1)),
    ((2, 4), (1, 2), (4, 4)),
    ((2, 4), (0, 0), (3, 3, 3)),
    ((3, 3), (1, 1), (4, 4)),
    ((3, 3), (0, 1), (5, 5, 5)),
    ((3, 3), (2, 2), (8,)),
]


@pytest.mark.parametrize(("shape", "blank", "sizes"), CASES)
def test_groups_are_runs_of_tiles_that_have_all(shape, blank, sizes):
    board = Board(*shape, blank)
    tiles = [board.goal[cell] for cell in board.reading if board.goal[cell]]
    split = Split(tiles_of(board), sizes)
    for pattern, members, size in zip(split.patterns, split.members, sizes, strict=True):
        first = tiles.index(board.goal[board.reading[members[0]]])
        assert set(pattern.model.labelled) == set(tiles[first : first + size])
        assert [board.goal[board.reading[n]] for n in members] == tiles[first : first + size]
    assert set(np.concatenate(split.members)) == set(range(len(tiles) + 1)) - {split.home}
    if sum(sizes) == len(tiles):
        assert len(np.concatenate(split.members)) == len(tiles)


@given(st.data())
def test_states_tell_boards_apart(data):
    """Two boards are of the same states in all groups only if they are the same."""
    shape, blank, sizes = data.draw(st.sampled_from(CASES))
    board, cells = board_of(*shape, blank), shape[0] * shape[1]
    split = Split(tiles_of(board), sizes)
    boards = sorted(data.draw(st.sets(st.permutations(range(cells)).map(tuple), min_size=1)))
    random.Random(1).shuffle(boards)
    rows = np.array([as_homes(board, tiles) for tiles in boards])
    states = np.hstack(split.states(rows))
    assert len(np.unique(states, axis=0)) == len(boards)


def spread(puzzle, groups):
    """The sum of the squared distances of homes in the same group, on a board."""
    squares = [divmod(int(square), puzzle.grid.columns) for square in puzzle.grid.reading]
    return sum(
        (abs(squares[a][0] - squares[b][0]) + abs(squares[a][1] - squares[b][1])) ** 2
        for group in groups
        for a in group
        for b in group
    )


@pytest.mark.parametrize(
    ("shape", "blank", "sizes"),
    [
        ((2, 3), (0, 1), (2, 3)),
        ((3, 3), (1, 1), (4, 4)),
        ((2, 5), (1, 4), (3, 3, 3)),
        ((5, 2), (0, 0), (5, 4)),
        ((4, 4), (0, 0), (5, 5, 5)),
        ((3, 5), (2, 2), (1, 6, 7)),
    ],
)
def test_compact_groups_cannot_be_closer_by_a_swap(shape, blank, sizes):
    """They have all tiles once, and are no further apart than runs."""
    puzzle = tile_puzzle(*shape, blank=blank)
    groups = [group.tolist() for group in compact_groups(puzzle, sizes)]
    assert tuple(map(len, groups)) == sizes
    home = puzzle.grid.reading.tolist().index(puzzle.goals[0].index(0))
    assert sorted(chain(*groups)) == sorted({*range(puzzle.cells)} - {home})
    assert all(group == sorted(group) for group in groups)
    least = spread(puzzle, groups)
    assert least <= spread(puzzle, runs_of_tiles(puzzle, sizes))
    for g, h in combinations(range(len(groups)), 2):
        for a in groups[g]:
            for b in groups[h]:
                swapped = list(groups)
                swapped[g] = [b, *(home for home in groups[g] if home != a)]
                swapped[h] = [a, *(home for home in groups[h] if home != b)]
                assert spread(puzzle, swapped) >= least


def test_compact_groups_are_closer_than_runs():
    puzzle = tile_puzzle(4, 4)
    compact, runs = (
        spread(puzzle, split(puzzle, (5, 5, 5))) for split in (compact_groups, runs_of_tiles)
    )
    assert compact < runs
