"""The counts over the states of a part, and of a layer.

Tallies add up: that of a layer is the sum of those of its parts. A new count is a field here, and a
line in `frontier.search.counting`, which counts what kernels make.
"""

from dataclasses import astuple, dataclass
from typing import ClassVar

from pydantic import ConfigDict

from frontier.storage.sealed import Count


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over some states of a layer.

    states: their number. start: how many of them are the config's `start`. at_goal: how many have
    the blank where the goal has it (`Model.at_goal_shape`), None if that is undefined. edges:
    always None, which runs of format 5 have on disk; an earlier version counted something there.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    states: Count = 0
    start: Count = 0
    at_goal: Count | None = 0
    edges: None = None

    def __add__(self, other: "Tally") -> "Tally":
        both = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*(None if None in pair else sum(pair) for pair in both))
