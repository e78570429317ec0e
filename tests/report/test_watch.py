"""A run that is followed from its files to its end."""

import io
import re
import shutil

import pytest
from making import invoke
from report.watching import CONFIGS, run, settings
from rich.console import Console

from frontier import api
from frontier.api_cosets import gods_number
from frontier.config import load_config
from frontier.errors import CorruptRunError, InputError
from frontier.report import displays
from frontier.runs.layer_run import LayerRun
from frontier.runs.progress import progress_of
from frontier.runs.resolve import resolve
from frontier.storage.lock import RunLock
from frontier.storage.places import storage_at
from frontier.text import size


def follow(paths, *steps):
    """Watch, and between two looks take a step."""
    displays.watch(lambda: list(map(storage_at, paths)), 0, taking(*steps))


def taking(*steps):
    """A function that takes the next step each time when it is called to wait."""
    todo = iter(steps)
    return lambda _: next(todo, pytest.fail)()


def test_a_run_is_followed_to_its_end(tmp_path, capsys):
    path = tmp_path / "run"
    run(path, until=5)
    follow([path], lambda: run(path, until=9), lambda: None, lambda: run(path))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"2×4 tiles, 20,160 states, in {path}"
    assert lines[1].split()[:4] == ["clock", "depth", "states", "total"]
    depths = [line.split()[1] for line in lines[2::2]]
    assert depths == ["5", "9", "36"]
    assert [line.split()[1] for line in lines[3::2]] == ["stopped", "stopped", "complete"]
    assert len(lines) == 8  # nothing changed at the look in between


def test_a_family_is_followed_to_its_end(tmp_path, capsys):
    config = CONFIGS / "3x3-diameter.toml"
    sets = [f"--set={s}" for s in settings(tmp_path / "run", "puzzle.rows=2", "puzzle.columns=3")]
    members = load_config(config, settings(tmp_path / "run", "puzzle.rows=2", "puzzle.columns=3"))
    first, second = members.members
    api.run(api.plan(first))
    said = invoke("status", tmp_path / "run").stdout
    assert "complete" in said.splitlines()[0]
    assert f"{second.path.name}: not begun" in said

    paths = resolve(str(tmp_path / "run")).places()
    assert paths == [first.storage, second.storage]
    follow(paths, lambda: invoke("run", config, *sets))
    said = capsys.readouterr().out
    for member in (first, second):
        assert re.search(rf"\n[\d:]+ +{member.path.name} +21 +1 +360 +100.00 ", said)
        assert f"{member.name}: complete\n" in said


def test_a_family_whose_directory_is_not_there_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "later"
    config = load_config(
        CONFIGS / "3x3-diameter.toml", settings(path, "puzzle.rows=2", "puzzle.columns=3")
    )
    first, second = config.members

    def half_made():
        first.path.mkdir(parents=True)
        (first.path / "lock").touch()

    def begin():
        api.run(api.plan(first))

    def end():
        api.run(api.plan(second))

    monkeypatch.setattr(displays.watch, "__defaults__", (taking(half_made, begin, end),))
    said = invoke("status", path, "--watch")
    assert said.stderr == f"waiting for a run in {path}\n"
    lines = said.stdout.splitlines()
    assert "later: not begun" in lines[0]
    known = [line for line in lines if not re.match(" *clock|[0-9:]+ ", line)]
    assert known[1].startswith(f"{first.name}: 2×3 tiles, 360 states, in ")
    assert known[2:4] == [f"{first.name}: complete", f"{second.path.name}: not begun"]
    assert known[4].startswith(f"{second.name}: 2×3 tiles, 360 states, in ")
    assert known[5] == f"{second.name}: complete"


def search(path):
    """A search for God's number beside the place of a run."""
    return gods_number(load_config(CONFIGS / "2x4.toml", settings(path)))


