"""The command line: ``python -m frontier COMMAND``.

A command prints what it was asked for on standard output and everything else on standard
error. Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from frontier import api
from frontier.answers.farthest import farthest as farthest_of
from frontier.answers.ida import IdaSolver
from frontier.answers.oracle import Oracle
from frontier.answers.rotation import FIFTEEN, solve_by_rotations
from frontier.answers.solution import Solution
from frontier.config import Config, load_config
from frontier.errors import FrontierError, InputError, Stopped
from frontier.puzzles import Board, Puzzle, puzzle_of
from frontier.report.progress import progress_display
from frontier.report.rotation import describe_rotation, rotation_value
from frontier.report.solution import describe_solution, solution_value
from frontier.report.status import describe_status, status_of
from frontier.report.summary import describe, describe_family, family_summary, write_summary
from frontier.search.driver import check_identity
from frontier.store.files import disk_bytes
from frontier.store.run import RunStore
from frontier.text import counted

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a key of the config, such as --set cluster.workers=4. May be given often.",
)
run_argument = click.argument("run", metavar="RUN")


class _Commands(click.Group):
    """Turns the package's errors into one paragraph and the right exit code."""

    def list_commands(self, context):
        return list(self.commands)

    def invoke(self, context):
        try:
            return super().invoke(context)
        except FrontierError as error:
            click.echo(f"frontier: {error}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("frontier: interrupted", err=True)
            context.exit(Stopped.exit_code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="frontier")
def main():
    """Exhaustive breadth-first search of sliding puzzles, layer by layer, on disk.

    A run is described by a small TOML file. Start one, watch it, ask what it found:

    \b
      python -m frontier run configs/2x5.toml
      python -m frontier status configs/2x5.toml
      python -m frontier farthest configs/2x5.toml --limit 3
      python -m frontier solve configs/goat.toml --method ida

    A run can be stopped (Ctrl-C) or killed at any time; the same command resumes it. RUN is a
    run directory, such as runs/2x5, or the config that made it.

    Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped and resumable, 4 corrupt data.
    """


@main.command()
@click.argument("config")
@set_option
@click.option("--until", type=click.IntRange(min=0), metavar="DEPTH", help="Stop after this depth.")
@click.option("--fresh", is_flag=True, help="Delete the run in the run directory, start anew.")
@click.option("--yes", is_flag=True, help="Do not ask before --fresh deletes.")
@json_option
def run(config, settings, until, fresh, yes, as_json):
    """Start or resume the search that CONFIG describes.

    Layers are written to runs/NAME (or store.path) and counted until one is empty. Progress
    goes to standard error, the summary to standard output and to summary.json beside the
    layers. Ctrl-C finishes the tasks under way and stops; a second Ctrl-C stops at once.

    \b
    Examples:
      python -m frontier run configs/2x7.toml
      python -m frontier run configs/3x4.toml --set cluster.kind=serial --until 20
      python -m frontier run configs/2x6.toml --set 'store.codec="zstd:1"' --fresh
    """
    loaded = load_config(config, settings)
    again = f"resume with: {_command(config, settings)}"
    values = []
    for member in loaded.members:
        if fresh:
            _delete_if_there(member, yes)
        plan = api.plan(member)
        try:
            finished = api.run(plan, until, [progress_display()])
        except Stopped as error:
            raise Stopped(f"{error}. Nothing is lost; {again}") from None
        except KeyboardInterrupt:  # at once, in the middle of a task
            raise Stopped(f"interrupted; nothing committed is lost; {again}") from None
        values.append(write_summary(finished.store))
        if not as_json:
            click.echo(describe(values[-1], finished.path))
    if as_json:
        click.echo(json.dumps(family_summary(values) if loaded.from_every_blank else values[0]))
    elif loaded.from_every_blank:
        click.echo(describe_family(family_summary(values)))


@main.command()
@run_argument
@json_option
def status(run, as_json):
    """Say how far RUN is.

    Reads its files alone, so it works while the run is under way, from another terminal or
    machine.
    """
    values = [status_of(store) for store in _open_all(run)]
    if as_json:
        click.echo(json.dumps(values[0] if len(values) == 1 else {"members": values}))
    else:
        click.echo("\n".join(map(describe_status, values)))


@main.command()
@run_argument
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="At most so many."
)
@json_option
def farthest(run, limit, as_json):
    """Print the positions that need most moves.

    They are those of the last layer, so RUN must be complete.
    """
    values = []
    for store in _open_all(run):
        count, boards = farthest_of(store, limit)
        puzzle, depth = puzzle_of(store.identity["puzzle"]), store.records[-1].depth
        positions = [puzzle.write(board) for board in boards]
        values.append({"depth": depth, "count": count, "positions": positions})
        if as_json:
            continue
        of = "" if len(puzzle.goals) > 1 else f" from {puzzle.line(puzzle.goals[0])}"
        click.echo(f"{counted(count, 'position')} at depth {depth}{of}")
        for board in boards:
            click.echo("\n" + puzzle.draw(board))
        if len(boards) < count:
            click.echo(f"\n… and {count - len(boards):,} more (--limit)")
    if as_json:
        click.echo(json.dumps(values[0] if len(values) == 1 else {"members": values}))


