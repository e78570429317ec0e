"""Boards on a command line, even if a shell has split them into words."""

from frontier.errors import InputError
from frontier.puzzles import Puzzle


def whole_boards(puzzle: Puzzle, boards: tuple[str, ...]) -> tuple[str, ...]:
    """Return the boards of a command line. If no word alone is a board, all words together are one
    board or one sequence of moves, which the user typed without quotes."""
    if len(boards) < 2 or any(" " in board or _is_board(puzzle, board) for board in boards):
        return boards
    board = " ".join(boards)
    try:
        puzzle.position(board)
    except InputError as error:
        words = f"the {len(boards)} words were read as one BOARD, because no single word is a board"
        raise InputError(f"{error}; {words}") from None
    return (board,)


def _is_board(puzzle: Puzzle, text: str) -> bool:
    try:
        puzzle.parse(text)
    except InputError:
        return False
    return True
