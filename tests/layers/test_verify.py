"""What `verify` finds, what `repair` mends, and what a second writer hears."""

import json
import os
import shutil
import socket
from contextlib import chdir
from dataclasses import replace

import google_crc32c
import numpy as np
import pytest

from frontier.api import runs as api
from frontier.errors import CorruptRunError
from frontier.layers import loop as driver_module
from frontier.layers.parts import digest_of
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.summary import summary
from frontier.layers.task import Workspace
from frontier.layers.verify import verify
from tests.support.commands import invoke
from tests.support.run_files import COPIES, file_of, layers_of
from tests.support.stopped_runs import SEARCH, SETTINGS, config_of, finished
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS, write_ledger


@swept("name", SEARCH, few=1)
def test_whole_runs_are_sound(whole, name):
    found = verify(LayerRun.open(whole[0] / name), deep=200)
    assert found.faults == []
    assert found.layers == {"frontier": 2, "spare": 4, "all": 21}[name]
    assert found.positions > 200


def test_what_was_checked_is_said(whole):
    path = whole[0] / "frontier"
    value = json.loads(invoke("verify", path, "--deep", "--json").stdout)
    assert set(value) == {
        "layers",
        "parts",
        "bytes",
        "positions",
        "depth_being_replaced",
        "faults",
        "notes",
    }
    said = invoke("verify", path, "--deep").stdout
    assert f"; {value['positions']:,} positions checked against the definition: no faults" in said
    assert "definition" not in invoke("verify", path).stdout


