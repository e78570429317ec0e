"""The counts over the states of a part, and of a layer.

Tallies add up: a layer's tally is the sum of its parts' tallies. A new count needs a field in
`Tally` and a line in `Counting`, which counts the states that kernels make.
"""

from dataclasses import asdict, astuple, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field

from frontier.kernels.key_lists import KeyLists
from frontier.puzzles import Puzzle
from frontier.space.keys import KeySpace
from frontier.space.layout import Layout, Task
from frontier.space.tower_space import AnySpace
from frontier.storage.sealed import Count


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over some states of a layer.

    states: the number of states. start: how many of them are the config's `start`. at_goal: how
    many have the blank where the goal has it (`Model.at_goal_shape`), None if that is undefined.
    members: how many states their classes under a symmetry have; 0 if the puzzle does not say.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    states: Count = 0
    start: Count = 0
    at_goal: Count | None = 0
    members: Annotated[int, Field(strict=True, ge=0)] = 0

    def __add__(self, other: "Tally") -> "Tally":
        both = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*(None if None in pair else sum(pair) for pair in both))  # type: ignore[arg-type]  # a field may be None

    @property
    def stored(self) -> dict[str, int | None]:
        """The counts as files hold them: without `members` if it is 0."""
        counts = asdict(self)
        return counts if self.members else {key: counts[key] for key in counts if key != "members"}


class Counting:
    """Makes the tallies of states of a puzzle.

    zero: the tally without states.
    """

    def __init__(self, puzzle: Puzzle, space: AnySpace):
        self._space = space
        self._classes = KeyLists(space) if isinstance(space, KeySpace) and space.classes else None
        self._start: tuple[int, Any] | None = None
        if (state := puzzle.model.start_state) is not None:
            self._start = space.number(*state)
        at_goal = puzzle.model.at_goal_shape()
        self._at_goal = None if at_goal is None else [at_goal[vertex] for vertex in space.vertex]
        self.zero = self.of_nodes(0, slice(0, 0), np.empty(0, dtype=np.int64))

    def of_nodes(self, side: int, nodes: slice | np.ndarray, counts: np.ndarray) -> Tally:
        """Return the tally of states at some nodes of a side, without `start`.

        nodes: the index of the nodes. counts: int64[N], the number of states at each node.
        """
        at_goal = None
        if self._at_goal is not None:
            at_goal = int(counts[self._at_goal[side][nodes]].sum())
        return Tally(int(counts.sum()), at_goal=at_goal)

    def of_list(self, side: int, numbers: np.ndarray) -> Tally:
        """Return the tally of a layer from its sorted state numbers."""
        tally = Tally(numbers.size, at_goal=None)
        if self._at_goal is not None:
            nodes = (numbers // np.uint64(self._space.code.half)).astype(np.int64)
            tally = self.of_nodes(side, nodes, np.ones(numbers.size, dtype=np.int64))
        if (number := self.start_in(side)) is not None:
            wanted = np.array(number, numbers.dtype)
            at = int(np.searchsorted(numbers, wanted))
            tally += Tally(start=int(at < numbers.size and numbers[at] == wanted))
        if self._classes is not None:
            tally += Tally(members=self._classes.members(numbers))
        return tally

    def start_in(self, side: int) -> Any:
        """Return the state number of the config's `start` if it lies on this side, else None."""
        return self._start[1] if self._start is not None and self._start[0] == side else None

    def start_at(self, layout: Layout, task: Task) -> tuple[int, int, int] | None:
        """Return (slab, word, bit) of `start` if it lies in the part of a task, else None."""
        number = self.start_in(task.side)
        if number is None:
            return None
        location = layout.locate(task.side, np.array([number], dtype=np.uint64))
        its_task, slab, word, bit = (int(of[0]) for of in location)
        return (slab, word, bit) if its_task == task.number else None
