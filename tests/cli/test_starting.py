"""The commands `list` and `init`, and configs that are named alone."""

import json
import re
from pathlib import Path

import pytest

import frontier
from frontier.cli import main
from tests.support.commands import invoke
from tests.support.temporary_runs import CONFIGS

NAMES = {path.stem for path in CONFIGS.glob("*.toml")}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_config_is_written_as_it_is():
    invoke("init", *NAMES)
    written = {path.name: path.read_bytes() for path in Path("configs").iterdir()}
    files = [*CONFIGS.glob("*.toml"), *CONFIGS.glob("*.py")]
    assert written == {path.name: path.read_bytes() for path in files}


def test_a_config_that_was_written_is_searched():
    assert "wrote configs/2x3.toml" in invoke("init", "2x3").stderr
    assert "depth (God's number from this goal): 21" in invoke("run", "configs/2x3.toml").stdout


def test_all_are_listed_with_a_sentence_each():
    lines = [line for line in invoke("list").stdout.splitlines() if line[0] != " "]
    assert {line.split()[0] for line in lines} == NAMES
    assert all(len(line.split()) > 3 for line in lines)
    names = [line.split()[0] for line in lines]
    assert names.index("2x2") < names.index("2x9") < names.index("2x10") < names.index("goat")
    assert not Path("configs").exists()
    some = invoke("list", "cube", "goat").stdout
    assert re.findall(r"^\S+", some, re.MULTILINE) == ["cube-2x2x2", "goat", "goat-start", "xcross"]
    assert "no config has zzz" in invoke("list", "zzz", code=2).stderr


def test_configs_are_found_by_their_descriptions():
    found = re.findall(r"^\S+", invoke("list", "klotski").stdout, re.MULTILINE)
    assert "hakoiri" in found
    assert "hakoiri" in invoke("run", "klotski", code=2).stderr


def test_names_are_completed():
    (names, *_) = main.commands["init"].params
    assert {item.value for item in names.shell_complete(None, "hak")} == {"hakoiri", "hakoiri-exit"}


def test_what_was_changed_stays(folder):
    invoke("init", "2x2", "2x3")
    changed = Path("configs/2x3.toml")
    changed.write_text("mine")
    assert "configs/2x2.toml already exists" in invoke("init", "2x2").stderr
    said = invoke("init", "2x4", "2x3", code=2).stderr
    assert "configs/2x3.toml already exists" in said
    assert "--force" in said
    assert changed.read_text() == "mine"
    assert not Path("configs/2x4.toml").exists()
    invoke("init", "2x3", "--force")
    assert changed.read_bytes() == (CONFIGS / "2x3.toml").read_bytes()


def test_a_name_that_is_none():
    said = invoke("init", "2x3", "2x55", code=2).stderr
    assert "no config '2x55' comes with the program; did you mean 2x5?" in said
    assert "`python -m frontier list` shows them" in invoke("init", "zzz", code=2).stderr
    assert not Path("configs").exists()


def test_where_nothing_can_be_written():
    Path("configs").write_text("a file")
    assert "configs is not a directory" in invoke("init", "2x3", code=2).stderr


@pytest.mark.parametrize("command", ["run", "plan", "status", "solve", "gods-number"])
@pytest.mark.parametrize("named", ["2x4.toml", "configs/2x4.toml"])
def test_a_missing_config_that_can_be_had(command, named):
    said = invoke(command, named, code=2).stderr
    assert said.startswith(f"frontier: {named}: no such ")
    assert said.endswith("; use the name alone, 2x4, for the config that comes with the program\n")


def test_a_missing_config_of_ones_own():
    said = invoke("run", "mine.toml", code=2).stderr
    assert said.startswith("frontier: mine.toml: no such config file; ")
    assert said.endswith("`python -m frontier list` shows the configs that come with the program\n")


def test_a_config_is_named_alone():
    """For every command, and until something of that name lies there."""
    assert "2x3 has not started; start it with: python -m frontier run 2x3\n" in (
        invoke("status", "2x3", code=2).stderr
    )
    invoke("run", "2x3", "--until", "5")
    assert Path("runs/2x3/run.json").exists()
    assert "resume with: python -m frontier run 2x3\n" in invoke("status", "2x3").stdout
    invoke("run", "2x3")
    assert frontier.load_config("2x3").name == "2x3"
    Path("2x3").write_text('name = "mine"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 2\n')
    assert json.loads(invoke("run", "2x3", "--json").stdout)["name"] == "mine"
    assert frontier.load_config("2x3").name == "mine"
    assert "no such" in invoke("run", "configs/zzz", code=2).stderr


def test_options_are_short_for_settings():
    options = ["--out", "5", "--keep-all", "--codec", "raw", "--workers", "1", "--memory", "1GB"]
    invoke("run", "2x3", *options)
    told = json.loads(Path("5/run.json").read_text())
    assert (told["keep"], told["codec"]) == ("all", "raw")
    cluster = json.loads(Path("5/ledger.json").read_text())["settings"]["cluster"]
    assert (cluster["workers"], cluster["memory"]) == (1, 10**9)
    said = invoke("run", "2x3", "--memory", "much", code=2).stderr
    assert "'--memory': 'much'" in said
    # What is set by its key comes later, and so counts.
    invoke("run", "2x3", "--out", "first", "--set", "store.path=second")
    assert not Path("first").exists()


@pytest.mark.usefixtures("known_rates")
def test_a_dry_run_is_a_plan():
    words = "2x3", "--codec", "raw"
    assert invoke("run", *words, "--dry-run").stdout == invoke("plan", *words).stdout
    value = json.loads(invoke("run", *words, "-n", "--json").stdout)
    assert value["codec"] == "raw"
    short, long = (invoke("gods-number", "2x4", "-n", *more).stdout for more in ((), ("-v",)))
    assert "memory: about " in short
    assert "region" not in short
    assert "region 2x3: " in long
    assert not Path("runs").exists()
