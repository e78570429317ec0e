"""Exhaustive frontier search of sliding puzzles, layer by layer, on disk.

    import frontier
    config = frontier.load_config("configs/2x5.toml")
    run = frontier.run(frontier.plan(config))
    run.depth, run.states

`load_config` reads a config, `plan` says what a run will do, `run` starts or resumes it and
`open_run` opens a run that exists; `frontier.errors` holds what they raise.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontier.api import open_run, plan, run
    from frontier.config import load_config

__all__ = ["load_config", "open_run", "plan", "run"]


def __getattr__(name: str):
    # Kernels and schedulers are slow to import: only when something of them is asked for.
    if name == "load_config":
        from frontier.config import load_config

        return load_config
    if name in __all__:
        from frontier import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
