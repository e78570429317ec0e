"""What the pages say is what the program does."""

import ast
import json
import re
from functools import cache
from math import factorial
from pathlib import Path

import pytest

import frontier
from frontier.layers.plan import MOST_STATES
from frontier.puzzles import KINDS, generators, graphs, patterns, tiles
from frontier.puzzles.board_shapes import MOST_SHAPES
from frontier.puzzles.part_goals import MOST_ORIGINS
from frontier.solving.oracle import MOST_COUNTED
from frontier.solving.paths import MOST_MOVES
from frontier.solving.pieces_kernel import MOST_DEPTH
from tests.support.sweeps import swept

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "puzzles.md"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SMALL, LARGE = 200_000, 240_000_000
"""Positions of what is searched here by default, and in a sweep; only the number of positions is
known without a search."""


def test_limits():
    limits = PAGE.read_text(encoding="utf-8").split("## Limits")[1].split("\n## ")[0]
    for said in (
        f"| `tiles` | {tiles.MOST_CELLS} cells |",
        f"| `graph` | {graphs.MOST_CELLS} cells |",
        f"| `permutations` | {generators.MOST_POSITIONS} positions, "
        f"{generators.MOST_ORIENTATIONS} orientations, {generators.MOST_GENERATORS} generators |",
        f"| `pattern` | {patterns.MOST_VERTICES:,} shapes, {patterns.MOST_LABELS} labelled tiles |",
        f"| every other kind | {MOST_SHAPES:,} shapes;",
        f"board of more than {MOST_SHAPES:,} shapes",
        f"{MOST_ORIGINS:,} positions at depth 0",
        f"state numbers of {MOST_STATES.bit_length() - 1} bits",
        f"at most {MOST_MOVES} moves",
        f"fewer than {MOST_DEPTH:,} moves",
        f"{MOST_COUNTED:,} positions",
    ):
        assert said in limits


README = (ROOT / "README.md").read_text(encoding="utf-8")


def numbers_in(row, text):
    """(name, *numbers) of each row of a table."""
    found = re.findall(row, text, re.MULTILINE)
    return [(name, *(int(n.replace(",", "")) for n in numbers)) for name, *numbers in found]


