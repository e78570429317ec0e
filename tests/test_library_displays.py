"""What plans, runs, boards and solutions show of themselves."""

import re

import pytest

import frontier
from tests.test_library import run_of
from tests.test_library_page import TILES


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("shown"))


def test_plans_and_runs_say_what_they_are(run):
    plan = frontier.plan(frontier.make_config("other", TILES, store={"path": run.path / "no"}))
    assert re.fullmatch(
        rf"<Plan of other: 2×3 tiles, 360 states; in memory, \d+ threads?, \d+ MB a process; "
        rf"{run.path}/no>",
        repr(plan),
    )
    said = plan._repr_html_()
    assert "other: 2×3 tiles" in said
    assert "<td" in said
    assert f">{run.path}/no<" in said
    assert "<rect" not in said
    assert repr(run) == f"<Run {run.path}: complete, 22 layers, 360 states>"


def test_gods_numbers_say_what_they_are(run, tmp_path):
    config = frontier.make_config("x", TILES, store={"path": tmp_path / "run"})
    bounds = frontier.gods_number(config, at_most=3, progress=False)
    assert not bounds.known
    between = f"from {bounds.lower} to {bounds.upper}"
    assert repr(bounds) == f"<God's number of 2×3 tiles: {between}; {bounds.path}>"
    found = frontier.gods_number(config, layers=2, progress=False)
    last = f"21; 1 position at depth 21; {run.counts[20]} positions at depth 20"
    assert repr(found) == f"<God's number of 2×3 tiles: {last}; {found.path}>"
    assert repr(found.puzzle) == "<Puzzle: 2×3 tiles>"


def test_a_run_in_a_notebook(run):
    said = run._repr_html_()
    assert said.count("<rect") == len(run.counts)
    bars = re.findall(r'height="([\d.]+)" fill.*?depth (\d+): ([\d,]+) state', said)
    assert [(int(d), int(n)) for _, d, n in bars] == list(enumerate(run.counts))
    tallest = max(range(22), key=run.counts.__getitem__)
    assert float(bars[tallest][0]) == 120
    assert "mine: 2×3 tiles" in said
    assert "http" not in said.replace("http://www.w3.org/2000/svg", "")


def test_a_run_under_way_in_a_notebook(tmp_path):
    config = frontier.make_config(
        "half", TILES, store={"path": tmp_path / "run"}, cluster={"kind": "serial"}
    )
    run = frontier.run(frontier.plan(config), until=5)
    said = run._repr_html_()
    assert f"{run.states} (" in said
    assert "% of 360)" in said
    assert "resume with" in said
    assert "not complete" in repr(run)


def test_boards_and_solutions(run):
    solution = run.solve("1 2 5 / 3 4 0")
    assert solution.distance == len(solution.moves) == run.distance(["1 2 5 / 3 4 0"])[0]
    assert repr(solution) == f"<Solution of 1 2 5/3 4 0: {solution.distance} moves to 0 1 2/3 4 5>"
    assert str(solution).splitlines()[0] == f"1 2 5/3 4 0: {solution.distance} moves to 0 1 2/3 4 5"
    said = solution._repr_html_()
    assert said.startswith("<svg")
    assert all(move in said for move in solution.moves)
    shown = run.show("1 2 5 / 3 4 0", solution.boards[-1])
    assert repr(shown) == "<2 boards of 2×3 tiles>"
    assert shown._repr_html_().count("<svg") == 2
    assert str(shown).count("5") == 2


def test_many_boards_are_not_all_drawn(run):
    boards = list(run.layers[12])[:60] + list(run.layers[13])[:60]
    said = run.show(*boards)._repr_html_()
    assert said.count("<svg") == 50
    assert f"and {len(boards) - 50} more" in said
