"""Which question is asked next, and what the answers say, played through without any search."""

from dataclasses import replace

import pytest

from frontier.cosets.proof import Answer, Proof, guesses
from frontier.cosets.questions import Farther, Portion, Witness
from tests.support.sweeps import swept


def play(counts: list[int], bound: int, deepest: int, period: int, at_most=None, layers=1) -> Proof:
    """Ask until there is no question, of a made-up puzzle with so many positions at each depth."""
    proof = Proof((deepest, bound - deepest), period)
    while asked := proof.next_question(at_most, layers):
        limit, whole = asked
        assert limit >= 0
        positions = [
            Farther((depth, n), depth, ())
            for depth in range(limit + period, len(counts), period)
            for n in range(counts[depth])
        ]
        answer = proof.answers.setdefault(limit, Answer(2, 2))
        assert not answer.searched, "a question is not asked again"
        if positions and not whole:
            proof.witnesses.append(Witness(positions[0].board, limit))
        else:
            answer.done = {0: portion(0, positions[:3]), 1: portion(1, positions[3:])}
    return proof


def portion(number: int, positions: list[Farther]) -> Portion:
    return Portion(number, 1, 1, 1, 1, 1, 1.0, tuple(positions))


COUNTS = [1, 2, 4, 7, 9, 20, 31, 17, 5, 2]


each_period = pytest.mark.parametrize("period", [1, 2])


@each_period
@swept("end", range(5, len(COUNTS)), few=range(5, len(COUNTS), 2))
@swept("slack", range(8), few=[0, 1, 6])
@swept("layers", range(6), few=[0, 1, 4])
def test_gods_number_and_the_last_layers(end, slack, layers, period):
    counts = COUNTS[: end + 1]
    proof = play(counts, end + slack, 3, period, layers=layers)
    assert (proof.lower, proof.upper) == (end, end)
    found = {depth: len(positions) for depth, positions in proof.last_layers()}
    wanted = {depth: counts[depth] for depth in range(end, max(1, end - layers), -1)}
    assert found.items() >= wanted.items()
    assert all(counts[depth] == count for depth, count in found.items())


@each_period
@pytest.mark.parametrize("at_most", range(1, 14))
def test_one_bound_is_asked_about(at_most, period):
    proof = play(COUNTS, 12, 3, period, at_most=at_most)
    assert (proof.upper <= at_most) == (at_most >= len(COUNTS) - 1)
    assert (proof.lower > at_most) == (at_most < len(COUNTS) - 1)
    assert len(proof.answers) <= 1


@each_period
def test_a_question_that_found_a_position_early_is_finished_for_its_layer(period):
    proof = play(COUNTS, 12, 3, period, layers=0)
    assert proof.witnesses
    assert not any(proof.answers[witness.limit].searched for witness in proof.witnesses)
    assert proof.layer(len(COUNTS)) == [], "no position is deeper than God's number"


@each_period
@pytest.mark.parametrize("number", [20, *range(21, 41, 3), 40])
@pytest.mark.parametrize("takes", [1, 30, 400])
def test_lower_bounds_are_guessed(period, number, takes):
    """Of a puzzle with a made-up God's number, where a guess that is right takes so many seconds,
    and one that is not takes all the time it is given."""
    proof, clock, asked = Proof((20, 20), period), [0.0], []
    for limit, ends in guesses(proof, 300, lambda: clock[0]):
        now = clock[0]
        assert now < ends <= 300
        asked.append(limit)
        confirmed = limit + period <= number and now + takes <= ends
        if confirmed:
            proof.witnesses.append(Witness((0,), limit))
        clock[0] = now + takes if confirmed else ends
    assert len(set(asked)) == len(asked)
    assert all(20 < limit + period < 40 for limit in asked)
    assert {limit % period for limit in asked} <= {(proof.upper - 1) % period}
    assert proof.lower <= number
    if takes == 1:
        assert proof.lower == max(20, min(number - (39 - number) % period, 39))
    if takes == 400:
        assert proof.lower == 20


def test_hard_positions_are_of_questions_of_greater_limits():
    proof = Proof((3, 9), 2)
    for limit, nodes in ((10, 7), (9, 50), (8, 9), (6, 100)):
        hard = replace(portion(0, []), hardest=(nodes, (limit,)))
        proof.answers[limit] = Answer(1, 1, {0: hard})
    assert proof.hardest(6) == [(8,), (10,)]
    assert proof.hardest(10) == []
