"""Runs by cosets, as a kind of run: their results, as JSON and as positions, and their files."""

from typing import Any

from frontier.cosets.progress import CosetProgress, bounds_words, last_layers
from frontier.cosets.questions import Witness
from frontier.cosets.run import CosetRun
from frontier.errors import InputError
from frontier.puzzles import Board
from frontier.runs.kind import Kind
from frontier.storage.tables import delete_tables
from frontier.text import program


def gods_number_value(run: CosetRun) -> dict[str, Any]:
    """Return the results of a search as JSON, the content of ``summary.json`` in its directory."""
    proof, puzzle = run.proof, run.region.puzzle
    value: dict[str, Any] = {
        "name": run.identity["name"],
        "puzzle": {"title": puzzle.title, **run.identity["puzzle"]},
        "region": run.identity["region"],
        "groups": run.identity["groups"],
        "known": proof is not None and proof.known,
        "lower": proof and proof.lower,
        "upper": proof and proof.upper,
        "layers": [],
        "witness": None,
        "questions": [],
        "seconds": 0.0,
    }
    if proof is None:
        return value
    for depth, positions in proof.last_layers():
        rows = [puzzle.write(position.board) for position in positions]
        value["layers"].append({"depth": depth, "count": len(rows), "positions": rows})
    if (witness := witness_of(run)) is not None:
        position = puzzle.write(witness.board)
        value["witness"] = {"at_least": witness.limit + proof.period, "position": position}
    for limit, answer in sorted(proof.answers.items(), reverse=True):
        value["questions"].append({
            "limit": limit,
            "least_depth": limit + proof.period,
            "searched": answer.searched,
            "cosets": answer.total("cosets"),
            "of": answer.cosets,
            "look_ups": answer.total("look_ups"),
            "left_open": answer.total("left"),
            "nodes": answer.total("nodes"),
            "positions": len(answer.farther),
            "seconds": round(answer.seconds, 3),
        })  # fmt: skip
    value["seconds"] = round(proof.seconds, 3)
    return value


def witness_of(run: CosetRun) -> Witness | None:
    """Return the witness of the greatest lower bound, or None without a lower bound."""
    return max(run.begun_proof.witnesses, key=lambda witness: witness.limit, default=None)


def farthest_found(run: CosetRun, limit: int) -> tuple[int, int, list[Board]]:
    """Return the depth of the farthest positions, their number, and up to `limit` of them; raises
    InputError if they are not known."""
    for depth, positions in last_layers(run):
        return depth, len(positions), [position.board for position in positions[:limit]]
    go_on, bounds = f"resume with: {program()} gods-number {run.path}", bounds_words(run.proof)
    raise InputError(
        f"{run.path}: not all positions of the last layer are known, and God's number is {bounds}; "
        f"{go_on}"
    )


class _ByCosets(Kind[CosetRun]):
    run, progress = CosetRun, CosetProgress
    results, farthest = staticmethod(gods_number_value), staticmethod(farthest_found)
    delete = staticmethod(delete_tables)

    def verify(self, run, count, seed, say):
        from frontier.cosets.checks import check_cosets  # few commands check

        return check_cosets(run, count, seed, say)

    def repair(self, run, say):
        from frontier.cosets.checks import plan_coset_repair

        return plan_coset_repair(run, self.verify(run, 0, 0, say))


KIND = _ByCosets()
