"""God's numbers in docs/results/gods-numbers.json, and the tables of the pages that have them."""

import json
import re
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from frontier.config.loading import load_config
from tests.support.commands import script
from tests.support.coset_runs import find_gods_number

ROOT = Path(__file__).parents[1]
PAGE = "docs/results/README.md"
FILE = "docs/results/gods-numbers.json"
ENTRIES = json.loads((ROOT / FILE).read_text(encoding="utf-8"))
TITLES = {"one tile": "step", "any number of tiles": "multi"}


@pytest.fixture(scope="module")
def numbers():
    return script("gods_numbers")


@pytest.fixture
def clone(tmp_path):
    """A directory with all that the script reads, and nothing else."""
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "docs" / "results")
    return tmp_path


@pytest.fixture
def write(numbers, clone, monkeypatch):
    """Runs the script in the clone, over some searches."""

    def write(*searches):
        monkeypatch.setattr(sys, "argv", ["gods_numbers.py", *map(str, searches)])
        numbers.main(clone)

    return write


def searched(place, name, *settings, **options):
    settings = (f"store.path={place / name}", "cluster.workers=1", *settings)
    return find_gods_number(load_config(ROOT / "configs" / f"{name}.toml", settings), **options)


def files_of(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_the_pages_have_what_the_file_says_and_it_what_the_tables_of_layers_say(write, clone):
    before = files_of(clone)
    write()
    assert files_of(clone) == before


def test_enumerated_boards_have_the_numbers_of_their_page():
    text = (ROOT / "docs" / "results" / "boards.md").read_text(encoding="utf-8")
    row = r"^\| (\d+)×(\d+) \| ([a-z ]+) \| (\d+), (\d+) \| [\d,]+ \| (\d+) \| ([\d,]+) \|"
    said = {
        (int(m), int(n), TITLES[moves], int(r), int(c)): (int(number), int(last.replace(",", "")))
        for m, n, moves, r, c, number, last in re.findall(row, text, re.MULTILINE)
    }
    found = {
        (of["rows"], of["columns"], of["metric"], *of["blank"]): (of["upper"], of["last"][0])
        for of in ENTRIES
        if of["last"]
    }
    assert len(said) > 50
    assert {key: found.get(key) for key in said} == said


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["command"])
def test_the_command_of_an_entry_is_for_its_board(entry):
    program, name, config, *options = shlex.split(entry["command"])
    assert (program, name) in {("frontier", "run"), ("frontier", "gods-number")}
    settings = [options[i + 1] for i, option in enumerate(options) if option == "--set"]
    puzzle = load_config(ROOT / config, tuple(settings)).make_puzzle()
    home = divmod(puzzle.goals[0].index(0), puzzle.grid.columns)
    found = puzzle.grid.rows, puzzle.grid.columns, puzzle.metric, list(home)
    assert found == tuple(entry[key] for key in ("rows", "columns", "metric", "blank"))
    assert entry["lower"] <= entry["upper"]
    assert not entry["last"] or entry["lower"] == entry["upper"]


@pytest.mark.sweep
def test_a_search_that_says_more_adds_it_with_its_positions(write, clone, tmp_path):
    run = searched(tmp_path, "2x4", layers=6)
    write(run.path)
    (entry,) = (
        of
        for of in json.loads((clone / FILE).read_text())
        if (of["rows"], of["columns"], of["metric"], of["blank"]) == (2, 4, "step", [0, 0])
    )
    assert entry["last"] == [1, 7, 19, 39, 88, 190]
    assert entry["command"] == "frontier gods-number configs/2x4.toml --layers 6"
    row = r"\| 2×4 \|.* \*\*36\*\* .* 1 \(7 at 35, 19 at 34"
    assert re.search(row, (clone / PAGE).read_text())
    file = clone / "docs" / "results" / "farthest" / "2x4-step-0-0.txt"
    head, _, first, *rest = file.read_text().splitlines()
    assert head.endswith("all positions at depth 36, 35, 34, 33, 32, 31.")
    assert first.startswith("36; 3 2 5 4/7 6 1 0; ")
    assert len(first.split("; ")[2]) == 36
    assert len(rest) == sum(entry["last"][1:])
    # What was added stays without the search, and a search that says less changes nothing.
    before = files_of(clone)
    write()
    less = searched(tmp_path / "less", "2x4")
    write(less.path)
    assert {path: text for path, text in files_of(clone).items() if path in before} == before
    assert "2×4" not in (ROOT / PAGE).read_text().split("scripts/gods_numbers.py")[1]


