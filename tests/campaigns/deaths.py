"""Processes that die, stall or are left over, for `faults.py`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil

from frontier.storage.places import storage_at
from tests.campaigns.trials import Campaign, Case, Run

ALONE = ("kill driver", "kill in a layer", "terminate", "hold driver")
DEATHS = (*ALONE, "kill worker", "kill all", "hold worker", "orphans", "zombie", "zombie, fresh")
RESUMABLE = (3, -signal.SIGKILL)
"""How a driver ends that was asked to stop, lost its workers, or was killed."""


def deaths(campaign: Campaign, case: Case, count: int, longest_hold: float) -> None:
    """Disturb runs until so many faults were injected; each run is resumed until it is complete."""
    choice, number, fresh = campaign.random, 0, ()
    kinds = ALONE if case.forks else DEATHS[:-1] if case.begun else DEATHS  # as it would begin anew
    if not case.counts:  # a search for God's number has no layers
        kinds = [kind for kind in kinds if kind != "kill in a layer"]
    path, pending, left = case.scratch / "mortal-0", [], Left()
    case.begin(path)
    while count or pending:
        process = case.start(path, options=fresh)
        fresh = ()
        if count:
            kind = campaign.pick(kinds)
            if kind == "kill in a layer":
                in_a_layer(campaign, case, path, process)
            else:
                process.wait(choice.uniform(0, case.seconds))
            if process.code is None and strike(campaign, process, kind, longest_hold, left):
                pending.append(kind)
                count -= 1
                fresh = ("--fresh", "--yes") if kind == "zombie, fresh" else ()
        left.wake(choice.uniform(0, case.seconds), process)
        process.wait()
        if process.code in RESUMABLE:
            if not left.members:
                kill_all(process)
            continue
        if process.code == -signal.SIGTERM and holder(case.at(path)) != process.pid:
            continue  # asked to stop before it had the run, or when it had given it back
        left.wake(0)
        left.end()
        wrong = (
            case.judge(path)
            if process.code == 0
            else f"run ends with {process.code}: {process.said}"
        )
        for kind in pending or ([] if wrong is None else ["nothing"]):
            campaign.note(kind, case, "survived" if wrong is None else "wrong", wrong or "")
        if wrong is None:
            shutil.rmtree(path)
        number, pending = number + 1, []
        path = case.scratch / f"mortal-{number}"
        if count:
            case.begin(path)


class Left:
    """Workers that outlive their driver."""

    def __init__(self):
        self.members: list[psutil.Process] = []
        self._stopped: list[psutil.Process] = []

    def add(self, workers: list[psutil.Process], stopped: list[psutil.Process]) -> None:
        self.members += workers
        self._stopped += stopped

    def wake(self, seconds: float, process: Run | None = None) -> None:
        """Let the stalled ones go on after a while, or when the process has ended."""
        if self._stopped:
            if process is not None:
                process.wait(seconds)
            for worker in self._stopped:
                if worker.is_running():
                    worker.resume()
            self._stopped = []

    def end(self) -> None:
        """Wait for them to end, as they must when they have lost their scheduler, or end them."""
        _, alive = psutil.wait_procs(self.members, timeout=5)
        for worker in alive:
            worker.kill()
        psutil.wait_procs(alive)
        self.members = []


def in_a_layer(campaign: Campaign, case: Case, path: Path, process: Run) -> None:
    """Wait until parts of a layer are there, of which others are not."""
    depth = campaign.random.randrange(len(case.counts) // 4, len(case.counts) - 2)
    while process.code is None:
        done = len(ledger(path))
        if done >= depth and list(path.glob(f"layers/*/{done:04d}")):
            time.sleep(campaign.random.uniform(0, case.seconds / len(case.counts)))
            return
        time.sleep(0.001)


def ledger(path: Path) -> list[dict]:
    """The committed layers."""
    try:
        return json.loads((path / "ledger.json").read_text())["layers"]
    except FileNotFoundError:
        return []


def holder(path: Path) -> int | None:
    """The process that holds a run, or has died holding it."""
    try:
        return json.loads((path / "lock").read_text())["process"]
    except (FileNotFoundError, ValueError):
        return None


def strike(campaign: Campaign, process: Run, kind: str, longest_hold: float, left: Left) -> bool:
    """Do it; returns whether there was anybody to do it to."""
    try:
        driver = psutil.Process(process.pid)
        workers = [p for p in driver.children(recursive=True) if p.num_threads() > 1]
        if not workers and (kind.endswith("worker") or kind.startswith(("zombie", "orphans"))):
            return False
        if kind.startswith("hold"):
            victim = driver if kind == "hold driver" else campaign.random.choice(workers)
            victim.suspend()
            time.sleep(campaign.random.uniform(0.1, longest_hold))
            victim.resume()
        elif kind == "terminate":
            driver.terminate()
        elif kind == "kill worker":
            campaign.random.choice(workers).kill()
        elif kind == "orphans":
            left.add(workers, [])
            driver.kill()
        elif kind.startswith("zombie"):
            stalled = campaign.random.choice(workers)
            stalled.suspend()
            left.add(workers, [stalled])
            driver.kill()
        else:
            for victim in [driver] if kind == "kill driver" else [driver, *workers]:
                victim.kill()
    except psutil.NoSuchProcess:
        return False
    return True


def kill_all(process: Run) -> None:
    """Kill a driver and what a killed one has left of its group; a cluster would do that too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def full_disks(campaign: Campaign, case: Case, count: int) -> None:
    """Run on file systems that are too small, then make room and go on. Only as root."""
    if case.counts:
        stored = [layer["bytes"] for layer in ledger(case.scratch / "undisturbed")]
        needed = max(map(sum, pairwise(stored)))
    else:  # a search for God's number deletes nothing
        needed = storage_at(case.scratch / "undisturbed").size()
    most = 1_200_000 + int(1.5 * needed)
    for _ in range(count):
        place = case.scratch / "small"
        place.mkdir(exist_ok=True)
        kilobytes = campaign.random.randrange(100, most // 1000)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        if subprocess.run(mount, capture_output=True).returncode:
            print("full disk: a tmpfs cannot be mounted here, left out", file=sys.stderr)
            return
        try:
            codes, wrong, allowed = [], None, (0, 2, 3)
            for size in (f"{kilobytes}k", "2g"):
                options = ["mount", "-o", f"remount,size={size}", str(place)]
                subprocess.run(options, check=True, capture_output=True)
                process = case.start(place / "run")
                codes.append(process.wait())
                kill_all(process)
                wrong = wrong or (None if codes[-1] in allowed else process.said)
                allowed = (0,)
            wrong = wrong or case.judge(place / "run")
            what = f"{kilobytes} kB: exit codes {codes} {wrong or ''}"
            campaign.note("full disk", case, "wrong" if wrong else "survived", what)
        finally:
            subprocess.run(["umount", str(place)], check=True)
