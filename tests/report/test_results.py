"""The script that makes the pages of docs/results/."""

import csv
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.commands import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results():
    return script("results")


@pytest.mark.sweep
def test_all_that_is_to_be_kept(results, tmp_path, monkeypatch):
    """The page and the table of each, and a list beside what was written by hand."""
    groups = {"Tiles": ("2x2",), "Other boards": ("hexagram", "k1")}
    monkeypatch.setattr(results, "GROUPS", groups)
    monkeypatch.setattr(results, "SETS", {"k1": ["pattern-2x2-k1", "pattern-2x3-k1"]})
    target = tmp_path / "results"
    target.mkdir()
    (target / "README.md").write_text(f"Above.\n\n{results.BEGIN}\nold\n{results.END}\n\nBelow.\n")
    arguments = ["results.py", "--runs", str(tmp_path / "runs"), "--target", str(target)]
    monkeypatch.setattr(sys, "argv", arguments)
    results.main()
    names = ("2x2", "hexagram", "k1")
    made = {f"{name}.{end}" for name in names for end in ("md", "csv")}
    pictures = {f"{name}.svg" for name in names}
    files = {path.name for path in target.iterdir()}
    assert files == made | pictures | {"README.md"}
    text = (target / "README.md").read_text()
    assert text.startswith("Above.\n")
    assert text.endswith("\nBelow.\n")
    assert "old" not in text
    assert "| hexagram | graph of 13 cells, 2 kinds of tiles | 12,012 | 30 |" in text
    assert "| 12 … 120 | 6 … 20 | 1 |" in text  # a row for all runs of a set
    for name in made:
        assert f"({name})" in text
    for name in pictures:
        assert f'src="{name}"' in text
        assert ElementTree.parse(target / name).getroot().tag.endswith("svg")
    for group in groups:
        assert f"### {group}\n" in text
    page = (target / "2x2.md").read_text()
    assert "![a farthest position](2x2.svg)" in page
    sizes = re.findall(r"^\| \d+ \| (\d+) \|$", page, re.MULTILINE)
    assert sizes == ["1", "2", "2", "2", "2", "2", "1"]
    rows = (target / "k1.md").read_text().splitlines()
    assert "| depth | pattern-2x2-k1 | pattern-2x3-k1 |" in rows
    assert {"| 6 | 1 | 5 |", "| 7 |  | 5 |"} <= set(rows)  # the first run ends before the second
    with (target / "hexagram.csv").open() as file:
        assert sum(int(row["states"]) for row in csv.DictReader(file)) == 12_012
    for path in target.iterdir():
        assert str(tmp_path) not in path.read_text()
    before = (target / "2x2.md").read_bytes()
    monkeypatch.setattr(results, "GROUPS", {"Tiles": ("2x2",)})
    monkeypatch.setattr(results, "SETS", {})
    (target / "README.md").write_text(f"{results.BEGIN}\n{results.END}\n")
    results.main()
    assert (target / "2x2.md").read_bytes() == before  # the run is there, so nothing changes


@pytest.mark.sweep
def test_nothing_that_was_published_is_lost(results, tmp_path, monkeypatch):
    """Where a large run is missing, its row is kept rather than left out."""
    monkeypatch.setattr(results, "GROUPS", {"Tiles": ("2x2", "2x7")})
    monkeypatch.setattr(results, "SETS", {})
    target = tmp_path / "results"
    target.mkdir()
    old = f"{results.BEGIN}\n2x7\n{results.END}\n"
    (target / "README.md").write_text(old)
    arguments = ["results.py", "--runs", str(tmp_path / "runs"), "--target", str(target)]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match="2x7") as ended:
        results.main()
    assert ended.value.code not in (None, 0)
    assert (target / "README.md").read_text() == old
    assert (target / "2x2.md").exists()


@pytest.mark.sweep
def test_a_large_run_that_is_missing_is_listed_by_its_published_numbers(
    results, tmp_path, monkeypatch
):
    """The list is then as it was with the run."""
    monkeypatch.setattr(results, "GROUPS", {"Tiles": ("2x2", "2x3")})
    monkeypatch.setattr(results, "SETS", {})
    target = tmp_path / "results"
    arguments = ["results.py", "--runs", str(tmp_path / "runs"), "--target", str(target)]
    monkeypatch.setattr(sys, "argv", arguments)
    results.main()
    made = {path.name: path.read_bytes() for path in target.iterdir()}
    monkeypatch.setattr(results, "LARGE", {"2x3"})
    shutil.rmtree(tmp_path / "runs" / "2x3")
    (target / "README.md").unlink()
    results.main()
    assert {path.name: path.read_bytes() for path in target.iterdir()} == made


def test_the_pages_that_are_published_are_those_that_the_script_makes(results):
    there = {path.stem for path in results.TARGET.glob("*.csv")}
    assert there == {name for names in results.GROUPS.values() for name in names}
    page = (results.TARGET / "README.md").read_text(encoding="utf-8")
    for name in there:
        assert f"[page]({name}.md), [CSV]({name}.csv)" in page
        rows = (results.TARGET / f"{name}.md").read_text(encoding="utf-8").splitlines()
        heads = "states", *results.layers_in(results.TARGET / f"{name}.csv")
        assert sum(row.startswith("| depth | ") for row in rows) == 1
        assert len(rows[-1].split(" | ")) == len(heads)


def test_every_page_of_the_readme_is_made(results):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\(docs/results/(?!README|comparison)([\w-]+)\.md\)", readme))
    assert len(names) >= 5
    assert names <= {name for group in results.GROUPS.values() for name in group}


def test_every_config_is_there(results):
    reports = [name for names in results.GROUPS.values() for name in names]
    assert len(reports) == len(set(reports))
    assert set(results.SETS) <= set(reports)
    names = {name for report in reports for name in results.SETS.get(report, [report])}
    assert names <= {path.stem for path in (ROOT / "configs").glob("*.toml")}


def test_a_page_without_marks_is_left_alone(results, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("mine\n")
    with pytest.raises(SystemExit, match="expected one line"):
        results.fill_in(page, {})
    assert page.read_text() == "mine\n"
