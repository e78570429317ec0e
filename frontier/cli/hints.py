"""What to type instead of an option that a command does not have.

Click offers the options whose names are spelled alike, however little they have to do with one
another. Here what people type has its remedy, and no hint names an option that deletes.
"""

import click

from frontier.text import program

NEVER_OFFERED = {"--fresh", "--yes", "--force", "--take-over", "--job"}
"""The options that delete, overwrite, skip a question or take a run from its writer."""

SETTINGS = {
    "cluster.workers=4": ("workers", "threads", "processes", "cores", "cpus", "jobs", "j"),
    "cluster.memory=4GB": ("memory", "mem", "ram"),
    "store.path=DIRECTORY": ("out", "output", "path", "dir", "directory", "o"),
    "search.keep=all": ("keep", "keep-all"),
    "puzzle.metric=multi": ("metric",),
}
"""The keys of a config by what people type for them."""

BY_SETTING = {name: setting for setting, names in SETTINGS.items() for name in names}

RESUMING = "resume", "continue", "restart"
PLANNING = "dry-run", "plan", "estimate"
STOPPING = "depth", "max-depth", "limit"


def explain(error: click.NoSuchOption) -> None:
    """Make the message of an error name the remedy, or the nearest options that do no harm."""
    near = [name for name in error.possibilities or () if name not in NEVER_OFFERED]
    remedy = _remedy(error.option_name.lstrip("-").replace("_", "-"), error.ctx)
    error.possibilities = None if remedy else near
    error.message += f" {remedy}" if remedy else ""


def _remedy(name: str, context: click.Context | None) -> str | None:
    """Return a sentence for what people type for an option of a command that searches."""
    command = context.command.name if context else None
    if command not in ("run", "plan", "gods-number"):
        return None
    setting = BY_SETTING.get(name)
    if setting and not (command == "gods-number" and setting.startswith("search.")):
        return f"Give --set {setting} instead."
    search = "gods-number" if command == "gods-number" else "run"
    if name in RESUMING:
        return f"`{program()} {search}` resumes what was stopped; no option is needed."
    if name in PLANNING:
        plan = "gods-number --plan" if command == "gods-number" else "plan"
        return f"`{program()} {plan}` says what a search will take, and writes nothing."
    if name in STOPPING and command == "run":
        return "Give --until DEPTH to stop after a depth."
    return None
