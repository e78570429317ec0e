"""Sliding blocks, slow and obvious, written without the package.

A position is the set of its pieces, each a kind and the cells it covers.
"""

from collections.abc import Iterable
from functools import cache

from tests.support.reference_search import layers_of

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
