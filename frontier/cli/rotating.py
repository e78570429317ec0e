"""The command that solves a 15-puzzle without a search: rotate."""

import json

import click

from frontier.answers.rotation import FIFTEEN, solve_by_rotations
from frontier.cli import common
from frontier.report.solution import describe_rotation, rotation_value


@click.command(
    short_help="Solve a 15-puzzle by rotations of three loops.",
    epilog="""\b
Examples:
  frontier rotate "15 13 3 9/1 4 14 5/7 2 8 10/12 11 6 0"
  frontier rotate "5 1 2 4/9 6 3 8/13 10 7 11/0 14 15 12" --boards
""",
)
@click.argument("board", metavar="BOARD", nargs=-1, required=True)
@click.option("--boards", "show_boards", is_flag=True, help="Show the board after each tile.")
@common.json_option
def rotate(board, show_boards, as_json):
    """Solve a 15-puzzle BOARD by rotations of three loops, without a search.

    The goal is 1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0, with the blank, 0, at the bottom right. No
    position leads both to this goal and to the goal of configs/4x4.toml, which has the blank first.
    Before the first rotation, the blank slides along its row and then down to its corner.

    Rotations are written (a 3), (b -1), (c 1). Loop a is the border of the board, loop b the border
    of the 3×3 square at the bottom right, and loop c the 2×2 square there. (a 3) carries the blank
    three times clockwise around loop a, which moves the other tiles of the loop three places
    anticlockwise. A negative number turns the loop the other way.
    """
    rotation = solve_by_rotations(FIFTEEN.parse(" ".join(board)))
    value = rotation_value(rotation)
    click.echo(json.dumps(value) if as_json else describe_rotation(rotation, show_boards))
