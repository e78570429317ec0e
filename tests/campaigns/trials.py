"""Runs that are disturbed, for `faults.py`: how they are started and what must come of them."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from click.testing import CliRunner

from frontier.cli import main as command
from frontier.layers.run import LayerRun
from frontier.storage.places import Place
from tests.support.many_tasks import cut_finely

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BY_TASKS = "search.in_memory=false"


def workers(count: int) -> tuple[str, ...]:
    """Settings of so many, wherever that is."""
    return f"cluster.workers={count}", "cluster.oversubscribe=true"


SERIAL, TWO = (BY_TASKS, "cluster.kind=serial"), (BY_TASKS, *workers(2))
IDENTITY = re.compile(rb'("(?:run|digest)": ")[0-9a-f]+"')
"""What a part's record says of its run, and what follows from that."""


@dataclass
class Case:
    """A run to disturb.

    config: of configs/. fine: layers are cut into many small tasks (`many_tasks`). begun: settings
    of the process that begins the run, whose layout stays. apart: each start of it is a process of
    its own. expected: counts, and what the layers hold, of an undisturbed run, which took so many
    seconds.
    """

    name: str
    config: str
    settings: tuple[str, ...] = ()
    fine: bool = False
    begun: tuple[str, ...] = ()
    apart: bool = False
    scratch: Path = Path()
    counts: list[int] = field(default_factory=list)
    layers: dict[int, dict[str, str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def forks(self) -> bool:
        """Whether a run is one process, which can be forked from this one. That saves start-up."""
        here = BY_TASKS not in self.settings or "cluster.kind=serial" in self.settings
        return here and not self.apart

    def arguments(self, path: Place, *more: str) -> list[str]:
        settings = [f"store.path={json.dumps(str(path))}", *self.settings, *more]
        config = ROOT / "configs" / f"{self.config}.toml"
        return ["run", str(config), *(w for s in settings for w in ("--set", s))]

    def at(self, path: Place) -> Place:
        """The run directory of a trial that has this path."""
        return path

    def committed(self, path: Path) -> int:
        """How much a run has committed: its layers."""
        return len(LayerRun.open(path).records)

    def half_way(self, path: Path) -> bool:
        """Whether a run has committed something and is not complete."""
        return not LayerRun.open(path).complete and self.committed(path) >= 2

    def upkeep(self, path: Path) -> list[list[str]]:
        """The commands that look after a run."""
        return [["verify", str(path)], ["repair", str(path), "--yes"]]

    def begin(self, path: Path, more: tuple[str, ...] = ()) -> None:
        """Begin a run with the settings that begin it, if there are some."""
        if self.begun:
            first = replace(self, settings=self.begun)
            first.start(path, more, ("--until", "0")).demand(0)

    def start(
        self,
        path: Place,
        more: tuple[str, ...] = (),
        options: tuple[str, ...] = (),
        before=None,
        said: str = "said",
    ) -> "Run":
        """Start a run, or go on with one. before: a function that a forked process calls first.
        said: the end of the name of the file that gets what it says."""
        words = [*self.arguments(path, *more), *options]
        said = self.scratch / f"{str(path).rpartition('/')[2]}.{said}"
        return Forked(words, said, self.fine, before) if self.forks else Started(words, said, self)

    def call(self, *arguments: str) -> tuple[int, str]:
        """A command in this process: its exit code, the last of what it said."""
        with cut_finely() if self.fine else nullcontext():
            result = CliRunner().invoke(command, list(arguments))
        if result.exception and not isinstance(result.exception, SystemExit):
            return -1, "".join(traceback.format_exception(result.exception))[-2000:]
        return result.exit_code, result.output.strip()[-300:]

    def prepare(self, scratch: Path) -> None:
        """Run undisturbed: twice, since the first time loads kernels."""
        self.scratch = scratch / re.sub(r"\W+", "-", self.name)
        self.scratch.mkdir()
        if self.forks:
            self.call(*self.arguments(self.scratch / "warm"), "--until", "12")
        path, keep = self.scratch / "undisturbed", ("search.keep=all",) if self.fine else ()
        self.begin(path, keep)
        began = time.perf_counter()
        self.start(path, keep).demand(0)
        self.seconds = time.perf_counter() - began
        self.counts, self.layers = found_in(path)

    def wrong(self, path: Place, since: int = 0) -> str | None:
        """What is wrong with the layers, since some depth, of a run that says it is complete."""
        counts, layers = found_in(path)
        if counts != self.counts:
            return f"the layers hold {counts}"
        if len(counts) - 1 not in layers:
            return "its last layer is not there"
        for depth in sorted(d for d in layers.keys() & self.layers.keys() if d >= since):
            found, right = layers[depth], self.layers[depth]
            same_form = ("c.0" in found) == ("c.0" in right)  # it may have been a list
            if same_form and found != right:
                names = [name for name in found | right if found.get(name) != right.get(name)]
                return f"layer {depth} differs in {', '.join(names[:4])}"
        return None

    def judge(self, path: Place) -> str | None:
        """The same, and whether `verify` finds it sound."""
        if wrong := self.wrong(path):
            return f"run came out wrong: {wrong}"
        code, said = self.call("verify", str(path))
        return f"verify ends with {code}: {said}" if code else None


def found_in(path: Place) -> tuple[list[int], dict[int, dict[str, str]]]:
    """The states of each layer, and digests of the files of those that are stored."""
    run = LayerRun.open(path)
    if not run.complete:
        return [], {}
    stored = {}
    for depth in run.stored_depths():
        folder = run.layer_name(depth)
        stored[depth] = {
            name: _digest(run.storage.read(f"{folder}/{name}")) for name in run.part_names(depth)
        }
    return [record.states for record in run.records], stored


def _digest(content: bytes) -> str:
    return hashlib.sha256(IDENTITY.sub(rb"\1", content)).hexdigest()


class Run:
    """A process that drives a run. code: None while it runs; that of a signal is negative."""

    pid: int

    @property
    def code(self) -> int | None:
        raise NotImplementedError

    def wait(self, seconds: float | None = None) -> int | None:
        raise NotImplementedError

    def __init__(self, said: Path):
        self._said = said

    @property
    def said(self) -> str:
        """The last of what it said."""
        return self._said.read_text(errors="replace").strip()[-2000:]

    def kill(self) -> None:
        """Kill it, and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def demand(self, code: int) -> None:
        """Wait for it to end as it must."""
        if self.wait() != code:
            sys.exit(f"faults: it ends with {self.code}, without any fault:\n{self.said}")


class Forked(Run):
    """A fork of this process."""

    def __init__(self, words: list[str], said: Path, fine: bool, before=None):
        super().__init__(said)
        target = _in_child, (words, str(said), fine, before)
        self._process = get_context("fork").Process(target=target[0], args=target[1])
        self._process.start()
        self.pid = self._process.pid

    @property
    def code(self) -> int | None:
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int | None:
        self._process.join(seconds)
        return self.code


def _in_child(words: list[str], said: str, fine: bool, before) -> None:
    os.setsid()
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for number in (1, 2):
        os.dup2(file, number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with cut_finely() if fine else nullcontext():
        if before:
            before()
        command(words)


class Started(Run):
    """A process with workers of its own."""

    def __init__(self, words: list[str], said: Path, case: Case):
        super().__init__(said)
        program = (
            [str(ROOT / "tests" / "support" / "many_tasks.py")] if case.fine else ["-m", "frontier"]
        )
        with said.open("w") as file:
            self._process = subprocess.Popen(
                [sys.executable, *program, *words], stdout=file, stderr=file,
                start_new_session=True,
            )  # fmt: skip
        self.pid = self._process.pid

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def wait(self, seconds: float | None = None) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.code


class Campaign:
    """Counts what comes of faults, by kind."""

    def __init__(self, seed: int, only: list[str] | None = None):
        """only: the kinds of faults that are injected; None for all."""
        self.random, self._only = random.Random(seed), only
        self.kinds: dict[str, Counter] = {}
        self.wrong: list[str] = []
        self._began = time.perf_counter()

    def pick(self, kinds: Iterable[str]) -> str:
        """One of some kinds of faults."""
        kinds = list(kinds)
        return self.random.choice([k for k in kinds if not self._only or k in self._only] or kinds)

    def note(self, kind: str, case: Case, outcome: str, what: str = "", count: int = 1) -> None:
        """Note so many faults of a kind and what came of them."""
        row = self.kinds.setdefault(kind, Counter())
        row["injected"] += count
        row[outcome] += count
        if outcome == "wrong":
            self.wrong.append(f"{kind}, {case.name}: {what}")
        now = time.perf_counter()
        taken, self._began = now - self._began, now
        print(f"{kind:28}{case.name:24}{outcome:10}{taken:6.1f} s  {what}", file=sys.stderr)
        sys.stderr.flush()

    def judged(self, kind: str, case: Case, path: Path, wrong: str | None, what: str) -> None:
        """Note a run that went on after a fault. One that came out wrong is kept."""
        outcome = "survived" if wrong is None else "wrong"
        self.note(kind, case, outcome, what if wrong is None else f"{what}: {wrong}")
        if wrong is None:
            shutil.rmtree(path)

    def table(self) -> str:
        columns = ("injected", "detected", "survived", "wrong")
        lines = [f"{'fault':28}" + "".join(f"{name:>10}" for name in columns)]
        rows = [*self.kinds.items(), ("all", sum(self.kinds.values(), Counter()))]
        lines += [f"{k:28}" + "".join(f"{row[name]:10}" for name in columns) for k, row in rows]
        return "\n".join(lines)
