"""Runs to watch, and the events of runs that were recorded."""

import json
from pathlib import Path

from frontier.api import runs as api
from frontier.config.loading import load_config
from frontier.layers.events import LayerFinished, LayerStarted
from tests.support.ledgers import line_of
from tests.support.start_events import layers_started
from tests.support.temporary_runs import CONFIGS

RECORDED = json.loads((Path(__file__).parents[1] / "layers" / "recorded.json").read_text())
STATES = {name: sum(line[0] for line in lines) for name, lines in RECORDED.items()}


def settings(path, *more):
    return ("cluster.kind=serial", f"store.path={path}", *more)


def run(path, until=None, name="2x4", listeners=()):
    config = load_config(CONFIGS / f"{name}.toml", settings(path))
    return api.run(api.plan(config), until, listeners).store


def config_of(tmp_path):
    """A config whose run is made below a folder, and that folder."""
    config = tmp_path / "small one.toml"
    text = (CONFIGS / "2x3.toml").read_text()
    config.write_text(f'{text}\n[store]\npath = "{tmp_path / "runs"}"\n')
    return config, tmp_path / "runs"


def events_of(name, layers, dashboard=None):
    """The events of the first layers of a recorded run."""
    yield layers_started(name, f"{name} tiles", "/no/run", STATES[name], 2, dashboard=dashboard)
    so_far = elapsed = 0
    for depth, (states, seconds, form) in enumerate(RECORDED[name][:layers]):
        so_far, elapsed = so_far + states, elapsed + seconds
        yield LayerStarted(depth, None)
        yield LayerFinished(line_of(depth, states, form, seconds), so_far, elapsed, 10**9)
