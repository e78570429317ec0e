"""`scripts/thesis`: each number it prints, and the slips it finds."""

import json
from itertools import permutations

import pytest
from thesis import claims
from thesis.comparison import TABLES as BY_NAME
from thesis.comparison import Row
from thesis.runs import ThesisRuns

from tests.scripts.study import study, verdicts
from tests.support.reference_search import sign

pytestmark = pytest.mark.sweep

LIMIT = 1_000_000
"""Larger runs are not made, so the claims that rest on them have nothing beside them."""

TABLES = ("1.1", "3.1", "4.1", "4.2", "moves", "5.1", "5.2", "beyond")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("thesis")


@pytest.fixture(scope="module")
def written(directory):
    """(what is printed, what thesis.md says, what thesis.json says)."""
    chosen = [word for name in TABLES for word in ("--table", name)]
    target = directory / "below" / "written"
    with pytest.MonkeyPatch.context() as patch:  # 2×100 takes some seconds
        patch.delitem(claims.SEQUENCES, 100)
        result = study(
            *chosen, "--runs", directory / "runs", "--limit", LIMIT, "--columns", 9,
            "--write", target,
        )  # fmt: skip
    files = [(target / name).read_text(encoding="utf-8") for name in ("thesis.md", "thesis.json")]
    assert sorted(file.name for file in target.iterdir()) == ["thesis.json", "thesis.md"]
    return result.stdout, *files


@pytest.fixture(scope="module")
def value(written):
    return json.loads(written[2])


@pytest.fixture(scope="module")
def rows(value):
    """Each table as (claim, said, computed)."""
    return {
        name: [(row["claim"], row["thesis"], row["computed"]) for row in table]
        for name, table in value["tables"].items()
    }


def rest(rows, table, start):
    """The rows of a table whose claim begins so: what follows there -> (said, computed)."""
    found = {
        claim.removeprefix(start): (said, computed)
        for claim, said, computed in rows[table]
        if claim.startswith(start)
    }
    assert len(found) == sum(claim.startswith(start) for claim, *_ in rows[table]) > 0
    return found


def test_god_s_numbers(rows):
    line = {f"1×{n}": (n - 1, n - 1) for n in range(1, 10)}
    twos = {"2×1": 1, "2×2": 6, "2×3": 21, "2×4": 36}
    threes = {"3×1": 2, "3×2": 21, "3×3": 31, "4×1": 3, "4×2": 36}
    large = {"2×5": 55, "2×6": 80, "2×7": 108, "2×8": 140, "3×4": 53, "3×5": 84}
    large |= {"4×3": 53, "4×4": 80}
    assert rest(rows, "1.1", "God's number of ") == {
        **line,
        **{name: (depth, depth) for name, depth in (twos | threes).items()},
        **{name: (depth, None) for name, depth in large.items()},
    }
    assert rows["1.1"][-1] == ("reachable positions of 1×5", 60, 5)


