"""Tables that `export` writes: a row for each position."""

import csv
import json
import sys

import pytest

from frontier.answers import rows as rows_module
from frontier.api import runs as api
from frontier.errors import CorruptRunError, InputError
from frontier.layers.stored import StoredLayer
from tests.answers.test_distances import CASES, run_of
from tests.support.commands import invoke
from tests.support.sweeps import cases

NAME = "2x4, k=2"


@pytest.fixture(scope="module", params=cases(["lists", "bits"], few=["bits"]))
def run(request, tmp_path_factory):
    """A complete run that has kept its layers."""
    return run_of(tmp_path_factory.mktemp("complete") / "run", CASES[NAME], request.param)


@pytest.fixture(autouse=True)
def parts(monkeypatch):
    """Parts of few rows, so that there are many, and the last is not full."""
    monkeypatch.setattr(rows_module, "PART_ROWS", 1000)


def check(run, rows):
    """Check that (number, distance, position) are all positions of a run with their distances."""
    expected = []
    for layer in run.layers:
        numbers = layer.numbers()
        boards = map(tuple, layer.boards_of(numbers).tolist())
        expected += zip(
            numbers.tolist(), [layer.depth] * numbers.size, map(run.puzzle.line, boards),
            strict=True,
        )  # fmt: skip
    assert sorted(rows) == sorted(expected)
    assert len(expected) == 6720
    some = rows[::97]
    assert run.distance([line for _, _, line in some]).tolist() == [row[1] for row in some]


def test_a_table_in_csv(run, tmp_path):
    target = tmp_path / "a.csv"
    assert run.export(target) == target
    with target.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["number", "distance", "position"]
    check(run, [(int(number), int(distance), line) for number, distance, line in rows])
    with pytest.raises(InputError, match="already exists"):
        run.export(target)


def test_a_table_in_parquet(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    target = tmp_path / "a.parquet"
    assert run.export(target) == target
    file = parquet.ParquetFile(target)
    assert file.num_row_groups == 7
    table = file.read()
    assert {of.name: str(of.type) for of in table.schema} == {
        "number": "uint64", "distance": "int32", "position": "string",
    }  # fmt: skip
    check(run, list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


def test_parquet_without_pyarrow(run, tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    said = invoke("export", run.path, tmp_path / "new" / "a.parquet", code=2).stderr
    assert "pip install pyarrow, or name a .csv file" in said
    assert not list(tmp_path.glob("*/*"))


def test_the_command_says_how_many_rows(run, tmp_path):
    said = json.loads(invoke("export", run.path, tmp_path / "a.csv", "--json").stdout)
    assert said == {"path": str(tmp_path / "a.csv"), "rows": 6720}
    assert "6,720 distances" in invoke("export", run.path, tmp_path / "b.csv").stdout


@pytest.mark.parametrize("error", [KeyboardInterrupt, CorruptRunError])
def test_an_interrupted_table_leaves_nothing(run, tmp_path, monkeypatch, error):
    read = StoredLayer.numbers_by_slab

    def some(layer):
        if layer.files.depth == 20:
            raise error("here")
        return read(layer)

    monkeypatch.setattr(StoredLayer, "numbers_by_slab", some)
    with pytest.raises(error):
        api.open_run(run.path).export(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_table_needs_a_complete_run(tmp_path):
    half = run_of(tmp_path / "half", CASES[NAME], until=9)
    with pytest.raises(InputError, match="is not complete"):
        half.export(tmp_path / "a.csv")
