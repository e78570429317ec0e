"""A run on a cluster that the user has connected to: which client is meant, and its config."""

import sys

from frontier.config import Config
from frontier.errors import InputError


def client_for(config: Config, client=None):
    """The client whose workers do the tasks, None where the config decides.

    client: a `distributed.Client` that was given. Without it the current one is taken, as Dask
    itself does, if the config names no kind of cluster. InputError if it cannot be used.
    """
    if client is None:
        current, cluster = _current(), config.cluster
        planned = current is not None and cluster.address == current.scheduler.address
        return current if planned or "kind" not in cluster.model_fields_set else None
    if not hasattr(client, "scheduler_info") or client.asynchronous:
        raise InputError(
            f"client = {client!r}: expected a distributed.Client that is not asynchronous"
        )
    return client


def _current():
    """Dask's current client, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is none
        return None
    return None if client.asynchronous else client


def on_client(config: Config, client) -> Config:
    """The config for the workers of a client: as many as there are, with no more memory each than
    the least of them has."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
    cluster = config.cluster.model_copy(
        update={
            "kind": "address",
            "address": client.scheduler.address,
            "workers": len(workers) or config.cluster.workers,
            "memory": type(config.cluster.memory)(min([config.cluster.memory, *limits])),
        }
    )
    return config.model_copy(update={"cluster": cluster})
