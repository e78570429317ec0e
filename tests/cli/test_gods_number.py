"""`gods-number` as a user types it, and what other commands say of what it has found."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from frontier.cosets import regions
from tests.support import commands
from tests.support.run_files import copied
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS


def invoke(*arguments, code=0, command="gods-number"):
    return commands.invoke(command, *arguments, code=code)


def at(path):
    return "--set", f"store.path={path / 'run'}"


@swept(
    ("name", "depth", "counts", "row"),
    [("2x4", 36, (1, 7), "│ 3 │ 2 │ 5 │ 4 │"), ("2x5", 55, (2, 20), "│ 4 │ 8 │ 2 │ 6 │ 5 │")],
    few=1,
)
def test_gods_number_and_the_last_layers(tmp_path, name, depth, counts, row):
    config = CONFIGS / f"{name}.toml"
    said = invoke(config, *at(tmp_path), "--layers", "2")
    assert f"God's number: {depth}\n" in said.stdout
    for below, count in enumerate(counts):
        assert f"{count} position{'s' * (count > 1)} at depth {depth - below}\n" in said.stdout
    assert row in said.stdout, "the farthest are drawn"
    rows = r"\n# Question .*\n +clock +lower +upper +question .*\n[\d:]+ +\d+ +\d+ "
    assert re.search(rows, said.stderr)
    ledger = tmp_path / "run-gods-number" / "ledger.json"
    answered = ledger.read_bytes()
    again = invoke(config, *at(tmp_path), "--layers", "2")
    assert again.stdout == said.stdout
    assert ledger.read_bytes() == answered, "nothing is asked twice"
    assert again.stderr == f"{name} has already been searched; nothing to do.\n"


@pytest.mark.sweep
@pytest.mark.parametrize(("at_most", "answer"), [(54, "no"), (55, "yes")])
def test_one_bound(tmp_path, at_most, answer):
    said = invoke(CONFIGS / "2x5.toml", *at(tmp_path), "--at-most", str(at_most)).stdout
    assert f"all positions take at most {at_most} moves: {answer}\n" in said


def a_search(path):
    """The directory of a search, and what begins it."""
    words = CONFIGS / "2x3.toml", *at(path), "--set", "cluster.kind=serial"
    invoke(*words)
    return path / "run-gods-number", words


def test_what_kills_have_left_is_deleted(tmp_path):
    path, words = a_search(tmp_path)
    for name in ("ledger.json", "tables/a.npy"):
        (path / f"{name}.{32 * 'a'}.partial").touch()
    (path / "tables" / "mine.partial").touch()
    invoke(*words)
    assert [file.name for file in path.rglob("*.partial")] == ["mine.partial"]


def test_a_pipe_in_the_place_of_a_table_is_not_waited_for(tmp_path):
    path, words = a_search(tmp_path)
    table = next((path / "tables").glob("*.npy"))
    table.unlink()
    os.mkfifo(table)
    for command in ("gods-number", "verify"):
        more = [*words, "--layers", "5"] if command == "gods-number" else [path]
        said = invoke(*more, command=command, code=4).output
        assert f"{table} is a named pipe, not a file" in said


@pytest.mark.sweep
def test_json_and_the_summary(tmp_path):
    value = json.loads(invoke(CONFIGS / "3x3.toml", *at(tmp_path), "--json").stdout)
    assert (value["known"], value["lower"], value["upper"]) == (True, 31, 31)
    (last, *_) = value["layers"]
    assert (last["depth"], last["count"], len(last["positions"])) == (31, 2, 2)
    assert sum(question["searched"] for question in value["questions"]) > 1
    summary = json.loads((tmp_path / "run-gods-number" / "summary.json").read_text())
    assert {key: summary[key] for key in value} == value


def test_a_plan_makes_nothing(tmp_path):
    said = invoke(CONFIGS / "2x8.toml", *at(tmp_path), "--plan", "-v").stdout
    assert "region 2x5: 1,814,400 boards; 6 labelled tiles outside it, 57,657,600 patterns" in said
    value = json.loads(invoke(CONFIGS / "2x8.toml", *at(tmp_path), "--plan", "--json").stdout)
    assert value["region"] == "2x5"
    assert value["bytes"] > value["patterns"] + value["boards"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sweep
def test_a_search_in_a_bucket_and_its_copies(tmp_path, memory_bucket):
    """Copied there and back; each goes on where the first one was."""
    words = CONFIGS / "2x4.toml", "--set", f"store.path={memory_bucket}/run"
    said = invoke(*words, "--at-most", "36", "--hours", "1e-9").stdout
    assert "36 moves: not known yet" in said
    search = memory_bucket.below("run-gods-number")
    copied(search, tmp_path / "run-gods-number")
    copied(tmp_path / "run-gods-number", memory_bucket.below("copy"))
    for place in (search, tmp_path / "run-gods-number", memory_bucket.below("copy")):
        assert "no faults" in invoke(place, command="verify").stdout
    assert "God's number: 36\n" in invoke(*words).stdout
    assert "God's number: 36\n" in invoke(CONFIGS / "2x4.toml", *at(tmp_path)).stdout
    assert "no faults" in invoke(search, "--deep", command="verify").stdout
    (tmp_path / "run-gods-number" / "tables" / "boards.npy").write_bytes(b"damaged")
    said = invoke(tmp_path / "run-gods-number", "--deep", command="verify", code=4).output
    assert "boards.npy is corrupt" in said
    assert "repair" in said


def test_a_run_and_a_search_of_one_config_stand_side_by_side(tmp_path):
    invoke(CONFIGS / "2x3.toml", *at(tmp_path))
    assert (
        "depth (God's number from this goal): 21"
        in invoke(CONFIGS / "2x3.toml", *at(tmp_path), command="run").stdout
    )


def test_ctrl_c_while_tables_are_made(tmp_path, monkeypatch):
    """The table under way is made and kept, and no other is begun."""
    whole, made = regions.distance_table, []

    def interrupted(*arguments):
        made.append(1)
        signal.raise_signal(signal.SIGINT)
        return whole(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(regions, "distance_table", interrupted)
        said = invoke(CONFIGS / "2x4.toml", *at(tmp_path), code=3).stderr
    assert said.count("Press Ctrl-C again to stop now; unfinished tasks will be redone.") == 1
    assert "Nothing is lost; resume with" in said
    assert len(made) == 1
    assert "God's number: 36\n" in invoke(CONFIGS / "2x4.toml", *at(tmp_path)).stdout


@pytest.mark.parametrize("hours", ["nan", "inf", "-1", "0"])
def test_hours_that_are_none(tmp_path, hours):
    assert "hours" in invoke(CONFIGS / "2x4.toml", *at(tmp_path), "--hours", hours, code=2).stderr
    assert not (tmp_path / "run-gods-number").exists()


def test_a_second_ctrl_c_leaves_tables_under_way(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("frontier.cosets.regions.distance_table", interrupted)
        said = invoke(CONFIGS / "2x4.toml", *at(tmp_path), code=3).stderr
    assert "frontier: interrupted. Nothing is lost; resume with" in said
    assert "God's number: 36\n" in invoke(CONFIGS / "2x4.toml", *at(tmp_path)).stdout


@pytest.mark.sweep
def test_ctrl_c_stops_and_the_same_command_goes_on(tmp_path):
    command = [
        sys.executable, "-m", "frontier", "gods-number", str(CONFIGS / "2x6.toml"), *at(tmp_path),
        "--layers", "9", "--set", "cluster.workers=1",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    for line in process.stderr:
        if re.match(r"[\d:]+ +\d+ +\d+ +>\d+ ", line):
            process.send_signal(signal.SIGINT)
            break
    _, said = process.communicate()
    assert process.returncode == 3
    assert said.count("Press Ctrl-C again to stop now; unfinished tasks will be redone.") == 1
    resume = re.search(r"Nothing is lost; resume with: python -m (.*)", said)[1]
    assert resume.startswith("frontier gods-number")
    assert "--layers 9" in resume
    stopped = invoke(tmp_path / "run-gods-number", command="status").stdout
    assert re.search("stopped at .*: interrupted", stopped)
    assert "resume with: python -m frontier gods-number" in stopped
    made = invoke(CONFIGS / "2x6.toml", *at(tmp_path)).stdout
    assert "God's number: 80\n" in made
