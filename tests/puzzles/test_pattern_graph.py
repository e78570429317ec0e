"""Base graphs of patterns, compared with boards that tiles are slid on one by one."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.puzzles.pattern_graph import pattern_graph, set_places, set_ranks
from tests.support.reference_search import layers_of, moved
from tests.support.sweeps import swept
from tests.support.whole_searches import arcs_of

BLANK, LIKE = ".", "x"


def binomials(labels, cells):
    return np.array([[comb(place, i) for place in range(cells)] for i in range(labels + 1)])


def rank_of(places, cells):
    return int(set_ranks(np.array([places], dtype=np.int64), binomials(len(places), cells))[0])


def places_of(rank, labels, cells):
    return tuple(set_places(np.array([rank]), binomials(labels, cells))[0].tolist())


def colex(labels, cells):
    """The sets of places of all tiles but the blank, those with the least greatest place first,
    then those with the least second, and so on."""
    return sorted(combinations(range(cells - 1), labels), key=lambda places: places[::-1])


# --- sets of places as numbers


@pytest.mark.parametrize(
    ("cells", "labels"), [(cells, labels) for cells in range(1, 12) for labels in range(cells)]
)
def test_sets_are_numbered_in_colex_order(cells, labels):
    sets = colex(labels, cells)
    assert len(sets) == comb(cells - 1, labels)
    assert [rank_of(places, cells) for places in sets] == list(range(len(sets)))
    assert [places_of(rank, labels, cells) for rank in range(len(sets))] == sets


@pytest.mark.parametrize(
    ("places", "rank"), [((), 0), ((0,), 0), ((7,), 7), ((0, 1), 0), ((0, 2), 1), ((1, 2, 4), 6)]
)
def test_ranks_by_hand(places, rank):
    assert rank_of(places, 9) == rank
    assert places_of(rank, len(places), 9) == places


@given(st.integers(1, 60), st.data())
def test_places_undo_rank(cells, data):
    places = sorted(data.draw(st.sets(st.integers(0, cells - 2), max_size=12))) if cells > 1 else []
    rank = rank_of(places, cells)
    assert 0 <= rank < comb(cells - 1, len(places))
    assert places_of(rank, len(places), cells) == tuple(places)


@given(st.integers(1, 60), st.data())
def test_rank_undoes_places(cells, data):
    labels = data.draw(st.integers(0, min(12, cells - 1)))
    rank = data.draw(st.integers(0, comb(cells - 1, labels) - 1))
    places = places_of(rank, labels, cells)
    assert list(places) == sorted(set(places))
    assert all(0 <= place < cells - 1 for place in places)
    assert rank_of(places, cells) == rank


# --- the base graph

# (cells, cells of a line, labelled tiles)
GRAPHS = [
    (cells, line, labels)
    for cells, line in [(1, 1), (2, 1), (3, 1), (6, 1), (4, 2), (6, 2), (8, 2), (6, 3), (9, 3)]
    for labels in range(cells)
]
GRAPHS += [(12, 3, labels) for labels in (0, 1, 2, 4, 9, 10, 11)]
GRAPHS += [(12, 2, 5), (12, 4, 3), (16, 4, 2), (15, 3, 3), (8, 4, 4)]
each_graph = swept(("cells", "line", "labels"), GRAPHS, few=[g for g in GRAPHS[::4] if g[0] < 12])


def full_boards(cells, labels):
    """The boards of all (set, position), those of each set together, the labelled tiles
    0, 1, 2, ... in reading order."""
    boards = []
    for places in colex(labels, cells):
        tiles = [LIKE] * (cells - 1)
        for member, place in enumerate(places):
            tiles[place] = member
        boards += [(*tiles[:blank], BLANK, *tiles[blank:]) for blank in range(cells)]
    return boards


def slides(board, line):
    """(board after, tile, where it was, where it is) of each move of a board whose lines lie
    below each other."""
    at = board.index(BLANK)
    found = []
    for cell, tile in enumerate(board):
        (row, column), (blank_row, blank_column) = divmod(cell, line), divmod(at, line)
        if abs(row - blank_row) + abs(column - blank_column) == 1:
            after = list(board)
            after[at], after[cell] = tile, BLANK
            found.append((tuple(after), tile, cell, at))
    return found


def without_order(board):
    """A board whose labelled tiles are 0, 1, 2, ... in reading order, and the order they had."""
    order = tuple(tile for tile in board if tile not in (BLANK, LIKE))
    members = iter(range(len(order)))
    return (
        tuple(tile if tile in (BLANK, LIKE) else next(members) for tile in board),
        order,
    )


def told(shapes):
    """The arcs of a graph with what is told of them: how often there is each
    (source, target, order of the labelled tiles after it, member, position before, after)."""
    arcs = arcs_of(shapes.graph)
    before, after = shapes.positions
    assert len(arcs) == len(shapes.place) == len(before) == len(after)
    home = tuple(range(shapes.labels))
    return Counter(
        (source, target, moved(home, word), place, was, now)
        for (source, target, word), place, was, now in zip(
            arcs, shapes.place.tolist(), before.tolist(), after.tolist(), strict=True
        )
    )


@each_graph
def test_arcs_are_moves(cells, line, labels):
    shapes = pattern_graph(cells, line, labels)
    boards = full_boards(cells, labels)
    vertex = {board: number for number, board in enumerate(boards)}
    assert shapes.graph.vertices == len(boards) == len(vertex)
    assert (shapes.cells, shapes.labels) == (cells, labels)
    assert (shapes.graph.m, shapes.graph.smaller) == (labels, ())
    expected = Counter()
    for board in boards:
        for after, tile, was, now in slides(board, line):
            laid, order = without_order(after)
            member = -1 if tile == LIKE else tile
            expected[vertex[board], vertex[laid], order, member, was, now] += 1
    assert told(shapes) == expected
    assert shapes.region.size == shapes.first.size == 0


@each_graph
def test_free_moves_join_positions(cells, line, labels):
    """Where moves of unlabelled tiles are free, vertices are what these moves join."""
    shapes = pattern_graph(cells, line, labels, free=True)
    boards = full_boards(cells, labels)

    def free(board):
        return [after for after, tile, *_ in slides(board, line) if tile == LIKE]

    region, homes = {}, []
    for number, board in enumerate(boards):
        if board not in region:
            for joined in set().union(*layers_of([board], free)):
                region[joined] = len(homes)
            homes.append(number)
    assert shapes.graph.vertices == len(homes)
    assert shapes.first.tolist() == homes
    assert shapes.region.tolist() == [region[board] for board in boards]
    expected = Counter()
    for board in boards:
        for after, tile, was, now in slides(board, line):
            if tile != LIKE:
                laid, order = without_order(after)
                expected[region[board], region[laid], order, tile, was, now] += 1
    assert told(shapes) == expected
    assert (np.diff(shapes.graph.source) >= 0).all()


@pytest.mark.parametrize("free", [False, True])
@each_graph
def test_with_every_arc_comes_the_one_that_undoes_it(cells, line, labels, free):
    graph = pattern_graph(cells, line, labels, free).graph
    arcs = Counter(arcs_of(graph))
    assert Counter((v, u, word[::-1]) for u, v, word in arcs.elements()) == arcs


@each_graph
def test_words_turn_a_few_members(cells, line, labels):
    """They are the ways to bring a member past up to line - 1 others, each once."""
    words = pattern_graph(cells, line, labels).graph.voltages
    turned = set()
    for i in range(labels):
        for j in range(labels):
            if abs(i - j) < line:
                rest = [member for member in range(labels) if member != i]
                turned.add((*rest[:j], i, *rest[j:]))
    found = [moved(tuple(range(labels)), word) for word in words]
    assert len(set(found)) == len(found)
    assert set(found) == turned | {tuple(range(labels))}


@pytest.mark.parametrize(("cells", "labels"), [(6, 0), (6, 3), (9, 8), (25, 3)])
def test_binomials(cells, labels):
    graph = pattern_graph(cells, 1, labels)
    assert graph.binomial.tolist() == binomials(labels, cells).tolist()


def test_arcs_of_2x2_by_hand():
    """One labelled tile: the blank at position 0 passes the tile in place 0, or moves across to
    position 2, where the tile in place 1 comes to place 0 and the one there moves up."""
    shapes = pattern_graph(4, 2, 1)
    leaving = [
        (source, target, place)
        for (source, target, _), place in zip(
            arcs_of(shapes.graph), shapes.place.tolist(), strict=True
        )
        if source in (0, 4, 8)
    ]
    assert sorted(leaving) == [
        (0, 1, 0),
        (0, 6, -1),
        (4, 2, 0),
        (4, 5, -1),
        (8, 9, -1),
        (8, 10, -1),
    ]


# --- vertices as sets of places and positions of the blank


@each_graph
def test_vertices_are_places_and_a_blank(cells, line, labels):
    graph = pattern_graph(cells, line, labels)
    expected = [(places, blank) for places in colex(labels, cells) for blank in range(cells)]
    places, blank = graph.places_of(np.arange(graph.graph.vertices))
    found = zip(map(tuple, places.tolist()), blank.tolist(), strict=True)
    assert list(found) == expected
    assert graph.vertices_of(places, blank).tolist() == list(range(len(expected)))


@each_graph
def test_vertices_are_regions_where_there_are_some(cells, line, labels):
    whole, joined = pattern_graph(cells, line, labels), pattern_graph(cells, line, labels, True)
    places, blank = whole.places_of(np.arange(whole.graph.vertices))
    assert joined.vertices_of(places, blank).tolist() == joined.region.tolist()
    first = joined.places_of(np.arange(joined.graph.vertices))
    assert whole.vertices_of(*first).tolist() == joined.first.tolist()
