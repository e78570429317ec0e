"""The command `layer`: all positions of a layer, the first or a sample, as text, CSV and arrays."""

import csv
import io
import shutil
import subprocess
import sys

import numpy as np
import pytest

from frontier.answers.excerpts import Excerpt
from frontier.answers.layers import BATCH
from frontier.api import runs as api
from tests.support.commands import invoke
from tests.support.run_files import layers_of
from tests.support.sweeps import cases
from tests.support.temporary_runs import CONFIGS, made


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return made(tmp_path_factory.mktemp("layer") / "run", "3x3", "search.keep=all")


@pytest.fixture(scope="module")
def as_bits(tmp_path_factory):
    """The same run with all layers as bits, cut otherwise."""
    folder = tmp_path_factory.mktemp("bits") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frontier.layers.plan.THIN_STATES", 0)
        patch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
        return made(folder, "3x3", "search.keep=all", "search.in_memory=false")


@pytest.fixture(params=cases(["store", "as_bits"], few=["as_bits"]))
def run(request):
    return api.Run(request.getfixturevalue(request.param))


def lines(*arguments):
    return invoke("layer", *arguments).stdout.splitlines()


@pytest.mark.sweep
def test_all_positions_are_at_that_depth(run):
    for depth in (0, 1, 14, 31):
        boards = [run.puzzle.parse(line) for line in lines(run.path, depth)]
        assert len(set(boards)) == len(boards) == run.counts[depth]
        assert set(run.distance(np.array(boards)).tolist()) == {depth}


def test_numbers_tell_the_positions(run):
    numbers = np.array(lines(run.path, 14, "--numbers"), dtype=np.uint64)
    assert sorted(numbers.tolist()) == run.layers[14].numbers().tolist()
    told = [run.puzzle.line(tuple(b)) for b in run.layers[14].boards_of(numbers).tolist()]
    assert told == lines(run.path, 14)


def test_the_first_of_a_layer(run):
    assert lines(run.path, 20, "--limit", 7) == lines(run.path, 20)[:7]
    assert lines(run.path, 20, "--limit", 0) == []
    assert len(lines(run.path, 31, "--limit", 7)) == 2


def test_a_sample_is_the_same_of_a_run_that_is_stored_otherwise(store, as_bits):
    def drawn(of, count, *more):
        return lines(of.path, 20, "--sample", count, *more)

    found = drawn(store, 50, "--seed", 3)
    assert len(set(found)) == 50
    assert set(found) < set(lines(store.path, 20))
    assert found == drawn(as_bits, 50, "--seed", 3)
    assert set(found) != set(drawn(store, 50)) == set(drawn(store, 50, "--seed", 0))
    assert set(drawn(store, 20, "--seed", 3)) < set(found)
    assert len(drawn(store, 10**6)) == api.Run(store).counts[20]
    numbers = drawn(store, 50, "--seed", 3, "--numbers")
    assert numbers == list(map(str, api.Run(store).layers[20].sample(50, seed=3).tolist()))


