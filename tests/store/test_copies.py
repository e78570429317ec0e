"""The copies of run.json and of the ledger."""

import json

import pytest

from frontier.errors import CorruptRunError
from frontier.store.copies import check_copies
from frontier.store.files import write_sealed
from frontier.store.run import LayerRecord, RunStore

IDENTITY = {"name": "x", "puzzle": {}, "codec": "raw", "keep": "frontier", "layout": {}}


@pytest.mark.parametrize(
    ("what", "value"),
    [("states", 7), ("form", "bits"), ("start", True), ("home", 1), ("parts", 2), ("digest", "0")],
)
def test_a_line_edited_with_its_chain_contradicts_the_copy(tmp_path, what, value):
    """Digest and chain are made right again, but of one of the two ledgers only."""
    run = RunStore.create(tmp_path / "run", IDENTITY)
    run.commit([LayerRecord(depth, depth + 1, "list", False, 0.5) for depth in range(4)], False)
    check_copies(RunStore.open(run.path))
    file, before = run.path / "ledger.json", ""
    ledger = json.loads(file.read_text())
    ledger["layers"][1][what] = value
    for line in ledger["layers"]:
        line["chain"] = before = LayerRecord(**line).chained(before, run.identity["identifier"])
    del ledger["digest"]
    write_sealed(file, ledger)
    with pytest.raises(CorruptRunError, match=r"ledger\.json says something else"):
        check_copies(RunStore.open(run.path))


def test_one_of_two_ledgers_may_be_ahead(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    run.commit([LayerRecord(0, 1, "list", False, 0.5)], False)
    behind = (run.path / "ledger.json").read_bytes()
    run.commit([LayerRecord(1, 2, "list", False, 0.5)], False)
    (run.path / "ledger.json").write_bytes(behind)
    check_copies(RunStore.open(run.path))
