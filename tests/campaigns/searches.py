"""Searches for God's numbers that are disturbed, for `faults.py`: what a `Case` is for runs by
layers.

A search that came to its end must have the bounds and the positions of the last layers that an
undisturbed one has, and `verify` must find it sound.
"""

import os
import random
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError
from frontier.storage.places import Place
from tests.campaigns.trials import ROOT, Campaign, Case

LAYERS = 3
"""The last layers that are wanted."""

DAMAGES = "turn a bit", "cut", "empty", "lengthen", "delete", "exchange", "another search's", "fifo"


@dataclass
class Search(Case):
    """A search to disturb; `store.path` lies below the path of a trial.

    expected: the bounds and the last layers of an undisturbed search.
    """

    expected: tuple = ()

    def at(self, path: Place) -> Place:
        name = "search-gods-number"
        return f"{path}/{name}" if isinstance(path, str) else path / name

    def committed(self, path: Path) -> int:
        """The portions that a search has committed."""
        proof = CosetRun.open(self.at(path)).proof
        return sum(len(answer.done) for answer in proof.answers.values()) if proof else 0

    def half_way(self, path: Path) -> bool:
        at = self.at(path)
        return CosetRun.exists(at) and not CosetRun.open(at).complete and self.committed(path) > 0

    def upkeep(self, path: Path) -> list[list[str]]:
        return [["verify", str(self.at(path))]]

    @property
    def forks(self) -> bool:
        return not self.apart

    def arguments(self, path: Place, *more: str) -> list[str]:
        settings = [f'store.path="{path}/search"', *self.settings, *more]
        config = ROOT / "configs" / f"{self.config}.toml"
        words = ["gods-number", str(config), "--layers", str(LAYERS)]
        return [*words, *(w for s in settings for w in ("--set", s))]

    def prepare(self, scratch: Path) -> None:
        self.scratch = scratch / re.sub(r"\W+", "-", self.name)
        self.scratch.mkdir()
        if self.forks:
            self.call(*self.arguments(self.scratch / "warm"))
        path = self.scratch / "undisturbed"
        began = time.perf_counter()
        self.start(path).demand(0)
        self.seconds = time.perf_counter() - began
        self.expected = found_in(self.at(path))

    def wrong(self, path: Place, since: int = 0) -> str | None:
        found = found_in(self.at(path))
        return None if found == self.expected else f"it found {found[:2]}"

    def judge(self, path: Place) -> str | None:
        if wrong := self.wrong(path):
            return f"the search came out wrong: {wrong}"
        code, said = self.call("verify", str(self.at(path)))
        return f"verify ends with {code}: {said}" if code else None


def found_in(place: Place) -> tuple:
    """(lower bound, upper bound, the boards of each of the last layers) of a search."""
    proof = CosetRun.open(place).proof
    layers = [
        (depth, sorted(position.board for position in positions))
        for depth, positions in proof.last_layers()
    ]
    return proof.lower, proof.upper, layers


def damage_searches(campaign: Campaign, case: Search, count: int) -> None:
    """Damage searches that were killed or have ended.

    `verify` must find it, or it must not matter; the search must refuse or come out right.
    """
    choice = campaign.random
    other = case.scratch / "other"
    case.start(other, ("puzzle.metric=multi",)).demand(0)
    for i in range(count):
        path = case.scratch / f"hurt-{i}"
        run = case.start(path)
        if i % 2:
            run.wait(choice.uniform(0.2, 0.9) * case.seconds)
            run.kill()
        run.wait()
        kind = campaign.pick(DAMAGES)
        what = hurt(choice, case.at(path), kind, case.at(other))
        outcome, said = _consequence(case, path) if what else ("survived", "nothing to damage")
        campaign.note(kind, case, outcome, f"{what}: {said}")
        if outcome != "wrong":
            shutil.rmtree(path)


def hurt(choice: random.Random, path: Path, kind: str, other: Path) -> str | None:
    """Damage a file that a search reads again; returns which, None if there is none such."""
    names = "run.json", "ledger.json", "summary.json", "tables/*.npy", "tables/*.json"
    files = sorted(file for name in names for file in path.glob(name))
    if not files:
        return None
    file = choice.choice(files)
    data, said = file.read_bytes(), str(file.relative_to(path))
    at = choice.randrange(min(len(data), 200) if choice.random() < 0.5 else len(data))
    if kind == "turn a bit":
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :])
        return f"{said}, byte {at} of {len(data)}"
    if kind == "cut":
        file.write_bytes(data[:at])
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "lengthen":
        file.write_bytes(data + data[: at + 1])
    elif kind == "delete":
        file.unlink()
    elif kind == "fifo":
        file.unlink()
        os.mkfifo(file)
    elif kind == "another search's":
        theirs = other / said
        if not theirs.exists() or theirs.read_bytes() == data:
            return None
        shutil.copyfile(theirs, file)
    else:
        friends = [f for f in files if f.suffix == file.suffix and f.read_bytes() != data]
        if not friends:
            return None
        friend = choice.choice(friends)
        file.write_bytes(friend.read_bytes())
        friend.write_bytes(data)
        return f"{said} and {friend.relative_to(path)}"
    return said


def _consequence(case: Search, path: Path) -> tuple[str, str]:
    """What comes of damage: (detected, survived or wrong; what was said)."""
    code, said = case.call("verify", str(case.at(path)), "--deep")
    if code not in (0, 2, 4):
        return "wrong", f"verify ends with {code}: {said}"
    resumed = case.start(path)
    if resumed.wait() not in (0, 2, 4) or "Traceback" in resumed.said:
        return "wrong", f"gods-number ends with {resumed.code}: {resumed.said}"
    if resumed.code:  # `verify` must have found what stops the search
        return ("detected" if code else "wrong"), f"verify {code}, gods-number {resumed.code}"
    try:
        wrong = case.wrong(path)
    except CorruptRunError as error:
        wrong = str(error)
    return ("wrong", f"verify {code}: {wrong}") if wrong else ("survived", f"verify {code}")
