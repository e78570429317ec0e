"""The listeners to a run of either kind: a display, and its files for people."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from frontier.config import Config
from frontier.report.console import say_compiling
from frontier.report.displays import display_for_people
from frontier.report.log import NAME as LOG
from frontier.report.log import EventLog, StartLog, noted
from frontier.report.progress import Standing
from frontier.report.status_page import kept_page
from frontier.search.environment import NAME as ENVIRONMENT
from frontier.search.events import Listener
from frontier.stopwatch import preparing
from frontier.storage.base import Storage


@contextmanager
def listening(
    config: Config,
    storage: Storage,
    progress: type[Standing],
    listeners: Sequence[Listener],
    shown: bool | None,
) -> Iterator[list[Listener]]:
    """Yield the listeners to a run, with those of the caller, for as long as it is under way.

    storage: its place. progress: the class that follows a run of its kind. shown: show a display,
    as for `frontier.run`.
    """
    display = display_for_people(shown, progress())
    start = noted(storage.place(ENVIRONMENT), StartLog(storage, config))
    log = noted(storage.place(LOG), EventLog(storage))
    telling = preparing.telling(say_compiling) if display else nullcontext()
    with telling, kept_page(storage, progress()) as page:
        displays = [display] if display else []
        yield [start, *displays, *listeners, log, page]
