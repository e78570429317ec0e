"""The command that draws boards: draw."""

from pathlib import Path

import click

from frontier.cli.common import puzzle_at, set_option
from frontier.cli.completion import complete_run
from frontier.cli.files import Target, check_targets, force_option
from frontier.cli.help import Command
from frontier.report.boards import board_svg, boards_strip, draw_boards


@click.command(
    cls=Command,
    examples={
        "draw configs/hexagram.toml": "The goal and the start of a config.",
        'draw configs/3x3.toml "8 6 7/2 5 4/3 0 1" --svg far.svg': "One position, in a file.",
    },
    see_also=("solve", "farthest", "docs/puzzles.md"),
)
@click.argument("run", metavar="RUN|CONFIG", shell_complete=complete_run)
@click.argument("boards", metavar="[BOARD]...", nargs=-1)
@click.option("--svg", metavar="FILE.svg", help="Draw in a file instead.")
@force_option
@set_option
def draw(run, boards, svg, force, settings):
    """Draw each BOARD; without one, the goals and the start of the config.

    Nothing is searched. A BOARD is written as its puzzle writes it, rows parted by slashes.
    """
    target = None if svg is None else Target("--svg", Path(svg), [".svg"])
    check_targets([target] if target else [], force)
    puzzle = puzzle_at(run, settings)
    shown = [puzzle.parse(board) for board in boards]
    captions = list(boards)
    if not boards:
        shown, captions = list(puzzle.goals), ["goal"] * len(puzzle.goals)
        if puzzle.start is not None:
            shown, captions = [*shown, puzzle.start], [*captions, "start"]
    if target is None:
        click.echo(draw_boards(puzzle, shown, [] if boards else captions))
    elif len(shown) == 1:
        target.write(board_svg(puzzle, shown[0]))
    else:
        target.write(boards_strip(puzzle, shown, captions))
