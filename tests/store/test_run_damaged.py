"""Run directories of other formats, and run.json and ledgers with what no run has."""

import json
import tracemalloc
from dataclasses import asdict, replace

import pytest
from files import read_json, read_sealed, write_json, write_sealed
from ledgers import edit
from making import IDENTITY
from store.test_run import committed, numbers_of, written

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.store.run import RunStore
from frontier.store.tally import Tally


def test_a_run_of_the_old_format_is_refused_by_name(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    write_json(run.path / "run.json", {**read_json(run.path / "run.json"), "format": 4})
    with pytest.raises(FormatError, match=r"has format 4, this program reads format 5"):
        RunStore.open(run.path)


def test_a_run_of_a_kind_of_puzzle_that_is_gone_is_refused_with_what_there_is_instead(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    identity = read_sealed(run.path / "run.json")
    puzzle = {"kind": "lines", "rows": 3, "columns": 5}
    write_sealed(run.path / "run.json", {**identity, "puzzle": puzzle})
    said = r"puzzle.kind = 'lines'.* no longer has: puzzle.kind = \"tiles\" with puzzle.metric ="
    with pytest.raises(FormatError, match=said):
        RunStore.open(run.path)


def test_other_formats_and_no_run(tmp_path):
    with pytest.raises(InputError, match=r"run\.json"):
        RunStore.open(tmp_path)
    run = RunStore.create(tmp_path / "run", IDENTITY)
    identity = read_json(run.path / "run.json")
    write_json(run.path / "run.json", {**identity, "format": 99})
    with pytest.raises(CorruptRunError, match="99"):
        RunStore.open(run.path)
    for odd in ("4", "\n", True, None, [], 4.0):
        write_json(run.path / "run.json", {**identity, "format": odd})
        with pytest.raises(CorruptRunError, match="not what was written there"):
            RunStore.open(run.path)


def test_damaged_ledger(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    (run.path / "ledger.json").write_text("[")
    with pytest.raises(CorruptRunError, match="ledger"):
        RunStore.open(run.path)
    (run.path / "ledger.json").unlink()
    assert RunStore.open(run.path).records == []  # as if it had been killed when it began
    written(run, 0)
    with pytest.raises(CorruptRunError, match="missing"):
        RunStore.open(run.path)


@pytest.mark.parametrize(
    "odd",
    [
        {"puzzle": {}}, {"puzzle": {"kind": "tiles", "rows": 2}}, {"puzzle": {"kind": []}},
        {"puzzle": None}, {"layout": {}}, {"layout": {"prefix_digits": -1, "task_nodes": 1}},
        {"layout": {"prefix_digits": 0, "task_nodes": 0}}, {"layout": 3}, {"states": "many"},
        {"states": 0}, {"name": None}, {"name": "a\nb"}, {"codec": 7}, {"keep": "some"},
        {"created": float("nan")}, {"created": "1"}, {"identifier": "x"}, {"x": 1},
    ],
)  # fmt: skip
def test_run_json_with_values_that_no_run_has(tmp_path, odd):
    """Though its digest is right."""
    run = RunStore.create(tmp_path / "run", IDENTITY)
    write_sealed(run.path / "run.json", {**run.identity, **odd})
    with pytest.raises(CorruptRunError, match=f"is not what was .*'{next(iter(odd))}") as error:
        RunStore.open(run.path)
    assert "\n" not in str(error.value)


def test_run_json_that_lacks_a_value(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    for key in run.identity.keys() - {"format"}:
        write_sealed(run.path / "run.json", {k: v for k, v in run.identity.items() if k != key})
        with pytest.raises(CorruptRunError, match=f"{key}.*required"):
            RunStore.open(run.path)


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
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    line = asdict(run.records[0])
    for name, value in odd.items():
        edit(line, name, value)
    if "chain" not in odd:
        record = replace(run.records[0], **{**line, "tally": Tally(**line["tally"])})
        line["chain"] = record.chained("", run.identity["identifier"]).chain
    write_sealed(run.path / "ledger.json", {"layers": [line], "complete": False})
    with pytest.raises(CorruptRunError, match="is no ledger of this run") as error:
        RunStore.open(run.path)
    assert "\n" not in str(error.value)


def test_digests_do_not_depend_on_how_keys_are_written(tmp_path):
    value = {"nodes": {i: i for i in range(12)}, "text": "×"}
    write_sealed(tmp_path / "x.json", value)
    assert read_sealed(tmp_path / "x.json")["nodes"] == {str(i): i for i in range(12)}


def test_edited_files_are_found(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    committed(run, 1)
    for path in (run.path / "ledger.json", run.path / "run.json"):
        good = path.read_text()
        value = json.loads(good)
        value["edited"] = True
        path.write_text(json.dumps(value))
        with pytest.raises(CorruptRunError, match=path.name):
            RunStore.open(run.path)
        path.write_text(good)
    assert numbers_of(RunStore.open(run.path), 1) == [0, 1]


def test_small_files_take_little_memory_to_read(tmp_path):
    write_json(tmp_path / "x.json", {"n": 1})
    tracemalloc.start()
    try:
        assert read_json(tmp_path / "x.json") == {"n": 1}
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
