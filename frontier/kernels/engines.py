"""Which kernels make the layers of a space: those of shifts where it is a lift, those of rows where
a tower numbers its states.
"""

from frontier.kernels import memory, tower_search
from frontier.kernels.lists import ListKernel
from frontier.kernels.memory import MemorySearch
from frontier.kernels.tower_search import TowerLists, TowerSearch
from frontier.space.layout import Layout
from frontier.space.tower_space import AnySpace, TowerSpace


def lists_of(space: AnySpace) -> ListKernel:
    """Return the kernel that expands sorted lists of states."""
    return TowerLists(space) if isinstance(space, TowerSpace) else ListKernel(space)


def search_of(layout: Layout, threads: int) -> MemorySearch | TowerSearch:
    """Return the search of a space whose layers are bitmaps in memory."""
    kind = TowerSearch if isinstance(layout.space, TowerSpace) else MemorySearch
    return kind(layout, threads)


def memory_layout(space: AnySpace, threads: int) -> Layout:
    """Return the layout of bitmaps in memory."""
    if isinstance(space, TowerSpace):
        return tower_search.memory_layout(space, threads)
    return memory.memory_layout(space, threads)


def memory_bytes(layout: Layout) -> int:
    """Return the bytes that the search of a layout in memory takes."""
    kind = tower_search if isinstance(layout.space, TowerSpace) else memory
    return kind.memory_bytes(layout)
