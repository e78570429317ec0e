"""The commands as a user types them, in a process of their own where it matters."""

import errno
import io
import json
import os
import re
from functools import partial

import pytest
from click.testing import CliRunner

from frontier.api import start as start_runs
from frontier.cli import main
from frontier.layers.run import LayerRun
from frontier.runs.events import Stopping
from tests.support.commands import BY_TASKS, invoke, serial
from tests.support.run_files import read_sealed
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

# thesis tables 1.1; totals (mn)!/2
DEPTHS = {
    "2x2": (6, 12),
    "2x3": (21, 360),
    "2x4": (36, 20_160),
    "2x5": (55, 1_814_400),
    "3x3": (31, 181_440),
}
LINES = {(1, n): n - 1 for n in range(1, 10)} | {(2, 1): 1, (3, 1): 2, (4, 1): 3}


@swept("name", DEPTHS, few=[name for name in DEPTHS if name not in ("2x5", "3x3")])
def test_run_finds_the_depths(tmp_path, name):
    result = invoke("run", CONFIGS / f"{name}.toml", *serial(tmp_path), "--json")
    value = json.loads(result.stdout)
    assert (value["depth"], value["states"]) == DEPTHS[name]
    assert value["complete"] is True
    assert sum(value["layers"]) == value["states"]
    assert value == read_sealed(tmp_path / "run" / "summary.json")
    assert value["farthest"]["count"] == value["layers"][-1] == len(value["farthest"]["positions"])


@swept(("rows", "columns"), LINES, few=3)
def test_boards_of_one_line(tmp_path, rows, columns):
    size = "--set", f"puzzle.rows={rows}", "--set", f"puzzle.columns={columns}"
    result = invoke("run", CONFIGS / "2x2.toml", *serial(tmp_path), *size, "--json")
    value = json.loads(result.stdout)
    assert (value["depth"], value["states"]) == (LINES[rows, columns], rows * columns)


def test_run_says_that_no_move_is_possible(tmp_path):
    config = tmp_path / "alone.toml"
    config.write_text(
        'name = "alone"\n[puzzle]\nkind = "graph"\nadjacency = [[1], [0], []]\ngoal = "ab."\n'
    )
    result = invoke("run", config, *serial(tmp_path))
    assert "warning: no move is possible from depth 0" in result.stderr
    assert "states: 1\n" in result.stdout


def test_a_complete_run_is_not_searched_again(tmp_path):
    result = invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path))
    log = [
        json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    ]
    assert [line["event"] for line in log] == [
        "Started", "LayerFinished", *["LayerMade"] * 21, *["LayerFinished"] * 21, "Finished",
    ]  # fmt: skip
    assert set(log[1]) == {
        "time", "event", "depth", "states", "states_so_far", "form", "seconds", "elapsed", "disk",
        "written",
    }  # fmt: skip
    again = invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path))
    assert again.stdout == result.stdout
    assert again.stderr == "2x3 is already complete; nothing to do.\n"
    assert invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path), "--quiet").stderr == ""
    early = ("run", CONFIGS / "2x3.toml", *serial(tmp_path / "early"), "--until", "5")
    invoke(*early)
    assert invoke(*early).stderr == "2x3 is already at depth 5; nothing to do.\n"


@pytest.mark.parametrize("command", ["run", "gods-number"])
def test_quiet_shows_no_progress(tmp_path, command):
    loud, quiet = (
        invoke(command, CONFIGS / "2x3.toml", *serial(tmp_path / name), *more)
        for name, more in (("a", ()), ("b", ("--quiet",)))
    )
    header, *lines = loud.stderr.splitlines()
    assert re.match("2×3 tiles, .*, in .*/a/run", header)
    assert [line.split()[0] for line in lines].count("clock") == 1
    again = invoke(command, CONFIGS / "2x3.toml", *serial(tmp_path / "a"))
    assert re.fullmatch("2x3 (is|has) already .*; nothing to do.\n", again.stderr)
    assert again.stdout == loud.stdout
    assert quiet.stderr == ""
    first = loud.stdout.splitlines()[:2]
    assert quiet.stdout.splitlines()[:2] == first


