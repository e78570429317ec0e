"""The executor of each kind of ``[cluster]``: in this process, on workers started here, in the jobs
of a queue, on an existing scheduler, or through the user's own client.

Sockets listen on the loopback interface, unless ``cluster.options.interface`` names another one.
Dask's own settings (``distributed.comm``) decide whether they use TLS, and with which certificates.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from frontier.config.loading import Config
from frontier.config.schema import QUEUES, ClusterTable
from frontier.errors import InputError, Stopped
from frontier.executors.dask_settings import QUIET
from frontier.executors.executor import Executor, Serial

CONNECT_SECONDS = 30
"""The seconds to wait for a scheduler, and for the file that contains its address."""

ADDRESSED = {"address", "scheduler-file", "slurm-runner"}
"""The kinds of clusters whose scheduler somebody else has started."""


def workers_to_start(settings: ClusterTable, alone: bool, client=None) -> int:
    """Return how many workers `executor_of` starts or joins; 0 if this process does all the work.
    The arguments are those of `executor_of`."""
    kind = settings.kind
    here = client is None and (kind == "serial" or (kind == "local" and alone))
    return 0 if here else settings.workers


def check_cluster(settings: ClusterTable, alone: bool, client=None) -> None:
    """Raise InputError if `executor_of` cannot start workers here, or does not learn where the
    scheduler is. The arguments are those of `executor_of`."""
    if client is not None or not workers_to_start(settings, alone):
        return
    from multiprocessing import current_process  # small runs do not need it

    if settings.kind == "local" and current_process().daemon:
        raise InputError(
            'cluster.kind = "local": this is a daemonic process of multiprocessing, which may not '
            'start workers; set cluster.kind = "serial", or start the process with daemon=False'
        )
    if settings.kind in ADDRESSED:
        _address(settings)


@contextmanager
def executor_of(settings: ClusterTable, alone: bool, client=None) -> Iterator[Executor]:
    """Start or join the cluster that ``[cluster]`` names, and close it at the end.

    alone: True if local workers need not start, because there is no work to share. client: a client
    of an existing cluster, which is used instead and left open.
    """
    if not workers_to_start(settings, alone, client):
        yield Serial()
        return
    from frontier.executors.dask_executor import DaskExecutor  # small runs do not need it

    if client is not None:
        yield DaskExecutor(client, settings.patience)
        return
    from dask import config

    from frontier.executors.local import local_cluster
    from frontier.executors.queues import queue_cluster

    kind, tend = settings.kind, None
    with config.set(QUIET), _quiet_here(), ExitStack() as stack:
        if kind == "local":
            cluster = stack.enter_context(local_cluster(settings))
        elif kind in QUEUES:
            cluster, tend = stack.enter_context(queue_cluster(settings))
        else:
            cluster = _address(settings)
        client = stack.enter_context(_client(cluster, settings))
        yield DaskExecutor(client, settings.patience, tend)


@contextmanager
def _quiet_here() -> Iterator[None]:
    """Keep Dask's loggers quiet if the user has imported Dask before."""
    import distributed  # noqa: F401  (it sets the levels of loggers)

    loggers = [logging.getLogger(name) for name in (*QUIET["logging"], "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _address(settings: ClusterTable) -> str:
    """Return the address of a scheduler that somebody else has started.

    Raises InputError if the file that contains it does not appear.
    """
    if settings.kind == "slurm-runner":
        raise InputError(
            'cluster.kind = "slurm-runner" is for the command line, as in jobs/slurm-runner.sh; '
            "from Python, enter frontier.executors.allocation.allocation(config) first"
        )
    if settings.address is not None and settings.kind == "address":
        return settings.address
    from distributed.utils import json_load_robust

    file = os.path.expanduser(settings.scheduler_file or "")  # where ~ is the home directory
    try:
        return json_load_robust(file, timeout=CONNECT_SECONDS)["address"]
    except TimeoutError:
        raise InputError(
            f"cluster.scheduler_file = {file}: no such file after {CONNECT_SECONDS} s; start a "
            f"scheduler with `dask scheduler --scheduler-file {file}`"
        ) from None
    except (OSError, TypeError, KeyError) as error:
        raise InputError(
            f"cluster.scheduler_file = {file} is not a scheduler file of Dask ({error!r})"
        ) from None


def _client(place, settings: ClusterTable):
    """Return a client of a cluster, or of the scheduler at an address."""
    from distributed import Client

    try:
        return Client(place, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError) as error:  # the scheduler may still start
        raise Stopped(
            f"cluster.kind = {settings.kind}: no scheduler answered at {place} within "
            f"{CONNECT_SECONDS} s ({error}); start one with `dask scheduler` and workers with "
            "`dask worker`"
        ) from None
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            f"cluster.kind = {settings.kind}: {place} is not the address of a scheduler ({error})"
        ) from None


def client_for(config: Config, client=None):
    """Return the client whose workers do the tasks, None if the config decides.

    client: the user's `distributed.Client`. If there is none, and the config names no kind of
    cluster, the current client is used, as in Dask. Raises InputError if the client cannot be used.
    """
    if client is None:
        current, cluster = _current(), config.cluster
        planned = current is not None and cluster.address == current.scheduler.address
        return current if planned or "kind" not in cluster.model_fields_set else None
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous or client.status != "running":
        raise InputError(
            f"client = {client!r}: expected a distributed.Client that is neither asynchronous nor "
            "closed"
        )
    return client


def _current():
    """Return Dask's current client, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is no client
        return None
    return None if client.asynchronous else client


def on_client(config: Config, client) -> Config:
    """Return the config for the workers of a client, with the number of workers, and for each at
    most the memory of the smallest."""
    if not (scheduler := client.scheduler_info(n_workers=-1)):
        raise Stopped(
            f"the scheduler of {client!r} does not answer; connect a new client to a scheduler"
        )
    workers = scheduler["workers"].values()
    limits = [worker["memory_limit"] for worker in workers]
    cluster = config.cluster.model_copy(
        update={
            "kind": "address",
            "address": client.scheduler.address,
            "workers": len(workers) or config.cluster.workers,
            "memory": type(config.cluster.memory)(
                min([config.cluster.memory, *filter(None, limits)])
            ),
        }
    )
    return config.model_copy(update={"cluster": cluster})
