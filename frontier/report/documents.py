"""Reports as HTML pages, each one file that needs nothing from outside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from markupsafe import Markup

from frontier.puzzles import Board, Puzzle
from frontier.report.boards import board_svg
from frontier.report.boards.svg import Scene
from frontier.report.charts import comparison_charts, report_charts
from frontier.report.comparison import Comparison
from frontier.report.facts import (
    LAYER_HEADER,
    comparison_layers,
    comparison_rows,
    comparison_spending,
    config_text,
    key_figures,
    layer_cells,
    origin,
    spending,
    spending_note,
    why_no_boards,
)
from frontier.report.figures import Figures
from frontier.report.pages import across, page
from frontier.text import counted

GOALS, BOARDS_EACH = 4, 4
"""How many goals a page draws, and how many farthest positions of each run of a comparison."""

SIDE, GAP, ROOM, SMALL_ROOM = 36, 20, 856, 340
"""Of boards in a page, in pixels: the side of a cell, the gap between two boards, and how broad the
page is, on a screen and in a hand (``templates/``)."""


@dataclass(frozen=True)
class Grid:
    """Boards in a page, each with what is said of it, and how many stand side by side: on a screen
    and in a hand."""

    boards: list[tuple[Markup, str]]
    across: int
    small: int


def _grid(puzzle: Puzzle, boards: Iterable[tuple[Board, str]]) -> Grid:
    boards = list(boards)
    drawn = [(Markup(board_svg(puzzle, board, SIDE)), said) for board, said in boards]
    broad = max((Scene(puzzle.picture(board), SIDE).width for board, _ in boards), default=1)
    ways = [
        across(len(boards), max(1, int((room + GAP) // (broad + GAP))))
        for room in (ROOM, SMALL_ROOM)
    ]
    return Grid(drawn, *ways)


def report_page(run: Figures) -> str:
    """The report of one run."""
    return page(
        "report.html",
        run=run,
        key_figures=key_figures(run),
        charts=report_charts(run),
        named=_named(run),
        boards=_drawn(run),
        why_no_boards=why_no_boards(run),
        spending=spending(run),
        spending_note=spending_note(run),
        header=LAYER_HEADER,
        rows=[layer_cells(layer) for layer in run.layers],
        origin=origin(run),
        config=config_text(run),
    )


def comparison_page(comparison: Comparison) -> str:
    """The report of several runs."""
    parts = [
        (
            run,
            label,
            _drawn(run, BOARDS_EACH),
            why_no_boards(run),
            origin(run),
            config_text(run),
        )
        for label, run in zip(comparison.labels, comparison.runs, strict=True)
    ]
    return page(
        "comparison.html",
        of=comparison,
        charts=comparison_charts(comparison),
        key_rows=comparison_rows(comparison),
        spending=comparison_spending(comparison),
        rows=comparison_layers(comparison),
        parts=parts,
    )


@dataclass(frozen=True)
class Card:
    """A report in an index: the name of its files, what it is of, key figures with what they tell,
    a board, and the states of each layer."""

    name: str
    title: str
    facts: list[tuple[str, str]]
    board: Markup
    counts: list[int]

    @property
    def outline(self) -> str:
        """The layers as the path of an area 100 broad and 100 high, as high as the logarithms."""
        logs = [log(1 + count) for count in self.counts]
        high, broad = max(logs, default=1), 100 / max(1, len(logs))
        steps = "".join(f"V{100 - 100 * of / high:.0f}h{broad:.2f}" for of in logs)
        return f"M0,100{steps}V100Z"


def card_of(name: str, runs: Sequence[Figures]) -> Card:
    """The card of a report, of one run or of several; the picture is of the last."""
    last = runs[-1]
    values = {
        "states": [run.states for run in runs],
        "depth": [run.depth for run in runs],
        "farthest": [run.farthest for run in runs],
    }
    facts = [(key, _from_to(of)) for key, of in values.items()]
    titles = list(dict.fromkeys((runs[0].puzzle.title, last.puzzle.title)))
    board = last.boards[0] if last.boards else last.puzzle.goals[0]
    return Card(
        name, " … ".join(titles), facts, Markup(board_svg(last.puzzle, board, SIDE)), last.counts
    )


def _from_to(numbers: list[int]) -> str:
    """The least and the greatest of some numbers."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} … {high:,}"


def index_page(groups: Mapping[str, Sequence[Card]]) -> str:
    """A page that links reports, in groups."""
    return page("index.html", groups=groups)


def _named(run: Figures) -> Grid:
    """The goals, or some of many, and the start, each with what it is."""
    puzzle = run.puzzle
    boards = [(goal, "goal") for goal in puzzle.goals[:GOALS]]
    if puzzle.start is not None:
        found = run.start_depth
        far = "not found" if found is None else f"{counted(found, 'move')} away"
        boards.append((puzzle.start, f"start, {far}"))
    return _grid(puzzle, boards)


def _drawn(run: Figures, most: int | None = None) -> Grid:
    """Farthest positions, all that are known or the first few."""
    return _grid(run.puzzle, ((board, "") for board in run.boards[:most]))
