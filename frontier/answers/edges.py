"""The state graph of a run as edges between positions.

The states of all layers that the run has kept are expanded again. If moves are undone, an edge
counts once, from the position of lesser depth or, within a layer, of the lesser state number.
Otherwise each move from one position to another is an edge.
"""

from collections.abc import Iterator

import numpy as np

from frontier.answers.layers import Layers
from frontier.errors import InputError
from frontier.kernels.engines import lists_of
from frontier.layers.run import LayerRun
from frontier.text import counted

COLUMNS = {
    "source": "string", "target": "string", "source_distance": "int32", "target_distance": "int32",
}  # fmt: skip
"""The columns of the table, with the names of their types in Arrow."""

MOST_STATES = 10_000_000
"""The most states of a run whose edges are written: memory holds the numbers of all states."""

BATCH = 1 << 14
"""The number of states that are expanded at a time."""


def edges_of(run: LayerRun) -> Iterator[tuple[str, str, int, int]]:
    """Return an iterator over the edges between the positions of a run that kept all its layers, as
    rows of `COLUMNS`. Raises InputError at once if the run has too many states."""
    if run.states > MOST_STATES:
        raise InputError(
            f"{run.path} has {counted(run.states, 'state')}: edges are written for at most "
            f"{MOST_STATES:,}; export the first layers, from a run with search.until"
        )
    return _edges(run)


def _edges(run: LayerRun) -> Iterator[tuple[str, str, int, int]]:
    model, space, line = run.puzzle.model, run.puzzle.model.space, run.puzzle.line
    lists, empty = lists_of(space), np.empty(0, space.dtype)
    layers = [np.concatenate([empty, *layer.number_batches()]) for layer in Layers(run)]
    known = []  # all numbers of each side, sorted, and their depths
    for side in range(space.sides):
        depths = np.arange(side, len(layers), space.sides)
        numbers = np.concatenate([empty, *layers[side :: space.sides]])
        depth_of = np.repeat(depths, [layers[depth].size for depth in depths])
        order = np.argsort(numbers, kind="stable")
        known.append((numbers[order], depth_of[order]))

    def written(side: int, numbers: np.ndarray) -> list[str]:
        boards = model.boards_of(*space.states_of(side, numbers))
        return [line(tuple(board)) for board in boards.tolist()]

    for depth, layer in enumerate(layers):
        side, next_side = space.side_of(depth), space.side_of(depth + 1)
        numbers, depth_of = known[next_side]
        for first in range(0, layer.size if numbers.size else 0, BATCH):
            batch = layer[first : first + BATCH]
            near, source = lists.neighbours(side, batch)
            at = np.minimum(np.searchsorted(numbers, near), numbers.size - 1)
            other, there = batch[source], depth_of[at]
            kept = (there > depth) | ((there == depth) & (other < near))
            if not model.undone:
                kept = (there != depth) | (other != near)
            kept &= numbers[at] == near  # the last layer of a run may lead further
            pairs = np.unique(source[kept] * numbers.size + at[kept])  # moves may lead to one state
            source, at = np.divmod(pairs, numbers.size)
            ends, place = np.unique(at, return_inverse=True)
            sources, targets = written(side, batch), written(next_side, numbers[ends])
            for i, j in zip(source.tolist(), place.tolist(), strict=True):
                yield sources[i], targets[j], depth, int(depth_of[ends[j]])
