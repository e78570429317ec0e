"""Exhaustive frontier search of sliding puzzles, layer by layer, on disk.

    import frontier
    config = frontier.load_config("configs/2x5.toml")
    run = frontier.run(frontier.plan(config))
    run.depth, run.states

`load_config` reads a config, `make_config` makes one from values, and `define_puzzle` defines a
puzzle of your own; `plan` says what a run will do, `run` starts or resumes it, and `open_run` opens
a run that exists; `solve` finds a shortest solution of one board, with or without a run, and
`solver` those of many;
`gods_number` finds God's number of a tile puzzle with too many positions to search.
`frontier.errors` holds the errors that these functions raise. docs/reference/python.md has
examples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from frontier import errors

if TYPE_CHECKING:
    from frontier.answers.layers import Layer
    from frontier.api.gods_number import GodsNumber, gods_number
    from frontier.api.runs import Plan, Run, open_run, plan, run
    from frontier.api.solving import PositionSolver, solve, solver
    from frontier.config.loading import Config, load_config, make_config
    from frontier.puzzles.cells import define_puzzle

__all__ = [
    "Config", "GodsNumber", "Layer", "Plan", "PositionSolver", "Run", "define_puzzle", "errors",
    "gods_number", "load_config", "make_config", "open_run", "plan", "run", "solve", "solver",
]  # fmt: skip

__version__ = "1.0.0"

_HOMES = dict.fromkeys(__all__, "frontier.api.runs") | {
    "Layer": "frontier.answers.layers",
    **dict.fromkeys(["GodsNumber", "gods_number"], "frontier.api.gods_number"),
    "define_puzzle": "frontier.puzzles.cells",
    **dict.fromkeys(["PositionSolver", "solve", "solver"], "frontier.api.solving"),
    **dict.fromkeys(["Config", "load_config", "make_config"], "frontier.config.loading"),
}


def __getattr__(name: str) -> Any:
    # Kernels and schedulers are slow to import, so they are imported only when a name needs them.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*(name for name in globals() if name.startswith("__")), *_HOMES])
