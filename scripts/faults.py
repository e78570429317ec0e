"""A campaign of faults: whatever dies or is damaged, a run must never say anything wrong.

    python scripts/faults.py --faults 200 --seed 1 --json faults.json

Each trial disturbs one run at a random moment, then goes on as a user would, until the run is
complete or the program says that it cannot be. Its layer counts and its last layers, byte for byte,
are compared with those of a run that nobody disturbed.

Deaths: the process that drives, one worker or all of them are killed (SIGKILL), asked to stop
(SIGTERM) or held for a while (SIGSTOP, SIGCONT).
Damage, done to a run that was stopped half-way: a bit is turned, a file cut, emptied, lengthened,
deleted or exchanged with another; a manifest or a ledger is edited, with and without a new digest.
`verify` must find it, `run` must refuse or come out right, `repair` must mend it or say that it
cannot.
Full disk: the run directory lies on a file system that is too small (a tmpfs, so only as root).

Of each kind it prints how many faults were injected, how many of them were detected (said, with
exit code 4), survived (the run came out right in the end), and how many results were wrong. The
exit code is 1 if any was.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from click.testing import CliRunner

from frontier.cli import main as command
from frontier.store.files import read_sealed, write_sealed
from frontier.store.run import RunStore

ROOT = Path(__file__).resolve().parents[1]
CASES = {
    "2x5": ("2x5", ["search.in_memory=false"]),
    "2x6": ("2x6", []),
    "2x6 by tasks": ("2x6", ["search.in_memory=false"]),
    "goat": ("goat", []),
    "goat by tasks": ("goat", ["search.in_memory=false"]),
}
"""A config of configs/, and settings."""

DEATHS = ("kill driver", "kill worker", "kill all", "terminate", "hold driver", "hold worker")
DAMAGES = (
    "turn a bit", "cut", "empty", "lengthen", "delete", "exchange", "edit", "edit and seal",
)  # fmt: skip
RESUMABLE = (3, -signal.SIGKILL)
"""How a driver ends that was asked to stop, lost its workers, or was killed."""


@dataclass
class Case:
    """A run to disturb. expected: counts and last layers of an undisturbed run, seconds it took."""

    name: str
    config: Path
    settings: list[str]
    scratch: Path
    expected: tuple = ()
    seconds: float = 0.0

    def arguments(self, path: Path, *more: str) -> list[str]:
        settings = [f"store.path={json.dumps(str(path))}", *self.settings, *more]
        return ["run", str(self.config), *(w for s in settings for w in ("--set", s))]

    def start(self, path: Path, *more: str) -> subprocess.Popen:
        words = [sys.executable, "-m", "frontier", *self.arguments(path, *more)]
        return subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    def prepare(self) -> None:
        """Run undisturbed."""
        began = time.perf_counter()
        process = self.start(self.scratch / "undisturbed")
        _, said = process.communicate()
        if process.returncode:
            sys.exit(f"faults: {self.name} fails without any fault:\n{said}")
        self.seconds = time.perf_counter() - began
        self.expected = result_of(self.scratch / "undisturbed")


def result_of(path: Path) -> tuple:
    """Layer counts, and the last two layers byte for byte, of a complete run."""
    ledger = json.loads((path / "ledger.json").read_text())
    counts = tuple(layer["states"] for layer in ledger["layers"])
    last = {}
    for depth in range(len(counts) - 2, len(counts)):
        for file in sorted((path / "layers" / f"{depth:04d}").glob("c.*")):
            last[f"{depth}/{file.name}"] = file.read_bytes()
    return ledger["complete"], counts, last


class Campaign:
    """Counts what comes of faults, by kind."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.kinds: dict[str, Counter] = {}
        self.wrong: list[str] = []

    def note(self, kind: str, case: Case, outcome: str, what: str = "") -> None:
        row = self.kinds.setdefault(kind, Counter())
        row["injected"] += 1
        row[outcome] += 1
        if outcome == "wrong":
            self.wrong.append(f"{kind}, {case.name}: {what}")
        print(f"{kind:18}{case.name:16}{outcome:10}{what}", file=sys.stderr, flush=True)

    def table(self) -> str:
        columns = ("injected", "detected", "survived", "wrong")
        lines = [f"{'fault':18}" + "".join(f"{name:>10}" for name in columns)]
        rows = [*self.kinds.items(), ("all", sum(self.kinds.values(), Counter()))]
        lines += [f"{k:18}" + "".join(f"{row[name]:10}" for name in columns) for k, row in rows]
        return "\n".join(lines)


