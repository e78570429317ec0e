"""The command that solves single positions: solve."""

import json
import time

import click

from frontier.answers.solvers import METHODS, solver_for
from frontier.cli import common
from frontier.cli.boards import whole_boards
from frontier.cli.files import check_targets, file_option, force_option
from frontier.cli.streams import echo
from frontier.errors import InputError, Unsolved, why_unreadable
from frontier.puzzles import Puzzle
from frontier.report.boards import film_page, film_strip
from frontier.report.solution import describe_moves, describe_solution, solution_value
from frontier.runs.resolve import puzzle_and_run
from frontier.text import counted, span


@click.command(
    epilog="""\b
Examples:
  frontier solve 2x5 "9 8 7 6 5/4 3 2 1 0" --all-counts
  frontier solve runs/2x5 --file positions.txt --json  # one position a line
  frontier solve runs/2x5 --file -  # what a pipe brings
  frontier solve goat --boards  # the start of the config
  frontier solve goat --animate goat.html
  frontier solve 2x7 --file far.txt --heuristic 2x7-k3.zarr
""",
)
@common.puzzle_argument
@common.boards_argument
@click.option(
    "--file",
    type=click.Path(),
    help="Solve positions of a file, one a line, with # comments; `-`: standard input.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="Look positions up in the layers of a run, search all states in memory, or search for "
    "each position alone (IDA*).  [default: the first of these that is possible]",
)
@click.option("--all-counts", is_flag=True, help="Count all shortest solutions (not ida).")
@click.option("--boards", "show_boards", is_flag=True, help="Show the boards on the way.")
@click.option(
    "--tell-apart/--no-tell-apart",
    default=None,
    help="Tell like pieces apart where they cannot change places (ida).  [default: yes]",
)
@click.option(
    "--heuristic",
    "heuristics",
    multiple=True,
    metavar="RUN",
    shell_complete=common.complete_run,
    help="A pattern database: a run that kept its layers, or what export wrote of it (ida). "
    "May be repeated: the greatest distance counts, or sums where databases can be added.",
)
@file_option("--strip", "Draw all boards of the one solution in a file.", ".svg")
@file_option("--animate", "Draw the one solution on a page to step through.", ".html")
@force_option
@click.option(
    "--most-nodes",
    type=common.Whole(min=1),
    metavar="N",
    help="Give up after N nodes (ida).",
)
@common.set_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each position.")
def solve(
    run, boards, file, method, all_counts, show_boards, tell_apart, heuristics, strip, animate,
    force, most_nodes, settings, as_json,
):  # fmt: skip
    """Find a shortest solution of each BOARD.

    It comes from the layers of RUN, or of the CONFIG's run, if that is complete and kept them
    (search.keep = "all"); else, where all states fit in memory, from a search of them all; else
    from IDA*, whose time grows with the distance. Standard error names the way. Without BOARD and
    --file, the config's start is solved.

    A BOARD is written as its puzzle writes it, rows parted by slashes. Where moves have names, as
    those of a cube, it may be a sequence of them instead, such as "R U2 F'": the position to which
    they lead from the goal is solved. Each of several positions gets an answer or an error. The
    exit code is that of the first error.
    """
    config, store = puzzle_and_run(run, settings)
    puzzle = config.make_puzzle()
    positions = _positions(puzzle, boards, file)
    for target in (*strip, *animate):
        if len(positions) != 1:
            raise InputError(
                f"{target.option} draws the solution of one position, and {len(positions)} are "
                "given; name one BOARD"
            )
    check_targets([*strip, *animate], force, as_json)
    # This may take a while, so everything else is checked first.
    solver = solver_for(
        config, store, method, all_counts, tell_apart, heuristics, most_nodes, _Watch
    )
    moves, failures, described = [], [], False
    for place, text in positions:
        try:
            board = puzzle.position(text)
            puzzle.check_reached(board)
            if not described:
                echo(f"{solver.description} …", err=True)
                described = True
            solution, extras = solver.solve(board)
        except (InputError, Unsolved) as error:
            failures.append(type(error)(f"{place}{error}"))
            if as_json:
                click.echo(json.dumps({"board": text, "error": str(error)}))
            if len(positions) > 1:
                echo(f"error: {failures[-1]}", err=True)
            continue
        value = solution_value(puzzle, solution, show_boards, **extras) | {"method": solver.method}
        if as_json:
            click.echo(json.dumps(value))
        else:
            echo(describe_solution(puzzle, solution, value))
        moves += solution.moves
        for target in strip:
            target.write(film_strip(puzzle, solution))
        for target in animate:
            title = f"{counted(solution.distance, 'move')} of {puzzle.title}"
            target.write(film_page(puzzle, solution, title))
    if (legend := describe_moves(puzzle, moves)) and not as_json:
        echo(f"\n{legend}")
    if failures and len(positions) > 1:
        share = f"{len(failures):,} of {len(positions):,} positions"
        raise type(failures[0])(f"{share} have no answer; see the errors above")
    if failures:
        raise failures[0]


class _Watch:
    """Prints the progress of a search after one second, and again whenever that time doubles."""

    def __init__(self):
        self._began, self._next = time.monotonic(), 1.0

    def __call__(self, bound: int, nodes: int) -> None:
        elapsed = time.monotonic() - self._began
        if elapsed >= self._next:
            self._next = 2 * elapsed
            progress = f"at least {counted(bound, 'move')}, {counted(nodes, 'node')} so far"
            echo(f"{progress}, {span(elapsed)}", err=True)


def _uncommented(puzzle: Puzzle, line: str) -> str:
    """Return a line without the comment after #, unless boards of the puzzle have that mark."""
    return line.strip() if "#" in puzzle.line(puzzle.goals[0]) else line.partition("#")[0].strip()


def _positions(puzzle: Puzzle, boards: tuple[str, ...], file: str | None) -> list[tuple[str, str]]:
    """Return (place in the file, text) of each position to be solved."""
    positions = [("", board) for board in whole_boards(puzzle, boards)]
    if file is not None:
        name = "standard input" if file == "-" else file
        try:
            with click.open_file(file, "rb") as lines_file:
                lines = lines_file.read().decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name} cannot be read: {why_unreadable(error)}") from None
        positions += [
            (f"{name}, line {number}: ", line)
            for number, text in enumerate(lines, start=1)
            if (line := _uncommented(puzzle, text))
        ]
    if boards or file is not None:
        return positions
    if puzzle.start is None:
        raise InputError("name a BOARD, or a --file of them; the config has no puzzle.start")
    return [("", puzzle.line(puzzle.start))]
