"""What a shell may complete: runs, configs, and the keys of ``--set``.

Click makes the scripts: ``eval "$(_FRONTIER_COMPLETE=bash_source frontier)"``, or zsh, fish.
"""

from glob import escape, iglob
from itertools import chain, islice
from pathlib import Path
from typing import Literal, get_args, get_origin

from click.shell_completion import CompletionItem

from frontier.config import ClusterTable, SearchTable, StoreTable
from frontier.puzzles.tables import KIND_TABLES
from frontier.store.run import RunStore

MOST = 500
"""The number of paths that are offered, at most."""


def complete_run(context, parameter, incomplete: str) -> list[CompletionItem]:
    """Offer run directories and configs, here and one folder further."""
    start = escape(incomplete) + "*"
    paths = sorted(islice(chain(iglob(start), iglob(f"{start}/*")), MOST))
    return [CompletionItem(p) for p in paths if p.endswith(".toml") or _is_run(Path(p))]


def complete_setting(context, parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the keys of a config, with their values where only a few are possible."""
    return [CompletionItem(text) for text in _settings() if text.startswith(incomplete)]


def _is_run(path: Path) -> bool:
    """Whether it is a run directory, and not the copies that one keeps of its files."""
    return RunStore.exists(path) and not RunStore.exists(path.parent)


def _settings() -> dict[str, None]:
    """The settings that there are, each once; keys alone where any value may follow."""
    tables = [("search", SearchTable), ("store", StoreTable), ("cluster", ClusterTable)]
    tables += [("puzzle", table) for table in KIND_TABLES.values()]
    return {
        f"{name}.{key}={value}": None
        for name, table in tables
        for key, field in table.model_fields.items()
        for value in (
            get_args(field.annotation) if get_origin(field.annotation) is Literal else [""]
        )
    }