def test_another_blank_and_a_region_that_was_asked_for_stand_in_the_command(numbers, tmp_path):
    run = searched(tmp_path, "2x4", "puzzle.blank=[0, 1]", region="2x2")
    entry = numbers.entry_of(run, numbers.gods_number_value(run))
    assert entry["command"] == (
        'frontier gods-number configs/2x4.toml --set "puzzle.blank=[0, 1]" --region 2x2'
    )
    assert (entry["lower"], entry["upper"], entry["last"]) == (35, 35, [4])


@pytest.mark.sweep
def test_moves_of_several_tiles(write, clone, tmp_path):
    """The search says more than the table of layers; its board is told apart, and so are the moves
    of its paths."""
    run = searched(tmp_path, "2x4", "puzzle.metric=multi", layers=6)
    write(run.path)
    entries = {
        of["metric"]: of
        for of in json.loads((clone / FILE).read_text())
        if (of["rows"], of["columns"], of["blank"]) == (2, 4, [0, 0])
    }
    assert (entries["step"]["upper"], entries["multi"]["upper"]) == (36, 25)
    assert entries["multi"]["last"][:3] == [8, 50, 140]
    assert entries["multi"]["command"] == (
        "frontier gods-number configs/2x4.toml --set puzzle.metric=multi --layers 6"
    )
    text = (clone / PAGE).read_text()
    assert re.search(r"\| 2×4, any number of tiles a move \|.* \*\*25\*\* ", text)
    head, second, *rest = (
        (clone / "docs" / "results" / "farthest" / "2x4-multi-0-0.txt").read_text().splitlines()
    )
    assert head.endswith("all positions at depth 25, 24, 23, 22, 21, 20.")
    assert second.endswith("right; a move over several cells is in parentheses.")
    assert len(rest) == sum(entries["multi"]["last"])
    puzzle = run.puzzle
    for line in rest:
        depth, board, way = line.split("; ")
        moves = re.findall(r"\(([UDLR]+)\)|([UDLR])", way)
        assert len(moves) == int(depth)
        cells = [int(tile) for row in board.split("/") for tile in row.split()]
        assert len(cells) == puzzle.cells
        for several, single in moves:
            assert len(set(several or single)) == 1
            assert len(several) != 1
            for step in several or single:
                here = cells.index(0)
                there = here + {"U": -4, "D": 4, "L": -1, "R": 1}[step]
                cells[here], cells[there] = cells[there], 0
        assert tuple(cells) == puzzle.goals[0]


def test_a_way_that_does_not_lead_home_is_an_error(write, clone, tmp_path):
    run = searched(tmp_path, "2x4")
    (answer,) = (answer for answer in run.proof.answers.values() if answer.farther)
    number, block = next((n, block) for n, block in answer.done.items() if block.farther)
    position = block.farther[0]
    bent = replace(position, blanks=(*position.blanks[:-2], *position.blanks[-4:-2]))
    answer.done[number] = replace(block, farther=(bent,))
    run.commit()
    before = files_of(clone / "docs")
    with pytest.raises(SystemExit, match="its path"):
        write(run.path)
    assert files_of(clone / "docs") == before


