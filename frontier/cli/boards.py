"""Boards on a command line, also those that a shell has taken apart."""

from frontier.errors import InputError
from frontier.puzzles import Puzzle


def whole_boards(puzzle: Puzzle, boards: tuple[str, ...]) -> tuple[str, ...]:
    """Return the boards of a command line, or the one board, or sequence of moves, whose words are
    all of them, as a shell hands it on without its quotes."""
    if len(boards) < 2 or any(" " in board or _is_board(puzzle, board) for board in boards):
        return boards
    board = " ".join(boards)
    try:
        puzzle.position(board)
    except InputError as error:
        words = f"all {len(boards)} words are read as one BOARD, as no word alone is a board"
        raise InputError(f"{error}; {words}") from None
    return (board,)


def _is_board(puzzle: Puzzle, text: str) -> bool:
    try:
        puzzle.parse(text)
    except InputError:
        return False
    return True
