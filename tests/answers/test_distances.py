"""Distances of all positions as one array, against a dictionary search and a plain reader."""

import dataclasses
import json
import pickle
import random
from functools import cache, cached_property
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
import zarr
from click.testing import CliRunner
from search.test_driver import without_record
from sweeps import swept
from twins import blank_moves, digits, layers_of, sign

from frontier import api
from frontier.answers import distances as distances_module
from frontier.answers import oracle as oracle_module
from frontier.answers.distances import Distances
from frontier.cli import main
from frontier.config import Config
from frontier.errors import CorruptRunError, InputError
from frontier.space.layout import Layout
from frontier.store.run import RunStore

X = -1
"""Any tile that is not labelled."""


class Twin:
    """Tiles, or a pattern of them, without the package; boards are flat, unlabelled tiles X.

    table: the [puzzle] table of a config.
    """

    def __init__(self, rows, columns, metric="step", k=None, labels=None, goal=None, blank=None):
        self.rows, self.columns, self.metric = rows, columns, metric
        self.cells = cells = rows * columns
        home = [*range(1, cells)]
        home.insert(0 if blank is None else blank[0] * columns + blank[1], 0)
        home = home if goal is None else goal
        self.pattern = k is not None or labels is not None
        if k is not None:
            labels = [tile for i, tile in enumerate(home) if i % columns >= columns - k and tile]
        self.labels = set(labels or home) - {0}
        self.goal = self.masked(home)
        more = {"k": k, "labels": labels if k is None else None, "blank": blank}
        if goal is not None:
            more["goal"] = [goal[i : i + columns] for i in range(0, cells, columns)]
        self.table = {
            "kind": "pattern" if self.pattern else "tiles",
            "rows": rows,
            "columns": columns,
            "metric": metric,
            **{key: value for key, value in more.items() if value is not None},
        }

    def masked(self, board):
        return tuple(tile if tile == 0 or tile in self.labels else X for tile in board)

    def moves(self, board):
        return blank_moves(self.rows, self.columns, board)

    @cached_property
    def depths(self) -> dict:
        """The distance of every board that can be reached."""
        if self.metric == "step":
            layers = layers_of([self.goal], self.moves)
            return {board: depth for depth, layer in enumerate(layers) for board in layer}
        region = cache(self.region)
        layers = layers_of(
            [region(self.goal)],
            lambda here: {
                region(after)
                for board in here
                for after in self.moves(board)
                if after[board.index(0)] != X
            },
        )
        return {
            board: depth for depth, layer in enumerate(layers) for here in layer for board in here
        }

    def region(self, board) -> frozenset:
        """The boards that moves of unlabelled tiles lead to."""

        def free(here):
            return [after for after in self.moves(here) if after[here.index(0)] == X]

        return frozenset().union(*layers_of([board], free))

    def full(self, board, rng) -> tuple:
        """The board with its unlabelled tiles numbered in any order."""
        rest = sorted(set(range(1, self.cells)) - self.labels)
        rng.shuffle(rest)
        return tuple(rest.pop() if tile == X else tile for tile in board)

    # --- the array, read by its documented index alone

    def in_line(self, board) -> list:
        """What stands in the cells, read along the shorter side."""
        if self.rows > self.columns:
            return list(board)
        return [board[r * self.columns + c] for c in range(self.columns) for r in range(self.rows)]

    def place(self, board) -> int:
        """rank * cells + position, the blank being left out for the rank."""
        line = self.in_line(board)
        tiles = [tile for tile in line if tile != 0]
        labelled = [place for place, tile in enumerate(tiles) if tile != X]
        rank = sum(comb(place, i) for i, place in enumerate(labelled, start=1))
        return rank * self.cells + line.index(0)

    @cached_property
    def vertices(self) -> dict:
        """The vertex of each `place`: itself, but where unlabelled moves are free."""
        if self.metric == "step":
            count = comb(self.cells - 1, len(self.labels)) * self.cells
            return {place: place for place in range(count)}
        least = {}
        for cells in combinations(range(self.cells), len(self.labels) + 1):
            for blank in cells:
                board = [1 if cell in cells else X for cell in range(self.cells)]
                board[blank] = 0
                places = [self.place(other) for other in self.region(tuple(board))]
                least[self.place(board)] = min(places)
        number = {place: n for n, place in enumerate(sorted(set(least.values())))}
        return {place: number[first] for place, first in least.items()}

    @cached_property
    def order(self) -> dict:
        """The number of each labelled tile: their order in the goal."""
        return {tile: n for n, tile in enumerate(t for t in self.in_line(self.goal) if t > 0)}

    def index(self, board) -> tuple[int, int]:
        """(row, column) of a board."""
        sequence = [self.order[tile] for tile in self.in_line(board) if tile > 0]
        column = 0
        for i, digit in enumerate(digits(sequence)[:-2]):
            column = column * (len(sequence) - i) + digit
        return 2 * self.vertices[self.place(board)] + sign(sequence), column

    def array(self, dtype) -> np.ndarray:
        """What the exported array is to be."""
        count, half = len(set(self.vertices.values())), max(1, factorial(len(self.labels)) // 2)
        values = np.full((2 * count, half), np.iinfo(dtype).max, dtype=dtype)
        for board, depth in self.depths.items():
            values[self.index(board)] = depth
        return values


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
    assert plan.alone == in_memory
    most_digits = min(1, len(plan.space.code.leading))
    finely = [Layout.cut(plan.space, digits, 5) for digits in (most_digits, 0)]
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


def of_boards(distances, boards):
    """The distances of boards, int32[N]."""
    return distances.of_states(*distances.puzzle.states_of(np.array(boards)))


# --- all positions


@swept(
    "name", CASES, few=["tiles 4x2, blank elsewhere", "2x4, k=2", "2x3, k=3", "2x4, k=1, labelled"]
)
def test_the_array_of_a_run_has_all_distances(runs, name):
    boards, depths = boards_of(name)
    found = Distances.of_run(runs(name).store)
    assert of_boards(found, boards).dtype == np.int32
    assert of_boards(found, boards).tolist() == depths
    values, counts = np.unique(found.values[found.values != found.unknown], return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        depth: count for depth, count in enumerate(runs(name).counts) if count
    }


@pytest.mark.parametrize("form", FORMS)
@swept("name", ["tiles 2x4", "2x4, k=3", "2x4, k=2, labelled"], few=["2x4, k=2, labelled"])
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


@swept("name", ["tiles 2x3", "tiles 4x2, blank elsewhere", "3x3, labelled"], few=2)
def test_an_exported_array_is_opened(runs, name, tmp_path):
    """The run may be gone by then; what is opened knows its puzzle."""
    boards, depths = boards_of(name)
    run = run_of(tmp_path / "run", CASES[name])
    run.export(str(tmp_path / "below" / "array"))
    from_run = Distances.open(tmp_path / "run")
    api.delete_run(tmp_path / "run")
    opened = Distances.open(tmp_path / "below" / "array")
    for found in (from_run, opened):
        assert of_boards(found, boards).tolist() == depths
        assert found.puzzle.goals == run.puzzle.goals
    assert [entry.name for entry in (tmp_path / "below").iterdir()] == ["array"]


@swept(
    ("piece", "chunk"),
    [(1, 1), (2600, 1), (6000, 1000), (1, 10**9), (10**9, 1), (300, 50)],
    few=3,
)
@swept("name", ["tiles 2x4", "2x4, k=1", "2x4, k=3", "2x4, k=1, labelled"], few=1)
def test_arrays_made_piece_by_piece(runs, name, piece, chunk, monkeypatch, tmp_path):
    run, pieces_of = runs(name), distances_module._pieces
    whole = Distances.of_run(run.store).values
    row, starts = whole[0].nbytes, []

    def watched(*arguments):
        for first, values in pieces_of(*arguments):
            starts.append(first)
            yield first, values

    monkeypatch.setattr(distances_module, "PIECE_BYTES", piece)
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(distances_module, "_pieces", watched)
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


@swept(("cells", "dtype"), [(255, np.uint8), (256, np.uint16), (300, np.uint16)], few=1)
def test_searches_of_many_layers(cells, dtype, tmp_path):
    """The greatest value of a type stands for what cannot be reached, so it is no distance."""
    twin = Twin(1, cells, labels=[100])
    assert len(twin.depths) == cells == max(twin.depths.values()) + 1
    run = run_of(tmp_path / "run", twin, "lists")
    array = run.export(tmp_path / "array")
    assert array.dtype == dtype
    assert (array[:] == twin.array(dtype)).all()
    rng = random.Random(2)
    for found in (Distances.of_run(run.store), Distances.open(tmp_path / "array")):
        for blank in range(cells):
            board = line(cells, 99, blank)
            lost = twin.full(tuple(100 if t == 101 else t for t in line(cells, 100, blank)), rng)
            assert of_boards(found, [twin.full(board, rng), lost]).tolist() == [blank, -1]


# --- many boards asked of a run


def refuse(*_):
    raise AssertionError("not this way")


@swept("name", ["2x4, k=3", "3x3, labelled", "tiles 2x4", "2x5, k=2"], few=2)
def test_many_boards_are_looked_up_in_the_array(runs, name, monkeypatch):
    """And few in the layers, or all where the array is too large; the answers are the same."""
    twin, rng = CASES[name], random.Random(3)
    boards, depths = boards_of(name)
    boards, depths = boards[:3000], depths[:3000]
    lost = [twin.full(rng.sample(twin.goal, twin.cells), rng) for _ in range(200)]
    depths += [twin.depths.get(twin.masked(board), -1) for board in lost]
    boards = np.concatenate([boards, lost])
    of_run = Distances.of_run
    for many, most_bytes in ((10**9, 10**9), (1000, 1)):
        with monkeypatch.context() as patch:
            patch.setattr(oracle_module, "MANY", many)
            patch.setattr(oracle_module, "MOST_TABLE_BYTES", most_bytes)
            patch.setattr(Distances, "of_run", refuse)
            assert api.open_run(runs(name).path).distance(boards).tolist() == depths
    with monkeypatch.context() as patch:
        patch.setattr(oracle_module, "MANY", 1000)
        asked = []
        patch.setattr(Distances, "of_run", lambda store: asked.append(store) or of_run(store))
        patch.setattr(oracle_module.Oracle, "_layer", refuse)
        run = api.open_run(runs(name).path)
        for _ in range(2):
            found = run.distance(boards)
            assert found.dtype == np.int32
            assert found.tolist() == depths
        assert run.distance(boards[:7]).tolist() == depths[:7]
        assert len(asked) == 1
        with pytest.raises(AssertionError, match="not this way"):
            api.open_run(runs(name).path).distance(boards[:7])


@pytest.mark.parametrize("many", [1, 10**9])
def test_many_boards_of_a_run_that_is_not_complete(tmp_path, monkeypatch, many):
    monkeypatch.setattr(oracle_module, "MANY", many)
    boards, depths = boards_of("2x4, k=2")
    run = run_of(tmp_path / "run", CASES["2x4, k=2"], until=14)
    assert not run.complete
    assert run.distance(boards).tolist() == [d if d <= 14 else -1 for d in depths]


# --- refusals


def test_nothing_is_overwritten(runs, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "directory").mkdir()
    runs("tiles 2x3").export(tmp_path / "array")
    before = sorted(tmp_path.rglob("*"))
    for name in ("file", "directory", "array"):
        with pytest.raises(InputError, match="exists; nothing is overwritten"):
            runs("2x4, k=1").export(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"
    boards, depths = boards_of("tiles 2x3")
    assert of_boards(Distances.open(tmp_path / "array"), boards).tolist() == depths


def test_runs_that_cannot_be_exported(tmp_path):
    half = run_of(tmp_path / "half", CASES["2x4, k=2"], until=9)
    thin = run_of(tmp_path / "thin", CASES["2x4, k=2"], keep="frontier")
    assert thin.complete
    assert not half.complete
    for run, word in ((half, "is not complete"), (thin, "search.keep=all")):
        with pytest.raises(InputError, match=word):
            run.export(tmp_path / "array")
        assert not list(tmp_path.glob("array*"))
    for ask in (Distances.of_run, lambda store: Distances.open(store.path)):
        with pytest.raises(InputError, match=r"search\.keep=all"):
            ask(thin.store)


def test_a_place_that_cannot_be_made(runs, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="cannot be made"):
        runs("tiles 2x3").export(tmp_path / "file" / "below" / "array")


def test_what_is_no_array_of_distances(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    zarr.create_group(tmp_path / "group")
    other = zarr.create_array(tmp_path / "other", shape=(2, 2), dtype=np.uint8)
    other[:] = 1
    marked = zarr.create_array(
        tmp_path / "marked", shape=(2, 2), dtype=np.uint8, attributes={"kind": "photographs"}
    )
    marked[:] = 1
    for name in ("none", "empty", "file", "group"):
        with pytest.raises(InputError, match="no run and no exported array"):
            Distances.open(tmp_path / name)
    for name in ("other", "marked"):
        with pytest.raises(InputError, match="holds no distances that export wrote"):
            Distances.open(tmp_path / name)


class Trap:
    """Makes a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_nothing_is_unpickled(tmp_path):
    """An array of format 2 may name a codec that unpickles; such arrays are not read at all."""
    sprung, path = tmp_path / "sprung", tmp_path / "array"
    path.mkdir()
    described = {
        "zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "fill_value": 0,
        "order": "C", "compressor": {"id": "pickle", "protocol": 5}, "filters": None,
    }  # fmt: skip
    (path / ".zarray").write_text(json.dumps(described))
    (path / ".zattrs").write_text(json.dumps({"kind": distances_module.NAME}))
    (path / "0").write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(InputError, match="no exported array"):
        Distances.open(path)
    assert not sprung.exists()


def test_layers_that_hold_other_numbers_than_the_ledger(tmp_path, monkeypatch):
    """Nothing is left at the target, and once all is well it can be written."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"])
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "states", property(lambda _: 6721))
        for ask in (lambda: Distances.of_run(run.store), lambda: run.export(tmp_path / "array")):
            with pytest.raises(CorruptRunError, match=r"hold 6,720 positions, .* lists 6,721"):
                ask()
    assert not (tmp_path / "array").exists()
    run.export(tmp_path / "array")
    boards, depths = boards_of("2x4, k=2")
    assert of_boards(Distances.open(tmp_path / "array"), boards).tolist() == depths
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["array", "run"]


