"""A start of a run by cosets: the loop over questions about God's number, which stores portions as
they are answered."""

import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from frontier import machine
from frontier.config.loading import Config
from frontier.cosets.progress import Asking, asking_of
from frontier.cosets.proof import Answer, Proof, guesses, wrong_division
from frontier.cosets.questions import Asker, Portion, Witness
from frontier.cosets.resources import plan_cosets
from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.executors.choice import client_for
from frontier.executors.executor import Call, Executor, Threads
from frontier.puzzles import Board
from frontier.runs.drive import Search
from frontier.runs.events import Compiling, Listener
from frontier.runs.kinds import BY_COSETS
from frontier.runs.resolve import place_of_cosets
from frontier.runs.stored_run import RunCache, RunRef

COMMIT_SECONDS = 5.0
"""The approximate seconds of search that a kill can cost, besides the portion under way."""

GUESSED_SECONDS = 30.0
"""The driver tries to raise the lower bound once the questions of a start have taken this many
seconds."""

NODES_A_SECOND = 3_000_000
"""The approximate number of nodes that the search of a single position visits in a second."""


class CosetSearch(Search[CosetRun]):
    """Finds God's number of a tile puzzle by questions about all cosets.

    at_most: ask only whether this many moves suffice. layers: how many of the last layers to list
    in full. hours: the time after which the search ends with the bounds found so far. region: the
    name of a region. client: as for `frontier.run`.
    """

    kind, mode = BY_COSETS, "coset by coset"

    def __init__(
        self,
        config: Config,
        at_most: int | None = None,
        layers: int = 1,
        hours: float | None = None,
        region: str | None = None,
        client=None,
    ):
        if hours is not None and not math.isfinite(hours):
            raise InputError(f"hours: {hours} is not a number of hours; omit it for no limit")
        plan = plan_cosets(config, region)
        if plan.refusal:
            raise InputError(plan.refusal)
        request = {"at_most": at_most, "layers": layers}
        super().__init__(config, place_of_cosets(config), request, client_for(config, client))
        self._plan, self._region, self._wanted = plan, region, (at_most, layers)
        self._ends = None if hours is None else time.monotonic() + 3600 * hours
        self._asker: Asker | None = None
        self._question_seconds, self._committed = 0.0, time.monotonic()

    def open(self) -> CosetRun:
        if not CosetRun.exists(self.storage):
            return CosetRun.of_config(
                self.storage, self.config, self._plan.region, self._plan.groups
            )
        run = CosetRun.open(self.storage)
        run.check_is_of({"puzzle": self.config.puzzle_settings})
        run.check_region(self._region)
        return run

    def is_done(self, run: CosetRun) -> bool:
        return run.complete and run.request == self._wanted

    def prepare(self, run: CosetRun) -> None:
        run.settings = self.config.settings
        run.note_request(*self._wanted)

    @property
    def _threaded(self) -> bool:
        """True if threads of this process do all the work."""
        return self.client is None and self.config.cluster.kind == "local"

    @property
    def workers(self) -> int:
        return 0 if self._threaded else super().workers

    def executor(self) -> AbstractContextManager[Executor]:
        if self._threaded:
            return nullcontext(Threads(self.config.cluster.workers))
        return super().executor()

    def stop(self) -> None:
        super().stop()
        if self._asker:
            self._asker.stop()

    def pause(self, run: CosetRun) -> str:
        return "the time limit has passed"

    def _stops(self) -> bool:
        over = self._ends is not None and time.monotonic() > self._ends
        return over or self.stopping.is_set()

    def search(self, run: CosetRun, executor: Executor, emit: Listener, began: float) -> None:
        """Ask one question after another until the request is answered."""
        self._run, self._tell = run, emit
        if not executor.in_process:
            emit(Compiling(elsewhere=True))
        bounds = (run.proof.lower, run.proof.upper) if run.proof else ()
        emit(Asking("reading the tables" if run.proof else "making the tables", *bounds))
        self._asker = asker = _asker(run, executor.in_process, machine.cores(), self.check_goes_on)
        if run.proof is None:
            run.proof = Proof(asker.deepest, run.region.period)
            run.commit()
        try:
            while not self._stops() and (question := run.next_question):
                self._raise_lower_bound(asker, executor)
                if question == run.next_question:
                    self._ask(asker, executor, *question)
        finally:
            run.commit()
        if self.stopping.is_set() and not run.complete:
            raise Stopped("interrupted")
        if run.complete:
            emit(Asking("", run.proof.lower, run.proof.upper))

    def _raise_lower_bound(self, asker: Asker, executor: Executor) -> None:
        """Try to raise the lower bound with hard positions, if God's number is wanted and the next
        question is new. The attempt takes at most as long as the questions of this start have
        taken."""
        proof, at_most, began = self._run.begun_proof, self._wanted[0], time.monotonic()
        question = self._run.next_question
        following = proof.answers.get(question[0]) if question else None
        begun = following is not None and following.done
        if at_most is not None or begun or self._question_seconds < GUESSED_SECONDS:
            return
        for limit, ends in guesses(proof, self._question_seconds, time.monotonic):
            if self._stops() or not (hardest := proof.hardest(limit)):
                break
            doing = f"does a position that was hard to decide need more than {limit} moves?"
            self._tell(Asking(doing, proof.lower, proof.upper, limit))
            enough = threading.Event()

            def stops(enough=enough, ends=ends) -> bool:
                return self._stops() or enough.is_set() or time.monotonic() > ends

            calls = (self._single(asker, executor, limit, at, ends) for at in hardest)
            for witness in executor.run(calls, stops):
                if witness is not None:
                    proof.witnesses.append(witness)
                    enough.set()
                    self._run.commit()
        proof.guessed += (time.monotonic() - began) * max(1, executor.workers)
        self._run.commit()

    def _ask(self, asker: Asker, executor: Executor, limit: int, whole: bool) -> None:
        """Ask a question. whole: True if all its positions are wanted, False if one suffices."""
        proof, began = self._run.begun_proof, time.monotonic()
        answer = proof.answers.setdefault(limit, Answer(asker.portions(limit), asker.cosets(limit)))
        if wrong := wrong_division(asker, limit, answer):
            raise CorruptRunError(f"{self._run.path}: {wrong}")
        before = len(answer.done)
        asker.learn(answer.done.values())
        enough = threading.Event()

        def stops() -> bool:
            return self._stops() or enough.is_set()

        calls = (
            self._call(asker, executor, limit, number, whole, stops) for number in answer.missing
        )
        self._tell(asking_of(proof, limit, whole, None))
        for result in executor.run(calls, stops):
            if result is None:
                continue
            if isinstance(result, Witness):
                proof.witnesses.append(result)
                enough.set()
            else:
                answer.done[result.number] = result
            now, done = time.monotonic(), len(answer.done)
            time_left = (now - began) / max(1, done - before) * (answer.portions - done)
            self._tell(asking_of(proof, limit, whole, time_left))
            if enough.is_set() or now - self._committed > COMMIT_SECONDS:
                self._run.commit()
                self._committed = now
        self._question_seconds += time.monotonic() - began
        self._run.commit()

    def _call(
        self, asker: Asker, executor: Executor, limit: int, number: int, whole, stops
    ) -> Call:
        if executor.in_process:
            return Call(asker.search, (limit, number, stops, whole))
        return Call(search_portion, (self._run.ref, limit, number, whole))

    def _single(self, asker: Asker, executor: Executor, limit: int, board: Board, ends) -> Call:
        nodes = int(max(0.0, ends - time.monotonic()) * NODES_A_SECOND)
        if executor.in_process:
            return Call(asker.witness, (board, limit, nodes))
        return Call(search_position, (self._run.ref, board, limit, nodes))


def _asker(
    run: CosetRun, in_process: bool, threads: int, check: Callable[[], None] = lambda: None
) -> Asker:
    """Return the tables of a search. check: called before each table is made or read; it may raise
    an error."""
    table_source = run.table_source(shared=not in_process)

    def checked_source(name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        check()
        return table_source(name, make)

    return Asker(run.region, run.groups, threads, checked_source)


_open = RunCache(lambda run_ref: _asker(run_ref.open(CosetRun), False, 1))
"""The tables of a search, which each worker reads only once."""


def search_portion(
    run_ref: RunRef, limit: int, number: int, whole: bool
) -> Portion | Witness | None:
    """Search a portion of a question, as a worker of a cluster does."""
    return _open.of(run_ref).search(limit, number, whole=whole)


def search_position(run_ref: RunRef, board: Board, limit: int, nodes: int) -> Witness | None:
    """Search a single position, as a worker of a cluster does."""
    return _open.of(run_ref).witness(board, limit, nodes)
