"""Shortest solutions as JSON and as text."""

from collections.abc import Iterable

from rich.console import Console

from frontier.puzzles import Puzzle
from frontier.report.boards import captions_of, draw_boards
from frontier.solving.solution import Solution
from frontier.text import counted

MOVES_A_LINE = 20


def solution_value(
    puzzle: Puzzle,
    solution: Solution,
    boards: bool,
    count: int | None = None,
    nodes: list[int] | None = None,
) -> dict:
    """Return the solution of one position as JSON.

    boards: True to include the boards of the solution. count: the number of shortest solutions, if
    known. nodes: the nodes visited in each iteration, if the method was IDA*.
    """
    value = {
        "board": puzzle.write(solution.boards[0]),
        "goal": puzzle.write(solution.goal),
        "distance": solution.distance,
        "moves": solution.moves,
    }
    if boards:
        value["boards"] = [puzzle.write(step) for step in solution.boards]
    if meanings := puzzle.notation.meanings(solution.moves):
        value["legend"] = meanings
    if count is not None:
        value["solutions"] = count
    if nodes is not None:
        value |= {"nodes": sum(nodes), "nodes_of_iterations": nodes}
    return value


def describe_solution(puzzle: Puzzle, solution: Solution, value: dict) -> str:
    """Return the solution as text, with drawings of the boards if `value` has them."""
    distance = value["distance"]
    facts = [f"{counted(distance, 'move')} to {puzzle.line(solution.goal)}"]
    for key, noun in (("solutions", "shortest solution"), ("nodes", "node")):
        if key in value:
            facts.append(counted(value[key], noun))
    lines = [f"{puzzle.line(solution.boards[0])}: {', '.join(facts)}"]
    console = Console()
    lines += _move_lines(solution.moves, console.width)
    if "boards" in value:
        captions = captions_of(puzzle, solution, console.encoding)
        lines += ["", draw_boards(puzzle, solution.boards, captions, named=True)]
    return "\n".join(lines)


def _move_lines(moves: list[str], width: int) -> list[str]:
    """Return moves in lines of `MOVES_A_LINE` moves, or of fewer if these would be wider than
    `width`."""
    lines: list[list[str]] = [[]]
    for move in moves:
        broad = sum(len(before) + 2 for before in [*lines[-1], move])
        if len(lines[-1]) == MOVES_A_LINE or (lines[-1] and broad > width):
            lines.append([])
        lines[-1].append(move)
    return ["  " + "  ".join(line) for line in lines if line]


def describe_moves(puzzle: Puzzle, moves: Iterable[str]) -> str:
    """Return the descriptions of moves as text; empty if the names describe the moves."""
    meanings = puzzle.notation.meanings(moves)
    if not meanings:
        return ""
    key, _ = puzzle.notation.legend
    broad = max(map(len, meanings))
    return "\n".join([key, *(f"  {name:{broad}}  {words}" for name, words in meanings.items())])
