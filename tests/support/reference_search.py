"""Searches, sequences and moves, slow and obvious, that tests compare the package with.

Sequences are tuples, state spaces are dictionaries or sets, a search is breadth first over
explicit neighbours. Nothing here imports the package.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate, permutations, product
from math import factorial

Flat = tuple[int, ...]
Arc = tuple[int, int, tuple[int, ...]]


def sign(sequence) -> int:
    """0 for an even sequence of distinct things, 1 for an odd one, by counting its cycles."""
    place = {thing: i for i, thing in enumerate(sorted(sequence))}
    seen, odd = set(), 0
    for i in range(len(sequence)):
        length = 0
        while i not in seen:
            seen.add(i)
            i = place[sequence[i]]
            length += 1
        odd ^= length > 0 and length % 2 == 0
    return int(odd)


def swapped(sequence, i: int) -> Flat:
    """The sequence with positions i and i+1 exchanged."""
    things = list(sequence)
    things[i], things[i + 1] = things[i + 1], things[i]
    return tuple(things)


def moved(sequence, word) -> Flat:
    """The sequence after the swaps of a word, one after the other."""
    for i in word:
        sequence = swapped(sequence, i)
    return tuple(sequence)


def digits(sequence) -> list[int]:
    """Lehmer digits: how many smaller things stand behind each one."""
    return [
        len([j for j in range(i + 1, len(sequence)) if sequence[j] < sequence[i]])
        for i in range(len(sequence))
    ]


def sequences_of(sizes: Iterable[int]) -> Iterator[Flat]:
    """The sequences of several classes one after the other, in lexicographic order."""
    first, classes = 0, []
    for size in sizes:
        classes.append(list(permutations(range(first, first + size))))
        first += size
    for parts in product(*classes):
        yield tuple(thing for part in parts for thing in part)


@cache
def numbered(m: int, odd: int, smaller: Flat = ()) -> tuple[Flat, ...]:
    """The sequences of one sign in lexicographic order: the one with index i is at i."""
    return tuple(p for p in sequences_of([*smaller, m]) if sign(p) == odd)


@cache
def indices(m: int, smaller: Flat = ()) -> dict[Flat, tuple[int, int]]:
    """(index, sign) of each sequence."""
    return {p: (i, odd) for odd in (0, 1) for i, p in enumerate(numbered(m, odd, smaller))}


def layers_of(
    origins: Iterable[Hashable],
    neighbours: Callable[[Hashable], Iterable[Hashable]],
    most: int | None = None,
) -> list[set]:
    """The sets of states at depth 0, 1, 2, ... up to the last one that is not empty, or `most`."""
    layers = [set(origins)]
    seen = set(layers[0])
    while layers[-1]:
        if most is not None and len(layers) > most:
            return layers
        found = {n for state in layers[-1] for n in neighbours(state)} - seen
        seen |= found
        layers.append(found)
    return layers[:-1]


def within_reach(
    origins: set, start: Hashable, neighbours: Callable[[Hashable], Iterable[Hashable]]
) -> set:
    """The origins that the start can reach; all of them if it reaches none."""
    return origins & set().union(*layers_of([start], neighbours)) or origins


def blank_moves(rows: int, columns: int, board: Flat) -> list[Flat]:
    """The boards, flat and row by row, that one slide of a tile into the blank (0) makes."""
    blank = board.index(0)
    row, column = divmod(blank, columns)
    boards = []
    for other, is_there in (
        (blank - columns, row > 0),
        (blank + columns, row < rows - 1),
        (blank - 1, column > 0),
        (blank + 1, column < columns - 1),
    ):
        if is_there:
            cells = list(board)
            cells[blank], cells[other] = cells[other], 0
            boards.append(tuple(cells))
    return boards


def line_moves(rows: int, columns: int, board: Flat) -> list[Flat]:
    """The boards after the blank has gone any way along its row or column, the tiles between it
    and there sliding by a cell each."""
    blank = board.index(0)
    row = blank // columns
    boards = []
    for way in (
        range(blank - 1, row * columns - 1, -1),
        range(blank + 1, (row + 1) * columns),
        range(blank - columns, -1, -columns),
        range(blank + columns, rows * columns, columns),
    ):
        cells, at = list(board), blank
        for to in way:
            cells[at], cells[to], at = cells[to], 0, to
            boards.append(tuple(cells))
    return boards


@lru_cache(maxsize=4)
def bfs_layers(rows: int, columns: int, goal: Flat | None = None) -> list[set[Flat]]:
    """The boards at each depth from the goal, by default 0, 1, 2, ... row by row."""
    goal = tuple(range(rows * columns)) if goal is None else tuple(goal)
    return layers_of([goal], lambda board: blank_moves(rows, columns, board))


def voltage_layers(
    arcs: Iterable[Arc], origins: Iterable[tuple[int, Flat]]
) -> list[set[tuple[int, Flat]]]:
    """The states (vertex, sequence) at each depth in the graph derived from a base graph."""
    leaving: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for source, target, word in arcs:
        leaving.setdefault(source, []).append((target, word))

    def neighbours(state):
        vertex, sequence = state
        return [(target, moved(sequence, word)) for target, word in leaving.get(vertex, [])]

    return layers_of(origins, neighbours)


def lift_walks(arcs: Iterable[Arc], origins: Iterable[tuple[int, int]]) -> set[tuple]:
    """All ((vertex, sign), parity of the length) of walks from the origins."""
    arcs = list(arcs)
    layers = layers_of(
        [((vertex, odd), 0) for vertex, odd in origins],
        lambda at: [
            ((target, (at[0][1] + len(word)) % 2), 1 - at[1])
            for source, target, word in arcs
            if source == at[0][0]
        ],
    )
    return set().union(*layers)


def inversion_counts(m: int) -> list[int]:
    """How many sequences of m things have 0, 1, 2, ... inversions (Mahonian numbers)."""
    counts = [1]
    for radix in range(1, m + 1):
        longer = [0] * (len(counts) + radix - 1)
        for i, count in enumerate(counts):
            for digit in range(radix):
                longer[i + digit] += count
        counts = longer
    return counts


def borders(sizes: Iterable[int]) -> set[int]:
    """The positions whose swap with the next would cross from class to class."""
    return {total - 1 for total in accumulate(sizes)}


def random_voltage(rng, sizes: Flat, border: int, most: int = 4) -> tuple[int, ...]:
    """A voltage of 0..`most` swaps inside classes of these sizes that does not reach over a border.

    With border > 0 its positions are either all at least `border`, or it moves none but the
    digits that number whole words of a bitmap (all digits but the last five).
    """
    positions = range(border, sum(sizes) - 1)
    if border and rng.random() < 0.5:
        positions = range(sum(sizes) - 6)
    positions = [i for i in positions if i not in borders(sizes)]
    if not positions:
        return ()
    return tuple(rng.choice(positions) for _ in range(rng.randint(0, most)))


def random_arcs(rng, vertices: int, m: int, border: int = 0, smaller: Flat = ()) -> list[Arc]:
    """Arcs of a random undirected base graph, each followed by the one that undoes it.

    There may be loops, parallel edges and vertices that do not hang together. Half of the
    graphs have a bipartite lift: there each arc changes the vertex or the sign by an odd amount.
    """
    edges = [(rng.randrange(v), v) for v in range(1, vertices) if rng.random() < 0.9]
    for _ in range(rng.randint(0, vertices + (m if m > 5 else 0))):
        edges.append((rng.randrange(vertices), rng.randrange(vertices)))
    bipartite, arcs = rng.random() < 0.5, []
    for source, target in edges:
        word = random_voltage(rng, (*smaller, m), border)
        if bipartite and (source + target + len(word)) % 2 == 0:
            word = word[1:] if word else (sum(smaller) + m - 2,)
        if m >= 2 or not word:
            arcs += [(source, target, word), (target, source, word[::-1])]
    return arcs


def random_sequence(rng, m: int, smaller: Flat = ()) -> Flat:
    first, things = 0, []
    for size in (*smaller, m):
        things += [first + thing for thing in rng.sample(range(size), size)]
        first += size
    return tuple(things)


def attaining_formula(columns: int) -> int:
    """The number of solvable states of 2×n at the greatest Manhattan distance, as it is proved in
    scripts/thesis/manhattan.py."""
    if columns < 4:
        return 1
    sides = factorial(columns // 2) ** 4
    return columns * sides // 2 if columns % 2 else sides // columns