def test_neighbours_are_those_of_the_board(whole):
    """In plain Python, on boards."""
    puzzle = config_of(whole[0] / "x").make_puzzle()
    rng = np.random.default_rng(1)
    for _ in range(50):
        board = rng.permutation(8).tolist()
        if not puzzle.model.reaches(tuple(board)):
            continue
        at, near = board.index(0), set()
        for to in (at - 1, at + 1, at - 4, at + 4):
            if 0 <= to < 8 and (to // 4 == at // 4 or to % 4 == at % 4):
                moved = list(board)
                moved[at], moved[to] = moved[to], 0
                near.add(tuple(moved))
        side, number = puzzle.model.space.number(*puzzle.model.state(tuple(board)))
        found = [puzzle.model.board(puzzle.model.space.state(c, n)) for c, n in
                 puzzle.model.space.neighbours(side, number)]  # fmt: skip
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
@swept("file", ["layers/0020/c.0", "layers/0019/c.0"], few=1)
@swept("name", SEARCH, few=1)
def test_damage_is_named_and_mended_where_that_can_be(copy, whole, name, file, damage):
    path, place = copy(name), file_of(copy(name), file)
    DAMAGES[damage](place)
    said = invoke("verify", path, code=4).output
    assert str(place) in said
    if name == "frontier":
        assert "cannot be repaired" in invoke("repair", path, "--yes", code=4).output
        assert str(place) in invoke("verify", path, code=4).output  # nothing was changed
        with pytest.raises(CorruptRunError, match=place.parent.name):
            finished(path, name)
        return
    depth = 16 if name == "spare" else int(file.split("/")[1][:4]) - 1
    assert f"back to depth {depth};" in invoke("repair", path, "--yes").output
    assert verify(LayerRun.open(path)).faults == []
    assert finished(path, name) == whole[1]


def test_a_slab_in_place_of_another_is_noticed(copy):
    """It is sound by itself, and has as many states."""
    path, file = copy("all"), file_of(copy("all"), "layers/0020/c.0")
    _, begin, end = RunReader(LayerRun.open(path)).layer(20).part(0).read(np.array([0]))
    slab, data = slice(int(begin[0]), int(end[0])), bytearray(file.read_bytes())
    assert data[slab.start] > 1
    data[slab.start] -= 1  # this changes the first state
    checksum = google_crc32c.value(bytes(data[slab])).to_bytes(4, "little")
    data[slab.stop : slab.stop + 4] = checksum
    file.write_bytes(data)
    (fault,) = verify(LayerRun.open(path)).faults
    assert fault.message.endswith(f"{file}: its slabs do not match its record")


def test_nothing_is_given_up_unasked(copy):
    path = copy("spare")
    turned(file_of(path, "layers/0020/c.0"))
    assert "No layer was deleted" in invoke("repair", path, code=2).output
    assert len(LayerRun.open(path).records) == 21


@swept("damage", ["{}", "[", None], few=1)
def test_what_only_other_programs_read_is_no_fault(copy, whole, damage):
    """And `repair` rewrites it."""
    path = copy("frontier")
    for file in ("layers/zarr.json", "layers/0020/zarr.json"):
        place = file_of(path, file)
        before = place.read_bytes()
        place.unlink()
        if damage is not None:
            place.write_text(damage)
        said = invoke("verify", path).stdout
        assert "no faults" in said
        assert str(place) in said
        assert f"{place} rewritten" in invoke("repair", path).output
        assert place.read_bytes() == before
        assert str(place) not in invoke("verify", path).stdout
    assert finished(path, "frontier") == whole[1]


@pytest.mark.parametrize("name", ["run.json", "ledger.json"])
@swept("copied", [False, True], few=[False])
def test_a_damaged_file_comes_back_from_its_copy(copy, whole, name, copied):
    path, name = copy("frontier"), COPIES[name] if copied else name
    turned(path / name)
    assert name in invoke("verify", path, code=4).output
    assert f"{path / name}: rewritten" in invoke("repair", path).output
    assert verify(LayerRun.open(path)).faults == []
    assert finished(path, "frontier") == whole[1]


def test_repair_deletes_no_file_of_somebody_else(copy, whole):
    path = copy("spare")
    notes = [file_of(path, f"layers/{depth:04d}/notes") for depth in (16, 19, 20)]
    for file in notes:
        file.write_text("mine")
    stray = file_of(path, "layers/0016/c.7")  # Zarr does not read beyond the shape of an array
    stray.write_text("mine")
    file_of(path, "layers/0016/zarr.json").write_text("{}")
    assert "zarr.json rewritten" in invoke("repair", path).output
    assert stray.read_text() == "mine"
    turned(file_of(path, "layers/0019/c.0"))
    invoke("repair", path, "--yes")
    assert "nothing to repair" in invoke("repair", path).output
    assert finished(path, "spare") == whole[1]
    assert all(file.read_text() == "mine" for file in notes)


def test_copies_that_are_made_again(copy, whole):
    path = copy("frontier")
    for name in COPIES.values():
        (path / name).unlink()
    invoke("repair", path)
    invoke("verify", path)
    assert finished(path, "frontier") == whole[1]


def test_a_folder_whose_loss_is_damage(copy):
    path = copy("frontier")
    shutil.rmtree(path / "layers")
    invoke("verify", path, code=4)
    assert "cannot be repaired" in invoke("repair", path, "--yes", code=4).output
    with pytest.raises(CorruptRunError, match="/0020 lacks 1 of 1 part"):
        finished(path, "frontier")


def a_directory(place):
    place.mkdir()
    (place / "mine").write_text("mine")


def a_socket(place):
    with socket.socket(socket.AF_UNIX) as made, chdir(place.parent):  # as long paths have none
        made.bind(place.name)


NO_FILES = {
    "directory": a_directory,
    "pipe": os.mkfifo,
    "socket": a_socket,
    "link to nothing": lambda place: place.symlink_to("nothing"),
    "link to itself": lambda place: place.symlink_to(place.name),
}

PLACES = {
    "a part": ("layers/0020/c.0", "spare"),
    "a part that others need": ("layers/0019/c.0", "all"),
    "a part to come": ("layers/0021/c.0.0.0", "frontier"),
    "a layer": ("layers/0020", "spare"),
    "a layer to come": ("layers/0021", "frontier"),
    "what Zarr reads": ("layers/0020/zarr.json", "frontier"),
    "the group": ("layers/zarr.json", "frontier"),
    "run.json": ("run.json", "frontier"),
    "the ledger's copy": ("ledger.copy.json", "frontier"),
}


FOLDERS = {"a layer", "a layer to come"}


@swept("kind", NO_FILES, few=["directory"])
@swept("where", PLACES, few=list(PLACES)[::4])
def test_what_stands_in_a_place_and_is_no_file_is_named_and_left(copy, whole, where, kind):
    """Nothing is written to it or in its place; once it is moved away, the run goes on."""
    file, name = PLACES[where]
    path, place = copy(name), file_of(copy(name), file)
    place.parent.mkdir(exist_ok=True)
    aside = place.with_name("aside")
    if place.exists():
        place.rename(aside)
    if kind in ("directory", "link to itself") and where in FOLDERS:
        place.write_text("mine")
    else:
        NO_FILES[kind](place)
    about = place.lstat()
    for command in (["verify", path], ["repair", path, "--yes"]):
        said = invoke(*command, code=4).output
        assert str(place) in said
    assert "move it away" in said or (where, kind) == ("run.json", "link to nothing")
    assert place.lstat().st_ino == about.st_ino
    assert kind != "directory" or place.is_file() or (place / "mine").read_text() == "mine"
    place.rename(place.with_name("mine"))
    if aside.exists():
        aside.rename(place)
    assert "no faults" in invoke("verify", path).output
    assert finished(path, name) == whole[1]


@pytest.mark.parametrize("name", COPIES.values())
def test_a_run_does_not_wait_for_a_pipe(copy, whole, name):
    path = copy("frontier")
    (path / name).unlink()
    os.mkfifo(path / name)
    words = "--set", f"store.path={path}", *SETTINGS
    said = invoke("run", CONFIGS / "2x4.toml", *words, code=4).stderr
    assert f"{path / name} is a named pipe, not a file" in said
    (path / name).unlink()
    invoke("repair", path)
    assert finished(path, "frontier") == whole[1]


def test_a_folder_in_the_place_of_the_summary(copy):
    path = copy("frontier")
    (path / "summary.json").unlink(missing_ok=True)
    a_directory(path / "summary.json")
    for command in (["verify", path], ["repair", path]):
        assert "summary.json is a directory" in invoke(*command, code=4).stderr
    assert (path / "summary.json" / "mine").read_text() == "mine"


def test_an_edited_summary(copy, whole):
    path = copy("complete")
    LayerRun.open(path).write_summary(summary(LayerRun.open(path)))
    invoke("verify", path)
    written = (path / "summary.json").read_text()
    (path / "summary.json").write_text(written.replace('"depth": 3', '"depth": 2'))
    assert "summary.json is corrupt" in invoke("verify", path, code=4).output
    assert "summary.json rewritten" in invoke("repair", path).output
    assert (path / "summary.json").read_text() == written
    invoke("verify", path)


def test_both_copies_damaged(copy):
    path = copy("frontier")
    turned(path / "ledger.json")
    turned(path / COPIES["ledger.json"])
    assert "cannot be repaired: " in invoke("repair", path, "--yes", code=4).output


DAMAGED_RUNS = {
    "run.json": lambda path: turned(path / "run.json"),
    "both ledgers": lambda path: [
        turned(path / name) for name in ("ledger.json", COPIES["ledger.json"])
    ],
    "a layer": lambda path: turned(next(layers_of(path).glob("0020/c.*"))),
}


@swept("damage", DAMAGED_RUNS, few=1)
def test_no_command_advises_itself(copy, damage):
    """Wherever the run lies."""
    path = copy("frontier")
    path = path.rename(path.with_name("to repair"))
    DAMAGED_RUNS[damage](path)
    advice = {
        "verify": (invoke("verify", path, code=4).stderr, "repair` repairs what it can"),
        "run": (invoke("run", path, code=4).stderr, "verify` lists all damage"),
    }
    if damage != "run.json":  # which comes back
        advice["repair"] = invoke("repair", path, "--yes", code=4).stderr, "and start over"
    for command, (said, remedy) in advice.items():
        assert remedy in said
        assert f"`{command}`" not in said


def test_nothing_says_what_was_searched(copy):
    path = copy("frontier")
    (path / "run.json").unlink()
    (path / COPIES["run.json"]).unlink()
    assert "put one of them back" in invoke("repair", path, "--yes", code=4).output


@swept("name", ["frontier", "all"], few=["all"])
def test_deep_finds_what_adds_up_but_is_wrong(copy, name):
    """A state exchanged for another of its side, everything sealed anew."""
    path = copy(name)
    run = LayerRun.open(path)
    work = Workspace(run)
    numbers = work.layer(20).numbers()
    other = next(n for n in range(10**6) if n not in set(numbers.tolist()))
    shutil.rmtree(run.layer_path(20))
    wrong = np.sort(np.append(numbers[1:], np.uint64(other)))
    part = run.files(20, work.layout, wrong.size).write_list(wrong, run.records[20].tally)
    run.records[20] = replace(run.records[20], digest=digest_of([part]))
    write_ledger(run)
    run = LayerRun.open(path)
    assert verify(run).faults == []
    found = [fault.message for fault in verify(run, deep=10_000).faults]
    assert any(f"state {other} does not belong there" in what for what in found)
    # A neighbour of layer 19 that is not in layer 20 may lie in layer 18, if that is not there.
    missing = any(f"state {numbers[0]} is missing" in what for what in found)
    assert missing == (name == "all")


@pytest.mark.sweep
def test_tasks_of_the_layer_under_way(tmp_path):
    """Damaged ones are done again, the others are not."""
    plan = api.plan(config_of(tmp_path / "run", {"columns": 5}, keep="all"))
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
    run = LayerRun.open(tmp_path / "run")
    files, done = run.files(10, plan.layout), run.parts_under_way(plan.layout)
    assert len(done) == 2
    damaged = next(task for task in done if files.part(task).slabs.size)
    turned(files.path(damaged))
    assert [fault.task for fault in verify(run).faults] == [damaged]
    assert "1 task of layer 10 will be repeated" in invoke("repair", run.path).output
    assert run.parts_under_way(plan.layout) == done - {damaged}
    undisturbed = api.run(api.plan(config_of(tmp_path / "other", {"columns": 5}))).counts
    assert api.run(plan).counts == undisturbed
