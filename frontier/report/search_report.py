"""The facts of a report of a search for God's number: its results, their basis and their cost."""

from dataclasses import dataclass

from frontier.cosets.progress import bounds_words, last_layers
from frontier.cosets.proof import Answer
from frontier.cosets.run import CosetRun
from frontier.puzzles import Board
from frontier.report.gods_number import drawn
from frontier.report.origin import Origin
from frontier.report.tables import Table
from frontier.text import brief, counted, size, span

QUESTIONS = "Positions at these depths, coset by coset"
"""The heading of the table of questions."""


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
