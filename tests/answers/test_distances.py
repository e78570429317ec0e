"""Distances of all positions as one array, against a dictionary search and a plain reader."""

import dataclasses
import random
import weakref
from functools import cache
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
import zarr

from frontier.answers import distances as distances_module
from frontier.answers.distances import Distances
from frontier.api import runs as api
from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.layers.reader import RunReader
from frontier.space.layout import Layout
from tests.support.reference_distances import Twin, X
from tests.support.sweeps import swept

CASES = {
    "tiles 2x3": Twin(2, 3),
    "tiles 2x4": Twin(2, 4),
    "tiles 4x2, blank elsewhere": Twin(4, 2, blank=[1, 1]),
    "2x4, k=1": Twin(2, 4, k=1),
    "2x4, k=2": Twin(2, 4, k=2),
    "2x4, k=3": Twin(2, 4, k=3),
    "2x3, k=3": Twin(2, 3, k=3),
    "2x4, one": Twin(2, 4, labels=[5]),
    "2x4, goal": Twin(2, 4, labels=[6, 1, 4], goal=[5, 1, 7, 3, 2, 0, 4, 6]),
    "2x5, k=2": Twin(2, 5, k=2),
    "5x2": Twin(5, 2, labels=[2, 9, 4, 7]),
    "3x3": Twin(3, 3, labels=[1, 2, 4, 8], blank=[1, 1]),
    "2x4, k=1, labelled": Twin(2, 4, "labelled", k=1),
    "2x4, k=2, labelled": Twin(2, 4, "labelled", k=2),
    "2x4, k=3, labelled": Twin(2, 4, "labelled", k=3),
    "2x4, goal, labelled": Twin(2, 4, "labelled", labels=[6, 1, 4], goal=[5, 1, 7, 3, 2, 0, 4, 6]),
    "2x5, k=2, labelled": Twin(2, 5, "labelled", k=2),
    "5x2, labelled": Twin(5, 2, "labelled", labels=[2, 9, 4]),
    "3x3, labelled": Twin(3, 3, "labelled", labels=[1, 2, 4, 8], blank=[1, 1]),
}
PATTERNS = [name for name, twin in CASES.items() if twin.pattern]
FORMS = {  # (search.in_memory, layers up to this size are lists)
    "lists": (False, 10**9),
    "bits": (False, 0),
    "both": (False, 150),
    "lists in memory": (True, 10**9),
    "both in memory": (True, 150),
}


