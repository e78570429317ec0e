"""How the layers of a space are made: by shifting bits, or with tables for the rows that a tower
numbers."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from frontier.kernels import shift_parts, shift_search, tower_parts, tower_search
from frontier.kernels.bitmap_search import BitmapSearch
from frontier.kernels.key_lists import KeyLists
from frontier.kernels.lists import ListKernel, ShiftLists
from frontier.kernels.part_expansion import Expansion, PartTables
from frontier.space.graph import Space
from frontier.space.keys import KeySpace
from frontier.space.layout import Layout
from frontier.space.tower_space import AnySpace, TowerSpace


class Engine(NamedTuple):
    """The functions and classes that make the layers of a space.

    search: returns a search whose layers are bitmaps in memory, for a layout and a number of
    threads. memory_layout: returns the layout of these bitmaps, for a space and a number of
    threads. memory_bytes: returns the bytes that a search with a layout takes. tables, expansion:
    make the parts of a layer. task_layouts: returns the layouts for tasks, the cheapest first, for
    a space, a worker's bytes of memory and a number of workers.
    """

    search: Callable[[Layout[Any], int], BitmapSearch[Any]]
    memory_layout: Callable[[Any, int], Layout[Any]]
    memory_bytes: Callable[[Layout[Any]], int]
    tables: type[PartTables]
    expansion: type[Expansion]
    task_layouts: Callable[[Any, int, int], Sequence[Layout[Any]]]


ENGINES: dict[type[AnySpace], Engine] = {
    Space: Engine(
        search=shift_search.ShiftSearch,
        memory_layout=shift_search.memory_layout,
        memory_bytes=shift_search.memory_bytes,
        tables=shift_parts.ShiftTables,
        expansion=shift_parts.ShiftExpansion,
        task_layouts=shift_parts.task_layouts,
    ),
    TowerSpace: Engine(
        search=tower_search.TowerSearch,
        memory_layout=tower_search.memory_layout,
        memory_bytes=tower_search.memory_bytes,
        tables=tower_parts.TowerTables,
        expansion=tower_parts.TowerExpansion,
        task_layouts=tower_parts.task_layouts,
    ),
}


LISTS: dict[type[AnySpace], Callable[[Any], ListKernel]] = {
    Space: ShiftLists,
    TowerSpace: tower_search.TowerLists,
    KeySpace: KeyLists,
}
"""The kernels that expand sorted lists of states. For keys there is no other way."""


def engine_of(space: AnySpace) -> Engine:
    return ENGINES[type(space)]


def lists_of(space: AnySpace) -> ListKernel:
    return LISTS[type(space)](space)
