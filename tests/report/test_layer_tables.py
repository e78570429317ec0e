"""The script that makes the tables of tile puzzles from each blank cell, against the OEIS."""

import sys

import pytest

from tests.support.commands import invoke, script
from tests.support.temporary_runs import made

KNOWN = {
    "A090034": "1 2 3 5 6 7 10 12 12 16 23 25 28 39 44 40 29 21 18 12 6 1",
    "A090035": "1 2 3 6 10 14 19 28 42 61 85 119 161 215 293 396 506 632 788 985 1194 1414 1664 "
    "1884 1999 1958 1770 1463 1076 667 361 190 88 39 19 7 1",
    "A090036": "1 2 3 6 11 19 30 44 68 112 176 271 411 602 851 1232 1783 2530 3567 4996 6838 9279 "
    "12463 16597 21848 28227 35682 44464 54597 65966 78433 91725 104896 116966 126335 131998 "
    "133107 128720 119332 106335 91545 75742 60119 45840 33422 23223 15140 9094 5073 2605 1224 528 "
    "225 75 20 2",
    "A089473": "1 2 4 8 16 20 39 62 116 152 286 396 748 1024 1893 2512 4485 5638 9529 10878 16993 "
    "17110 23952 20224 24047 15578 14560 6274 3910 760 221 2",
    "A089483": "1 3 5 10 14 28 42 80 108 202 278 524 726 1348 1804 3283 4193 7322 8596 13930 14713 "
    "21721 19827 25132 18197 18978 9929 7359 2081 878 126 2",
    "A089474": "1 4 8 8 16 32 60 72 136 200 376 512 964 1296 2368 3084 5482 6736 11132 12208 18612 "
    "18444 24968 19632 22289 13600 11842 4340 2398 472 148",
    "A090166": "1 2 4 9 20 37 63 122 232 431 781 1392 2494 4442 7854 13899 24215 41802 71167 "
    "119888 198363 323206 515778 811000 1248011 1885279 2782396 4009722 5621354 7647872 10065800 "
    "12760413 15570786 18171606 20299876 21587248 21841159 20906905 18899357 16058335 "
    "12772603 9515217 6583181 4242753 2503873 1350268 643245 270303 92311 27116 5390 1115 86 "
    "18",
    "A090167": "1 2 3 6 11 20 36 60 95 155 258 426 688 1106 1723 2615 3901 5885 8851 13205 19508 "
    "28593 41179 58899 83582 118109 165136 228596 312542 423797 568233 755727 994641 1296097 "
    "1667002 2119476 2660415 3300586 4038877",
}
"""The terms of sequences; of A090167 the first ones."""


@pytest.fixture(scope="module")
def boards():
    return script("boards")


@pytest.mark.sweep
def test_small_boards_are_searched_and_listed(boards, tmp_path, monkeypatch):
    arguments = ["boards.py", "--runs", tmp_path / "runs", "--target", tmp_path, "--most", 360]
    monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
    kept = tmp_path / "layers" / "2x4-step-0-0.txt"
    kept.parent.mkdir()
    kept.write_text("# Of a run that is not here any more.\n0 1\n1 20159\n")
    boards.main()
    lines = (tmp_path / "boards.md").read_text().splitlines()
    patterns = lines.index("## k-column patterns")
    rows = [line for line in lines[:patterns] if line.startswith("| 2×")]
    assert rows.pop() == (
        "| 2×4 | one tile | 0, 0 | 20,160 | 1 | 20,159 | [table](layers/2x4-step-0-0.txt) | "
        "[A090035](https://oeis.org/A090035) |"
    )
    assert len(rows) == 6
    corner = "| 2×3 | one tile | 0, 0 | 360 | 21 | 1 | [table](layers/2x3-step-0-0.txt) |"
    assert [row.startswith(corner) for row in rows].count(True) == 1
    for row in rows:
        text = (tmp_path / row.split("(")[1].split(")")[0]).read_text()
        layers = [int(line.split()[1]) for line in text.splitlines()[1:]]
        _, _, _, _, states, depth, farthest, *_ = row.split("|")
        assert sum(layers) == int(states)
        assert (len(layers) - 1, layers[-1]) == (int(depth), int(farthest))
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "2x2-k1-labelled", "2x2-k1-step", "2x2-multi", "2x2-step", "2x3-k1-labelled",
        "2x3-k1-step", "2x3-k2-labelled", "2x3-k2-step", "2x3-multi", "2x3-step",
        "2x4-k1-labelled", "2x4-k1-step", "2x5-k1-labelled", "2x6-k1-labelled", "2x7-k1-labelled",
    ]  # fmt: skip
    kept = "| 2×3 | 2 | all | 360 | 21 | 1 | [table](layers/2x3-k2-step.txt) |"
    assert kept in lines[patterns:]