def chunks_of(path):
    """The files of an exported array, but for what describes it."""
    return sorted(f for f in path.rglob("*") if f.is_file() and f.suffix != ".json")


@swept("name", ["2x4, k=2", "2x4, k=2, labelled", "tiles 2x4"], few=1)
def test_an_array_that_has_lost_a_part(tmp_path, monkeypatch, name):
    """Any part, or all: what is lost would read as positions that cannot be reached."""
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 1000)
    target = tmp_path / "array"
    run_of(tmp_path / "run", CASES[name]).export(target)
    chunks = chunks_of(target)
    assert len(chunks) > 3
    for lost in (*([chunk] for chunk in chunks), chunks[::2], chunks):
        kept = {file: file.read_bytes() for file in lost}
        for file in lost:
            file.unlink()
        with pytest.raises(CorruptRunError, match="export it again"):
            Distances.open(target)
        for file, data in kept.items():
            file.write_bytes(data)
    boards, depths = boards_of(name)
    assert of_boards(Distances.open(target), boards).tolist() == depths


@swept("seed", range(8), few=1)
def test_an_array_that_is_damaged(tmp_path, monkeypatch, seed):
    """A bit turned, a chunk cut, emptied or exchanged with another."""
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 1000)
    target, rng = tmp_path / "array", np.random.default_rng(seed)
    run_of(tmp_path / "run", CASES["2x4, k=2"]).export(target)
    for file in chunks_of(target):
        data, other = file.read_bytes(), rng.choice(chunks_of(target))
        at = rng.integers(len(data))
        turned = bytes([data[at] ^ 1 << rng.integers(8)])
        for damaged in (data[:at] + turned + data[at + 1 :], data[:at], other.read_bytes()):
            file.write_bytes(damaged)
            if damaged == data:
                Distances.open(target)
                continue
            with pytest.raises(CorruptRunError, match="export it again"):
                Distances.open(target)
        file.write_bytes(data)
    boards, depths = boards_of("2x4, k=2")
    assert of_boards(Distances.open(target), boards).tolist() == depths


