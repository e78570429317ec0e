"""The command that prints the farthest positions of a run: farthest."""

import click

from frontier.cli import common
from frontier.cli.streams import echo
from frontier.layers.farthest import farthest_among
from frontier.layers.run import layers_of
from frontier.report.boards import draw_boards
from frontier.runs.kind import kind_of
from frontier.runs.resolve import resolve
from frontier.text import counted


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
@common.trust_option
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
        if among:
            layered = layers_of(store, "--among needs a run by layers that kept its layers")
            depth, count, boards = farthest_among(layered, among, limit)
        else:
            depth, count, boards = kind_of(store).farthest(store, limit)
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