@pytest.mark.parametrize(
    ("name", "table", "reason"),
    [
        ("2x4-step-0-0", "# Of a run.\n0 1\n1 20158\n", "add up to 20,159, not to 20,160"),
        ("2x2-step-0-0", "# Of a run.\n0 1\n1 11\n", "differs from the table of 2x2-step"),
    ],
)
def test_tables_that_disagree(boards, tmp_path, monkeypatch, name, table, reason):
    arguments = ["boards.py", "--runs", tmp_path / "runs", "--target", tmp_path, "--most", 12]
    monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / f"{name}.txt").write_text(table)
    with pytest.raises(SystemExit, match=reason):
        boards.main()
    assert (tmp_path / "layers" / f"{name}.txt").read_text() == table


def test_the_tables_that_are_kept_agree_with_the_encyclopedia(boards):
    listed = (boards.TARGET / "boards.md").read_text()
    assert set(boards.SEQUENCES.values()) == set(KNOWN)
    for name, number in boards.SEQUENCES.items():
        assert f"[table](layers/{name}.txt) | [{number}](https://oeis.org/{number})" in listed
        lines = (boards.TARGET / "layers" / f"{name}.txt").read_text().splitlines()[1:]
        terms = KNOWN[number].split()
        found = [line.split() for line in lines]
        assert found[: len(terms)] == [[str(n), term] for n, term in enumerate(terms)]
        assert len(found) == len(terms) or number == "A090167"


def test_a_report_writes_such_a_table(tmp_path):
    """Of a search that is not complete it has the terms that are known."""
    target = tmp_path / "b090034.txt"
    invoke("report", made(tmp_path / "2x3", "2x3").path, "--bfile", target)
    heading, *lines = target.read_text().splitlines()
    said = "# 2×3 tiles: number of positions at n moves from 0 1 2/3 4 5; all terms."
    assert heading == said
    assert lines == [f"{n} {term}" for n, term in enumerate(KNOWN["A090034"].split())]
    permutations = tmp_path / "p.toml"
    permutations.write_text(
        'name = "p"\n[puzzle]\nkind = "permutations"\ngenerators = {a = "(1 2)", b = "(2 3)"}\n'
        '[cluster]\nkind = "serial"\n'
    )
    invoke("run", permutations, "--set", f"store.path={tmp_path / 'p'}")
    table = invoke("report", tmp_path / "p", "--bfile", "-").stdout.splitlines()
    title = "permutations of 3 pieces by 2 generators"
    assert table[0] == f"# {title}: number of positions at n moves from 123; all terms."
    assert table[1:] == ["0 1", "1 2", "2 2", "3 1"]
    part = invoke("report", made(tmp_path / "part", "2x2", until=3).path, "--bfile", "-").stdout
    assert "not complete" in part
    assert len([line for line in part.splitlines() if not line.startswith("#")]) == 4
    several = invoke(
        "report", tmp_path / "2x3", tmp_path / "part", "--bfile", target, "--force", code=2
    )
    assert "--bfile takes one run, not 2" in several.stderr
