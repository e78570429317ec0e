"""The time that a question takes, estimated from a sample of its cosets at each distance of their
patterns.

Far patterns are few, and each takes a thousand times as long as a near one; near patterns are many.
So a single sample of all cosets would say little about either.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frontier import machine
from frontier.cosets.questions import Asker
from frontier.cosets.run import CosetRun

MOST_SAMPLED = 1000
"""The approximate limit on the number of cosets searched at each distance."""

MADE_FIRST = {"patterns", "layers", "boards", "groups"}
"""The tables that must exist before anything is sampled, because making them takes long."""


@dataclass(frozen=True)
class Sample:
    """The cosets of a question whose patterns are at one distance.

    cosets: how many there are. searched: how many were searched. seconds: processor time for each
    searched coset. left: the mean number of positions that each left open. whole: False if the
    first coset took longer than allowed; then `seconds` is that time.
    """

    distance: int
    cosets: int
    searched: int
    seconds: float
    left: float
    whole: bool

    @property
    def all_seconds(self) -> float:
        """The processor seconds for all cosets at this distance."""
        return self.cosets * self.seconds


def sample_next(run: CosetRun, seconds: float) -> tuple[int, list[Sample]] | None:
    """Return the limit of the next question of a search, and samples of it; None if the tables have
    not been made yet, or if all questions are answered. Writes nothing."""
    if run.proof is None or not set(run.tables.names) >= MADE_FIRST:
        return None
    if (question := run.next_question) is None:
        return None

    def read(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        return run.tables.read(name, shared=True) if run.tables.exists(name) else make()

    limit, _ = question
    return limit, sample(Asker(run.region, run.groups, machine.cores(), read), limit, seconds)


def sample(asker: Asker, limit: int, seconds: float) -> list[Sample]:
    """Search some cosets of a question at each distance, the farthest first, for about `seconds`
    seconds in all."""
    counts = asker.distances(limit)
    distances = counts.nonzero()[0].tolist()[::-1]
    return [
        _sample_at(asker, limit, distance, int(counts[distance]), seconds / len(distances))
        for distance in distances
    ]


def _sample_at(asker: Asker, limit: int, distance: int, cosets: int, seconds: float) -> Sample:
    """Search one coset, then twice as many, and so on."""
    began, searched, taken, left, whole = time.thread_time(), 0, 0.0, 0, True

    def over() -> bool:
        return time.thread_time() - began > seconds

    while searched == 0 or (searched < min(MOST_SAMPLED, cosets) and not over()):
        portion_began = time.thread_time()
        some = slice(searched, 2 * searched + 1)
        portion = asker.search_some(limit, distance, some, over)
        if portion is None:
            taken, whole = taken + time.thread_time() - portion_began, searched > 0
            break
        searched, left = searched + portion.cosets, left + portion.left
        taken += portion.seconds
    tried = max(1, searched)
    return Sample(distance, cosets, searched, taken / tried, left / tried, whole)