BOARD = {
    "rows": 2, "columns": 9, "metric": "step", "blank": [0, 0], "lower": 172, "upper": 180,
    "last": [], "command": "frontier gods-number configs/2x9.toml", "seconds": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({"lower": 174}, 1),
        ({"lower": 176, "upper": 176}, 1),
        ({"upper": 171, "lower": 170}, None),
        ({"lower": 181, "upper": 181}, None),
        ({"rows": 9, "columns": 2, "blank": [8, 1], "lower": 174}, 1),
        ({"lower": 171}, 0),
        ({"seconds": 0.5}, 0),
        ({"blank": [0, 1], "lower": 190, "upper": 191}, 2),
    ],
)
def test_of_two_sources_that_which_says_more_counts_and_they_agree(numbers, more, counts):
    """counts: which of the two is in the list; 2 for both, None for an error."""
    pair = [BOARD, {**BOARD, **more}]
    for order in (pair, pair[::-1]):
        if counts is None:
            with pytest.raises(SystemExit, match="do not agree"):
                numbers.merged(order)
        elif counts == 2:
            assert numbers.merged(order) == pair
        elif "seconds" not in more:
            assert numbers.merged(order) == [pair[counts]]
    if counts == 0:
        assert numbers.merged(pair) == [BOARD]


def test_bounds_of_two_sources_are_joined(numbers):
    """The rest is that of the one whose command proves the lesser upper bound."""
    low, high = {**BOARD, "lower": 175}, {**BOARD, "upper": 178, "seconds": 3.0}
    assert numbers.merged([low, high]) == [{**high, "lower": 175}]


def test_the_command_of_a_bound_asks_its_question_alone(numbers, tmp_path):
    """The time is that of this question, not that of questions before or after it."""
    searched(tmp_path, "2x5", at_most=59)
    run = searched(tmp_path, "2x5", at_most=57)
    value = numbers.gods_number_value(run)
    assert not value["known"]
    asked = {of["limit"]: of["seconds"] for of in value["questions"] if of["searched"]}
    entry = numbers.entry_of(run, value)
    assert entry["command"] == "frontier gods-number configs/2x5.toml --at-most 57"
    assert (entry["upper"], entry["seconds"]) == (57, round(asked[56], 3))


def test_last_layers_of_two_sources_agree(numbers):
    exact = {**BOARD, "lower": 176, "upper": 176, "last": [1, 5]}
    longer = {**exact, "last": [1, 5, 20]}
    assert numbers.merged([exact, longer, BOARD]) == [longer]
    with pytest.raises(SystemExit, match="do not agree"):
        numbers.merged([exact, {**exact, "last": [2]}])


FIFTEEN = {**BOARD, "rows": 4, "columns": 4, "lower": 80, "upper": 80, "last": [17]}


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({}, True),
        ({"last": [17, 70]}, True),
        ({"last": [18]}, False),
        ({"lower": 81, "upper": 81, "last": []}, False),
        ({"lower": 70, "last": []}, True),
        ({"blank": [2, 3], "last": [2]}, True),
        ({"blank": [2, 2], "last": [2]}, False),
        ({"metric": "multi", "lower": 43, "upper": 43, "last": [16, 4616]}, True),
        ({"metric": "multi", "lower": 43, "upper": 43, "last": [17]}, False),
        ({"metric": "multi"}, False),
        ({"metric": "multi", "blank": [0, 1]}, True),
    ],
)
def test_what_others_have_published_is_held_against_it(numbers, more, right):
    if right:
        numbers.compare([{**FIFTEEN, **more}])
    else:
        with pytest.raises(SystemExit, match=r"have (80|43), "):
            numbers.compare([{**FIFTEEN, **more}])


def test_a_page_without_its_marks_changes_nothing(write, clone):
    (clone / PAGE).write_text("no tables\n")
    before = files_of(clone)
    with pytest.raises(SystemExit, match="expected one line <!-- made by scripts"):
        write()
    assert files_of(clone) == before
