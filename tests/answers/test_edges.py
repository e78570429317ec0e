"""The edges that `export --edges` writes are those of a state graph that a dictionary holds."""

import csv
import json

import numpy as np
import pytest

import frontier
from frontier.answers import edges as edges_module
from frontier.errors import InputError
from tests.layers.test_classes import LAMPS
from tests.support import programs
from tests.support.commands import invoke
from tests.support.reference_puzzles import HEXAGON, LINES, cells, graph, permutation, tiles

COLUMNS = ["source", "target", "source_distance", "target_distance"]
CASES = {
    "two sides": tiles(2, 3),
    "one side": tiles(2, 3, "multi"),
    "lists of a tower": permutation({"a": [2, 3, 1, 4, 5], "b": [1, 2, 4, 5, 3]},
                                    goals=["xxyzz"], closed=True),
    "edges within a layer": graph([[1, 2], [0, 2], [0, 1, 3], [2]], "ab.c"),
    "pieces of two cells": cells(HEXAGON, LINES, "aa.b.c.", alike=["bc"]),
}  # fmt: skip


def run_of(place, settings, until=None):
    store, search = {"path": str(place), "fsync": "never"}, {"keep": "all"}
    return frontier.run(frontier.make_config("t", settings, search, store), until=until)


def table_of(run, target):
    """The rows that `export` writes, as (source, target) -> their distances."""
    assert run.export(target, edges=True) == target
    with target.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == COLUMNS
    found = {(a, b): (int(at), int(to)) for a, b, at, to in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("name", CASES)
def test_edges_are_those_of_a_dictionary(name, tmp_path, monkeypatch):
    """Every pair of neighbours once, with the depths of both; also of the first layers alone."""
    monkeypatch.setattr(edges_module, "BATCH", 50)
    case = CASES[name]
    run = run_of(tmp_path / "run", case.table)
    depths = case.depths
    edges = {frozenset((b, n)) for b in depths for n in case.neighbours(b) if n != b}
    assert max(map(len, edges)) == 2
    for until in (run.depth, run.depth // 2):
        run = run_of(tmp_path / str(until), case.table, until)
        puzzle = run.puzzle
        found = {
            tuple(case.read(puzzle.write(puzzle.parse(line))) for line in pair): ends
            for pair, ends in table_of(run, tmp_path / f"{until}.csv").items()
        }
        within = {of for of in edges if max(depths[b] for b in of) <= until}
        assert len(found) == len(within)
        assert {frozenset(pair) for pair in found} == within
        assert all(ends == (depths[a], depths[b]) for (a, b), ends in found.items())


@pytest.mark.parametrize("pad", [0, 90])
def test_moves_that_are_not_undone(tmp_path, pad):
    """Every move is an edge, also back to an earlier layer; keys of one and of three words."""
    table = programs.table_of(programs.GRAPH)(200, both=False, pad=pad)
    config = programs.program(tmp_path, programs.GRAPH, "all", states=200, both=False, pad=pad)
    run, layers = frontier.run(config), programs.layers(table)
    depths = {state: depth for depth, layer in enumerate(layers) for state in layer}
    line = run.puzzle.line
    assert table_of(run, tmp_path / "edges.csv") == {
        (line(state), line(near)): (depths[state], depths[near])
        for state in depths for near in programs.listed(table, state) if near != state
    }  # fmt: skip
    run.export(tmp_path / "nodes.csv")
    with (tmp_path / "nodes.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert {text: int(distance) for _, distance, text in rows} == {
        line(state): depths[state] for state in depths
    }
    bits, radix = (200 - 1).bit_length(), 200
    assert all(0 <= int(number) % 2**bits < radix for number, _, _ in rows)


def test_generators_without_inverses(tmp_path):
    """Three pieces turn one way."""
    run = run_of(tmp_path / "run", {"kind": "permutations", "generators": {"t": "(1 2 3)"}})
    found = table_of(run, tmp_path / "a.csv")
    assert sorted(found.values()) == [(0, 1), (1, 2), (2, 0)]


def test_edges_between_classes(tmp_path):
    run = frontier.run(programs.program(tmp_path, LAMPS, "all"))
    table = programs.table_of(LAMPS)()
    whole = programs.layers(table)

    def canonical(state):
        out = np.zeros(9, np.int64)
        table["canonical"](np.array(state), out)
        return tuple(out.tolist())

    moves = {(s, n) for layer in whole for s in layer for n in programs.listed(table, s)}
    edges = {frozenset(map(canonical, pair)) for pair in moves}
    line = run.puzzle.line
    assert {frozenset(pair) for pair in table_of(run, tmp_path / "a.csv")} == {
        frozenset(map(line, pair)) for pair in edges if len(pair) == 2
    }


def test_what_is_refused(tmp_path, monkeypatch):
    run = run_of(tmp_path / "run", CASES["two sides"].table)
    with pytest.raises(InputError, match=r"edges are a table; name a \.csv"):
        run.export(tmp_path / "a.npy", edges=True)
    monkeypatch.setattr(edges_module, "MOST_STATES", 359)
    with pytest.raises(InputError, match="360 states: edges are written for at most 359"):
        run.export(tmp_path / "a.csv", edges=True)
    assert not list(tmp_path.glob("a*"))


def test_the_command(tmp_path):
    run = run_of(tmp_path / "run", CASES["one side"].table)
    expected = table_of(run, tmp_path / "a.csv")
    said = invoke("export", run.path, tmp_path / "b.csv", "--edges", "--json").stdout
    assert json.loads(said) == {"path": str(tmp_path / "b.csv")}
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    parquet = pytest.importorskip("pyarrow.parquet")
    run.export(tmp_path / "a.parquet", edges=True)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert {of.name: str(of.type) for of in table.schema} == edges_module.COLUMNS
    assert len(table) == len(expected)
