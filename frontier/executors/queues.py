"""Workers that are jobs of a batch queue, through dask-jobqueue.

`cluster.options` is passed unchanged to dask-jobqueue's class for the queue. The scheduler runs in
the driver's process. Jobs start when the queue lets them, and end at or before their walltime. A
job whose workers are gone is replaced. A job that never had workers is left to the queue, so a job
that its site refuses is not submitted again and again.
"""

import logging
import operator
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

from frontier.config.schema import ClusterTable
from frontier.errors import InputError, Stopped
from frontier.executors.dask_settings import SCHEDULER_SETTINGS, WORKER_SETTINGS, security
from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.text import counted

CLASSES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
}

NEEDED = {
    "oar": {"memory_per_core_property_name": "not_applicable"},
    "htcondor": {"disk": "1 GB"},
}
"""Options that a class needs if neither the config nor the site's configuration has them. OAR's
name for memory differs from site to site, so its jobs do not ask for memory. On a local disk
workers keep only Dask's logs."""

LISTS = ("worker_extra_args", "job_script_prologue", "job_extra_directives", "job_directives_skip")
"""Options that are lists. A string given instead stands for a list of that one string."""

CLOCK = "hours:minutes:seconds", "minutes:seconds", "seconds"
DAYS = "days-hours:minutes:seconds", "days-hours:minutes", "days-hours"
WALLTIMES = {
    "slurm": (*DAYS, "hours:minutes:seconds", "minutes:seconds", "minutes"),
    "lsf": ("hours:minutes", "minutes"),
    "oar": ("hours:minutes:seconds", "hours:minutes", "hours"),
}
"""The formats in which queues accept a walltime; all other queues accept the formats of `CLOCK`."""

SECONDS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}

LOST_SECONDS = 30
"""A job whose workers have been gone for this many seconds is lost. A worker that restarts is back
sooner."""

ORPHAN_SECONDS = 60
"""Workers without a scheduler end after this many seconds, and then their jobs end too."""

QUEUE_SETTINGS = {"distributed.scheduler.allowed-failures": 10}
"""When a queue ends a worker, the worker's tasks fail through no fault of their own."""

JOB_MEMORY = 4, 3
"""A job asks for 4/3 of the memory that its worker's tasks take: queues end jobs that exceed their
request, and another Dask process runs beside the worker."""


def import_jobqueue(kind: str):
    """Return the module dask_jobqueue; raises InputError if it is not installed."""
    try:
        import dask_jobqueue
    except ImportError:
        raise InputError(
            f'cluster.kind = "{kind}" needs dask-jobqueue, which is not installed; install it '
            "with: pip install 'frontier[jobqueue]'"
        ) from None
    return dask_jobqueue


def make_cluster(settings: ClusterTable):
    """Return the dask-jobqueue cluster that ``[cluster]`` describes, with no job submitted yet."""
    import dask

    kind, options = settings.kind, settings.options
    before = signal.getsignal(signal.SIGINT)  # the import replaces it, in the main thread
    factory = getattr(import_jobqueue(kind), CLASSES[kind])
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)
    command = factory.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise InputError(
            f'cluster.kind = "{kind}": {command} was not found; run on a host where jobs can be '
            "submitted, or choose another cluster.kind"
        )
    site = dask.config.get(f"jobqueue.{kind}")

    def chosen(key: str):
        """Return an option from the config, or from the site's configuration."""
        value = options.get(key) or site.get(key.replace("_", "-"))
        return [value] if key in LISTS and isinstance(value, str) else value

    scheduler = {"dashboard_address": "127.0.0.1:0", **(chosen("scheduler_options") or {})}
    interface = scheduler.get("interface", options["interface"])
    if interface not in (interfaces := psutil.net_if_addrs()):
        raise InputError(
            f"cluster.options.interface = {interface!r}: this host has "
            f"{', '.join(sorted(interfaces))}; if the nodes use another name, set "
            "cluster.options.scheduler_options.interface"
        )
    keywords = {
        "cores": 1,
        "memory": str(settings.memory * JOB_MEMORY[0] // JOB_MEMORY[1]),
        "security": security(),
        "job_name": "frontier",
        "death_timeout": ORPHAN_SECONDS,
        "silence_logs": logging.CRITICAL,
        **{key: chosen(key) or value for key, value in NEEDED.get(kind, {}).items()},
        **options,
        **{key: chosen(key) for key in LISTS if key in options},
        "processes": 1,
        "nanny": True,
        "scheduler_options": scheduler,
        "job_script_prologue": [*(chosen("job_script_prologue") or []), *_exports()],
        "worker_extra_args": [
            *(chosen("worker_extra_args") or []),
            # By default, dask-jobqueue gives a worker as many threads as the job has processors.
            *("--nthreads", str(TASKS_UNDER_WAY)),
            *_lifetime(kind, chosen("walltime")),
        ],
    }
    try:
        return factory(**keywords)
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"cluster.options: dask-jobqueue's {CLASSES[kind]} does not accept them ({reason})"
        ) from None


def _exports() -> list[str]:
    """Return Dask's settings for the workers as lines of a job script."""
    return [
        f"export DASK_{key.upper().replace('.', '__').replace('-', '_')}={shlex.quote(repr(value))}"
        for key, value in WORKER_SETTINGS.items()
    ]


def _lifetime(kind: str, walltime: str | int | None) -> list[str]:
    """Return the options that make workers end a little before the walltime, and not all at
    once."""
    if walltime is None:
        return []
    total = _seconds(kind, str(walltime))
    margin = min(300, total // 10)
    return ["--lifetime", f"{total - 2 * margin}s", "--lifetime-stagger", f"{margin}s"]


def _seconds(kind: str, walltime: str) -> int:
    """Return the seconds of a walltime, as the queue interprets it."""
    forms = WALLTIMES.get(kind, CLOCK)
    for form in forms:
        if match := re.fullmatch(re.sub(r"\w+", r"(\\d+)", form), walltime):
            units = map(SECONDS.get, re.findall(r"\w+", form))
            return sum(map(operator.mul, map(int, match.groups()), units))
    raise InputError(
        f'cluster.options.walltime = "{walltime}": expected {" or ".join(forms)}, in digits'
    )


@contextmanager
def queue_cluster(settings: ClusterTable) -> Iterator[tuple[object, Callable[[], None]]]:
    """Yield a cluster whose jobs are submitted here and cancelled at the end, and a function that
    replaces lost jobs."""
    import dask

    jobs, lost = settings.workers, {"distributed.deploy.lost-worker-timeout": LOST_SECONDS}
    with dask.config.set(WORKER_SETTINGS | SCHEDULER_SETTINGS | QUEUE_SETTINGS | lost):
        cluster = make_cluster(settings)
        for _ in range(jobs):
            cluster.worker_spec.update(cluster.new_worker_spec())
        try:
            cluster.__enter__()
        except (AssertionError, RuntimeError, OSError, ValueError) as error:
            reason = str(error.__context__ or error).split()  # closing the cluster failed too
            raise Stopped(
                f'cluster.kind = "{settings.kind}": the queue refused '
                f"{counted(jobs, 'job')} ({' '.join(reason)}); change the resources in [cluster], "
                "such as memory, or the queue, account or walltime in cluster.options"
            ) from None
        try:
            # Dask forgets a job whose workers are gone; then `scale` submits another one.
            yield cluster, lambda: cluster.scale(jobs=jobs)
        finally:
            with suppress(AssertionError):  # raised for a job that the queue did not take
                cluster.close()
