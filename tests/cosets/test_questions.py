"""Questions about all positions of a board, against exhaustive searches."""

import csv
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.cosets import questions
from frontier.cosets.questions import Asker
from frontier.cosets.regions import (
    MOST_LABELLED,
    best_region,
    check_puzzle,
    region_named,
    regions_of,
)
from frontier.kernels.distances import UNREACHED, distance_table
from frontier.kernels.shift_search import ShiftSearch, memory_layout
from frontier.puzzles import tile_puzzle
from frontier.puzzles.grid import Grid
from tests.support.coset_boards import kept, regions, some_regions
from tests.support.reference_cosets import Board, board_of
from tests.support.sweeps import swept

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@lru_cache(maxsize=4)
def asker_of(shape, blank, name, sizes, metric="step"):
    puzzle = check_puzzle(tile_puzzle(*shape, blank=blank, metric=metric))
    return Asker(region_named(puzzle, name), sizes, 2, kept())


PERIOD = {"step": 2, "multi": 1}


def random_sizes(rng, tiles, metric, most=MOST_LABELLED):
    """Groups of random sizes, equal for "multi", that have all tiles together."""
    sizes = []
    while sum(sizes) < tiles:
        sizes.append(rng.randint(1, min(most, tiles - sum(sizes))))
    if metric == "multi":
        return (sizes[0],) * -(-tiles // sizes[0])
    return tuple(sizes)


def answer(asker, limit):
    """All portions of a question, one after the other."""
    return [asker.search(limit, number) for number in range(asker.portions(limit))]


def check_answer(asker, board, limit, expected):
    """Assert that the answer to a question is what is expected; board by board, depth by depth.
    Returns its portions."""
    portions = answer(asker, limit)
    farther = [found for portion in portions for found in portion.farther]
    assert {found.board: found.depth for found in farther} == expected
    assert len(farther) == len(expected)
    for found in farther:
        assert len(found.blanks) == found.depth
        assert board.leads_home(found.board, found.blanks)
    assert [portion.number for portion in portions] == list(range(len(portions)))
    assert sum(portion.cosets for portion in portions) == asker.cosets(limit)
    for portion in portions:
        assert portion.cosets > 0
        assert portion.left * (1 + len(asker._symmetries)) >= len(portion.farther)
        assert portion.solutions >= portion.cosets
        assert portion.seconds >= 0
        assert min(portion.look_ups, portion.nodes) >= 0
    return portions


def by_dictionary(board, limit):
    """What lies at the depths that a question is about: limit + 2, limit + 4, ... of "step", and
    limit + 1, limit + 2, ... of "multi"."""
    return {
        tiles: depth
        for tiles, depth in board.distances.items()
        if depth > limit and (depth - limit) % PERIOD[board.metric] == 0
    }


# --- boards of which all positions are known by dictionaries


METRICS = ("step", "multi")
SIX = regions([(2, 3), (3, 2)], METRICS)
EIGHT = some_regions([(2, 4), (4, 2)])
WITH_A_LOW_LIMIT = SIX[::3]


def name_of(rectangle):
    top, left, rows, columns = rectangle
    return f"{rows}x{columns}" + (f"+{top}+{left}" if top or left else "")


@pytest.mark.sweep
@pytest.mark.parametrize(("shape", "blank", "rectangle", "metric"), [SIX[0], SIX[-1]])
def test_every_limit(shape, blank, rectangle, metric):
    """Of boards of six cells, one in each metric, each another way up; and some beyond the greatest
    distance."""
    board, rng = board_of(*shape, blank, metric), random.Random(str((shape, blank, rectangle)))
    asker = asker_of(shape, blank, name_of(rectangle), random_sizes(rng, 5, metric), metric)
    most = max(board.distances.values())
    assert asker.bound >= most
    for limit in range(asker.bound + 4):
        check_answer(asker, board, limit, by_dictionary(board, limit))
    assert asker.cosets(asker.bound) == asker.portions(asker.bound) == 0


@pytest.mark.sweep
@pytest.mark.parametrize(("shape", "blank", "rectangle", "metric"), SIX + EIGHT)
def test_every_region(shape, blank, rectangle, metric):
    """Of boards of six and of eight cells. Random limits near the greatest distance, for some
    regions also a low one."""
    board, rng = board_of(*shape, blank, metric), random.Random(str((shape, blank, rectangle)))
    sizes = random_sizes(rng, len(board.goal) - 1, metric)
    asker = asker_of(shape, blank, name_of(rectangle), sizes, metric)
    most = max(board.distances.values())
    near = range(most - 6, asker.bound + 1)
    low = [rng.randrange(2, 8)] if (shape, blank, rectangle, metric) in WITH_A_LOW_LIMIT else []
    for limit in {most - 2, most - 1, *rng.sample(near, 3), *low}:
        expected = by_dictionary(board, limit)
        if len(expected) < 1000:
            check_answer(asker, board, limit, expected)


# --- larger boards, whose positions are known from the engine


@lru_cache(maxsize=4)
def known(shape, blank, metric):
    """(puzzle, the distances of all its states, the sizes of the layers)"""
    puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
    table = distance_table(puzzle.model.space, puzzle.model.origins(), 2)
    sizes = np.bincount(table.ravel(), minlength=256)[:UNREACHED]
    return puzzle, table, np.trim_zeros(sizes, "b").tolist()


def from_the_engine(shape, blank, metric, limit):
    """What lies at the depths that a question is about."""
    puzzle, table, sizes = known(shape, blank, metric)
    expected = {}
    for depth in range(limit + PERIOD[metric], len(sizes), PERIOD[metric]):
        row, index = np.nonzero(table == depth)
        vertex, sign = np.divmod(row, 2)
        boards = puzzle.model.boards_of(vertex, puzzle.model.space.code.unranks(index, sign))
        expected |= dict.fromkeys(map(tuple, boards.tolist()), depth)
    return expected


LARGER = [
    (shape, blank, metric)
    for i, shape in enumerate([(2, 5), (3, 3), (5, 2)])
    for j, blank in enumerate(Grid(*shape).blank_orbits())
    for k, metric in enumerate(METRICS)
    if shape == (3, 3) or (i // 2 + j + k) % 2
]
"""The metric changes from one blank cell to the next, and from 2×5 to 5×2."""


def entries(region):
    """Those of both tables."""
    return region.patterns + region.boards


def random_asker(shape, blank, metric):
    """Of a random region, whose tables are not large, and random groups."""
    rng, puzzle = random.Random(str((shape, blank, metric))), tile_puzzle(*shape, blank=blank)
    tiles = puzzle.cells - 1
    rooms = [
        r for r in regions_of(puzzle) if r.patterns + r.boards < 10**8 and 2 * r.tiles >= tiles - 1
    ]
    sizes = random_sizes(rng, tiles, metric, 6)
    return asker_of(shape, blank, rng.choice(rooms).name, sizes, metric)


@pytest.mark.sweep
@pytest.mark.parametrize(("shape", "blank", "metric"), LARGER)
def test_larger_boards(shape, blank, metric):
    """The last layers, and limits beyond them."""
    _, _, sizes = known(shape, blank, metric)
    asker, most = random_asker(shape, blank, metric), len(sizes) - 1
    assert asker.bound >= most
    for limit in {most - 3, most - 2, most - 1, most, (most + asker.bound) // 2}:
        expected = from_the_engine(shape, blank, metric, limit)
        check_answer(asker, Board(*shape, blank, metric), limit, expected)


SYMMETRIC = [
    ((0, 0), "2x2", "step"), ((0, 1), "2x3", "multi"), ((1, 1), "2x2", "step"),
    ((1, 1), "2x2", "multi"), ((2, 2), "2x2+1+1", "step"),
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(("blank", "region", "metric"), SYMMETRIC)
def test_symmetries(monkeypatch, blank, region, metric):
    """Mirror images of a coset are not searched, and the positions in them are found all the same;
    most of the 181,440 positions of 3×3 lie at the depths near its middle."""
    asker = asker_of((3, 3), blank, region, (4, 4), metric)
    board, (_, _, sizes) = Board(3, 3, blank, metric), known((3, 3), blank, metric)
    monkeypatch.setattr(questions, "MIRRORED", 1000)
    for limit in (len(sizes) - 2, len(sizes) - 3, len(sizes) - 5):
        check_answer(asker, board, limit, from_the_engine((3, 3), blank, metric, limit))
        asker._prepared, halved = None, asker.cosets(limit)
        asker._prepared = None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asker, "_symmetries", asker._symmetries[:0])
            assert halved <= asker.cosets(limit) <= 2 * halved
            assert halved < asker.cosets(limit) or not halved
        asker._prepared = None


@pytest.mark.sweep
@pytest.mark.parametrize("blank", Grid(2, 6).blank_orbits())
def test_2x6_from_every_blank_cell(blank):
    """As many positions at each of the last depths as an exhaustive search finds there. 3×4 takes
    minutes from each, and so does 2×6 in moves of several tiles."""
    puzzle, board = tile_puzzle(2, 6, blank=blank), Board(2, 6, blank)
    search = ShiftSearch(memory_layout(puzzle.model.space, 2), 2)
    sizes = [int(counts.sum()) for counts in search.layers(puzzle.model.origins())]
    del search
    asker, most = asker_of((2, 6), blank, best_region(puzzle).name, (6, 5)), len(sizes) - 1
    assert asker.bound >= most
    for limit in (most - 3, most - 2, most - 1, most, (most + asker.bound) // 2):
        found = [far for portion in answer(asker, limit) for far in portion.farther]
        depths = Counter(far.depth for far in found)
        assert depths == {d: sizes[d] for d in range(limit + 2, most + 1, 2)}
        assert len({far.board for far in found}) == len(found)
        for far in found:
            assert len(far.blanks) == far.depth
            assert board.leads_home(far.board, far.blanks)


@swept(
    ("name", "shape"),
    [("2x3", (2, 3)), ("2x4", (2, 4)), ("2x5", (2, 5)), ("3x3", (3, 3)), ("2x6", (2, 6))],
    few=2,
)
def test_the_last_two_layers_are_those_that_are_published(name, shape):
    """In docs/results, of boards with the blank at home in the corner."""
    with (RESULTS / f"{name}.csv").open() as file:
        layers = [int(row["states"]) for row in csv.DictReader(file)]
    most = len(layers) - 1
    region = max(
        regions_of(tile_puzzle(*shape)),
        key=lambda r: (r.patterns + r.boards < 10**7, r.tiles, r.columns),
    )
    tiles = shape[0] * shape[1] - 1
    asker = asker_of(shape, (0, 0), region.name, (tiles // 2, tiles - tiles // 2))
    for depth in range(most - 1, most + 3):
        found = [far for portion in answer(asker, depth - 2) for far in portion.farther]
        expected = layers[depth] if depth <= most else 0
        assert sum(far.depth == depth for far in found) == expected
        assert len(found) == sum(layers[depth::2])


# --- how the work is cut up


ROOMS = [(1, 1, 10**8), (1, 5, 100), (7, 3, 1), (100, 1000, 10**8), (100, 1000, 1)]


@pytest.mark.sweep
@pytest.mark.parametrize(("room", "at_once", "check"), ROOMS)
def test_little_room(monkeypatch, room, at_once, check):
    """Positions left open are searched for in several goes."""
    monkeypatch.setattr(questions, "ROOM", room)
    monkeypatch.setattr(questions, "AT_ONCE", at_once)
    monkeypatch.setattr(questions, "LOOK_UPS_A_CHECK", check)
    board = board_of(2, 4, (0, 1))
    for name in ("2x2", "2x3"):
        asker = asker_of((2, 4), (0, 1), name, (3, 4))
        for limit in (28, 29):
            check_answer(asker, board, limit, by_dictionary(board, limit))


@cache
def left_exactly():
    """What searches leave open that do not end early, for two limits."""
    asker = asker_of((2, 4), (0, 1), "2x3", (3, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "WORTH", 100_000)
        patch.setattr(questions, "LOOK_UPS_A_NODE", 0)
        return [sum(portion.left for portion in answer(asker, limit)) for limit in (26, 27)]


@pytest.mark.sweep
@pytest.mark.parametrize("worth", [0, 1, 30, 1000])
def test_searches_of_cosets_that_end_early(monkeypatch, worth):
    """What they leave open is found out position by position."""
    monkeypatch.setattr(questions, "WORTH", worth)
    monkeypatch.setattr(questions, "LOOK_UPS_A_NODE", 0)
    board = board_of(2, 4, (0, 1))
    asker = asker_of((2, 4), (0, 1), "2x3", (3, 4))
    left = []
    for limit in (26, 27):
        portions = check_answer(asker, board, limit, by_dictionary(board, limit))
        left.append(sum(portion.left for portion in portions))
    exact = left_exactly()
    assert left[0] > exact[0]
    assert left[1] > exact[1]


@pytest.mark.sweep
def test_cosets_are_searched_longer_where_positions_take_long(monkeypatch):
    """A coset is given what its positions would take: their nodes so far, on average, eight times
    as many look-ups for each."""
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (3, 4), 1, kept())
    monkeypatch.setattr(questions, "WORTH", 1)
    assert asker._worth == 1
    portions = answer(asker, 26)
    left, nodes = (
        sum(getattr(portion, name) for portion in portions) for name in ("left", "nodes")
    )
    assert asker._worth == 8 * nodes // left > 8
    monkeypatch.setattr(questions, "WORTH", 100_000)
    again = answer(asker, 26)
    assert sum(portion.left for portion in again) < left
    assert list(map(told, again)) == list(map(told, portions))


@swept(("portions", "least"), [(3, 64), (1000, 1), (1, 1), (50, 7)], few=1)
def test_blocks_of_all_sizes(monkeypatch, portions, least):
    monkeypatch.setattr(questions, "PORTIONS", portions)
    monkeypatch.setattr(questions, "PORTION_COSETS", least)
    board = board_of(2, 4, (0, 1))
    asker = asker_of((2, 4), (0, 1), "2x3", (3, 4))
    check_answer(asker, board, 28, by_dictionary(board, 28))
    assert asker.portions(28) == min(portions, -(-asker.cosets(28) // least))


def told(portion):
    """What a portion tells of positions, without what depends on the search before it."""
    return portion.number, portion.cosets, sorted((f.board, f.depth) for f in portion.farther)


@pytest.mark.sweep
@pytest.mark.parametrize("threads", [2, 5])
def test_several_threads_at_once(threads):
    """Portions of several questions, in turns and shuffled; each thread has memory of its own."""
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (3, 4), threads, kept())
    wanted = [(limit, n) for limit in (28, 31, 29) for n in range(asker.portions(limit))] * 2
    alone = {key: told(asker.search(*key)) for key in set(wanted)}
    random.Random(threads).shuffle(wanted)
    with ThreadPoolExecutor(threads) as pool:
        together = list(pool.map(lambda key: told(asker.search(*key)), wanted))
    assert together == [alone[key] for key in wanted]
    assert asker._spare.qsize() <= threads


@pytest.mark.sweep
def test_a_question_with_more_open_positions_after_one_with_fewer():
    """Memory that was kept is too small then."""
    board, asker = (
        board_of(2, 4, (0, 0)),
        Asker(region_named(tile_puzzle(2, 4), "2x3"), (7,), 1, kept()),
    )
    rooms = []
    for limit in (asker.bound - 1, asker.bound - 12, asker.bound - 1, 27):
        check_answer(asker, board, limit, by_dictionary(board, limit))
        rooms.append(asker._question(limit).most_open)
    assert rooms[0] < rooms[1] < rooms[3]


@pytest.mark.sweep
def test_a_portion_that_is_stopped():
    """It looks before each group of cosets, tells nothing, and is as good as new afterwards."""
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (3, 4), 1, kept())
    whole = told(asker.search(28, 1))
    groups = -(-whole[1] // questions.AT_ONCE)
    for stop_at in range(groups):
        looks = count()
        assert asker.search(28, 1, lambda looks=looks, at=stop_at: next(looks) == at) is None
    assert told(asker.search(28, 1, lambda: False)) == whole


def test_a_search_that_fails_leaves_no_memory_that_is_not_whole():
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (3, 4), 1, kept())
    whole = told(asker.search(28, 1))

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asker.search(28, 1, fail)
    assert told(asker.search(28, 1)) == whole


@given(st.integers(0, 60))
def test_cosets_that_are_searched(limit):
    """Those of the limit's parity that may have a farther position, each in one portion."""
    board = board_of(2, 4, (1, 2))
    asker = asker_of((2, 4), (1, 2), "2x2+0+1", (4, 3))
    rectangle = (0, 1, 2, 2)
    expected = [
        pattern
        for pattern, distance in board.patterns(rectangle).items()
        if board.is_odd(pattern) == limit % 2 and distance + asker.deepest[1] > limit
    ]
    assert asker.cosets(limit) == len(expected)
    numbers = asker._question(limit).cosets
    assert len(set(numbers.tolist())) == len(numbers)
    assert asker.deepest[0] == max(board.patterns(rectangle).values())
    assert asker.deepest[1] == max(board_of(2, 2, (1, 1)).distances.values())
