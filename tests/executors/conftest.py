"""Queues of every kind, stood in for by `queue_command.py`."""

import os
import re
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import dask
import psutil
import pytest

from frontier.executors import queues
from tests.support.queue_jobs import members_of

COMMANDS = {
    "slurm": ("sbatch", "scancel"),
    "pbs": ("qsub", "qdel"),
    "lsf": ("bsub", "bkill"),
    "sge": ("qsub", "qdel"),
    "oar": ("oarsub", "oardel"),
    "htcondor": ("condor_submit", "condor_rm"),
}


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
            with suppress(psutil.NoSuchProcess):  # it may end by itself just now
                process.kill()


@pytest.fixture
def certificates(tmp_path):
    """Made by the commands of docs/reference/clusters.md; gives the folder of Dask's settings."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    page = (Path(__file__).parents[2] / "docs" / "reference" / "clusters.md").read_text(
        encoding="utf-8"
    )
    part = page.split("## Encryption")[1].split("\n## ")[0]
    shell = re.search(r"```sh\n(.*?)```", part, re.DOTALL)[1]
    settings = re.search(r"```yaml\n(.*?)```", part, re.DOTALL)[1]
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-euc", shell], check=True, env=home, capture_output=True)
    folder = tmp_path / "settings"
    folder.mkdir()
    (folder / "distributed.yaml").write_text(settings.replace("/home/you", str(tmp_path)))
    return folder
