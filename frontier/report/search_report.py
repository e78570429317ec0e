"""The report of a search for God's number: its results, their basis, their cost, and how the search
was made."""

from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.text import Text

from frontier.cosets.progress import last_layers
from frontier.cosets.proof import Answer
from frontier.cosets.results import bounds_of, gods_number_value
from frontier.cosets.run import CosetRun
from frontier.report.boards import board_svg, draw_boards
from frontier.report.console import fitting_table, pairs
from frontier.report.formats import fence
from frontier.report.gods_number import drawn
from frontier.report.html import page
from frontier.report.origin import config_text, origin, starts_of
from frontier.report.tables import Table
from frontier.text import brief, counted, size, span

DROPPED = ("nodes", "look-ups", "left open", "cosets")
"""A narrow terminal omits some of these columns, in this order."""

QUESTIONS = "Positions at these depths, coset by coset"
"""The heading of the table of questions."""


def key_figures(run: CosetRun) -> dict[str, str]:
    """Return the most important facts of a search by name."""
    proof, region = run.proof, run.region
    figures = {
        "God's number": bounds_of(run),
        **{f"depth {d}": counted(len(some), "position") for d, some in last_layers(run)},
        "region": f"{region.name}, {counted(region.boards, 'board')}",
        "patterns": f"{region.patterns:,} of {counted(region.labelled, 'tile')} and the blank",
        "databases": f"groups of {' + '.join(map(str, run.groups))} tiles",
        "tables on disk": size(run.storage.size("tables")),
    }
    if proof:
        figures["time"] = f"{span(proof.seconds)} of processor time, without the tables"
    return figures


def questions(run: CosetRun) -> Table:
    """Return the questions in words and numbers, in the order asked. A question is about every
    depth, or every second depth, from a least depth on."""
    header = ["depths", "answer", "cosets", "look-ups", "left open", "nodes", "time"]
    answers = sorted(run.proof.answers.items(), reverse=True) if run.proof else []
    rows = [
        [
            _depths(limit, run.region.period),
            _in_words(run, limit, answer),
            *(
                f"{answer.total(quantity):,}"
                for quantity in ("cosets", "look_ups", "left", "nodes")
            ),
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


def search_text(run: CosetRun, console: Console) -> RenderableType:
    """Return the report for this console."""
    heading, boards = drawn(run)
    table = questions(run)
    parts: list[RenderableType] = [
        Text(run.puzzle.title, style="bold"),
        pairs(key_figures(run).items()),
        Text(f"\n{QUESTIONS}", style="bold"),
        fitting_table(table.header, table.rows, DROPPED, console, ["answer"]),
        Text(f"\n{heading}", style="bold"),
    ]
    if boards:
        art = draw_boards(run.puzzle, boards, console=console)
        parts.append(Text.from_ansi(art, no_wrap=True))
    parts.append(Text("\nHow it was made", style="bold"))
    parts.append(pairs(origin(run.identity, starts_of(run.storage))))
    return Group(*parts)


def search_value(run: CosetRun) -> dict:
    """Return the report as JSON: the keys of ``summary.json`` and the starts."""
    return gods_number_value(run) | {"starts": list(starts_of(run.storage))}


def search_markdown(run: CosetRun) -> str:
    """Return the report as text with tables."""
    return _document("search.md", run, line=run.puzzle.line, fence=fence)


def search_page(run: CosetRun) -> str:
    """Return the report as a self-contained HTML page."""
    return _document("search.html", run, draw=lambda of: Markup(board_svg(run.puzzle, of)))


def _document(template: str, run: CosetRun, **more) -> str:
    heading, boards = drawn(run)
    identity_and_starts = run.identity, starts_of(run.storage)
    return page(
        template, title=run.puzzle.title, figures=key_figures(run), questions=questions(run),
        heading=QUESTIONS, said=heading, boards=boards, origin=origin(*identity_and_starts),
        config=config_text(*identity_and_starts), **more,
    )  # fmt: skip
