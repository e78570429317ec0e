"""Permutations of points, and colourings of the points.

The *points* of a puzzle are its positions and, where pieces have orientations, the *stickers* of
each position, one for each orientation. A move permutes the points. A board is a colouring of them:
the colour of a position is the label of the piece that lies there, and the colour of a sticker is
that label with the mark that the piece shows there. Sticker u of a position shows mark 0 if the
piece has orientation u. In each orbit, the stickers of all pieces whose orientation does not matter
have one colour.

The boards that moves reach are therefore the orbit of one colouring under the group that the moves
generate, whichever pieces are alike and whichever orientations matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

NO_MARK = -1
"""The mark of a sticker whose colour shows no orientation, and the value of `sticker` for a
position."""


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a puzzle, its moves and its goal.

    The positions come first, so that point p < `positions` is position p.

    moves: uint8 or uint16[moves, points], where each point goes. orbit: int64[positions], the first
    position of the orbit of each, or of a set of several orbits. each: int64[positions], the number
    of stickers. position, sticker: int64[points], the position of each point, and the orientation
    that it stands for (`NO_MARK` for a position). label, mark: int64[points], what the goal shows
    at each point. Pieces of different orbits have different labels. wild: bool[labels], True for
    pieces whose orientation does not matter.
    """

    moves: np.ndarray
    orbit: np.ndarray
    each: np.ndarray
    position: np.ndarray
    sticker: np.ndarray
    label: np.ndarray
    mark: np.ndarray
    wild: np.ndarray

    @property
    def count(self) -> int:
        return self.position.size

    @property
    def positions(self) -> int:
        return self.each.size

    @property
    def goal(self) -> np.ndarray:
        """The colours of the goal, int64[points]."""
        return self.colours(self.label, self.mark)

    @property
    def undone(self) -> bool:
        """True if each move is undone by one of the moves."""
        undoing = np.argsort(self.moves, axis=1)
        return set(map(tuple, self.moves.tolist())) == set(map(tuple, undoing.tolist()))

    def with_moves(self, moves: Sequence[tuple[ArrayLike, ArrayLike]]) -> "Points":
        """Return these points with more moves, given as for `points_of`."""
        first = self.positions + np.cumsum(self.each) - self.each
        permutations = [self.moves]
        for given, turns in moves:
            image, added = np.asarray(given), np.asarray(turns)[self.position]
            turned = (self.sticker + added) % np.maximum(self.each, 1)[self.position]
            permutation = first[image[self.position]] + turned
            permutation[: self.positions] = image
            permutations.append(permutation[None].astype(self.moves.dtype))
        return replace(self, moves=np.concatenate(permutations))

    def with_goal(self, colours: np.ndarray) -> "Points":
        """Return these points with another goal, int64[points]."""
        each = 1 + int(self.each.max())
        label = (colours[: self.positions] // each)[self.position]
        marked = (self.sticker != NO_MARK) & ~self.wild[label]
        return replace(self, label=label, mark=np.where(marked, colours % each - 1, NO_MARK))

    def joining(self, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a move, as for `points_of`, that brings the goal to a colouring with the same
        pieces."""
        labels, turns = self.boards(np.stack([self.goal, colours]))
        before, after = np.argsort(labels, axis=1, kind="stable")
        image, added = np.empty_like(before), np.empty_like(before)
        image[before] = after
        added[before] = turns[1][after] - turns[0][before]
        return image, added

    def colours(self, label: np.ndarray, mark: np.ndarray) -> np.ndarray:
        """Return the colours, int64[..., points], of points that show these labels and marks."""
        each = 1 + int(self.each.max())
        colours = label * each + np.where(self.sticker == NO_MARK, 0, 1 + mark)
        unmarked = (self.sticker != NO_MARK) & self.wild[label]
        return np.where(unmarked, self.wild.size * each + self.orbit[self.position], colours)

    def colourings(self, labels: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Return the colours, int64[N, points], of boards, given as the labels and orientations of
        the pieces in all positions, int64[N, positions] each."""
        label, turn = labels[:, self.position], turns[:, self.position]
        mark = (self.sticker - turn) % np.maximum(self.each, 1)[self.position]
        return self.colours(label, np.where(self.wild[label], NO_MARK, mark))

    def boards(self, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels and orientations, int64[N, positions] each, of colourings. Inverse of
        `colourings`, with 0 for an orientation that does not matter."""
        label, mark = np.divmod(colours, 1 + int(self.each.max()))
        turns = np.zeros((len(colours), self.positions), dtype=np.int64)
        for point in range(self.positions, self.count):
            first = (label[:, point] < self.wild.size) & (mark[:, point] == 1)
            turns[:, self.position[point]] += first * self.sticker[point]
        return label[:, : self.positions], turns

    def with_labels(self, label: np.ndarray) -> np.ndarray:
        """Return the colours of boards with these labels, int64[N, positions], and the goal's
        marks."""
        label = label[:, self.position]
        return self.colours(label, np.where(self.wild[label], NO_MARK, self.mark))


def points_of(
    moves: Sequence[tuple[ArrayLike, ArrayLike]],
    each: ArrayLike,
    labels: ArrayLike,
    turns: ArrayLike,
    wild: ArrayLike,
    orbit: np.ndarray | None = None,
) -> Points:
    """Return the points of a puzzle.

    moves: for each move, the position to which the piece in each position goes, and what is added
    to its orientation. each: the number of orientations in each position. labels, turns: the goal.
    wild: True for positions whose piece, in the goal, has an orientation that does not matter.
    orbit: for each position, the first position of a set that contains its orbit, if goals may lie
    in several orbits; by default, the orbits of the moves.
    """
    each, labels, turns = (np.asarray(of, dtype=np.int64) for of in (each, labels, turns))
    wild = np.asarray(wild, dtype=bool)
    if orbit is None:
        orbit = orbits([image for image, _ in moves], labels.size)
    turned = np.bincount(orbit, ~wild & (each > 1), labels.size)[orbit] > 0
    each = np.where(turned, each, 0)
    _, label = np.unique(np.stack([orbit, labels]), axis=1, return_inverse=True)
    label = label.ravel()
    wild_label = np.zeros(label.max() + 1, dtype=bool)
    np.logical_or.at(wild_label, label, wild | (each == 0))
    positions = np.arange(labels.size)
    position = np.concatenate([positions, np.repeat(positions, each)])
    first = labels.size + np.cumsum(each) - each
    sticker = np.arange(position.size) - first[position]
    sticker[: labels.size] = NO_MARK
    points = Points(
        moves=np.empty((0, position.size), np.uint8 if position.size <= 256 else np.uint16),
        orbit=orbit,
        each=each,
        position=position,
        sticker=sticker,
        label=label[position],
        mark=np.full(position.size, NO_MARK),
        wild=wild_label,
    )
    return points.with_moves(moves).with_goal(points.colourings(label[None], turns[None])[0])


def orbits(images: Sequence[ArrayLike], positions: int) -> np.ndarray:
    """Return the first position of the orbit of each position, int64[positions].

    images: for each move, where the piece in each position goes.
    """
    orbit = np.arange(positions)
    before: np.ndarray | None = None
    while before is None or (orbit != before).any():
        before = orbit.copy()
        for image in images:
            orbit = np.minimum(orbit, orbit[np.asarray(image, dtype=np.int64)])
    return orbit
