"""Which kernels make the layers of a space: those of shifts where it is a lift, those of rows where
a tower numbers its states.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frontier.kernels import memory, tower_search
from frontier.kernels.bitmap_search import BitmapSearch
from frontier.kernels.lists import ListKernel, ShiftLists
from frontier.space.graph import Space
from frontier.space.layout import Layout
from frontier.space.tower_space import AnySpace, TowerSpace


@dataclass(frozen=True)
class Engine:
    """What makes the layers of a space.

    lists: returns the kernel that expands sorted lists of states. search: returns the search of a
    layout by some threads, whose layers are bitmaps in memory. memory_layout: returns the layout of
    these bitmaps, for a space and a number of threads. memory_bytes: returns the bytes that the
    search of a layout takes.
    """

    lists: Callable[[Any], ListKernel[Any]]
    search: Callable[[Layout[Any], int], BitmapSearch[Any]]
    memory_layout: Callable[[Any, int], Layout[Any]]
    memory_bytes: Callable[[Layout[Any]], int]


ENGINES: dict[type[AnySpace], Engine] = {
    Space: Engine(
        ShiftLists,
        memory.MemorySearch,
        memory.memory_layout,
        memory.memory_bytes,
    ),
    TowerSpace: Engine(
        tower_search.TowerLists,
        tower_search.TowerSearch,
        tower_search.memory_layout,
        tower_search.memory_bytes,
    ),
}


def engine_of(space: AnySpace) -> Engine:
    return ENGINES[type(space)]
