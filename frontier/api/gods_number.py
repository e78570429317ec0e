"""God's number as a function."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from frontier.api.start import carry_out
from frontier.config.loading import Config
from frontier.cosets.search import CosetSearch
from frontier.puzzles import Board, Puzzle
from frontier.runs.resolve import resolve
from frontier.storage.places import Place
from frontier.text import counted

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True, repr=False)
class GodsNumber:
    """Bounds on God's number of a tile puzzle. God's number is known if they are equal.

    Attributes
    ----------
    puzzle
        The puzzle.
    lower
        The lower bound.
    upper
        The upper bound.
    layers
        If God's number is known, the positions of the requested last layers, by depth.
    path
        The place of the search.
    """

    puzzle: Puzzle
    lower: int
    upper: int
    layers: dict[int, list[Board]]
    path: Path | str

    def __repr__(self) -> str:
        number = str(self.upper) if self.known else f"from {self.lower} to {self.upper}"
        found = [
            f"{counted(len(boards), 'position')} at depth {depth}"
            for depth, boards in self.layers.items()
        ]
        about = "; ".join([number, *found, str(self.path)])
        return f"<God's number of {self.puzzle.title}: {about}>"

    @property
    def known(self) -> bool:
        """True if the bounds are equal."""
        return self.lower == self.upper


def gods_number(
    what: Config | Place,
    at_most: int | None = None,
    layers: int = 1,
    *,
    hours: float | None = None,
    region: str | None = None,
    take_over: bool = False,
    progress: bool | None = None,
    client: "Client | None" = None,
) -> GodsNumber:
    """Find God's number of a tile puzzle without visiting every position.

    A stopped search is resumed. docs/mathematics.md has the theorem.

    Parameters
    ----------
    what
        A config, or the path of a config or of a search.
    at_most
        Ask only whether this many moves suffice.
    layers
        How many of the last layers to find completely.
    hours
        The time after which the search ends with the bounds found so far.
    region
        The name of the region, such as "2x5"; by default the best that fits.
    take_over, progress, client
        As for `run`.

    Returns
    -------
    GodsNumber
        The bounds, and the positions of the last layers.

    Raises
    ------
    InputError
        If the search by cosets does not support the puzzle, or if its tables do not fit in memory.
    Stopped
        If the search was interrupted.
    """
    config = what if isinstance(what, Config) else resolve(what).config
    search = CosetSearch(config, at_most, layers, hours, region, client)
    run, _ = carry_out(search, (), take_over, progress)
    proof = run.begun_proof
    last = {depth: [of.board for of in witnesses] for depth, witnesses in proof.last_layers()}
    return GodsNumber(run.puzzle, proof.lower, proof.upper, last, run.path)
