"""Runs on a real queue of this machine, or on hosts that ssh reaches, which slurm-here, sge-here or
ssh-here starts.

    python3 tests/campaigns/real_queues.py slurm
    python3 tests/campaigns/real_queues.py sge
    python3 tests/campaigns/real_queues.py ssh

* 2×6 inside one allocation, by jobs/slurm-runner.sh; Slurm alone has such.
* 2×5 from here, each worker a job.
* 2×6 by a script of jobs/, driver and workers jobs of their own. On the way the driver is told that
  its walltime is near, so it is requeued, and the job of a worker is cancelled; on SGE, until
  another has taken its place. Then the driver is cancelled, which SGE does with KILL. What is
  submitted again goes on from there, or, on SGE, is ended here.
* 2×6 by jobs/ssh.sh on two hosts, one of which is lost half-way.

Every layer is compared with that of a run in this process. It ends with "N passed, N failed".
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
KNOWN = {"2x5": (55, 1_814_400), "2x6": (80, 239_500_800)}
TASKS = ("search.in_memory=false", "cluster.options.interface=lo", "cluster.memory=600MB")
RUNNER = ("cluster.kind=slurm-runner", *TASKS)
SLOW = "store.codec=zstd:5"
"""Gives time to disturb a run."""


@dataclass
class Queue:
    """The words by which a queue is asked for something.

    submitting: they print the number of the job alone. listing: the first words of the lines that
    they print are the numbers of jobs, but for `titles` lines.
    """

    kind: str
    submitting: tuple[str, ...]
    listing: tuple[str, ...]
    titles: int
    cancelling: str

    @property
    def settings(self) -> tuple[str, ...]:
        return f"cluster.kind={self.kind}", "cluster.workers=2", *TASKS

    def submit(self, script: str, path: Path, settings: tuple[str, ...], *options: str) -> str:
        """Submit a script of jobs/ for a run of 2×6; returns the number of its job."""
        environment = {
            **os.environ,
            "CONFIG": str(HERE / "configs" / "2x6.toml"),
            "VENV": sys.prefix,
            "SETTINGS": " ".join((*settings, f"store.path={path}")),
        }
        command = [*self.submitting, *options, HERE / "jobs" / script]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        print(f"   job {done.stdout.strip()}: {script}", flush=True)
        return done.stdout.strip()

    def jobs(self) -> list[str]:
        """The jobs that wait or run."""
        done = subprocess.run(self.listing, check=True, capture_output=True, text=True)
        return [line.split()[0] for line in done.stdout.splitlines()[self.titles :]]

    def cancel(self, *jobs: str) -> None:
        subprocess.run([self.cancelling, *jobs], check=True, capture_output=True)

    def warn(self, job: str) -> None:
        """Do what the queue does when the walltime of a job is near."""
        if self.kind == "slurm":
            subprocess.run(["scancel", "--batch", "--signal=USR1", job], check=True)
        else:  # which signals all processes of the job
            spool = Path(os.environ["SGE_ROOT"], "spool/execd/localhost/active_jobs")
            os.killpg(int((spool / f"{job}.1" / "job_pid").read_text()), signal.SIGUSR1)

    def wait_for_end(self, job: str) -> None:
        while job in self.jobs():
            time.sleep(0.5)

    def wait_for_depth(self, path: Path, depth: int, job: str) -> None:
        while len(layers(path)) <= depth:
            self.still_there(job)
            time.sleep(0.1)

    def wait_for_start(self, path: Path, job: str, number: int) -> None:
        """Wait until a run is started for the second time, …"""
        while (path / "events.jsonl").read_text().count('"Started"') < number:
            self.still_there(job)
            time.sleep(0.1)
        print(f"   job {job} has started again", flush=True)

    def wait_for_another(self, job: str, known: set[str]) -> None:
        """Wait until there is a job that was not known."""
        while not (new := set(self.jobs()) - known):
            self.still_there(job)
            time.sleep(0.5)
        print(f"   job {min(new)} takes its place", flush=True)

    def still_there(self, job: str) -> None:
        if job not in self.jobs():
            log = "\n".join(file.read_text() for file in Path().glob(f"*{job}*"))
            raise SystemExit(f"job {job} ended too early:\n{log}")


QUEUES = {
    "slurm": Queue(
        "slurm", ("sbatch", "--parsable"), ("squeue", "--noheader", "--format=%i"), 0, "scancel"
    ),
    "sge": Queue("sge", ("qsub", "-terse"), ("qstat",), 2, "qdel"),
}


def main(kind: str) -> int:
    queue = QUEUES.get(kind)
    jobs = "2x5", "each worker a job", workers_as_jobs
    checks = {
        "slurm": [
            ("2x6", "inside one allocation", inside_one_allocation),
            jobs,
            ("2x6", "cancelled half-way and submitted again", cancelled_half_way),
        ],
        "sge": [jobs, ("2x6", "cancelled half-way and ended here", ended_here)],
        "ssh": [("2x6", "on two hosts, one of them lost", on_hosts)],
    }[kind]
    with tempfile.TemporaryDirectory(prefix=f"frontier-{kind}-") as scratch:
        os.chdir(scratch)
        right = [check(queue, *each) for each in checks]
    print(f"{sum(right)} passed, {len(right) - sum(right)} failed")
    return 0 if all(right) else 1


def check(queue: Queue, name: str, title: str, make) -> bool:
    """Make a run and compare it, layer by layer, with one in memory."""
    print(f"== {name}, {title}", flush=True)
    began, path = time.monotonic(), Path(title.replace(" ", "-")).absolute()
    frontier(name, Path(f"expected-{name}"), "cluster.kind=local")
    make(queue, path)
    found, expected = layers(path), layers(Path(f"expected-{name}"))
    depth, states = KNOWN[name]
    right = found == expected and (len(found) - 1, sum(found)) == (depth, states)
    print(
        f"   {'right' if right else f'WRONG: {found}'}: {len(found) - 1} moves, {sum(found):,} "
        f"states, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return right


def inside_one_allocation(queue: Queue, path: Path) -> None:
    queue.wait_for_end(
        queue.submit("slurm-runner.sh", path, RUNNER, "--ntasks=4", "--mem-per-cpu=100M")
    )


def workers_as_jobs(queue: Queue, path: Path) -> None:
    frontier("2x5", path, *queue.settings)


def ended_here(queue: Queue, path: Path) -> None:
    codec = "store.codec=zstd:16"  # slower still
    job = queue.submit("sge.sh", path, (*queue.settings, codec))
    queue.wait_for_depth(path, 30, job)
    print(f"   layer {len(layers(path)) - 1}: the walltime of job {job} is near", flush=True)
    queue.warn(job)
    queue.wait_for_start(path, job, 2)
    queue.wait_for_depth(path, 32, job)
    known = set(queue.jobs())
    worker = max(known, key=int)
    print(f"   layer {len(layers(path)) - 1}: cancelling job {worker}, a worker", flush=True)
    queue.cancel(worker)
    queue.wait_for_another(job, known)
    print(f"   layer {len(layers(path)) - 1}: killing job {job}, the driver", flush=True)
    queue.cancel(*queue.jobs())  # at once, as workers end with their driver
    queue.wait_for_end(job)
    assert len(layers(path)) < len(layers(Path("expected-2x6"))), "it was done before"
    frontier("2x6", path, "cluster.kind=local", codec)


def cancelled_half_way(queue: Queue, path: Path) -> None:
    settings = *queue.settings, SLOW
    job = queue.submit("slurm.sh", path, settings, "--mem=100M")
    queue.wait_for_depth(path, 35, job)
    worker = next(other for other in queue.jobs() if other != job)
    print(f"   layer {len(layers(path)) - 1}: cancelling job {worker}, a worker", flush=True)
    queue.cancel(worker)
    queue.wait_for_depth(path, 40, job)
    print(f"   layer {len(layers(path)) - 1}: the walltime of job {job} is near", flush=True)
    queue.warn(job)
    queue.wait_for_start(path, job, 2)
    queue.wait_for_depth(path, 46, job)
    print(f"   layer {len(layers(path)) - 1}: cancelling job {job}, the driver", flush=True)
    queue.cancel(job)
    queue.wait_for_end(job)
    while queue.jobs():  # workers end with their driver
        time.sleep(0.5)
    assert len(layers(path)) < len(layers(Path("expected-2x6"))), "it was done before"
    print(f"   stopped at layer {len(layers(path)) - 1}; submitting again", flush=True)
    queue.wait_for_end(queue.submit("slurm.sh", path, settings, "--mem=100M"))


def on_hosts(_, path: Path) -> None:
    environment = {
        **os.environ,
        "CONFIG": str(HERE / "configs" / "2x6.toml"),
        "VENV": sys.prefix,
        "SETTINGS": f"search.in_memory=false {SLOW} store.path={path}",
        "WORKERS": "1",
        "INTERFACE": "lo",
        "PORT": "0",
    }
    with open("ssh.log", "w") as log:
        command = ["bash", HERE / "jobs" / "ssh.sh"]
        script = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    while len(layers(path)) <= 33 and script.poll() is None:
        time.sleep(0.1)
    print(f"   layer {len(layers(path)) - 1}: the connection to node2 is lost", flush=True)
    subprocess.run(["pkill", "-P", str(script.pid), "-f", "node2"], check=False)
    if script.wait():
        said = Path("ssh.log").read_text()
        raise SystemExit(f"jobs/ssh.sh ended with {script.returncode}:\n{said}")
    name = f"scheduler-{script.pid}.json"
    while subprocess.run(["pgrep", "-f", name], capture_output=True).returncode == 0:
        time.sleep(0.5)  # workers end with their connection


def frontier(name: str, path: Path, *settings: str) -> None:
    """Run a config here."""
    words = [word for s in (*settings, f"store.path={path}") for word in ("--set", s)]
    command = [sys.executable, "-m", "frontier", "run", HERE / "configs" / f"{name}.toml", *words]
    subprocess.run(command, check=True, capture_output=True)


def layers(path: Path) -> list[int]:
    """The states of each layer that is committed."""
    try:
        ledger = json.loads((path / "ledger.json").read_text())
    except FileNotFoundError:
        return []
    return [layer["tally"]["states"] for layer in ledger["layers"]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
