"""The claims of the thesis beside the results computed here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate, chain, pairwise, permutations, product

from frontier.puzzles import pattern_puzzle, tile_puzzle
from thesis import claims
from thesis.bounds import Bounds, linear_formula, thesis_bound
from thesis.manhattan import manhattan_counts, manhattan_formula
from thesis.runs import ThesisRuns
from thesis.sequences import (
    farthest_of_one_column,
    replayed,
    thesis_sequence,
)


@dataclass(frozen=True)
class Row:
    """A claim of the thesis and the value computed here.

    thesis: the value in the thesis. computed: None if the run that gives it is missing.
    note: the explanation of a slip in the thesis.
    """

    claim: str
    thesis: object
    computed: object
    note: str = ""

    @property
    def verdict(self) -> str:
        """One of: agrees; slip (a known and explained slip in the thesis); differs; no run."""
        if self.computed is None:
            return "no run"
        if self.thesis == self.computed:
            return "agrees"
        return "slip" if self.note else "differs"


def diameters(runs: ThesisRuns) -> Iterator[Row]:
    """Table 1.1."""
    for rows, depths in claims.DIAMETERS.items():
        for columns, claimed in enumerate(depths, start=1):
            computed = runs.tiles(rows, columns)
            yield Row(f"God's number of {rows}×{columns}", claimed, computed and computed.depth)
    line = runs.tiles(1, 5)
    yield Row(
        "reachable positions of 1×5",
        60,
        line and line.states,
        "the thesis gives (mn)!/2 for all boards; in one row the tiles keep their order, "
        "so it is n",
    )


def manhattan(runs: ThesisRuns) -> Iterator[Row]:
    """Table 3.1 and theorem 3.3.1."""
    for columns, claimed in claims.MANHATTAN.items():
        yield Row(f"greatest Manhattan sum, n = {columns}", claimed, _greatest_sum(columns))
    for columns, claimed in claims.ATTAINING.items():
        yield Row(f"states that attain it, n = {columns}", claimed, manhattan_counts(columns)[-1])
    for columns in range(7, 13):
        claim = f"n² + ⌊3n/2⌋ - 1 is the greatest, n = {columns}"
        yield Row(claim, manhattan_formula(columns), _greatest_sum(columns))
    yield Row(
        "states of n = 5 that attain it and have the pattern of figure 3.4",
        claims.ATTAINING[5],
        _drawn_as_in_figure(5, last_of_a=5 // 2 - 1),
        "for odd n the set A must end at ⌈n/2⌉ - 1, not ⌊n/2⌋ - 1; then "
        f"{_drawn_as_in_figure(5, last_of_a=-(-5 // 2) - 1)} of the {manhattan_counts(5)[-1]} "
        "have it",
    )


def _greatest_sum(columns: int) -> int:
    return len(manhattan_counts(columns)) - 1


def _drawn_as_in_figure(columns: int, last_of_a: int) -> int:
    """Return the number of solvable boards of 2×n, n odd, with D...D C...C above B...B, the blank
    and A...A."""
    half, ends = columns // 2, (0, last_of_a, columns - 1, 3 * columns // 2 - 1, 2 * columns - 1)
    a, b, c, d = (range(before + 1, last + 1) for before, last in pairwise(ends))
    places = ((d, half + 1), (c, half), (b, half), ([0], 1), (a, half))
    boards = product(*(permutations(tiles, number) for tiles, number in places))
    puzzle = tile_puzzle(2, columns)
    return sum(puzzle.model.reaches(tuple(chain.from_iterable(board))) for board in boards)


def one_column(runs: ThesisRuns) -> Iterator[Row]:
    """Table 4.1."""
    for columns, claimed in claims.ONE_COLUMN.items():
        computed = runs.columns(columns, 1)
        yield Row(f"f({columns})", claimed, computed and computed.depth)


def sequences(runs: ThesisRuns) -> Iterator[Row]:
    """Table 4.2."""
    for columns, claimed in claims.SEQUENCES.items():
        farthest = farthest_of_one_column(columns)
        yield Row(f"shortest sequences, n = {columns}", claimed, farthest.sequences)


def moves(runs: ThesisRuns) -> Iterator[Row]:
    """The move sequences of section 4.2, replayed, and figure 4.3."""
    for columns, parts in claims.MOVES.items():
        puzzle = pattern_puzzle(2, columns, k=1)
        (start,) = farthest_of_one_column(columns).positions
        end = puzzle.line(replayed(columns, start, "".join(parts)))
        yield Row(f"2×{columns}: the moves end at", puzzle.line(puzzle.goals[0]), end)
        yield Row(f"2×{columns}: A B Cⁿ⁻⁴ D E is", "".join(parts), thesis_sequence(columns))
    yield Row("2×5: moves of part A, n - 1", 4, len(claims.MOVES[5][0]), "part A has n + 1 moves")
    puzzle = pattern_puzzle(2, 5, k=1)
    (board,) = farthest_of_one_column(5).positions
    steps = accumulate(claims.MOVES[5], lambda b, part: replayed(5, b, part), initial=board)
    next(steps)
    for part, figure, reached in zip("ABCDE", claims.FIGURES, steps, strict=True):
        note = "" if puzzle.line(reached) == figure else "the figure does not match the moves"
        yield Row(f"2×5 after part {part} (figure 4.3)", figure, puzzle.line(reached), note)


def bounds(runs: ThesisRuns) -> Iterator[Row]:
    """Table 5.1 and theorem 4.2.1."""
    bounds_computed = Bounds(runs, most=1)
    for n, claimed in claims.LOWER.items():
        formula = manhattan_formula(n)
        note = f"the formula gives {formula}" if claimed != formula else ""
        yield Row(f"lower bound, n = {n}", claimed, _greatest_sum(n), note)
    for n in range(4, 9):
        computed = runs.tiles(2, n)
        yield Row(f"actual value, n = {n}", claims.DIAMETERS[2][n - 1], computed and computed.depth)
    for n, claimed in claims.UPPER.items():
        formula = thesis_bound(n)
        note = f"the formula gives {formula}" if claimed != formula else ""
        bound = bounds_computed.recursion(n)
        yield Row(f"upper bound, n = {n}", claimed, bound and bound.value, note)


def columns(runs: ThesisRuns) -> Iterator[Row]:
    """Table 5.2 and the formulas derived from it."""
    for k, depths in claims.COLUMNS.items():
        depths_computed = _depths(runs, k, depths)
        for n, claimed in depths.items():
            yield Row(f"k = {k}, n = {n}", claimed, depths_computed.get(n))
        claimed_formula = _line(claims.FORMULAS[k])
        yield Row(f"k = {k}: formula", claimed_formula, _line(linear_formula(depths_computed)))


def _depths(runs: ThesisRuns, k: int, columns: Iterable[int]) -> dict[int, int]:
    """Return n -> d(n, k), for each n that has a run."""
    pairs = ((n, runs.columns(n, k)) for n in columns)
    return {n: depths.depth for n, depths in pairs if depths}


def _line(formula: tuple[int, ...] | None) -> str | None:
    """Return a n + b as text."""
    if formula is None:
        return None
    slope, offset, first = formula[:3]
    return f"{slope}n {'+' if offset >= 0 else '-'} {abs(offset)} for n ≥ {first}"


TABLES: dict[str, Callable[[ThesisRuns], Iterator[Row]]] = {
    "1.1": diameters,
    "3.1": manhattan,
    "4.1": one_column,
    "4.2": sequences,
    "moves": moves,
    "5.1": bounds,
    "5.2": columns,
}


MOST_COLUMNS, MOST_K = 12, 6


def beyond(runs: ThesisRuns) -> dict:
    """Return the results beyond the thesis: bounds for up to `MOST_COLUMNS` columns, and the depths
    of all patterns that were searched.

    The result has depths: k -> n -> d(n, k); formulas: k -> text; bounds: n -> name -> bound, for
    each n that has an upper bound; the names are the methods of `Bounds`. "recursion" is None if a
    run for it is missing.
    """
    depths = {k: _depths(runs, k, range(k, 201)) for k in range(1, MOST_K + 1)}
    formulas = {
        k: f"{_line(formula)} (up to n = {formula[-1]})"
        for k, depths_of_k in depths.items()
        if (formula := linear_formula(depths_of_k))
    }
    bounds_computed, table = Bounds(runs, MOST_K), {}
    for n in range(4, MOST_COLUMNS + 1):
        if upper := bounds_computed.upper(n):
            row = {
                "lower": bounds_computed.lower(n),
                "upper": upper,
                "recursion": bounds_computed.recursion(n),
            }
            table[n] = {name: bound and asdict(bound) for name, bound in row.items()}
    return {"depths": depths, "formulas": formulas, "bounds": table}
