"""Runs to report on, and runs that say what is not so."""

from pathlib import Path

from frontier import api
from frontier.config import load_config

CONFIGS = Path(__file__).parents[1] / "configs"


def made(path, name, *settings, until=None):
    """The store of a run of a config of configs/, made in this process."""
    settings = (f"store.path={path}", "cluster.kind=serial", *settings)
    return api.run(api.plan(load_config(CONFIGS / f"{name}.toml", settings)), until).store


def write_ledger(store):
    """Write the ledger as if what its lines say had been committed."""
    before = ""
    for record in store.records:
        record.chain = before = record.chained(before, store.identity["identifier"])
    store._write_ledger()
