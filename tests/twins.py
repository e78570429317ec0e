"""Slow and obvious twins of the engine, written without it, that tests compare it with.

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
    for to_row, to_column in (
        (row - 1, column),
        (row + 1, column),
        (row, column - 1),
        (row, column + 1),
    ):
        if 0 <= to_row < rows and 0 <= to_column < columns:
            cells = list(board)
            other = to_row * columns + to_column
            cells[blank], cells[other] = cells[other], cells[blank]
            boards.append(tuple(cells))
    return boards


def line_moves(rows: int, columns: int, board: Flat) -> list[Flat]:
    """The boards after the blank has gone any way along its row or column, the tiles between it
    and there sliding by a cell each."""
    row, column = divmod(board.index(0), columns)
    lines = [
        [row * columns + c for c in range(columns)],
        [r * columns + column for r in range(rows)],
    ]
    boards = []
    for line in lines:
        tiles = [board[cell] for cell in line if board[cell]]
        for place in range(len(line)):
            cells = list(board)
            for cell, tile in zip(line, [*tiles[:place], 0, *tiles[place:]], strict=True):
                cells[cell] = tile
            if tuple(cells) != board:
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


# --- sliding blocks: a position is the set of its pieces, each a kind and the cells it covers

DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
Cells = frozenset[tuple[int, int]]
Position = frozenset[tuple[str, Cells]]


def board_cells(drawing: str) -> Cells:
    """The cells of a drawing, rows parted by slashes, walls (#) left out."""
    return frozenset(
        (r, c)
        for r, row in enumerate(drawing.split("/"))
        for c, mark in enumerate(row)
        if mark != "#"
    )


def position(drawing: str, alike: Iterable[str] = ()) -> Position:
    """The pieces that a drawing shows; those of a group of like pieces are of one kind."""
    covered: dict[str, set] = {}
    for r, row in enumerate(drawing.split("/")):
        for c, letter in enumerate(row):
            if letter not in ".#?":
                covered.setdefault(letter, set()).add((r, c))
    kinds = {letter: group for group in alike for letter in group}
    return frozenset((kinds.get(letter, letter), frozenset(at)) for letter, at in covered.items())


@cache
def shifted(covered: Cells, direction: tuple[int, int]) -> Cells:
    return frozenset((r + direction[0], c + direction[1]) for r, c in covered)


def block_moves(
    cells: Cells, before: Position, metric: str, axes: dict | None = None
) -> set[Position]:
    """The positions after one move: a piece by one cell (step), in a line (straight), or along
    any path of steps over cells that nothing else covers (path).

    axes: for kinds that move along one axis, 0 if they stay in their row, 1 if in their column.
    """
    after = set()
    for kind, covered in before:
        axis = (axes or {}).get(kind)
        ways = [d for d in DIRECTIONS if axis is None or not d[axis]]
        rest = before - {(kind, covered)}
        free = cells - frozenset().union(*(other for _, other in rest))
        ends = set()
        if metric == "path":
            ends = set().union(
                *layers_of(
                    [covered],
                    lambda at, free=free, ways=ways: [
                        to for d in ways if (to := shifted(at, d)) <= free
                    ],
                )[1:]
            )
        else:
            for direction in ways:
                to = shifted(covered, direction)
                while to <= free:
                    ends.add(to)
                    if metric == "step":
                        break
                    to = shifted(to, direction)
        after |= {rest | {(kind, end)} for end in ends}
    return after


def block_layers(
    cells: Cells,
    origins: Iterable[Position],
    metric: str,
    most: int | None = None,
    axes: dict | None = None,
) -> list[set[Position]]:
    """The positions at each depth, up to the depth `most`."""
    return layers_of(origins, lambda at: block_moves(cells, at, metric, axes), most)


def all_positions(cells: Cells, pieces: Position) -> set[Position]:
    """Every way to lay these pieces on the cells, whether it can be reached or not."""
    found: set[Position] = {frozenset()}
    for kind, covered in pieces:
        least_r, least_c = (min(part) for part in zip(*covered, strict=True))
        form = shifted(covered, (-least_r, -least_c))
        places = [to for r, c in board_box(cells) if (to := shifted(form, (r, c))) <= cells]
        found = {
            laid | {(kind, to)}
            for laid in found
            for to in places
            if all(not to & other for _, other in laid)
        }
    return found


def board_box(cells: Cells) -> list[tuple[int, int]]:
    """All places of the rectangle around some cells."""
    return [
        (r, c)
        for r in range(1 + max(r for r, _ in cells))
        for c in range(1 + max(c for _, c in cells))
    ]


def agreeing(cells: Cells, drawing: str, positions: Iterable[Position], alike=()) -> set[Position]:
    """The positions that look like a drawing wherever it does not show a ?."""
    rows, shown = drawing.split("/"), position(drawing, alike)
    empty = {(r, c) for r, c in cells if rows[r][c] == "."}
    return {
        laid for laid in positions if shown <= laid and not any(empty & part for _, part in laid)
    }


def drawn(drawing: str, laid: Iterable, alike: Iterable[str] = ()) -> str:
    """A position as a drawing; the letters of like pieces in any order."""
    left = {group: list(group) for group in alike}
    marks = [["#" if mark == "#" else "." for mark in row] for row in drawing.split("/")]
    for kind, covered in laid:
        letter = left[kind].pop() if kind in left else kind
        for r, c in covered:
            marks[r][c] = letter
    return "/".join(map("".join, marks))


def random_blocks(rng) -> tuple[str, tuple[str, ...]]:
    """(drawing, alike) of a random small board: walls, polyominoes, some of them alike."""
    rows, columns = rng.choice([(1, 7), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4), (4, 3)])
    marks = [["#" if rng.random() < 0.1 else "." for _ in range(columns)] for _ in range(rows)]
    forms = {}
    for letter in rng.sample("abcdefgh", rng.randint(1, 5)):
        free = [(r, c) for r in range(rows) for c in range(columns) if marks[r][c] == "."]
        if len(free) <= 2:
            break
        piece = [rng.choice(free)]
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            r, c = rng.choice(piece)
            step = (r + rng.choice([-1, 0, 1]), c)
            step = step if step != (r, c) else (r, c + rng.choice([-1, 1]))
            if step in free and step not in piece and len(free) > len(piece) + 2:
                piece.append(step)
        for r, c in piece:
            marks[r][c] = letter
        r, c = min(piece)
        forms.setdefault(frozenset((x - r, y - c) for x, y in piece), []).append(letter)
    groups = ["".join(letters) for letters in forms.values() if rng.random() < 0.5]
    return "/".join(map("".join, marks)), tuple(groups)


# --- one blank on a graph: a board is a tuple of labels


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


# --- cells of one's own: a position is the set of its pieces, each a kind and the cells it covers


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


def attaining_formula(columns: int) -> int:
    """The number of solvable states of 2×n at the greatest Manhattan distance, as it is proved in
    `frontier.thesis.manhattan`."""
    if columns < 4:
        return 1
    sides = factorial(columns // 2) ** 4
    return columns * sides // 2 if columns % 2 else sides // columns