@pytest.mark.sweep
def test_a_search_that_begins_first_is_followed(tmp_path, monkeypatch):
    step = taking(lambda: search(tmp_path / "2x4"))
    monkeypatch.setattr(displays.watch, "__defaults__", (step,))
    config = tmp_path / "2x4.toml"
    text = (CONFIGS / "2x4.toml").read_text()
    config.write_text(f'{text}\n[store]\npath = "{tmp_path / "2x4"}"\n')
    first, *_, last = invoke("status", config, "--watch").stdout.splitlines()
    assert "not begun" in first
    assert "2x4-gods-number" in last
    assert not (tmp_path / "2x4").exists()


def test_a_run_that_begins_first_is_followed(tmp_path, capsys):
    """A search that begins later changes nothing."""
    path = tmp_path / "2x4"
    follow([path], lambda: run(path, until=5), lambda: search(path), lambda: run(path))
    lines = capsys.readouterr().out.splitlines()
    told = "not begun", "20,160 states", "clock", " 5 ", "depth 5 reached", " 36 ", "complete"
    assert len(lines) == len(told)
    assert all(text in line for text, line in zip(told, lines, strict=True))


def test_a_directory_that_is_not_there_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "later"
    monkeypatch.setattr(displays.watch, "__defaults__", (taking(lambda: run(path)),))
    said = invoke("status", path, "--watch")
    assert said.stderr == f"waiting for a run in {path}\n"
    first, *_ = said.stdout.splitlines()
    assert "later: not begun" in first
    assert re.search(r"\n[\d:]+ +36 +1 +20160 +100.00 .*\n2x4: complete\n", said.stdout)
    assert invoke("status", tmp_path / "never", code=2).stderr.startswith("frontier: ")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    assert "waiting" not in invoke("status", tmp_path / "other", "--watch", code=2).stderr
    assert "waiting" not in invoke("status", tmp_path / "no.toml", "--watch", code=2).stderr


def test_a_deleted_run_ends_the_watching(tmp_path):
    path = tmp_path / "run"
    run(path, until=5)
    with pytest.raises(InputError, match="gone: the run was deleted"):
        follow([path], lambda: shutil.rmtree(path))


def test_files_that_are_replaced_while_one_reads(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run"
    run(path, until=5)
    whole = LayerRun.open
    failures = iter([CorruptRunError("half"), InputError("not there"), None])

    def flaky(place):
        if error := next(failures, None):
            raise error
        return whole(place)

    monkeypatch.setattr(LayerRun, "open", flaky)
    monkeypatch.setattr(displays, "progress_of", lambda store: progress_of(store))
    follow([path], lambda: None, lambda: None, lambda: (monkeypatch.undo(), run(path)))
    assert "complete" in capsys.readouterr().out


def test_a_run_is_measured_once_its_files_are_those_that_stay(tmp_path, monkeypatch):
    """Its ledger says that it is complete before files that it does not need are deleted."""
    path = tmp_path / "run"
    run(path)
    writer, left = RunLock(path / "lock"), path / "layers" / f"part.{'0' * 32}.partial"
    left.write_bytes(bytes(13_000_000))
    writer.__enter__()
    steps = taking(lambda: None, lambda: (left.unlink(), writer.__exit__()))
    monkeypatch.setattr(displays.watch, "__defaults__", (steps,))
    said = invoke("status", path, "--watch").stdout
    assert not left.exists()
    assert f"on disk: {size(storage_at(path).size())} in " in said


def test_ctrl_c_ends_the_watching_well(tmp_path, monkeypatch):
    run(tmp_path / "run", until=5)

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(displays.watch, "__defaults__", (interrupted,))
    said = invoke("status", tmp_path / "run", "--watch").stdout
    assert re.search("2x4: stopped at .*: depth 5 reached, as requested\n$", said)


def test_following_in_a_terminal(tmp_path, monkeypatch):
    path = tmp_path / "run"
    run(path, until=30)
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="truecolor")
    monkeypatch.setattr(
        displays, "console_on", lambda file=None: console if file is None else Console(file=file)
    )
    follow([path], lambda: run(path))
    shown = console.file.getvalue()
    assert "2×4 tiles, stopped" in shown
    assert "2×4 tiles, complete" in shown