@swept(
    ("typed", "program"),
    [("/usr/bin/frontier", "frontier"), ("/x/frontier/__main__.py", "python -m frontier")],
    few=1,
)
def test_hints_name_the_program_as_it_was_typed(tmp_path, monkeypatch, typed, program):
    monkeypatch.setattr("sys.argv", [typed, "run"])
    monkeypatch.chdir(tmp_path)
    config = CONFIGS / "2x3.toml"
    said = invoke("farthest", tmp_path / "mine.toml", code=2).stderr
    assert f"`{program} list`" in said
    invoke("run", config, *serial(tmp_path), "--until", "5")
    said = invoke("status", tmp_path / "run").stdout
    assert f"resume with: {program} run {tmp_path / 'run'}\n" in said
    invoke("gods-number", config, *serial(tmp_path), "--at-most", "20")
    beside = tmp_path / "run-gods-number"
    said = invoke("farthest", beside, code=2).stderr
    assert said.endswith(f"resume with: {program} gods-number {beside}\n")


@pytest.fixture
def read_only(monkeypatch):
    """Let nothing below a folder be written; permissions would not keep root from it."""
    opened, opened_by_system = io.open, os.open

    def begin(folder):
        def refuse(file, mode="r", *more, **options):
            if set(mode) & set("wax+") and str(file).startswith(str(folder)):
                raise PermissionError(30, "Read-only file system", str(file))
            return opened(file, mode, *more, **options)

        def refuse_by_system(file, flags, *more, **options):
            if flags & (os.O_WRONLY | os.O_RDWR) and str(file).startswith(str(folder)):
                raise PermissionError(30, "Read-only file system", str(file))
            return opened_by_system(file, flags, *more, **options)

        monkeypatch.setattr(io, "open", refuse)
        monkeypatch.setattr("builtins.open", refuse)
        monkeypatch.setattr(os, "open", refuse_by_system)

    return begin


def test_a_complete_run_is_repeated_where_nothing_can_be_written(tmp_path, read_only):
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path)
    first = invoke(*run)
    other = *run, "--set", "puzzle.columns=4"
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    read_only(tmp_path)
    again = invoke(*run)
    assert again.stdout == first.stdout
    assert "summary.json cannot be written (Read-only file system)" in again.stderr
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == files
    assert "puzzle.columns" in invoke(*other, code=2).stderr


def test_a_run_that_is_not_complete_needs_to_write(tmp_path, read_only):
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path)
    invoke(*run, "--until", "5")
    read_only(tmp_path)
    said = invoke(*run, code=3).stderr
    assert f"{tmp_path / 'run'} cannot be written (Read-only file system)" in said
    assert "resume with: python -m frontier run" in said
    assert "cannot be written (Read-only" in invoke("repair", tmp_path / "run", code=3).stderr
    assert "cannot be written (Read-only" in invoke(*run, "--fresh", "--yes", code=3).stderr


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_in_run(tmp_path):
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path)
    for function in ("api.start.start", "layers.search.LayerSearch.executor"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"frontier.{function}", interrupted)
            said = invoke(*run, code=3).stderr
        assert said.splitlines()[-1] == "frontier: interrupted before the run began"
    said = interrupted_after_commit(run)
    assert "interrupted; all layers on disk are kept; resume with: python -m frontier run" in said
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frontier.api.start.start", interrupted)
        assert "all layers on disk are kept; resume with" in invoke(*run, code=3).stderr
        assert "lost" not in invoke(*run, "--fresh", "--yes", code=3).stderr
    assert "states: 360" in invoke(*run).stdout


def test_a_stop_at_the_end_of_a_run_begins_no_other_one(tmp_path, monkeypatch):
    start = start_runs.start

    def interrupted_at_the_end(plan, until, listeners, *rest, **more):
        result = start(plan, until, listeners, *rest, **more)
        listeners[0](Stopping())
        return result

    monkeypatch.setattr("frontier.api.start.start", interrupted_at_the_end)
    run = "run", CONFIGS / "3x3-diameter.toml", *serial(tmp_path)
    said = invoke(*run, code=3).stderr
    assert "frontier: interrupted before 3x3-diameter-blank-0-1; resume with: python -m" in said
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["blank-0-0"]
    assert invoke("run", CONFIGS / "2x2.toml", *serial(tmp_path / "alone")).exit_code == 0


