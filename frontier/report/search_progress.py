"""How far a search of cosets is, by its events or by its files alone."""

import time
from contextlib import suppress
from dataclasses import dataclass

from frontier.cosets.store import CosetRun
from frontier.report.log import read_last_start
from frontier.report.standing import (
    COMPLETE,
    STOPPED,
    UNDER_WAY,
    Standing,
    is_under_way,
    untold_reason,
)
from frontier.search import events
from frontier.storage.lock import describe_holder, held_since


@dataclass(eq=False)
class SearchProgress(Standing):
    """What is known of a search at a moment. It listens to the search's events.

    asking: what it does, None if that is not known. began: when it was begun, in Unix time. run,
    holder: as of `Progress`.
    """

    name: str = ""
    started: events.SearchStarted | None = None
    asking: events.Asking | None = None
    began: float = 0.0
    ended: events.SearchFinished | events.SearchStopped | None = None
    when: float | None = None
    run: CosetRun | None = None
    holder: str | None = None

    layers, counts = (), ()
    """A search has no layers to be shown."""

    def __call__(self, event: events.Event, now: float | None = None) -> None:
        """Take note of an event that happens now."""
        now = time.time() if now is None else now
        match event:
            case events.SearchStarted():
                vars(self).update(vars(SearchProgress(event.name, event, began=now)))
            case events.Asking():
                self.asking = event
            case events.SearchFinished(lower, upper):
                self.asking = events.Asking("", lower, upper)
                self.ended, self.when = event, now
            case events.SearchStopped():
                self.ended, self.when = event, now

    @property
    def stage(self) -> int | None:
        """The limit of the question under way."""
        return self.asking and self.asking.limit


def search_progress_of(run: CosetRun) -> SearchProgress:
    """The progress of a search by its files, while it may be under way in another process.

    The lock is looked at first: if it is free, all that its last holder wrote is there, and only
    then the ledger is read again.
    """
    storage, lock = run.storage, run.storage.lock_file
    held = is_under_way(storage)
    if not held and not run.complete:
        run = CosetRun(storage)
    state = UNDER_WAY if held else COMPLETE if run.complete else STOPPED
    log, about = read_last_start(storage), run.identity
    lost = events.SearchStarted(about["name"], run.puzzle.title, str(run.path), 0, *run.asked, True)
    began, started = log[0] if log else (about.get("created", 0.0), lost)
    progress = SearchProgress(about["name"], started, _asking(run, started.workers), began, run=run)
    if state == UNDER_WAY:
        if lock:
            progress.holder, progress.began = describe_holder(lock), held_since(lock) or began
        return progress
    if len(log) > 1:
        progress.ended, progress.when = log[-1][1], log[-1][0]
    elapsed = 0.0
    with suppress(FileNotFoundError):
        elapsed = max(0.0, storage.modified("ledger.json") - began)
    if state == COMPLETE and not progress.complete:
        progress.ended = events.SearchFinished(run.proof.lower, run.proof.upper, elapsed)
    elif state != progress.state:  # the log has no end of the search, or one that is out of date
        progress.ended = events.SearchStopped(untold_reason(log, lock), elapsed)
        progress.when = None
    return progress


def _asking(run: CosetRun, workers: int) -> events.Asking:
    """What a search does next, or is doing, and how long the question still takes: the mean time of
    its blocks that are done, for each of the others. workers: 0 if not known."""
    proof = run.proof
    if proof is None:
        return events.Asking("making the tables")
    if (question := run.next_question) is None:
        return events.Asking("", proof.lower, proof.upper)
    limit, whole = question
    doing, answer = proof.in_words(limit, whole), proof.answers.get(limit)
    if answer is None:
        return events.Asking(doing, proof.lower, proof.upper, limit)
    left, done = None, len(answer.done)
    if done and workers:
        left = answer.seconds / done * (answer.blocks - done) / workers
    return events.Asking(
        doing, proof.lower, proof.upper, limit, done, answer.blocks, left, len(answer.farther)
    )
