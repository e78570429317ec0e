"""The bound by the order of the tiles, on the positions of small boards."""

from frontier.solving.inversions import BoardLines, inversions_of, jumped, moved_away, order_bound
from frontier.solving.paths import BLANK
from tests.support.coset_boards import rows_of
from tests.support.reference_cosets import blank_cells, board_of
from tests.support.sweeps import swept

BOARDS = [
    (shape, blank)
    for shape in [(2, 3), (3, 2), (2, 4), (4, 2), (3, 3)]
    for blank in blank_cells(*shape)
]


def lines_of(board):
    side = min(board.rows, board.columns)
    home = board.reading.index(board.goal.index(0))
    return BoardLines(side, len(board.goal) // side, home)


def by_definition(row, side):
    tiles = [(cell, tile) for cell, tile in enumerate(row.tolist()) if tile != BLANK]
    inversions = sum(a > b for i, (_, a) in enumerate(tiles) for _, b in tiles[i + 1 :])
    return inversions, sum(abs(cell % side - tile % side) for cell, tile in tiles)


@swept(("shape", "blank"), BOARDS, few=[BOARDS[0], BOARDS[7]])
def test_a_bound_of_every_position(shape, blank):
    """It is not more than the distance, has its parity, and is 0 in the goal alone. Of 3×3 every
    sixth position is tried, from each blank cell."""
    board = board_of(*shape, blank)
    lines, found = lines_of(board), 0
    boards = list(board.distances)[:: 1 if len(board.goal) < 9 else 6]
    for tiles, row in zip(boards, rows_of(board, boards), strict=True):
        distance = board.distances[tiles]
        inversions, away = inversions_of(row, lines.side)
        bound = order_bound(inversions, away, int((row == BLANK).argmax()), lines)
        assert bound <= distance
        assert (distance - bound) % 2 == 0
        assert (bound == 0) == (tiles == board.goal)
        found = max(found, bound)
    assert found > 8


@swept("shape", [(2, 3), (3, 2), (2, 4), (3, 3)], few=2)
def test_what_a_move_changes(shape):
    board = board_of(*shape, (0, 1))
    side = lines_of(board).side
    for tiles in sorted(board.distances)[:: len(board.distances) // 300 + 1]:
        (row,) = rows_of(board, [tiles])
        before = by_definition(row, side)
        assert inversions_of(row, side) == before
        for there in rows_of(board, board.near(tiles)):
            at, target = (int((of == BLANK).argmax()) for of in (row, there))
            after = by_definition(there, side)
            assert jumped(row, at, target) == after[0] - before[0]
            assert moved_away(row[target], at, target, side) == after[1] - before[1]
