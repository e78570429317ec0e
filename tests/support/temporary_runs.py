"""Small runs that tests make, and wait for."""

import time
from pathlib import Path

from frontier.api import runs as api
from frontier.config.loading import load_config
from frontier.layers.run import LayerRun

CONFIGS = Path(__file__).parents[2] / "configs"

IDENTITY = {
    "name": "x",
    "puzzle": {"kind": "tiles", "rows": 2, "columns": 4},
    "codec": "raw",
    "keep": "frontier",
    "layout": {"prefix_digits": 1, "task_nodes": 2, "shares": 1},
    "states": 20_160,
}
"""What makes a run of 2×4 the run that it is, as `LayerRun.create` takes it."""


def made(path, name, *settings, until=None):
    """The store of a run of a config of configs/, made in this process."""
    settings = (f"store.path={path}", "cluster.kind=serial", *settings)
    return api.run(api.plan(load_config(CONFIGS / f"{name}.toml", settings)), until).store


def write_ledger(store):
    """Write the ledger as if what its lines say had been committed."""
    store.write_ledger()  # which makes the chain anew


def wait_for_depth(path, depth, process):
    """Wait until a run has a layer; AssertionError if the process that makes it ends before."""
    while process.poll() is None:
        if LayerRun.exists(path) and len(LayerRun.open(path).records) > depth:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())
