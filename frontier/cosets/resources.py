"""The resources of a search by cosets, and whether they suffice here.

Memory use peaks while tables are made: first the tables of the region, then the databases of single
positions, which may reuse the memory of the layers of the region's search. The time of a search
depends on how many positions the solutions leave open, which no table shows.
"""

from dataclasses import dataclass
from functools import cached_property

from frontier import machine
from frontier.config.loading import Config
from frontier.config.schema import MEMORY_SHARE
from frontier.cosets.regions import Region, best_region, check_puzzle, region_named, regions_of
from frontier.errors import InputError
from frontier.solving.groups import group_bytes, group_sizes
from frontier.text import size


@dataclass(frozen=True)
class CosetPlan:
    """The resources of a search for God's number.

    groups: the number of tiles of each group of the databases. bytes: the memory while the tables
    are made. room: the memory available here.
    """

    config: Config
    region: Region
    groups: tuple[int, ...]
    bytes: int
    room: int

    @property
    def most_cosets(self) -> int:
        """The most cosets of a question: all of one parity if the period is 2, otherwise all."""
        return self.region.patterns // self.region.period

    @cached_property
    def refusal(self) -> str | None:
        """Why the search cannot run here, and what would help; None if it can."""
        region = self.region
        subject = f"{region.puzzle.title}, region {region.name}"
        if self.bytes <= self.room:
            return None
        fitting = [of for of in regions_of(region.puzzle) if of.memory_while_made < self.room]
        smaller = min(fitting, key=lambda of: of.memory_while_made, default=None)
        needed = -(-self.bytes * MEMORY_SHARE[1] // MEMORY_SHARE[0])
        remedy = f"use a machine with {size(needed)} or more"
        if smaller:
            less = size(smaller.memory_while_made)
            remedy += f", or another region, such as {smaller.name}, whose tables take {less}"
        return (
            f"{subject}: its tables take {size(self.bytes)} of memory while they are made, but "
            f"only {size(self.room)} may be used here; {remedy}"
        )


def plan_cosets(config: Config, region: str | None = None) -> CosetPlan:
    """Return the resources for the search of a config, even if they are not available here.

    region: the name of the region, by default that of `best_region`. Raises InputError if the
    search by cosets does not support the puzzle, or if it has no region of this name.
    """
    config.refuse_family("choose one, such as puzzle.blank = [0, 0]")
    puzzle = check_puzzle(config.make_puzzle())
    chosen = best_region(puzzle) if region is None else region_named(puzzle, region)
    room = machine.memory() * MEMORY_SHARE[0] // MEMORY_SHARE[1]
    try:
        groups = group_sizes(puzzle, room - chosen.memory)
    except InputError:  # a machine with enough memory for the region has enough for the groups
        groups = group_sizes(puzzle, room)
    bytes_needed = max(chosen.memory_while_made, chosen.memory + group_bytes(puzzle, groups))
    return CosetPlan(config, chosen, groups, bytes_needed, room)