def test_manhattan_sums(rows):
    greatest = {1: 1, 2: 6, 3: 12, 4: 21, 5: 31, 6: 44}
    assert rest(rows, "3.1", "greatest Manhattan sum, n = ") == {
        str(n): (total, total) for n, total in greatest.items()
    }
    assert rest(rows, "3.1", "states that attain it, n = ") == {"5": (40, 40), "6": (216, 216)}
    formula = {n: n * n + 3 * n // 2 - 1 for n in range(7, 13)}
    assert formula[7] == 58
    assert rest(rows, "3.1", "n² + ⌊3n/2⌋ - 1 is the greatest, n = ") == {
        str(n): (total, total) for n, total in formula.items()
    }
    assert rows["3.1"][-1] == (FIGURE, 40, len(drawn("ABBBCCDDD"))) == (FIGURE, 40, 0)


FIGURE = "states of n = 5 that attain it and have the pattern of figure 3.4"


def drawn(sets):
    """The solvable boards DDDCC/BB0AA of 2×5, each tile of the set that `sets` says of it."""
    of = {kind: [tile for tile, k in enumerate(sets, 1) if k == kind] for kind in "ABCD"}
    return [
        board
        for d in permutations(of["D"], 3)
        for c in permutations(of["C"], 2)
        for b in permutations(of["B"], 2)
        for a in permutations(of["A"], 2)
        if (sign(board := (*d, *c, *b, 0, *a)) + 1 + 2) % 2 == 0
    ]


def test_figure_3_4_with_its_first_set_mended(value):
    (note,) = (row["note"] for row in value["tables"]["3.1"] if row["claim"] == FIGURE)
    boards = drawn("AABBCCDDD")
    for board in boards:
        homes = [(divmod(tile, 5), divmod(cell, 5)) for cell, tile in enumerate(board) if tile]
        assert sum(abs(r - rr) + abs(c - cc) for (r, c), (rr, cc) in homes) == 31
    assert f"{len(boards)} of the 40 have it" in note


F = {1: 1, 2: 6, 3: 20, 4: 27, 5: 36, 6: 45, 7: 54}


def test_the_pattern_of_one_column(rows):
    assert rest(rows, "4.1", "f(") == {
        **{f"{n})": (depth, depth) for n, depth in F.items()},
        "100)": (891, None),
    }
    sequences = {1: 1, 2: 2, 3: 8, 4: 12, 5: 24, 6: 40, 7: 60}
    assert rest(rows, "4.2", "shortest sequences, n = ") == {
        str(n): (count, count) for n, count in sequences.items()
    }


def test_the_moves_of_the_thesis(rows):
    for n in (4, 5, 6, 7):
        found = rest(rows, "moves", f"2×{n}: the moves end at")
        goal = " ".join(["0", *["x"] * (n - 2), str(n - 1)]) + "/" + "x " * (n - 1) + str(2 * n - 1)
        assert found == {"": (goal, goal)}
        ((said, computed),) = rest(rows, "moves", f"2×{n}: A B").values()
        assert said == computed
        parts = claims.MOVES[n]
        assert len(said) == sum(map(len, parts)) == 9 * (n - 1)
        assert len(parts[0]) == n + 1
    figures = rest(rows, "moves", "2×5 after part ")
    assert list(figures) == [f"{part} (figure 4.3)" for part in "ABCDE"]
    assert figures["C (figure 4.3)"] == ("4 0 x x x/9 x x x x", "x 0 x x x/x x 4 9 x")
    for part in "ABDE":
        said, computed = figures[f"{part} (figure 4.3)"]
        assert said == computed
    assert figures["E (figure 4.3)"][0] == "0 x x x 4/x x x x 9"


def test_bounds(rows):
    lower = {4: 21, 5: 31, 6: 44, 7: 58, 8: 75, 9: 93}
    assert rest(rows, "5.1", "lower bound, n = ") == {
        **{str(n): (total, total) for n, total in lower.items()},
        "10": (144, 114),
    }
    upper = {5: 84, 6: 129, 7: 183, 8: 246, 9: 318, 10: 399}
    assert rest(rows, "5.1", "upper bound, n = ") == {
        "4": (58, 48),
        **{str(n): (total, total) for n, total in upper.items()},
    }
    assert rest(rows, "5.1", "actual value, n = ") == {
        "4": (36, 36), "5": (55, None), "6": (80, None), "7": (108, None), "8": (140, None)
    }  # fmt: skip


COLUMNS = {
    1: {n: F[n] for n in range(2, 8)},
    2: {2: 6, 3: 21, 4: 35, 5: 48, 6: 61, 7: 74},
    3: {3: 21, 4: 36, 5: 54, 6: 71, 7: 88},
}
FORMULAS = {1: "9n - 9 for n ≥ 4", 2: "13n - 17 for n ≥ 4", 3: "17n - 31 for n ≥ 5"}


def test_columns(rows):
    for k, depths in COLUMNS.items():
        large = {6, 7} if k == 3 else set()
        assert rest(rows, "5.2", f"k = {k}, n = ") == {
            str(n): (depth, None if n in large else depth) for n, depth in depths.items()
        }
        said, computed = rest(rows, "5.2", f"k = {k}: formula")[""]
        assert (said, computed) == (FORMULAS[k], None if large else FORMULAS[k])


SLIPS = {
    ("1.1", "reachable positions of 1×5", 5),
    ("3.1", FIGURE, 0),
    ("moves", "2×5: moves of part A, n - 1", 6),
    ("moves", "2×5 after part C (figure 4.3)", "x 0 x x x/x x 4 9 x"),
    ("5.1", "lower bound, n = 10", 114),
    ("5.1", "upper bound, n = 4", 48),
}


def test_the_slips_are_those_that_are_known(value):
    slips = [(slip["table"], slip["claim"], slip["computed"]) for slip in value["slips"]]
    assert len(slips) == len(SLIPS)
    assert set(slips) == SLIPS
    assert all(slip["note"] and slip["thesis"] != slip["computed"] for slip in value["slips"])
    assert value["remarks"] == list(claims.REMARKS)


def verdict(row):
    if row["computed"] is None:
        return "no run"
    if row["thesis"] == row["computed"]:
        return "agrees"
    return "slip" if row["note"] else "differs"


def test_verdicts(value):
    """No claim differs but for the slips."""
    for table in value["tables"].values():
        for row in table:
            assert row["verdict"] == verdict(row) != "differs"
    assert set(verdicts(value["tables"])) == {"agrees", "slip", "no run"}


def test_a_note_alone_makes_no_slip():
    assert Row("it is", 1, 1, "though").verdict == "agrees"
    assert Row("it is", 1, None, "though").verdict == "no run"
    assert Row("it is", 1, 0, "though").verdict == "slip"
    assert Row("it is", 1, 0).verdict == "differs"
    assert Row("it is", 0, 0).verdict == "agrees"


@pytest.mark.parametrize(
    ("table", "numbers", "where", "claim"),
    [
        ("1.1", claims.DIAMETERS, 1, "God's number of 1×3"),
        ("3.1", claims.MANHATTAN, 3, "greatest Manhattan sum, n = 3"),
        ("3.1", claims.ATTAINING, 6, "states that attain it, n = 6"),
        ("4.1", claims.ONE_COLUMN, 3, "f(3)"),
        ("5.2", claims.FORMULAS, 1, "k = 1: formula"),
    ],
)
def test_a_number_that_the_thesis_does_not_say_differs(
    directory, written, monkeypatch, table, numbers, where, claim
):
    """In one claim alone; the summary counts it."""
    said = numbers[where]
    if isinstance(said, tuple):
        said = (*said[:2], 7, *said[3:])
    else:
        said += 1
    monkeypatch.setitem(numbers, where, said)
    rows = BY_NAME[table](ThesisRuns(directory / "runs", 0))
    assert [row.claim for row in rows if row.verdict == "differs"] == [claim]
    text = study("--table", table, "--runs", directory / "runs", "--limit", 0).stdout
    assert text.count("| differs |") == 1
    assert "different: 1;" in text


def test_what_goes_beyond_the_thesis(value):
    depths = {int(k): {int(n): d for n, d in found.items()} for k, found in
              value["beyond"]["depths"].items()}  # fmt: skip
    assert list(depths) == [1, 2, 3, 4, 5, 6]
    assert depths[1] == {**F, 8: 63, 9: 72, 10: 81}  # table 5.1 has 2×10 made
    assert depths[2] == {**COLUMNS[2], 8: 87}
    assert depths[3] == {3: 21, 4: 36, 5: 54}
    assert depths[4] == {4: 36}
    assert depths[5] == depths[6] == {}
    formulas = value["beyond"]["formulas"]
    assert formulas == {
        "1": f"{FORMULAS[1]} (up to n = 10)",
        "2": f"{FORMULAS[2]} (up to n = 8)",
    }
    bounds = value["beyond"]["bounds"]
    assert list(bounds) == [str(n) for n in range(4, 11)]
    truth = {4: 36, 5: 55, 6: 80, 7: 108, 8: 140}
    for n in range(4, 11):
        found = {name: bound["value"] for name, bound in bounds[str(n)].items()}
        assert list(found) == ["lower", "upper", "recursion"]
        assert found["recursion"] == (9 * n * n - 9 * n - 12) // 2
        assert found["lower"] <= truth.get(n, found["upper"]) <= found["upper"]
        assert found["upper"] <= found["recursion"]
        assert found["lower"] >= 2 * n * n - n
    assert {sort["value"] for name, sort in bounds["4"].items() if name != "recursion"} == {36}


def test_runs_that_the_results_rest_on(value, directory):
    """Each with what it says; all those that were made, if they are in the tables shown."""
    said = {run["run"]: run for run in value["runs"]}
    assert said["pattern-2x4-k1"] == {
        "run": "pattern-2x4-k1", "depth": 27, "depth_at_home": 24, "states": 336, "farthest": 1,
        "by_cosets": False,
    }  # fmt: skip
    assert set(said) <= {entry.name for entry in (directory / "runs").iterdir()}
    bounds = [bound for sorts in value["beyond"]["bounds"].values() for bound in sorts.values()]
    assert {run for bound in bounds for run in bound["runs"]} <= set(said)


def test_all_runs_of_the_tables_are_named_along_with_those_beyond(value):
    assert "3x3" in {run["run"] for run in value["runs"]}


def test_what_is_written(written, value):
    printed, text, _ = written
    assert printed == text
    lines = text.splitlines()
    assert "| lower bound, n = 10 | 144 | 114 | **slip**: the formula gives 114 |" in lines
    assert "| f(100) | 891 | – | no run |" in lines
    assert "| f(7) | 54 | 54 | agrees |" in lines
    found = verdicts(value["tables"])
    summary = lines.index(
        f"{len(found)} claims: {found.count('agrees')} agree; slips in the thesis: {len(SLIPS)}; "
        f"different: 0; without a run: {found.count('no run')}."
    )
    assert lines[summary + 1 : summary + 3] == list(claims.REMARKS)
    assert sum(line.startswith("## ") for line in lines[:summary]) == len(value["tables"])
    assert "* k = 2: 13n - 17 for n ≥ 4 (up to n = 8)" in lines
    assert "| 4 | 27 | 35 | 36 | 36 |" in lines
    assert "| 4 | 36 | searched | 36 | searched | 48 |" in lines
    assert sum(line.startswith("| 9 | 153 | 2n² - n | ") for line in lines) == 1


def test_the_text_of_one_table(written, directory):
    """ThesisRuns that are there are not made again, whatever the limit."""
    result = study("--table", "5.2", "--runs", directory / "runs", "--limit", 0)
    assert result.stderr == ""
    assert result.stdout.startswith("## Table 5.2")
    assert "| k = 2, n = 7 | 74 | 74 | agrees |" in result.stdout
    summary = "20 claims: 17 agree; slips in the thesis: 0; different: 0; without a run: 3."
    assert summary in result.stdout.splitlines()
    assert result.stdout.count("## ") == 1
