"""A run on four hosts, one of which is cut off for a while and another dies for good.

    python tests/campaigns/hosts.py

The hosts are network namespaces of this machine, each with an address of its own and a link to a
switch, which is a namespace too: a driver, a scheduler and two workers, which share a directory and
nothing else. It needs root. What happens is printed as it does, and so is what the scheduler
notices; every layer is compared with that of a run in memory. Exit code 77: it cannot run here, for
the reason that is printed.

The connections give up after TIMEOUT seconds. A cut that is shorter goes unnoticed; after a longer
one the worker is lost and ends, others do its tasks, and it is started anew until it can join.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
HOSTS = {"driver": 1, "scheduler": 2, "worker-1": 3, "worker-2": 4}
PREFIX = f"frontier-{os.getpid()}-"
TIMEOUT = 12
SCHEDULER = "tcp://10.77.0.2:8786"
KNOWN = 80, 239_500_800
SETTINGS = {
    "cluster.kind": "address",
    "cluster.address": SCHEDULER,
    "search.in_memory": "false",
    "store.codec": "zstd:12",  # slow, so that there is time for all this
}
NOTICED = re.compile(r"scheduler - (?:INFO|WARNING) - (Register|Remove) worker (?:addr: )?(\S+)")


def main() -> int:
    if reason := why_not():
        print(f"hosts: skipped: {reason}")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of the exit stack
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frontier-hosts-")))
        stack.callback(remove_network)
        make_network()
        found = search_with_faults(scratch)
        expected = scratch / "expected"
        run = [*frontier(expected), "--set", "cluster.kind=local"]
        subprocess.run(run, check=True, capture_output=True)
        right = found == layers(expected) and (len(found) - 1, sum(found)) == KNOWN
    say("right" if right else "WRONG", f"{len(found) - 1} moves, {sum(found):,} states")
    print(f"{int(right)} passed, {int(not right)} failed")
    return int(not right)


def search_with_faults(scratch: Path) -> list[int]:
    """Run 2×6 on the hosts, with faults; returns the states of its layers."""
    path = scratch / "run"
    os.chdir(scratch)
    start("scheduler", dask("scheduler", "--host", "10.77.0.2", "--port", "8786"))
    threading.Thread(target=tell, daemon=True).start()
    for host in ("worker-1", "worker-2"):
        address = f"10.77.0.{HOSTS[host]}"
        worker = dask("worker", SCHEDULER, "--host", address, "--nthreads", "1")
        # a worker ends when it has lost its scheduler
        start(host, ["bash", "-c", 'while true; do "$@"; sleep 1; done', "bash", *worker])
    # cut as for eight threads, so that a layer has many tasks, and workers die within one
    alone = SETTINGS | {
        "cluster.kind": "local",
        "cluster.workers": 8,
        "cluster.oversubscribe": "true",
        "search.in_memory": "true",
    }
    subprocess.run([*frontier(path), *words(alone), "--until", "0"], check=True)
    driver = start("driver", [*frontier(path), *words(SETTINGS)])

    wait_for_layer(path, 33, driver)
    cut("worker-1", TIMEOUT / 2)
    wait_for_layer(path, 36, driver)
    cut("driver", TIMEOUT / 2)
    wait_for_layer(path, 39, driver)
    cut("worker-1", 2.5 * TIMEOUT)
    wait_for_layer(path, 44, driver)
    die("worker-2")
    driver.wait()
    check(driver)
    return layers(path)


def check(driver: subprocess.Popen) -> None:
    """Exit, with what the driver said, if it failed."""
    if driver.returncode:
        said = Path("driver.log").read_text()
        raise SystemExit(f"the driver ended with code {driver.returncode}:\n{said}")


def why_not() -> str | None:
    """Why hosts cannot be made here, None if they can."""
    if os.getuid() != 0:
        return "only root can make network namespaces"
    try:
        tried = subprocess.run(["ip", "netns", "add", PREFIX], capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no ip (Debian has it in iproute2)"
    if tried.returncode:
        return f"network namespaces cannot be made here: {tried.stderr.strip()}"
    ip("netns", "delete", PREFIX)
    return None


def make_network() -> None:
    for host in ("switch", *HOSTS):
        ip("netns", "add", PREFIX + host)
        inside(host, "link", "set", "lo", "up")
    inside("switch", "link", "add", "bridge", "type", "bridge")
    inside("switch", "link", "set", "bridge", "up")
    for host, number in HOSTS.items():
        port = f"port-{number}"
        inside("switch", "link", "add", port, "type", "veth",
               "peer", "name", "eth0", "netns", PREFIX + host)  # fmt: skip
        inside("switch", "link", "set", port, "master", "bridge", "up")
        inside(host, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
        inside(host, "link", "set", "eth0", "up")


def remove_network() -> None:
    for host in (*HOSTS, "switch"):
        kill_all(host)
        subprocess.run(["ip", "netns", "delete", PREFIX + host], check=False, capture_output=True)


def cut(host: str, seconds: float) -> None:
    """Take the link of a host away for so long."""
    say("cut", f"the link of {host}, for {seconds:.0f} s")
    inside("switch", "link", "set", f"port-{HOSTS[host]}", "down")
    time.sleep(seconds)
    inside("switch", "link", "set", f"port-{HOSTS[host]}", "up")
    say("back", f"the link of {host}")


def die(host: str) -> None:
    """End a host: its link first, so that nobody is told."""
    say("dead", f"{host}, for good")
    inside("switch", "link", "set", f"port-{HOSTS[host]}", "down")
    kill_all(host)


def kill_all(host: str) -> None:
    listed = subprocess.run(
        ["ip", "netns", "pids", PREFIX + host], check=False, capture_output=True, text=True
    )
    for pid in listed.stdout.split():
        os.kill(int(pid), signal.SIGKILL)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def inside(host: str, *words: str) -> None:
    ip("-netns", PREFIX + host, *words)


def dask(*words: str) -> list[str]:
    return [sys.executable, "-m", "dask", *words, "--dashboard-address", "127.0.0.1:0"]


def frontier(path: Path) -> list[str]:
    config = HERE / "configs" / "2x6.toml"
    return [sys.executable, "-m", "frontier", "run", config, "--set", f"store.path={path}"]


def words(settings: dict) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def start(host: str, command: list[str]) -> subprocess.Popen:
    """Start a command on a host; what it says goes to a file named after the host."""
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": f"{TIMEOUT}s"}
    words = ["ip", "netns", "exec", PREFIX + host, *command]
    with open(f"{host}.log", "w") as log:
        return subprocess.Popen(words, env=environment, stdout=log, stderr=subprocess.STDOUT)


def tell() -> None:
    """Print which workers the scheduler's log says come and go."""
    with open("scheduler.log") as log:
        while True:
            if noticed := NOTICED.search(log.readline()):
                done = {"Register": "joined", "Remove": "lost"}[noticed[1]]
                say("scheduler", f"{done} {noticed[2]}")
            else:
                time.sleep(0.02)


def wait_for_layer(path: Path, depth: int, driver: subprocess.Popen) -> None:
    while len(layers(path)) <= depth:
        if driver.poll() is not None:
            check(driver)
        time.sleep(0.1)
    say("run", f"layer {depth} is committed")


def layers(path: Path) -> list[int]:
    """The states of each layer that is committed."""
    try:
        ledger = json.loads((path / "ledger.json").read_text())
    except FileNotFoundError:
        return []
    return [layer["tally"]["states"] for layer in ledger["layers"]]


def say(what: str, text: str) -> None:
    print(f"{time.monotonic() - STARTED:6.1f} s  {what:<9}  {text}", flush=True)


STARTED = time.monotonic()

if __name__ == "__main__":
    sys.exit(main())
