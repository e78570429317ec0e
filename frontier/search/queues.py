"""Workers that are jobs of a batch queue, through dask-jobqueue.

The scheduler runs in the driver's process. Jobs come when the queue lets them, and end at their
walltime or before: one whose workers are gone is replaced by another. A job that never started is
left to the queue, so a job that its site refuses is not submitted again and again.
"""

import logging
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import ceil

import psutil

from frontier.config import ClusterTable
from frontier.errors import InputError, Stopped
from frontier.search.executors import TASKS_UNDER_WAY
from frontier.text import counted

CLASSES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
}

LOST_SECONDS = 30
"""A job without workers for so long is lost; a worker that restarts takes a few."""

ORPHAN_SECONDS = 60
"""Workers that find no scheduler for so long end, and their jobs with them."""

QUEUE_SETTINGS = {"distributed.scheduler.allowed-failures": 10}
"""Workers that a queue ends take their tasks with them, through no fault of the tasks."""

JOB_MEMORY = 4, 3
"""A job asks for 4/3 of what its workers' tasks take: queues end jobs that exceed what they asked
for, and beside each worker stands a process of Dask's."""

SCRATCH = "1 GB"
"""Disk of a job, where the queue asks for it: workers keep nothing but what Dask logs."""

THREADS = ("--nthreads", str(TASKS_UNDER_WAY))
"""Of a worker; the last word on it, as the jobs of a queue count a thread as a processor."""


def jobs_of(settings: ClusterTable) -> int:
    """How many jobs are kept in the queue."""
    return ceil(settings.workers / settings.workers_per_job)


def import_jobqueue(kind: str):
    """The module dask_jobqueue; InputError if it is not installed."""
    try:
        import dask_jobqueue
    except ImportError:
        raise InputError(
            f'cluster.kind = "{kind}" needs dask-jobqueue, which is not installed; install it '
            "with: pip install 'frontier[jobqueue]'"
        ) from None
    return dask_jobqueue


def make_cluster(settings: ClusterTable, worker_settings: dict, security):
    """The dask-jobqueue cluster that ``[cluster]`` describes, with no job submitted yet.

    worker_settings: Dask's settings of the workers. security: Dask's, None without TLS.
    """
    import dask

    before = signal.getsignal(signal.SIGINT)  # the import takes it, in the main thread
    factory = getattr(import_jobqueue(settings.kind), CLASSES[settings.kind])
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)
    command = factory.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise InputError(
            f'cluster.kind = "{settings.kind}": there is no {command} here; run where jobs can be '
            "submitted, or choose another cluster.kind"
        )
    site = dask.config.get(f"jobqueue.{settings.kind}")
    here = site["scheduler-options"].get("interface", settings.interface)
    if here not in (known := psutil.net_if_addrs()):
        raise InputError(
            f"cluster.interface = {here!r}: this host has {', '.join(sorted(known))}; where the "
            f"nodes call it otherwise, set jobqueue.{settings.kind}.scheduler-options in Dask's "
            "configuration"
        )
    processes = settings.workers_per_job
    return factory(
        cores=processes,
        processes=processes,
        memory=str(processes * settings.memory * JOB_MEMORY[0] // JOB_MEMORY[1]),
        interface=settings.interface,
        security=security,
        scheduler_options={"dashboard_address": "127.0.0.1:0", **site["scheduler-options"]},
        job_name="frontier",
        job_script_prologue=[*(site["job-script-prologue"] or []), *_exports(worker_settings)],
        worker_extra_args=[*site["worker-extra-args"], *THREADS, *_lifetime(settings)],
        death_timeout=ORPHAN_SECONDS,
        silence_logs=logging.CRITICAL,
        **_queue_keywords(settings, site),
    )


def _queue_keywords(settings: ClusterTable, site: dict) -> dict:
    """What dask-jobqueue calls differently from queue to queue; None leaves it to its config."""
    if settings.kind == "htcondor":
        split = (line.split("=", 1) for line in settings.directives)
        directives = {name.strip(): value.strip() for name, value in split}
        return {
            "disk": site["disk"] or SCRATCH,
            "job_extra_directives": {**site["job-extra-directives"], **directives},
        }
    walltime = settings.walltime
    keywords = {
        "queue": settings.queue,
        "account" if settings.kind in ("slurm", "pbs") else "project": settings.account,
        # LSF knows no seconds
        "walltime": walltime.rpartition(":")[0] if settings.kind == "lsf" else walltime,
        "job_extra_directives": [*site["job-extra-directives"], *settings.directives],
    }
    if settings.kind == "oar":  # the name differs from site to site
        name = site["memory-per-core-property-name"]
        keywords["memory_per_core_property_name"] = name or "not_applicable"
    return keywords


def _exports(worker_settings: dict) -> list[str]:
    """Dask's settings as lines of a job script."""
    return [
        f"export DASK_{key.upper().replace('.', '__').replace('-', '_')}={shlex.quote(repr(value))}"
        for key, value in worker_settings.items()
    ]


def _lifetime(settings: ClusterTable) -> list[str]:
    """Let workers end on their own a little before the walltime, and not all at once."""
    margin = min(300, settings.walltime_seconds // 10)
    lifetime = settings.walltime_seconds - 2 * margin
    return ["--lifetime", f"{lifetime}s", "--lifetime-stagger", f"{margin}s"]


@contextmanager
def queue_cluster(cluster, settings: ClusterTable) -> Iterator[Callable[[], None]]:
    """Submit the jobs, and cancel them at the end; gives what replaces lost ones when called."""
    jobs = jobs_of(settings)
    for _ in range(jobs):
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        cluster.__enter__()
    except (AssertionError, RuntimeError, OSError, ValueError) as error:
        reason = str(error.__context__ or error).split()  # closing has failed too
        raise Stopped(
            f'cluster.kind = "{settings.kind}": the queue did not take '
            f"{counted(jobs, 'job')} ({' '.join(reason)}); change what [cluster] asks for, such as "
            "queue, account, walltime, memory"
        ) from None
    try:
        yield _Jobs(cluster, jobs).replace_lost
    finally:
        with suppress(AssertionError):  # of a job that the queue did not take
            cluster.close()


class _Jobs:
    """Which jobs had workers, and since when they have none."""

    def __init__(self, cluster, wanted: int):
        self._cluster, self._wanted = cluster, wanted
        self._last_seen: dict[str, float] = {}

    def replace_lost(self) -> None:
        """Submit a job for each that had workers and has none any more; called again and again.

        A lost job is given up first and replaced by the next call, since a new one may get its
        name.
        """
        cluster, now = self._cluster, time.monotonic()
        if len(cluster.worker_spec) < self._wanted:
            cluster.scale(jobs=self._wanted)
        names = {worker.name for worker in list(cluster.scheduler.workers.values())}
        for job, spec in cluster.worker_spec.items():
            if names & {f"{job}{suffix}" for suffix in spec.get("group", [""])}:
                self._last_seen[job] = now
        lost = [job for job, seen in self._last_seen.items() if now - seen > LOST_SECONDS]
        for job in lost:
            del self._last_seen[job]
            del cluster.worker_spec[job]
        if lost:
            cluster.scale(jobs=len(cluster.worker_spec))
