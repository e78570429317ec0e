"""The summary of a run, as JSON and as text, and the joint result of runs from all blank cells."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass

from frontier.config.loading import member_names
from frontier.layers.farthest import farthest
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.puzzles import puzzle_of
from frontier.runs.environment import versions
from frontier.runs.log import total_seconds
from frontier.storage.places import Place, storage_at
from frontier.text import counted, named, near, percent, size, span

NAME = "summary.json"

FARTHEST = 100
"""The greatest number of farthest positions that a summary lists."""

MORE = 1.1
"""A summary also prints the time of the whole run if it is this many times the time in layers."""


def run_value(run: LayerRun) -> dict:
    """Return the common keys of ``summary.json`` and of the JSON of `status` and `report`."""
    puzzle = run.puzzle
    value = found_value(run.identity, run.records, run.complete)
    if puzzle.start is not None:
        value["start"] = {"board": puzzle.write(puzzle.start), "depth": run.start_depth}
    return value


def found_value(identity: dict, records: Sequence[LayerRecord], complete: bool) -> dict:
    """Return the keys of `run_value` without the start. `plan`, whose run may not have begun, uses
    them too.

    identity: as in ``run.json``. records: the committed layers. complete: True if these are all
    layers.
    """
    return {
        "name": identity["name"],
        "puzzle": {"title": puzzle_of(identity["puzzle"]).title, **identity["puzzle"]},
        "complete": complete,
        "states": sum(record.states for record in records),
        "states_of_the_puzzle": identity["states"],
        "depth": records[-1].depth if records else None,
        "layers": [record.states for record in records],
        "seconds": round(sum(record.seconds for record in records), 3),
        "bytes_written": sum(record.bytes for record in records),
        **{key: identity[key] for key in ("codec", "keep", "layout")},
    }


def summary(run: LayerRun) -> dict:
    """Return the results of the run, in the form of ``summary.json``."""
    puzzle = run.puzzle
    value = run_value(run) | {
        "goals": [puzzle.write(goal) for goal in puzzle.goals],
        "farthest": None,
        "seconds_in_all": total_seconds(run.storage),
        "python": platform.python_version(),
        "versions": versions(),
    }
    if run.complete:
        _, count, boards = farthest(run, FARTHEST)
        value["farthest"] = {"count": count, "positions": list(map(puzzle.write, boards))}
    return value


def depth_of(value: dict) -> int | None:
    """Return the depth of the farthest positions in a summary; None if its run is not complete."""
    return len(value["layers"]) - 1 if value["complete"] else None


def describe(value: dict, path: Place) -> str:
    """Return the summary as text."""
    lines = [named(value["name"], value["puzzle"]["title"])]
    if value["complete"]:
        lines += [
            f"  {_depth_name(value['puzzle'])}: {depth_of(value)}",
            f"  states: {value['states']:,}",
            f"  farthest positions: {value['farthest']['count']:,}",
        ]
    else:
        states = counted(value["states"], "state")
        if total := value["states_of_the_puzzle"]:
            states += f" ({percent(value['states'] / total)})"
        lines.append(f"  not complete: depth {value['depth']}, {states}")
    if "start" in value:
        depth = value["start"]["depth"]
        lines.append(f"  start: {'not reached yet' if depth is None else counted(depth, 'move')}")
    lines.append(
        f"  time in layers: {_times(value)}; written: {size(value['bytes_written'])}; "
        f"on disk: {size(storage_at(path).size())} in {near(str(path))}"
    )
    return "\n".join(lines)


def _times(value: dict) -> str:
    """Return the time in layers and, if it differs by more than a tenth, the time of the whole
    run."""
    seconds, total = value["seconds"], value.get("seconds_in_all")
    more = f", in all: {span(total)}" if total is not None and total > MORE * seconds else ""
    return f"{span(seconds)}{more}"


def _depth_name(puzzle: dict) -> str:
    """Return the name of the depth of the last layer. Blocks, patterns, and puzzles with several
    goals or open cells have no God's number."""
    several = puzzle.get("goals") is not None or "?" in str(puzzle.get("goal"))
    if several or puzzle["kind"] in ("blocks", "pattern", "program"):
        return "depth of the last layer"
    return "depth (God's number from this goal)"


@dataclass(frozen=True)
class Family:
    """The runs of one tile puzzle from all blank cells, one cell for each orbit under the board's
    symmetries.

    depths: the depth of the run from each cell, None if that run is missing or not complete.
    """

    depths: dict[tuple[int, int], int | None]

    @property
    def diameter(self) -> int | None:
        """The greatest depth, or None if not all runs are complete."""
        depths = [depth for depth in self.depths.values() if depth is not None]
        return max(depths) if len(depths) == len(self.depths) else None

    @property
    def finding(self) -> str:
        if self.diameter is None:
            return "some blank cells have no complete run, so the diameter is not known"
        cells = [str(cell) for cell, depth in self.depths.items() if depth == self.diameter]
        return f"diameter of the state graph: {self.diameter}, with the blank at {', '.join(cells)}"


def family_of(puzzles: Sequence[dict], depths: Sequence[int | None]) -> Family | None:
    """Return the family of runs, from the settings of their puzzles and the depths of their
    farthest positions (None if not known); None if they do not belong to one family."""
    cells = [tuple(cell) for cell in member_names(puzzles[0]).values()]
    blanks = [tuple(puzzle.get("blank") or ()) for puzzle in puzzles]
    alike = all({**puzzle, "blank": None} == {**puzzles[0], "blank": None} for puzzle in puzzles)
    if not cells or not alike or not set(blanks) <= set(cells):
        return None
    return Family(dict.fromkeys(cells) | dict(zip(blanks, depths, strict=True)))


def family_in(values: list[dict]) -> Family:
    """Return the family of the runs from all blank cells, from their summaries."""
    family = family_of([value["puzzle"] for value in values], list(map(depth_of, values)))
    assert family is not None
    return family


def family_summary(values: list[dict]) -> dict:
    """Return the summaries of runs from all blank cells, and their joint diameter."""
    diameter = family_in(values).diameter
    return {"complete": diameter is not None, "diameter": diameter, "runs": values}
