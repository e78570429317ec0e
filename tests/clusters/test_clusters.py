"""Runs on clusters: schedulers and workers that come, go and never come; sockets; TLS."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import nullcontext
from multiprocessing import spawn
from pathlib import Path
from types import SimpleNamespace

import dask
import psutil
import pytest
from clusters.jobs import group_of
from distributed import Client, LocalCluster, Security, SpecCluster
from making import wait_for_depth

from frontier import api
from frontier.clusters import allocation, executors, local
from frontier.config import Config
from frontier.errors import InputError, Stopped
from frontier.search.events import LayerFinished, RunStarted
from frontier.store.run import RunStore

KNOWN = {4: (36, 20_160), 6: (80, 239_500_800)}


def config_of(path, columns=4, options=(), **cluster):
    options = {"interface": "lo", **dict(options)}
    cluster = {"workers": 2, "memory": "600MB", "options": options, **cluster}
    return Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": columns},
        search={"in_memory": False},
        store={"path": str(path)},
        cluster=cluster,
    )


def assert_right(run, columns):
    assert run.complete
    assert (run.depth, run.states) == KNOWN[columns]


def test_no_allocation(tmp_path, monkeypatch):
    config = config_of(tmp_path / "run", kind="slurm-runner")
    for name in ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="srun"), allocation.allocation(config):
        pass
    for name, value in (("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2"), ("SLURM_JOB_ID", "5")):
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=r"too few tasks \(2\)"), allocation.allocation(config):
        pass
    with pytest.raises(InputError, match="command line"):
        api.run(api.plan(config))


def python(*arguments, **settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "frontier", *map(str, arguments), *words]


CONFIG = Path(__file__).parents[2] / "configs" / "2x6.toml"
TASKS = {"search.in_memory": "false", "store.codec": "zstd:5"}


@pytest.fixture
def certificates(tmp_path):
    """Made by the commands of docs/clusters.md; gives the folder of Dask's settings, as there."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    page = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text(encoding="utf-8")
    part = page.split("## Encryption")[1].split("\n## ")[0]
    shell = re.search(r"```sh\n(.*?)```", part, re.DOTALL)[1]
    settings = re.search(r"```yaml\n(.*?)```", part, re.DOTALL)[1]
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-euc", shell], check=True, env=home, capture_output=True)
    folder = tmp_path / "settings"
    folder.mkdir()
    (folder / "distributed.yaml").write_text(settings.replace("/home/you", str(tmp_path)))
    return folder