def deaths(campaign: Campaign, case: Case, count: int, longest_hold: float) -> None:
    """Disturb runs until so many faults were injected; each run is resumed until it is complete."""
    path, pending = case.scratch / "mortal", []
    while count or pending:
        process = case.start(path)
        if count:
            time.sleep(campaign.random.uniform(0, case.seconds))
            kind = campaign.random.choice(DEATHS)
            if process.poll() is None and strike(campaign, process, kind, longest_hold):
                pending.append(kind)
                count -= 1
        _, said = process.communicate()
        _reap(process)
        wrong = None
        if process.returncode == 0:
            verified, words = _call("verify", str(path))
            if result_of(path) != case.expected:
                wrong = "run came out wrong"
            elif verified:
                wrong = f"verify ends with {verified}: {words}"
        elif process.returncode in RESUMABLE:
            continue
        elif process.returncode == -signal.SIGTERM and holder(path) != process.pid:
            continue  # asked to stop before it had the run, or when it had given it back
        else:
            wrong = f"run ends with {process.returncode}: {said.strip()[-200:]}"
        for kind in pending or ([] if wrong is None else ["nothing"]):
            campaign.note(kind, case, "survived" if wrong is None else "wrong", wrong or "")
        pending = []
        shutil.rmtree(path)


def holder(path: Path) -> int | None:
    """The process that holds a run, or has died holding it."""
    try:
        return json.loads((path / "lock").read_text())["process"]
    except (FileNotFoundError, ValueError):
        return None


def strike(campaign: Campaign, process: subprocess.Popen, kind: str, longest_hold: float) -> bool:
    """Do it; returns whether there was anybody to do it to."""
    try:
        driver = psutil.Process(process.pid)
        workers = [p for p in driver.children(recursive=True) if p.num_threads() > 1]
        victims = [driver] if kind in ("kill driver", "terminate", "hold driver") else workers
        if kind == "kill all":
            victims = [driver, *workers]
        elif kind.endswith("worker"):
            victims = [campaign.random.choice(workers)] if workers else []
        if not victims:
            return False
        if kind.startswith("hold"):
            for victim in victims:
                victim.suspend()
            time.sleep(campaign.random.uniform(0.1, longest_hold))
            for victim in victims:
                victim.resume()
            return True
        for victim in victims:
            victim.send_signal(signal.SIGTERM if kind == "terminate" else signal.SIGKILL)
    except psutil.NoSuchProcess:
        return False
    return True


