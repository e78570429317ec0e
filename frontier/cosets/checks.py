"""Whether what a search of cosets has found is right, as far as its files can tell.

* The shortest way of every position found is gone move by move, without any kernel.
* Blocks of finished questions are searched again, all or some of them drawn at random, with the
  tables, whose checksums are checked as they are read; they must give the same.
"""

import random
from collections.abc import Callable

from frontier import machine
from frontier.cosets.proof import Proof
from frontier.cosets.questions import Asker, Farther
from frontier.cosets.store import CosetRun
from frontier.puzzles import Puzzle
from frontier.text import counted


def check_cosets(
    run: CosetRun, blocks: int | None, seed: int, say: Callable[[str], None]
) -> list[str]:
    """What is wrong with a search of cosets, as sentences.

    blocks: how many are searched again, None for all. say: is told what is being done.
    CorruptRunError if a file is damaged.
    """
    proof, puzzle = run.proof, run.region.puzzle
    if proof is None:
        return []
    faults = [
        f"a position of the question of {limit}, {puzzle.line(position.board)}: {wrong}"
        for limit, answer in proof.answers.items()
        for position in answer.farther
        if (wrong := _wrong_way(puzzle, position, limit))
    ]
    say(f"{counted(len(proof.farther), 'way')} gone move by move")
    done = [(t, number) for t, answer in proof.answers.items() for number in answer.done]
    count = len(done) if blocks is None else min(blocks, len(done))
    drawn = sorted(random.Random(seed).sample(done, count))
    if not drawn:
        return faults
    asker = Asker(run.region, run.groups, machine.cores(), run.kept(shared=False))
    if asker.deepest != proof.deepest:
        faults.append(f"the deepest pattern and board are {asker.deepest}, not {proof.deepest}")
    faults += _searched_again(asker, proof, drawn)
    say(f"{counted(len(drawn), 'block')} of {len(done):,} searched again")
    return faults


def _searched_again(asker: Asker, proof: Proof, drawn: list[tuple[int, int]]) -> list[str]:
    faults = []
    for limit, number in drawn:
        kept, block = proof.answers[limit].done[number], asker.search(limit, number)
        before, now = ({(p.board, p.depth) for p in of.farther} for of in (kept, block))
        if before != now or kept.cosets != block.cosets:
            faults.append(
                f"block {number} of the question of {limit} has {counted(len(now), 'position')} "
                f"that need more moves, and {len(before):,} are listed"
            )
    return faults


def _wrong_way(puzzle: Puzzle, position: Farther, limit: int) -> str | None:
    """What is wrong with the way of a position, if anything."""
    board, columns = list(position.board), puzzle.grid.columns
    if position.depth != len(position.blanks) or position.depth <= limit:
        return f"its way has {len(position.blanks)} moves, its depth is {position.depth}"
    for there in position.blanks:
        here = board.index(0)
        (r, c), (rr, cc) = divmod(here, columns), divmod(there, columns)
        if abs(r - rr) + abs(c - cc) != 1:
            return f"its way has a move from cell {here} to cell {there}"
        board[here], board[there] = board[there], 0
    return None if tuple(board) == puzzle.goals[0] else "its way does not lead to the goal"
