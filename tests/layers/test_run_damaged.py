"""Run directories of other formats, and run.json and ledgers with what no run has."""

import json
import tracemalloc
from dataclasses import asdict, replace

import pytest

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.layers.run import LayerRun
from frontier.layers.tally import Tally
from tests.layers.test_run import committed, numbers_of, written
from tests.support.ledgers import edit
from tests.support.run_files import read_json, read_sealed, write_json, write_sealed
from tests.support.temporary_runs import IDENTITY

LAYOUT = IDENTITY["layout"]


def test_other_formats_and_no_run(tmp_path):
    with pytest.raises(InputError, match=r"run\.json"):
        LayerRun.open(tmp_path)
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    identity = read_json(run.path / "run.json")
    write_json(run.path / "run.json", {**identity, "format": 99})
    with pytest.raises(FormatError, match="has format 99, and this program reads format 1"):
        LayerRun.open(run.path)
    for odd in ("4", "\n", True, None, [], 4.0):
        write_json(run.path / "run.json", {**identity, "format": odd})
        with pytest.raises(CorruptRunError, match="is corrupt"):
            LayerRun.open(run.path)


def test_damaged_ledger(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    (run.path / "ledger.json").write_text("[")
    with pytest.raises(CorruptRunError, match="ledger"):
        LayerRun.open(run.path)
    (run.path / "ledger.json").unlink()
    assert LayerRun.open(run.path).records == []  # as if it had been killed when it began
    written(run, 0)
    with pytest.raises(CorruptRunError, match="missing"):
        LayerRun.open(run.path)


@pytest.mark.parametrize(
    "odd",
    [
        {"puzzle": {}}, {"puzzle": {"kind": "tiles", "rows": 2}}, {"puzzle": {"kind": []}},
        {"puzzle": None}, {"layout": {}}, {"layout": {**LAYOUT, "prefix_digits": -1}},
        {"layout": {**LAYOUT, "task_nodes": 0}}, {"layout": 3}, {"states": "many"},
        {"states": 0}, {"name": None}, {"name": "a\nb"}, {"codec": 7}, {"keep": "some"},
        {"created": float("nan")}, {"created": "1"}, {"identifier": "x"}, {"x": 1},
        {"kind": "others"}, {"kind": []},
    ],
)  # fmt: skip
def test_run_json_with_values_that_no_run_has(tmp_path, odd):
    """Though its digest is right."""
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    write_sealed(run.path / "run.json", {**run.identity, **odd})
    with pytest.raises(CorruptRunError, match=f"is corrupt: .*'{next(iter(odd))}") as error:
        LayerRun.open(run.path)
    assert "\n" not in str(error.value)


def test_run_json_that_lacks_a_value(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    for key in run.identity.keys() - {"format"}:
        write_sealed(run.path / "run.json", {k: v for k, v in run.identity.items() if k != key})
        with pytest.raises(CorruptRunError, match=f"{key}.*required"):
            LayerRun.open(run.path)


@pytest.mark.parametrize(
    "odd",
    [
        {"depth": "0"}, {"depth": 0.0}, {"states": "1"}, {"states": -1}, {"states": 1 << 63},
        {"states": True}, {"form": []}, {"form": "heap"}, {"stored": 1}, {"seconds": None},
        {"seconds": float("nan")}, {"seconds": -1.0}, {"seconds": 10**30}, {"seconds": 1e300},
        {"bytes": 0.5}, {"work": []}, {"work": {"disk": "1"}}, {"start": None}, {"at_goal": "x"},
        {"parts": []}, {"digest": 5}, {"chain": None},
    ],
)  # fmt: skip
def test_a_ledger_with_values_that_no_layer_has(tmp_path, odd):
    """Though its digest and its chain are right."""
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    line = asdict(run.records[0])
    for name, value in odd.items():
        edit(line, name, value)
    if "chain" not in odd:
        record = replace(run.records[0], **{**line, "tally": Tally(**line["tally"])})
        line["chain"] = record.chained("", run.identity["identifier"]).chain
    ledger = read_sealed(run.path / "ledger.json")
    write_sealed(run.path / "ledger.json", {**ledger, "layers": [line]})
    with pytest.raises(CorruptRunError, match="is not a ledger of this run") as error:
        LayerRun.open(run.path)
    assert "\n" not in str(error.value)


def test_digests_do_not_depend_on_how_keys_are_written(tmp_path):
    value = {"nodes": {i: i for i in range(12)}, "text": "×"}
    write_sealed(tmp_path / "x.json", value)
    assert read_sealed(tmp_path / "x.json")["nodes"] == {str(i): i for i in range(12)}


def test_edited_files_are_found(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    committed(run, 1)
    for path in (run.path / "ledger.json", run.path / "run.json"):
        good = path.read_text()
        value = json.loads(good)
        value["edited"] = True
        path.write_text(json.dumps(value))
        with pytest.raises(CorruptRunError, match=path.name):
            LayerRun.open(run.path)
        path.write_text(good)
    assert numbers_of(LayerRun.open(run.path), 1) == [0, 1]


def test_small_files_take_little_memory_to_read(tmp_path):
    write_json(tmp_path / "x.json", {"n": 1})
    tracemalloc.start()
    try:
        assert read_json(tmp_path / "x.json") == {"n": 1}
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