def run_of(path, twin, form="both in memory", until=None, **search) -> api.Run:
    """A run that keeps its layers; those that are bits are cut finely."""
    in_memory, list_states = FORMS[form]
    config = Config(
        name="distances",
        puzzle=twin.table,
        search={"keep": "all", "in_memory": in_memory, **search},
        store={"path": str(path)},
        cluster={"kind": "serial"},
    )
    plan = api.plan(config)
    assert plan.in_memory == in_memory
    most_digits = min(1, len(plan.space.code.leading))
    finely = [Layout.with_tasks(plan.space, digits, 5) for digits in (most_digits, 0)]
    layout = next(layout for layout in finely if layout.fits_voltages)
    done = api.run(dataclasses.replace(plan, list_states=list_states, layout=layout), until)
    forms = {record.form for record in done.store.records[1:]}
    assert "list" in forms or list_states == 0
    assert "bits" in forms or list_states > 0
    return done


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The run of a case by its name, made when it is asked for, each form in turn."""
    path = tmp_path_factory.mktemp("distances")

    @cache
    def made(name, form=None):
        form = form or list(FORMS)[list(CASES).index(name) % len(FORMS)]
        return run_of(path / f"{name} {form}" / "run", CASES[name], form)

    return made


def boards_of(name, seed=1):
    """(boards for the package, their distances), in any order."""
    twin, rng = CASES[name], random.Random(seed)
    boards = sorted(twin.depths)
    rng.shuffle(boards)
    full = np.array([twin.full(board, rng) for board in boards])
    return full, [twin.depths[board] for board in boards]


def exported(path, run):
    """The distances that an array of a run holds."""
    return Distances(run.puzzle, zarr.open_array(path, mode="r")[:])


def of_boards(distances, boards):
    """The distances of boards, int32[N]; -1 where the goal cannot be reached."""
    vertex, sequence = distances.puzzle.model.states_of(np.array(boards))
    index, sign = distances.puzzle.model.space.code.ranks(sequence)
    found = distances.values[2 * np.maximum(vertex, 0) + sign, index].astype(np.int32)
    found[(found == np.iinfo(distances.values.dtype).max) | (vertex < 0)] = -1
    return found


# --- all positions


@swept("name", CASES, few=["tiles 2x3", "2x4, k=2"])
def test_the_array_of_a_run_has_all_distances(runs, name):
    boards, depths = boards_of(name)
    found = Distances.of_run(runs(name).store)
    assert of_boards(found, boards).tolist() == depths
    known = found.values[found.values != np.iinfo(found.values.dtype).max]
    values, counts = np.unique(known, return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        depth: count for depth, count in enumerate(runs(name).counts) if count
    }


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["tiles 2x4", "2x4, k=3", "2x4, k=2, labelled"])
def test_every_form_of_layers_gives_the_same_array(runs, name, form):
    boards, depths = boards_of(name)
    found = Distances.of_run(runs(name, form).store)
    assert of_boards(found, boards).tolist() == depths
    assert (found.values == Distances.of_run(runs(name).store).values).all()


@swept("name", PATTERNS, few=["2x4, k=1", "2x4, k=2", "2x3, k=3"])
def test_an_exported_array_is_indexed_as_documented(runs, name, tmp_path):
    """Every element of it, those that stand for no position too."""
    twin = CASES[name]
    array = runs(name).export(tmp_path / "array")
    assert (array.dtype, array.ndim) == (np.uint8, 2)
    expected = twin.array(np.uint8)
    assert array.shape == expected.shape
    assert (zarr.open_array(tmp_path / "array", mode="r")[:] == expected).all()
    assert (array.attrs["states"], array.attrs["depth"]) == (
        runs(name).states,
        max(twin.depths.values()),
    )


@swept("name", ["tiles 2x3", "tiles 4x2, blank elsewhere", "3x3, labelled"], few=1)
def test_an_exported_array_has_all_distances(runs, name, tmp_path):
    boards, depths = boards_of(name)
    runs(name).export(str(tmp_path / "below" / "array"))
    found = exported(tmp_path / "below" / "array", runs(name))
    assert of_boards(found, boards).tolist() == depths
    assert [entry.name for entry in (tmp_path / "below").iterdir()] == ["array"]


@pytest.mark.sweep
@pytest.mark.parametrize(("piece", "chunk"), [(1, 1), (6000, 1000), (1, 10**9), (300, 50)])
@pytest.mark.parametrize("name", ["tiles 2x4", "2x4, k=1", "2x4, k=3", "2x4, k=1, labelled"])
def test_arrays_made_piece_by_piece(runs, name, piece, chunk, monkeypatch, tmp_path):
    run, pieces_of = runs(name), distances_module._chunks
    whole = Distances.of_run(run.store).values
    row, starts = whole[0].nbytes, []

    def watched(*arguments):
        for first, values in pieces_of(*arguments):
            starts.append(first)
            yield first, values

    monkeypatch.setattr(distances_module, "ROWS_BYTES", piece)
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(distances_module, "_chunks", watched)
    assert (Distances.of_run(run.store).values == whole).all()
    if max(piece, chunk) < 10**9:
        most = max(piece, chunk, 2 * row)
        assert len(starts) >= whole.nbytes / most
        assert len(starts) > 1 or whole.nbytes <= most
    if row > piece:
        with pytest.raises(InputError, match="label fewer tiles"):
            run.export(tmp_path / "array")
        assert list(tmp_path.iterdir()) == []
        return
    exported = run.export(tmp_path / "array")
    assert (exported[:] == whole).all()
    assert exported.chunks[0] % 2 == 0
    assert exported.chunks[0] <= max(2, chunk // row)


# --- what cannot be reached


@swept("name", ["tiles 2x3", "2x4, k=3", "tiles 2x4", "2x4, k=3, labelled"], few=2)
def test_what_cannot_be_reached_has_no_distance(runs, name):
    twin, rng = CASES[name], random.Random(6)
    every = sorted(set(permutations(twin.goal)))
    found = of_boards(Distances.of_run(runs(name).store), [twin.full(b, rng) for b in every])
    assert found.tolist() == [twin.depths.get(board, -1) for board in every]
    expected = 0.5 if name.startswith("tiles") or twin.metric == "step" else None
    if expected:
        assert (found < 0).mean() == expected
    else:
        assert (found < 0).any()


@pytest.mark.parametrize("metric", ["step", "labelled"])
def test_a_line_whose_tiles_keep_their_order(metric, tmp_path):
    for number, twin in enumerate([Twin(1, 6), Twin(6, 1, metric, labels=[2, 5])]):
        rng = random.Random(5)
        done = run_of(tmp_path / str(number), twin, "lists")
        every = sorted(set(permutations(twin.goal)))
        found = of_boards(Distances.of_run(done.store), [twin.full(b, rng) for b in every])
        assert found.tolist() == [twin.depths.get(board, -1) for board in every]
        assert (found >= 0).sum() == 6


def line(cells, label, blank):
    """A 1 x n board: `label` tiles before the labelled one, `blank` cells before the blank."""
    tiles = [X] * (cells - 1)
    tiles[label] = label + 1
    return (*tiles[:blank], 0, *tiles[blank:])


@pytest.mark.sweep
@pytest.mark.parametrize(("cells", "dtype"), [(255, np.uint8), (256, np.uint16), (300, np.uint16)])
def test_searches_of_many_layers(cells, dtype, tmp_path):
    """The greatest value of a type stands for what cannot be reached, so it is no distance."""
    twin = Twin(1, cells, labels=[100])
    assert len(twin.depths) == cells == max(twin.depths.values()) + 1
    run = run_of(tmp_path / "run", twin, "lists")
    array = run.export(tmp_path / "array")
    assert array.dtype == dtype
    assert (array[:] == twin.array(dtype)).all()
    rng = random.Random(2)
    for found in (Distances.of_run(run.store), exported(tmp_path / "array", run)):
        for blank in range(cells):
            board = line(cells, 99, blank)
            lost = twin.full(tuple(100 if t == 101 else t for t in line(cells, 100, blank)), rng)
            assert of_boards(found, [twin.full(board, rng), lost]).tolist() == [blank, -1]


@pytest.mark.parametrize(
    ("depth", "dtype"),
    [(254, np.uint8), (255, np.uint16), (65_534, np.uint16), (65_535, np.uint32)],
)
def test_the_type_holds_the_depth_and_the_mark_for_no_position(runs, depth, dtype):
    reader = distances_module.reader_of(runs("2x4, k=1").store)
    deep = SimpleNamespace(space=reader.space, run=SimpleNamespace(records=range(depth + 1)))
    assert distances_module._form(deep)[1] == dtype


@pytest.mark.parametrize("how", ["in memory", "exported"])
def test_the_layers_of_a_deep_run_are_read_one_after_the_other(tmp_path, monkeypatch, how):
    """All of them at once may be more than memory holds."""
    twin, open_layer, layers = Twin(1, 40, labels=[20]), RunReader.open_layer, weakref.WeakSet()
    store, most = run_of(tmp_path / "run", twin, "lists").store, []

    def noted(reader, depth):
        layers.add(layer := open_layer(reader, depth))
        most.append(len(layers))
        return layer

    monkeypatch.setattr(RunReader, "open_layer", noted)
    if how == "in memory":
        values = Distances.of_run(store).values
    else:
        values = distances_module.export(store, tmp_path / "array")[:]
    assert (values == twin.array(np.uint8)).all()
    assert len(most) == len(twin.depths)
    assert max(most) <= 2


# --- many boards asked of a run


@swept("name", ["2x4, k=3", "3x3, labelled", "tiles 2x4", "2x5, k=2"], few=1)
def test_many_boards_are_looked_up_in_the_layers(runs, name):
    """Those that cannot be reached among them."""
    twin, rng = CASES[name], random.Random(3)
    boards, depths = boards_of(name)
    boards, depths = boards[:3000], depths[:3000]
    lost = [twin.full(rng.sample(twin.goal, twin.cells), rng) for _ in range(200)]
    depths += [twin.depths.get(twin.masked(board), -1) for board in lost]
    boards = np.concatenate([boards, lost])
    run = api.open_run(runs(name).path)
    for _ in range(2):
        found = run.distance(boards)
        assert found.dtype == np.int32
        assert found.tolist() == depths
    assert run.distance(boards[:7]).tolist() == depths[:7]


def test_many_boards_of_a_run_that_is_not_complete(tmp_path):
    boards, depths = boards_of("2x4, k=2")
    run = run_of(tmp_path / "run", CASES["2x4, k=2"], until=14)
    assert not run.complete
    assert run.distance(boards).tolist() == [d if d <= 14 else -1 for d in depths]
