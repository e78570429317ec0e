"""One blank on a graph, and puzzles from cells of one's own, slow and obvious.

On a graph a board is a tuple of labels. Else a position is the set of its pieces, each a kind and
the cells it covers.
"""

from collections.abc import Iterable

from tests.support.reference_search import layers_of


def graph_moves(adjacency, board: tuple) -> list[tuple]:
    """The boards after a tile next to the blank (".") has slid into it."""
    blank, boards = board.index("."), []
    for cell in adjacency[blank]:
        labels = list(board)
        labels[blank], labels[cell] = labels[cell], labels[blank]
        boards.append(tuple(labels))
    return boards


def graph_layers(adjacency, origins: Iterable[tuple]) -> list[set[tuple]]:
    return layers_of(origins, lambda board: graph_moves(adjacency, board))


def random_adjacency(rng, cells: int) -> list[list[int]]:
    """The neighbours of each cell of a random graph, which may hang apart."""
    edges = {(rng.randrange(v), v) for v in range(1, cells) if rng.random() < 0.9}
    edges |= {tuple(sorted(rng.sample(range(cells), 2))) for _ in range(rng.randint(0, cells - 1))}
    return [[v for v in range(cells) if (min(u, v), max(u, v)) in edges] for u in range(cells)]


def both_ways(directions: Iterable[Iterable[tuple]]) -> list[dict]:
    """Cell -> next cell, for each direction and for the way back."""
    ways = []
    for pairs in directions:
        ways += [dict(pairs), {b: a for a, b in pairs}]
    return ways


def floor_steps(ways: list[dict], covered: frozenset, taken: frozenset) -> set[frozenset]:
    """Where a piece comes to by one step, no cell of which is taken."""
    ends = set()
    for there in ways:
        if all(cell in there for cell in covered):
            to = frozenset(there[cell] for cell in covered)
            if to != covered and not to & taken:
                ends.add(to)
    return ends


def floor_moves(ways: list[dict], before: frozenset, metric: str = "step") -> set[frozenset]:
    """The positions after one move: a piece by one step, or along any path of steps."""
    after = set()
    for kind, covered in before:
        rest = before - {(kind, covered)}
        taken = frozenset().union(*(other for _, other in rest))
        layers = layers_of(
            [covered],
            lambda at, taken=taken: floor_steps(ways, at, taken),
            1 if metric == "step" else None,
        )
        after |= {rest | {(kind, end)} for end in set().union(*layers[1:])}
    return after


def floor_position(cells: list, labels: Iterable[str], alike: Iterable = ()) -> frozenset:
    """The pieces of a board given by a label a cell; those of a group are of one kind."""
    kinds = {label: min(group) for group in alike for label in group}
    covered: dict[str, set] = {}
    for cell, label in zip(cells, labels, strict=True):
        if label not in (".", "?"):
            covered.setdefault(label, set()).add(cell)
    return frozenset((kinds.get(label, label), frozenset(at)) for label, at in covered.items())
