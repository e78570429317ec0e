import json
import os
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError, Gone, InputError
from frontier.layers.kind import KIND
from frontier.layers.reader import RunReader
from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.summary import describe
from frontier.layers.tally import Tally
from frontier.puzzles import tile_puzzle
from frontier.runs.copies import OWN_FILES, RUN
from frontier.runs.directory import delete_files, make_directory, refuse_others
from frontier.runs.kind import mend
from frontier.runs.log import total_seconds
from frontier.space.layout import Layout
from frontier.storage import sealed
from frontier.storage.local import LocalStorage, remove_tree
from frontier.storage.places import storage_at
from tests.support.commands import invoke
from tests.support.ledgers import line_of
from tests.support.run_files import read_json, write_json
from tests.support.temporary_runs import IDENTITY

LAYOUT = Layout(tile_puzzle(2, 4).model.space, 1, 2)
THREAD = ThreadPoolExecutor(1)
MARK = "0123456789abcdef" * 2
"""Of names that this package gives to what it is writing or deleting."""


def written(run, depth):
    """A list of depth + 1 numbers, not committed."""
    numbers = np.arange(depth + 1, dtype=np.uint64)
    return run.files(depth, LAYOUT, numbers.size).write_list(numbers, Tally(depth + 1))


def committed(run, depth, forget=()):
    part = written(run, depth)
    record = LayerRecord.of(depth, "list", Tally(depth + 1), 0.5, [part])
    run.commit([record], complete=False, forget=forget)


def test_the_task_of_a_file_and_the_file_of_a_task(tmp_path):
    layout, run = Layout(LAYOUT.space, 2, 1), LayerRun.create(tmp_path / "run", IDENTITY)
    files = run.files(3, layout)
    names = {task: files.name(task).rpartition("/")[2] for task in files.tasks}
    assert len(set(names.values())) == len(names) > 9
    assert {task: files.task_of(name) for task, name in names.items()} == {t: t for t in names}
    beyond = files.name(len(names)).rpartition("/")[2]
    for name in (
        beyond,
        "c.0",
        "zarr.json",
        "c.00.0.0",
        "c.0.0",
        "c.-1.0.0",
        "c.0.0.0.0",
        "c..0.0",
    ):
        assert files.task_of(name) is None
    listed = run.files(3, layout, 5)
    assert [listed.task_of(name) for name in ("c.0", "c.0.0.0", "c.1")] == [0, None, None]


def test_other_forms_of_a_layer_stay_until_it_is_committed(tmp_path, monkeypatch):
    """A late worker may have given up what its part replaces, so the part is needed until then."""
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    part, write = written(run, 1), run.write_ledger
    late = run.layer_path(1) / "c.0.0.0"
    late.write_bytes(b"a part of bits")

    def looking():
        assert late.exists()
        write()

    monkeypatch.setattr(run, "write_ledger", looking)
    run.commit([LayerRecord.of(1, "list", part.tally, 0.5, [part])], complete=False)
    monkeypatch.undo()
    assert sorted(os.listdir(run.layer_path(1))) == ["c.0", "zarr.json"]
    passed = run.files(2, LAYOUT)
    passed.begin()
    run.commit([line_of(2, 3, "bits")], complete=False)
    assert not passed.place.exists()


