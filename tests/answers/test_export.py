"""Arrays that `export` writes: what is refused, lost, damaged or interrupted, and the command."""

import json
import pickle
import random

import numpy as np
import pytest
import zarr

from frontier.answers import distances as distances_module
from frontier.answers.distances import Distances
from frontier.api import runs as api
from frontier.errors import CorruptRunError, InputError
from frontier.layers.run import LayerRun
from tests.answers.test_distances import CASES, boards_of, of_boards, run_of
from tests.support.commands import invoke
from tests.support.sweeps import swept
from tests.support.tile_runs import without_record

# --- refusals


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A complete run that has kept its layers."""
    return run_of(tmp_path_factory.mktemp("complete") / "run", CASES["2x4, k=2"])


def test_nothing_is_overwritten(complete, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "directory").mkdir()
    complete.export(tmp_path / "array")
    before = sorted(tmp_path.rglob("*"))
    for name in ("file", "directory", "array"):
        with pytest.raises(InputError, match="already exists; name another"):
            complete.export(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"
    boards, depths = boards_of("2x4, k=2")
    assert of_boards(Distances.open(tmp_path / "array"), boards).tolist() == depths


def test_runs_that_cannot_be_exported(tmp_path):
    half = run_of(tmp_path / "half", CASES["2x4, k=2"], until=9)
    thin = run_of(tmp_path / "thin", CASES["2x4, k=2"], keep="frontier")
    assert thin.complete
    assert not half.complete
    for run, word in ((half, "is not complete"), (thin, 'search.keep = "all"')):
        with pytest.raises(InputError, match=word):
            run.export(tmp_path / "array")
        assert not list(tmp_path.glob("array*"))
    for ask in (Distances.of_run, lambda store: Distances.open(store.path)):
        with pytest.raises(InputError, match=r'search\.keep = "all"'):
            ask(thin.store)


def test_a_place_that_cannot_be_made(complete, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="cannot be made"):
        complete.export(tmp_path / "file" / "below" / "array")


def test_what_is_no_array_of_distances(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    zarr.create_group(tmp_path / "group")
    other = zarr.create_array(tmp_path / "other", shape=(2, 2), dtype=np.uint8)
    other[:] = 1
    marked = zarr.create_array(
        tmp_path / "marked", shape=(2, 2), dtype=np.uint8, attributes={"kind": "photographs"}
    )
    marked[:] = 1
    for name in ("none", "empty", "file", "group"):
        with pytest.raises(InputError, match="neither a run nor an exported array"):
            Distances.open(tmp_path / name)
    for name in ("other", "marked"):
        with pytest.raises(InputError, match="`export` did not write it"):
            Distances.open(tmp_path / name)


class Trap:
    """Makes a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_nothing_is_unpickled(tmp_path):
    """An array of format 2 may name a codec that unpickles; such arrays are not read at all."""
    sprung, path = tmp_path / "sprung", tmp_path / "array"
    path.mkdir()
    described = {
        "zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "fill_value": 0,
        "order": "C", "compressor": {"id": "pickle", "protocol": 5}, "filters": None,
    }  # fmt: skip
    (path / ".zarray").write_text(json.dumps(described))
    (path / ".zattrs").write_text(json.dumps({"kind": distances_module.NAME}))
    (path / "0").write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(InputError, match="nor an exported array"):
        Distances.open(path)
    assert not sprung.exists()


def test_layers_that_hold_other_numbers_than_the_ledger(tmp_path, monkeypatch):
    """Nothing is left at the target, and once all is well it can be written."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"])
    with monkeypatch.context() as patch:
        patch.setattr(LayerRun, "states", property(lambda _: 6721))
        for ask in (lambda: Distances.of_run(run.store), lambda: run.export(tmp_path / "array")):
            with pytest.raises(CorruptRunError, match=r"hold 6,720 positions, .* lists 6,721"):
                ask()
    assert not (tmp_path / "array").exists()
    run.export(tmp_path / "array")
    boards, depths = boards_of("2x4, k=2")
    assert of_boards(Distances.open(tmp_path / "array"), boards).tolist() == depths
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["array", "run"]


def chunks_of(path):
    """The files of an exported array, but for what describes it."""
    return sorted(f for f in path.rglob("*") if f.is_file() and f.suffix != ".json")


@swept("name", ["2x4, k=2", "2x4, k=2, labelled", "tiles 2x4"], few=1)
def test_an_array_that_has_lost_a_part(tmp_path, monkeypatch, name):
    """Any part, or all: what is lost would read as positions that cannot be reached."""
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 1000)
    target = tmp_path / "array"
    run_of(tmp_path / "run", CASES[name]).export(target)
    chunks = chunks_of(target)
    assert len(chunks) > 3
    for lost in (*([chunk] for chunk in chunks), chunks[::2], chunks):
        kept = {file: file.read_bytes() for file in lost}
        for file in lost:
            file.unlink()
        with pytest.raises(CorruptRunError, match="export it again"):
            Distances.open(target)
        for file, data in kept.items():
            file.write_bytes(data)
    boards, depths = boards_of(name)
    assert of_boards(Distances.open(target), boards).tolist() == depths


@swept("seed", range(8), few=1)
def test_an_array_that_is_damaged(tmp_path, monkeypatch, seed):
    """A bit turned, a chunk cut, emptied or exchanged with another."""
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 1000)
    target, rng = tmp_path / "array", np.random.default_rng(seed)
    run_of(tmp_path / "run", CASES["2x4, k=2"]).export(target)
    for file in chunks_of(target):
        data, other = file.read_bytes(), rng.choice(chunks_of(target))
        at = rng.integers(len(data))
        turned = bytes([data[at] ^ 1 << rng.integers(8)])
        for damaged in (data[:at] + turned + data[at + 1 :], data[:at], other.read_bytes()):
            file.write_bytes(damaged)
            if damaged == data:
                Distances.open(target)
                continue
            with pytest.raises(CorruptRunError, match="export it again"):
                Distances.open(target)
        file.write_bytes(data)
    boards, depths = boards_of("2x4, k=2")
    assert of_boards(Distances.open(target), boards).tolist() == depths


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["lists", "bits"])
def test_a_run_that_has_lost_a_part(tmp_path, form):
    """It gives no array, and of no board a wrong distance."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"], form)
    boards, depths = boards_of("2x4, k=2")
    parts = sorted(run.store.layer_path(0).parent.glob("*/c.*"))
    parts = [part for part in parts if without_record(part)[0]["tally"]["states"]]
    assert len(parts) >= len(run.counts)
    for part in random.Random(2).sample(parts, 6):
        data = part.read_bytes()
        part.unlink()
        again = api.open_run(run.path)
        for ask in (lambda: Distances.open(run.path), lambda: run.export(tmp_path / "array")):
            with pytest.raises(CorruptRunError, match=f"{part} is missing"):
                ask()
        with pytest.raises(CorruptRunError, match=f"{part} is missing"):
            again.distance(boards)
        assert "is missing" in invoke("export", run.path, tmp_path / "array", code=4).stderr
        for board, depth in list(zip(boards, depths, strict=True))[:20]:
            try:
                assert again.distance([board]).tolist() == [depth]
            except CorruptRunError:
                continue
        part.write_bytes(data)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    assert api.open_run(run.path).distance(boards).tolist() == depths


