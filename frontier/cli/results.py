"""The command that prints the farthest positions of a run: farthest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from frontier.cli import common
from frontier.cli.streams import echo
from frontier.errors import InputError
from frontier.puzzles import Board
from frontier.report.boards import draw_boards
from frontier.runs.farthest import farthest as farthest_of
from frontier.runs.farthest import farthest_among
from frontier.runs.layer_run import LayerRun
from frontier.runs.resolve import resolve
from frontier.text import counted

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun


@click.command(
    epilog="""\b
Examples:
  frontier farthest 2x5
  frontier farthest runs/goat --limit 3 --json
  frontier farthest runs/3x3 --among "1 ? ? / ? ? ? / ? ? 0"
""",
)
@common.run_argument
@click.option(
    "--limit", type=common.Whole(min=0), metavar="N", default=100, help="Print at most N positions."
)
@click.option(
    "--among",
    metavar="BOARD",
    multiple=True,
    help="Only positions that agree with this board, in which ? matches anything. May be repeated.",
)
@common.json_option
def farthest(run, limit, among, as_json):
    """Print the positions that need the most moves.

    They are the positions of the last layer, so RUN must be complete. If RUN is a search by
    `gods-number`, it must have listed its last layer, which it does by default.

    With --among, only positions that agree with a given board are counted; RUN must have kept its
    layers.
    For example, if the goal is the end of a phase of a method and BOARD its beginning, the depth is
    the greatest number of moves that the phase needs.
    """
    values, named = [], resolve(run)
    common.note_searches(named.searches_beside)
    for store in named.open():
        depth, count, boards = _farthest(store, limit, among)
        puzzle = store.puzzle
        positions = [puzzle.write(board) for board in boards]
        values.append({"depth": depth, "count": count, "positions": positions})
        if as_json:
            continue
        of = "" if len(puzzle.goals) > 1 else f" from {puzzle.line(puzzle.goals[0])}"
        of += " among those that agree with --among" if among else ""
        echo(f"{counted(count, 'position')} at depth {depth}{of}")
        if boards:
            click.echo("\n" + draw_boards(puzzle, boards))
        if len(boards) < count:
            echo(f"\n… and {count - len(boards):,} more (--limit)")
    if as_json:
        common.echo_json(values)


def _farthest(
    store: "LayerRun | CosetRun", limit: int, among: Sequence[str]
) -> tuple[int, int, list[Board]]:
    """Return the depth of the farthest positions, their number, and up to `limit` of them."""
    if isinstance(store, LayerRun):
        return farthest_among(store, among, limit) if among else farthest_of(store, limit)
    if among:
        raise InputError(
            f"{store.path} holds a run by cosets; --among needs a run by layers that kept its "
            "layers"
        )
    from frontier.report.gods_number import farthest_found  # this loads all of `cosets`

    return farthest_found(store, limit)
