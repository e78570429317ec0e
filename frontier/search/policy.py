"""How a search goes on from its last two layers, and which layers it keeps.

The next layer is made as a list where the two before it are thin; else in memory, where two layers
as bitmaps fit there, or by tasks. The last layers stay on the disk, two at least, or all. Where two
do, a part of the older one is given up as soon as a task has replaced it, so the disk never has
three whole layers, unless it has room for parts that are made early (`frontier.search.expansion`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

LEAST_KEPT = 2
"""The number of layers from which a run can go on."""

Mode = Literal["lists", "memory", "tasks"]
"""How layers are made."""

Some = TypeVar("Some", bound=Sequence)


@dataclass(frozen=True)
class Policy:
    """What a run decides by the sizes of its layers alone.

    list_states: a layer of at most this many states is thin. in_memory: whether layers that are not
    made as lists are made in memory. kept: how many of the last layers stay on the disk; None for
    all.
    """

    list_states: int
    in_memory: bool = False
    kept: int | None = LEAST_KEPT

    def mode(self, *states: int) -> Mode:
        """How the next layer is made; `states`: those of the last two layers."""
        if max(states) <= self.list_states:
            return "lists"
        return "memory" if self.in_memory else "tasks"

    @property
    def gives_up(self) -> bool:
        """Whether a part of a layer of bits is given up as soon as a task has replaced it."""
        return self.kept == LEAST_KEPT

    def left(self, stored: Some) -> Some:
        """Of the layers on the disk, in order, those that are not deleted at the next commit."""
        return stored if self.kept is None else stored[-self.kept :]