@pytest.mark.sweep
def test_an_allocation(tmp_path, certificates):
    """Four tasks of one job, of which the driver is asked to stop half-way, and once more, with
    encryption."""
    path = tmp_path / "run"
    command = python("run", CONFIG, "--json", **TASKS, **{
        "store.path": path, "cluster.kind": "slurm-runner", "cluster.options.interface": "lo",
        "cluster.memory": "600MB",
    })  # fmt: skip
    for start in range(2):
        tasks = [
            subprocess.Popen(
                command,
                env={
                    **os.environ, "SLURM_PROCID": str(number), "SLURM_NTASKS": "4",
                    "SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": str(start),
                    **({"DASK_CONFIG": str(certificates)} if start else {}),
                },
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for number in range(4)
        ]  # fmt: skip
        wait_for_depth(path, 42 if start else 35, tasks[1])
        scheduler = json.loads((tmp_path / f"run.scheduler-17-{start}.json").read_text())
        assert scheduler["address"].startswith("tls://" if start else "tcp://")
        if start == 0:
            for task in tasks:  # as srun hands on a signal
                task.send_signal(signal.SIGTERM)
        said = [task.communicate() for task in tasks]
        assert [task.returncode for task in tasks] == [0, 0 if start else 3, 0, 0], said
    assert json.loads(said[1][0])["depth"] == 80
    assert [out for number, (out, _) in enumerate(said) if number != 1] == [""] * 3
    assert not list(tmp_path.glob("run.*"))


@pytest.mark.sweep
def test_a_scheduler_that_loses_its_workers_for_good(tmp_path):
    with LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        config = config_of(tmp_path / "run", 6, kind="address", patience=2,
                           address=cluster.scheduler_address)  # fmt: skip

        def lose_half_way(event):
            if getattr(event, "depth", 0) >= 30:
                cluster.scale(0)

        with pytest.raises(Stopped, match=r"no worker for 2 s .*tcp://127.0.0.1"):
            api.run(api.plan(config), listeners=[lose_half_way])
        assert not RunStore.open(tmp_path / "run").complete
        cluster.scale(1)
        patient = config.cluster.model_copy(update={"patience": 120})
        config = config.model_copy(update={"cluster": patient})
        assert_right(api.run(api.plan(config)), 6)


@pytest.mark.sweep
def test_a_scheduler_that_dies(tmp_path):
    """The run stops, and goes on with another."""
    for start in range(2):
        scheduler = tmp_path / f"scheduler-{start}.json"
        started = [
            subprocess.Popen([sys.executable, "-m", "dask", *words], stderr=subprocess.DEVNULL)
            for words in (
                ["scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address",
                 "127.0.0.1:0", "--scheduler-file", scheduler],
                ["worker", "--host", "127.0.0.1", "--nthreads", "1", "--scheduler-file", scheduler,
                 "--death-timeout", "20"],
            )
        ]  # fmt: skip
        path = tmp_path / "run"
        driver = subprocess.Popen(
            python("run", CONFIG, "--json", **TASKS, **{
                "store.path": path, "cluster.kind": "scheduler-file",
                "cluster.scheduler_file": scheduler,
            }),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if start == 0:
            wait_for_depth(path, 35, driver)
            started[0].kill()
        out, said = driver.communicate()
        assert driver.returncode == (0 if start else 3), said
        assert "Traceback" not in said
        assert start or said.splitlines()[-1].startswith(
            "frontier: the connection to the scheduler was lost. Nothing is lost; resume with"
        )
        for process in started:
            process.terminate()
            process.wait()
    assert json.loads(out)["depth"] == 80


SCRIPT = """
import sys
from frontier import make_config, plan, run

print("the script runs")
config = make_config(
    "script", {"kind": "tiles", "rows": 2, "columns": 5}, search={"in_memory": False},
    store={"path": sys.argv[1]}, cluster={"workers": 1, "memory": "600MB"},
)
print(run(plan(config)).depth)
"""


def test_a_script_without_a_main_part(tmp_path):
    """Workers do not run it again, as a process that Python spawns would."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    home = {**os.environ, "PYTHONPATH": str(CONFIG.parents[1])}
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, env=home
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["the script runs", "55", ""]


def spawned(name):
    with local._script_left_alone():
        return spawn.get_preparation_data(name)


def test_other_processes_are_prepared_as_ever(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/a/script.py", raising=False)
    assert spawned("Process-1")["init_main_from_path"] == "/a/script.py"
    assert not {key for key in spawned("Dask Worker process (from Nanny)") if "main" in key}


def workers_of(cluster):
    return {nanny.pid for nanny in cluster.workers.values()} - {None}


@pytest.mark.sweep
def test_only_this_run_is_heard(tmp_path):
    """No other user of the host can talk to its scheduler, workers or nannies, whatever they
    speak; nor do their ports for browsers offer anything."""
    security, tried, answers = Security.temporary(), [], set()

    def knock(event):
        if not isinstance(event, RunStarted):
            return
        (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
        addresses = [cluster.scheduler_address]
        addresses += [nanny.address for nanny in cluster.workers.values()]
        addresses += [nanny.worker_address for nanny in cluster.workers.values()]
        tried.extend(addresses)
        for address in addresses:
            for other, place in ((None, address.replace("tls", "tcp")), (security, address)):
                with pytest.raises(OSError, match=r"Timed out|closed|certificate|handshake|alert"):
                    Client(place, security=other, timeout=2)
        known = {int(address.rpartition(":")[2]) for address in addresses}
        for port in {port for _, port in listening()} - known:
            for path in ("info/main/workers.html", "api/v1/retire_workers", "metrics", "status"):
                with pytest.raises(urllib.error.HTTPError) as found:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5)
                answers.add(found.value.code)

    assert_right(api.run(api.plan(config_of(tmp_path / "run")), listeners=[knock]), 4)
    assert len(tried) == 5
    assert answers == {404}


def listening():
    """(address, port) of each place where this process and those it has started listen."""
    me = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in [me, *me.children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }


@pytest.mark.sweep
def test_a_dashboard_is_named_where_there_is_one(tmp_path, monkeypatch):
    """Without Bokeh, Dask's would say that it needs it."""
    named = []

    def note(event):
        if isinstance(event, RunStarted):
            named.append(event.dashboard)

    for found in (False, True):
        monkeypatch.setattr(executors, "has_dashboard", lambda found=found: found)
        path = tmp_path / str(found)
        api.run(api.plan(config_of(path)), until=3, listeners=[note])
    assert named[0] is None
    assert named[1].startswith("http://127.0.0.1:")


@pytest.mark.sweep
def test_workers_hear_no_ctrl_c(tmp_path):
    """Neither the first ones nor one that replaces another."""
    heard = []

    def look(event):
        if isinstance(event, RunStarted):
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            first = workers_of(cluster)
            os.kill(min(first), signal.SIGKILL)
            while len(now := workers_of(cluster)) < 2 or now == first:
                time.sleep(0.05)
            for process in first & now | now - first:
                os.kill(process, signal.SIGINT)
            heard.extend([first, now])

    assert_right(api.run(api.plan(config_of(tmp_path / "run", 6)), listeners=[look]), 6)
    first, now = heard
    assert len(first | now) == 3


def command(path, **settings):
    return subprocess.Popen(
        python("run", CONFIG, **TASKS, **{"store.path": path, **settings}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


MANY = {"cluster.workers": "30", "cluster.memory": "600MB", "cluster.oversubscribe": "true"}
"""More workers than start at once anywhere."""


@pytest.mark.sweep
def test_ctrl_c_while_a_cluster_starts(tmp_path):
    """The first worker's process is there, the last one's not yet ready."""
    run = command(tmp_path / "run", **MANY)
    while len(psutil.Process(run.pid).children()) < 5:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    said = run.communicate()[1]
    assert run.returncode == 3, said
    assert "Traceback" not in said
    assert "resume with" in said
    assert "depth" not in said  # it had not begun
    while any(group_of(process.pid) == run.pid for process in psutil.process_iter()):
        time.sleep(0.05)


@pytest.mark.sweep
@pytest.mark.parametrize("interrupted", [False, True])
def test_workers_that_do_not_end_are_ended(tmp_path, interrupted):
    """Those that hang, here because they are stopped, hold nobody up."""
    hung = set()

    def hang(event):
        if isinstance(event, LayerFinished) and event.depth == KNOWN[4][0]:
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            hung.update(workers_of(cluster))
            for process in hung:
                os.kill(process, signal.SIGSTOP)
            if interrupted:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        api.run(api.plan(config_of(tmp_path / "run")), listeners=[hang])
    assert len(hung) == 2
    assert not any(psutil.pid_exists(process) for process in hung)
    assert_right(api.open_run(tmp_path / "run"), 4)


@pytest.mark.sweep
class Ending:
    """What looks after a worker, whose process is taken away after some looks at it."""

    def __init__(self, process, looks):
        self._process, self._looks = process, looks

    @property
    def pid(self):
        self._looks -= 1
        return self._process.pid if self._looks >= 0 else None


def test_workers_that_end_while_they_are_ended():
    """Dask forgets the process of a worker in another thread, between any two steps."""
    for looks in (0, 1, 2):
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        nannies = [Ending(None, 1), Ending(process, looks)]  # of the first, None has no pid
        local._kill(SimpleNamespace(_created=nannies))
        if looks == 0:
            process.kill()
        assert process.wait() == -signal.SIGKILL
        process.stdin.close()


def test_workers_that_do_not_start(tmp_path):
    config = config_of(tmp_path / "run")
    with (
        dask.config.set({"distributed.worker.preload": ["no_such_module"]}),
        pytest.raises(Stopped, match=r"2 workers did not start .*cluster\.workers"),
    ):
        api.run(api.plan(config))


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["local", "slurm"])
def test_sockets_are_on_the_loopback(tmp_path, queue, kind):
    config = config_of(tmp_path / "run", kind=kind)
    seen = set()
    api.run(api.plan(config), listeners=[lambda event: seen.update(ip for ip, _ in listening())])
    assert seen == {"127.0.0.1"}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["local", "slurm"])
def test_tls(tmp_path, queue, certificates, kind):
    """With Dask's settings as docs/clusters.md has them, all speak TLS, and only TLS is heard."""
    config = config_of(tmp_path / "run", kind=kind)
    heard = []

    def listen(event):
        if isinstance(event, RunStarted):
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            heard.append(cluster.scheduler_address)
            plain = dask.config.set({"distributed.comm.require-encryption": False})
            with plain, pytest.raises(OSError, match=r"Timed out|closed"):
                Client(heard[0].replace("tls://", "tcp://"), timeout=2)

    settings = dask.config.collect([str(certificates)], {})
    with dask.config.set(dask.config.merge(dask.config.config, settings)):
        assert_right(api.run(api.plan(config), listeners=[listen]), 4)
    assert [address.split(":")[0] for address in heard] == ["tls"]
