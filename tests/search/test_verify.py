"""What `verify` finds, what `repair` mends, and what a second writer hears."""

import errno
import json
import os
import shutil
import socket

import numpy as np
import pytest
from making import invoke, write_ledger
from search.test_driver import run as run_of
from search.test_two_layers import COUNTS, stopped_of
from sweeps import swept

from frontier import api
from frontier.cli import upkeep
from frontier.config import Config
from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.report.summary import summary, write_summary
from frontier.search import driver as driver_module
from frontier.search import verify as verify_module
from frontier.search.verify import neighbours, verify
from frontier.search.workspace import Workspace
from frontier.store import files as files_module
from frontier.store.files import read_sealed, write_sealed
from frontier.store.lock import RunLock
from frontier.store.parts import digest_of
from frontier.store.run import RunStore


def config_of(path, columns=4, **search):
    return Config(
        name="test",
        puzzle={"kind": "tiles", "rows": 2, "columns": columns},
        search={"in_memory": False, **search},
        store={"path": str(path), "codec": "raw"},
        cluster={"kind": "serial"},
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Runs of 2×4, stopped at depth 20, by what they keep; and the counts of all layers."""
    base = tmp_path_factory.mktemp("whole")
    for name, search in (("frontier", {}), ("spare", {"spare": 2}), ("all", {"keep": "all"})):
        for depth in (12, 16, 20):
            api.run(api.plan(config_of(base / name, **search)), until=depth)
    return base, api.run(api.plan(config_of(base / "complete"))).counts


@pytest.fixture
def copy(whole, tmp_path):
    def made(name):
        shutil.copytree(whole[0] / name, tmp_path / name, dirs_exist_ok=True)
        return tmp_path / name

    return made


SEARCH = {"frontier": {}, "spare": {"spare": 2}, "all": {"keep": "all"}}


def finished(path, name):
    return api.run(api.plan(config_of(path, **SEARCH[name]))).counts


@swept("name", SEARCH, few=1)
def test_whole_runs_are_sound(whole, name):
    found = verify(RunStore.open(whole[0] / name), deep=200)
    assert found.faults == []
    assert found.layers == {"frontier": 2, "spare": 4, "all": 21}[name]
    assert found.asked > 200


def test_neighbours_are_those_of_the_board(whole):
    """In plain Python, on boards."""
    puzzle = config_of(whole[0] / "x").make_puzzle()
    rng = np.random.default_rng(1)
    for _ in range(50):
        board = rng.permutation(8).tolist()
        if not puzzle.reaches(tuple(board)):
            continue
        at, near = board.index(0), set()
        for to in (at - 1, at + 1, at - 4, at + 4):
            if 0 <= to < 8 and (to // 4 == at // 4 or to % 4 == at % 4):
                moved = list(board)
                moved[at], moved[to] = moved[to], 0
                near.add(tuple(moved))
        side, number = puzzle.space.number(*puzzle.state(tuple(board)))
        found = [puzzle.board(puzzle.space.state(c, n)) for c, n in
                 neighbours(puzzle.space, side, number)]  # fmt: skip
        assert set(found) == near
        assert len(found) == len(near)


def turned(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(bytes(data))


DAMAGES = {
    "turned": turned,
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-9]),
    "empty": lambda file: file.write_bytes(b""),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"0"),
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["layers/0020/c.0", "layers/0019/c.0"])
@swept("name", SEARCH, few=1)
def test_damage_is_named_and_mended_where_that_can_be(copy, whole, name, file, damage):
    path = copy(name)
    DAMAGES[damage](path / file)
    said = invoke("verify", path, code=4).output
    assert str(path / file) in said
    if name == "frontier":
        assert "cannot be repaired" in invoke("repair", path, "--yes", code=4).output
        assert str(path / file) in invoke("verify", path, code=4).output  # nothing was changed
        with pytest.raises(CorruptRunError, match=file.removesuffix("/c.0")):
            finished(path, name)
        return
    depth = 16 if name == "spare" else int(file.split("/")[1][:4]) - 1
    assert f"back to depth {depth};" in invoke("repair", path, "--yes").output
    assert verify(RunStore.open(path)).faults == []
    assert finished(path, name) == whole[1]


def test_nothing_is_given_up_unasked(copy):
    path = copy("spare")
    turned(path / "layers/0020/c.0")
    assert "Nothing is changed" in invoke("repair", path, code=2).output
    assert len(RunStore.open(path).records) == 21


def test_what_only_zarr_reads(copy, whole):
    path = copy("frontier")
    for file in ("layers/zarr.json", "layers/0020/zarr.json"):
        (path / file).write_text("{}")
        assert str(path / file) in invoke("verify", path, code=4).output
        invoke("repair", path)
        assert verify(RunStore.open(path)).faults == []
    assert finished(path, "frontier") == whole[1]


@pytest.mark.parametrize("name", ["run.json", "ledger.json"])
@pytest.mark.parametrize("folder", ["", "copies"])
def test_a_damaged_file_comes_back_from_its_copy(copy, whole, name, folder):
    path = copy("frontier")
    turned(path / folder / name)
    assert name in invoke("verify", path, code=4).output
    assert f"{path / folder / name}: written anew" in invoke("repair", path).output
    assert verify(RunStore.open(path)).faults == []
    assert finished(path, "frontier") == whole[1]


def test_what_is_not_a_layer_s_own(copy, whole):
    path = copy("frontier")
    (path / "layers/0020/c.7").write_bytes(b"stray")
    assert "c.7 is none of its parts" in invoke("verify", path, code=4).output
    invoke("repair", path)
    assert verify(RunStore.open(path)).faults == []
    assert "nothing to repair" in invoke("repair", path).output
    assert finished(path, "frontier") == whole[1]


def test_a_folder_that_is_made_again(copy, whole):
    path = copy("frontier")
    shutil.rmtree(path / "copies")
    assert finished(path, "frontier") == whole[1]


def test_a_folder_whose_loss_is_damage(copy):
    path = copy("frontier")
    shutil.rmtree(path / "layers")
    invoke("verify", path, code=4)
    assert "cannot be repaired" in invoke("repair", path, "--yes", code=4).output
    with pytest.raises(CorruptRunError, match="layers/0020 lacks 1 of its 1 part"):
        finished(path, "frontier")


def test_a_folder_in_the_place_of_a_file(copy, whole):
    path = copy("spare")
    for file in ("ledger.json", "layers/0020/c.0"):
        (path / file).unlink()
        (path / file).mkdir()
        assert file in invoke("verify", path, code=4).output
        invoke("repair", path, "--yes")
    assert verify(RunStore.open(path)).faults == []
    assert finished(path, "spare") == whole[1]


def test_an_edited_summary(copy, whole):
    path = copy("complete")
    write_summary(path, summary(RunStore.open(path)))
    invoke("verify", path)
    written = (path / "summary.json").read_text()
    (path / "summary.json").write_text(written.replace('"depth": 3', '"depth": 2'))
    assert "summary.json is not what was written" in invoke("verify", path, code=4).output
    assert "summary.json written anew" in invoke("repair", path).output
    assert (path / "summary.json").read_text() == written
    invoke("verify", path)


def test_both_copies_damaged(copy):
    path = copy("frontier")
    turned(path / "ledger.json")
    turned(path / "copies" / "ledger.json")
    assert "cannot be repaired: " in invoke("repair", path, "--yes", code=4).output


DAMAGED_RUNS = {
    "run.json": lambda path: turned(path / "run.json"),
    "both ledgers": lambda path: [turned(path / f / "ledger.json") for f in (".", "copies")],
    "a layer": lambda path: turned(next(path.glob("layers/0020/c.*"))),
}


@pytest.mark.parametrize("damage", DAMAGED_RUNS)
def test_no_command_advises_itself(copy, damage):
    """Wherever the run lies."""
    path = copy("frontier")
    path = path.rename(path.with_name("to repair"))
    DAMAGED_RUNS[damage](path)
    advice = {
        "verify": (invoke("verify", path, code=4).stderr, "See what `repair RUN` can do"),
        "run": (invoke("run", path, code=4).stderr, "`verify RUN` lists all that is damaged"),
    }
    if damage != "run.json":  # which comes back
        advice["repair"] = invoke("repair", path, "--yes", code=4).stderr, "run --fresh"
    for command, (said, remedy) in advice.items():
        assert remedy in said
        assert f"{command} RUN" not in said
        assert f"`{command}`" not in said


def test_nothing_says_what_was_searched(copy):
    path = copy("frontier")
    (path / "run.json").unlink()
    (path / "copies" / "run.json").unlink()
    assert "put one of them back" in invoke("repair", path, "--yes", code=4).output


@pytest.mark.parametrize(
    "change",
    [{"states": 1}, {"depth": 4}, {"form": "bits"}, {"start": True}, {"home": 1}, {"parts": 2},
     {"digest": "0" * 64}, {"chain": "0" * 64}],
)  # fmt: skip
def test_a_line_of_the_ledger_that_is_edited_breaks_the_chain(copy, change):
    """Even where both ledgers are, and their digests are made right again."""
    path = copy("frontier")
    ledger = read_sealed(path / "ledger.json")
    ledger["layers"][5] |= change
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
    run.records[5].states += 1
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


@swept("name", ["frontier", "all"], few=["all"])
def test_deep_finds_what_adds_up_but_is_wrong(copy, name):
    """A state exchanged for another of its side, everything sealed anew."""
    path = copy(name)
    run = RunStore.open(path)
    work = Workspace(run)
    numbers = work.layer(20).numbers()
    other = next(n for n in range(10**6) if n not in set(numbers.tolist()))
    shutil.rmtree(run.layer_path(20))
    wrong = np.sort(np.append(numbers[1:], np.uint64(other)))
    part = work.files(20).write_list(wrong, work.writer)
    run.records[20].digest = digest_of([part])
    write_ledger(run)
    run = RunStore.open(path)
    assert verify(run).faults == []
    found = [fault.what for fault in verify(run, deep=10_000).faults]
    assert any(f"state {other} is there but must not be" in what for what in found)
    # A neighbour of layer 19 that is not in layer 20 may lie in layer 18, if that is not there.
    missing = any(f"state {numbers[0]} is missing" in what for what in found)
    assert missing == (name == "all")


def test_tasks_of_the_layer_under_way(tmp_path, monkeypatch):
    """Damaged ones are done again, the others are not."""
    plan = api.plan(config_of(tmp_path / "run", 5, keep="all"))
    layout = {"prefix_digits": 1, "task_nodes": 2}
    plan = driver_module.Plan(
        plan.config, plan.puzzle, plan.space, type(plan.layout)(plan.space, **layout), 0, 0
    )
    done = []

    def stop_soon(event):
        if type(event).__name__ == "TaskFinished" and event.depth == 10:
            done.append(event)
            if len(done) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        api.run(plan, listeners=[stop_soon])
    run = RunStore.open(tmp_path / "run")
    files, done = run.files(10, plan.layout), run.parts_under_way(plan.layout)
    assert len(done) == 2
    damaged = next(task for task in done if files.part(task).slabs.size)
    turned(files.path(damaged))
    assert [fault.task for fault in verify(run).faults] == [damaged]
    assert "1 task of layer 10 done again" in invoke("repair", run.path).output
    assert run.parts_under_way(plan.layout) == done - {damaged}
    undisturbed = api.run(api.plan(config_of(tmp_path / "other", 5))).counts
    assert api.run(plan).counts == undisturbed


def test_a_holder_on_another_host(copy, whole):
    path = copy("frontier")
    holder = {"host": "elsewhere", "process": 7, "since": 0}
    (path / "lock").write_text(json.dumps(holder))
    with pytest.raises(InputError, match=r"process 7 on host elsewhere .* --take-over"):
        finished(path, "frontier")
    assert json.loads((path / "lock").read_text()) == holder
    plan = api.plan(config_of(path))
    assert api.run(plan, take_over=True).counts == whole[1]
    assert (path / "lock").read_text() == ""


def test_a_dead_holder_on_this_host(copy, whole):
    path = copy("frontier")
    holder = {"host": socket.gethostname(), "process": 7, "since": 0}
    (path / "lock").write_text(json.dumps(holder))
    assert finished(path, "frontier") == whole[1]


def test_a_run_that_starts_while_another_one_is_verified_is_refused(copy, whole, monkeypatch):
    """It would delete what is being read, which would look like damage."""
    path, look, refused = copy("frontier"), verify_module._whole_list, []

    def starts(*arguments):
        try:
            finished(path, "frontier")
        except InputError as error:
            refused.append(str(error))
        if len(refused) == 1:
            assert "all sound" in invoke("verify", path).output  # another one at once
        return look(*arguments)

    monkeypatch.setattr(verify_module, "_whole_list", starts)
    assert "all sound" in invoke("verify", path).output
    assert set(refused) == {
        f"{path} is being read by another process, such as verify; wait until that has ended"
    }
    monkeypatch.undo()
    assert finished(path, "frontier") == whole[1]


def test_what_is_committed_before_the_lock_is_had_is_read(copy, whole, monkeypatch):
    """The run goes on and ends between the command's first look and its lock."""
    path, find = copy("frontier"), upkeep.open_all

    def finds_and_goes_on(run):
        found = find(run)
        finished(path, "frontier")
        return found

    monkeypatch.setattr(upkeep, "open_all", finds_and_goes_on)
    assert "all sound" in invoke("verify", path).output


def test_a_run_that_is_being_written_is_not_verified(copy):
    path = copy("frontier")
    with RunLock(path / "lock"):
        assert "is being written by process" in invoke("verify", path, code=2).output


def test_a_run_where_nothing_can_be_written_is_verified(copy, monkeypatch):
    """Whether its lock can be read or not."""
    path, opened = copy("frontier"), os.open

    def refuses(what, flags, *arguments, **more):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), what)
        return opened(what, flags, *arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuses)
        assert "all sound" in invoke("verify", path).output
    (path / "lock").unlink()
    assert "all sound" in invoke("verify", path).output
    assert not (path / "lock").exists()


