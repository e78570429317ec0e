"""Runs on a real Slurm, that scripts/slurm-here starts: jobs/ and cluster.kind = "slurm".

* 2×6 inside one allocation, by jobs/slurm-runner.sh.
* 2×5 from here, each worker a job.
* 2×6 by jobs/slurm.sh, driver and workers jobs of their own. On the way the job of a worker is
  cancelled, the driver is told that its walltime is near, so it is requeued, and then cancelled;
  what is submitted again goes on from there and finishes.

Every layer is compared with that of a run in this process. It ends with "N passed, N failed".
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
KNOWN = {"2x5": (55, 1_814_400), "2x6": (80, 239_500_800)}
TASKS = ("search.in_memory=false", "cluster.options.interface=lo", "cluster.memory=600MB")
QUEUE = ("cluster.kind=slurm", "cluster.workers=2", *TASKS)
RUNNER = ("cluster.kind=slurm-runner", *TASKS)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="frontier-slurm-") as scratch:
        os.chdir(scratch)
        checks = [
            check("2x6", "inside one allocation", inside_one_allocation),
            check("2x5", "each worker a job", workers_as_jobs),
            check("2x6", "cancelled half-way and submitted again", cancelled_half_way),
        ]
    print(f"{sum(checks)} passed, {len(checks) - sum(checks)} failed")
    return 0 if all(checks) else 1


def check(name: str, title: str, make) -> bool:
    """Make a run and compare it, layer by layer, with one in memory."""
    print(f"== {name}, {title}", flush=True)
    began, path = time.monotonic(), Path(title.replace(" ", "-")).absolute()
    frontier(name, Path(f"expected-{name}"), "cluster.kind=local")
    make(path)
    found, expected = layers(path), layers(Path(f"expected-{name}"))
    depth, states = KNOWN[name]
    right = found == expected and (len(found) - 1, sum(found)) == (depth, states)
    print(
        f"   {'right' if right else f'WRONG: {found}'}: {len(found) - 1} moves, {sum(found):,} "
        f"states, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return right


def inside_one_allocation(path: Path) -> None:
    job = submit("slurm-runner.sh", path, RUNNER, "--ntasks=4", "--mem-per-cpu=100M")
    wait_for_end(job)


def workers_as_jobs(path: Path) -> None:
    frontier("2x5", path, *QUEUE)


def cancelled_half_way(path: Path) -> None:
    job = submit("slurm.sh", path, (*QUEUE, "store.codec=zstd:5"), "--mem=100M")
    wait_for_depth(path, 35, job)
    worker = next(other for other in jobs() if other != job)
    print(f"   layer {len(layers(path)) - 1}: cancelling job {worker}, a worker", flush=True)
    subprocess.run(["scancel", worker], check=True)
    wait_for_depth(path, 40, job)
    print(f"   layer {len(layers(path)) - 1}: the walltime of job {job} is near", flush=True)
    subprocess.run(["scancel", "--batch", "--signal=USR1", job], check=True)
    wait_for_start(path, job, 2)
    wait_for_depth(path, 46, job)
    print(f"   layer {len(layers(path)) - 1}: cancelling job {job}, the driver", flush=True)
    subprocess.run(["scancel", job], check=True)
    wait_for_end(job)
    while jobs():  # workers end with their driver
        time.sleep(0.5)
    assert len(layers(path)) < len(layers(Path("expected-2x6"))), "it was done before"
    print(f"   stopped at layer {len(layers(path)) - 1}; submitting again", flush=True)
    wait_for_end(submit("slurm.sh", path, (*QUEUE, "store.codec=zstd:5"), "--mem=100M"))


def frontier(name: str, path: Path, *settings: str) -> None:
    """Run a config here."""
    words = [word for s in (*settings, f"store.path={path}") for word in ("--set", s)]
    command = [sys.executable, "-m", "frontier", "run", HERE / "configs" / f"{name}.toml", *words]
    subprocess.run(command, check=True, capture_output=True)


def submit(script: str, path: Path, settings: tuple[str, ...], *options: str) -> str:
    """Submit a script of jobs/ for a run of 2×6; returns the number of its job."""
    environment = {
        **os.environ,
        "CONFIG": str(HERE / "configs" / "2x6.toml"),
        "VENV": sys.prefix,
        "SETTINGS": " ".join((*settings, f"store.path={path}")),
    }
    command = ["sbatch", "--parsable", *options, HERE / "jobs" / script]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    print(f"   job {done.stdout.strip()}: {script}", flush=True)
    return done.stdout.strip()


def jobs() -> list[str]:
    """The jobs that wait or run."""
    command = ["squeue", "--noheader", "--format=%i"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def wait_for_end(job: str) -> None:
    while job in jobs():
        time.sleep(0.5)


def wait_for_depth(path: Path, depth: int, job: str) -> None:
    while len(layers(path)) <= depth:
        still_there(job)
        time.sleep(0.1)


def wait_for_start(path: Path, job: str, number: int) -> None:
    """Wait until a run is started for the second time, …"""
    while (path / "events.jsonl").read_text().count('"RunStarted"') < number:
        still_there(job)
        time.sleep(0.1)
    print(f"   job {job} has started again", flush=True)


def still_there(job: str) -> None:
    if job not in jobs():
        log = "\n".join(file.read_text() for file in Path().glob(f"*-{job}.log"))
        raise SystemExit(f"job {job} ended too early:\n{log}")


def layers(path: Path) -> list[int]:
    """The states of each layer that is committed."""
    try:
        ledger = json.loads((path / "ledger.json").read_text())
    except FileNotFoundError:
        return []
    return [layer["states"] for layer in ledger["layers"]]


if __name__ == "__main__":
    sys.exit(main())
