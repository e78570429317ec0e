"""Samples of a question's cosets, and what a plan says of them."""

import json

import numpy as np
import pytest

from frontier.config.loading import load_config
from frontier.cosets import sampling
from frontier.cosets.questions import Asker
from frontier.cosets.regions import region_named
from frontier.cosets.sampling import sample, sample_next
from frontier.puzzles import tile_puzzle
from tests.support.commands import invoke
from tests.support.coset_boards import kept
from tests.support.coset_runs import find_gods_number
from tests.support.sweeps import swept


@swept("metric", ["step", "multi"], few=1)
def test_a_sample_of_every_distance(metric):
    """All cosets, where there are few of them; the work is that of a portion."""
    limit, sizes = (30, (4, 3)) if metric == "step" else (22, (4, 4))
    asker = Asker(region_named(tile_puzzle(2, 4, metric=metric), "2x3"), sizes, 1, kept())
    samples = sample(asker, limit, 1e6)  # kernels may have to be compiled first
    counts = asker.distances(limit)
    assert [of.distance for of in samples] == np.flatnonzero(counts).tolist()[::-1]
    for of in samples:
        assert of.cosets == of.searched == counts[of.distance]
        assert of.whole
        assert of.all_seconds == of.seconds * of.cosets
    left = sum(of.left * of.searched for of in samples)
    assert sum(of.cosets for of in samples) == asker.cosets(limit)
    portions = [asker.search(limit, number) for number in range(asker.portions(limit))]
    assert left == pytest.approx(sum(portion.left for portion in portions))


def test_no_more_than_a_sample(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_SAMPLED", 5)
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (4, 3), 1, kept())
    for of in sample(asker, 28, 1e6):
        assert of.searched <= min(of.cosets, 7)  # 1, then 2, then 4


def test_a_coset_that_takes_too_long():
    """Its time so far is told as what it takes at least."""
    asker = Asker(region_named(tile_puzzle(2, 4), "2x3"), (4, 3), 1, kept())
    for of in sample(asker, 28, 0.0):
        assert of.searched <= 1
        assert of.whole == (of.searched == 1)
        assert of.seconds > 0


def test_the_next_question_of_a_search(tmp_path):
    """It is told once the tables are there and until all is answered; nothing is written."""
    words = [str(tmp_path / "a.toml"), "--plan"]
    (tmp_path / "a.toml").write_text(
        'name = "a"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 4\n'
        f'[store]\npath = "{tmp_path / "run"}"\n'
    )
    assert "time: unknown" in invoke("gods-number", *words).stdout
    loaded = load_config(tmp_path / "a.toml")
    run = find_gods_number(loaded, hours=0)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    limit, samples = sample_next(run, 10.0)
    assert limit == run.next_question[0]
    assert samples
    text = invoke("gods-number", *words).stdout
    assert f"which positions need more than {limit} moves?" in text
    said = json.loads(invoke("gods-number", *words, "--json").stdout)["next_question"]
    assert said["limit"] == limit
    assert not said["at_least"]
    assert said["seconds"] == pytest.approx(
        sum(of["cosets"] * of["seconds"] for of in said["distances"])
    )
    assert files == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    run = find_gods_number(loaded)
    assert run.complete
    assert sample_next(run, 10.0) is None
    assert "time: unknown" in invoke("gods-number", *words).stdout