def test_a_table(run, tmp_path):
    said = invoke("layer", run.path, 12, "--csv", tmp_path / "12.csv")
    assert (said.stdout, said.stderr) == ("", f"wrote {tmp_path / '12.csv'}\n")
    with open(tmp_path / "12.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["position"] for row in rows] == lines(run.path, 12)
    assert [row["number"] for row in rows] == lines(run.path, 12, "--numbers")
    assert invoke("layer", run.path, 12, "--csv", "-").stdout == (tmp_path / "12.csv").read_text()
    assert lines(run.path, 0, "--csv", "-", "--numbers") == [
        "number",
        *lines(run.path, 0, "--numbers"),
    ]


def test_an_array(run, tmp_path):
    for some in ([], ["--limit", 5], ["--sample", 9], ["--limit", 0]):
        invoke("layer", run.path, 12, *some, "--npy", tmp_path / "12.npy", "--force")
        found = np.load(tmp_path / "12.npy")
        assert (found.dtype, found.shape[1]) == (np.uint8, 9)
        assert [run.puzzle.line(board) for board in found.tolist()] == lines(run.path, 12, *some)
        said = invoke("layer", run.path, 12, *some, "--numbers", "--npy", "-").stdout_bytes
        numbers = np.load(io.BytesIO(said))
        assert numbers.dtype == np.uint64
        assert list(map(str, numbers.tolist())) == lines(run.path, 12, *some, "--numbers")


@pytest.mark.sweep
def test_codes_of_turned_pieces_have_room(tmp_path):
    """64 positions with 7 orientations: their codes go to 448."""
    config = tmp_path / "turned.toml"
    turns = [1] + 63 * [0]
    config.write_text(
        f'name = "t"\n[puzzle]\nkind = "permutations"\norientations = 7\nclosed = true\n'
        f"goal = {['a'] * 63 + ['z']}\n[puzzle.generators]\nt = {{ turns = {turns} }}\n"
        f'u = {{ turns = {turns[::-1]} }}\n[store]\npath = "{tmp_path}/run"\n'
    )
    invoke("run", config, "--set", "cluster.kind=serial", "--set", "search.keep=all")
    invoke("layer", config, 6, "--npy", tmp_path / "6.npy")
    found = np.load(tmp_path / "6.npy")
    assert found.dtype == np.uint16
    assert sorted({*found[:, 0]}) == [1 + 64 * n for n in (3, 4)]


def test_a_layer_comes_in_chunks(as_bits):
    """So a layer that is larger than memory can be written."""
    layer = api.Run(as_bits).layers[20]
    pieces = list(Excerpt(as_bits.puzzle, layer).text())
    assert len(pieces) > 1
    assert max(piece.count(b"\n") for piece in pieces) <= BATCH
    assert sum(piece.count(b"\n") for piece in pieces) == layer.states


def test_what_is_not_there(tmp_path):
    run = made(tmp_path / "run", "2x4").path
    refused = {
        "did not keep layer 9, only its size; it kept layer 35 and layer 36. Run its config "
        'with search.keep = "all"': [9],
        "has no layer 37: its last layer is 36": [37],
        "--limit and --sample cannot be used together": [36, "--limit", 1, "--sample", 1],
        "--seed needs --sample N": [36, "--seed", 1],
        "not a valid whole number": ["deep"],
    }
    for said, words in refused.items():
        assert said in invoke("layer", run, *words, code=2).stderr
    target = tmp_path / "9.csv"
    assert "did not keep" in invoke("layer", run, 9, "--csv", target, code=2).stderr
    assert not target.exists()
    begun = made(tmp_path / "begun", "2x4", until=5).path
    assert "known to depth 5; resume it with `run`" in invoke("layer", begun, 6, code=2).stderr
    assert len(lines(begun, 5)) == api.open_run(begun).counts[5]


def test_a_search_of_gods_number_has_no_layers(tmp_path):
    config = CONFIGS / "2x3.toml"
    invoke("gods-number", config, "--set", f"store.path={tmp_path / 'found'}")
    said = invoke("layer", tmp_path / "found-gods-number", 21, code=2).stderr
    assert "`farthest` prints the positions" in said


def test_a_damaged_layer_leaves_no_file(as_bits, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(as_bits.path, run)
    part = max(layers_of(run).glob("0020/**/c*"), key=lambda path: path.stat().st_size)
    part.write_bytes(part.read_bytes()[:-100])
    invoke("layer", run, 20, "--npy", tmp_path / "20.npy", code=4)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.sweep
@pytest.mark.parametrize("options", [["--csv", "-"], [], ["--npy", "-"]])
def test_a_reader_that_has_read_enough_ends_it_quietly(store, options):
    """As `| head` does. The layer is larger than a pipe holds."""
    command = [sys.executable, "-m", "frontier", "layer", store.path, "24", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(6)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1
    process.stderr.close()


def test_the_layers_of_a_run_in_a_bucket(store, tmp_path, memory_bucket):
    made(memory_bucket, "3x3", "search.keep=all", "search.in_memory=false")
    for options in ([], ["--limit", 3], ["--sample", 9, "--csv", "-"], ["--numbers"]):
        assert lines(memory_bucket, 20, *options) == lines(store.path, 20, *options)
    invoke("layer", memory_bucket, 31, "--npy", tmp_path / "far.npy")
    assert np.load(tmp_path / "far.npy").shape == (2, 9)


def test_a_puzzle_of_twsearch_in_a_bucket(tmp_path, memory_bucket):
    blocks = {"Solved": "1 2 3", "Move a": "2 1 3", "Move b": "1 3 2"}
    made_of = (f"{command}\nPIECES\n{pieces}\nEnd\n" for command, pieces in blocks.items())
    text = "Name Three\nSet PIECES 3 1\n" + "".join(made_of)
    memory_bucket.write("three.tws", text.encode())
    config = memory_bucket.below("three.tws")
    settings = "--set", f"store.path={tmp_path / 'run'}", "--set", "search.keep=all"
    invoke("run", config, "--set", "cluster.kind=serial", *settings)
    assert sorted(lines(tmp_path / "run", 2)) == ["231", "312"]
    said = invoke("run", memory_bucket.below("no.tws"), code=2).stderr
    assert "no.tws: no such config file" in " ".join(said.split())
