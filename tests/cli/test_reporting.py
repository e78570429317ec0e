"""`report` as a user types it, and the files it writes."""

import csv
import io
import json
import os
import re
import shutil
import struct
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from frontier.layers.run import LayerRun
from frontier.layers.summary import summary
from frontier.report import formats
from frontier.report.formats import report_markdown, report_text
from frontier.report.statistics import Report, statistics_of
from frontier.report.tables import LAYER
from frontier.storage.lock import RunLock
from tests.support.commands import invoke
from tests.support.ledgers import add_states
from tests.support.run_files import write_sealed
from tests.support.temporary_runs import CONFIGS, made, write_ledger

HEADER = [heading for heading, _ in LAYER.values()]

FILES = {"html": "html", "chart": "png", "csv": "csv", "markdown": "md"}
"""What a report is written as, and the endings of such files."""


def targets_in(folder):
    """Options that ask for a file of each kind."""
    return [word for kind, end in FILES.items() for word in (f"--{kind}", folder / f"a.{end}")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of runs: complete, not complete, of another kind."""
    folder = tmp_path_factory.mktemp("runs")
    for name, until in (("2x3", None), ("2x2", None), ("hakoiri-exit", 12)):
        made(folder / name, name, until=until)
    return folder


def test_report_in_a_pipe(runs):
    said = invoke("report", runs / "2x3").stdout
    assert said.startswith("2×3 tiles, complete\n")
    assert "\x1b" not in said
    assert all(line == line.rstrip() for line in said.splitlines())
    layers = re.findall(r"^ +(\d+) +([\d,]+) +(?:< )?[\d.]+%", said, re.MULTILINE)
    counts = statistics_of(LayerRun.open(runs / "2x3")).counts
    assert [(int(depth), int(states)) for depth, states in layers] == list(enumerate(counts))
    for fact in ("21 moves", "360", "Farthest positions"):
        assert fact in said


@pytest.mark.parametrize("environment", [{"COLUMNS": "24"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_report_in_poor_terminals(runs, monkeypatch, environment):
    """Nothing is wider than the terminal, and there is no colour where there is to be none."""
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "80", **environment}.items():
        monkeypatch.setenv(name, value)
    for some in ((runs / "2x3",), (runs / "2x3", runs / "2x2")):
        said = invoke("report", *some).stdout
        plain = re.sub(r"\x1b\[[\d;]*m", "", said)
        most = int(environment.get("COLUMNS", 80))
        assert max(map(len, plain.splitlines())) <= most
        assert "360" in plain
        coloured = re.search(r"\x1b\[(\d+;)*3\d", said)
        assert bool(coloured) == ("COLUMNS" in environment and len(some) == 1)  # that of the board


@pytest.mark.parametrize(
    ("width", "columns"),
    [(100, [*HEADER, "log"]), (64, HEADER), (17, ["depth", "states"])],
)
def test_a_narrow_terminal_shows_fewer_columns(runs, width, columns):
    shown = io.StringIO()
    console = Console(file=shown, width=width, color_system=None)
    console.print(report_text(Report((statistics_of(LayerRun.open(runs / "2x3")),)), console))
    lines = shown.getvalue().splitlines()
    heading = lines[lines.index("Layers") + 1 if "Layers" in lines else -1]
    assert re.split(r"\s{2,}", heading.strip()) == list(columns)


def test_csv(runs, tmp_path):
    target = tmp_path / "layers.csv"
    assert invoke("report", runs / "2x3", "--csv", target).stderr == f"wrote {target}\n"
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    figures = statistics_of(LayerRun.open(runs / "2x3"))
    assert [int(row["depth"]) for row in rows] == list(range(22))
    assert sum(int(row["states"]) for row in rows) == 360 == int(rows[-1]["states_so_far"])
    assert abs(sum(float(row["share_of_all_states"]) for row in rows) - 1) < 1e-6
    assert float(rows[-1]["share_so_far"]) == 1
    assert rows[0]["growth_factor"] == ""
    for before, row in pairwise(rows):
        growth = int(row["states"]) / int(before["states"])
        assert float(row["growth_factor"]) == pytest.approx(growth)
    for row, layer in zip(rows, figures.layers, strict=True):
        spent = sum(float(row[f"seconds_{kind}"]) for kind in figures.spent)
        assert spent == pytest.approx(float(row["seconds"])) == pytest.approx(layer.seconds)
    assert sum(int(row["bytes_written"]) for row in rows) == figures.bytes


def test_csv_of_several(runs, tmp_path):
    """Tidy: a row for each run and depth."""
    invoke("report", runs / "2x3", runs / "2x2", "--csv", tmp_path / "both.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "both.csv").read_text())))
    assert list(rows[0])[:3] == ["run", "depth", "states"]
    for name, depth, states in (("2x3", 21, 360), ("2x2", 6, 12)):
        own = [row for row in rows if row["run"] == name]
        assert [int(row["depth"]) for row in own] == list(range(depth + 1))
        assert sum(int(row["states"]) for row in own) == states


COUNTS = 1, 2, 2, 2, 2, 2, 1
"""Of the 2×2 puzzle."""

PUBLISHED = {
    "lines": "".join(f"{depth}\t{count}  # so many\n\n" for depth, count in enumerate(COUNTS)),
    "b-file": "# A000000\n" + "".join(f"{n} {count}\n" for n, count in enumerate(COUNTS)),
    "CSV": "Depth,seconds,States\n" + "".join(f"{n},0.1,{of}\n" for n, of in enumerate(COUNTS)),
}


@pytest.mark.parametrize("form", PUBLISHED)
def test_a_published_table(runs, tmp_path, form):
    table = tmp_path / "table"
    table.write_text(PUBLISHED[form])
    said = invoke("report", runs / "2x2", "--expect", table).stdout
    assert said == f"{runs / '2x2'} agrees with {table} at all 7 depths\n"
    value = json.loads(invoke("report", runs / "2x2", "--expect", table, "--json").stdout)
    assert value["layers"] == list(COUNTS)
    said = invoke("report", runs / "2x3", "--expect", table, code=1).stderr
    assert said.splitlines()[:3] == [
        f"frontier: {runs / '2x3'} differs from {table}:",
        "  depth 2: 3 found, 2 expected; as a row: 2 3",
        "  depth 3: 5 found, 2 expected; as a row: 3 5",
    ]
    assert said.endswith("\n  … and 10 more depths\n")


def test_what_a_table_lacks_or_has_too_much_is_a_difference(runs, tmp_path):
    """But a run that is not complete is compared as far as it goes."""
    table = tmp_path / "table"
    for counts, said in (
        (COUNTS[:-1], "1 found, none expected"),
        ((*COUNTS, 5), "none found, 5 e"),
    ):
        table.write_text("".join(f"{depth} {count}\n" for depth, count in enumerate(counts)))
        assert said in invoke("report", runs / "2x2", "--expect", table, code=1).stderr
    part = tmp_path / "part"
    invoke("run", CONFIGS / "2x2.toml", "--out", part, "--until", 3)
    said = invoke("report", part, "--expect", table).stdout
    assert said.endswith("at all 4 depths; the run is not complete\n")
    pasted = tmp_path / "table.csv"
    pasted.write_text("depth,states\n0,1\n1,7\n")
    refused = invoke("report", part, "--expect", pasted, code=1).stderr.splitlines()[1]
    pasted.write_text("depth,states\n0,1\n" + refused.rpartition(": ")[2] + "\n2,2\n3,2\n")
    invoke("report", part, "--expect", pasted)
    table.write_text("0 1\n1 7\n")
    assert (
        "depth 1: 2 found, 7 expected" in invoke("report", part, "--expect", table, code=1).stderr
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no counts"),
        ("0 1\n1 two\n", "line 2: expected lines"),
        ("0 1\n0 1\n", "line 2: depth 0 is listed twice"),
        ("depth,number\n0,1\n", "has no column states"),
        (b"\xff", "line 1 is not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read(runs, tmp_path, text, why):
    table = tmp_path / "table"
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert why in invoke("report", runs / "2x2", "--expect", table, code=2).stderr
    two = invoke("report", runs / "2x2", runs / "2x3", "--expect", table, code=2)
    assert "--expect takes one run, not 2" in two.stderr


def test_markdown(runs, tmp_path):
    invoke("report", runs / "2x3", "--markdown", tmp_path / "one.md")
    text = (tmp_path / "one.md").read_text()
    assert text.startswith("# 2×3 tiles\n\nComplete.\n")
    counts = re.findall(r"^\| (\d+) \| ([\d,]+) \|", text, re.MULTILINE)
    assert sum(int(states) for _, states in counts) == 360
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1
    figures = statistics_of(LayerRun.open(runs / "2x3"))
    assert f"* `{figures.puzzle.line(figures.boards[0])}`" in text
    invoke("report", runs / "2x3", runs / "2x2", "--markdown", tmp_path / "two.md")
    text = (tmp_path / "two.md").read_text()
    assert "| puzzle | 2×3 tiles | 2×2 tiles |" in text
    assert "| 21 | 1 |  |" in text
    assert "Where the time in layers went:" in text
    configs = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert [tomllib.loads(config)["name"] for config in configs] == ["2x3", "2x2"]
    assert text.count("* processor: ") == 2


def test_a_table_on_standard_output(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in ("--csv", "--markdown"):
        invoke("report", runs / "2x3", option, "file")
        said = invoke("report", runs / "2x3", option, "-")
        assert (said.stdout, said.stderr) == (Path("file").read_text(), "")
        Path("file").unlink()
    assert list(tmp_path.iterdir()) == []
    assert "ends in" in invoke("report", runs / "2x3", "--chart", "-", code=2).stderr


@pytest.mark.sweep
@pytest.mark.parametrize("option", ["--chart", "--png"])
@pytest.mark.parametrize("names", [["2x3"], ["2x3", "2x2"]])
def test_a_chart_is_what_its_name_ends_in(runs, tmp_path, names, option):
    """A PNG has 16 cm at 200 dots an inch; --png is the option's name of old."""
    begins = {"png": b"\x89PNG\r\n", "pdf": b"%PDF-", "svg": b"<?xml"}
    for end, begin in begins.items():
        target = tmp_path / f"chart.{end}"
        invoke("report", *(runs / name for name in names), option, target)
        assert target.read_bytes().startswith(begin)
    assert struct.unpack(">I", (tmp_path / "chart.png").read_bytes()[16:20]) == (1260,)
    svg = (tmp_path / "chart.svg").read_text()
    assert re.search(r'<svg[^>]* width="453.6pt"', svg)


def test_all_files_that_an_option_names_are_written(runs, tmp_path):
    """By whichever of its names, and by any option that names files."""
    at, run, board = tmp_path.joinpath, runs / "2x3", "1 2 0/3 4 5"
    charts = "--chart", at("a.svg"), "--chart", at("b.svg"), "--png", at("c.png")
    invoke("report", run, *charts, "--csv", at("a.csv"), "--csv", at("b.csv"))
    invoke("layer", run, 21, "--csv", at("c.csv"), "--csv", at("d.csv"))
    invoke("draw", run, board, "--svg", at("c.svg"), "--svg", at("d.svg"))
    invoke("solve", CONFIGS / "2x3.toml", board, "--strip", at("e.svg"), "--strip", at("f.svg"))
    for one, other in ("a.svg", "b.svg"), ("c.svg", "d.svg"), ("e.svg", "f.svg"):
        assert at(one).read_bytes() == at(other).read_bytes(), one
    assert at("c.png").read_bytes().startswith(b"\x89PNG")
    assert at("a.csv").read_bytes() == at("b.csv").read_bytes() != at("c.csv").read_bytes()
    assert at("c.csv").read_bytes() == at("d.csv").read_bytes()
    twice = "--csv", at("e.csv"), "--csv", at("e.csv")
    assert "same file" in invoke("report", run, *twice, code=2).stderr
    assert not at("e.csv").exists()


@pytest.mark.parametrize("name", ["x.jpg", "x", "x.png.txt"])
def test_a_chart_of_another_kind_is_refused(runs, tmp_path, name):
    said = invoke("report", runs / "2x3", "--png", tmp_path / name, code=2).stderr
    assert name in said
    assert all(end in said for end in (".png", ".pdf", ".svg"))
    assert list(tmp_path.iterdir()) == []


def test_json(runs, tmp_path):
    value = json.loads(invoke("report", runs / "2x3", "--json", "--csv", tmp_path / "x").stdout)
    assert (value["depth"], value["states"], value["state"]) == (21, 360, "complete")
    assert sum(layer["states"] for layer in value["layer_statistics"]) == 360
    assert (tmp_path / "x").exists()
    common = {"name", "puzzle", "complete", "states", "depth", "layers", "seconds", "bytes_written"}
    others = (
        json.loads(invoke("status", runs / "2x3", "--json").stdout),
        summary(LayerRun.open(runs / "2x3")),
    )
    for other in others:
        assert {key: other[key] for key in common} == {key: value[key] for key in common}
    value = json.loads(invoke("report", runs / "2x3", runs / "2x2", "--json").stdout)
    assert [run["name"] for run in value["runs"]] == ["2x3", "2x2"]
    assert value["differences"] == []


def test_files_are_not_overwritten(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "old"
    old.write_text("mine")
    run = runs / "2x3"
    for arguments, words in (
        (("--html", "old"), ("--html old", "--force")),
        (("--csv", "new", "--markdown", "old"), ("--markdown old",)),
        (("--csv", "new.png", "--png", tmp_path / "new.png"), ("same file",)),
        (("--csv", "none/new"), ("no directory none",)),
        (("--csv", tmp_path), ("directory",)),
        (("--csv", run / "new"), ("run directory",)),
        (("--csv", run / "layers" / "new"), ("run directory",)),
    ):
        said = invoke("report", run, *arguments, code=2).stderr
        assert all(word in said for word in words), said
        assert [path.name for path in tmp_path.iterdir()] == ["old"]
        assert old.read_text() == "mine"
    invoke("report", run, "--csv", "old", "--force")
    assert old.read_text().startswith("depth,")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_links_are_followed_and_devices_left_alone(runs, tmp_path):
    """A file replaces another one; what is no file, such as a pipe, stays what it is."""
    os.mkfifo(tmp_path / "pipe")
    links = {
        "to_pipe": "pipe",
        "to_file": "file",
        "nowhere": "none/new",
        "to_run": runs / "2x3/new",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "file").write_text("mine")
    for name, words in (
        ("pipe", "regular file"), ("to_pipe", "regular file"), ("to_run", "run directory"),
        ("nowhere", f"no directory {tmp_path / 'none'}"),
    ):  # fmt: skip
        said = invoke("report", runs / "2x3", "--csv", tmp_path / name, "--force", code=2).stderr
        assert words in said
    both = "--csv", tmp_path / "file", "--markdown", tmp_path / "to_file"
    assert "same file" in invoke("report", runs / "2x3", *both, "--force", code=2).stderr
    assert "--force" in invoke("report", runs / "2x3", "--csv", both[-1], code=2).stderr
    assert (tmp_path / "file").read_text() == "mine"
    invoke("report", runs / "2x3", "--csv", both[-1], "--force")
    assert (tmp_path / "file").read_text().startswith("depth,")
    assert (tmp_path / "pipe").is_fifo()
    assert all((tmp_path / name).is_symlink() for name in links)


def test_a_file_that_cannot_be_written(runs, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("frontier.cli.files.FileWriter.write", full)
    said = invoke("report", runs / "2x3", "--csv", tmp_path / "new", code=3).stderr
    assert "No space left" in said
    assert not list(tmp_path.iterdir()), "what was written of it is removed"


@pytest.mark.sweep
def test_what_is_not_complete(runs, tmp_path):
    said = invoke("report", runs / "hakoiri-exit").stdout
    assert "not complete (stopped): known to depth 12, " in said.splitlines()[0]
    assert "They are in the last layer, but the run is not complete." in said
    with RunLock(runs / "hakoiri-exit" / "lock"):
        assert "(under way)" in invoke("report", runs / "hakoiri-exit").stdout.splitlines()[0]
    run = LayerRun.create(tmp_path / "empty", LayerRun.open(runs / "2x3").identity)
    targets = targets_in(tmp_path)
    invoke("report", run.path, *targets)
    assert "no layer is known yet" in (tmp_path / "a.html").read_text()
    assert "no layer is known yet" in invoke("report", run.path).stdout
    invoke("report", run.path, runs / "2x3", *targets, "--force")


def test_damaged_runs(tmp_path):
    run = made(tmp_path / "run", "2x3")
    part = next(path for path in run.layer_path(21).iterdir() if path.name != "zarr.json")
    content = part.read_bytes()
    part.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    targets = targets_in(tmp_path)
    said = invoke("report", run.path, *targets, code=4).stderr
    assert "0021" in said
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    identity = json.loads((run.path / "run.json").read_text())
    (run.path / "ledger.json").write_text("{")
    assert "ledger.json" in invoke("report", run.path, code=4).stderr
    identity.pop("digest")
    write_sealed(run.path / "run.json", {**identity, "format": 99})
    said = invoke("report", run.path, code=4).stderr
    assert "has format 99, and this program reads format 1" in said
    assert "repair" not in said


def test_a_directory_that_cannot_be_written(runs, monkeypatch):
    opened = io.open

    def read_only(file, mode="r", *more, **options):
        if set(mode) & set("wax+") and str(file).startswith(str(runs)):
            raise PermissionError(30, "Read-only file system", str(file))
        return opened(file, mode, *more, **options)

    monkeypatch.setattr(io, "open", read_only)
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("report makes a directory"))
    assert "12" in invoke("report", runs / "2x2").stdout


def test_a_report_changes_nothing(runs):
    def state():
        return {path: path.stat().st_mtime_ns for path in (runs / "2x3").rglob("*")}

    before = state()
    invoke("report", runs / "2x3", "--json")
    assert state() == before


@pytest.mark.sweep
def test_a_family_and_its_diameter(tmp_path):
    config = CONFIGS / "3x3-diameter.toml"
    where = "--set", f"store.path={tmp_path / 'family'}", "--set", "puzzle.rows=2"
    where += "--set", "puzzle.columns=3"
    invoke("run", config, *where)
    said = invoke("report", tmp_path / "family").stdout
    value = json.loads(invoke("report", tmp_path / "family", "--json").stdout)
    assert value["diameter"] == max(run["depth"] for run in value["runs"])
    assert f"diameter of the state graph: {value['diameter']}" in said
    invoke("report", tmp_path / "family", "--html", tmp_path / "family.html")
    assert f"graph: {value['diameter']}" in (tmp_path / "family.html").read_text()
    last = max((tmp_path / "family").iterdir())
    shutil.rmtree(last)
    said = invoke("report", tmp_path / "family").stdout
    assert "the diameter is not known" in said
    assert json.loads(invoke("report", tmp_path / "family", "--json").stdout)["diameter"] is None


def test_runs_of_several_puzzles_have_no_diameter(runs):
    """Nor have those that make no family, complete or not."""
    for named in ((runs,), (runs / "2x3", runs / "2x2"), (runs / "2x3",)):
        assert "diameter" not in invoke("report", *named).stdout
    assert "diameter" not in json.loads(invoke("report", runs, "--json").stdout)


def test_the_diameter_from_one_blank_cell(tmp_path):
    """All cells of 2x2 are alike; of 2x3 two kinds are needed, here named one by one."""
    for number, (name, blank) in enumerate((("2x2", "[0,0]"), ("2x3", "[0,0]"), ("2x3", "[0,1]"))):
        made(tmp_path / str(number), name, f"puzzle.blank={blank}")
    assert re.search(
        r"diameter of the state graph +6 moves", invoke("report", tmp_path / "0").stdout
    )
    assert json.loads(invoke("report", tmp_path / "0", "--json").stdout)["diameter"] == 6
    assert json.loads(invoke("report", tmp_path / "1", "--json").stdout)["diameter"] is None
    both = invoke("report", tmp_path / "1", tmp_path / "2").stdout
    assert "diameter of the state graph: 21, with the blank at (0, 0), (0, 1)" in both
    shutil.copytree(tmp_path / "1", tmp_path / "copy")
    twice = invoke("report", tmp_path / "1", tmp_path / "copy").stdout
    assert "the diameter is not known" in twice


def test_a_run_is_not_compared_with_itself(runs, tmp_path):
    (tmp_path / "link").symlink_to(runs / "2x3")
    for other in (runs / "2x3", runs / "2x2" / ".." / "2x3", tmp_path / "link", runs):
        said = invoke("report", runs / "2x3", other, "--csv", tmp_path / "new", code=2).stderr
        assert "named twice" in said
    assert not (tmp_path / "new").exists()


@pytest.mark.sweep
def test_contradictions_are_loud(runs, tmp_path):
    wrong = made(tmp_path / "2x3", "2x3", until=9)
    add_states(wrong, 4, 1)
    write_ledger(wrong)
    result = invoke("report", runs / "2x3", wrong.path)
    assert "at depth 4" in result.stderr
    assert "at least one of them is wrong" in " ".join(result.stdout.split())
    page = tmp_path / "both.html"
    invoke("report", runs / "2x3", wrong.path, "--html", page)
    assert "at depth 4" in re.search(r'<p class="alarm" role="alert">(.*)</p>', page.read_text())[1]
    stores = [LayerRun.open(path) for path in (runs / "2x3", runs / "2x3")]
    agree = Report(tuple(map(statistics_of, stores)), ("a", "b"))
    assert agree.differences == []


def test_markdown_passes_no_html_through(runs):
    """What was written by others, such as a name or a processor, stays text."""
    figures = statistics_of(LayerRun.open(runs / "2x3"))
    evil = "<img src=x onerror=alert(1)>&amp;|<!--"
    start = {**figures.starts[-1], "processor": evil, "platform": evil, "python": evil}
    start["config"] = {**start["config"], "puzzle": {"kind": "tiles", "x": f"```\n{evil}\n````\n"}}
    run = replace(figures, name=evil, starts=(start,))
    for text in map(report_markdown, (Report((run,)), Report((run, figures), ("a", "b")))):
        html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
        assert set(re.findall(r"<(\w+)", html)) <= {
            "h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre",
            "code", "strong",
        }  # fmt: skip
        assert "<!--" not in html
        assert html.count("alert(1)") >= 4
        assert "&amp;amp;" in html


@pytest.mark.parametrize(
    ("said", "code"),
    [("a b", "`a b`"), ("a`b", "``a`b``"), ("``a`", "``` ``a` ```")],
)
def test_code_spans_hold_backticks(said, code):
    assert formats._code(said) == code


def test_json_and_a_table_do_not_share_standard_output(tmp_path):
    path = made(tmp_path / "2x2", "2x2").path
    said = invoke("report", path, "--bfile", "-", "--json", code=2).stderr
    assert "--bfile -: --json uses standard output; name a file" in said
