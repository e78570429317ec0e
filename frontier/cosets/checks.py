"""Checks of the results of a run by cosets, as far as its files allow, and its repair.

* The existing tables must be those that the run wrote.
* ``summary.json`` must be as it was written.
* The shortest solution of every position found is followed move by move, without any kernel.
* With the tables, the cosets and portions of every question are counted again.
* Portions of questions, and single positions that gave a lower bound, are searched again, either
  all of them or a random sample. They must give the same results.

A repair deletes damaged tables; the search makes them again when it needs them.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from frontier import machine
from frontier.cosets.proof import Proof, wrong_division
from frontier.cosets.questions import Asker, Farther, Portion, Witness
from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError
from frontier.puzzles import GridPuzzle
from frontier.runs.checks import SUMMARY, Checks, Fault, Repair, faults_of_copies_and_summary
from frontier.solving.solution import slid
from frontier.text import counted

TABLE = 0
"""The number used in place of a depth for faults of tables."""


@dataclass
class Checked(Checks):
    """What was checked, and the faults.

    tables: the number whose checksums were checked. paths: the number followed move by move.
    portions: the number searched again, including single positions that lower bounds rest on.
    damaged_tables: what is wrong with each damaged table, by name.
    """

    tables: int = 0
    paths: int = 0
    portions: int = 0
    damaged_tables: dict[str, str] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        looked = f"{counted(self.tables, 'table')}, {counted(self.paths, 'path')} followed"
        return (
            f"{looked}, {counted(self.portions, 'portion')} searched again"
            if self.portions
            else looked
        )


def check_cosets(
    run: CosetRun,
    portions: int | None = 0,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Checked:
    """Return the faults of a run by cosets. The depth of a fault is the depth of the farther
    positions of its question.

    portions: how many to search again, None for all; with 0, only checks that need no tables are
    made. say: called with each step in words.
    """
    proof, checked = run.proof, Checked()
    say("checksums of the tables")
    checked.tables = len(run.tables.names)
    checked.damaged_tables = run.tables.damages()
    checked.faults += [Fault(TABLE, damage) for damage in checked.damaged_tables.values()]
    checked.faults += faults_of_copies_and_summary(run)
    if proof is None:
        return checked
    checked.paths = len(proof.farther)
    say(f"{counted(checked.paths, 'path')}, move by move")
    for limit, answer in proof.answers.items():
        for position in answer.farther:
            if wrong := _wrong_way(run.region.puzzle, position, limit):
                position_text = f"the question of {limit} moves, {run.puzzle.line(position.board)}"
                checked.faults.append(
                    Fault(limit + proof.period, f"a position of {position_text}: {wrong}")
                )
    done: list[tuple[int, int] | Witness] = [
        (t, number) for t, answer in proof.answers.items() for number in answer.done
    ]
    done += proof.witnesses
    count = len(done) if portions is None else min(portions, len(done))
    drawn = random.Random(seed).sample(done, count)
    if portions != 0 and all(fault.described for fault in checked.faults):
        _search_again(run, proof, drawn, checked, say)
    return checked


def _search_again(
    run: CosetRun, proof: Proof, drawn: list[tuple[int, int] | Witness], checked: Checked, say
) -> None:
    """Count the cosets of all questions again, search portions and single positions again, and
    record the faults."""
    asker = Asker(run.region, run.groups, machine.cores(), run.table_source(shared=False))
    if asker.deepest != proof.deepest:
        message = f"the deepest pattern and board are {asker.deepest}, not {proof.deepest}"
        checked.faults.append(Fault(0, message))
    portions = [item for item in drawn if not isinstance(item, Witness)]
    witnesses = [item for item in drawn if isinstance(item, Witness)]
    for limit, answer in sorted(proof.answers.items()):  # each question is prepared once
        depth = limit + proof.period
        say(f"the cosets of the question of {limit} moves")
        if wrong := wrong_division(asker, limit, answer):
            checked.faults.append(Fault(depth, wrong))
            continue
        for number in sorted(number for of, number in portions if of == limit):
            say(f"{checked.portions:,} of {counted(len(drawn), 'portion')} searched again")
            checked.portions += 1
            listed, portion = answer.done[number], asker.search(limit, number)
            assert isinstance(portion, Portion)  # the portion was searched whole, without a stop
            before, now = ({(p.board, p.depth) for p in of.farther} for of in (listed, portion))
            if before != now or listed.cosets != portion.cosets:
                message = (
                    f"portion {number} of the question of {limit} moves has "
                    f"{counted(len(now), 'position')} that need more moves, but {len(before):,} "
                    "are listed"
                )
                checked.faults.append(Fault(depth, message))
    for witness in witnesses:
        say(f"whether a position needs more than {witness.limit} moves")
        checked.portions += 1
        if not asker.witness(witness.board, witness.limit):
            message = f"{run.puzzle.line(witness.board)} takes at most {witness.limit} moves"
            checked.faults.append(Fault(witness.limit + proof.period, message))


def _wrong_way(puzzle: GridPuzzle, position: Farther, limit: int) -> str | None:
    """Return what is wrong with the path of a position, or None if it is right."""
    board, columns = position.board, puzzle.grid.columns
    several = puzzle.metric == "multi"
    if position.depth != len(position.blanks) or position.depth <= limit:
        return f"its path has {len(position.blanks)} moves, but its depth is {position.depth}"
    for target in position.blanks:
        blank = board.index(0)
        (r, c), (rr, cc) = divmod(blank, columns), divmod(target, columns)
        down, right = rr - r, cc - c
        distance = max(abs(down), abs(right))
        if (down and right) or distance == 0 or (distance > 1 and not several):
            return f"its path has a wrong move, from cell {blank} to cell {target}"
        board = slid(board, columns, target)
    return None if board == puzzle.goals[0] else "its path does not lead to the goal"


@dataclass
class CosetRepair(Repair):
    """The steps of a repair. tables: the names of the damaged tables. summary: see `Repair`."""

    tables: list[str]
    summary: bool = False

    @property
    def needed(self) -> bool:
        return bool(self.tables or self.summary)

    def take(self, run: CosetRun) -> None:
        for name in self.tables:
            run.tables.delete(name)
        run.sweep()

    def in_words(self, run: CosetRun) -> str:
        sentences = []
        if self.tables:
            count = counted(len(self.tables), "table")
            sentences.append(f"{count} deleted; a search that needs it makes it again")
        if self.summary:
            sentences.append("summary.json rewritten")
        return f"{run.path}: {'; '.join(sentences)}"


def plan_coset_repair(run: CosetRun, checked: Checked) -> CosetRepair:
    """Return the steps of a repair; raises CorruptRunError if a result is wrong."""
    wrong = [of.message for of in checked.faults if not of.described and of.depth != TABLE]
    if wrong:
        raise CorruptRunError(f"{run.path} cannot be repaired: {wrong[0]}")
    wrong_summary = any(fault.depth == SUMMARY for fault in checked.faults)
    return CosetRepair(list(checked.damaged_tables), wrong_summary)
