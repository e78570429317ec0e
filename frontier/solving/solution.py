"""A solution: the boards and moves from a position to a goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from frontier.puzzles import Board, Puzzle


@dataclass(frozen=True)
class Solution:
    """The boards from a position to a goal, and the names of the moves between them.

    Like pieces keep their codes on all boards.
    """

    boards: list[Board]
    moves: list[str]

    @property
    def distance(self) -> int:
        return len(self.moves)

    @property
    def goal(self) -> Board:
        """The board at depth 0 that the solution reaches."""
        return self.boards[-1]


def slid(board: Board, columns: int, target: int) -> Board:
    """Return a board of rows of `columns` cells after the blank has moved in a line to the cell
    `target`."""
    codes, blank = list(board), board.index(0)
    stride = columns if (target - blank) % columns == 0 else 1
    for cell in range(blank, target, stride if target > blank else -stride):
        after = cell + (stride if target > blank else -stride)
        codes[cell], codes[after] = codes[after], 0
    return tuple(codes)


def solution_along(puzzle: Puzzle, boards: Sequence[Board]) -> Solution:
    """Return the solution along these boards, on which like pieces may change their codes."""
    followed = [boards[0]]
    for board in boards[1:]:
        followed.append(puzzle.notation.follow(followed[-1], board))
    return Solution(followed, [puzzle.notation.name_move(*pair) for pair in pairwise(followed)])
