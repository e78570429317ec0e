"""Runs are followed from another terminal, by their files alone."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.text import Text

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.report.console import console_on, is_live
from frontier.report.displays import ProgressTable, dashboard
from frontier.report.progress import Progress, progress_of
from frontier.report.progress_text import NO_LAYER, describe_state, in_a_line, time_left_words
from frontier.report.status import describe_status, status_of
from frontier.store.run import RunStore
from frontier.text import counted, percent, rate

PATIENCE = 3
"""A run may look damaged or gone so often in a row, as its files may be replaced meanwhile."""


class Watched:
    """A run that is watched."""

    def __init__(self, path: Path):
        self.path = path
        self.run: RunStore | None = None
        self.progress = Progress()
        self._failures, self._printed = 0, None

    def look(self) -> None:
        """Read the files; InputError if the run is gone, CorruptRunError if it is damaged."""
        try:
            if self.run is None and not RunStore.exists(self.path):
                return
            self.run = RunStore.open(self.path)
            self.progress = progress_of(self.run)
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
        """The progress in one line."""
        progress = self.progress
        if progress.started is None:
            return f"{self.path.name}: {progress.state}"
        total, speed = progress.started.states, rate(progress.states, progress.seconds)
        parts = [
            f"{progress.started.name}: {progress.state}",
            NO_LAYER if progress.depth is None else f"depth {progress.depth}",
            f"{progress.states:,} of {counted(total, 'state')} "
            f"({percent(progress.states / total)})",
            speed,
        ]
        if not progress.ended:
            parts.append(f"left {in_a_line(time_left_words(progress.left()))}")
        return ", ".join(parts)

    def has_changed(self) -> bool:
        """Whether there is anything new since this was asked last."""
        before, progress = self._printed, self.progress
        self._printed = progress.depth, str(progress.ended), progress.task
        return self._printed != before

    def shown(self) -> Group:
        progress = self.progress
        if progress.started is None:
            return Group(Text(f"{self.path.name}: {progress.state}", style="dim"))
        title = f"{progress.started.name}: {progress.started.title}, {describe_state(progress)}"
        parts = [Text(title, style="bold"), ProgressTable(progress)]
        if progress.started.dashboard and not progress.ended:
            parts.append(dashboard(progress.started.dashboard))
        return Group(*parts)


def watch(
    paths: list[Path], interval: float, wait: Callable[[float], None] = time.sleep
) -> list[dict]:
    """Follow runs until all are complete, on standard output; returns how they stand then."""
    watched, console = [Watched(path) for path in paths], console_on()
    looks = _looks(watched, interval, wait)
    if is_live(console):

        def tables() -> Group:
            return Group(*(one.shown() for one in watched))

        with Live(get_renderable=tables, console=console, refresh_per_second=2) as live:
            for _ in looks:
                live.refresh()
    else:
        for _ in looks:
            for one in watched:
                if one.has_changed():
                    print(f"{time.strftime('%H:%M:%S')}  {one.line()}", flush=True)
    values = [status_of(one.run) for one in watched]
    for value in values:
        print(describe_status(value), flush=True)
    return values


def _looks(
    watched: list[Watched], interval: float, wait: Callable[[float], None]
) -> Iterator[None]:
    """Look from time to time, until all runs are complete."""
    while True:
        for one in watched:
            if not one.progress.complete:
                one.look()
        yield
        if all(one.progress.complete for one in watched):
            return
        wait(interval)
