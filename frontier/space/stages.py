"""A chain of colourings, each of which shows more than the one before: the digits of a number.

The first colouring shows only the orbits of the points; the last one is the goal. Each *stage*
between two colourings shows something more: where all marks of an orbit are, where the pieces with
one label are, or where the marks of these pieces are.

Any order of the stages is correct, but the order decides how many *sections* there are (see
`frontier.space.tower`). Marks come first where all pieces of an orbit have some. A move then
permutes the marks of an orbit whatever pieces they belong to, and the pieces whatever marks they
show. Labels follow, the rarest first.
"""

from dataclasses import dataclass

import numpy as np

from frontier.space.points import NO_MARK, Points

MOST_MARKS = 1 << 14
"""The marks of an orbit are shown at once if they can be arranged in at most this many ways."""


@dataclass(frozen=True)
class Stage:
    """What one stage shows: the marks of an orbit (label None), the pieces with a label (marks
    False), or their marks."""

    orbit: int
    label: int | None
    marks: bool


def stages_of(points: Points, leading: int = 0) -> list[Stage]:
    """Return the stages of a puzzle.

    leading: how many labels are shown before anything else, so that few moves change the leading
    digits.
    """
    turned, placed = [], []
    for first in np.unique(points.orbit).tolist():
        inside = np.flatnonzero(points.orbit == first)
        labels, counts = np.unique(points.label[inside], return_counts=True)
        labels = labels[np.argsort(counts, kind="stable")].tolist()
        marked = [label for label in labels if not points.wild[label]]
        each = int(points.each[first])
        at_once = len(marked) == len(labels) and each ** (inside.size - 1) <= MOST_MARKS
        if at_once:
            turned.append(Stage(first, None, True))
        orbit_stages = [Stage(first, label, False) for label in labels]
        if not at_once:
            for label in marked:
                at = orbit_stages.index(Stage(first, label, False))
                orbit_stages.insert(at + 1, Stage(first, label, True))
        placed.append(orbit_stages)
    placed.sort(key=len)
    head = [stage for stage in (placed[-1] if placed else []) if not stage.marks][:leading]
    stages = [*head, *turned]
    return [*stages, *(stage for some in placed for stage in some if stage not in head)]


def shown(points: Points, stages: list[Stage]) -> np.ndarray:
    """Return the colours, int64[points], of the goal, as far as the given stages show them."""
    is_position = points.sticker == NO_MARK
    label_shown, mark_shown = np.zeros(points.count, bool), np.zeros(points.count, bool)
    orbit = points.orbit[points.position]
    for stage in stages:
        inside = orbit == stage.orbit
        if stage.label is not None:
            inside &= points.label == stage.label
        if stage.marks:
            mark_shown |= inside & ~points.wild[points.label]
        else:
            label_shown |= inside & (is_position | ~points.wild[points.label])
    label = np.where(label_shown, points.label, -1)
    mark = np.where(mark_shown & ~is_position, points.mark, -2)
    keys = np.stack([is_position, orbit, label, mark])
    return np.unique(keys, axis=1, return_inverse=True)[1].ravel()


def live(points: Points, told: np.ndarray) -> np.ndarray:
    """Return the points that further stages depend on, ascending.

    told: the colours that the stages so far show. A move that leaves these as they are, and all
    live points where they are, leaves the goal as it is:

    * if all points of a told colour have one colour in the goal, each of them may go to any other;
    * if the stickers of a position have different told colours, they go where the position goes. If
      the position is not live, it goes to one of the same label, whose stickers show the same
      marks.
    """
    goal = points.goal
    several = np.zeros(told.max() + 1, dtype=bool)
    order = np.lexsort((goal, told))
    changes = (told[order][1:] == told[order][:-1]) & (goal[order][1:] != goal[order][:-1])
    several[told[order][1:][changes]] = True
    alive = several[told]
    for position, each in enumerate(points.each):
        stickers = np.flatnonzero((points.position == position) & (points.sticker != NO_MARK))
        if np.unique(told[stickers]).size == each:
            alive[stickers] = False
    return np.flatnonzero(alive)