def _reap(process: subprocess.Popen) -> None:
    """Kill what a killed driver has left of its group; a cluster would do that too, in time."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def damage(campaign: Campaign, case: Case, count: int) -> None:
    """Damage runs that were stopped after a layer, or killed in one, and of which some keep more
    than they need."""
    layers = len(case.expected[1])
    kept = ([], ["search.spare=2"], ["search.keep=all"])
    for i in range(count):
        more, path, damaged = kept[i % len(kept)], case.scratch / f"half-{i}", case.scratch / "hurt"
        until = campaign.random.randrange(3, layers - 2)
        if i % 2 or not _killed(campaign, case, path, more):
            code, said = _call(*case.arguments(path, *more), "--until", str(until))
            if code:
                sys.exit(f"faults: {case.name} did not get to depth {until}: {said}")
        shutil.copytree(path, damaged)
        kind = campaign.random.choice(DAMAGES)
        what = hurt(campaign.random, damaged, kind)
        outcome, said = _consequence(case, damaged, more)
        campaign.note(kind, case, outcome, f"{what}: {said}")
        shutil.rmtree(path)
        shutil.rmtree(damaged)


def _killed(campaign: Campaign, case: Case, path: Path, more: list[str]) -> bool:
    """Kill a run at a random moment; returns whether it had begun and had not yet ended."""
    process = case.start(path, *more)
    time.sleep(campaign.random.uniform(0.3, 0.9) * case.seconds)
    begun = process.poll() is None and (path / "ledger.json").exists()
    _reap(process)
    process.communicate()
    if not begun or not json.loads((path / "ledger.json").read_text())["layers"]:
        shutil.rmtree(path, ignore_errors=True)
        return False
    return True


def relied_on(path: Path) -> list[Path]:
    """The files of a run that are read again, by the search or by people; not what a killed
    process has left, which is swept away."""
    run = RunStore.open(path)
    names = ("run.json", "ledger.json", "summary.json", "layers/zarr.json")
    files = [path / name for name in names if (path / name).exists()]
    for depth in run.stored_depths():
        files += [run.manifest_path(depth), *run.layer_path(depth).iterdir()]
    under_way = len(run.records)
    for task in run.wip_path(under_way).glob("*.json"):
        chunks = read_sealed(task)["chunks"]
        files += [task, *(run.layer_path(under_way) / key for key in chunks)]
    return sorted(files)


def hurt(choice: random.Random, path: Path, kind: str) -> str:
    """Damage a file of a run that the search reads; returns which."""
    files = relied_on(path)
    if kind.startswith("edit"):
        files = [f for f in files if f.name == "ledger.json" or f.parent.name == "manifests"]
    file = choice.choice(files)
    data, said = file.read_bytes(), file.relative_to(path)
    at = choice.randrange(len(data))
    if kind == "turn a bit":
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :])
    elif kind == "cut":
        file.write_bytes(data[:at])
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "lengthen":
        file.write_bytes(data + data[: at + 1])
    elif kind == "delete":
        file.unlink()
    elif kind == "exchange":
        other = choice.choice([f for f in files if f.read_bytes() != data])
        file.write_bytes(other.read_bytes())
        other.write_bytes(data)
        return f"{said} and {other.relative_to(path)}"
    else:
        value = json.loads(data)
        if file.name == "ledger.json":
            choice.choice(value["layers"])["states"] += 1
        else:
            choice.choice(list(value["chunks"].values()))[0] += 1
        if kind == "edit and seal":
            del value["digest"]
            write_sealed(file, value)
        else:
            file.write_text(json.dumps(value))
    return str(said)


def _consequence(case: Case, path: Path, more: list[str]) -> tuple[str, str]:
    """What comes of damage: (detected, survived or wrong; what was said)."""
    verified, said = _call("verify", str(path), "--deep", "--states", "50")
    if verified != 4:
        return "wrong", f"verify ends with {verified}: {said}"
    copy = path.with_name("again")
    shutil.copytree(path, copy)
    try:
        resumed, words = _call(*case.arguments(copy, *more))
        if resumed == 0 and not _is_right(case, copy):
            return "wrong", "run came out wrong"
        if resumed not in (0, 4):
            return "wrong", f"run ends with {resumed}: {words}"
    finally:
        shutil.rmtree(copy)
    repaired, words = _call("repair", str(path), "--yes")
    if repaired == 4:
        return "detected", "cannot be repaired"
    if repaired:
        return "wrong", f"repair ends with {repaired}: {words}"
    after, words = _call(*case.arguments(path, *more))
    if after == 0 and _is_right(case, path):
        return "survived", "repaired"
    return "wrong", f"after repair run ends with {after}: {words}"


def _is_right(case: Case, path: Path) -> bool:
    """Whether it is that of an undisturbed run, byte for byte."""
    return result_of(path) == case.expected


def _call(*arguments: str) -> tuple[int, str]:
    """A command in this process: its exit code, the last of what it said."""
    result = CliRunner().invoke(command, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        return -1, repr(result.exception)
    return result.exit_code, result.output.strip()[-300:]


def full_disks(campaign: Campaign, case: Case, count: int) -> None:
    """Run on file systems that are too small, then make room and go on."""
    most = sum(f.stat().st_size for f in (case.scratch / "undisturbed").rglob("*") if f.is_file())
    for _ in range(count):
        place = case.scratch / "small"
        place.mkdir(exist_ok=True)
        kilobytes = campaign.random.randrange(100, 100 + max(200, most // 1000 + 20_000))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        if subprocess.run(mount, capture_output=True).returncode:
            print("full disk: a tmpfs cannot be mounted here, left out", file=sys.stderr)
            return
        try:
            codes = []
            for size in (f"{kilobytes}k", "2g"):
                options = ["mount", "-o", f"remount,size={size}", str(place)]
                subprocess.run(options, check=True, capture_output=True)
                process = case.start(place / "run")
                _, said = process.communicate()
                codes.append(process.returncode)
                _reap(process)
            if codes[0] not in (0, 2, 3) or codes[1] or result_of(place / "run") != case.expected:
                campaign.note("full disk", case, "wrong", f"exit codes {codes}: {said[-200:]}")
            else:
                campaign.note("full disk", case, "survived", f"{kilobytes} kB: codes {codes}")
        finally:
            subprocess.run(["umount", str(place)], check=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--faults", type=int, default=200, metavar="N", help="in all; default: 200")
    add("--seed", type=int, default=1)
    add("--hold", type=float, default=60.0, metavar="SECONDS", help="the longest one; default: 60")
    add("--case", action="append", choices=list(CASES), help="default: all but 2x5")
    add("--scratch", metavar="DIR", help="where run directories go; default: the system's")
    add("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    names = options.case or [name for name in CASES if name != "2x5"]
    campaign = Campaign(options.seed)
    with tempfile.TemporaryDirectory(prefix="faults-", dir=options.scratch) as scratch:
        for i, name in enumerate(names):
            share = options.faults // len(names) + (i < options.faults % len(names))
            config, settings = CASES[name]
            case = Case(name, ROOT / "configs" / f"{config}.toml", settings, Path(scratch) / name)
            case.scratch.mkdir()
            case.prepare()
            full = share // 10
            damage(campaign, case, share // 2)
            deaths(campaign, case, share - share // 2 - full, options.hold)
            full_disks(campaign, case, full)
    print(campaign.table())
    if options.json:
        Path(options.json).write_text(json.dumps(campaign.kinds, indent=1) + "\n")
    if campaign.wrong:
        sys.exit("\n".join(["wrong:", *campaign.wrong]))


if __name__ == "__main__":
    main()