def test_a_stop_before_the_run_says_that_the_old_one_is_deleted(tmp_path):
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path)
    invoke(*run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frontier.layers.search.LayerSearch.executor", interrupted)
        said = invoke(*run, "--fresh", "--yes", code=3).stderr
    assert said.endswith("interrupted before the run began, and after the old one was deleted\n")


def test_a_directory_that_looks_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke("run", "2x3", "--out", "-dash", "--until", "3")
    said = invoke("status", "./-dash").stdout
    command = re.search("resume with: python -m frontier (.*)", said)[1]
    invoke(*command.split())


def test_a_run_resumes_by_its_directory_if_that_keeps_all_that_was_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words, again in (
        (("2x3",), "2x3"),
        (("2x3", "--workers", "1", "--out", "a"), "a"),
        (("2x3", "--set", "cluster.patience=5", "--out", "b"), "2x3 --set store.path=b"),
    ):
        said = interrupted_after_commit(("run", *words))
        assert f"resume with: python -m frontier run {again}" in said


def test_settings_of_a_run_directory_are_refused(tmp_path):
    invoke("run", CONFIGS / "2x2.toml", *serial(tmp_path))
    said = invoke("draw", tmp_path / "run", "--set", "search.spare=1", code=2).stderr
    assert said.endswith(" omit search.spare=1\n")


def interrupted_after_commit(run):
    """What `run` says when it is interrupted at once, with some layers committed."""
    commit = LayerRun.commit

    def commits(*arguments):
        commit(*arguments)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LayerRun, "commit", commits)
        return invoke(*run, code=3).stderr


@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_where_nothing_can_be_written_nothing_is_resumed(tmp_path, read_only, monkeypatch, call):
    """A directory cannot be made, or no file in it: there is no run, so none is kept or resumed."""
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path)
    if call == "mkdir":
        monkeypatch.setattr(os, "mkdir", partial(refuses, os.mkdir, tmp_path))
    else:
        read_only(tmp_path)
    said = invoke(*run, code=3).stderr
    assert "Read-only file system" in said
    assert "choose another" in said
    assert "lost" not in said
    assert "resume" not in said


def test_a_family_that_has_begun_is_resumed(tmp_path, monkeypatch):
    """Also where its second run has not."""
    run = "run", CONFIGS / "2x3.toml", *serial(tmp_path), "--set", "puzzle.blank=all"
    second = tmp_path / "run" / "blank-0-1"
    monkeypatch.setattr(os, "mkdir", partial(refuses, os.mkdir, second))
    assert "Nothing is lost; resume with" in invoke(*run, code=3).stderr


def refuses(made, folder, path, *arguments, **options):
    """Make a directory, unless it is below a folder that is mounted read-only."""
    if str(path).startswith(str(folder)):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
    made(path, *arguments, **options)


def test_what_the_system_refuses_is_no_bad_input(tmp_path, monkeypatch):
    """Wherever a run, an array or a report is to be made."""
    keep = "--set", "search.keep=all"
    run, kept = ("run", CONFIGS / "2x3.toml", *keep), tmp_path / "kept"
    invoke(*run, "--set", f"store.path={kept}")
    monkeypatch.setattr(os, "mkdir", partial(refuses, os.mkdir, tmp_path))
    asked = {
        "cannot be made there (Read-only file system)": (*run, *serial(tmp_path)),
        f"{tmp_path / 'new'} cannot be made": ("export", kept, tmp_path / "new" / "x"),
        f"{tmp_path / 'array'} cannot be written": ("export", kept, tmp_path / "array"),
    }
    for said, words in asked.items():
        assert said in invoke(*words, code=3).stderr


