"""Commands on searches of cosets: a search is a run like others, or is refused with what helps."""

import html
import json
import re
import shutil

import pytest

from frontier import make_config
from frontier.cosets.proof import Proof
from frontier.cosets.run import CosetRun
from frontier.runs.environment import read_starts
from frontier.storage.lock import writing
from frontier.storage.places import storage_at
from tests.support import commands
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A search of 2×4 that has found all that it was asked."""
    path = tmp_path_factory.mktemp("found")
    invoke("gods-number", CONFIGS / "2x4.toml", *at(path), "--layers", "2")
    return path / "run-gods-number"


@pytest.fixture
def begun(tmp_path):
    """A search of 2×4 that was stopped before its first question."""
    invoke("gods-number", CONFIGS / "2x4.toml", *at(tmp_path), "--hours", "1e-9")
    return tmp_path / "run-gods-number"


def invoke(*arguments, code=0):
    return commands.invoke(*arguments, code=code)


def at(path):
    return "--set", f"store.path={path / 'run'}"


def config_file(path, run):
    """A config whose run is at a path."""
    file = path / "board.toml"
    text = (CONFIGS / "2x4.toml").read_text()
    file.write_text(f'{text}\n[store]\npath = "{run}"\n')
    return file


# --- status


def test_status(found):
    said = invoke("status", found).stdout
    assert said.startswith("2×4 tiles, complete\n")
    assert "  God's number: 36\n" in said
    assert "  last layers: 1 position at depth 36, 7 positions at depth 35\n" in said
    value = json.loads(invoke("status", found, "--json").stdout)
    assert (value["state"], value["lower"], value["upper"]) == ("complete", 36, 36)


def test_status_of_a_search_that_was_stopped(begun):
    said = invoke("status", begun).stdout
    assert ": the time limit has passed\n" in said
    assert "  next: do all positions take at most" in said
    assert f"  resume with: python -m frontier gods-number {begun}\n" in said
    value = json.loads(invoke("status", begun, "--json").stdout)
    assert value["state"] == "stopped"
    assert value["asking"]["limit"] == value["upper"] - 3


def test_status_of_a_search_under_way(begun):
    with writing(storage_at(begun)):
        said = invoke("status", begun).stdout
    assert ", under way\n" in said
    assert "  written by: process" in said
    assert "  now: do all positions take at most" in said


def test_status_of_a_search_that_was_killed(begun):
    log = begun / "events.jsonl"
    log.write_text(log.read_text().splitlines()[0])
    assert "stopped: killed, or its machine failed" in invoke("status", begun).stdout


def test_status_says_when_the_question_will_be_answered(begun):
    run = CosetRun.open(begun)
    run.note_request(None, 2)
    invoke("gods-number", begun, "--layers", "2")
    run = CosetRun.open(begun)
    answer = run.proof.answers[run.proof.upper - 3]
    portions = list(answer.done.items())
    answer.done = dict(portions[: len(portions) // 2])
    run.commit()
    with writing(storage_at(begun)):
        value = json.loads(invoke("status", begun, "--json").stdout)
    asking = value["asking"]
    assert (asking["done"], asking["portions"]) == (len(portions) // 2, answer.portions)
    workers = read_starts(storage_at(begun))[-1]["workers"]
    expected = answer.seconds / asking["done"] * (answer.portions - asking["done"]) / workers
    assert asking["left"] == pytest.approx(expected)
    assert "(for this question)" in value["in_words"]["time left"]


def test_watch_ends_when_a_search_is_complete(found):
    said = invoke("status", found, "--watch").stdout
    assert re.search(r"\n[\d:]+ +36 +36 .*\n2x4: complete\n", said)


def test_a_config_names_its_search_where_there_is_no_run(tmp_path, found):
    shutil.copytree(found, tmp_path / "run-gods-number")
    config = config_file(tmp_path, tmp_path / "run")
    assert "God's number: 36\n" in invoke("status", config).stdout
    assert "1 position at depth 36" in invoke("farthest", config).stdout
    assert "no faults" in invoke("verify", config).stdout
    invoke("run", config)
    assert "states: 20,160 (all)" in invoke("status", config).stdout, "the run comes first"
    assert "God's number: 36" in invoke("status", tmp_path / "run-gods-number").stdout


def test_the_place_that_a_config_names_is_that_of_its_search_where_no_run_is(tmp_path, found):
    shutil.copytree(found, tmp_path / "run-gods-number")
    for command in ("status", "report", "gods-number"):
        assert re.search("God's number:? +36\n", invoke(command, tmp_path / "run").stdout)
    assert "1 position at depth 36" in invoke("farthest", tmp_path / "run").stdout
    assert "no faults" in invoke("verify", tmp_path / "run").stdout
    assert "`gods-number` resumes it" in invoke("run", tmp_path / "run", code=2).stderr
    assert "nothing to repair" in invoke("repair", tmp_path / "run").stdout
    said = invoke("status", tmp_path / "other", code=2).stderr
    assert "no such run directory or config" in said
    (tmp_path / "run").mkdir()  # as what is left of a run, which the search must not hide
    assert "run" in invoke("verify", tmp_path / "run", code=2).stderr


@swept("command", ["report", "farthest"], few=1)
def test_a_run_is_meant_first_and_the_search_beside_it_is_named(tmp_path, found, command):
    shutil.copytree(found, tmp_path / "run-gods-number")
    invoke("run", CONFIGS / "2x4.toml", *at(tmp_path))
    said = invoke(command, tmp_path / "run")
    there = f"python -m frontier report {tmp_path / 'run'}-gods-number"
    assert f"gods-number has results too: {there}\n" in said.stderr
    assert "gods-number has results" not in invoke(command, tmp_path / "run-gods-number").stderr


def test_a_search_of_another_puzzle_is_not_that_of_a_config(tmp_path, found):
    shutil.copytree(found, tmp_path / "run-gods-number")
    assert "another" in invoke("gods-number", CONFIGS / "2x3.toml", *at(tmp_path), code=2).stderr
    file = config_file(tmp_path, tmp_path / "run")
    file.write_text(file.read_text().replace("columns = 4", "columns = 3"))
    assert "made by a different config" in invoke("status", file, code=2).stderr


def test_a_directory_of_runs_and_searches(tmp_path, found):
    shutil.copytree(found, tmp_path / "2x4-gods-number")
    invoke("run", CONFIGS / "2x3.toml", "--set", f"store.path={tmp_path / '2x3'}")
    said = invoke("status", tmp_path).stdout
    assert "2×3 tiles, complete" in said
    assert "God's number: 36" in said
    assert invoke("verify", tmp_path).stdout.count("no faults") == 2
    assert "names several runs" in invoke("gods-number", tmp_path, code=2).stderr


# --- gods-number by directory, and what it keeps


def test_a_search_goes_on_by_its_directory(begun):
    assert "God's number: 36\n" in invoke("gods-number", begun).stdout
    assert CosetRun.open(begun).complete


def test_machine_and_settings_are_noted_at_each_start(begun):
    (start,) = read_starts(storage_at(begun))
    assert start["asked"] == {"at_most": None, "layers": 1}
    assert start["config"]["puzzle"]["columns"] == 4
    assert {"workers", "processor", "versions", "memory"} <= start.keys()
    invoke("gods-number", begun, "--layers", "3")
    assert [of["asked"]["layers"] for of in read_starts(storage_at(begun))] == [1, 3]


def test_the_page_of_a_search(found):
    page = (found / "status.html").read_text()
    assert "2x4: complete" in page
    assert "States of each layer" not in page


# --- report, verify, farthest


def test_report(found, tmp_path):
    said = invoke("report", found).stdout
    assert said.startswith("2×4 tiles\nGod's number")
    assert re.search(r"35, 37, … +7 positions +[\d,]+ ", said)
    assert "1 farthest position, at depth 36\n┌" in said
    page, text = tmp_path / "2x4.html", tmp_path / "2x4.md"
    invoke("report", found, "--html", page, "--markdown", text)
    assert "<svg" in page.read_text()
    assert "<td>35, 37, …</td>" in page.read_text()
    assert "* depth 35: 7 positions\n" in text.read_text()
    assert "| 35, 37, … | 7 positions |" in text.read_text()
    (board,) = CosetRun.open(found).proof.layer(36)
    assert CosetRun.open(found).puzzle.line(board.board) in text.read_text()
    for made in (said, page.read_text(), text.read_text()):
        assert "How it was made" in made
        assert read_starts(storage_at(found))[-1]["processor"] in html.unescape(made)
    assert 'name = "2x4"\n\n[puzzle]\nkind = "tiles"\n' in text.read_text()
    value = json.loads(invoke("report", found, "--json").stdout)
    assert value["starts"] == read_starts(storage_at(found))
    assert (value["upper"], value["layers"][0]["count"]) == (36, 1)


def test_report_of_what_is_not_known(begun):
    assert "The farthest positions are not known yet" in invoke("report", begun).stdout
    invoke("gods-number", begun, "--at-most", "33")
    said = invoke("report", begun).stdout
    assert "A position that needs 34 moves or more\n┌" in said
    assert "some, 0% searched" in said


def test_a_report_of_a_search_has_no_layers(found, begun, tmp_path):
    said = invoke("report", found, "--csv", tmp_path / "out.csv", code=2).stderr
    assert "--csv writes layers" in said
    assert "report it without other runs" in invoke("report", found, begun, code=2).stderr
    assert not list(tmp_path.glob("*.csv"))


def test_a_report_of_a_directory_leaves_its_searches_out(begun, tmp_path):
    other = begun.parent / "other"
    shutil.copytree(begun, other)
    invoke("run", CONFIGS / "2x3.toml", *at(tmp_path))
    result = invoke("report", tmp_path)
    assert "21 moves" in result.stdout
    assert result.stderr == "".join(
        f"gods-number has results too: python -m frontier report {search}\n"
        for search in (other, begun)
    )
    shutil.rmtree(tmp_path / "run")
    assert "report it without other runs" in invoke("report", tmp_path, code=2).stderr


def test_verify(found, tmp_path):
    assert "5 tables, 8 paths followed: no faults" in invoke("verify", found).stdout
    assert "portions searched again: no faults" in invoke("verify", found, "--deep").stdout
    path = tmp_path / "copy"
    shutil.copytree(found, path)
    (path / "tables" / "groups.npy").write_bytes(b"")
    said = invoke("verify", path, "--json", code=4)
    assert "groups.npy" in json.loads(said.stdout)["faults"][0]["message"]
    assert "repair" in said.stderr
    (path / "ledger.json").write_text("{}")
    assert "digest" in invoke("verify", path, code=4).output


def test_verify_checks_the_summary_by_its_digest(found, tmp_path):
    path = tmp_path / "copy"
    shutil.copytree(found, path)
    (path / "summary.json").write_text("{}")
    assert "summary.json is corrupt" in invoke("verify", path, code=4).output
    invoke("gods-number", path, "--layers", "2")
    assert "no faults" in invoke("verify", path).stdout, "it was rewritten"
    (path / "summary.json").unlink()
    assert "no faults" in invoke("verify", path).stdout


def test_verify_needs_the_ledger_or_its_copy(found, tmp_path):
    path = tmp_path / "copy"
    shutil.copytree(found, path)
    for name in ("ledger.json", "ledger.copy.json"):
        (path / name).unlink()
    assert "missing" in invoke("verify", path, code=4).output
    shutil.copy(found / "ledger.json", path)
    invoke("repair", path)
    assert "5 tables" in invoke("verify", path).stdout
    (path / "tables" / "boards.npy").write_bytes(b"")
    assert "boards.npy" in invoke("verify", path, code=4).output


def test_a_damaged_run_json_comes_with_what_helps(found, tmp_path):
    path = tmp_path / "copy"
    shutil.copytree(found, path)
    (path / "run.json").write_text("{")
    for command in ("status", "verify", "gods-number", "report"):
        assert "repair" in invoke(command, path, code=4).stderr
    assert "rewritten from the other copy" in invoke("repair", path).stdout
    assert "no faults" in invoke("verify", path).stdout


def test_farthest(found, begun):
    said = json.loads(invoke("farthest", found, "--json").stdout)
    assert (said["depth"], said["count"]) == (36, 1)
    assert "resume with: python -m frontier gods-number" in invoke("farthest", begun, code=2).stderr
    run = CosetRun.open(begun)
    run.proof = Proof((36, 0), 2)  # both bounds are 36, and no layer is listed
    run.commit()
    assert "is 36; resume with" in invoke("farthest", begun, code=2).stderr


@pytest.mark.parametrize(
    ("command", "helps"),
    [
        ("run", "`gods-number` resumes it"),
        ("plan", "`gods-number` resumes it"),
        ("export", "--keep-all"),
        ("solve", "the config of the puzzle"),
    ],
)
def test_other_commands_say_what_to_do_instead(found, tmp_path, command, helps):
    more = [tmp_path / "copy"] if command == "export" else []
    said = invoke(command, found, *more, code=2).stderr
    assert "holds a run by cosets" in said
    assert helps in said


def test_a_notebook_or_program_may_ask_for_a_display(tmp_path, capsys):
    from frontier import gods_number

    puzzle = {"kind": "tiles", "rows": 2, "columns": 3}
    config = make_config("small", puzzle, store={"path": str(tmp_path / "run")})
    gods_number(config, progress=True)
    assert "small: 2×3 tiles, God's number, in " in capsys.readouterr().err
