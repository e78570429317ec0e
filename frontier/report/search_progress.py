"""The progress of a search of cosets."""

from dataclasses import dataclass

from frontier.cosets.store import CosetRun
from frontier.report.standing import Standing
from frontier.search import events


@dataclass(eq=False)
class SearchProgress(Standing):
    """The progress of a search of cosets at a moment.

    asking: what it does, None if that is not known.
    """

    asking: events.Asking | None = None

    layers, counts = (), ()
    """A search has no layers to be shown."""

    def note(self, event: events.Event, now: float) -> None:
        match event:
            case events.Asking():
                self.asking = event
            case events.SearchFinished(lower, upper):
                self.asking = events.Asking("", lower, upper)

    def read(self) -> None:
        self.asking = _asking(self.run, self.started.workers)

    @staticmethod
    def untold_start(run: CosetRun) -> events.SearchStarted:
        name, title = run.identity["name"], run.puzzle.title
        return events.SearchStarted(name, title, str(run.path), 0, *run.request, True)

    def end(self, reason: str | None, elapsed: float) -> events.Event:
        if reason is None:
            return events.SearchFinished(self.run.proof.lower, self.run.proof.upper, elapsed)
        return events.SearchStopped(reason, elapsed)

    @property
    def share(self) -> float | None:
        """The share that is done of the question under way."""
        asking = self.asking
        return asking.done / asking.blocks if asking and asking.blocks else None

    @property
    def stage(self) -> int | None:
        """The limit of the question under way."""
        return self.asking and self.asking.limit


def _asking(run: CosetRun, workers: int) -> events.Asking:
    """Return what a search does next, or is doing, and how long the question still takes: the mean
    time of its blocks that are done, for each of the others. workers: 0 if not known."""
    proof = run.proof
    if proof is None:
        return events.Asking("making the tables")
    if (question := run.next_question) is None:
        return events.Asking("", proof.lower, proof.upper)
    limit, whole = question
    doing, answer = proof.in_words(limit, whole), proof.answers.get(limit)
    if answer is None:
        return events.Asking(doing, proof.lower, proof.upper, limit)
    time_left, done = None, len(answer.done)
    if done and workers:
        time_left = answer.seconds / done * (answer.blocks - done) / workers
    return events.Asking(
        doing, proof.lower, proof.upper, limit, done, answer.blocks, time_left, len(answer.farther)
    )
