"""Layers of keys that tasks make, part by part."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import frontier
from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.layers import plan as plans
from frontier.layers.repair import plan_repair
from frontier.layers.verify import verify
from frontier.space.key_layout import KeyLayout
from tests.layers.test_program_runs import HANOI
from tests.support import programs
from tests.support.many_tasks import cut_finely

GRID = """
def puzzle(side=7, reach=99):
    def neighbours(state, out):
        count = 0
        for digit in range(5):
            for step in (-1, 1):
                if 0 <= state[digit] + step < side:
                    out[count] = state
                    out[count, digit] += step
                    count += 1
        return count

    return {
        "radices": [side] * 5,
        "start": [0] * 5,
        "neighbours": neighbours,
        "most": 10,
        "layer": lambda state: min(state.sum(), reach),
    }
"""
"""Moves that are undone, and a depth that the state shows."""

CASES = {
    "grid": (GRID, {}),
    "hanoi": (HANOI, {"disks": 7}),
    "long": (programs.GRAPH, {"states": 4000, "pad": 90}),
    "one way": (programs.GRAPH, {"states": 4000, "both": False}),
}


def by_tasks(config, cluster="serial", **search):
    """The config of the same run, in which tasks make all layers but the first."""
    search = config.search.model_copy(update={"in_memory": False, **search})
    cluster = config.cluster.model_copy(update={"kind": cluster})
    return config.model_copy(update={"search": search, "cluster": cluster})


@pytest.fixture
def finely():
    with cut_finely():
        yield


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    text, parameters = CASES[request.param]
    layers = programs.layers(programs.table_of(text)(**parameters))
    return programs.program(tmp_path, text, "all", **parameters), layers


def parts(run):
    """The number of files of each layer, by depth; 1 for a list."""
    return [record.parts for record in run.store.records]


def test_a_run_by_tasks(case, finely):
    config, layers = case
    config = by_tasks(config)
    for until in (2, len(layers) // 2, None):
        run = frontier.run(config, until=until)
    assert run.counts == list(map(len, layers))
    assert [set(layer) for layer in run.layers] == layers
    assert max(parts(run)) > 3
    assert {record.form for record in run.store.records[2:]} == {"keys"}
    assert verify(run.store, deep=20).faults == []
    states = np.array([min(layer) for layer in layers])
    assert run.distance(states).tolist() == list(range(len(layers)))
    assert run.solve(run.farthest()[0]).distance == len(layers) - 1
    largest = run.layers[int(np.argmax(run.counts))]
    some = largest.sample(100)
    boards = set(map(tuple, largest.boards_of(some).tolist()))
    assert len(boards) == min(100, largest.states)
    assert boards <= layers[largest.depth]


def test_a_wrong_depth_is_named(tmp_path, finely):
    config = by_tasks(programs.program(tmp_path, GRID, reach=20))
    with pytest.raises(InputError, match="layer says 20 for the state"):
        frontier.run(config)
    assert len(frontier.open_run(config.store.path).counts) == 21


def test_the_same_bytes_whatever_was_interrupted(tmp_path, finely):
    """A run that stops in the middle of a layer, and one that does not."""
    whole = frontier.run(by_tasks(programs.program(tmp_path / "a", HANOI, "all", disks=6)))
    config = by_tasks(programs.program(tmp_path / "b", HANOI, "all", disks=6))
    frontier.run(config, until=8)
    for stopped_after in (1, 2):
        finished = []

        def stop(event, finished=finished, most=stopped_after):
            if type(event).__name__ == "TaskFinished":
                finished.append(event)
                if len(finished) == most:
                    raise KeyboardInterrupt

        with pytest.raises((Stopped, KeyboardInterrupt)):
            frontier.run(config, listeners=[stop])
    run = frontier.run(config)
    assert run.counts == whole.counts
    for mine, its in zip(run.store.records, whole.store.records, strict=True):
        folders = Path(run.store.layer_path(mine.depth)), Path(whole.store.layer_path(its.depth))
        names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
        assert names[0] == names[1]


def test_from_memory_to_the_disk_and_back(tmp_path, monkeypatch):
    """Lists while they fit in memory, then parts, then lists again."""
    config = programs.program(tmp_path, HANOI, "all", disks=7)
    expected = frontier.run(config).counts
    make = plans._plan_keys

    def with_little(config, puzzle, layout):
        made = make(config, puzzle, layout)
        fine = KeyLayout(made.space, 300, 240, 256)
        return dataclasses.replace(made, layout=made.layout if layout else fine, list_states=500)

    monkeypatch.setattr(plans, "_plan_keys", with_little)
    again = programs.program(tmp_path / "again", HANOI, "all", disks=7)
    run = frontier.run(again)
    assert run.counts == expected
    forms = "".join(record.form[0] for record in run.store.records)
    assert forms.strip("l").strip("k") == ""
    assert (forms[0], forms[-1], "kkk" in forms) == ("l", "l", True)
    assert verify(run.store, deep=20).faults == []


@pytest.mark.parametrize("what", ["states", "neighbours", "guide"])
def test_damage_is_found(tmp_path, finely, what):
    run = frontier.run(by_tasks(programs.program(tmp_path, HANOI, "all", disks=6)), until=12)
    slab = {"guide": 0, "states": 1, "neighbours": -1}[what]
    layer = run.store.open_layer(12, dataclasses.replace(fine_layout(run)))
    part = layer.part(1)
    number = part.slabs[slab]
    data, begin, _ = part.read(np.array([number]))
    path, content = Path(part.path), bytearray(Path(part.path).read_bytes())
    at = bytes(content).index(data[begin[0] : begin[0] + 8].tobytes())
    content[at] ^= 1
    path.write_bytes(content)
    faults = verify(run.store).faults
    assert [fault.depth for fault in faults] == [12]
    with pytest.raises(CorruptRunError):
        frontier.run(by_tasks(programs.program(tmp_path, HANOI, "all", disks=6)))
    plan_repair(run.store, verify(run.store)).take(run.store)
    whole = frontier.run(programs.program(tmp_path / "again", HANOI, disks=6))
    assert frontier.run(by_tasks(programs.program(tmp_path, HANOI, "all", disks=6))).counts == (
        whole.counts
    )


def fine_layout(run):
    space = run.puzzle.model.space
    return KeyLayout(space, **run.store.identity["layout"])


@pytest.mark.sweep
def test_workers_need_no_file_of_the_user(tmp_path, finely):
    """They run the text that the run has stored, because the driver's user has named it."""
    config = by_tasks(programs.program(tmp_path, HANOI, disks=7), "local")
    (tmp_path / "moves.py").unlink()
    run = frontier.run(config)
    assert (run.states, run.depth) == (4**7, 25)