def test_a_search_with_an_array_that_has_lost_a_part(tmp_path, monkeypatch):
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 1000)
    (tmp_path / "tiles.toml").write_text(
        'name = "tiles"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 4\n'
    )
    run_of(tmp_path / "run", CASES["2x4, k=2"]).export(tmp_path / "array")
    search = "solve", tmp_path / "tiles.toml", "1 0 2 3/4 5 6 7", "--method", "ida"
    assert ": 1 move" in invoke(*search, "--heuristic", tmp_path / "array").stdout
    chunks_of(tmp_path / "array")[-1].unlink()
    result = invoke(*search, "--heuristic", tmp_path / "array", code=4)
    assert result.stdout == ""
    assert "do not match their checksum); export it again" in result.stderr


@swept("form", ["lists", "bits"], few=1)
def test_a_run_that_has_lost_a_part(tmp_path, form):
    """It gives no array, and of no board a wrong distance."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"], form)
    boards, depths = boards_of("2x4, k=2")
    parts = sorted((run.path / "layers").glob("*/c.*"))
    parts = [part for part in parts if without_record(part)[0]["states"]]
    assert len(parts) >= len(run.counts)
    for part in random.Random(2).sample(parts, 6):
        data = part.read_bytes()
        part.unlink()
        again = api.open_run(run.path)
        for ask in (lambda: Distances.open(run.path), lambda: run.export(tmp_path / "array")):
            with pytest.raises(CorruptRunError, match=f"{part} is missing"):
                ask()
        with pytest.raises(CorruptRunError, match=f"{part} is missing"):
            again.distance(boards)
        assert "is missing" in invoke("export", run.path, tmp_path / "array", code=4).stderr
        for board, depth in list(zip(boards, depths, strict=True))[:20]:
            try:
                assert again.distance([board]).tolist() == [depth]
            except CorruptRunError:
                continue
        part.write_bytes(data)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    assert api.open_run(run.path).distance(boards).tolist() == depths


def test_an_export_that_is_interrupted(tmp_path, monkeypatch):
    """What is under way is not at the target."""
    run = run_of(tmp_path / "run", CASES["2x4, k=2"])
    monkeypatch.setattr(distances_module, "PIECE_BYTES", 1000)
    monkeypatch.setattr(distances_module, "CHUNK_BYTES", 100)
    with monkeypatch.context() as patch:

        def some(work, layer, depth, *rest):
            if depth == 3 and next(asked) > 2:
                raise KeyboardInterrupt
            return fill(work, layer, depth, *rest)

        fill, asked = distances_module._fill, iter(range(100))
        patch.setattr(distances_module, "_fill", some)
        with pytest.raises(KeyboardInterrupt):
            run.export(tmp_path / "array")
        assert next(asked) == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    assert (run.export(tmp_path / "array")[:] == CASES["2x4, k=2"].array(np.uint8)).all()


# --- the command


def invoke(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_the_command_prints_what_it_wrote(runs, tmp_path):
    path, (rows, columns) = runs("2x4, k=3").path, CASES["2x4, k=3"].array(np.uint8).shape
    assert invoke("export", path, tmp_path / "a").stdout == (
        f"{tmp_path / 'a'}: {rows:,} × {columns:,} distances, uint8\n"
    )
    value = json.loads(invoke("export", path, tmp_path / "b", "--json").stdout)
    assert value == {"path": str(tmp_path / "b"), "shape": [rows, columns], "type": "uint8"}
    for name in "ab":
        assert (zarr.open_array(tmp_path / name)[:] == CASES["2x4, k=3"].array(np.uint8)).all()


def test_what_the_command_refuses(runs, tmp_path):
    run_of(tmp_path / "half", CASES["2x4, k=2"], until=9)
    run_of(tmp_path / "thin", CASES["2x4, k=2"], keep="frontier")
    for arguments, word in [
        ((tmp_path / "half", tmp_path / "a"), "is not complete"),
        ((tmp_path / "thin", tmp_path / "a"), "search.keep=all"),
        ((tmp_path / "none", tmp_path / "a"), "no such run"),
        ((runs("2x4, k=2").path, tmp_path / "thin"), "exists"),
    ]:
        result = invoke("export", *arguments, code=2)
        assert result.stderr.startswith("frontier: ")
        assert word in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert result.stdout == ""
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["half", "thin"]
