"""The results of a search for God's number, as JSON and as text."""

from frontier.cosets.progress import bounds_words, last_layers
from frontier.cosets.results import witness_of
from frontier.cosets.run import CosetRun
from frontier.puzzles import Board
from frontier.report.boards import draw_boards
from frontier.runs.log import total_seconds
from frontier.text import counted, named, near, span

DRAWN = 10
"""The greatest number of farthest positions to draw."""


def describe_gods_number(run: CosetRun, value: dict, at_most: int | None = None) -> str:
    """Return the results of a search as text. at_most: the upper bound to prove, if one was
    given."""
    puzzle = run.region.puzzle
    row, column = divmod(puzzle.goals[0].index(0), puzzle.grid.columns)
    title = named(value["name"], value["puzzle"]["title"])
    lines = [f"{title}, the blank's home in [{row}, {column}]"]
    lines.append(f"  God's number: {bounds_words(run.proof)}")
    if at_most is not None:
        answer = "yes" if value["upper"] <= at_most else "no"
        if value["lower"] <= at_most < value["upper"]:
            answer = "not known yet"
        lines.append(f"  all positions take at most {counted(at_most, 'move')}: {answer}")
    for layer in value["layers"]:
        lines.append(f"  {counted(layer['count'], 'position')} at depth {layer['depth']}")
    if value["witness"] and not value["known"]:
        lines.append(f"  the position below needs {value['witness']['at_least']} moves or more")
    total = total_seconds(run.storage)
    in_all = "" if total is None else f", in all: {span(total)}"
    cosets = sum(question["cosets"] for question in value["questions"])
    lines.append(
        f"  {counted(cosets, 'coset')} searched, {span(value['seconds'])} of processor time"
        f"{in_all}, in {near(str(run.path))}"
    )
    _, boards = drawn(run)
    if boards and (value["layers"] or not value["known"]):
        lines += ["", draw_boards(puzzle, boards)]
        if value["layers"] and (more := value["layers"][0]["count"] - len(boards)) > 0:
            lines += ["", f"… and {more:,} more (`farthest` prints them)"]
    return "\n".join(lines)


def drawn(run: CosetRun) -> tuple[str, list[Board]]:
    """Return the heading of the boards to draw, and the boards."""
    if layers := last_layers(run):
        depth, positions = layers[0]
        boards = [position.board for position in positions[:DRAWN]]
        first = "" if len(boards) == len(positions) else f", the first {len(boards)}"
        return f"{counted(len(positions), 'farthest position')}, at depth {depth}{first}", boards
    if run.proof and (witness := witness_of(run)):
        heading = f"A position that needs {witness.limit + run.proof.period} moves or more"
        return heading, [witness.board]
    return "The farthest positions are not known yet", []
