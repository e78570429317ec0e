"""Following runs from another terminal, by their files alone."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.text import Text

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.report.console import console_on, is_live
from frontier.report.progress import ViewTable, dashboard
from frontier.report.status import describe_status, status_of
from frontier.report.view import NO_LAYER, View, describe_state, in_a_line, view_of, words_of_left
from frontier.store.run import RunStore
from frontier.text import counted, percent, rate

PATIENCE = 3
"""How often in a row a run may look damaged or gone: its files may be replaced while one looks."""


class Watched:
    """One run of those watched."""

    def __init__(self, path: Path):
        self.path = path
        self.run: RunStore | None = None
        self.view = View()
        self._failures = 0

    @property
    def complete(self) -> bool:
        return self.view.complete

    def look(self) -> None:
        """Read the files; InputError if the run is gone, CorruptRunError if it is damaged."""
        try:
            if self.run is None and not RunStore.exists(self.path):
                return
            self.run = RunStore.open(self.path)
            self.view = view_of(self.run)
            self._failures = 0
        except FormatError:
            raise
        except (InputError, CorruptRunError):
            self._failures += 1
            if not self.path.exists():
                raise InputError(f"{self.path} is gone: the run was deleted") from None
            if self._failures >= PATIENCE:
                raise

    def line(self) -> str:
        """All that matters, in one line."""
        view = self.view
        if view.started is None:
            return f"{self.path.name}: {view.state}"
        total, speed = view.started.states, rate(view.states, view.seconds)
        said = [
            f"{view.started.name}: {view.state}",
            NO_LAYER if view.depth is None else f"depth {view.depth}",
            f"{view.states:,} of {counted(total, 'state')} ({percent(view.states / total)})",
            speed,
        ]
        if not view.ended:
            said.append(f"left {in_a_line(words_of_left(view.left()))}")
        return ", ".join(said)

    def key(self) -> tuple:
        """What a new line is worth."""
        view = self.view
        return view.depth, str(view.ended), view.task

    def shown(self) -> Group:
        view = self.view
        if view.started is None:
            return Group(Text(f"{self.path.name}: {view.state}", style="dim"))
        said = f"{view.started.name}: {view.started.title}, {describe_state(view)}"
        parts = [Text(said, style="bold"), ViewTable(view)]
        if view.started.dashboard and not view.ended:
            parts.append(dashboard(view.started.dashboard))
        return Group(*parts)


def watch(
    paths: list[Path], interval: float, wait: Callable[[float], None] = time.sleep
) -> list[dict]:
    """Follow runs until all are complete, on standard output; returns how they stand then."""
    watched = [Watched(path) for path in paths]
    console = console_on()
    if is_live(console):

        def tables() -> Group:
            return Group(*(one.shown() for one in watched))

        with Live(get_renderable=tables, console=console, refresh_per_second=2) as live:
            for _ in _looks(watched, interval, wait):
                live.refresh()
    else:
        keys: dict[Path, tuple] = {}
        for _ in _looks(watched, interval, wait):
            for one in watched:
                if keys.get(one.path) != one.key():
                    keys[one.path] = one.key()
                    print(f"{time.strftime('%H:%M:%S')}  {one.line()}", flush=True)
    values = [status_of(one.run) for one in watched]
    for value in values:
        print(describe_status(value), flush=True)
    return values


def _looks(
    watched: list[Watched], interval: float, wait: Callable[[float], None]
) -> Iterator[None]:
    """Look now and again, until all runs are complete."""
    while True:
        for one in watched:
            if not one.complete:
                one.look()
        yield
        if all(one.complete for one in watched):
            return
        wait(interval)
