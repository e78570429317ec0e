"""The runs that the results rest on, read from a directory, or made there if they are small."""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial, perm
from pathlib import Path
from typing import Any

from frontier.api import runs as api
from frontier.config.loading import config_of
from frontier.cosets.run import CosetRun
from frontier.errors import InputError, Stopped
from frontier.layers.plan import config_identity
from frontier.layers.run import LayerRun
from frontier.runs import events
from frontier.runs.resolve import place_of_cosets
from frontier.storage.base import Storage
from frontier.storage.places import storage_at
from frontier.text import counted


@dataclass(frozen=True)
class Depths:
    """The results of a complete run by layers, or of a run by cosets that found God's number.

    run: its name. depth: the greatest distance. depth_at_home: the greatest distance of positions
    with the blank home, or an upper bound on it if the run does not count these positions. states:
    the number of positions. farthest: how many positions are at `depth`; None if not all are
    listed. by_cosets: True for a run by cosets.
    """

    run: str
    depth: int
    depth_at_home: int
    states: int
    farthest: int | None
    by_cosets: bool = False


class ThesisRuns:
    """The runs of both kinds below a directory, each named after its config.

    limit, most: a missing run is made if it has at most `limit` states and `most` columns. memory:
    the memory of a worker, as ``cluster.memory`` in a config, with the same default. say: called
    with a line of text before each run.
    """

    def __init__(
        self,
        directory: Path,
        limit: int,
        most: int = 100,
        say: Callable[[str], None] = lambda text: None,
        memory: str | None = None,
    ):
        self._directory, self._limit, self.most, self._say = directory, limit, most, say
        self._cluster = {} if memory is None else {"memory": memory}
        self._depths: dict[str, Depths | None] = {}

    def tiles(self, rows: int, columns: int) -> Depths | None:
        """Return the depths of the rows x columns puzzle.

        Returns None if neither a complete run by layers nor a run by cosets has found the greatest
        depth, and the puzzle is too large to search.
        """
        cells = rows * columns
        states = factorial(cells) // 2 if min(rows, columns) > 1 else cells
        puzzle = {"kind": "tiles", "rows": rows, "columns": columns}
        return self._depths_of(f"{rows}x{columns}", puzzle, states)

    def columns(self, columns: int, k: int) -> Depths | None:
        """Return the depths of the pattern of the k right-most columns of the 2 x n puzzle; None in
        the same cases as `tiles`."""
        cells, labels = 2 * columns, min(2 * k, 2 * columns - 1)
        one_parity = columns > 1 and cells - labels <= 2
        states = perm(cells, labels + 1) // (2 if one_parity else 1)
        puzzle = {"kind": "pattern", "rows": 2, "columns": columns, "k": k}
        return self._depths_of(f"pattern-2x{columns}-k{k}", puzzle, states)

    @property
    def used(self) -> list[Depths]:
        """All runs that were used, by name."""
        return sorted(filter(None, self._depths.values()), key=lambda depths: depths.run)

    def _depths_of(self, name: str, puzzle: dict, states: int) -> Depths | None:
        if name not in self._depths:
            self._depths[name] = self._look_up(name, puzzle, states)
        return self._depths[name]

    def _look_up(self, name: str, puzzle: dict, states: int) -> Depths | None:
        path = storage_at(self._directory / name)
        exists, large = LayerRun.exists(path), states > self._limit or puzzle["columns"] > self.most
        tables: dict[str, Any] = {
            "name": name,
            "puzzle": puzzle,
            "store": {"path": str(path)},
            "cluster": self._cluster,
        }
        if large and not exists:
            return _by_cosets(path, puzzle, states)
        config = config_of(tables, "thesis")
        if exists:
            store = LayerRun.open(config.storage)
            expected = config_identity(config)["puzzle"]
            if store.identity["puzzle"] != expected:
                raise InputError(
                    f"{config.path} is a run of {store.identity['puzzle']}, not of {expected}; "
                    "name another directory with --runs"
                )
            if store.complete:
                return _depths(name, store)
            identity = store.identity  # resume the run as it was started
            tables |= {"name": identity["name"], "search": {"keep": identity["keep"]}}
            tables["store"] |= {"codec": identity["codec"]}
            config = config_of(tables, "thesis")
        if large:
            return _by_cosets(path, puzzle, states)
        try:
            plan = api.plan(config)
        except InputError as error:
            self._say(f"{name} is left out: {error}")
            return None
        self._say(f"{name}: {counted(states, 'state')}")
        heard: list[events.Event] = []
        store = api.run(plan, listeners=[heard.append]).store
        if any(isinstance(event, events.Stopping) for event in heard):
            raise Stopped(f"interrupted after {name}; the same command uses the completed runs")
        return _depths(name, store)


def _by_cosets(path: Storage, puzzle: dict, states: int) -> Depths | None:
    """Return the result of the run by cosets that belongs to the path of a run by layers.

    Returns None if it has not found God's number, and for a pattern.
    """
    if puzzle["kind"] != "tiles":
        return None
    tables = {"name": path.name, "puzzle": puzzle, "store": {"path": str(path)}}
    path = place_of_cosets(config := config_of(tables, "thesis"))
    if not CosetRun.exists(path):
        return None
    run = CosetRun.open(path)
    run.check_is_of({"puzzle": config.puzzle_settings})
    if run.proof is None or run.proof.lower < run.proof.upper:
        return None
    depth = run.proof.upper
    last = run.proof.layer(depth)
    farthest = None if last is None else len(last)
    return Depths(path.name, depth, _even(depth), states, farthest, by_cosets=True)


def _even(depth: int) -> int:
    """Return an upper bound on the depth of positions with the blank home, which is even."""
    return depth // 2 * 2


def _depths(name: str, store: LayerRun) -> Depths:
    last = store.records[-1]
    home = max((r.depth for r in store.records if r.tally.at_goal), default=0)
    if any(record.tally.at_goal is None for record in store.records):
        home = _even(last.depth)
    return Depths(name, last.depth, home, store.states, last.states)