def test_status_and_farthest_by_directory_and_by_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "mine.toml"
    config.write_text((CONFIGS / "3x3.toml").read_text() + '[cluster]\nkind = "serial"\n')
    invoke("run", config, "--until", 20)
    for name in (config, "runs/3x3"):
        value = json.loads(invoke("status", name, "--json").stdout)
        assert (value["state"], value["depth"]) == ("stopped", 20)
        assert "depth: 20 " in invoke("status", name).stdout
        assert "known to depth 20" in invoke("farthest", name, code=2).stderr
    invoke("run", config)
    assert json.loads(invoke("status", config, "--json").stdout)["state"] == "complete"
    value = json.loads(invoke("farthest", "runs/3x3", "--json").stdout)
    # two positions need 31 moves from the blank in the corner (A. Reinefeld, IJCAI 1993)
    assert (value["depth"], value["count"]) == (31, 2)
    assert sorted(value["positions"]) == [
        [[8, 0, 6], [5, 4, 7], [2, 3, 1]],
        [[8, 7, 6], [0, 4, 1], [2, 5, 3]],
    ]
    text = invoke("farthest", config, "--limit", 1).stdout
    assert text.startswith("2 positions at depth 31")
    assert "1 more" in text


def test_farthest_reads_a_layer_of_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
    invoke("run", CONFIGS / "2x4.toml", *serial(tmp_path), *BY_TASKS)
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert ledger["layers"][-1]["form"] == "bits"
    assert json.loads(invoke("farthest", tmp_path / "run", "--json").stdout)["count"] == 1


def test_start_is_reported(tmp_path):
    start = "puzzle.start=[[3,2],[1,0]]"
    result = invoke("run", CONFIGS / "2x2.toml", *serial(tmp_path), "--set", start)
    assert "start: 6 moves" in result.stdout


def test_fresh_asks_first(tmp_path):
    config = CONFIGS / "2x2.toml", *serial(tmp_path)
    invoke("run", *config)
    before = (tmp_path / "run" / "run.json").read_text()
    declined = CliRunner().invoke(main, ["run", *map(str, config), "--fresh"], input="n\n")
    assert declined.exit_code != 0
    assert (tmp_path / "run" / "run.json").read_text() == before
    bad = invoke("run", *config, "--fresh", "--yes", "--set", "cluster.memory=1MB", code=2)
    assert "cluster.memory" in bad.stderr
    assert (tmp_path / "run" / "run.json").read_text() == before
    invoke("run", *config, "--fresh", "--yes")
    assert (tmp_path / "run" / "run.json").read_text() != before


def test_bad_input_changes_nothing(tmp_path):
    (tmp_path / "broken.toml").write_text("name = ")
    (tmp_path / "file").write_text("")
    good = CONFIGS / "2x3.toml"
    for arguments, word in [
        (["run", tmp_path / "none.toml"], "none.toml"),
        (["run", tmp_path / "broken.toml"], "TOML"),
        (["run", good, "--set", "puzzle.colums=3"], "columns"),
        (["run", good, "--set", "puzzle.rows=0"], "puzzle.rows"),
        (["run", good, "--set", "puzzle.goal=[[0,1,2],[3,5,5]]"], "0..5"),
        (["run", good, "--set", "puzzle.start=[[0,2,1],[3,4,5]]"], "parity"),
        (["run", good, "--set", "puzzle.rows=true"], "puzzle.rows"),
        (["run", good, "--set", "cluster.memory=1MB"], "at least"),
        (["run", good, "--set", "cluster.memory=0"], "at least"),
        (["run", good, "--set", f"store.path={tmp_path / 'file' / 'run'}"], "store.path"),
        (["run", good, "--set", "store.path=/proc/run"], "store.path"),
        (["status", tmp_path / "none"], "none"),
        (["status", tmp_path], "run.json"),
        (["farthest", tmp_path / "none.toml"], "none.toml"),
    ]:
        before = sorted(tmp_path.rglob("*"))
        message = invoke(*arguments, code=2).stderr
        assert message.startswith("frontier: ")
        assert word in message
        assert len(message.strip().splitlines()) == 1
        assert sorted(tmp_path.rglob("*")) == before


def test_corrupt_data_has_its_own_exit_code(tmp_path):
    invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path))
    (tmp_path / "run" / "ledger.json").write_text("{")
    assert "ledger.json" in invoke("status", tmp_path / "run", code=4).stderr


def test_help_teaches():
    assert "the same command resumes it" in " ".join(invoke("--help").stdout.split())
    for command in ("run", "status", "farthest"):
        assert command in invoke("--help").stdout
        assert "Usage" in invoke(command, "--help").stdout


