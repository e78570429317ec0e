"""Random permutation puzzles, and slow searches of them, with boards in a dictionary."""

import random
from dataclasses import dataclass

import numpy as np

from frontier.space.points import Points, points_of


@dataclass
class Made:
    """The arguments of `points_of`."""

    moves: list
    each: list
    labels: list
    turns: list
    wild: list

    @property
    def points(self) -> Points:
        return points_of(self.moves, self.each, self.labels, self.turns, self.wild)

    def layers(self, most: int) -> list[list[tuple]] | None:
        """Return the layers of boards, ((label, orientation), ...) by position; None if there are
        more than `most` boards."""
        any_turn = {label for label, wild in zip(self.labels, self.wild, strict=True) if wild}
        goal = tuple(
            (label, 0 if label in any_turn else turn % number)
            for label, turn, number in zip(self.labels, self.turns, self.each, strict=True)
        )
        seen, layers = {goal}, [[goal]]
        while layers[-1] and len(seen) <= most:
            new = []
            for board in layers[-1]:
                for image, added in self.moves:
                    after: list = [None] * len(board)
                    for position, (label, turn) in enumerate(board):
                        turned = (turn + added[position]) % self.each[position]
                        after[image[position]] = label, 0 if label in any_turn else turned
                    if (found := tuple(after)) not in seen:
                        seen.add(found)
                        new.append(found)
            layers.append(new)
        return None if layers[-1] else layers[:-1]


def made(seed: int) -> Made:
    """Return a random puzzle: several kinds of positions, moves with their inverses, pieces that
    are alike, orientations of which some do not matter."""
    rng = random.Random(seed)
    kinds = [(rng.randint(1, 5), rng.choice([1, 1, 2, 3, 4])) for _ in range(rng.randint(1, 3))]
    each = [number for size, number in kinds for _ in range(size)]
    spans, moves = [], []
    for size, _ in kinds:
        first = spans[-1].stop if spans else 0
        spans.append(range(first, first + size))
    for _ in range(rng.randint(1, 3)):
        image, added = list(range(len(each))), [0] * len(each)
        for span in spans:
            if rng.random() < 0.8:
                image[span.start : span.stop] = _permutation(rng, span)
            if rng.random() < 0.6:
                for at in span:
                    added[at] = rng.randrange(each[at]) if rng.random() < 0.5 else 0
        moves += [(image, added), _inverse(image, added, each)]
    colours, labels, turns = rng.randint(1, 6), [], []
    for number, span in enumerate(spans):
        for at in span:
            alike = rng.random() < 0.6
            labels.append(100 * number + (rng.randrange(colours) if alike else 50 + at))
            turns.append(rng.randrange(each[at]))
    careless = {label for label in labels if rng.random() < 0.3}
    return Made(moves, each, labels, turns, [label in careless for label in labels])


def _inverse(image: list, added: list, each: list) -> tuple[list, list]:
    """Return the move that undoes a move."""
    back, turns = [0] * len(image), [0] * len(image)
    for position, to in enumerate(image):
        back[to], turns[to] = position, -added[position] % each[position]
    return back, turns


def _permutation(rng: random.Random, span: range) -> list[int]:
    """Return a random permutation, often one with blocks or a cycle alone."""
    cells, kind = list(span), rng.randrange(4)
    if kind == 0:
        return cells[1:] + cells[:1]
    if kind == 1 and len(cells) > 1:
        a, b = rng.sample(range(len(cells)), 2)
        cells[a], cells[b] = cells[b], cells[a]
        return cells
    if kind == 2 and len(cells) > 2:
        return cells[2:] + cells[:2]
    rng.shuffle(cells)
    return cells


def origin_of(tower) -> tuple[np.ndarray, np.ndarray]:
    """Return the goal of a tower as a state."""
    return tower.vertices[[tower.graph.origin]], tower.points.goal[None]


def ring(n: int, step: int = 1) -> tuple[list[int], list[int]]:
    """A turn of n pieces in a ring."""
    return [(k + step) % n for k in range(n)], [0] * n


def exchange(n: int, *pairs: tuple[int, int]) -> tuple[list[int], list[int]]:
    """An exchange of pairs of n pieces."""
    image = list(range(n))
    for a, b in pairs:
        image[a], image[b] = b, a
    return image, [0] * n


def plain(moves, labels) -> Points:
    """The points of pieces without orientations."""
    n = len(labels)
    return points_of(moves, [1] * n, labels, [0] * n, [False] * n)