@pytest.mark.sweep
def test_an_export_that_is_interrupted(tmp_path, monkeypatch):
    """What is under way is not at the target."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"])
    monkeypatch.setattr(distances_module, "ROWS_BYTES", 1000)
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 100)
    with monkeypatch.context() as patch:

        def some(space, layer, *rest):
            if layer.files.depth == 3 and next(asked) > 2:
                raise KeyboardInterrupt
            return fill(space, layer, *rest)

        fill, asked = distances_module._fill, iter(range(100))
        patch.setattr(distances_module, "_fill", some)
        with pytest.raises(KeyboardInterrupt):
            run.export(tmp_path / "array")
        assert next(asked) == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    assert (run.export(tmp_path / "array")[:] == CASES["2x4, k=2"].array(np.uint8)).all()


# --- the command


def test_the_command_prints_what_it_wrote(complete, tmp_path):
    path, expected = complete.path, CASES["2x4, k=2"].array(np.uint8)
    rows, columns = expected.shape
    assert invoke("export", path, tmp_path / "a").stdout == (
        f"{tmp_path / 'a'}: {rows:,} × {columns:,} distances, uint8, Zarr array\n"
    )
    value = json.loads(invoke("export", path, tmp_path / "b", "--json").stdout)
    assert value == {"path": str(tmp_path / "b"), "shape": [rows, columns], "type": "uint8"}
    for name in "ab":
        assert (zarr.open_array(tmp_path / name)[:] == expected).all()


@pytest.mark.sweep
def test_an_array_of_numpy(complete, tmp_path, monkeypatch):
    """It is one file, written piece by piece, and what is under way is not at the target."""
    monkeypatch.setattr(distances_module, "ROWS_BYTES", 1000)
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 100)
    expected, target = CASES["2x4, k=2"].array(np.uint8), tmp_path / "a.npy"
    said = json.loads(invoke("export", complete.path, target, "--json").stdout)
    assert said == {"path": str(target), "shape": list(expected.shape), "type": "uint8"}
    assert np.load(target).dtype == np.uint8
    assert (np.load(target) == expected).all()
    assert (complete.export(tmp_path / "b.npy")[:] == expected).all()
    with pytest.raises(InputError, match="already exists; name another"):
        complete.export(target)
    with pytest.raises(InputError, match="does not name its puzzle"):
        Distances.open(target)
    with monkeypatch.context() as patch:
        patch.setattr(LayerRun, "states", property(lambda _: 6721))
        with pytest.raises(CorruptRunError):
            complete.export(tmp_path / "c.npy")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.npy", "b.npy"]


@pytest.mark.parametrize("name", ["a.npz", "a.tsv", "a.h5", "a.json", "new/a.feather"])
def test_a_name_that_promises_another_format_is_refused(complete, tmp_path, name):
    said = invoke("export", complete.path, tmp_path / name, code=2).stderr
    assert f"{name}: distances cannot be written as .{name.split('.')[1]}; " in said
    assert not list(tmp_path.iterdir())


def test_what_the_command_refuses(complete, tmp_path):
    run_of(tmp_path / "half", CASES["2x4, k=2"], until=9)
    run_of(tmp_path / "thin", CASES["2x4, k=2"], keep="frontier")
    for arguments, word in [
        ((tmp_path / "half", tmp_path / "a"), "is not complete"),
        ((tmp_path / "thin", tmp_path / "a"), 'search.keep = "all"'),
        ((tmp_path / "none", tmp_path / "a"), "no such run"),
        ((complete.path, tmp_path / "thin"), "exists"),
    ]:
        result = invoke("export", *arguments, code=2)
        assert result.stderr.startswith("frontier: ")
        assert word in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert result.stdout == ""
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["half", "thin"]
