"""`plan` as a user types it: what it says, what it refuses, and that it leaves nothing behind."""

import dataclasses
import json
import re

import pytest

from frontier import machine
from frontier.api import runs as api
from frontier.config.loading import Config, load_config
from frontier.cosets.resources import plan_cosets
from frontier.layers import plan as planning
from frontier.layers.forecast import described_cluster, disk_warning, forecast_of
from frontier.report.plan_report import describe_plan, plan_value
from frontier.storage.bucket import TRANSFER_BYTES
from frontier.storage.local import LocalStorage
from frontier.text import size
from tests.support import commands
from tests.support.commands import BY_TASKS
from tests.support.temporary_runs import CONFIGS


def invoke(*arguments, code=0):
    return commands.invoke("plan", *arguments, code=code)


def at(path, kind="serial"):
    return "--set", f"store.path={path}", "--set", f"cluster.kind={kind}"


@pytest.mark.sweep
def test_a_plan_is_measured_and_leaves_nothing(tmp_path):
    value = json.loads(invoke(CONFIGS / "2x6.toml", *at(tmp_path / "a" / "run"), "--json").stdout)
    assert (value["states_of_the_puzzle"], value["states"]) == (239_500_800, 0)
    assert value["puzzle"] == {"title": "2×6 tiles", "kind": "tiles", "rows": 2, "columns": 6} | {
        "metric": "step"
    }
    assert value["forecast"]["base_graph"] == {"vertices": 12, "arcs": 32}
    assert value["forecast"]["form"] == "memory"
    assert value["forecast"]["disk"]["free"] > 0
    assert 0 < value["forecast"]["seconds"]["least"] < value["forecast"]["seconds"]["most"]
    assert all(rate > 0 for rate in value["forecast"]["rates"].values())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("known_rates")
def test_one_is_said_as_one(tmp_path):
    said = invoke(CONFIGS / "topspin-9.toml", "-v", *at(tmp_path / "run"))
    assert "1 vertex, 3 arcs" in said.stdout
    assert said.stderr == ""


@pytest.mark.usefixtures("known_rates")
def test_details_are_for_those_who_ask(tmp_path, monkeypatch):
    monkeypatch.setattr(LocalStorage, "free", lambda storage: 10**12)  # others write meanwhile
    words = CONFIGS / "2x7.toml", *at(tmp_path / "run")
    short, long = (invoke(*words, *more).stdout for more in ((), ("-v",)))
    first, *lines = short.splitlines()
    assert first == "2×7 tiles"
    assert [line.split()[0] for line in lines] == ["states", "memory", "disk", "time"]
    said = long.splitlines()
    assert said[: len(lines)] == [first, *lines[:-1]]  # the time is tried again
    assert said[len(lines)].startswith("  time ")
    assert not re.search("slab|vert|arc| ns ", short)
    assert all(re.search(word, long) for word in ("slabs", "vertices", " ns "))


