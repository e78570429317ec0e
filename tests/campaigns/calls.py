"""Harm at the system calls by which a run changes files, for `faults.py`.

`calls.c` is compiled and preloaded into this process, which forks: the fork runs, and at its n-th
call that changes a file of the run it is killed, or the call fails, or writes half of what it
should. Then the run is resumed, sometimes with harm again, until it is complete.

Reads: such a run is killed, and `verify`, `repair` and `run` go over it. In each of them a call
fails that reads or asks what is there. That may stop the command; nothing may be given up for it.

Zombies: a worker's task stops at such a call, the run goes on without it or is begun anew, and then
the task goes on too.
"""

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from frontier.layers.key_task import expand_keys, ranges
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.task import expand_task
from frontier.puzzles.program_file import digest_of
from frontier.space.key_layout import AnyLayout, KeyLayout
from tests.campaigns.trials import BY_TASKS, HERE, Campaign, Case, Forked, Run

NONE, KILL_BEFORE, KILL_AFTER, KILL_HALF, FAIL, SHORT, FAIL_FROM_HERE, STOP, FAIL_READ = range(9)
"""As in calls.c."""

HARMS = {
    "kill before a call": (KILL_BEFORE, 0),
    "kill after a call": (KILL_AFTER, 0),
    "kill in a write": (KILL_HALF, 0),
    "half a write": (SHORT, 0),
    "EIO": (FAIL, errno.EIO),
    "ENOSPC": (FAIL, errno.ENOSPC),
    "EACCES": (FAIL, errno.EACCES),
    "ESTALE": (FAIL, errno.ESTALE),
    "EDQUOT from here on": (FAIL_FROM_HERE, errno.EDQUOT),
    "EIO from here on": (FAIL_FROM_HERE, errno.EIO),
    "ENOSPC from here on": (FAIL_FROM_HERE, errno.ENOSPC),
    "EROFS from here on": (FAIL_FROM_HERE, errno.EROFS),
}
UNREAD = {
    "EIO at a read": errno.EIO,
    "ESTALE at a read": errno.ESTALE,
    "EPERM at a read": errno.EPERM,
}
AGAIN = 0.3
"""How often harm is done to the resumed run too."""

ZOMBIES = READS = 5
"""One fault of so many is a zombie, and one fails to read."""

TASK_CALLS = 6
"""Of a task: make a file, write, force it to the disk, rename it, force that, give a part up."""


