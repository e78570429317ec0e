"""The farthest positions among those that agree with a part of a board."""

import numpy as np
import pytest

from frontier import make_config
from frontier.api import runs as api
from frontier.errors import InputError
from frontier.layers.farthest import farthest_among
from tests.support.commands import invoke
from tests.support.sweeps import tried
from tests.support.temporary_runs import CONFIGS

PUZZLES = {
    "tiles": {"kind": "tiles", "rows": 2, "columns": 3},
    "like pieces": {
        "kind": "graph", "goal": "aabc.b",
        "adjacency": [[1, 3], [0, 2], [1, 3, 5], [0, 2, 4], [3, 5], [2, 4]],
    },
    "turned pieces": {
        "kind": "permutations", "orientations": 2,
        "generators": {
            "a": {"moves": "(1 2 3)", "turns": [1, 0, 1, 0]}, "b": {"moves": "(3 4)"}
        }, "closed": True,
    },
    "blocks": {
        "kind": "blocks", "goal": "? ? ? / ? A A", "start": "A A b / c . .", "alike": [],
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=PUZZLES)
def run(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("farthest") / "run"
    config = make_config(
        "test", PUZZLES[request.param], store={"path": str(path)}, search={"keep": "all"}
    )
    return api.run(api.plan(config))


def as_text(puzzle, board):
    return [str(label) for label in puzzle.notation.labels_on(board)]


def agrees(marks):
    return lambda part: all(m in ("?", own) for m, own in zip(part, marks, strict=True))


def test_every_position_is_looked_at(run):
    """Twin: all positions of all layers, as they are written."""
    rng, puzzle = np.random.default_rng(1), run.puzzle
    layers = [[as_text(puzzle, board) for board in layer] for layer in run.layers]
    everything = [(d, marks) for d, layer in enumerate(layers) for marks in layer]
    for _ in range(tried(10, 30)):
        parts = []
        for _ in range(rng.integers(1, 3)):
            marks = list(everything[rng.integers(len(everything))][1])
            cells = rng.permutation(len(marks))[: rng.integers(1, len(marks))]
            parts.append([m if cell in cells else "?" for cell, m in enumerate(marks)])
        agree = [depth for depth, marks in everything if any(map(agrees(marks), parts))]
        found = farthest_among(run.store, list(map(puzzle.notation.text, parts)), 3)
        assert (found.depth, found.count) == (max(agree), agree.count(max(agree)))
        assert len(found.boards) == min(3, found.count)
        for board in found.boards:
            assert as_text(puzzle, board) in layers[found.depth]


def test_what_is_no_part(run):
    cells = run.puzzle.cells
    with pytest.raises(InputError, match="leaves all cells open"):
        run.farthest(among=["? " * cells])
    with pytest.raises(InputError, match="'x' is not a piece"):
        run.farthest(among=["x " + "? " * (cells - 1)])


def test_the_most_moves_of_a_phase(tmp_path):
    """From anywhere to a first row in its place, and on from there."""
    words = CONFIGS / "3x3.toml", "--set", "search.keep=all", "--set"
    invoke(
        "run", *words, f"store.path={tmp_path / 'first'}", "--set", "puzzle.goal=0 1 2 ? ? ? ? ? ?"
    )
    invoke("run", *words, f"store.path={tmp_path / 'second'}")
    first, second = (api.open_run(tmp_path / name) for name in ("first", "second"))
    said = invoke("farthest", tmp_path / "second", "--among", "0 1 2 / ? ? ? / ? ? ?").output
    assert said.startswith(
        "2 positions at depth 26 from 0 1 2/3 4 5/6 7 8 among those that agree with --among"
    )
    assert first.depth + 26 > second.depth


def test_layers_that_were_not_kept(tmp_path):
    path = tmp_path / "run"
    api.run(api.plan(make_config("test", PUZZLES["tiles"], store={"path": str(path)})))
    said = invoke("farthest", path, "--among", "0 1 2 / 3 ? ?", code=2).stderr
    assert "did not keep layer" in said
    assert 'search.keep = "all"' in said
