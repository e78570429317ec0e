"""How the next layer is made, and which layers stay on disk."""

from dataclasses import dataclass
from typing import Literal

LEAST_KEPT = 2
"""The number of layers from which a run can be resumed."""

Mode = Literal["lists", "memory", "tasks"]
"""How layers are made."""


@dataclass(frozen=True)
class Policy:
    """The rule that decides, from the sizes of layers alone, how the next layer is made and which
    layers stay on disk.

    The next layer is made as a list if the last two are thin and, at the same rate of growth, it
    would be thin too. Otherwise it is made in memory if two layers fit there as bitmaps, or else by
    tasks. At least the last two layers stay on the disk. If only two stay, a task that makes
    bitmaps deletes the part of the older layer that it replaced, so the disk never holds three
    whole layers of bitmaps.

    list_states: a layer of at most this many states is thin. in_memory: True if layers that are not
    thin are made in memory. layers_kept: how many of the last layers stay on the disk; None for
    all.
    """

    list_states: int
    in_memory: bool = False
    layers_kept: int | None = LEAST_KEPT

    def mode(self, *states: int) -> Mode:
        """Return how the next layer is made. states: the sizes of the last two layers."""
        expected = states[-1] ** 2 // max(1, states[0])
        if max(*states, expected) <= self.list_states:
            return "lists"
        return "memory" if self.in_memory else "tasks"

    @property
    def deletes_replaced(self) -> bool:
        """True if tasks delete the parts that they replace."""
        return self.layers_kept == LEAST_KEPT

    def depths_to_keep(self, stored: list[int]) -> list[int]:
        """Return the depths to keep after the next commit. `stored` lists the depths on disk,
        ascending."""
        return stored if self.layers_kept is None else stored[-self.layers_kept :]
