"""What is counted of a part, and of a layer.

Tallies add up: that of a layer is the sum of those of its parts. A new count is a field here, and
a line in `frontier.search.counting`, which counts what kernels make.
"""

from dataclasses import astuple, dataclass
from typing import ClassVar

from pydantic import ConfigDict

from frontier.storage.sealed import Count


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted of some states of a layer.

    states: how many there are. start: how many of them are the position whose distance is asked
    for. at_goal: those whose blank is where the goal has it (`Model.at_goal_shape`), None where
    that cannot be said. edges: the edges of the layer that lead to them (`BaseGraph.edge_targets`),
    None where edges are not counted.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    states: Count = 0
    start: Count = 0
    at_goal: Count | None = 0
    edges: Count | None = 0

    def __add__(self, other: "Tally") -> "Tally":
        both = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*(None if None in pair else sum(pair) for pair in both))
