"""The copies of run.json and of the ledger."""

import json

import pytest
from ledgers import chain_anew, edit, line_of
from making import IDENTITY

from frontier.errors import CorruptRunError
from frontier.store.copies import check_copies
from frontier.store.files import write_sealed
from frontier.store.run import RunStore


@pytest.mark.parametrize(
    ("what", "value"),
    [("states", 7), ("form", "bits"), ("start", 1), ("at_goal", 1), ("parts", 2), ("digest", "0")],
)
def test_a_line_edited_with_its_chain_contradicts_the_copy(tmp_path, what, value):
    """Digest and chain are made right again, but of one of the two ledgers only."""
    run = RunStore.create(tmp_path / "run", IDENTITY)
    run.commit([line_of(depth, depth + 1) for depth in range(4)], False)
    check_copies(RunStore.open(run.path))
    file = run.path / "ledger.json"
    ledger = json.loads(file.read_text())
    edit(ledger["layers"][1], what, value)
    chain_anew(ledger["layers"], run.identity["identifier"])
    del ledger["digest"]
    write_sealed(file, ledger)
    with pytest.raises(CorruptRunError, match=r"ledger\.json says something else"):
        check_copies(RunStore.open(run.path))


def test_one_of_two_ledgers_may_be_ahead(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    run.commit([line_of(0, 1)], False)
    behind = (run.path / "ledger.json").read_bytes()
    run.commit([line_of(1, 2)], False)
    (run.path / "ledger.json").write_bytes(behind)
    check_copies(RunStore.open(run.path))


def test_the_copy_is_newer_only_if_it_goes_on_where_the_ledger_ends(tmp_path):
    run = RunStore.create(tmp_path / "run", IDENTITY)
    lines = [line_of(depth, depth + 1) for depth in range(3)]
    files = [run.path / "ledger.json", run.path / "copies" / "ledger.json"]
    written = []
    for commit in ([lines[0]], False), (lines[1:], False), ([], True):
        run.commit(*commit)
        written.append(files[0].read_bytes())
    for i, mine in enumerate(written):
        for k, copied in enumerate(written):
            files[0].write_bytes(mine)
            files[1].write_bytes(copied)
            newer = RunStore.open(run.path).newer_copy()
            assert (newer is not None) == (k > i)
            if newer:
                assert (len(newer.records), newer.complete) == ((1, 3, 3)[k], k == 2)
    other = RunStore.create(tmp_path / "other", IDENTITY)
    other.commit(lines, True)
    files[0].write_bytes(written[0])
    for wrong in (other.path / "ledger.json").read_bytes(), b"", written[2][:-9]:
        files[1].write_bytes(wrong)
        assert RunStore.open(run.path).newer_copy() is None
