"""The command that draws positions: draw."""

import click

from frontier.cli import common
from frontier.cli.boards import whole_boards
from frontier.cli.files import check_targets, file_option, force_option, write_drawing
from frontier.report.boards import board_svg, boards_strip, draw_boards
from frontier.runs.resolve import resolve


@click.command(
    short_help="Draw positions.",
    epilog="""\b
Examples:
  frontier draw hexagram
  frontier draw 3x3 "8 6 7/2 5 4/3 0 1" --svg far.svg
""",
)
@common.puzzle_argument
@common.boards_argument
@file_option("--svg --png svg", "Write the drawing to a file.", ".svg", ".png")
@force_option
@common.set_option
@common.trust_option
def draw(run, boards, svg, force, settings):
    """Draw each BOARD or, if there is none, the goals and the start of the config.

    Write a BOARD in the notation of its puzzle, with slashes between rows. If the moves have names,
    a BOARD may instead be a sequence of moves from the goal.
    """
    check_targets(svg, force)
    puzzle = resolve(run, settings).puzzle.make_puzzle()
    boards = whole_boards(puzzle, boards)
    shown, captions = [puzzle.position(board) for board in boards], list(boards)
    if not boards:
        shown, captions = list(puzzle.goals), ["goal"] * len(puzzle.goals)
        if puzzle.start is not None:
            shown, captions = [*shown, puzzle.start], [*captions, "start"]
    if not svg:
        click.echo(draw_boards(puzzle, shown, [] if boards else captions))
        return
    drawn = boards_strip(puzzle, shown, captions) if shown[1:] else board_svg(puzzle, shown[0])
    for target in svg:
        write_drawing(target, drawn)
