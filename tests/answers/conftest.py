"""Runs of patterns, made when they are asked for."""

import json

import pytest

from frontier.api import runs as api
from frontier.config.loading import Config


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The path of the run of a pattern's twin, or of another puzzle, made when asked for."""
    path, count = tmp_path_factory.mktemp("databases"), {}

    def run_of(table, until=None, **search):
        key = json.dumps([table, until, search])
        if key not in count:
            count[key] = path / str(len(count))
            config = Config(
                name="database",
                puzzle=table,
                search={"keep": "all", **search},
                store={"path": str(count[key])},
                cluster={"kind": "serial"},
            )
            api.run(api.plan(config), until)
        return count[key]

    return run_of
