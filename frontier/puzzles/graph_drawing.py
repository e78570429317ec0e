"""Where the cells of a graph lie in the plane.

Either as a text shows them, or where the distances in the plane are like those in the graph: the
stress sum (|p_i - p_j| - d_ij)^2 / d_ij^2 is lowered by majorisation (E. R. Gansner, Y. Koren and
S. North, Graph Drawing by Stress Majorization, 2004), from the plane that fits the distances best
(classical scaling).
"""

import re
from collections.abc import Sequence

import numpy as np

from frontier.puzzles.notation import width
from frontier.puzzles.picture import Point

ROUNDS = 300
USUAL = 2
"""How many times as high as broad a letter of a text is, as a rule."""


def shown_in(text: str, edges: Sequence[tuple[int, int]]) -> tuple[Point, ...]:
    """The places of cells whose numbers a text shows; nearest cells are 1 apart.

    Lines of text are as far apart as makes the edges most alike in length: 1 to 4 breadths of a
    letter.
    """
    found = {}
    for y, line in enumerate(text.splitlines()):
        for number in re.finditer(r"\d+", line):
            # Labels are put where numbers begin, so that 9 and 10 may stand under each other.
            found[int(number[0])] = (width(line[: number.start()]), y)
    at = np.array([found[cell] for cell in range(len(found))], dtype=float)
    across, down = np.array([(at[a] - at[b]) ** 2 for a, b in edges]).reshape(-1, 2).T
    squared = USUAL**2
    if np.unique(down).size > 1:  # the squared lengths across + squared * down vary least
        squared = -np.mean((across - across.mean()) * (down - down.mean())) / down.var()
    at[:, 1] *= np.sqrt(np.clip(squared, 1, 16))
    return _scaled(at)


def laid_out(cells: int, edges: Sequence[tuple[int, int]]) -> tuple[Point, ...]:
    """Places found from the graph alone; the nearest cells are 1 apart."""
    if cells == 1:
        return ((0.0, 0.0),)
    far = _distances(cells, edges)
    centred = np.eye(cells) - 1 / cells
    values, vectors = np.linalg.eigh(-0.5 * centred @ (far**2) @ centred)
    at = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    # Not all on one point or line, where no force would part them.
    turn = 2 * np.pi * np.arange(cells) / cells
    at = at + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    weight = 1 / (far + np.eye(cells)) ** 2 - np.eye(cells)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(ROUNDS):
        pull = weight * far / np.maximum(_apart(at), 1e-9)
        at = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ at)
    return _scaled(_turned(at, far))


def _distances(cells: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """float64[cells, cells], steps between cells; between parts that are not joined, one more than
    the most (R. W. Floyd, Algorithm 97, 1962)."""
    far = np.where(np.eye(cells), 0, np.inf)
    for u, v in edges:
        far[u, v] = far[v, u] = 1
    for middle in range(cells):
        far = np.minimum(far, far[:, middle, None] + far[middle])
    joined = far < np.inf
    return np.where(joined, far, far[joined].max() + 1)


def _apart(at: np.ndarray) -> np.ndarray:
    """The distances between points, float64[N, N]."""
    return np.linalg.norm(at[:, None] - at[None], axis=2)


def _turned(at: np.ndarray, far: np.ndarray) -> np.ndarray:
    """The points turned: the first lies left of one farthest from it, the second not below it."""
    along = at[int(far[0].argmax())] - at[0]
    angle = np.arctan2(along[1], along[0])
    cosine, sine = np.cos(angle), np.sin(angle)
    at = at @ np.array([[cosine, -sine], [sine, cosine]])
    if at[1, 1] > at[0, 1]:
        at[:, 1] *= -1
    return at


def _scaled(at: np.ndarray) -> tuple[Point, ...]:
    """The points with the nearest two 1 apart, and the coordinates from 0 on."""
    if len(at) > 1:
        apart = _apart(at) + np.diag([np.inf] * len(at))
        at = at / max(apart.min(), 1e-3 * np.abs(at - at.mean(axis=0)).max())
    at = at - at.min(axis=0)
    return tuple((round(float(x), 4) + 0.0, round(float(y), 4) + 0.0) for x, y in at)
