"""Tables of the distances of all states, against lists of layers and dictionaries."""

import numpy as np
import pytest

from frontier.kernels import distances
from frontier.kernels.distances import (
    UNREACHED,
    bit_numbers,
    distance_table,
    residue_layers,
    residue_table,
    signs_and_indices,
)
from frontier.space.lehmer import LehmerCode
from tests.support.reference_search import bfs_layers, indices
from tests.support.small_spaces import PUZZLES, SOME, each_puzzle, known, origins_in, puzzle_named
from tests.support.sweeps import swept
from tests.support.whole_searches import list_layers


def places_in(space, numbers, depth):
    """The rows and columns of the states of a layer in a table of distances."""
    side = space.side_of(depth)
    node, index = np.divmod(numbers.astype(np.int64), space.code.half)
    return 2 * space.vertex[side][node].astype(np.int64) + space.sign[side][node], index


@swept("threads", [1, 2, 3], few=[2])
@each_puzzle
def test_distances_of_all_states(name, threads):
    space, origins, layers = known(name)
    expected = np.full((2 * space.graph.vertices, space.code.half), 255)
    for depth, numbers in enumerate(layers):
        expected[places_in(space, numbers, depth)] = depth
    table = distance_table(space, origins_in(space, origins), threads)
    assert table.dtype == np.uint8
    assert (table == expected).all()
    assert (table != UNREACHED).sum() == puzzle_named(name).states


@swept(("threads", "columns"), [(1, 3), (2, 3), (2, 4)], few=2)
def test_distances_are_those_of_a_dictionary(threads, columns):
    """Told without the numbers of nodes: by the vertex, the sign and the index of each board."""
    puzzle = puzzle_named(f"tiles 2x{columns}")
    table = distance_table(puzzle.model.space, puzzle.model.origins(), threads)
    for depth, boards in enumerate(bfs_layers(2, columns)):
        for board in boards:
            vertex, sequence = puzzle.model.state(board)
            index, odd = indices(2 * columns - 1)[sequence]
            assert table[2 * vertex + odd, index] == depth


@pytest.mark.parametrize("name", ["tiles 2x4", "multi 2x3", "pattern 2x4, k = 3", "labelled 2x4"])
def test_distances_from_the_nearest_of_several_states(name):
    space, origins, layers = known(name)
    origins = [*origins, *((0, int(number)) for number in layers[4][::3])]
    table = distance_table(space, origins_in(space, [*origins, *origins[:2]]), 2)
    layers = list_layers(space, origins)
    for depth, numbers in enumerate(layers):
        assert (table[places_in(space, numbers, depth)] == depth).all()
    assert (table != UNREACHED).sum() == sum(layer.size for layer in layers)


def planes_of(space, layers):
    """Whether the distance of each bit is 2 or 3 modulo 4, and whether it is odd: bool[2, rows,
    words, 64]; False where there is no state."""
    code = space.code
    planes = np.zeros((2, 2 * space.graph.vertices, code.words, 64), dtype=bool)
    for depth, numbers in enumerate(layers):
        row, index = places_in(space, numbers, depth)
        planes[0, row, index // code.bits, index % code.bits] = depth % 4 >= 2
        planes[1, row, index // code.bits, index % code.bits] = depth % 2
    return planes


def bits_of(table):
    return np.unpackbits(table.view(np.uint8), axis=-1, bitorder="little").astype(bool)


@swept("threads", [1, 2, 3], few=[2])
@swept("name", [name for name in PUZZLES if "multi" not in name],
       few=[name for name in SOME if "multi" not in name])  # fmt: skip
def test_one_residue_of_all_states(name, threads):
    space, origins, layers = known(name)
    table = np.zeros((2 * space.graph.vertices, space.code.words), dtype=np.uint64)
    residue_table(space, origins_in(space, origins), threads, table)
    expected = planes_of(space, layers)[0]
    assert (bits_of(table).reshape(expected.shape) == expected).all()


@swept("planes", [0, 1, 2], few=[0, 2])
@each_puzzle
def test_residues_layer_by_layer(name, planes):
    """Each layer is written when it comes; its states and the numbers of its bits are told."""
    space, origins, layers = known(name)
    code, size = space.code, 2 * space.code.words * 64
    table = np.zeros((planes, 2 * space.graph.vertices, code.words), dtype=np.uint64)
    found = 0
    for layer in residue_layers(space, origins_in(space, origins), 2, table):
        row, index = places_in(space, layers[layer.depth], layer.depth)
        number = row // 2 * size + bit_numbers(code, row % 2, index)
        assert sorted(layer.numbers().tolist()) == sorted(number.tolist())
        assert layer.states == row.size
        assert layer.depth == found
        found += 1
        expected = planes_of(space, layers[:found])[:planes]
        assert (bits_of(table).reshape(expected.shape) == expected).all()
    assert found == len(layers)


@pytest.mark.parametrize("length", range(1, 8))
def test_numbers_of_bits(length):
    code = LehmerCode(length)
    sign, index = np.divmod(np.arange(2 * code.half), code.half)
    numbers = bit_numbers(code, sign, index)
    assert (np.diff(numbers) > 0).all()
    assert (numbers % 64 < code.bits).all()
    assert numbers[-1] < 2 * code.words * 64
    assert [of.tolist() for of in signs_and_indices(code, numbers)] == [
        sign.tolist(), index.tolist(),
    ]  # fmt: skip


def test_too_great_a_distance_is_refused(monkeypatch):
    """More than a byte has room for; a board at 21 has one too many where 20 is the most."""
    puzzle = puzzle_named("tiles 2x3")
    monkeypatch.setattr(distances, "MOST_DISTANCE", 20)
    with pytest.raises(OverflowError, match="is 21 or more; at most 20 "):
        distance_table(puzzle.model.space, puzzle.model.origins(), 1)
    monkeypatch.setattr(distances, "MOST_DISTANCE", 21)
    assert (distance_table(puzzle.model.space, puzzle.model.origins(), 1) == 21).sum() == 1
