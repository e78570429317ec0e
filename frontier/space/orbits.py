"""The states that can be reached from some origins, numbered by a tower."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from frontier.space.group import Group
from frontier.space.points import Points
from frontier.space.stages import stages_of
from frontier.space.tower import Graph, Tower
from frontier.space.tower_space import TowerSpace

LEADING_STATES = 10**9, 2 * 10**10
"""With at least the first number of states, the leading digits show where one piece lies; with at
least the second, where two lie. A part of a layer is then made from few other parts. With fewer
states, another order of the digits is somewhat faster."""


class Orbits:
    """The states that moves reach from some origins: one orbit, or several if the moves do not lead
    from one origin to the others.

    points: those of the puzzle, with any goal. graph: the base graph.
    """

    def __init__(self, points: Points, graph: Graph, vertex: np.ndarray, colours: np.ndarray):
        """vertex, colours: int64[N] and int64[N, points], the origins."""
        self._points, self._graph, self._origins = points, graph, (vertex, colours)

    @cached_property
    def _towers(self) -> list[Tower]:
        vertex, colours = self._origins
        towers, missing = [], np.ones(len(vertex), dtype=bool)
        while missing.any():
            n = missing.argmax()
            points = self._points.with_goal(colours[n])
            tower = Tower(points, replace(self._graph, origin=int(vertex[n])))
            missing &= ~tower.contains(vertex, colours)
            towers.append(tower)
        return towers

    @cached_property
    def states(self) -> int:
        """The number of states in all orbits."""
        vertex, colours = self._origins
        if len(vertex) == self._graph.vertices == 1 and np.unique(colours).size == colours.size:
            # No two points are alike, so only the identity leaves the colouring as it is.
            group = Group(self._points.count)
            group.extend(np.argsort(self._points.moves, axis=1))
            return group.order
        return sum(tower.states for tower in self._towers)

    def contains(self, vertex: np.ndarray, colours: np.ndarray) -> np.ndarray:
        """Return which of the states int[N], int[N, points] can be reached: bool[N]. A vertex of -1
        stands for a state that does not exist."""
        return np.any([tower.contains(vertex, colours) for tower in self._towers], axis=0)

    @cached_property
    def space(self) -> TowerSpace:
        """The space of all these states. Several orbits are numbered as parts of the one orbit that
        they would form if an extra arc led from the first origin to each of the others. The other
        states of that orbit have numbers too, but the search never reaches them."""
        first, *others = self._towers
        leading = sum(self.states >= states for states in LEADING_STATES)
        if not others and not leading:
            return TowerSpace(first)
        points, graph = first.points, replace(self._graph, origin=_origin(first))
        for tower in others:
            graph = graph.with_join(_origin(tower), len(points.moves))
            points = points.with_moves([points.joining(tower.points.goal)])
        return TowerSpace(Tower(points, graph, stages_of(points, leading)))


def _origin(tower: Tower) -> int:
    return int(tower.vertices[tower.graph.origin])
