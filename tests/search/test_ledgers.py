"""Ledgers that are edited, exchanged, or behind their copy."""

import json
import shutil
from dataclasses import replace

import pytest
from ledgers import edit
from making import invoke, write_ledger
from search.runs import run as run_of
from search.stopped import finished
from search.test_two_layers import COUNTS, stopped_of

from frontier.errors import CorruptRunError
from frontier.search.verify import verify
from frontier.store.files import read_sealed, write_sealed
from frontier.store.run import RunStore
from frontier.store.tally import Tally


@pytest.mark.parametrize(
    "change",
    [{"states": 1}, {"depth": 4}, {"form": "bits"}, {"start": 1}, {"at_goal": 1}, {"parts": 2},
     {"digest": "0" * 64}, {"chain": "0" * 64}],
)  # fmt: skip
def test_a_line_of_the_ledger_that_is_edited_breaks_the_chain(copy, change):
    """Even where both ledgers are, and their digests are made right again."""
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    for key, value in change.items():
        edit(ledger["layers"][5], key, value)
    for folder in (path, path / "copies"):
        write_sealed(folder / "ledger.json", ledger)
    for words in ("verify", path), ("repair", path, "--yes"), ("status", path):
        assert "is no ledger of this run" in invoke(*words, code=4).output
    with pytest.raises(CorruptRunError, match="is no ledger of this run"):
        finished(path, "frontier")


def test_lines_of_the_ledger_that_are_exchanged_or_left_out(copy):
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    lines = ledger["layers"]
    swapped = [*lines[:4], {**lines[5], "depth": 4}, {**lines[4], "depth": 5}, *lines[6:]]
    fewer = [{**line, "depth": depth} for depth, line in enumerate([*lines[:7], *lines[8:]])]
    for wrong in (swapped, fewer, lines[1:]):
        write_sealed(path / "ledger.json", {**ledger, "layers": wrong})
        with pytest.raises(CorruptRunError, match="is no ledger of this run"):
            RunStore.open(path)


def test_the_ledger_of_another_run_is_refused(copy, whole):
    path = copy("frontier")
    for folder in ("", "copies"):
        shutil.copy(whole[0] / "spare" / folder / "ledger.json", path / folder / "ledger.json")
    with pytest.raises(CorruptRunError, match="is no ledger of this run"):
        RunStore.open(path)


def test_the_ledger_of_another_run_is_exchanged_for_the_copy(copy, whole):
    path = copy("frontier")
    before = (path / "ledger.json").read_bytes()
    shutil.copy(whole[0] / "spare" / "ledger.json", path / "ledger.json")
    assert "written anew from the other copy" in invoke("repair", path, "--yes").stdout
    assert (path / "ledger.json").read_bytes() == before
    assert "all sound" in invoke("verify", path).stdout


def earlier(path, folders):
    """Put back the ledger of the layer before; returns that layer's depth."""
    ledger = read_sealed(path / "ledger.json")
    lines = ledger["layers"][:-1]
    lines[-2] |= {"stored": True}  # it was, until the last one was committed
    for folder in folders:
        write_sealed(path / folder / "ledger.json", {**ledger, "layers": lines})
    return lines[-1]["depth"]


def test_a_ledger_that_is_behind_its_copy_is_no_fault(tmp_path):
    """What the layer that it does not list was made from has been given up."""
    _, store = stopped_of(tmp_path, done=0)
    earlier(store.path, [""])
    said = invoke("verify", store.path)
    assert "the ledger is behind its copy" in said.stderr
    assert "all sound" in said.stdout
    assert json.loads(invoke("verify", store.path, "--json").stdout)["faults"] == []


def test_both_ledgers_are_behind(tmp_path):
    """All parts of the layer under way are there, and nothing of the one before the last."""
    plan, store = stopped_of(tmp_path, done=0)
    before = earlier(store.path, ["", "copies"])
    assert not store.layer_path(before - 1).exists()
    invoke("verify", store.path, code=4)
    assert f"layer {before - 1} cleared" in invoke("repair", store.path, "--yes").stdout
    assert "all sound" in invoke("verify", store.path).stdout
    assert [record.states for record in run_of(plan).records] == COUNTS


def test_an_edited_ledger_contradicts_its_copy(copy):
    path = copy("frontier")
    copy_of_it = read_sealed(path / "copies" / "ledger.json")
    run = RunStore.open(path)
    record = run.records[5]
    run.records[5] = replace(record, tally=record.tally + Tally(1))
    write_ledger(run)
    write_sealed(path / "copies" / "ledger.json", copy_of_it)
    assert "says something else" in invoke("verify", path, code=4).output
    assert "says something else" in invoke("repair", path, "--yes", code=4).output
    with pytest.raises(CorruptRunError, match="says something else"):
        finished(path, "frontier")


def test_a_copy_may_be_ahead(copy, whole):
    """As after a death between the two."""
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    ahead = {**ledger["layers"][-1], "depth": 21}
    write_sealed(path / "copies" / "ledger.json", {**ledger, "layers": [*ledger["layers"], ahead]})
    assert verify(RunStore.open(path)).faults == []
    assert finished(path, "frontier") == whole[1]
