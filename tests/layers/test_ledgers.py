"""Ledgers that are edited, exchanged, or lost with their last line."""

import shutil
from dataclasses import asdict, replace

import pytest
from click.testing import CliRunner

from frontier.cli import main
from frontier.errors import CorruptRunError
from frontier.layers.run import LayerRun
from tests.layers.test_two_layers import COUNTS, stopped_of
from tests.support.commands import invoke
from tests.support.ledgers import chain_anew, edit
from tests.support.run_files import COPIES, read_sealed, write_sealed
from tests.support.stopped_runs import finished
from tests.support.sweeps import swept
from tests.support.tile_runs import run as run_of

BOTH = "ledger.json", COPIES["ledger.json"]


@swept(
    "change",
    [{"states": 1}, {"depth": 4}, {"form": "bits"}, {"start": 1}, {"at_goal": 1}, {"parts": 2},
     {"digest": "0" * 64}, {"chain": "0" * 64}], few=3)  # fmt: skip
def test_a_line_of_the_ledger_that_is_edited_breaks_the_chain(copy, change):
    """Even where both ledgers are, and their digests are made right again."""
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    for key, value in change.items():
        edit(ledger["layers"][5], key, value)
    for name in BOTH:
        write_sealed(path / name, ledger)
    for words in ("verify", path), ("repair", path, "--yes"), ("status", path):
        assert "is not a ledger of this run" in invoke(*words, code=4).output
    with pytest.raises(CorruptRunError):
        finished(path, "frontier")


def test_a_ledger_and_its_copy_that_say_different_things(copy):
    """Each alone is whole, its chain included; and the copy may be one commit behind."""
    path, (name, copied) = copy("frontier"), BOTH
    ledger = read_sealed(path / name)
    write_sealed(path / copied, {**ledger, "layers": ledger["layers"][:-1]})
    assert "no faults" in invoke("verify", path).output
    changed = {**ledger, "layers": [dict(line) for line in ledger["layers"]]}
    edit(changed["layers"][5], "form", "bits")
    chain_anew(changed["layers"], LayerRun.open(path).identity["identifier"])
    for first, second in ((changed, ledger), (ledger, changed)):
        write_sealed(path / name, first)
        write_sealed(path / copied, second)
        assert "differ in layer 5" in invoke("verify", path, code=4).output
        assert "cannot be repaired" in invoke("repair", path, "--yes", code=4).output


@pytest.mark.parametrize("change", ["chain", "states", "no layers", "another run"])
def test_a_copy_of_the_ledger_that_is_no_ledger(copy, change):
    """Its own digest is right. It is rewritten from the ledger."""
    path, (_, copied) = copy("frontier"), BOTH
    ledger = read_sealed(path / copied)
    if change == "no layers":
        del ledger["layers"]
    elif change == "another run":
        chain_anew(ledger["layers"], "ab" * 16)
    else:
        edit(ledger["layers"][5], change, {"chain": "0" * 64, "states": 1}[change])
    write_sealed(path / copied, ledger)
    assert "is not a ledger of this run" in invoke("verify", path, code=4).output
    assert "rewritten from the other copy" in invoke("repair", path, "--yes").output
    assert "no faults" in invoke("verify", path).output


def test_lines_of_the_ledger_that_are_exchanged_or_left_out(copy):
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    lines = ledger["layers"]
    swapped = [*lines[:4], {**lines[5], "depth": 4}, {**lines[4], "depth": 5}, *lines[6:]]
    fewer = [{**line, "depth": depth} for depth, line in enumerate([*lines[:7], *lines[8:]])]
    for wrong in (swapped, fewer, lines[1:]):
        write_sealed(path / "ledger.json", {**ledger, "layers": wrong})
        with pytest.raises(CorruptRunError):
            LayerRun.open(path)


def test_a_line_of_the_ledger_that_is_made_anew_does_not_fit_the_next_one(copy):
    """Its own chain is right; the line after it follows from the one that was there."""
    path = copy("frontier")
    ledger, run = read_sealed(path / "ledger.json"), LayerRun.open(path)
    before, record = run.records[4:6]
    tally = replace(record.tally, states=record.states + 1)
    edited = replace(record, tally=tally).chained(before.chain, run.identity["identifier"])
    ledger["layers"][5] = asdict(edited)
    write_sealed(path / "ledger.json", ledger)
    with pytest.raises(CorruptRunError, match="layer 6 does not match"):
        LayerRun.open(path)


def test_the_ledger_of_another_run_is_refused(copy, whole):
    path = copy("frontier")
    for name in BOTH:
        shutil.copy(whole[0] / "spare" / name, path / name)
    with pytest.raises(CorruptRunError):
        LayerRun.open(path)


def test_the_ledger_of_another_run_is_exchanged_for_the_copy(copy, whole):
    path = copy("frontier")
    before = (path / "ledger.json").read_bytes()
    shutil.copy(whole[0] / "spare" / "ledger.json", path / "ledger.json")
    assert "rewritten from the other copy" in invoke("repair", path, "--yes").stdout
    assert (path / "ledger.json").read_bytes() == before
    assert "no faults" in invoke("verify", path).stdout


@pytest.mark.sweep
def test_both_ledgers_are_behind(tmp_path):
    """All parts of the layer under way are there, and nothing of the one before the last."""
    plan, store = stopped_of(tmp_path, done=0)
    ledger = read_sealed(store.path / "ledger.json")
    lines = ledger["layers"][:-1]
    lines[-2] |= {"stored": True}  # it was, until the last one was committed
    for name in BOTH:
        write_sealed(store.path / name, {**ledger, "layers": lines})
    before = lines[-1]["depth"]
    assert not store.layer_path(before - 1).exists()
    assert "no faults" in invoke("verify", store.path).stdout
    description = store.layer_path(before - 1) / "zarr.json"
    assert f"{description} rewritten" in invoke("repair", store.path, "--yes").stdout
    assert "no faults" in invoke("verify", store.path).stdout
    assert [record.states for record in run_of(plan).records] == COUNTS


@pytest.mark.parametrize("lost", ["turned", "gone"])
def test_a_ledger_whose_copy_is_one_commit_behind(tmp_path, lost):
    """A kill between the two costs nothing; the loss of the ledger costs that commit."""
    _, store = stopped_of(tmp_path, done=0)
    copy = store.path / COPIES["ledger.json"]
    ledger = read_sealed(copy)
    write_sealed(copy, {**ledger, "layers": ledger["layers"][:-1]})
    assert "no faults" in invoke("verify", store.path).stdout
    shutil.copytree(store.path, tmp_path / "killed")
    killed = LayerRun.open(tmp_path / "killed")
    assert [r.chain for r in killed.records] == [r.chain for r in store.records]
    (store.path / "ledger.json").write_bytes(b"{}")
    if lost == "gone":
        (store.path / "ledger.json").unlink()
    invoke("verify", store.path, code=4)
    assert "ledger.json: rewritten from the other copy" in (
        CliRunner().invoke(main, ["repair", str(store.path), "--yes"]).output
    )
    assert len(LayerRun.open(store.path).records) == len(store.records) - 1
