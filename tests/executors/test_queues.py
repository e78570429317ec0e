"""Runs on the jobs of batch queues, and what these ask for.

The queues are stood in for by `queue_command.py`; real ones are in tests/campaigns/real_queues.py.
"""

import os
import signal
import sys
import time

import dask
import pytest

from frontier.api import runs as api
from frontier.config.schema import QUEUES
from frontier.errors import InputError, Stopped
from frontier.executors import queues
from tests.executors.test_clusters import assert_right, config_of
from tests.support.queue_jobs import members_of
from tests.support.tile_runs import as_bits


@pytest.mark.sweep
@pytest.mark.parametrize("kind", QUEUES)
def test_each_queue(tmp_path, queue, kind):
    """Two jobs run the tasks and are cancelled at the end."""
    named = {
        "queue": "long",
        "account" if kind in ("slurm", "pbs") else "project": "chess",
        "walltime": "01:00" if kind == "lsf" else "01:00:00",
    }
    named = {} if kind == "htcondor" else named
    config = config_of(tmp_path / "run", kind=kind, options=named)
    assert_right(api.run(as_bits(api.plan(config))), 4)
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
    options = {"job_extra_directives": directive}
    if kind != "htcondor":
        options["walltime"] = "02:30" if kind == "lsf" else "02:30:00"
    config = config_of("run", kind=kind, workers=10, memory="3GB", options=options).cluster
    with queues.make_cluster(config) as cluster:
        text = cluster.job_script()
    assert "--nworkers" not in text
    assert "--nthreads 2" in text
    assert "--no-nanny" not in text
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
            queues.make_cluster(config) as cluster,
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
    with queues.make_cluster(config) as cluster:
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
    with queues.make_cluster(config) as cluster:
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
        queues.make_cluster(config)
    assert all(word in str(caught.value) for word in ["cluster.options", *words])
    assert "\n" not in str(caught.value)


@pytest.mark.sweep
def test_a_job_that_is_lost_is_replaced(tmp_path, queue, monkeypatch):
    """The only job is ended half-way."""
    monkeypatch.setattr(queues, "LOST_SECONDS", 1)
    killed = []

    def kill_half_way(event):
        if getattr(event, "depth", 0) >= 30 and not killed:
            killed.extend(int(job.name) for job in queue.iterdir())
            os.killpg(killed[0], signal.SIGKILL)

    config = config_of(tmp_path / "run", 6, kind="slurm", workers=1)
    assert_right(api.run(api.plan(config), listeners=[kill_half_way]), 6)
    assert len(killed) == 1
    assert len(list(queue.iterdir())) == 2


@pytest.mark.sweep
def test_a_job_that_never_came_is_left_to_the_queue(tmp_path, queue, monkeypatch):
    """It is submitted once, and the run stops when its patience ends."""
    monkeypatch.setattr(queues, "LOST_SECONDS", 1)
    monkeypatch.setattr(queues, "_exports", lambda: ["exit 1"])
    config = config_of(tmp_path / "run", kind="pbs", workers=1, patience=2)
    with pytest.raises(Stopped, match=r"no worker was connected for 2 s \(cluster.patience\)"):
        api.run(as_bits(api.plan(config)))
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
    with pytest.raises(InputError, match="bsub was not found"):
        api.run(api.plan(config_of(tmp_path / "run", kind="lsf")))


def test_dask_jobqueue_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(InputError, match=r"pip install 'frontier\[jobqueue\]'"):
        api.run(api.plan(config_of(tmp_path / "run", kind="oar")))
