"""The results of a search for God's number: as text, and as the facts of a report, with their basis
and their cost."""

from dataclasses import dataclass

from frontier.cosets.kind import witness_of
from frontier.cosets.progress import bounds_words, last_layers
from frontier.cosets.proof import Answer
from frontier.cosets.run import CosetRun
from frontier.puzzles import Board
from frontier.report.boards import draw_boards
from frontier.report.origin import Origin
from frontier.report.tables import Table
from frontier.runs.log import total_seconds
from frontier.text import brief, counted, named, near, size, span

DRAWN = 10
"""The greatest number of farthest positions to draw."""

QUESTIONS = "Positions at these depths, coset by coset"
"""The heading of the table of questions."""


def describe_gods_number(run: CosetRun, value: dict, at_most: int | None = None) -> str:
    """Return the results of a search as text. at_most: the upper bound to prove, if one was
    given."""
    puzzle = run.region.puzzle
    row, column = puzzle.blank_square
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


@dataclass(frozen=True)
class SearchReport(Origin):
    """The report of a search. starts: see `Origin`."""

    run: CosetRun
    starts: tuple[dict, ...]

    @property
    def title(self) -> str:
        return self.run.puzzle.title

    @property
    def farthest(self) -> tuple[str, list[Board]]:
        """The heading of the boards to draw, and the boards."""
        return drawn(self.run)

    @property
    def key_figures(self) -> dict[str, str]:
        """The most important facts of the search by name."""
        run, proof, region = self.run, self.run.proof, self.run.region
        figures = {
            "God's number": bounds_words(run.proof),
            **{f"depth {d}": counted(len(some), "position") for d, some in last_layers(run)},
            "region": f"{region.name}, {counted(region.boards, 'board')}",
            "patterns": f"{region.patterns:,} of {counted(region.labelled, 'tile')} and the blank",
            "databases": f"groups of {' + '.join(map(str, run.groups))} tiles",
            "tables on disk": size(run.storage.size("tables")),
        }
        if proof:
            figures["time"] = f"{span(proof.seconds)} of processor time, without the tables"
        return figures

    @property
    def questions(self) -> Table:
        """The questions in words and numbers, in the order asked. A question is about every depth,
        or every second depth, from a least depth on."""
        run, numbers = self.run, ("cosets", "look_ups", "left", "nodes")
        header = ["depths", "answer", "cosets", "look-ups", "left open", "nodes", "time"]
        answers = sorted(run.proof.answers.items(), reverse=True) if run.proof else []
        rows = [
            [
                _depths(limit, run.region.period),
                _in_words(run, limit, answer),
                *(f"{answer.total(quantity):,}" for quantity in numbers),
                brief(answer.seconds),
            ]
            for limit, answer in answers
        ]
        return Table(header, rows)


def _depths(limit: int, period: int) -> str:
    """Return the depths that a question is about."""
    first = limit + period
    return f"{first} or more" if period == 1 else f"{first}, {first + period}, …"


def _in_words(run: CosetRun, limit: int, answer: Answer) -> str:
    """Return the answer to a question, as far as it is known."""
    positions = counted(len(answer.farther), "position") if answer.farther else "none"
    if answer.searched:
        return positions
    witnessed = any(witness.limit == limit for witness in run.begun_proof.witnesses)
    # 100% only when all is done
    found_so_far = f"{positions}, " if answer.farther else "some, " if witnessed else ""
    return f"{found_so_far}{100 * len(answer.done) // answer.portions}% searched"
