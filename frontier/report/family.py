"""The diameter of a tile puzzle's state graph, from the runs of all blank cells."""

from collections.abc import Iterable
from dataclasses import dataclass

from frontier.config import member_names


@dataclass(frozen=True)
class Family:
    """The runs of one tile puzzle from all blank cells, one cell of each orbit of its symmetries.

    depths: the depth of the run from each cell; None where it is missing or not complete.
    """

    depths: dict[tuple[int, int], int | None]

    @property
    def complete(self) -> bool:
        return None not in self.depths.values()

    @property
    def diameter(self) -> int | None:
        """The greatest depth, if all are complete."""
        return max(self.depths.values()) if self.complete else None

    @property
    def finding(self) -> str:
        if not self.complete:
            return "not complete from every blank cell, so the diameter is not known"
        deepest = [cell for cell, depth in self.depths.items() if depth == self.diameter]
        cells = ", ".join(map(str, deepest))
        return f"diameter of the state graph: {self.diameter}, with the blank at {cells}"


def family_of(runs: Iterable[tuple[dict, int | None]]) -> Family | None:
    """The family of some runs; None if they do not belong to one.

    runs: the settings of the puzzle of each, and its depth if it is complete.
    """
    runs = list(runs)
    if not runs or any(_but_blank(settings) != _but_blank(runs[0][0]) for settings, _ in runs):
        return None
    cells = [tuple(cell) for cell in member_names(runs[0][0]).values()]
    depths: dict[tuple[int, int], int | None] = dict.fromkeys(cells)
    for settings, depth in runs:
        if (
            not isinstance(blank := settings.get("blank"), list | tuple)
            or tuple(blank) not in cells
        ):
            return None
        if depth is not None:
            depths[tuple(blank)] = depth
    return Family(depths)


def _but_blank(settings: dict) -> dict:
    return {key: value for key, value in settings.items() if key != "blank"}
