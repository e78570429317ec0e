"""The loop over questions about God's number, which stores portions as they are answered."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from frontier import machine
from frontier.clusters.executor import Call, Executor, Threads
from frontier.clusters.kinds import check_cluster, client_for, executor_of, workers_to_start
from frontier.compiling import compiling_told_to
from frontier.config import Config
from frontier.cosets.proof import Answer, Proof, guesses, wrong_division
from frontier.cosets.questions import Asker, Portion, Witness
from frontier.cosets.resources import plan_cosets
from frontier.errors import CorruptRunError, InputError, Stopped, reason_of, system_errors
from frontier.puzzles import Board
from frontier.runs.coset_run import CosetRun
from frontier.runs.directory import make_directory
from frontier.runs.events import (
    Asking,
    Compiling,
    Event,
    Listener,
    SearchFinished,
    SearchStarted,
    SearchStopped,
    Starting,
    Stopping,
)
from frontier.runs.reference import RunCache, RunRef
from frontier.runs.resolve import place_of_cosets
from frontier.signals import interrupts_stop
from frontier.storage.lock import writing

COMMIT_SECONDS = 5.0
"""The approximate seconds of search that a kill can cost, besides the portion under way."""

GUESSED_SECONDS = 30.0
"""The driver tries to raise the lower bound once the questions of a start have taken this many
seconds."""

NODES_A_SECOND = 3_000_000
"""The approximate number of nodes that the search of a single position visits in a second."""


def find_gods_number(
    config: Config,
    at_most: int | None = None,
    layers: int = 1,
    hours: float | None = None,
    region: str | None = None,
    listeners: Sequence[Listener] = (),
    take_over: bool = False,
    client=None,
) -> CosetRun:
    """Find God's number of a tile puzzle, or resume the search for it.

    at_most: ask only whether this many moves suffice. layers: how many of the last layers to list
    in full. hours: the time after which the search ends with the bounds found so far. region: the
    name of a region. listeners: called with each event. take_over, client: as for `frontier.run`.
    Raises Stopped if the search is interrupted.
    """
    if hours is not None and not math.isfinite(hours):
        raise InputError(f"hours: {hours} is not a number of hours; omit it for no limit")
    plan = plan_cosets(config, region)
    if plan.refusal:
        raise InputError(plan.refusal)
    path = place_of_cosets(config)
    if not CosetRun.exists(path):
        check_cluster(config.cluster, True, client)
    make_directory(path)
    with system_errors(), writing(path, take_over):
        if CosetRun.exists(path):
            run = CosetRun.open(path)
            run.check_is_of({"puzzle": config.puzzle_settings})
            run.check_region(region)
        else:
            run = CosetRun.of_config(path, config, plan.region, plan.groups)
        run.sweep()
        run.settings = config.settings
        run.note_request(at_most, layers)
        if not run.complete:
            _Search(run, listeners, hours).go(config, client)
        return run


class _Search:
    """One start of a search."""

    def __init__(self, run: CosetRun, listeners: Sequence[Listener], hours: float | None):
        self._run, self._listeners = run, listeners
        self._ends = None if hours is None else time.monotonic() + 3600 * hours
        self._interrupted, self._question_seconds = threading.Event(), 0.0
        self._asker: Asker | None = None
        self._began = self._committed = time.monotonic()

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _stops(self) -> bool:
        over = self._ends is not None and time.monotonic() > self._ends
        return over or self._interrupted.is_set()

    def go(self, config: Config, client) -> None:
        run, client = self._run, client_for(config, client)
        alone = client is None and config.cluster.kind == "local"
        cluster = config.cluster, alone, client
        check_cluster(*cluster)
        about = run.identity["name"], run.puzzle.title, str(run.path)
        self._tell(Starting(*about, run.proof is not None, workers_to_start(*cluster)))
        with _executor_for(config, client) as executor:
            self._tell(
                SearchStarted(
                    *about,
                    executor.workers,
                    *run.request,
                    run.proof is not None,
                    executor.dashboard,
                )
            )
            if not executor.in_process:
                self._tell(Compiling(elsewhere=True))
            try:
                with (
                    compiling_told_to(self._before_compiling),
                    interrupts_stop(self._interrupt, partial(self._tell, Stopping())),
                    run.gone_instead(),
                ):
                    self._search(executor)
            except BaseException as error:
                self._tell(SearchStopped(reason_of(error), self._elapsed()))
                raise
        if run.complete:
            self._tell(
                SearchFinished(run.begun_proof.lower, run.begun_proof.upper, self._elapsed())
            )
        else:
            self._tell(SearchStopped("the time limit has passed", self._elapsed()))

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _search(self, executor: Executor) -> None:
        """Ask one question after another until the request is answered; raises Stopped if
        interrupted."""
        run = self._run
        bounds = (run.proof.lower, run.proof.upper) if run.proof else ()
        self._tell(Asking("reading the tables" if run.proof else "making the tables", *bounds))
        self._asker = asker = _asker(run, executor.in_process, machine.cores(), self._check_goes_on)
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
        if self._interrupted.is_set() and not run.complete:
            raise Stopped("interrupted")

    def _interrupt(self) -> None:
        self._interrupted.set()
        if self._asker:
            self._asker.stop()

    def _check_goes_on(self) -> None:
        if self._interrupted.is_set():
            raise Stopped("interrupted")

    def _before_compiling(self) -> None:
        self._check_goes_on()
        self._tell(Compiling())

    def _raise_lower_bound(self, asker: Asker, executor: Executor) -> None:
        """Try to raise the lower bound with hard positions, if God's number is wanted and the next
        question is new. The attempt takes at most as long as the questions of this start have
        taken."""
        proof, at_most, began = self._run.begun_proof, self._run.request[0], time.monotonic()
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
        doing = proof.in_words(limit, whole)
        self._say(doing, limit, answer, None)
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
            self._say(doing, limit, answer, time_left)
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

    def _say(self, doing: str, limit: int, answer: Answer, time_left: float | None) -> None:
        proof = self._run.begun_proof
        self._tell(Asking(
            doing, proof.lower, proof.upper, limit, len(answer.done), answer.portions, time_left,
            len(answer.farther),
        ))  # fmt: skip


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


def _open_asker(run_ref: RunRef) -> Asker:
    run = CosetRun.open(run_ref.path)
    run_ref.check(run.identity)
    return _asker(run, False, 1)


_open = RunCache(_open_asker)
"""The tables of a search, which each worker reads only once."""


def search_portion(
    run_ref: RunRef, limit: int, number: int, whole: bool
) -> Portion | Witness | None:
    """Search a portion of a question, as a worker of a cluster does."""
    return _open.of(run_ref).search(limit, number, whole=whole)


def search_position(run_ref: RunRef, board: Board, limit: int, nodes: int) -> Witness | None:
    """Search a single position, as a worker of a cluster does."""
    return _open.of(run_ref).witness(board, limit, nodes)


@contextmanager
def _executor_for(config: Config, client) -> Iterator[Executor]:
    """Yield threads if all workers would be on this machine, otherwise the workers of a cluster."""
    if client is None and config.cluster.kind == "local":
        yield Threads(config.cluster.workers)
        return
    with executor_of(config.cluster, False, client) as executor:
        yield executor
