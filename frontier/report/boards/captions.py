"""Captions for the boards of a solution."""

from itertools import pairwise

from frontier.answers.solution import Solution
from frontier.puzzles import Puzzle
from frontier.report.boards.terminal import can_say


def captions_of(puzzle: Puzzle, solution: Solution, encoding: str = "utf-8") -> list[str]:
    """The caption of each board: the move that leads to it, with its number.

    Where a piece is drawn with another label than moves call it by, as far as the encoding has it,
    the label stands first: 3. 羊 g↓.
    """
    pictures = map(puzzle.picture, solution.boards)
    captions = ["start"]
    for number, (move, (before, after)) in enumerate(
        zip(solution.moves, pairwise(pictures), strict=True), start=1
    ):
        was = {part.code: part.cells for part in before.parts}
        moved = [part for part in after.parts if part.cells != was[part.code]]
        drawn = [part.label for part in moved if part.label not in ("", part.name)]
        labels = [label for label in drawn if can_say(label, encoding)]
        captions.append(" ".join([f"{number}.", *labels, move]))
    return captions