def test_fresh_deletes_nothing_but_the_run(tmp_path):
    config = CONFIGS / "2x2.toml", *serial(tmp_path)
    invoke("run", *config)
    (tmp_path / "run" / "notes.txt").write_text("mine")
    assert "notes.txt" in invoke("run", *config, "--fresh", "--yes", code=2).stderr
    assert json.loads(invoke("status", tmp_path / "run", "--json").stdout)["state"] == "complete"
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_fresh_through_a_link(tmp_path):
    """The run that it leads to is begun anew, where it is."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path), "--until", 5)
    invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path), "--fresh", "--yes", "--until", 2)
    assert (tmp_path / "run").is_symlink()
    assert len(LayerRun.open(tmp_path / "disk").records) == 3


def test_configs_that_have_no_end(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    (tmp_path / "number.toml").write_text("a = " + "9" * 5000)
    (tmp_path / "large.toml").write_text("# " * (1 << 20))
    for name in ("pipe", "zero", "deep", "number", "large"):
        for command in ("run", "status", "plan", "solve"):
            said = invoke(command, tmp_path / f"{name}.toml", code=2).stderr
            assert f"{name}.toml" in said
    nowhere = "--set", 'store.path="x\\u0000y"'
    assert "NUL" in invoke("run", CONFIGS / "2x3.toml", *nowhere, code=2).stderr


@swept("name", ["events.jsonl", "summary.json", "environment.json"], few=1)
@pytest.mark.parametrize("kind", ["pipe", "link", "another name"])
def test_files_for_people_that_are_no_files_of_the_run(tmp_path, name, kind):
    """They make room, and what others have of them stays as it was."""
    invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path), "--until", 5)
    file, other = tmp_path / "run" / name, tmp_path / "other"
    other.write_bytes(file.read_bytes())
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(other)
    else:
        os.link(other, file)
    before = other.read_bytes()
    invoke("status", tmp_path / "run")
    invoke("run", CONFIGS / "2x3.toml", *serial(tmp_path))
    assert other.read_bytes() == before
    assert file.is_file()
    assert not file.is_symlink()
    assert file.stat().st_nlink == 1


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        ("goat", "goal='ahBB/bge./dkfa'", ["'a'", "two parts"]),
        ("goat", "alike=['hk', 'hf']", ["'h'", "named twice"]),
        ("goat", "alike=['hB']", ["'h' and 'B'", "form"]),
        ("goat", "start='ahBB/bze./dkfw'", ["puzzle.start", "'z'"]),
        ("goat", "metric='leap'", ["puzzle.metric", "'path'"]),
        ("hexagram", "goal='BBBBBBSSWWWWW'", ["2 blanks"]),
        ("hexagram", "start='WWWWWWXBBBBBB'", ["'X'"]),
        ("2x3", "start='0 2 1/3 4 5'", ["puzzle.start", "parity"]),
        ("2x3", "start='0 1/2 3'", ["puzzle.start", "2 rows of 3"]),
    ],
)
def test_puzzles_that_cannot_be(tmp_path, name, setting, words):
    settings = *serial(tmp_path), "--set", f"puzzle.{setting}"
    message = invoke("run", CONFIGS / f"{name}.toml", *settings, code=2).stderr
    assert all(word in message for word in words), message
    assert list(tmp_path.iterdir()) == []


@swept(
    ("config", "setting", "name"),
    [
        ("2x3", "search.keep=all", "depth (God's number from this goal)"),
        ("2x3", 'puzzle.goal="0 ? ?/3 4 5"', "depth of the last layer"),
        ("2x3", 'puzzle.goals=["0 1 2/3 4 5", "1 2 0/3 4 5"]', "depth of the last layer"),
        ("pattern-2x3-k2", "search.keep=all", "depth of the last layer"),
        ("rush-hour", "search.keep=all", "depth of the last layer"),
    ],
    few=4,
)
def test_what_has_no_gods_number(tmp_path, config, setting, name):
    where = "--set", f"store.path={tmp_path / 'run'}", "--set", "cluster.kind=serial"
    said = invoke("run", CONFIGS / f"{config}.toml", "--set", setting, *where).stdout
    assert f"\n  {name}: " in said
