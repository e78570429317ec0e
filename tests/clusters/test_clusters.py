"""Runs on clusters of every kind: workers that come, go and never come; sockets; TLS.

The queues are stood in for by `queue_command.py`; a real Slurm is in scripts/slurm_test.py.
"""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import nullcontext
from multiprocessing import spawn
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client, LocalCluster, Security, SpecCluster
from making import wait_for_depth
from sweeps import swept

from frontier import api
from frontier.clusters import allocation, executors, kinds, local, queues
from frontier.config import QUEUES, Config
from frontier.errors import InputError, Stopped
from frontier.search.events import LayerFinished, RunStarted
from frontier.store.run import RunStore

KNOWN = {4: (36, 20_160), 6: (80, 239_500_800)}
COMMANDS = {
    "slurm": ("sbatch", "scancel"),
    "pbs": ("qsub", "qdel"),
    "lsf": ("bsub", "bkill"),
    "sge": ("qsub", "qdel"),
    "oar": ("oarsub", "oardel"),
    "htcondor": ("condor_submit", "condor_rm"),
}


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


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A queue of every kind; gives the folder of what was submitted, a file named by each job."""
    bin, log = tmp_path / "bin", tmp_path / "log"
    bin.mkdir()
    log.mkdir()
    program = Path(__file__).with_name("queue_command.py").read_text()
    for name in {name for pair in COMMANDS.values() for name in pair}:
        file = bin / name
        file.write_text(f"#!{sys.executable}\n{program}")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{bin}:{os.environ['PATH']}")
    monkeypatch.setenv("QUEUE_LOG", str(log))
    queues.import_jobqueue("any")  # its settings are there from then on
    with dask.config.set({"jobqueue.lsf.use-stdin": True}):
        yield log
    for job in log.iterdir():
        for process in members_of(int(job.name)):
            process.kill()


def members_of(job):
    """The processes of a job that are left."""
    return [process for process in psutil.process_iter() if group_of(process.pid) == job]


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


@swept("kind", QUEUES, few=1)
def test_each_queue(tmp_path, queue, kind):
    """Two jobs run the tasks and are cancelled at the end."""
    named = {
        "queue": "long",
        "account" if kind in ("slurm", "pbs") else "project": "chess",
        "walltime": "01:00" if kind == "lsf" else "01:00:00",
    }
    named = {} if kind == "htcondor" else named
    config = config_of(tmp_path / "run", kind=kind, options=named)
    assert_right(api.run(api.plan(config)), 4)
    jobs = list(queue.iterdir())
    assert len(jobs) == 2
    text = jobs[0].read_text()
    assert "dask_worker" in text
    lifetime = "--lifetime 3000s --lifetime-stagger 300s"
    assert (lifetime in text) == ("--lifetime" in text) == (kind != "htcondor")
    for value in named.values():
        assert value in text
    while any(members_of(int(job.name)) for job in jobs):  # they end on their own time
        time.sleep(0.1)


@pytest.mark.parametrize("kind", QUEUES)
def test_what_a_job_asks_for(queue, kind):
    directive = {"name": "value"} if kind == "htcondor" else ["--name value"]
    options = {"processes": 4, "job_extra_directives": directive}
    if kind != "htcondor":
        options["walltime"] = "02:30" if kind == "lsf" else "02:30:00"
    config = config_of("run", kind=kind, workers=10, memory="750MB", options=options).cluster
    assert queues.jobs_of(config) == 3
    with queues.make_cluster(config, kinds.WORKER_SETTINGS, None) as cluster:
        text = cluster.job_script()
    assert "--nworkers 4" in text
    assert "--nthreads 1" in text
    assert "--interface lo" in text
    assert ("name = value" if kind == "htcondor" else "--name value") in text
    assert "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE=False" in text
    if kind != "htcondor":
        assert "02:30" in text
    amounts = ("--mem=4G", "mem=3815MB", "-M 4000000", "4000000000")
    assert kind in ("sge", "oar") or any(amount in text for amount in amounts), text


SITE = {
    "job-script-prologue": ["module load python"],
    "job-extra-directives": ["--site-says"],
    "worker-extra-args": ["--preload", "site"],
    "walltime": "00:10:00",
}


def test_the_site_is_asked_where_the_config_says_nothing(queue):
    def script(**options):
        config = config_of("run", kind="slurm", options=options).cluster
        with (
            dask.config.set({f"jobqueue.slurm.{key}": of for key, of in SITE.items()}),
            queues.make_cluster(config, kinds.WORKER_SETTINGS, None) as cluster,
        ):
            return cluster.job_script()

    text = script()
    for words in ("module load python\n", "--site-says", "--preload site", "-t 00:10:00"):
        assert words in text
    assert "--lifetime 480s" in text
    text = script(job_script_prologue=["source mine"], walltime="1-00:00:00")
    assert "module load" not in text
    assert text.index("source mine") < text.index("export DASK_")
    assert "--lifetime 85800s --lifetime-stagger 300s" in text


@pytest.mark.parametrize(
    ("kind", "walltime", "seconds"),
    [
        ("slurm", 60, 3600),
        ("slurm", "30:00", 1800),
        ("slurm", "1-12", 129_600),
        ("slurm", "1-00:30", 88_200),
        ("pbs", 7200, 7200),
        ("sge", "90:00", 5400),
        ("lsf", "45", 2700),
        ("oar", "2", 7200),
        ("oar", "1:30", 5400),
    ],
)
def test_walltimes_are_read_as_the_queue_reads_them(queue, kind, walltime, seconds):
    config = config_of("run", kind=kind, options={"walltime": walltime}).cluster
    with queues.make_cluster(config, kinds.WORKER_SETTINGS, None) as cluster:
        text = cluster.job_script()
    assert str(walltime) in text
    margin = min(300, seconds // 10)
    assert f"--lifetime {seconds - 2 * margin}s" in text


def test_a_list_of_one_may_be_a_text(queue):
    options = {
        "job_script_prologue": "module load python",
        "job_extra_directives": "--constraint=ib",
        "worker_extra_args": "--no-dashboard",
    }
    config = config_of("run", kind="slurm", options=options).cluster
    with queues.make_cluster(config, kinds.WORKER_SETTINGS, None) as cluster:
        lines = cluster.job_script().splitlines()
    assert "module load python" in lines
    assert "#SBATCH --constraint=ib" in lines
    assert any(" --no-dashboard " in line for line in lines)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("slurm", {"quue": "long"}, ["SLURMCluster", "quue"]),
        ("htcondor", {"queue": "long"}, ["HTCondorCluster", "queue"]),
        ("pbs", {"walltime": "4h"}, ['walltime = "4h"', "hours:minutes:seconds"]),
        ("lsf", {"walltime": "04:00:00"}, ['walltime = "04:00:00"', "expected hours:minutes"]),
        ("slurm", {"interface": "ib7"}, ["interface = 'ib7'", "this host has", "lo"]),
    ],
)
def test_options_that_cannot_be(queue, kind, options, words):
    config = config_of("run", kind=kind, options=options).cluster
    with pytest.raises(InputError) as caught:
        queues.make_cluster(config, kinds.WORKER_SETTINGS, None)
    assert all(word in str(caught.value) for word in ["cluster.options", *words])
    assert "\n" not in str(caught.value)


@pytest.mark.sweep
@pytest.mark.parametrize("processes", [1, 2])
def test_a_job_that_is_lost_is_replaced(tmp_path, queue, monkeypatch, processes):
    """The only job is ended half-way."""
    monkeypatch.setattr(queues, "LOST_SECONDS", 1)
    killed = []

    def kill_half_way(event):
        if getattr(event, "depth", 0) >= 30 and not killed:
            killed.extend(int(job.name) for job in queue.iterdir())
            os.killpg(killed[0], signal.SIGKILL)

    config = config_of(
        tmp_path / "run", 6, kind="slurm", workers=processes, options={"processes": processes}
    )
    assert_right(api.run(api.plan(config), listeners=[kill_half_way]), 6)
    assert len(killed) == 1
    assert len(list(queue.iterdir())) == 2


def test_a_job_that_never_came_is_left_to_the_queue(tmp_path, queue, monkeypatch):
    """It is submitted once, and the run stops when its patience ends."""
    monkeypatch.setattr(queues, "LOST_SECONDS", 1)
    monkeypatch.setattr(queues, "_exports", lambda settings: ["exit 1"])
    config = config_of(tmp_path / "run", kind="pbs", workers=1, patience=4)
    with pytest.raises(Stopped, match=r"no worker for 4 s \(cluster.patience\)"):
        api.run(api.plan(config))
    assert len(list(queue.iterdir())) == 1


def test_a_queue_that_refuses(tmp_path, queue, monkeypatch):
    (tmp_path / "bin" / "sbatch").write_text(
        "#!/bin/sh\necho 'invalid partition: long' >&2; exit 1\n"
    )
    config = config_of(tmp_path / "run", kind="slurm", options={"queue": "long"})
    with pytest.raises(Stopped, match="invalid partition: long"):
        api.run(api.plan(config))


def test_no_queue_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no bsub here"):
        api.run(api.plan(config_of(tmp_path / "run", kind="lsf")))


def test_dask_jobqueue_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(InputError, match=r"pip install 'frontier\[jobqueue\]'"):
        api.run(api.plan(config_of(tmp_path / "run", kind="oar")))


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
