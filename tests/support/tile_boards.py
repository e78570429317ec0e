"""Shapes and boards of tile puzzles to try."""

from hypothesis import strategies as st

from frontier.puzzles import tile_puzzle

SHAPES = [(rows, columns) for rows in range(1, 26) for columns in range(1, 25 // rows + 1)]
AT_MOST_6 = [shape for shape in SHAPES if shape[0] * shape[1] <= 6]
AT_MOST_8 = [shape for shape in SHAPES if shape[0] * shape[1] <= 8]
FEW_SHAPES = [*AT_MOST_8, (3, 4), (5, 5)]


def shaped(cells, columns):
    """A flat board row by row, as a config has it."""
    return tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns))


def with_blank_at(cells, place):
    """The tiles of a flat board in their order, the blank elsewhere."""
    tiles = [tile for tile in cells if tile]
    return (*tiles[:place], 0, *tiles[place:])


@st.composite
def puzzles_and_boards(draw, most=25):
    """(puzzle with a goal of its own, a board of it, which need not be reachable)."""
    shapes = [shape for shape in SHAPES if shape[0] * shape[1] <= most]
    rows, columns = draw(st.sampled_from(shapes))
    cells = rows * columns
    goal = draw(st.permutations(range(cells)))
    if min(rows, columns) == 1:  # tiles never pass each other
        board = with_blank_at(goal, draw(st.integers(0, cells - 1)))
    else:
        board = draw(st.permutations(range(cells)))
    return tile_puzzle(rows, columns, goal=shaped(goal, columns)), tuple(board)