@pytest.mark.sweep
def test_a_plan_by_tasks(tmp_path):
    result = invoke(CONFIGS / "2x5.toml", "-v", *at(tmp_path / "run", "local"), *BY_TASKS)
    assert "1 task a layer" in result.stdout
    assert "1,814,400, depth 55\n" in result.stdout
    assert re.search(r"  time +0 to 1\d s\n", result.stdout)
    assert re.search(r"disk +\d", result.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sweep
@pytest.mark.usefixtures("known_rates")
@pytest.mark.parametrize(
    ("name", "depth"), [("2x8", "140"), ("3x5", "84"), ("4x4", "80"), ("2x9", "176")]
)
def test_large_puzzles(tmp_path, name, depth):
    path = tmp_path / "run"
    text = invoke(CONFIGS / f"{name}.toml", "-v", *at(path), "--workers", 1000).stdout
    assert f", depth {depth}\n" in text
    assert "1,000 workers" in text
    assert "without the time of the scheduler" in text
    value = json.loads(
        invoke(CONFIGS / f"{name}.toml", *at(path), "--workers", 1000, "--json").stdout
    )
    assert value["forecast"]["form"] == "tasks"
    assert value["forecast"]["memory"]["needed"] <= value["forecast"]["memory"]["given"]
    layout = value["forecast"]["layout"]
    raw = layout["tasks"] * layout["part_bytes"]
    assert raw >= value["forecast"]["fullest_layer"]["raw"]
    assert not path.exists()


@pytest.mark.sweep
@pytest.mark.usefixtures("known_rates")
def test_what_takes_long_or_does_not_fit_has_what_gods_number_needs_beside_it(
    tmp_path, monkeypatch
):
    def forecast_in(*words):
        return json.loads(invoke(*words, *at(tmp_path), "--json").stdout)["forecast"]

    large, other = CONFIGS / "2x8.toml", tmp_path / "large.toml"
    monkeypatch.setattr(machine, "memory", lambda: 24 * 10**9)
    need, cosets = forecast_in(large)["gods_number"], plan_cosets(load_config(large))
    assert need == {
        "region": cosets.region.name, "bytes": cosets.bytes, "bytes_here": cosets.room,
        "fits": True,
    }  # fmt: skip
    line = "finds God's number, or bounds, without visiting every position, with about "
    line += size(need["bytes"])
    assert line in invoke(large, *at(tmp_path)).stdout
    assert forecast_in(CONFIGS / "2x5.toml")["gods_number"] is None
    assert "gods-number" not in invoke(CONFIGS / "2x5.toml", *at(tmp_path)).stdout
    small = "--set", "cluster.memory=1MB"
    assert line in invoke(large, *at(tmp_path), *small, code=2).stderr
    other.write_text('name = "large"\n[puzzle]\nkind = "pattern"\nrows = 2\ncolumns = 8\nk = 5\n')
    assert forecast_in(other)["gods_number"] is None
    said = invoke(other, *at(tmp_path), *small, code=2).stderr
    assert "is too little" in said
    assert "gods-number" not in said
    monkeypatch.setattr(machine, "memory", lambda: 10**8)
    assert not forecast_in(large, "--workers", 100)["gods_number"]["fits"]
    assert "may be used here" in invoke(large, *at(tmp_path), "--workers", 100).stdout


@pytest.mark.usefixtures("known_rates")
def test_a_run_that_exists_is_known_and_kept(tmp_path):
    config = load_config(
        CONFIGS / "2x6.toml", (f"store.path={tmp_path / 'run'}", "cluster.kind=serial")
    )
    api.run(api.plan(config), until=34)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    words = CONFIGS / "2x6.toml", *at(tmp_path / "run")
    value = json.loads(invoke(*words, "--json").stdout)
    assert len(value["layers"]) == value["forecast"]["layers"]["known"] == 35
    # The config that comes with the program gives the depth; one with another goal has none.
    assert value["forecast"]["layers"]["depth_is_known"]
    assert value["forecast"]["layers"]["depth"] == 80
    other_goal = "puzzle.goal=[[1,2,3,4,5,6],[7,8,9,10,11,0]]"
    unknown = CONFIGS / "2x6.toml", *at(tmp_path / "none"), "--set", other_goal
    assert "depth unknown, perhaps" in invoke(*unknown).stdout
    assert "for the layers after depth 34\n" in invoke(*words).stdout
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    other = invoke(*words, "--set", "puzzle.goal=[[1,2,3,4,5,6],[7,8,9,10,11,0]]", code=2)
    assert "was made by a different config" in other.stderr


@pytest.mark.usefixtures("known_rates")
def test_the_plan_of_a_complete_run_says_what_such_a_run_takes(tmp_path):
    config = load_config(
        CONFIGS / "2x4.toml", (f"store.path={tmp_path / 'run'}", "cluster.kind=serial")
    )
    words = CONFIGS / "2x4.toml", *at(tmp_path / "run")
    before = json.loads(invoke(*words, "--json").stdout)
    api.run(api.plan(config))
    after = json.loads(invoke(*words, "--json").stdout)
    assert after["forecast"]["seconds"] == before["forecast"]["seconds"]
    assert after["forecast"]["disk"]["peak"] == before["forecast"]["disk"]["peak"] > 0
    assert len(after["layers"]) == 37
    status = json.loads(commands.invoke("status", tmp_path / "run", "--json").stdout)
    shared = before.keys() - {"forecast"}
    assert {key: after[key] for key in shared} == {key: status[key] for key in shared}
    assert "for the whole run, which is complete\n" in invoke(*words).stdout
    by_directory = json.loads(invoke(tmp_path / "run", "--json").stdout)
    assert by_directory["layers"] == after["layers"]


@pytest.mark.usefixtures("known_rates")
@pytest.mark.parametrize("goal", ["A#./BC#", "AB/CD", "."])
def test_a_puzzle_without_a_move(tmp_path, goal):
    config = tmp_path / "alone.toml"
    config.write_text(f'name = "alone"\n[puzzle]\nkind = "blocks"\ngoal = "{goal}"\n')
    made = json.loads(invoke(config, *at(tmp_path / "run"), "--json").stdout)
    assert made["states_of_the_puzzle"] == 1
    assert "no move is possible" in made["forecast"]["warnings"][0]


@pytest.mark.usefixtures("known_rates")
def test_a_family_is_planned_member_by_member(tmp_path):
    words = CONFIGS / "3x3-diameter.toml", *at(tmp_path / "run")
    members = json.loads(invoke(*words, "--json").stdout)["runs"]
    assert [member["name"] for member in members] == [
        "3x3-diameter-blank-0-0", "3x3-diameter-blank-0-1", "3x3-diameter-blank-1-1",
    ]  # fmt: skip
    assert invoke(*words).stdout.count("181,440") == 3


@pytest.mark.sweep
@pytest.mark.usefixtures("known_rates")
def test_warnings_say_what_is_short(tmp_path):
    config = load_config(CONFIGS / "2x8.toml", (f"store.path={tmp_path}",))
    made = forecast_of(api.plan(described_cluster(config, 5000)))
    short = dataclasses.replace(made, free=10**9, free_files=1000)
    said = " ".join(short.warnings)
    assert "has room for 1.0 GB" in said
    assert "has room for 1,000:" in said
    assert describe_plan(plan_value(short), short).count("WARNING") == 2
    few = load_config(CONFIGS / "2x7.toml", (f"store.path={tmp_path}",))
    few = forecast_of(api.plan(described_cluster(few, 5000)))
    assert "lower cluster.workers" in " ".join(few.warnings)
    enough = dataclasses.replace(few, workers=1, free=10**15, free_files=None)
    assert enough.warnings == []


def test_a_run_says_before_it_starts_that_its_disk_is_too_small(tmp_path, monkeypatch, known_rates):
    config = load_config(CONFIGS / "2x7.toml", (f"store.path={tmp_path}", "search.in_memory=false"))
    plan = api.plan(described_cluster(config, 100))
    monkeypatch.setattr(LocalStorage, "free", lambda storage: 10**9)
    said = disk_warning(plan)
    assert "the run takes up to" in said
    assert "has room for 1.0 GB" in said


@pytest.fixture
def little_room(tmp_path, monkeypatch, known_rates):
    """A run of 2×5 by tasks, whose disk has no room for them."""
    monkeypatch.setattr(planning, "THIN_STATES", 10)
    monkeypatch.setattr(LocalStorage, "free", lambda storage: 10**6)
    return "run", CONFIGS / "2x5.toml", *at(tmp_path / "run"), *BY_TASKS


TOO_LITTLE = "the run takes up to .*, but .* has room for 1.* MB: choose another store.path"


def test_a_run_that_would_fill_its_disk_is_not_begun(little_room, tmp_path):
    """Unless the user says so, or it has begun before: then it stops before the disk is full."""
    for more in (), ("--fresh", "--json"):
        said = commands.invoke(*little_room, *more, code=2)
        assert re.search(f"2x5 was not started: {TOO_LITTLE}", said.stderr)
        assert ("--yes" in said.stderr) == ("--fresh" not in more)
        assert said.stdout == ""
        assert not list(tmp_path.iterdir())
    assert "peak" not in commands.invoke(*little_room, "--until", 5).stderr  # which takes little
    for more in (), ("--yes", "--fresh"):
        said = commands.invoke(*little_room, *more, code=3).stderr
        assert re.search(f"warning: {TOO_LITTLE}", said)
        assert "is needed for the tasks under way; make room" in said
    layers = api.open_run(tmp_path / "run").counts
    assert "was not started" in commands.invoke(*little_room, "--fresh", code=2).stderr
    assert api.open_run(tmp_path / "run").counts == layers


def test_a_run_that_is_deleted_first_says_nothing_of_the_room(little_room):
    commands.invoke(*little_room, "--set", "search.in_memory=true")
    assert "peak" not in commands.invoke(*little_room).stderr  # it is complete
    assert "was not started" in commands.invoke(*little_room, "--fresh", code=2).stderr


def test_no_setting_is_blamed_that_nobody_gave(tmp_path, known_rates):
    said = invoke(CONFIGS / "2x8.toml", "-v", *at(tmp_path)).stdout
    assert re.search(
        r"by tasks, from disk to disk "
        r"\(layers in memory would need 1\.. TB, but only .*B is allowed\)",
        said,
    )
    assert "cluster.memory" not in said


def test_a_disk_that_is_full_gets_a_plan(tmp_path, monkeypatch, known_rates):
    """It says that the disk will not do."""
    monkeypatch.setattr(LocalStorage, "free", lambda storage: 0)
    said = invoke(CONFIGS / "2x6.toml", *at(tmp_path / "run"), "--set", "search.in_memory=false")
    warning = r"the run takes up to .* on disk, and tasks need another .* free, but "
    assert re.search(warning, said.stdout)


def test_what_is_refused(tmp_path):
    config = CONFIGS / "2x3.toml"
    assert "x<=100000" in invoke(config, "--workers", 0, code=2).stderr
    assert "no such config file" in invoke(tmp_path / "none.toml", code=2).stderr
    small = "--set", "cluster.memory=1MB"
    assert "is too little" in invoke(config, *at(tmp_path), *small, code=2).stderr


@pytest.mark.parametrize("in_memory", [True, False])
def test_what_is_on_its_way_to_an_object_store_takes_memory(in_memory, bucket):
    def memory(path):
        config = Config(
            name="test",
            puzzle={"kind": "tiles", "rows": 2, "columns": 6},
            search={"in_memory": in_memory},
            store={"path": str(path)},
            cluster={"workers": 1, "memory": "1.5GB"},
        )
        return api.plan(config).task_bytes

    assert memory(bucket) - memory("runs/here") == TRANSFER_BYTES * (1 if in_memory else 2)