RESULTS = numbers_in(
    r"^\| <img .*> \| (\S+) \| [^|]+ \| ([\d,]+) \| (\d+) \| ([\d,]+) \|",
    (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8"),
)
"""(name of a config, states, depth, farthest positions)"""


@swept(
    ("name", "states", "depth", "farthest"),
    [result for result in RESULTS if result[1] <= LARGE],
    few=[result for result in RESULTS if result[1] <= 10_000],
)
def test_what_has_been_computed(tmp_path, name, states, depth, farthest):
    settings = (f"store.path={tmp_path / 'run'}", "cluster.kind=serial", "cluster.memory=2GB")
    config = frontier.load_config(ROOT / "configs" / f"{name}.toml", settings)
    found = frontier.run(frontier.plan(config))
    assert (found.states, found.depth, found.counts[-1]) == (states, depth, farthest)


@swept(
    ("name", "states"),
    [result[:2] for result in RESULTS],
    few=[result[:2] for result in RESULTS if result[0] != "honeycomb"],
)
def test_as_many_positions_as_the_list_says(name, states):
    config = frontier.load_config(ROOT / "configs" / f"{name}.toml")
    assert config.make_puzzle().model.states == states


def test_all_results_are_read():
    assert {"2x2", "2x7", "3x4", "goat", "hakoiri", "hexagram"} <= {name for name, *_ in RESULTS}


def test_the_readme_has_the_numbers_of_the_results():
    """Those of its runs, and those of boards from gods-numbers.json."""
    row = r"^\| \[[^]]+\]\(docs/results/(?!README)(\S+)\.md\) \| ([\d,]+) \| (\d+) \| ([\d,]+) \|$"
    runs = numbers_in(row, README)
    assert len(runs) == 5
    assert set(runs) <= set(RESULTS)
    file = ROOT / "docs" / "results" / "gods-numbers.json"
    known = {
        f"{of['rows']}×{of['columns']}": of
        for of in json.loads(file.read_text(encoding="utf-8"))
        if (of["metric"], of["blank"]) == ("step", [0, 0])
    }
    row = r"^\| \[(\d+×\d+)\]\(docs/results/README\.md\) \| ([\d,]+) \| ([\d … ]+) \| (\d*) ?\|$"
    boards = re.findall(row, README, re.MULTILINE)
    assert len(boards) == 5
    for name, positions, number, last in boards:
        of = known[name]
        assert positions == f"{factorial(of['rows'] * of['columns']) // 2:,}"
        assert number == " … ".join(map(str, sorted({of["lower"], of["upper"]})))
        assert last == "".join(map(str, of["last"][:1]))


# --- the house: docs/architecture.md


@cache
def modules():
    """Each module of the package by its path, but those that start a package or a program."""
    package = ROOT / "frontier"
    paths = (path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    return {path for path in paths if not path.endswith(("__init__.py", "__main__.py"))}


def test_each_module_says_what_it_is_for():
    """By its first sentence, which stands for it where modules are listed."""
    for path in modules():
        text = ast.get_docstring(ast.parse((ROOT / "frontier" / path).read_text()))
        assert text, path
        assert text.split("\n\n")[0].rstrip().endswith((".", ":")), path


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NEW = dict(re.findall(r"^### (.+)\n\n((?:[*| ].*\n)+)", CONTRIBUTING, re.MULTILINE))
"""What may be new, and the files that it concerns."""


@pytest.mark.parametrize(
    ("new", "folder", "names"),
    [
        ("A kind of puzzle", "puzzles", {kind.__name__ for kind in KINDS.values()}),
        ("A queue that dask-jobqueue knows", "clusters", {"slurm", "oar", "htcondor"}),
    ],
)
def test_a_new_thing_concerns_the_modules_that_ask_which_it_is(new, folder, names):
    """Those that compare classes, or have an entry for some."""
    for path in (ROOT / "frontier" / folder).glob("[!_]*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = {
            node
            for call in ast.walk(tree)
            if isinstance(call, ast.Dict)
            or (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "isinstance")
            for node in ast.walk(call)
        }
        found = {getattr(node, "id", None) or getattr(node, "value", None) for node in asked}
        assert not found & names or f"{folder}/{path.name}" in NEW[new]


def test_all_that_may_be_new_is_read():
    assert len(NEW) == CONTRIBUTING.count("\n### ")


@pytest.mark.parametrize("new", NEW)
def test_what_a_new_thing_concerns_is_there(new):
    for name in re.findall(r"`([\w./]+)`", NEW[new]):
        if "/" in name or name.endswith((".py", ".toml")):
            assert any((folder / name).exists() for folder in (ROOT, ROOT / "frontier")), name
        elif name.isupper():
            assert any(
                re.search(rf"^{name}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
                for path in [*ROOT.glob("frontier/**/*.py"), *ROOT.glob("tests/**/*.py")]
            ), name


def imported(path):
    """The modules of the package that a module imports, wherever in it, by their paths."""
    for node in ast.walk(ast.parse((ROOT / "frontier" / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        else:
            continue
        for name in names:
            file = "/".join(name.split(".")[1:]) + ".py"
            if name.startswith("frontier.") and file in modules():
                yield file


def test_imports_point_upwards():
    """As the page draws the house."""
    drawn = ARCHITECTURE.split("```text\nfrontier/\n")[1].split("```")[0].splitlines()
    line_of = {
        name: i for i, line in enumerate(drawn) for name in re.findall(r"\w+(?:/|\.py)", line)
    }

    def line(path):
        return line_of[path.split("/")[0] + "/" * ("/" in path)]

    downwards = {
        (path, other) for path in modules() for other in imported(path) if line(other) > line(path)
    }
    assert downwards == set()
