"""A whole cluster inside one Slurm allocation, through dask-jobqueue's SLURMRunner.

``srun`` starts the same command in every task of the allocation. The first task becomes the
scheduler, the second the driver, and each other task a worker. Only the driver continues with the
command.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.executors.dask_settings import (
    QUIET,
    SCHEDULER_SETTINGS,
    WORKER_SETTINGS,
    security,
)

LEAST_TASKS = 3
"""The least number of tasks: a scheduler, a driver and a worker."""


@contextmanager
def allocation(config: Config) -> Iterator[Config]:
    """Make a cluster of the tasks of this allocation, if ``cluster.kind = "slurm-runner"``.

    Only the driver enters the body, with a config that names the scheduler. The other tasks serve
    the driver and exit when it is done. Configs of other kinds pass unchanged.
    """
    if config.cluster.kind != "slurm-runner":
        yield config
        return
    import dask

    tasks = _tasks()
    # The scheduler writes its address beside the run directory, which all tasks see. If the run is
    # in a bucket, it writes the address in the directory in which the tasks were started. A
    # requeued job keeps its number, so the file name also contains the number of this start.
    start = os.environ.get("SLURM_RESTART_COUNT", "0")
    place = config.path if isinstance(config.path, Path) else Path(config.name).absolute()
    file = f"{place}.scheduler-{os.environ['SLURM_JOB_ID']}-{start}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    with dask.config.set(WORKER_SETTINGS | SCHEDULER_SETTINGS | QUIET):
        runner = _runner(config, file)
        cluster = {"kind": "scheduler-file", "scheduler_file": file, "workers": tasks - 2}
        try:
            yield config.model_copy(update={"cluster": config.cluster.model_copy(update=cluster)})
        finally:
            with suppress(OSError):  # the address of a scheduler that has ended
                runner.close()


def _tasks() -> int:
    if not {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"} <= os.environ.keys():
        raise InputError(
            'cluster.kind = "slurm-runner" works only in a Slurm job; start it there with srun '
            "python -m frontier run …, as in jobs/slurm-runner.sh"
        )
    tasks = int(os.environ["SLURM_NTASKS"])
    if tasks < LEAST_TASKS:
        raise InputError(
            f'cluster.kind = "slurm-runner": this job has too few tasks ({tasks}); a scheduler, a '
            f"driver and a worker need {LEAST_TASKS}, so request more with --ntasks"
        )
    return tasks


def _runner(config: Config, file: str):
    """Take this task's role; only the driver returns from it."""
    if os.environ["SLURM_PROCID"] != "1":
        # A SIGTERM to the whole job asks the driver to stop, which ends the other tasks.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGINT)
    from distributed import rpc
    from distributed.utils import json_load_robust

    from frontier.executors.queues import import_jobqueue

    jobqueue = import_jobqueue(config.cluster.kind)

    class AllocationRunner(jobqueue.slurm.SLURMRunner):  # type: ignore[name-defined]  # imported late
        async def get_scheduler_address(self):
            return json_load_robust(file)["address"]  # retries if it is half written

        async def before_client_start(self):
            if tls:
                self.scheduler_comm = rpc(
                    self.scheduler_address, connection_args=tls.get_connection_args("client")
                )

    tls = security()
    common = {
        "interface": config.cluster.options["interface"],
        "protocol": "tls://" if tls else "tcp://",
        "security": tls,
    }
    runner = AllocationRunner(
        scheduler_file=file,
        scheduler_options={
            **common,
            "dashboard_address": "127.0.0.1:0",
            "idle_timeout": f"{config.cluster.patience}s",  # if the driver is killed
        },
        worker_class="distributed.Nanny",
        worker_options={**common, "nthreads": 1, "memory_limit": int(config.cluster.memory)},
    )
    signal.signal(signal.SIGINT, before)
    return runner
