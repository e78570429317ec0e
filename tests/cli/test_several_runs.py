"""`run` with several configs or run directories."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from frontier.api import start as start_runs
from frontier.runs.events import Stopping
from tests.support.commands import invoke

HERE = "--set", "cluster.kind=serial"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def depths(said):
    return [(run["name"], run["depth"], run["complete"]) for run in json.loads(said)["runs"]]


def test_each_is_searched_and_summarized_in_the_order_given():
    said = invoke("run", "2x3", "2x2", *HERE).stdout
    assert re.findall("^2×. tiles|^  states: .*", said, re.MULTILINE) == [
        "2×3 tiles", "  states: 360", "2×2 tiles", "  states: 12",
    ]  # fmt: skip
    again = invoke("run", "runs/2x2", "2x3", *HERE, "--json")
    assert depths(again.stdout) == [("2x2", 6, True), ("2x3", 21, True)]
    assert again.stderr.count("is already complete; nothing to do.") == 2


def test_a_family_is_one_of_several():
    values = json.loads(
        invoke("run", "2x2", "2x3", *HERE, "--set", "puzzle.blank=all", "--json").stdout
    )["runs"]
    assert [(value["diameter"], len(value["runs"])) for value in values] == [(6, 1), (21, 2)]


def test_options_apply_to_each():
    first = invoke("run", "2x2", "2x3", *HERE, "--until", 4, "--json").stdout
    assert depths(first) == [("2x2", 4, False), ("2x3", 4, False)]
    before = [Path(f"runs/{name}/run.json").read_text() for name in ("2x2", "2x3")]
    fresh = invoke("run", "2x2", "2x3", *HERE, "--until", 5, "--fresh", "--yes", "--json").stdout
    assert depths(fresh) == [("2x2", 5, False), ("2x3", 5, False)]
    after = [Path(f"runs/{name}/run.json").read_text() for name in ("2x2", "2x3")]
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_fresh_asks_for_all_before_it_deletes_one():
    invoke("run", "2x2", "2x3", *HERE)
    before = Path("runs/2x2/run.json").read_text()
    said = invoke("run", "2x2", "2x3", *HERE, "--fresh", code=2, input="y\nn\n").stderr
    assert "2x3 was not deleted" in said
    assert Path("runs/2x2/run.json").read_text() == before
    invoke("run", "2x2", "2x3", *HERE, "--fresh", input="y\ny\n")
    assert Path("runs/2x2/run.json").read_text() != before


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["zzz"], "zzz"),
        (["2x8", "--memory", "2GB"], "2x8 was not started"),
        (["2x3", "--out", "here"], "2x2 and 2x3 have the same run directory"),
        (["./2x2.toml"], "2x2 and ./2x2.toml have the same run directory"),
        (
            ["2x3", "--set", "cluster.kind=slurm-runner", "--set", "cluster.options.interface=lo"],
            "searches only one config",
        ),
    ],
)
def test_a_refusal_is_found_before_the_first_starts(known_rates, words, refused):
    if "./2x2.toml" in words:
        Path("2x2.toml").write_text(
            'name = "2x2"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 2\n'
        )
    assert refused in invoke("run", "2x2", *HERE, *words, code=2).stderr
    assert not {"runs", "here"} & set(os.listdir())


def test_a_run_of_another_puzzle_is_found_before_the_first_starts():
    invoke("run", "2x3", *HERE, "--until", 3)
    invoke("run", "2x2", "2x3", *HERE, "--keep-all", code=2)
    assert os.listdir("runs") == ["2x3"]


@pytest.mark.usefixtures("known_rates")
def test_a_dry_run_plans_each():
    values = json.loads(invoke("run", "2x2", "2x3", *HERE, "--dry-run", "--json").stdout)["runs"]
    assert [value["name"] for value in values] == ["2x2", "2x3"]
    assert not Path("runs").exists()


def test_an_interrupt_between_two_runs_names_the_command_that_resumes(monkeypatch):
    plan = start_runs.plan

    def interrupted(member, fresh, until):
        if Path("runs/2x2").exists():
            raise KeyboardInterrupt
        return plan(member, fresh, until)

    monkeypatch.setattr("frontier.api.start.plan", interrupted)
    said = invoke("run", "2x2", "2x3", *HERE, code=3).stderr
    assert "interrupted before 2x3; resume with: python -m frontier run 2x2 2x3 --set" in said


def test_a_stop_ends_all_and_names_the_command_that_resumes(monkeypatch):
    start = start_runs.start

    def stopped_at_the_end(plan, until, listeners, *rest, **more):
        result = start(plan, until, listeners, *rest, **more)
        listeners[0](Stopping())
        return result

    with monkeypatch.context() as patch:
        patch.setattr("frontier.api.start.start", stopped_at_the_end)
        said = invoke("run", "2x2", "2x3", *HERE, "--until", "9", code=3).stderr
    assert os.listdir("runs") == ["2x2"]
    assert "interrupted before 2x3; resume with: " in said
    command = shlex.split(re.search("resume with: python -m frontier (.*)", said)[1])
    assert command == ["run", "2x2", "2x3", *HERE, "--until", "9"]
    assert depths(invoke(*command, "--json").stdout) == [("2x2", 6, True), ("2x3", 9, False)]