def test_a_run_stops_before_its_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_module, "SPARE_BYTES", 10**18)
    plan = api.plan(config_of(tmp_path / "run"))
    plan = driver_module.Plan(plan.config, plan.puzzle, plan.space, plan.layout, 0, 0)
    with pytest.raises(Stopped, match=r"only .* are free at .*; make room"):
        api.run(plan)
    monkeypatch.undo()
    assert sum(api.run(plan).counts) == plan.puzzle.states


@pytest.mark.parametrize("fsync", ["layer", "never"])
def test_what_is_forced_to_the_disk(tmp_path, monkeypatch, fsync):
    """By `layer`, each file before the ledger that counts on it; by `never`, none."""
    forced, real = [], files_module.os.fsync

    def noted(number):
        forced.append(files_module.os.readlink(f"/proc/self/fd/{number}"))
        real(number)

    monkeypatch.setattr(files_module.os, "fsync", noted)
    config = config_of(tmp_path / "run", keep="all")
    config = config.model_copy(update={"store": config.store.model_copy(update={"fsync": fsync})})
    api.run(api.plan(config), until=6)
    if fsync == "never":
        assert forced == []
        return
    names = [str(path).removeprefix(str(tmp_path / "run")) for path in forced]
    last = max(i for i, name in enumerate(names) if name.startswith("/ledger.json"))
    for depth in range(7):
        stored = [i for i, n in enumerate(names) if n.startswith(f"/layers/{depth:04d}")]
        assert any(names[i].startswith(f"/layers/{depth:04d}/c.0.") for i in stored)
        assert f"/layers/{depth:04d}" in names  # the name of the file in its folder
        assert max(stored) < last
