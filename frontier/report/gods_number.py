"""What a search of God's number has found, as JSON and as text, and how far it is."""

import sys
import time
from typing import TextIO

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from frontier.cosets.search import CosetPlan, Progress
from frontier.cosets.store import CosetRun
from frontier.report.boards import draw_boards
from frontier.report.console import console_on, is_live, say
from frontier.text import counted, rough, size, span

LINE_SECONDS = 20.0
"""The least seconds between two lines of a display that does not stay in place."""

DRAWN = 10
"""The farthest positions that are drawn, at most."""


def gods_number_value(run: CosetRun) -> dict:
    """What a search has found, as JSON; also ``summary.json`` in its directory."""
    proof, puzzle = run.proof, run.region.puzzle
    value = {
        "name": run.identity["name"],
        "puzzle": {"title": puzzle.title, **run.identity["puzzle"]},
        "region": run.identity["region"],
        "groups": run.identity["groups"],
        "complete": proof is not None and proof.lower == proof.upper,
        "lower": proof and proof.lower,
        "upper": proof and proof.upper,
        "layers": [],
        "questions": [],
        "seconds": 0.0,
    }
    if proof is None:
        return value
    for depth, positions in proof.last_layers():
        rows = [puzzle.write(position.board) for position in positions]
        value["layers"].append({"depth": depth, "count": len(rows), "positions": rows})
    for limit, answer in sorted(proof.answers.items(), reverse=True):
        blocks = answer.done.values()
        value["questions"].append({
            "limit": limit,
            "complete": answer.complete,
            "cosets": sum(block.cosets for block in blocks),
            "of": answer.cosets,
            "nodes": sum(block.nodes for block in blocks),
            "left_open": sum(block.left for block in blocks),
            "steps": sum(block.steps for block in blocks),
            "positions": len(answer.farther),
            "seconds": round(answer.seconds, 3),
        })  # fmt: skip
    value["seconds"] = round(sum(answer.seconds for answer in proof.answers.values()), 3)
    return value


def describe_gods_number(run: CosetRun, value: dict, at_most: int | None = None) -> str:
    """What a search has found, as text. at_most: the bound that was asked about."""
    puzzle, (row, column) = run.region.puzzle, _home(run)
    lines = [f"{value['name']}: {value['puzzle']['title']}, the blank's home in [{row}, {column}]"]
    if value["complete"]:
        lines.append(f"  God's number: {value['upper']}")
    elif value["upper"] is None:
        lines.append("  no table is made yet")
    else:
        lines.append(f"  God's number: from {value['lower']} to {value['upper']}")
    if at_most is not None:
        answer = "yes" if value["upper"] <= at_most else "no"
        if value["lower"] <= at_most < value["upper"]:
            answer = "that is not known yet"
        lines.append(f"  all positions take at most {at_most} moves: {answer}")
    for layer in value["layers"]:
        lines.append(f"  {counted(layer['count'], 'position')} at depth {layer['depth']}")
    cosets = sum(question["cosets"] for question in value["questions"])
    lines.append(
        f"  {counted(cosets, 'coset')} searched, {span(value['seconds'])} of processor time, in "
        f"{run.path}"
    )
    if value["layers"]:
        boards = [position.board for position in run.proof.layer(value["upper"])[:DRAWN]]
        lines += ["", draw_boards(puzzle, boards)]
    return "\n".join(lines)


def _home(run: CosetRun) -> tuple[int, int]:
    puzzle = run.region.puzzle
    return divmod(puzzle.goals[0].index(0), puzzle.grid.columns)


def plan_value(plan: CosetPlan) -> dict:
    """What a search will use, as JSON."""
    region = plan.region
    return {
        "name": plan.config.name,
        "puzzle": {"title": region.puzzle.title, **plan.config.puzzle_settings},
        "region": region.name,
        "labelled": region.labelled,
        "patterns": region.patterns,
        "boards": region.boards,
        "groups": list(plan.groups),
        "bytes": plan.bytes,
    }


def describe_plan(plan: CosetPlan) -> str:
    """What a search will use, as text."""
    region, groups = plan.region, " + ".join(map(str, plan.groups))
    return "\n".join([
        f"{plan.config.name}: {region.puzzle.title}",
        f"  region {region.name}: {counted(region.boards, 'board')}; "
        f"{counted(region.labelled, 'labelled tile')} outside: {region.patterns:,} patterns",
        f"  additive databases of {groups} tiles",
        f"  memory: about {size(plan.bytes)} while tables are made",
    ])  # fmt: skip


class QuestionDisplay:
    """Shows how far a search is: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, file: TextIO | None = None):
        self._file, self._told, self._limit = file or sys.stderr, 0.0, -1
        console = console_on(self._file)
        self._bars = self._task = None
        if is_live(console):
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[note]}"),
            )
            self._bars = Bars(*columns, console=console, transient=True)
            self._task = self._bars.add_task("", note="")

    def __call__(self, progress: Progress) -> None:
        note = _note(progress)
        if self._bars is not None:
            self._bars.start()
            self._bars.update(
                self._task, description=progress.doing, completed=progress.done,
                total=progress.blocks or None, note=note,
            )  # fmt: skip
            return
        now = time.monotonic()
        if progress.limit != self._limit or now - self._told > LINE_SECONDS:
            self._told, self._limit = now, progress.limit
            say(f"{time.strftime('%H:%M:%S')}  {progress.doing} {note}".rstrip(), self._file)

    def close(self) -> None:
        if self._bars is not None:
            self._bars.stop()


def _note(progress: Progress) -> str:
    if progress.upper is None:
        return ""
    parts = [f"(so far {progress.lower} to {progress.upper})"]
    if progress.done:
        parts.append(f"{progress.done / progress.blocks:.0%}")
    if progress.positions:
        parts.append(f"{counted(progress.positions, 'position')} more")
    if progress.left:
        parts.append(f"about {rough(progress.left)} left")
    return ", ".join(parts)
