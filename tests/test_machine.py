"""What this process may use of the machine, and what it would use of another."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from frontier import machine
from frontier.cli import main
from frontier.config.loading import Config, load_config
from frontier.errors import InputError
from frontier.layers.plan import make_plan
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

GB = 10**9


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Control groups on a machine of 16 processors and 64 GB; gives what makes their files."""
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "MOUNTED", tmp_path / "fs")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)
    pages = {"SC_PHYS_PAGES": 64 * GB // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.get)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)

    def make(line, **files):
        (tmp_path / "cgroup").write_text(f"7:pids:/\n{line}\n")
        for name, text in files.items():
            file = tmp_path / "fs" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return make


def there():
    return machine.cores(), machine.memory()


def test_the_memory_is_that_of_the_machine(monkeypatch):
    monkeypatch.setattr(machine, "GROUPS", Path("/nowhere"))
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert machine.memory() == psutil.virtual_memory().total


def test_no_limits(groups):
    assert there() == (16, 64 * GB)
    groups("0::/job", **{"job/memory.max": "max\n", "job/cpu.max": "max 100000\n"})
    assert there() == (16, 64 * GB)


def test_control_groups_of_version_2(groups):
    groups("0::/queue/job", **{"queue/job/memory.max": f"{8 * GB}\n",
                               "queue/job/cpu.max": "350000 100000\n"})  # fmt: skip
    assert there() == (4, 8 * GB)
    groups("0::/queue/job", **{"queue/memory.max": f"{7 * GB}\n", "cpu.max": "200000 100000\n"})
    assert there() == (2, 7 * GB)  # an outer group counts too


def test_control_groups_of_version_1(groups):
    groups("4:memory,hugetlb:/job\n3:cpu,cpuacct:/job", **{
        "memory/job/memory.limit_in_bytes": f"{6 * GB}\n",
        "cpu/job/cpu.cfs_quota_us": "300000\n", "cpu/job/cpu.cfs_period_us": "100000\n",
    })  # fmt: skip
    assert there() == (3, 6 * GB)
    groups("4:memory:/of/the/host\n3:cpu:/of/the/host", **{  # as in a container
        "memory/memory.limit_in_bytes": f"{5 * GB}\n",
        "cpu/job/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_quota_us": "-1\n",
    })  # fmt: skip
    assert there() == (16, 5 * GB)


def test_a_limit_of_a_batch_job(groups, monkeypatch):
    limits = {resource.RLIMIT_RSS: (9 * GB, 10 * GB)}
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: limits.get(kind, (resource.RLIM_INFINITY,) * 2)
    )
    assert there() == (16, 9 * GB)
    # A process reserves more addresses than it uses.
    limits[resource.RLIMIT_AS] = 8 * GB, 10 * GB
    assert there() == (16, 8 * GB - machine.UNUSED_BYTES)
    limits[resource.RLIMIT_AS] = GB // 4, 10 * GB
    assert there() == (16, 1)


def test_without_what_only_linux_has(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 10)
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "none")
    assert machine.cores() == 10
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert machine.cores() == 1


ELSEWHERE = """
import os, sys
for name in ("sched_getaffinity", "sched_setaffinity", "posix_fadvise", "posix_fallocate"):
    if hasattr(os, name):
        delattr(os, name)
from frontier.cli import main
from frontier import machine
machine.GROUPS = machine.MOUNTED = machine.Path("none")
main(sys.argv[1:])
"""


@pytest.mark.sweep
@pytest.mark.parametrize("command", ["plan", "run"])
def test_commands_without_what_only_linux_has(tmp_path, command):
    config = tmp_path / "c.toml"
    config.write_text(
        'name = "c"\npuzzle = {kind = "tiles", rows = 2, columns = 3}\n'
        f'search.in_memory = false\nstore.path = "{tmp_path}/run"\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, command, config], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "360" in done.stdout


def config_of(**cluster):
    return Config(name="c", puzzle={"kind": "tiles", "rows": 2, "columns": 3}, cluster=cluster)


def test_memory_of_a_worker(monkeypatch):
    """A share of three quarters of what there is; where nothing is known of the hosts, 1.5 GB."""
    monkeypatch.setattr(machine, "memory", lambda: 12 * GB)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    assert config_of().cluster.memory == config_of(kind="serial").cluster.memory == 9 * GB // 4
    assert config_of(workers=2).cluster.memory == 9 * GB // 2
    assert config_of(kind="slurm", options={"interface": "lo"}).cluster.memory == 1.5 * GB
    assert config_of(kind="address", address="tcp://x:1").cluster.memory == 1.5 * GB


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_2x7_stays_in_the_memory_of_a_machine_of_12_gb(monkeypatch, tmp_path, workers):
    monkeypatch.setattr(machine, "memory", lambda: 12 * GB)
    monkeypatch.setattr(machine, "cores", lambda: workers)
    plan = make_plan(load_config(CONFIGS / "2x7.toml", (f"store.path={tmp_path}/run",)))
    assert plan.in_memory
    assert plan.threads == workers


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ({"workers": 5}, r"cluster\.workers = 5: .* 4 processors; .* at most 4"),
        ({"workers": 2, "memory": "7GB"}, r"cluster\.memory = 7\.0 GB for 2 .* 6000MB"),
        ({"kind": "serial", "memory": "13GB"}, r"cluster\.memory = 13\.0 GB .* 12000MB"),
    ],
)
def test_what_is_not_there_is_refused(monkeypatch, cluster, said):
    monkeypatch.setattr(machine, "memory", lambda: 12 * GB)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    with pytest.raises(InputError, match=said + r".*cluster\.oversubscribe = true"):
        make_plan(config_of(**cluster))
    make_plan(config_of(**cluster, oversubscribe=True))
    make_plan(config_of(**{"memory": "1GB", **cluster, "kind": "address", "address": "tcp://x:1"}))


@swept("in_memory", [True, False], few=1)
def test_plan_and_run_say_where_layers_are(tmp_path, in_memory):
    config = tmp_path / "c.toml"
    config.write_text(
        'name = "c"\npuzzle = {kind = "tiles", rows = 2, columns = 2}\n'
        f'search.in_memory = {str(in_memory).lower()}\nstore.path = "{tmp_path}/run"\n'
    )
    there = r"in memory, by \d+ threads? .*search\.in_memory ?= ?false"
    tasks = r"by tasks, from disk to disk .*search\.in_memory ?= ?true"
    for command in ("plan", "run"):
        done = CliRunner().invoke(main, [command, str(config), "-v"])
        assert done.exit_code == 0, done.output
        assert bool(re.search(there, done.output)) == in_memory
        assert bool(re.search(tasks, done.output)) != in_memory
