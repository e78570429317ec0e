"""The runs that the thesis rests on, and the bounds made of them."""

import random
from dataclasses import replace
from math import factorial

import pytest
from sweeps import swept
from twins import blank_moves, layers_of

from frontier import api
from frontier.config import Config
from frontier.errors import InputError
from frontier.store.run import RunStore
from frontier.thesis.bounds import Bounds, linear_formula, thesis_bound
from frontier.thesis.runs import Depths, Runs


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Where the runs are that these tests share."""
    return tmp_path_factory.mktemp("runs")


def counts(rows, columns, k=None):
    """(greatest depth, greatest with the blank home, positions, farthest ones)."""
    kept = [t for t in range(rows * columns) if k is None or t % columns >= columns - k]
    goal = tuple(t if t in kept or t == 0 else -1 for t in range(rows * columns))
    layers = layers_of([goal], lambda board: blank_moves(rows, columns, board))
    home = max(d for d, layer in enumerate(layers) if any(board[0] == 0 for board in layer))
    return len(layers) - 1, home, sum(map(len, layers)), len(layers[-1])


def said(depths):
    return depths.depth, depths.home, depths.states, depths.farthest


# --- runs


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (1, 5), (2, 1), (2, 2), (2, 3), (3, 2), (2, 4)]
)
def test_what_a_run_of_tiles_says(directory, rows, columns):
    found = Runs(directory, 10**6).tiles(rows, columns)
    assert said(found) == counts(rows, columns)
    assert found.run == f"{rows}x{columns}"


@pytest.mark.parametrize(
    ("columns", "k"),
    [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)],
)
def test_what_a_run_of_a_pattern_says(directory, columns, k):
    found = Runs(directory, 10**6).columns(columns, k)
    assert said(found) == counts(2, columns, k)
    assert found.run == f"pattern-2x{columns}-k{k}"


@pytest.mark.parametrize(
    ("ask", "states"),
    [
        (lambda runs: runs.tiles(2, 3), 360),
        (lambda runs: runs.tiles(1, 7), 7),
        (lambda runs: runs.tiles(3, 1), 3),
        (lambda runs: runs.columns(4, 1), 8 * 7 * 6),
        (lambda runs: runs.columns(3, 2), factorial(6) // 2),
        (lambda runs: runs.columns(3, 3), factorial(6) // 2),
    ],
)
def test_a_missing_run_is_made_up_to_the_limit(tmp_path, ask, states):
    """That limit is the number of its positions."""
    told = []
    assert ask(Runs(tmp_path, states - 1, say=told.append)) is None
    assert told == list(tmp_path.iterdir()) == []
    found = ask(Runs(tmp_path, states, say=told.append))
    assert found.states == states
    (line,) = told
    assert line.startswith(f"{found.run}: {states:,} ")
    assert [entry.name for entry in tmp_path.iterdir()] == [found.run]


def test_a_missing_run_is_made_up_to_so_many_columns(tmp_path):
    runs = Runs(tmp_path, 10**6, most=3)
    assert runs.columns(4, 1) is runs.tiles(2, 4) is None
    assert list(tmp_path.iterdir()) == []
    assert runs.columns(3, 1).depth == 20
    assert Runs(tmp_path, 10**6, most=4).columns(4, 1).depth == 27
    assert Runs(tmp_path, 10**6, most=3).columns(4, 1).depth == 27  # it is there by now


def files(path):
    return {
        file: (file.stat().st_mtime_ns, file.stat().st_ino)
        for file in path.rglob("*")
        if file.is_file()
    }


def test_runs_are_not_made_again(tmp_path):
    first = Runs(tmp_path, 10**6)
    made = [first.tiles(2, 3), first.columns(4, 1)]
    before = files(tmp_path)
    told = []
    for limit in (0, 10**6):
        again = Runs(tmp_path, limit, say=told.append)
        assert [again.tiles(2, 3), again.columns(4, 1), again.tiles(2, 3)] == [*made, made[0]]
        assert again.used == sorted(made, key=lambda depths: depths.run)
    assert told == []
    assert files(tmp_path) == before
    assert Runs(tmp_path, 0).used == []


def test_runs_that_are_asked_for_and_do_not_exist_are_not_used(tmp_path):
    runs = Runs(tmp_path, 400)
    assert runs.tiles(2, 4) is None
    assert runs.tiles(2, 3).depth == 21
    assert [depths.run for depths in runs.used] == ["2x3"]


def run_named(path, name, puzzle, until=None, **search):
    config = Config(name=name, puzzle=puzzle, search=search, store={"path": str(path / name)})
    api.run(api.plan(config), until)


def test_a_run_that_stopped_is_finished_if_it_is_small(tmp_path):
    run_named(tmp_path, "2x4", {"kind": "tiles", "rows": 2, "columns": 4}, until=9)
    assert Runs(tmp_path, 100).tiles(2, 4) is None
    assert not api.open_run(tmp_path / "2x4").complete
    assert said(Runs(tmp_path, 20160).tiles(2, 4)) == counts(2, 4)
    assert api.open_run(tmp_path / "2x4").complete


def test_a_run_of_ones_own_is_finished_as_it_was_begun(tmp_path):
    """Under its own name, with its codec, and all of its layers."""
    config = Config(
        name="mine",
        puzzle={"kind": "tiles", "rows": 2, "columns": 4},
        search={"keep": "all"},
        store={"path": str(tmp_path / "2x4"), "codec": "zstd:1"},
    )
    api.run(api.plan(config), 9)
    assert said(Runs(tmp_path, 20160).tiles(2, 4)) == counts(2, 4)
    store = api.open_run(tmp_path / "2x4").store
    assert store.stored_depths() == list(range(len(store.records)))
    assert (store.identity["name"], store.identity["codec"]) == ("mine", "zstd:1")


def test_a_run_that_keeps_its_layers_will_do(tmp_path):
    run_named(tmp_path, "2x3", {"kind": "tiles", "rows": 2, "columns": 3}, keep="all")
    assert said(Runs(tmp_path, 0).tiles(2, 3)) == counts(2, 3)


def without_home(path, depths=None):
    """Let the ledger of a run be one that does not say where blanks are, at some depths."""
    run = RunStore.open(path)
    for record in run.records:
        if depths is None or record.depth in depths:
            record.home = None
    run.roll_back(len(run.records) - 1, run.stored_depths())


@pytest.mark.parametrize("missing", [None, [0], [7], [-1]])
@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("2x3", lambda runs: runs.tiles(2, 3)),
        ("2x4", lambda runs: runs.tiles(2, 4)),
        ("pattern-2x4-k1", lambda runs: runs.columns(4, 1)),
        ("pattern-2x4-k2", lambda runs: runs.columns(4, 2)),
    ],
)
def test_a_run_that_does_not_say_where_its_blanks_are(tmp_path, name, ask, missing):
    """As older ones: then the greatest even depth stands for that with the blank home."""
    made = ask(Runs(tmp_path, 10**6))
    without_home(tmp_path / name, missing and [depth % (made.depth + 1) for depth in missing])
    found = ask(Runs(tmp_path, 0))
    assert found == replace(made, home=made.depth - made.depth % 2)
    assert made.home <= found.home
    assert api.open_run(tmp_path / name).counts[-1] == made.farthest


def test_bounds_of_runs_that_do_not_say_where_their_blanks_are(tmp_path):
    """They are as true, if less sharp."""
    runs = Runs(tmp_path, 10**6)
    bounds = Bounds(Without(runs, 2), 1)
    sharp = {n: bounds.sharp(n).value for n in (4, 5)}
    for made in runs.used:
        without_home(tmp_path / made.run)
    blunt = Bounds(Without(Runs(tmp_path, 0), 2), 1)
    assert all(sharp[n] <= blunt.sharp(n).value <= blunt.mixed(n).value for n in sharp)
    assert any(sharp[n] < blunt.sharp(n).value for n in sharp)


@pytest.mark.parametrize(
    ("name", "puzzle"),
    [
        ("2x3", {"kind": "tiles", "rows": 2, "columns": 3, "metric": "multi"}),
        ("2x3", {"kind": "tiles", "rows": 3, "columns": 2}),
        ("2x3", {"kind": "tiles", "rows": 2, "columns": 3, "blank": [0, 1]}),
        ("2x3", {"kind": "pattern", "rows": 2, "columns": 3, "k": 1}),
        ("pattern-2x3-k1", {"kind": "pattern", "rows": 2, "columns": 3, "k": 2}),
        (
            "pattern-2x3-k1",
            {"kind": "pattern", "rows": 2, "columns": 3, "k": 1, "metric": "labelled"},
        ),
    ],
)
@pytest.mark.parametrize("until", [None, 1])
def test_another_puzzle_under_a_name_is_refused(tmp_path, name, puzzle, until):
    run_named(tmp_path, name, puzzle, until)
    before = files(tmp_path)
    for limit in (0, 10**6):
        runs = Runs(tmp_path, limit)
        ask = runs.columns if name.startswith("pattern") else runs.tiles
        with pytest.raises(InputError, match="name another directory with --runs"):
            ask(*((3, 1) if name.startswith("pattern") else (2, 3)))
    assert files(tmp_path) == before


# --- bounds


class Stub:
    """Runs made up: (greatest depth, greatest with the blank home), by columns, or these and k."""

    def __init__(self, whole, patterns):
        self._whole, self._patterns = whole, patterns

    def tiles(self, rows, columns):
        assert rows == 2
        return self._depths(f"2x{columns}", self._whole.get(columns))

    def columns(self, columns, k):
        return self._depths(f"pattern-2x{columns}-k{k}", self._patterns.get((columns, k)))

    @staticmethod
    def _depths(name, found):
        return found and Depths(name, *found, states=1, farthest=1)


def ways(stub, columns, most):
    """All ways to take columns off, block by block, until what is left has been searched or has
    one column: ([(columns then, k), ...], columns left)."""
    if columns in stub._whole:
        return [([], columns)]
    found = [([], 1)] if columns == 1 else []
    for k in range(1, min(most, columns - 1) + 1):
        if (columns, k) in stub._patterns:
            found += [
                ([(columns, k), *blocks], left) for blocks, left in ways(stub, columns - k, most)
            ]
    return found


def least(stub, columns, most, sharp):
    """The least total of all those ways, None if there is none."""
    totals = []
    for blocks, left in ways(stub, columns, most):
        parts = [stub._patterns[block] for block in blocks]
        if left in stub._whole:
            parts.append(stub._whole[left])
        elif not sharp or not blocks:
            continue
        else:
            parts.append((0, 0))
        totals.append(parts[0][0] + sum(part[1 if sharp else 0] for part in parts[1:]))
    return min(totals, default=None)


def random_stub(seed):
    """Some runs are missing; a blank at home is never farther than any."""
    rng = random.Random(seed)
    share = rng.choice([0.5, 0.8, 1])

    def depths(columns):
        depth = rng.randrange(1, 20 * columns)
        return depth, rng.randrange(0, depth + 1)

    whole = {n: depths(n) for n in (1, 2, 3, 4) if rng.random() < share}
    if 1 in whole:
        whole[1] = (whole[1][0], 0)
    patterns = {(n, k): depths(n) for n in range(1, 9) for k in range(1, n + 1)}
    patterns = {key: found for key, found in patterns.items() if rng.random() < share}
    return Stub(whole, patterns)


@swept("seed", range(60), few=12)
def test_bounds_of_made_up_runs(seed):
    stub, found = random_stub(seed), 0
    for most in (1, 2, 3, 6):
        bounds = Bounds(stub, most)
        for columns in range(1, 9):
            for sharp, bound in ((True, bounds.sharp(columns)), (False, bounds.mixed(columns))):
                expected = least(stub, columns, most, sharp)
                if columns == 1 and 1 not in stub._whole:
                    continue  # nothing is bounded there
                assert (bound and bound.value) == expected
                if bound:
                    found += 1
                    assert_adds_up(stub, columns, bound, sharp)
            lower = bounds.lower(columns)
            assert lower.value == max(
                columns**2 + 3 * columns // 2 - 1,
                2 * columns**2 - columns,
                stub._whole.get(columns, (0,))[0],
                *(
                    stub._patterns.get((columns, k), (0,))[0]
                    for k in range(1, min(most, columns - 1) + 1)
                ),
            )
            assert len(lower.steps) == 1
            recursion, chain = bounds.recursion(columns), [(n, 1) for n in range(4, columns + 1)]
            if min(columns, 3) in stub._whole and all(key in stub._patterns for key in chain):
                total = stub._whole[min(columns, 3)][0]
                total += sum(stub._patterns[key][0] for key in chain)
                assert recursion.value == total
                mixed, sharp = bounds.mixed(columns), bounds.sharp(columns)
                if columns not in stub._whole and 4 not in stub._whole:
                    assert sharp.value <= mixed.value <= recursion.value
            else:
                assert recursion is None
    assert found > 0


def assert_adds_up(stub, columns, bound, sharp):
    """The steps and runs that a bound names make its value."""
    total, left = 0, columns
    for number, step in enumerate(bound.steps):
        kind = 1 if sharp and number else 0
        if step == "searched":
            assert bound.runs[number] == f"2x{left}"
            total += stub._whole[left][kind]
            left = 0
        else:
            k = int(step.removeprefix("k = "))
            assert bound.runs[number] == f"pattern-2x{left}-k{k}"
            total += stub._patterns[left, k][kind]
            left -= k
    assert total == bound.value
    assert left == 0 or (sharp and left == 1)
    assert len(bound.steps) == len(bound.runs)


class Without:
    """Runs, but for the searches of whole puzzles of more than so many columns."""

    def __init__(self, runs, most):
        self._runs, self._most, self.columns = runs, most, runs.columns

    def tiles(self, rows, columns):
        return self._runs.tiles(rows, columns) if columns <= self._most else None


@swept(
    ("columns", "whole", "depth"),
    [(4, 3, 36), (4, 2, 36), (5, 4, 55), (5, 3, 55), (6, 4, 80)],
    few=4,
)
def test_god_s_number_lies_between(directory, columns, whole, depth):
    """As if it were not known."""
    bounds = Bounds(Without(Runs(directory, 10**6), whole), 3)
    lower, sharp, mixed = (f(columns).value for f in (bounds.lower, bounds.sharp, bounds.mixed))
    assert lower <= depth <= sharp <= mixed
    assert sharp < mixed or whole < 3 or columns - whole == 1
    if whole >= 3:
        assert mixed <= bounds.recursion(columns).value
    exact = Bounds(Runs(directory, 10**6), 3)
    if columns == 4:
        assert {f(4).value for f in (exact.lower, exact.sharp, exact.mixed)} == {depth}


def test_the_thesis_s_bound():
    expected = {4: 48, 5: 84, 6: 129, 7: 183, 8: 246, 9: 318, 10: 399}
    assert {n: thesis_bound(n) for n in expected} == expected
    total = 21
    for n in range(4, 40):
        total += 9 * n - 9
        assert thesis_bound(n) == total


def test_the_recursion_is_the_thesis_s(directory):
    bounds = Bounds(Runs(directory, 10**6), 1)
    for n in range(4, 11):
        assert bounds.recursion(n).value == thesis_bound(n)
    assert bounds.recursion(5).steps == ("k = 1", "k = 1", "searched")
    assert bounds.recursion(5).runs == ("pattern-2x5-k1", "pattern-2x4-k1", "2x3")


@pytest.mark.parametrize(
    ("depths", "expected"),
    [
        ({2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54}, (9, -9, 4, 7)),
        ({2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74}, (13, -17, 4, 7)),
        ({3: 21, 4: 36, 5: 54, 6: 71, 7: 88}, (17, -31, 5, 7)),
        ({7: 88, 5: 54, 3: 21, 6: 71, 4: 36}, (17, -31, 5, 7)),
        ({3: 21, 4: 36, 5: 54}, None),
        ({1: 4, 2: 6, 3: 8}, (2, 2, 1, 3)),
        ({1: 5, 2: 5, 3: 5, 4: 5}, (0, 5, 1, 4)),
        ({1: 9, 2: 7, 3: 5}, (-2, 11, 1, 3)),
        ({1: 4, 2: 6}, None),
        ({1: 4}, None),
        ({}, None),
        ({1: 1, 2: 2, 3: 4, 4: 6}, (2, -2, 2, 4)),
        ({1: 1, 2: 2, 3: 3, 4: 5}, None),
        ({4: 27, 5: 36, 6: 45, 100: 891}, (9, -9, 4, 6)),  # not past a gap
        ({4: 27, 5: 36, 6: 45, 8: 1, 9: 2, 10: 3}, (9, -9, 4, 6)),
        ({4: 27, 6: 45, 8: 63}, None),
    ],
)
def test_formulas_of_made_up_tables(depths, expected):
    """a n + b from n on, up to n."""
    assert linear_formula(depths) == expected