def test_the_names_of_new_directories_are_forced_too(tmp_path, monkeypatch):
    """That of the run, and those above it that had to be made."""
    forced, place = [], tmp_path / "a" / "b"
    monkeypatch.setattr(
        os, "fsync", lambda file: forced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    LayerRun.create(place / "run", IDENTITY, durable=True)
    for folder in (place, place.parent, tmp_path):
        assert str(folder) in forced
    forced.clear()
    LayerRun.open(place / "run").force()
    assert str(tmp_path) in forced
    forced.clear()
    LayerRun.create(tmp_path / "never", IDENTITY)
    assert forced == []


def numbers_of(run, depth):
    return RunReader(run).layer(depth).numbers().tolist()


def test_what_is_committed_is_there_when_opened_again(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    for depth in range(4):
        committed(run, depth, forget=(depth - 2,) if depth >= 2 else ())
    again = LayerRun.open(tmp_path / "run")
    assert again.records == run.records
    assert again.stored_depths() == [2, 3]
    assert again.states == 1 + 2 + 3 + 4
    assert numbers_of(again, 3) == [0, 1, 2, 3]
    assert sorted(path.name for path in run.layer_path(0).parent.glob("0*")) == [
        "0002",
        "0003",
    ]


def test_sweep_keeps_what_a_resumed_run_uses(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    files = run.files(1, LAYOUT)  # under way
    files.begin()
    with files.write_part(1, THREAD) as writer:
        writer.finish(Tally(0))
    leftovers = [
        run.layer_path(1) / f"c.7.{MARK}.partial",
        run.layer_path(0).parent / f"0009.{MARK}.deleting",
        run.path / "layers" / f"x.{MARK}.partial",
        run.path / f"ledger.json.{MARK}.partial",
    ]
    for path in leftovers:
        path.write_bytes(b"torn")
    written(run, 2)  # never committed
    others = [run.path / "layers" / "notes", run.path / "layers" / "0016"]
    others += [run.layer_path(0).parent / "c.7.abc.partial", run.layer_path(1) / "mine.partial"]
    for file in others:
        file.write_text("not ours")
    run.sweep()
    assert numbers_of(run, 0) == [0]
    assert run.parts_under_way(LAYOUT) == {1}
    assert len(run.part_names(len(run.records))) == 1
    assert not any(path.exists() for path in (run.layer_path(2), *leftovers))
    assert all(file.read_text() == "not ours" for file in others)


def test_of_the_layer_under_way_only_parts_of_tasks_count(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    written(run, 1)  # a list that was never committed
    run.sweep()
    assert run.parts_under_way(LAYOUT) == set()


def test_layers_that_are_links_are_left_alone(tmp_path):
    """By sweeping, forgetting, abandoning, rolling back and deleting; and what they lead to."""
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    for depth in range(3):
        committed(run, depth)
    shutil.copytree(run.layer_path(2), tmp_path / "elsewhere")
    before = {path.name: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()}
    shutil.rmtree(run.layer_path(1))
    for depth in (1, 3, 7):
        run.layer_path(depth).symlink_to(tmp_path / "elsewhere")
    run.sweep()
    run.abandon_layer(3)
    links = [run.layer_path(depth) for depth in (1, 3, 7)]
    run.commit([], complete=False, forget=(1,))
    run.roll_back(0, [0])
    delete_files(run.storage, KIND.delete)
    assert all(path.is_symlink() for path in links)
    assert {p.name: p.read_bytes() for p in (tmp_path / "elsewhere").iterdir()} == before
    assert not (run.path / "run.json").exists()


def test_what_is_not_the_run_s_own_survives_in_layers(tmp_path):
    """When layers are forgotten, abandoned, rolled back and deleted."""
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    for depth in range(4):
        committed(run, depth)
    written(run, 4)
    others = [run.layer_path(depth) / name for depth in range(5) for name in ("c.0.bak", "notes")]
    others += [run.path / "layers" / "notes", run.layer_path(0).parent / "notes"]
    for path in others:
        path.write_text("mine")
    (run.layer_path(3) / "c.9").mkdir()
    (run.layer_path(3) / "c.9" / "notes").write_text("mine")
    run.commit([], complete=False, forget=(0, 1))
    run.abandon_layer(4)
    run.roll_back(2, [2])
    for depth in (0, 1, 3, 4):
        assert not (run.layer_path(depth) / "c.0").exists()
        assert not (run.layer_path(depth) / "zarr.json").exists()
    delete_files(run.storage, KIND.delete)
    assert all(path.read_text() == "mine" for path in others)
    assert (run.layer_path(3) / "c.9" / "notes").read_text() == "mine"
    files = {path for path in run.path.rglob("*") if path.is_file()}
    assert files == {*others, run.layer_path(3) / "c.9" / "notes"}


def test_a_list_that_claims_more_states_than_memory_holds(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    run.records[0] = replace(run.records[0], tally=Tally(1 << 60))
    with pytest.raises(CorruptRunError, match=r"c\.0 is truncated"):
        RunReader(run).layer(0).numbers()


@pytest.mark.parametrize("form", ["list", "bits"])
def test_of_no_states_none_is_in_a_layer(tmp_path, form):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    if form == "list":
        committed(run, 0)
    found = RunReader(run).layer(0).contains(np.empty(0, dtype=np.uint64))
    assert (found.dtype, found.size) == (bool, 0)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"store\.path"):
        LayerRun.create(tmp_path / "file" / "run", IDENTITY)


def test_files_are_replaced_whole_and_trees_go(tmp_path):
    (tmp_path / "a").mkdir()
    write_json(tmp_path / "a" / "x.json", {"n": 1})
    write_json(tmp_path / "a" / "x.json", {"n": 2})
    assert read_json(tmp_path / "a" / "x.json") == {"n": 2}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x.json"]
    assert storage_at(tmp_path).size() == len('{"n": 2}')
    remove_tree(tmp_path / "a")
    remove_tree(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / f"x.{MARK}.partial").write_text("torn")
    (tmp_path / "x.partial").write_text("mine")
    LocalStorage(tmp_path).sweep()
    assert [path.name for path in tmp_path.iterdir()] == ["x.partial"]


def test_directories_that_hold_something_else_are_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        LayerRun.create(tmp_path / "run", IDENTITY)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


def test_a_run_without_its_identity_is_not_begun_anew(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    (run.path / "run.json").unlink()
    with pytest.raises(CorruptRunError, match=r"run\.json is missing"):
        LayerRun.create(tmp_path / "run", IDENTITY)


def test_delete_leaves_what_is_not_its_own(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    committed(run, 0)
    (run.path / "notes.txt").write_text("mine")
    (run.path / "ledger.json").write_text("damaged")
    delete_files(run.storage, KIND.delete)
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_leftovers_of_a_killed_run_are_its_own(tmp_path):
    run = LayerRun.create(tmp_path / "run", IDENTITY)
    (run.path / f"ledger.json.{MARK}.partial").write_text("torn")
    (run.path / f"layers.{MARK}.deleting").mkdir()
    refuse_others(run.storage.names(), run.path)
    delete_files(run.storage, KIND.delete)
    assert list(run.path.iterdir()) == []


@pytest.fixture(params=["tmp_path", "memory_bucket"])
def place(request):
    return storage_at(request.getfixturevalue(request.param)).below("run")


def test_of_two_that_go_on_with_a_run_one_commits(place):
    """The other says so and changes nothing, wherever the run is."""
    first, second = LayerRun.create(place, IDENTITY), LayerRun.open(place)
    committed(first, 0)
    written = dict(place.files()), place.read("ledger.json")
    with pytest.raises(Gone, match="by another process, which has since resumed the run"):
        second.commit([], complete=True)
    assert (dict(place.files()), place.read("ledger.json")) == written
    assert LayerRun.open(place).records == first.records
    committed(first, 1)


@pytest.mark.parametrize("content", [None, b"garbage"])
def test_a_ledger_that_is_lost_while_a_run_goes_on(place, content):
    """That is damage, and not the work of another process."""
    run = LayerRun.create(place, IDENTITY)
    committed(run, 0)
    place.delete("ledger.json")
    if content:
        place.write("ledger.json", content)
    for refused in (run.check_mine, lambda: run.commit([], complete=True)):
        with pytest.raises(CorruptRunError, match=r"ledger\.json is (missing|corrupt)"):
            refused()
    assert mend(place) == [f"{place.place('ledger.json')}: rewritten from the other copy"]
    assert LayerRun.open(place).records == run.records[:1]


def test_a_run_whose_files_are_being_deleted_is_gone(place, monkeypatch):
    """The ledger may be deleted some time before run.json."""

    def read_too_late(run, name):
        place.delete("run.json")
        raise CorruptRunError("ledger.json is missing")

    run = LayerRun.create(place, IDENTITY)
    place.delete("ledger.json")
    monkeypatch.setattr("frontier.runs.stored_run.StoredRun.take", read_too_late)
    with pytest.raises(Gone, match="no longer holds this run"):
        run.check_mine()


@pytest.mark.parametrize("kind", ["layers", "cosets"])
def test_a_worker_that_does_not_see_the_run_is_named(place, kind):
    """There is nothing at the path on its host, or another run."""
    cls, identity = KINDS[kind]
    run_ref = replace(cls.create(place, identity).ref, path=place, host="far-away")
    assert run_ref.open(cls).identity["identifier"] == run_ref.identifier
    delete_files(place, KIND.delete)
    for begin in (lambda: None, lambda: cls.create(place, identity)):
        begin()
        with pytest.raises(InputError, match=f"far-away.*{socket.gethostname()}.*the same run"):
            run_ref.open(cls)


KINDS = {
    "layers": (LayerRun, IDENTITY),
    "cosets": (
        CosetRun,
        {"name": "x", "puzzle": IDENTITY["puzzle"], "region": "2x2", "groups": [7]},
    ),
}


@pytest.mark.parametrize("file", [name for name in OWN_FILES if name != RUN])
def test_no_run_begins_over_what_is_left_of_a_run_of_any_kind(place, file):
    place.make_folder()
    sealed.write_sealed(place, file, {"run": "0" * 32, "settings": {}, "paths": [1, 2, 3]})
    with pytest.raises(CorruptRunError, match=r"of a run whose run\.json is missing"):
        make_directory(place)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_killed_at_any_step_of_its_beginning_is_sound(place, kind, monkeypatch):
    """It has no ledger yet, or no copies, but nothing is lost."""
    cls, identity = KINDS[kind]
    steps = 0

    def killed_after(number, original):
        def step(*arguments, **options):
            nonlocal steps
            if (steps := steps + 1) > number:
                raise KeyboardInterrupt
            return original(*arguments, **options)

        return step

    for number in count(1):
        steps = 0
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            for name in ("make_folder", "write", "replace"):
                patch.setattr(type(place), name, killed_after(number, getattr(type(place), name)))
            cls.create(place, identity)
            break
        if place.exists("run.json"):
            assert cls.open(place).fresh
            assert "stopped before it did anything: no faults" in invoke("verify", place).stdout
            assert invoke("repair", place).exit_code == 0
            assert "no faults" in invoke("verify", place).stdout
        delete_files(place, KIND.delete)
    assert number > 3


def test_a_run_that_takes_the_place_of_another(place):
    """The earlier one commits nothing to it, and meets none of its layers."""
    earlier = LayerRun.create(place, IDENTITY)
    committed(earlier, 0)
    with pytest.raises(Gone, match="another process"):
        LayerRun.create(place, IDENTITY)
    delete_files(place, KIND.delete)
    later = LayerRun.create(place, IDENTITY)
    committed(later, 0)
    with pytest.raises(Gone, match="no longer holds this run"):
        earlier.commit([], complete=True)
    earlier.abandon_layer(0)
    assert place.names("layers") == {later.identity["identifier"]}
    assert numbers_of(LayerRun.open(place), 0) == [0]


def test_a_run_that_was_killed_as_it_began(place):
    """After any of the files by which it begins."""
    LayerRun.create(place, IDENTITY)
    for gone in (["ledger.copy.json"], ["ledger.json"], ["run.copy.json"]):
        place.delete(*gone)
        run = LayerRun.open(place)
        assert run.records == []
        assert len(mend(place)) == 1
    place.delete("ledger.json", "ledger.copy.json", "run.copy.json")
    run = LayerRun.open(place)
    run.sweep()
    committed(run, 0)
    assert len(LayerRun.open(place).records) == 1
    assert mend(place) == []


def test_the_time_of_all_starts(tmp_path):
    """A killed start counts up to its last event."""
    storage = storage_at(tmp_path)
    assert total_seconds(storage) is None
    events = [
        ("Started", None), ("LayerFinished", 2.0), ("LayerFinished", 3.0),
        ("Started", None), ("LayerFinished", 4.0), ("Finished", 10.5),
    ]  # fmt: skip
    lines = [{"event": name, "elapsed": elapsed, "time": 0.0} for name, elapsed in events]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert total_seconds(storage) == 13.5


@pytest.mark.parametrize(("total", "said"), [(103.0, True), (89.0, False), (None, False)])
def test_a_summary_has_both_times_if_they_differ_by_more_than_a_tenth(tmp_path, total, said):
    value = {
        "name": "a", "puzzle": {"title": ""}, "complete": False, "states": 1, "layers": [1],
        "states_of_the_puzzle": 9, "depth": 0, "seconds": 82.0, "bytes_written": 0,
        "seconds_in_all": total,
    }  # fmt: skip
    text = describe(value, tmp_path)
    assert "1 min 22 s" in text
    assert ("in all: 1 min 43 s" in text) == said
