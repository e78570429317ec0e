"""Commands on single positions: solve, rotate."""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from frontier.answers.ida import IdaSolver
from frontier.answers.oracle import Oracle
from frontier.answers.rotation import FIFTEEN, solve_by_rotations
from frontier.answers.solution import Solution
from frontier.cli.common import json_option, puzzle_at, set_option
from frontier.cli.completion import complete_run
from frontier.cli.files import Target, check_targets, force_option
from frontier.cli.help import Command
from frontier.errors import InputError
from frontier.named import open_one
from frontier.puzzles import Board, Puzzle, puzzle_of
from frontier.report.boards import animation, film_page, film_strip
from frontier.report.rotation import describe_rotation, rotation_value
from frontier.report.solution import describe_solution, solution_value
from frontier.store.run import RunStore
from frontier.text import counted


@click.command(
    cls=Command,
    examples={
        "run configs/2x5.toml --set search.keep=all": "Make a run that keeps its layers,",
        'solve runs/2x5 "9 8 7 6 5/4 3 2 1 0" --all-counts': "and ask it for a shortest solution, "
        "and how many there are.",
        "solve runs/2x5 --file positions.txt --json": "Solve one position a line.",
        "solve configs/goat.toml --method ida --boards": "Solve the start of a config without a "
        "run, and show the boards on the way.",
        "solve configs/goat.toml --method ida --animate goat.html": "A page that steps through the "
        "solution; or --strip goat.svg, all boards in one picture.",
        'solve configs/2x7.toml "7 1 2 4 5 6 13/8 3 9 0 10 11 12" --method ida --heuristic '
        "2x7-k3.zarr": "Let a pattern database guide the search.",
    },
    see_also=("run", "farthest", "draw", "export", "docs/puzzles.md"),
)
@click.argument("run", metavar="RUN|CONFIG", shell_complete=complete_run)
@click.argument("boards", metavar="[BOARD]...", nargs=-1)
@click.option("--file", type=click.Path(), help="Solve the positions of a file, one a line.")
@click.option(
    "--method",
    type=click.Choice(["layers", "ida"]),
    default="layers",
    show_default=True,
    help="Look the position up in the layers of a run, or search for it alone (IDA*).",
)
@click.option("--all-counts", is_flag=True, help="Count all shortest solutions (layers).")
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
    shell_complete=complete_run,
    help="A pattern database: a run that kept its layers, or what export wrote of it (ida). "
    "Given often, the greatest distance counts, or sums where databases can be added.",
)
@click.option("--strip", metavar="FILE.svg", help="Draw all boards of the one solution in a file.")
@click.option(
    "--animate",
    metavar="FILE",
    help="Draw the one solution so that it moves: FILE.svg, or FILE.html to step through.",
)
@force_option
@click.option(
    "--most-nodes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Give up after so many nodes (ida).",
)
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each position.")
def solve(
    run,
    boards,
    file,
    method,
    all_counts,
    show_boards,
    tell_apart,
    heuristics,
    strip,
    animate,
    force,
    most_nodes,
    settings,
    as_json,
):
    """Find a shortest solution of each BOARD.

    With --method layers, RUN is a run that kept its layers (search.keep = "all"); each answer
    then takes a fraction of a second. With --method ida any config will do, nothing is stored
    or read, and the time grows with the distance. Without BOARD and --file, the config's start is
    solved.

    A BOARD is written as its puzzle writes it, rows parted by slashes.
    """
    if method == "layers":
        if tell_apart is not None or most_nodes is not None or heuristics:
            raise InputError(
                "--tell-apart, --heuristic and --most-nodes are for a search (--method ida)"
            )
        store = open_one(run, settings)
        puzzle = puzzle_of(store.identity["puzzle"])
        make_solver = partial(_layers_solver, store, all_counts)
    else:
        if all_counts:
            raise InputError("--all-counts needs the layers of a run (--method layers)")
        puzzle = puzzle_at(run, settings)
        apart = tell_apart is not False
        make_solver = partial(_ida_solver, puzzle, apart, heuristics, most_nodes)
    positions = _positions(puzzle, boards, file)
    strip = _drawing("--strip", strip, [".svg"], len(positions))
    animate = _drawing("--animate", animate, [".svg", ".html"], len(positions))
    check_targets([target for target in (strip, animate) if target], force)
    solver = make_solver()  # may take minutes, so what is asked is known before
    for where, text in positions:
        try:
            solution, found = solver(puzzle.parse(text))
        except InputError as error:
            raise InputError(f"{where}{error}") from None
        value = solution_value(puzzle, solution, show_boards, **found)
        click.echo(json.dumps(value) if as_json else describe_solution(puzzle, solution, value))
        if strip:
            strip.write(film_strip(puzzle, solution))
        if animate:
            moving = animate.path.suffix == ".html"
            title = f"{counted(solution.distance, 'move')} of {puzzle.title}"
            drawn = film_page(puzzle, solution, title) if moving else animation(puzzle, solution)
            animate.write(drawn)


