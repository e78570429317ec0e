"""The command that solves single positions: solve."""

import json
import re
import time

import click

from frontier.cli import common
from frontier.cli.boards import whole_boards
from frontier.cli.files import check_targets, file_option, force_option, write_drawing
from frontier.cli.streams import echo
from frontier.errors import InputError, Unsolved, path_error, why_unreadable
from frontier.layers.run import puzzle_and_run
from frontier.puzzles import Puzzle
from frontier.report.boards import film_page, film_strip
from frontier.report.solution import describe_moves, describe_solution, solution_value
from frontier.solving.databases import cache_folder
from frontier.solving.methods import METHODS, Progress, solver_for
from frontier.text import counted, near, size, span
from frontier.values import bytes_of

TOLD_BYTES = 10_000_000
"""Smaller databases are made in a moment."""


@click.command(
    epilog="""\b
Examples:
  frontier solve 2x5 "9 8 7 6 5/4 3 2 1 0" --all-counts
  frontier solve runs/2x5 --file positions.txt --json  # one position a line
  frontier solve runs/2x5 --file -  # positions from standard input
  frontier solve goat --boards  # the start of the config
  frontier solve goat --animate goat.html
  frontier solve 24-puzzle --file far.txt --most-nodes 1000000000
""",
)
@common.puzzle_argument
@common.boards_argument
@click.option(
    "--file",
    type=common.PlaceName(),
    help="Solve the positions in a file, one per line; # begins a comment, - means standard input.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="Look positions up in the layers of a run, search for each solution separately (IDA*) "
    "with pattern databases, search all states in memory, or use IDA* with the moves of single "
    "pieces.  [default: the first of these that is possible]",
)
@click.option("--all-counts", is_flag=True, help="Count all shortest solutions (not with ida).")
@click.option("--boards", "show_boards", is_flag=True, help="Show the boards along the way.")
@click.option(
    "--tell-apart/--no-tell-apart",
    default=None,
    help="With ida: tell like pieces apart if they cannot change places.  [default: yes]",
)
@click.option(
    "--memory",
    "room",
    type=common.Size(),
    metavar="SIZE",
    help="Memory for pattern databases, such as 16GB; more memory allows larger databases. They "
    "are made once and kept on disk.  [default: 1GB]",
)
@file_option("--strip", "Write a drawing of all boards of the solution.", ".svg", ".png")
@file_option("--animate", "Write a page that shows the solution step by step.", ".html")
@force_option
@click.option(
    "--most-nodes",
    type=common.Whole(min=1),
    metavar="N",
    help="With databases or ida: stop after N nodes.",
)
@common.set_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each position.")
@common.trust_option
def solve(
    run, boards, file, method, all_counts, show_boards, tell_apart, room, strip, animate,
    force, most_nodes, settings, as_json,
):  # fmt: skip
    """Find a shortest solution of each BOARD.

    `solve` looks it up in the layers of RUN, or of the CONFIG's run, if that run is complete and
    kept its layers (search.keep = "all"). Otherwise it solves positions of a tile puzzle with
    pattern databases, which it makes when a position needs them. For other puzzles it searches all
    states if they fit in memory; otherwise it uses IDA*, whose time grows with the distance.
    Standard error names the method. Without BOARD or --file, `solve` solves the config's start.

    Write a BOARD in the notation of its puzzle, with slashes between rows. If the moves have names,
    as for a cube, a BOARD may instead be a sequence of moves from the goal, such as "R U2 F'". Each
    of several positions gets an answer or an error; the exit code is that of the first error.
    """
    config, store = puzzle_and_run(run, settings)
    puzzle = config.make_puzzle()
    positions = _positions(puzzle, boards, file)
    for target in (*strip, *animate):
        if len(positions) != 1:
            raise InputError(
                f"{target.option} draws the solution of one position, not of {len(positions)}; "
                "name one BOARD"
            )
    check_targets([*strip, *animate], force, as_json)
    # This may take a while, so everything else is checked first.
    solver = solver_for(
        config, store, method, all_counts, tell_apart, most_nodes,
        None if room is None else bytes_of("--memory", room), _Watch, _Making(),
    )  # fmt: skip
    click.get_current_context().call_on_close(solver.close)
    moves, failures, told, described = [], [], set(), False
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
            message, why = str(error), str(error).partition(": ")[2]
            if why and why in told:  # its advice has been given
                message = ": ".join(re.split("[:;] ", message)[:2])
            told.add(why)
            if len(positions) > 1:
                echo(f"error: {place}{message}", err=True)
            continue
        value = solution_value(puzzle, solution, show_boards, **extras) | {"method": solver.method}
        if as_json:
            click.echo(json.dumps(value))
        else:
            echo(describe_solution(puzzle, solution, value))
        moves += solution.moves
        for target in strip:
            write_drawing(target, film_strip(puzzle, solution))
        for target in animate:
            name = config.puzzle.title or config.name
            title = f"{name}: solution in {counted(solution.distance, 'move')}"
            target.write(film_page(puzzle, solution, title))
    if (legend := describe_moves(puzzle, moves)) and not as_json:
        echo(f"\n{legend}")
    if failures and len(positions) > 1:
        share = f"{len(failures):,} of {len(positions):,} positions"
        raise type(failures[0])(f"not solved: {share}; see the errors above")
    if failures:
        raise failures[0]


class _Watch:
    """Prints the progress of a search after one second, and again whenever that time doubles."""

    def __init__(self):
        self._began, self._next = time.monotonic(), 1.0

    def __call__(self, progress: Progress) -> None:
        elapsed = time.monotonic() - self._began
        if elapsed < self._next:
            return
        self._next = 2 * elapsed
        least, most, nodes, left = progress
        bounds = f"at least {counted(least, 'move')}"
        if most is not None:
            bounds = f"{least} to {counted(most, 'move')}"
        a_second = nodes / elapsed
        remaining = "" if left is None else f", about {span(left / a_second)} left for {least}"
        echo(
            f"{bounds}, {counted(nodes, 'node')} so far, {a_second:,.0f} a second, {span(elapsed)}"
            f"{remaining}",
            err=True,
        )


class _Making:
    """Says which pattern database is being made, and how far it is whenever its time doubles."""

    def __init__(self):
        self._name, self._began, self._next = "", 0.0, 0.0

    def __call__(self, name: str, bytes: int, share: float) -> None:
        now = time.monotonic()
        if name != self._name:
            self._name, self._began, self._next = name, now, 1.0
            if bytes >= TOLD_BYTES:
                echo(f"Making {name}, {size(bytes)}, in {near(str(cache_folder()))} …", err=True)
        elif bytes >= TOLD_BYTES and now - self._began >= self._next:
            self._next = 2 * (now - self._began)
            left = (now - self._began) * (1 - share) / max(share, 0.001)
            echo(f"{name}: {share:.0%}, about {span(left)} left", err=True)


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
            message = f"{name} cannot be read: {why_unreadable(error)}"
            raise path_error(message, error) from None
        positions += [
            (f"{name}, line {number}: ", line)
            for number, text in enumerate(lines, start=1)
            if (line := _uncommented(puzzle, text))
        ]
    if boards or file is not None:
        return positions
    if puzzle.start is None:
        raise InputError("the config has no puzzle.start; name a BOARD, or a --file of boards")
    return [("", puzzle.line(puzzle.start))]
