"""What to type instead of an option that a command does not have.

Click offers the options whose names are spelled alike, however little they have to do with one
another. Here what people type has its remedy, and no hint names an option that deletes.
"""

import click

NEVER_OFFERED = {"--fresh", "--yes", "--force", "--take-over", "--job"}
"""The options that delete, overwrite, skip a question or take a run from its writer."""

ALIKE = 0.7
"""How alike a misspelled option and the one that is offered are at least, from 0 to 1."""

MEANT = {
    "--workers": ("threads", "processes", "cores", "cpus", "jobs", "j", "w"),
    "--memory": ("mem", "ram", "m"),
    "--out": ("output", "path", "dir", "directory", "o", "run-dir"),
    "--keep-all": ("keep", "all", "keep-layers"),
    "--codec": ("compression", "compress"),
    "--dry-run": ("plan", "estimate"),
    "--until DEPTH": ("depth", "max-depth", "limit"),
    "--set puzzle.metric=multi": ("metric",),
    "--quiet": ("silent", "q"),
}
"""The options of a search by what people type for them."""

BY_NAME = {name: option for option, names in MEANT.items() for name in names}

RESUMING = "resume", "continue", "restart"


def explain(error: click.NoSuchOption) -> None:
    """Make the message of an error name the remedy, or the nearest option that does no harm."""
    from difflib import get_close_matches  # which commands that are typed right need not load

    typed, context = error.option_name.lower().replace("_", "-"), error.ctx
    known = [
        name for parameter in (context.command.params if context else ()) for name in parameter.opts
    ]
    name, meant = typed.lstrip("-"), None
    if name in RESUMING:
        meant = "A run resumes by itself: repeat the command that started it."
    elif (option := BY_NAME.get(name)) and option.split()[0] in known:
        meant = f"Give {option} instead."
    harmless = [name for name in known if name not in NEVER_OFFERED and name.startswith("--")]
    near = None if meant else get_close_matches(typed, harmless, 1, ALIKE)
    error.possibilities = near  # type: ignore[misc]  # Click calls it final
    error.message += f" {meant}" if meant else ""  # type: ignore[misc]  # and this one