@click.command(
    cls=Command,
    examples={
        'rotate "15 13 3 9/1 4 14 5/7 2 8 10/12 11 6 0"': "The turns that solve this position.",
        'rotate "5 1 2 4/9 6 3 8/13 10 7 11/0 14 15 12" --boards': "Slide the blank to its corner "
        "first, and show each stage.",
    },
    see_also=("solve", "docs/puzzles.md"),
)
@click.argument("board", metavar="BOARD")
@click.option("--boards", "show_boards", is_flag=True, help="Show the board after each piece.")
@json_option
def rotate(board, show_boards, as_json):
    """Solve a 15-puzzle BOARD by rotations of three loops, without any search.

    The blank, 0, ends at the bottom right. Before the first rotation it is slid there, if it is
    elsewhere, along its row and then down. Rotations are written (a 3), (b -1), (c 1): so many
    steps of the outer, the middle and the inner loop.
    """
    rotation = solve_by_rotations(FIFTEEN.parse(board))
    value = rotation_value(rotation)
    click.echo(json.dumps(value) if as_json else describe_rotation(rotation, show_boards))


Solver = Callable[[Board], tuple[Solution, dict]]
"""Board -> its solution, and what else `solution_value` is to say of it."""


def _layers_solver(store: RunStore, count: bool) -> Solver:
    oracle = Oracle(store)

    def solve(board: Board) -> tuple[Solution, dict]:
        return oracle.solve(board), {"count": oracle.count(board)} if count else {}

    return solve


def _ida_solver(
    puzzle: Puzzle, tell_apart: bool, heuristics: tuple[str, ...], most_nodes: int | None
) -> Solver:
    solver = IdaSolver(puzzle, tell_apart, heuristics)

    def solve(board: Board) -> tuple[Solution, dict]:
        searched = solver.solve(board, most_nodes, _Watch())
        return searched.solution, {"nodes": searched.nodes}

    return solve


class _Watch:
    """Says how far a search is, at most once a second."""

    def __init__(self):
        self._said = time.monotonic()

    def __call__(self, bound: int, nodes: int) -> None:
        if time.monotonic() - self._said >= 1:
            self._said = time.monotonic()
            click.echo(
                f"at least {counted(bound, 'move')}, {counted(nodes, 'node')} so far", err=True
            )


def _drawing(
    option: str, name: str | None, suffixes: Sequence[str], positions: int
) -> Target | None:
    """The file of a drawing, if it is asked for; InputError if there is not one solution."""
    if name is None:
        return None
    if positions != 1:
        raise InputError(
            f"{option} draws the solution of one position, and {positions} are given; name one "
            "BOARD"
        )
    return Target(option, Path(name), suffixes)


def _positions(puzzle: Puzzle, boards: tuple[str, ...], file: str | None) -> list[tuple[str, str]]:
    """(where it stands, text) of each position that is asked about."""
    positions = [("", board) for board in boards]
    if file is not None:
        try:
            lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read: {error}") from None
        positions += [
            (f"{file}, line {number}: ", line)
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
    if not boards and file is None:
        if puzzle.start is None:
            raise InputError("name a BOARD, or a --file of them; the config has no puzzle.start")
        positions.append(("", puzzle.line(puzzle.start)))
    return positions