@main.command()
@click.argument("run", metavar="RUN|CONFIG")
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
    help="A pattern database: a run that kept its layers, or what export wrote of it (ida). "
    "Given often, the greatest distance counts, or sums where databases can be added.",
)
@click.option("--most-nodes", type=click.IntRange(min=1), help="Give up after so many nodes (ida).")
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

    \b
    Examples:
      python -m frontier run configs/2x5.toml --set search.keep=all
      python -m frontier solve runs/2x5 "9 8 7 6 5/4 3 2 1 0" --all-counts
      python -m frontier solve configs/goat.toml --method ida --boards
      python -m frontier solve configs/3x3.toml "8 6 7/2 5 4/3 0 1" --method ida
    """
    if settings and Path(run).is_dir():
        raise InputError(f"--set changes a config, and {run} is a run directory")
    if method == "layers":
        if tell_apart is not None or most_nodes is not None or heuristics:
            raise InputError(
                "--tell-apart, --heuristic and --most-nodes are for a search (--method ida)"
            )
        store = _open_one(run, settings)
        puzzle = puzzle_of(store.identity["puzzle"])
        make_solver = partial(_layers_solver, store, all_counts)
    else:
        if all_counts:
            raise InputError("--all-counts needs the layers of a run (--method layers)")
        puzzle = _puzzle(run, settings)
        apart = tell_apart is not False
        make_solver = partial(_ida_solver, puzzle, apart, heuristics, most_nodes)
    positions = _positions(puzzle, boards, file)
    solver = make_solver()  # may take minutes, so what is asked is known before
    for where, text in positions:
        try:
            solution, found = solver(puzzle.parse(text))
        except InputError as error:
            raise InputError(f"{where}{error}") from None
        value = solution_value(puzzle, solution, show_boards, **found)
        click.echo(json.dumps(value) if as_json else describe_solution(puzzle, solution, value))


@main.command()
@run_argument
@click.argument("target", metavar="TARGET")
@json_option
def export(run, target, as_json):
    """Write the distances of all positions of RUN as a Zarr array at TARGET.

    RUN must be complete and have kept its layers (search.keep = "all"). How the array is indexed
    stands in docs/patterns.md. TARGET must not exist.

    \b
    Example:
      python -m frontier run configs/pattern-2x7-k3.toml --set search.keep=all
      python -m frontier export runs/pattern-2x7-k3 2x7-k3.zarr
    """
    store = _open_one(run)
    array = api.Run(store).export(target)
    value = {"path": str(target), "shape": list(array.shape), "type": str(array.dtype)}
    rows, columns = array.shape
    said = f"{target}: {rows:,} × {columns:,} distances, {array.dtype}"
    click.echo(json.dumps(value) if as_json else said)


@main.command()
@click.argument("board", metavar="BOARD")
@click.option("--boards", "show_boards", is_flag=True, help="Show the board after each piece.")
@json_option
def rotate(board, show_boards, as_json):
    """Solve a 15-puzzle BOARD by rotations of three loops, without any search.

    The blank, 0, ends at the bottom right. Before the first rotation it is slid there, if it is
    elsewhere, along its row and then down. Rotations are written (a 3), (b -1), (c 1): so many
    steps of the outer, the middle and the inner loop.

    \b
    Example:
      python -m frontier rotate "15 13 3 9/1 4 14 5/7 2 8 10/12 11 6 0"
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


def _delete_if_there(config: Config, yes: bool) -> None:
    """Delete the run of a config, if there is one and it is meant."""
    if not RunStore.exists(config.path):
        return
    api.plan(config, fresh=True)  # refuse a bad config before anything is deleted
    held = disk_bytes(config.path)
    question = f"Delete the run in {config.path} ({counted(held, 'byte')}) and start anew?"
    if not (yes or _confirmed(question)):
        raise InputError("nothing is deleted; answer y, or give --yes with --fresh")
    api.delete_run(config.path)


def _confirmed(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort:  # no answer
        return False


def _open_all(run: str, settings: tuple[str, ...] = ()) -> list[RunStore]:
    """The runs that a run directory or a config names; several for a config with several goals."""
    path = Path(run)
    if path.is_dir():
        inside = sorted(entry for entry in path.iterdir() if RunStore.exists(entry))
        if inside and not RunStore.exists(path):
            return [RunStore.open(entry) for entry in inside]
        return [RunStore.open(path)]
    if path.suffix == ".toml" or path.exists():
        return [_open_made_by(member) for member in load_config(path, settings).members]
    raise InputError(f"{run}: no such run directory or config")


def _open_made_by(config: Config) -> RunStore:
    """The run of a config; InputError if it is of another puzzle."""
    store = RunStore.open(config.path)
    # How it is stored does not matter to who reads it.
    check_identity(store, {"puzzle": config.puzzle_settings})
    return store


def _open_one(run: str, settings: tuple[str, ...] = ()) -> RunStore:
    """The one run that a run directory or a config names."""
    stores = _open_all(run, settings)
    if len(stores) > 1:
        names = ", ".join(str(store.path) for store in stores)
        raise InputError(f"{run} names several runs; name one of {names}")
    return stores[0]


def _puzzle(run: str, settings: tuple[str, ...]) -> Puzzle:
    """The puzzle of a config or a run."""
    if Path(run).is_dir():
        return puzzle_of(_open_one(run).identity["puzzle"])
    members = load_config(run, settings).members
    if len(members) > 1:
        raise InputError(f"{run} names several goals; name one with --set puzzle.blank=[0,0]")
    return members[0].make_puzzle()


def _command(config: str, settings: tuple[str, ...]) -> str:
    words = ["python -m frontier run", config, *(f"--set {setting}" for setting in settings)]
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
