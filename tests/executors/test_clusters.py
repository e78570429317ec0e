"""Runs on clusters: schedulers and workers that come, go and never come; sockets; TLS."""

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import LocalCluster

from frontier.api import runs as api
from frontier.config.loading import Config, load_config
from frontier.errors import InputError, Stopped
from frontier.executors import allocation
from frontier.executors.choice import on_client
from frontier.layers.run import LayerRun
from tests.support.commands import invoke
from tests.support.temporary_runs import wait_for_depth

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


def test_an_allocation_for_a_run_in_a_bucket(tmp_path, monkeypatch):
    """No file lies beside a bucket, so the scheduler's address is where the tasks were started."""
    options = {"cluster.kind": "slurm-runner", "cluster.options.interface": "lo"}
    settings = [f"{key}={value}" for key, value in options.items()]
    config = load_config(CONFIG, [*settings, "store.path=s3://bucket/run"])
    monkeypatch.chdir(tmp_path)
    for name, value in (("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4"), ("SLURM_JOB_ID", "5")):
        monkeypatch.setenv(name, value)
    files = []
    monkeypatch.setattr(
        allocation, "_runner", lambda config, file: files.append(file) or io.BytesIO()
    )
    with allocation.allocation(config) as inside:
        assert inside.cluster.scheduler_file == files[0]
    assert files == [f"{tmp_path}/2x6.scheduler-5-0.json"]


def has_lost_its_scheduler():
    """A client whose scheduler has ended itself, as after `distributed.scheduler.idle-timeout`."""
    return SimpleNamespace(scheduler_info=lambda n_workers: {})


def test_a_client_whose_scheduler_has_ended(tmp_path):
    with pytest.raises(Stopped, match="does not answer"):
        on_client(config_of(tmp_path / "run"), has_lost_its_scheduler())


def test_a_daemonic_process_starts_no_workers(tmp_path, monkeypatch):
    """Python refuses it children, so there is nothing to try with fewer workers."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(InputError, match=r'cluster\.kind = "serial"'):
        api.run(api.plan(config_of(tmp_path / "run")))
    assert not (tmp_path / "run").exists()
    assert_right(api.run(api.plan(config_of(tmp_path / "run", kind="serial"))), 4)


@pytest.mark.parametrize("command", ["run", "gods-number"])
def test_a_missing_scheduler_file_is_refused_before_anything_is_made(
    tmp_path, monkeypatch, command
):
    monkeypatch.setattr("frontier.executors.choice.CONNECT_SECONDS", 0.1)
    file = tmp_path / "none.json"
    settings = "cluster.kind=scheduler-file", f"cluster.scheduler_file={file}"
    words = [command, CONFIG.with_name("2x3.toml"), "--set", f"store.path={tmp_path / 'run'}"]
    words += [word for setting in settings for word in ("--set", setting)]
    said = invoke(*words, code=2).stderr
    assert str(file) in said
    assert "Starting" not in said
    assert not list(tmp_path.iterdir())


def test_a_missing_scheduler_file_costs_no_run(tmp_path, monkeypatch):
    """Neither with --fresh, which would delete it."""
    monkeypatch.setattr("frontier.executors.choice.CONNECT_SECONDS", 0.1)
    path = tmp_path / "run"
    assert_right(api.run(api.plan(config_of(path, kind="serial"))), 4)
    missing = config_of(path, kind="scheduler-file", scheduler_file=str(tmp_path / "none"))
    with pytest.raises(InputError, match="none"):
        api.run(missing, fresh=True)
    assert_right(api.open_run(path), 4)
    assert_right(api.run(missing), 4)  # it is complete, and needs no scheduler


def python(*arguments, **settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "frontier", *map(str, arguments), *words]


CONFIG = Path(__file__).parents[2] / "configs" / "2x6.toml"
TASKS = {"search.in_memory": "false", "store.codec": "zstd:5"}


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

        with pytest.raises(Stopped, match=r"no worker was connected for 2 s .*tcp://127.0.0.1"):
            api.run(api.plan(config), listeners=[lose_half_way])
        assert not LayerRun.open(tmp_path / "run").complete
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


def workers_of(cluster):
    return {nanny.pid for nanny in cluster.workers.values()} - {None}
