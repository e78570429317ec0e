"""The progress of a run by cosets: its steps as events, and the bounds on God's number and the
question under way, in numbers and in words."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from frontier.cosets.proof import Proof
from frontier.cosets.questions import Farther
from frontier.cosets.run import CosetRun
from frontier.runs import events
from frontier.runs.progress import Progress
from frontier.text import counted, rough, span


@dataclass(frozen=True)
class Asking(events.Working):
    """Tables are made or read, or a question about all cosets is under way."""

    doing: str
    """What is under way, in words."""
    lower: int | None = None
    """The lower bound on God's number, None before there are tables."""
    upper: int | None = None
    """The upper bound, None before there are tables."""
    limit: int | None = None
    """The number of moves that the question is about, None before there is one."""
    done: int = 0
    """How many portions of the question are done."""
    portions: int = 0
    """How many portions the question has."""
    left: float | None = None
    """The seconds that the question may still take, None if unknown."""
    positions: int = 0
    """How many positions were found to need more moves."""


@dataclass(eq=False)
class CosetProgress(Progress[CosetRun]):
    """The progress of a run by cosets at a given moment.

    asking: what the run does, None if not known.
    """

    legend: ClassVar[str] = (
        "# Question >T: which positions need more than T moves? question_percent and question_left "
        "(in seconds) are of this question alone."
    )

    asking: Asking | None = None

    def note(self, event: events.Event, now: float) -> None:
        if isinstance(event, Asking):
            self.asking = event

    def read(self) -> None:
        self.asking = _asking(self.source, self.started.workers if self.started else 0)

    @property
    def share(self) -> float | None:
        """The share of the question under way that is done."""
        asking = self.asking
        return asking.done / asking.portions if asking and asking.portions else None

    @property
    def stage(self) -> tuple[int | None, int, int | None] | None:
        """The bounds and the limit of the question under way; None before there are bounds."""
        asking = self.asking
        if asking is None or asking.upper is None:
            return None
        return asking.lower, asking.upper, asking.limit

    def figures(self, now: float) -> dict[str, str]:
        asking, run = self.asking or Asking("nothing yet"), self.run
        figures = self.resuming()
        if asking.portions and not self.ended:
            time_left = "too early to tell"
            if asking.left is not None:
                time_left = f"about {rough(asking.left)}" if asking.left >= 2 else "a moment"
            figures["time left"] = f"{time_left} (for this question)"
        figures["God's number"] = bounds_words(asking)
        if words := self.compiling_words(now):
            figures["now"] = words
        elif asking.doing and not self.complete:
            figures["next" if self.ended else "now"] = _doing_words(asking)
        if run and run.proof:
            if layers := last_layers(run):
                counts = (f"{counted(len(some), 'position')} at depth {d}" for d, some in layers)
                figures["last layers"] = ", ".join(counts)
            figures["cosets searched"] = _cosets_words(run.proof)
        return figures | self.particulars()

    def row(self, now: float) -> dict[str, str]:
        asking = self.asking
        assert asking is not None  # a search that has begun has a question
        left = None if self.ended else asking.left
        known = asking.lower, asking.upper, f">{asking.limit}" if asking.portions else None
        lower, upper, limit = ("-" if value is None else str(value) for value in known)
        done = f"{asking.done / asking.portions:.2%}".rstrip("%") if asking.portions else "-"
        return {
            "lower": lower,
            "upper": upper,
            "question": limit,
            "question_percent": done,
            "found": str(asking.positions),
            "seconds": f"{self.elapsed(now):.1f}",
            "question_left": "-" if left is None else f"{left:.0f}",
        }

    def resume_options(self) -> dict[str, Any]:
        request = self.started.request if self.started else {}
        layers = request.get("layers")
        return {"at-most": request.get("at_most"), "layers": None if layers == 1 else layers}

    def value(self, now: float) -> dict[str, Any]:
        return {"asking": asdict(self.asking) if self.asking else None}


def _asking(run: CosetRun, workers: int) -> Asking:
    """Return what a run by cosets does now or next, and the time that the question will still take:
    for each portion left, the mean time of the portions done. workers: 0 if not known."""
    proof = run.proof
    if proof is None:
        return Asking("making the tables")
    if (question := run.next_question) is None:
        return Asking("", proof.lower, proof.upper)
    limit, _ = question
    left, answer = None, proof.answers.get(limit)
    if answer and answer.done and workers:
        left = answer.seconds / len(answer.done) * len(answer.missing) / workers
    return asking_of(proof, *question, left)


def asking_of(proof: Proof, limit: int, whole: bool, left: float | None) -> Asking:
    """Return a question as an event. left: the seconds that it may still take."""
    asking = Asking(proof.in_words(limit, whole), proof.lower, proof.upper, limit)
    if (answer := proof.answers.get(limit)) is None:
        return asking
    done, positions = len(answer.done), len(answer.farther)
    return replace(asking, done=done, portions=answer.portions, left=left, positions=positions)


def last_layers(run: CosetRun) -> list[tuple[int, list[Farther]]]:
    """Return (depth, positions) of the last known layers, the deepest first."""
    return list(run.proof.last_layers()) if run.proof else []


def bounds_words(known: Asking | Proof | None) -> str:
    """Return the bounds on God's number in words."""
    if known is None or known.upper is None:
        return "not known yet"
    lower, upper = known.lower, known.upper
    return str(upper) if lower == upper else f"from {lower} to {upper}"


def _doing_words(asking: Asking) -> str:
    """Return the current step of a search, and how much of it is done."""
    done = [f"{asking.done / asking.portions:.0%}"] if asking.done else []
    if asking.positions:
        done.append(f"{counted(asking.positions, 'position')} found")
    return f"{asking.doing} ({', '.join(done)})" if done else asking.doing


def _cosets_words(proof: Proof) -> str:
    answers = proof.answers.values()
    cosets = sum(answer.total("cosets") for answer in answers)
    return f"{cosets:,}, in {span(proof.seconds)} of processor time"
