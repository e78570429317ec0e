"""The times of whole commands on the pages, which are those of docs/results/timings.json."""

import copy
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.commands import script

ROOT = Path(__file__).parents[1]
TIME = r"\b\d[\d.]* (?:s|min|h|days?|hours?|minutes?|seconds?)\b(?: \d\d (?:s|min|h)\b)?"


@pytest.fixture(scope="module")
def quotes():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        yield script("quotes")


@pytest.fixture
def clone(quotes, tmp_path):
    """A directory with the pages and the file, and nothing else."""
    for name in (*quotes.SENTENCES, quotes.TIMINGS, quotes.COMPARISON):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def pages_of(place):
    return {path.relative_to(place): path.read_text() for path in place.rglob("*.md")}


def test_the_pages_have_the_figures_of_the_file(quotes, clone):
    before = pages_of(clone)
    quotes.write({}, clone)
    assert pages_of(clone) == before


def test_a_new_figure_comes_to_every_page_that_quotes_it(quotes, clone):
    measured = copy.deepcopy(quotes.read()["2x7"])
    before = pages_of(clone)
    old = measured["programs"]["frontier"]["seconds"]
    measured["programs"]["frontier"]["seconds"] = 4321
    quotes.write({"2x7": measured}, clone)
    assert quotes.read(clone / quotes.TIMINGS) == {**quotes.read(), "2x7": measured}
    changed = {str(name) for name, text in pages_of(clone).items() if text != before[name]}
    assert {"README.md", "docs/architecture.md", "docs/results/comparison.md"} <= changed
    for name in changed:
        assert "1 h 12 min" in (clone / name).read_text()
    measured["programs"]["frontier"]["seconds"] = old
    quotes.write({"2x7": measured}, clone)
    assert pages_of(clone) == before


def test_a_sentence_that_has_gone_changes_nothing(quotes, clone):
    page = clone / "docs" / "tutorial.md"
    page.write_text("no times\n")
    before = pages_of(clone)
    measured = {"2x5": {**quotes.read()["2x5"], "cores": 64}}
    with pytest.raises(SystemExit, match=r"found 0 times: .*2x5 frontier seconds"):
        quotes.write(measured, clone)
    assert pages_of(clone) == before
    assert quotes.read(clone / quotes.TIMINGS) == quotes.read()


@pytest.mark.parametrize("field", ["2x7 frontier memory", "2x9 frontier seconds", "2x7 cores"])
def test_a_figure_that_was_not_measured_is_named(quotes, field):
    name, *of = field.split()
    board = {"cores": None, "programs": {"frontier": {"seconds": 1.0}}}
    with pytest.raises(SystemExit, match=rf"lacks {of[-1]} of .* for {name}"):
        quotes.filled("It takes x s.", (f"takes {{{field}}} s",), {"2x7": board})


def test_the_readme_has_no_other_times(quotes):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for sentence in quotes.SENTENCES["README.md"]:
        said = quotes.filled(text, (sentence,), quotes.read())
        assert said == text
        text = re.sub(".+?".join(map(re.escape, quotes.split(sentence))), "", text)
    assert not re.findall(TIME, text.replace("ten minutes", ""))


def test_what_is_said_to_be_in_memory_was(quotes):
    board = quotes.read()["2x7"]["programs"]
    assert (board["frontier"]["form"], board["from disk"]["form"]) == ("memory", "tasks")


@pytest.mark.sweep
def test_the_script_measures_and_writes(quotes, clone, monkeypatch, capsys):
    """A small board in place of those of the README."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    bench = script("bench")
    monkeypatch.setattr(bench.quotes, "write", partial(bench.quotes.write, root=clone))
    arguments = ["bench.py", "2x5", "--compare", "--write", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--scratch", str(clone / "scratch")])
    bench.main()
    old, new = quotes.read()["2x5"], quotes.read(clone / quotes.TIMINGS)["2x5"]
    assert new["states"] == old["states"]
    assert set(new["programs"]) == set(old["programs"])
    assert all(of["seconds"] > 0 and of["memory"] > 1e6 for of in new["programs"].values())
    took = f"{new['programs']['frontier']['seconds']:.2f} s"
    assert f"| 2×5 | 1,814,400 | {took}" in (clone / quotes.COMPARISON).read_text()
    assert "| 2×5 | 1,814,400 |" in capsys.readouterr().out
