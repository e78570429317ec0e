"""Arrays that `export` writes: what is refused, lost or interrupted, and the command."""

import json
import random

import numpy as np
import pytest
import zarr

from frontier.answers import distances as distances_module
from frontier.answers.distances import Distances
from frontier.api import runs as api
from frontier.errors import CorruptRunError, InputError
from frontier.layers.run import LayerRun
from tests.answers.test_distances import CASES, boards_of, exported, of_boards, run_of
from tests.support.commands import invoke
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
    assert of_boards(exported(tmp_path / "array", complete), boards).tolist() == depths


def test_runs_that_cannot_be_exported(tmp_path):
    half = run_of(tmp_path / "half", CASES["2x4, k=2"], until=9)
    thin = run_of(tmp_path / "thin", CASES["2x4, k=2"], keep="frontier")
    assert thin.complete
    assert not half.complete
    for run, word in ((half, "is not complete"), (thin, 'search.keep = "all"')):
        with pytest.raises(InputError, match=word):
            run.export(tmp_path / "array")
        assert not list(tmp_path.glob("array*"))
    with pytest.raises(InputError, match=r'search\.keep = "all"'):
        Distances.of_run(thin.store)


def test_a_place_that_cannot_be_made(complete, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="cannot be made"):
        complete.export(tmp_path / "file" / "below" / "array")


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
    assert of_boards(exported(tmp_path / "array", run), boards).tolist() == depths
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["array", "run"]


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
        for ask in (lambda: Distances.of_run(run.store), lambda: run.export(tmp_path / "array")):
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
