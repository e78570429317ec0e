"""How the tiles are split into groups, and what their databases take."""

import random
from functools import cache

import numpy as np
import pytest
from frontier.cosets.groups import MOST_OF_LINES, Split, group_bytes, group_sizes
from hypothesis import given
from hypothesis import strategies as st

from frontier.cosets.regions import MOST_LABELLED
from frontier.errors import InputError
from frontier.puzzles import pattern_puzzle, tile_puzzle
from frontier.solve import groups
from frontier.solve.lines import Lines
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
    assert groups._regions(tile_puzzle(*shape), size) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(("shape", "sizes"), [((2, 4), (4, 4)), ((3, 3), (4, 4)), ((2, 5), (5, 5))])
def test_the_bytes_of_databases_of_lines(shape, sizes):
    puzzle, kept = tile_puzzle(*shape, metric="multi"), {}
    Lines(puzzle, sizes, 1, lambda name, make: kept.setdefault(name, make()))
    base = group_bytes(puzzle, sizes) - kept["groups"].nbytes * 5 // 4
    assert 0 < base < 400 * 2 * puzzle.cells * 200


CASES = [
    ((2, 3), (0, 1), (2, 3)),
    ((3, 2), (0, 0), (1, 1, 1, 1, 1)),
    ((2, 4), (1, 2), (4, 4)),
    ((2, 4), (0, 0), (3, 3, 3)),
    ((3, 3), (1, 1), (3, 5)),
    ((3, 3), (0, 1), (5, 5, 5)),
    ((3, 3), (2, 2), (8,)),
]


@pytest.mark.parametrize(("shape", "blank", "sizes"), CASES)
def test_groups_are_runs_of_tiles_that_have_all(shape, blank, sizes):
    board = Board(*shape, blank)
    tiles = [board.goal[cell] for cell in board.reading if board.goal[cell]]
    split = Split(tiles_of(board), sizes, "step")
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
    split = Split(tiles_of(board), sizes, "step")
    boards = sorted(data.draw(st.sets(st.permutations(range(cells)).map(tuple), min_size=1)))
    random.Random(1).shuffle(boards)
    rows = np.array([as_homes(board, tiles) for tiles in boards])
    states = np.hstack(split.states(rows))
    assert len(np.unique(states, axis=0)) == len(boards)
