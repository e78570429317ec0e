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
    cells = [tuple(cell) for of, _ in runs[:1] for cell in member_names(of).values()]
    blanks = [tuple(settings.get("blank") or ()) for settings, _ in runs]
    puzzles = [{**settings, "blank": None} for settings, _ in runs]
    if not cells or not set(blanks) <= set(cells) or any(of != puzzles[0] for of in puzzles):
        return None
    found = {
        blank: depth for blank, (_, depth) in zip(blanks, runs, strict=True) if depth is not None
    }
    return Family(dict.fromkeys(cells) | found)
