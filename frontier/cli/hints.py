"""Hints about options: those that a command does not have, and those that set what an error of the
package names.

Click offers options with similar names, even if their meanings are unrelated. Here each common
mistake has its own remedy, and no hint names an option that deletes.
"""

import re

import click

NEVER_OFFERED = {"--fresh", "--yes", "--force", "--take-over", "--job"}
"""The options that delete, overwrite, skip a question or take a run from its writer."""

ALIKE = 0.7
"""The least similarity, from 0 to 1, of a misspelled option and the option that is offered."""

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
"""The options of a search, with other names that people type for each."""

BY_NAME = {name: option for option, names in MEANT.items() for name in names}

SETTING = {
    "store.path": "--out DIRECTORY",
    "store.codec": "--codec CODEC",
    "search.keep": "--keep-all",
    "search.until": "--until DEPTH",
    "cluster.workers": "--workers N",
    "cluster.memory": "--memory SIZE",
    'cluster.kind = "local"': "--set cluster.kind=local",
    "puzzle.blank = [0, 0]": "--set 'puzzle.blank=[0, 0]'",
    "take_over=True": "--take-over",
    "trust the stored text": "--trust",
    "another region": "--region RxC",
    "a deep check": "verify --deep",
}
"""The options that set what the package's errors name."""

RESUMING = "resume", "continue", "restart"


def options(message: str) -> str:
    """Return a hint to append to the message of an error: the options that set what it names. It
    is empty if no option does."""
    names = (name for name in SETTING if re.search(rf"(?<!\w){re.escape(name)}(?![\w=])", message))
    found = ", ".join(SETTING[name] for name in names)  # "=" follows a name in a command
    return f" (on the command line: {found})" if found else ""


def explain(error: click.NoSuchOption) -> None:
    """Make the message of an error name the remedy, or the nearest option that does no harm."""
    from difflib import get_close_matches  # not needed if commands are typed correctly

    typed, context = error.option_name.lower().replace("_", "-"), error.ctx
    known = [
        name for parameter in (context.command.params if context else ()) for name in parameter.opts
    ]
    name, meant = typed.lstrip("-"), None
    if name in RESUMING:
        meant = "To resume a run, repeat the command that started it."
    elif (option := BY_NAME.get(name)) and option.split()[0] in known:
        meant = f"Use {option} instead."
    harmless = [name for name in known if name not in NEVER_OFFERED and name.startswith("--")]
    near = None if meant else get_close_matches(typed, harmless, 1, ALIKE)
    error.possibilities = near  # type: ignore[misc]  # Click calls it final
    error.message += f" {meant}" if meant else ""  # type: ignore[misc]  # the same
