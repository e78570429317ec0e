"""Whether what a search of cosets has found is right, as far as its files can tell.

* The checksums of the tables that are there must be right.
* ``summary.json`` must be what was written there, and say nothing that contradicts the ledger. It
  is written at the end of a start, so it may be older than the ledger, and know less.
* The shortest way of every position found is gone move by move, without any kernel.
* Blocks of questions and single positions that gave a lower bound are searched again, all or some
  of them drawn at random; they must give the same.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from frontier import machine
from frontier.cosets.questions import Asker, Farther, Witness
from frontier.cosets.store import CosetRun
from frontier.errors import CorruptRunError
from frontier.puzzles import Puzzle
from frontier.search.verify import SUMMARY, Fault
from frontier.storage.sealed import read_sealed
from frontier.text import counted


@dataclass
class Checked:
    """What was looked at, and what was found.

    tables: whose checksums were looked at. ways: gone move by move. blocks: searched again, and
    positions that lower bounds rest on.
    """

    tables: int = 0
    ways: int = 0
    blocks: int = 0
    faults: list[Fault] = field(default_factory=list)


def check_cosets(
    run: CosetRun,
    blocks: int | None = 0,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Checked:
    """What is wrong with a search of cosets. The depth of a fault is that of the farther positions
    of its question.

    blocks: how many are searched again, None for all. say: is told what is being done.
    """
    proof, found = run.proof, Checked()
    say("checksums of the tables")
    found.tables = len(run.tables)
    found.faults += [Fault(0, fault) for fault in run.check_tables()]
    if proof is None:
        return found
    found.faults += [Fault(SUMMARY, what, described=True) for what in _wrong_summary(run)]
    found.ways = len(proof.farther)
    say(f"{counted(found.ways, 'way')}, move by move")
    for limit, answer in proof.answers.items():
        for position in answer.farther:
            if wrong := _wrong_way(run.puzzle, position, limit):
                where = f"the question of {limit}, {run.puzzle.line(position.board)}"
                found.faults.append(Fault(limit + proof.period, f"a position of {where}: {wrong}"))
    done = [(t, number) for t, answer in proof.answers.items() for number in answer.done]
    done += proof.witnesses
    count = len(done) if blocks is None else min(blocks, len(done))
    drawn = sorted(  # question by question, as each has to be prepared
        random.Random(seed).sample(done, count),
        key=lambda some: (some.limit, -1) if isinstance(some, Witness) else some,
    )
    if drawn and all(fault.described for fault in found.faults):
        _search_again(run, drawn, found, say)
    return found


def _wrong_summary(run: CosetRun) -> Iterator[str]:
    """What is wrong with ``summary.json``, if it is there."""
    name, remedy = "summary.json", "`gods-number` writes it anew"
    file, proof = run.storage.place(name), run.proof
    if not run.storage.exists(name):
        return
    try:
        said = read_sealed(run.storage, name)
    except CorruptRunError as error:
        yield f"{error}; {remedy}"
        return
    lower, upper = said.get("lower"), said.get("upper")
    known = proof.lower, proof.upper
    if lower is not None and not (lower <= proof.lower and proof.upper <= upper):
        yield f"{file} has bounds {lower} and {upper}, and the ledger {known}; {remedy}"
    for layer in said.get("layers", []):
        there = proof.layer(layer["depth"]) if proof.known else None
        if there is None or len(there) != layer["count"]:
            has = "does not know it" if there is None else f"has {len(there):,}"
            count = counted(layer["count"], "position")
            yield f"{file} has {count} at depth {layer['depth']}, and the ledger {has}; {remedy}"


def _search_again(
    run: CosetRun, drawn: list[tuple[int, int] | Witness], found: Checked, say
) -> None:
    """Search blocks and single positions again, and note what is found."""
    proof = run.proof
    asker = Asker(run.region, run.groups, machine.cores(), run.kept(shared=False))
    if asker.deepest != proof.deepest:
        said = f"the deepest pattern and board are {asker.deepest}, not {proof.deepest}"
        found.faults.append(Fault(0, said))
    for some in drawn:
        say(f"{found.blocks:,} of {counted(len(drawn), 'block')} searched again")
        found.blocks += 1
        if isinstance(some, Witness):
            say(f"whether a position needs more than {some.limit} moves")
            if not asker.witness(some.board, some.limit):
                said = f"{run.puzzle.line(some.board)} takes at most {some.limit} moves"
                found.faults.append(Fault(some.limit + proof.period, said))
            continue
        limit, number = some
        kept, block = proof.answers[limit].done[number], asker.search(limit, number)
        before, now = ({(p.board, p.depth) for p in of.farther} for of in (kept, block))
        if before != now or kept.cosets != block.cosets:
            said = (
                f"block {number} of the question of {limit} has {counted(len(now), 'position')} "
                f"that need more moves, and {len(before):,} are listed"
            )
            found.faults.append(Fault(limit + proof.period, said))


def _wrong_way(puzzle: Puzzle, position: Farther, limit: int) -> str | None:
    """What is wrong with the way of a position, if anything."""
    board, columns = list(position.board), puzzle.grid.columns
    several = puzzle.metric == "multi"
    if position.depth != len(position.blanks) or position.depth <= limit:
        return f"its way has {len(position.blanks)} moves, its depth is {position.depth}"
    for there in position.blanks:
        here = board.index(0)
        (r, c), (rr, cc) = divmod(here, columns), divmod(there, columns)
        down, right = rr - r, cc - c
        far = max(abs(down), abs(right))
        if (down and right) or far == 0 or (far > 1 and not several):
            return f"its way has a move from cell {here} to cell {there}"
        stride = (there - here) // far
        for cell in range(here, there, stride):
            board[cell] = board[cell + stride]
        board[there] = 0
    return None if tuple(board) == puzzle.goals[0] else "its way does not lead to the goal"