def preload() -> None:
    """Start this program anew with the library in it; exit code 77 if there is no compiler."""
    if "calls.so" in os.environ.get("LD_PRELOAD", ""):
        return
    if not (compiler := shutil.which("cc")):
        print("faults: skipped: there is no C compiler (cc)")
        sys.exit(77)
    library = Path(tempfile.mkdtemp(prefix="faults-")) / "calls.so"
    source = HERE / "calls.c"
    words = [compiler, "-O1", "-Wall", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run(words, check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


class Library:
    """The preloaded library."""

    def __init__(self):
        self._path = os.environ.pop("LD_PRELOAD")  # processes that are started do without
        self._c = ctypes.CDLL(self._path)

    def remove(self) -> None:
        shutil.rmtree(Path(self._path).parent)

    def arm(self, path: Path, number: int, how: int = NONE, error: int = 0) -> None:
        """In this process: do harm at a call, from 1; 0: none."""
        self._c.calls_arm(str(path).encode(), ctypes.c_long(number), how, error)

    def record(self, file: Path) -> None:
        """In this process: add to a file all calls to come, with their data (`powerloss.py`)."""
        self._c.calls_record(str(file).encode())

    @property
    def count(self) -> int:
        """Calls of the process that was armed last."""
        return int(self._c.calls_count(0))

    @property
    def reads(self) -> int:
        """The same of calls that read."""
        return int(self._c.calls_count(1))


def at_calls(campaign: Campaign, library: Library, case: Case, count: int) -> None:
    """Go over so many points of a run, spread evenly over its calls."""
    path = case.scratch / "counted"
    case.start(path, before=lambda: library.arm(path, 0)).demand(0)
    calls, choice = library.count, campaign.random
    print(f"{case.name}: {calls:,} calls change files", file=sys.stderr)
    zombies = count // ZOMBIES if case.forks and "cluster.kind=serial" in case.settings else 0
    # A run in memory stores its layers at the end: it is hardly ever killed between two of them.
    reads = count // READS if BY_TASKS in case.settings or not case.counts else 0
    points = count - zombies - reads
    for i in range(points):
        at = 1 + (i * calls + choice.randrange(calls)) // points
        _harmed(campaign, case, library, case.scratch / f"called-{i}", at, calls)
    for i in range(reads):
        _unread(campaign, case, library, case.scratch / f"unread-{i}", calls)
    for i in range(zombies):
        _zombie(campaign, case, library, case.scratch / f"zombie-{i}", calls)


def _harmed(
    campaign: Campaign, case: Case, library: Library, path: Path, at: int, calls: int
) -> None:
    choice = campaign.random
    kind = campaign.pick(HARMS)
    what, wrong, again = f"call {at}", None, True
    while again and not wrong:
        wrong = _ended(harm(case, library, path, at, *HARMS[kind]))
        if again := choice.random() < AGAIN:
            at = choice.randrange(1, calls)
            what += f", call {at}"
    if not wrong:
        run = case.start(path)
        wrong = case.judge(path) if run.wait() == 0 else f"run ends with {run.code}: {run.said}"
    campaign.judged(kind, case, path, wrong, what)


def harm(case: Case, library: Library, path: Path, at: int, how: int, error: int) -> Run:
    """Run with harm at a call, to the end."""
    run = case.start(path, before=lambda: library.arm(path, at, how, error))
    run.wait()
    return run


def _ended(run: Run) -> str | None:
    """What is wrong with how a harmed run ended."""
    if run.code in (0, 2, 3, -signal.SIGKILL) and "Traceback" not in run.said:
        return None
    return f"harmed, it ends with {run.code}: {run.said}"


def _unread(campaign: Campaign, case: Case, library: Library, path: Path, calls: int) -> None:
    choice = campaign.random
    kind, what, wrong = campaign.pick(UNREAD), "", None
    _killed_half_way(campaign, case, library, path, calls)
    for words in (*case.upkeep(path), case.arguments(path)):
        reads, committed = _reads_of(case, library, path, words), case.committed(path)
        at = choice.randint(1, reads)

        def fails(at=at):
            library.arm(path, at, FAIL_READ, UNREAD[kind])

        command = Forked(words, case.scratch / f"{path.name}.said", case.fine, fails)
        command.wait()
        what += f"{words[0]} at read {at:,} of {reads:,} ends with {command.code}; "
        if command.code not in (0, 3) or "Traceback" in command.said:
            wrong = f"{words[0]} ends with {command.code}: {command.said}"
        elif case.committed(path) < committed:
            wrong = f"{words[0]} gives up what was committed: {command.said}"
        if wrong:
            break
    else:
        run = case.start(path)
        wrong = case.judge(path) if run.wait() == 0 else f"run ends with {run.code}: {run.said}"
    campaign.judged(kind, case, path, wrong, what)


def _reads_of(case: Case, library: Library, path: Path, words: list[str]) -> int:
    """The calls by which a command reads files of a run, of which it gets a copy."""
    copy = path.with_name(f"{path.name}-counted")
    shutil.copytree(path, copy)
    words = [word.replace(str(path), str(copy)) for word in words]
    said = case.scratch / "counted.said"
    Forked(words, said, case.fine, lambda: library.arm(copy, 0)).wait()
    shutil.rmtree(copy)
    return library.reads


def _zombie(campaign: Campaign, case: Case, library: Library, path: Path, calls: int) -> None:
    choice = campaign.random
    kind = campaign.pick(("zombie", "zombie, fresh"))
    run, under_way = _killed_in_a_layer(campaign, case, library, path, calls)
    task = choice.randrange(_tasks(run, under_way))
    done = task in run.parts_under_way(_layout_of(run))
    at = 1 if done else choice.randint(1, TASK_CALLS)
    zombie = _stopped_task(library, run, under_way, task, at)
    what = f"task {task} of layer {under_way} at its call {at}"
    if zombie is None:
        what += ", which it has not"
    fresh = ("--fresh", "--yes") if kind == "zombie, fresh" else ()
    until = under_way + choice.randrange(-3, 3)
    first = case.start(path, options=(*fresh, "--until", str(max(0, until))))
    what += f", until {until}"
    wrong = None if first.wait() == 0 else f"run ends with {first.code}: {first.said}"
    second = case.start(path) if choice.random() < 0.5 else None
    if zombie is not None:
        os.kill(zombie, signal.SIGCONT)
        os.waitpid(zombie, 0)
    for last in (second, case.start(path) if second is None else None):
        if last and not wrong and last.wait():
            wrong = f"run ends with {last.code}: {last.said}"
        elif last:
            last.wait()
    campaign.judged(kind, case, path, wrong or case.judge(path), what)


def _killed_half_way(
    campaign: Campaign, case: Case, library: Library, path: Path, calls: int
) -> None:
    """Kill a run that has committed something and is not complete."""
    while True:
        at = campaign.random.randrange(calls // 10, calls)
        harm(case, library, path, at, KILL_BEFORE, 0)
        if case.half_way(path):
            return
        shutil.rmtree(path)


def _killed_in_a_layer(
    campaign: Campaign, case: Case, library: Library, path: Path, calls: int
) -> tuple[LayerRun, int]:
    """A run that was killed after two layers or more; the depth of the one under way."""
    while True:
        _killed_half_way(campaign, case, library, path, calls)
        run = LayerRun.open(path)
        # A list of keys has no parts yet from which tasks could make the next layer.
        if not isinstance(_layout_of(run), KeyLayout) or run.records[-1].form == "keys":
            return run, len(run.records)
        shutil.rmtree(path)


def _layout_of(run: LayerRun) -> AnyLayout:
    return RunReader(run).layout


def _tasks(run: LayerRun, depth: int) -> int:
    """The number of tasks of the layer under way."""
    layout = _layout_of(run)
    if isinstance(layout, KeyLayout):
        return len(ranges(RunReader(run), depth))
    return len(run.files(depth, layout).tasks)


def _stopped_task(library: Library, run: LayerRun, depth: int, task: int, at: int) -> int | None:
    """A process that does a task and stops before one of its calls; None if it has ended."""
    if not (pid := os.fork()):
        with suppress(BaseException):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            layout = _layout_of(run)
            run.files(depth, layout).begin()
            library.arm(run.path, at, STOP)
            run.durable = True
            if isinstance(layout, KeyLayout):
                trusted = digest_of(run.identity["puzzle"]["text"])
                expand_keys(run.ref, trusted, 1, 1 << 30, depth, task)
            else:
                expand_task(run.ref, True, depth, task)
        os._exit(0)
    _, status = os.waitpid(pid, os.WUNTRACED)
    return pid if os.WIFSTOPPED(status) else None
