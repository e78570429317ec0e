"""Solutions as JSON and as text."""

from rich.console import Console

from frontier.answers.solution import Solution
from frontier.puzzles import Puzzle
from frontier.report.boards import captions_of, draw_boards
from frontier.text import counted

MOVES_A_LINE = 20


def solution_value(
    puzzle: Puzzle,
    solution: Solution,
    boards: bool,
    count: int | None = None,
    nodes: list[int] | None = None,
) -> dict:
    """The solution of one position as JSON.

    boards: whether the boards on the way are part of it. count: the number of shortest solutions,
    if it was asked for. nodes: the nodes visited in each iteration of IDA*, if that was the way.
    """
    value = {
        "board": puzzle.write(solution.boards[0]),
        "distance": solution.distance,
        "moves": solution.moves,
    }
    if boards:
        value["boards"] = [puzzle.write(step) for step in solution.boards]
    if count is not None:
        value["solutions"] = count
    if nodes is not None:
        value["nodes"] = sum(nodes)
        value["nodes_of_iterations"] = nodes
    return value


def describe_solution(puzzle: Puzzle, solution: Solution, value: dict) -> str:
    """The same as text, with drawings of the boards that are in the value."""
    distance = value["distance"]
    facts = [counted(distance, "move")]
    if "solutions" in value:
        facts.append(counted(value["solutions"], "shortest solution"))
    if "nodes" in value:
        facts.append(counted(value["nodes"], "node"))
    lines = [f"{puzzle.line(solution.boards[0])}: {', '.join(facts)}"]
    for first in range(0, distance, MOVES_A_LINE):
        lines.append("  " + "  ".join(solution.moves[first : first + MOVES_A_LINE]))
    if "boards" in value:
        captions = captions_of(puzzle, solution, Console().encoding)
        lines += ["", draw_boards(puzzle, solution.boards, captions, named=True)]
    return "\n".join(lines)
