"""The files of a search for God's number: damaged, exchanged, left over, or moved away under it."""

import json
import shutil
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path

import pytest

from frontier import gods_number
from frontier.api.start import carry_out
from frontier.cosets.checks import check_cosets
from frontier.cosets.progress import Asking
from frontier.cosets.run import CosetRun
from frontier.cosets.search import CosetSearch
from frontier.errors import CorruptRunError, Gone
from frontier.runs.directory import FOR_PEOPLE
from tests.cosets.test_search import config
from tests.support.commands import invoke
from tests.support.coset_runs import find_gods_number
from tests.support.run_files import read_sealed, write_sealed
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

ODD_BOARDS = {
    "an unknown tile": lambda board: [99, *board[1:]],
    "a negative tile": lambda board: [-1, *board[1:]],
    "a tile twice": lambda board: [board[1], *board[1:]],
    "too short": lambda board: board[:-1],
    "too long": lambda board: [*board, 6],
    "empty": lambda board: [],
    "out of reach": lambda board: [{1: 2, 2: 1}.get(code, code) for code in board],
}


def first(ledger, holds):
    """The first portion of a ledger that holds something."""
    portions = (portion for answer in ledger["answers"].values() for portion in answer["done"])
    return next(portion for portion in portions if portion[holds])


def odd_ledgers(ledger):
    """Edits of a ledger of 2×3 that no search writes."""
    farther = first(ledger, "farther")["farther"]
    for odd in ODD_BOARDS.values():
        board = odd(farther[0]["board"])
        yield partial(farther[0].update, {"board": board})
        yield partial(first(ledger, "farther").update, {"hardest": [7, board]})
        yield partial(ledger["witnesses"].append, {"board": board, "limit": 3, "seconds": 0.0})
    yield partial(farther.append, farther[0])
    for key, value in (("depth", -1), ("depth", "x"), ("blanks", [99]), ("blanks", [-1])):
        yield partial(farther[0].update, {key: value})
    (_, answer), *_ = ledger["answers"].items()
    for key, value in (("portions", 1 << 40), ("portions", -1), ("cosets", 0.5), ("done", [7])):
        yield partial(answer.update, {key: value})
    for key in ("seconds", "nodes", "number", "look_ups"):
        yield partial(answer["done"][0].update, {key: -1})
    for key in ("-5", "1000", "x"):
        yield partial(ledger["answers"].update, {key: answer})
    for key, value in (("guessed", -1.0), ("deepest", [1]), ("witnesses", 5), ("answers", [])):
        yield partial(ledger.update, {key: value})
    for odd in ([None], 7, [None, -1]):
        yield partial(ledger.update, {"asked": odd})


def test_a_ledger_with_values_that_no_search_writes_is_refused(copies):
    """Though its digest is right."""
    path, _ = copies
    invoke("gods-number", path, "--layers", "2")
    good = read_sealed(path / "ledger.json")
    for number in range(len(list(odd_ledgers(deepcopy(good))))):
        ledger = deepcopy(good)
        list(odd_ledgers(ledger))[number]()
        write_sealed(path / "ledger.json", ledger)
        with pytest.raises(CorruptRunError, match="is not a ledger of this run"):
            CosetRun.open(path)
    for command in ("verify", "status", "report", "farthest", "gods-number"):
        assert "is not a ledger of this run" in invoke(command, path, code=4).stderr


def test_an_edited_summary_is_a_fault_that_repair_mends(copies):
    path, _ = copies
    summary = read_sealed(path / "summary.json")
    (path / "summary.json").write_text(json.dumps(summary | {"digest": "0", "upper": 1}))
    assert "summary.json is corrupt" in invoke("verify", path, code=4).stdout
    assert "summary.json rewritten" in invoke("repair", path).stdout
    assert read_sealed(path / "summary.json") == summary


TABLES = ["boards", "groups", "patterns"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The directory of a search of 2×3, and of another one where a move slides several tiles."""
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    gods_number(config(one, 2, 3))
    gods_number(config(other, 2, 3, puzzle={"metric": "multi"}))
    return one / "run-gods-number", other / "run-gods-number"


@pytest.fixture
def copies(made, tmp_path):
    """Copies of both."""
    names = tmp_path / "run-gods-number", tmp_path / "other-gods-number"
    return tuple(shutil.copytree(path, name) for path, name in zip(made, names, strict=True))


def contents(path):
    """The files that a search reads again; those for people say what happens at their place."""
    files = (file for file in Path(path).rglob("*") if file.is_file())
    return {file: file.read_bytes() for file in files if file.name not in FOR_PEOPLE}


MORE = "--layers", "3"


def more(path):
    """Resume the run at a path, which then needs its tables."""
    return invoke("gods-number", path, *MORE)


def of_another_metric(path, other):
    shutil.rmtree(path / "tables")
    shutil.copytree(other / "tables", path / "tables")


def of_another_metric_alone(path, other):
    shutil.copy(other / "tables" / "groups.npy", path / "tables")


def exchanged(path, _):
    for suffix in ("npy", "json"):
        shutil.copy(path / "tables" / f"boards.{suffix}", path / "tables" / f"patterns.{suffix}")


def of_an_earlier_version(path, _):
    for name in TABLES:
        file = path / "tables" / f"{name}.json"
        write_sealed(file, {"crc32c": read_sealed(file)["crc32c"]})


def of_another_shape(path, _):
    file = path / "tables" / "boards.json"
    write_sealed(file, {**read_sealed(file), "shape": [1 << 40, 3]})


def of_no_type(path, _):
    file = path / "tables" / "boards.json"
    write_sealed(file, {**read_sealed(file), "dtype": "nothing"})


@swept(
    "damage",
    [of_another_metric, of_another_metric_alone, exchanged, of_an_earlier_version,
     of_another_shape, of_no_type], few=[of_another_metric, of_another_shape])  # fmt: skip
def test_tables_that_the_search_has_not_made(copies, damage):
    """They are refused, whatever digests they have; after a repair they are made anew."""
    path, other = copies
    damage(path, other)
    before = contents(path)
    for words in (["verify", path], ["verify", path, "--deep"], ["gods-number", path, *MORE]):
        assert "repair" in invoke(*words, code=4).stderr
    ledger = path / "ledger.json"
    assert read_sealed(ledger)["answers"] == json.loads(before[ledger])["answers"]
    assert "deleted; a search that needs it makes it again" in invoke("repair", path).stdout
    assert "nothing to repair" in invoke("repair", path).stdout
    assert "God's number: 21\n" in more(path).stdout
    assert "no faults" in invoke("verify", path, "--deep").stdout


@swept("name", TABLES, few=1)
def test_any_bit_of_the_header_of_a_table(copies, name):
    """Its type, its order, its length: none is believed."""
    path, _ = copies
    file, tables = path / "tables" / f"{name}.npy", CosetRun.open(path).tables
    content = bytearray(file.read_bytes())
    assert tables.read(name, True).size
    for bit in range(8 * 128):
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        with pytest.raises(CorruptRunError, match="checksum"):
            tables.read(name, shared=bit % 2 == 0)
        content[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize("cut", [0, 1, 100, 128, -1])
def test_a_table_that_is_cut(copies, cut):
    file = copies[0] / "tables" / "boards.npy"
    file.write_bytes(file.read_bytes()[:cut])
    for shared in (False, True):
        with pytest.raises(CorruptRunError, match=r"boards\.npy is corrupt"):
            CosetRun.open(copies[0]).tables.read("boards", shared)


@pytest.mark.parametrize("lost", [[], ["ledger.json", "ledger.copy.json"], ["tables"]])
@pytest.mark.parametrize("metric", ["step", "multi"])
def test_nothing_begins_where_another_search_has_left_something(copies, lost, metric):
    path, _ = copies
    for name in ("run.json", *lost):
        shutil.rmtree(path / name) if name == "tables" else (path / name).unlink()
    before = contents(path)
    at = "--set", f"store.path={path.parent / 'run'}", "--set", f"puzzle.metric={metric}"
    said = invoke("gods-number", CONFIGS / "2x3.toml", *at, code=4).stderr
    assert "of a run whose run.json is missing" in " ".join(said.split())
    assert "move the directory away" in " ".join(said.split())
    after = contents(path)
    assert {file: after[file] for file in before} == before


def test_tables_that_belong_to_no_run_are_replaced(copies):
    path, _ = copies
    for name in ("run.json", "run.copy.json", "ledger.json", "ledger.copy.json"):
        (path / name).unlink()
    at = "--set", f"store.path={path.parent / 'run'}"
    assert "God's number: 21\n" in invoke("gods-number", CONFIGS / "2x3.toml", *at).stdout
    invoke("verify", path)


@pytest.mark.parametrize("command", ["gods-number", "status", "report", "farthest", "verify"])
def test_bounds_that_contradict_each_other(copies, command):
    """They are read nowhere, and mended by the copy."""
    path, _ = copies
    ledger = read_sealed(path / "ledger.json")
    ledger["witnesses"].append({"board": [1, 2, 3, 4, 5, 0], "limit": 30, "seconds": 0.0})
    write_sealed(path / "ledger.json", ledger)
    said = " ".join(invoke(command, path, code=4).stderr.split())
    assert "all positions take 21 moves or fewer, but one takes 32" in said
    assert "rewritten from the other copy" in invoke("repair", path).stdout
    assert "God's number: 21\n" in invoke("gods-number", path).stdout


def test_a_search_of_another_format(copies):
    path, _ = copies
    write_sealed(path / "run.json", {**read_sealed(path / "run.json"), "format": 2})
    said = " ".join(invoke("status", path, code=4).stderr.split())
    assert "run.json has format 2, and this program reads format 1: use the version" in said
    assert "repair" not in said


def test_no_search_goes_on_in_the_directory_of_a_run(tmp_path):
    here = "--set", f"store.path={tmp_path}/x"
    invoke("run", CONFIGS / "2x3.toml", "--set", f"store.path={tmp_path}/x-gods-number")
    said = " ".join(invoke("gods-number", CONFIGS / "2x3.toml", *here, code=2).stderr.split())
    assert "x-gods-number holds a run by layers: `run` resumes it" in said


@pytest.mark.parametrize("key", ["deepest", "answers", "witnesses", "guessed", "asked"])
@pytest.mark.parametrize("value", [None, 3, "x", [1], ["x", "y"], {"1": 2}, {"x": {}}])
def test_a_ledger_whose_values_are_others(copies, key, value):
    """Its digest is right."""
    path, _ = copies
    write_sealed(path / "ledger.json", {**read_sealed(path / "ledger.json"), key: value})
    if (key, value) != ("guessed", 3):
        assert "is not a ledger of this run" in invoke("status", path, code=4).stderr


@swept("fewer", ["portions", "cosets"], few=1)
def test_a_question_with_fewer_blocks_than_its_cosets_need(tmp_path, monkeypatch, fewer):
    """Nothing but the tables can tell."""
    monkeypatch.setattr("frontier.cosets.questions.PORTION_COSETS", 8)
    path = Path(gods_number(config(tmp_path)).path)
    ledger = read_sealed(path / "ledger.json")
    answer = max(ledger["answers"].values(), key=lambda some: some["portions"])
    answer[fewer] -= 1
    answer["done"] = [
        portion for portion in answer["done"] if portion["number"] < answer["portions"]
    ]
    write_sealed(path / "ledger.json", ledger)
    assert "no faults" in invoke("verify", path).stdout
    assert "cosets in" in invoke("verify", path, "--deep", "--states", "1", code=4).stdout


# --- other processes


def taken(path, other):
    path.rename(path.with_name("elsewhere"))
    other.rename(path)


def taken_without_a_ledger(path, other):
    (other / "ledger.json").unlink()
    taken(path, other)


def deleted(path, _):
    shutil.rmtree(path)


@pytest.mark.parametrize("moment", ["making the tables", "do all positions take"])
@swept("how", [taken, taken_without_a_ledger, deleted], few=[taken])
def test_a_search_whose_directory_goes(copies, tmp_path, how, moment):
    """It says so, and writes to nothing that has taken its place."""
    path, other = tmp_path / "run-gods-number", copies[1]
    shutil.rmtree(path)
    after = {}

    def lose(event):
        if isinstance(event, Asking) and event.doing.startswith(moment) and not after:
            how(path, other)
            after[0] = contents(path)

    with pytest.raises(Gone, match="no longer holds this run") as error:
        carry_out(CosetSearch(config(tmp_path, 2, 3)), [lose], False, None)
    assert "gods-number DIRECTORY" in str(error.value)
    assert contents(path) == after[0]
    if how is not deleted:
        assert "God's number: 21\n" in more(tmp_path / "elsewhere").stdout


def test_of_two_that_go_on_with_a_search_one_commits(copies):
    first, second = CosetRun.open(copies[0]), CosetRun.open(copies[0])
    first.note_request(None, 7)
    with pytest.raises(Gone, match="by another process, which has since resumed the run"):
        second.note_request(None, 8)
    assert CosetRun.open(copies[0]).request == (None, 7)


def test_what_a_killed_search_has_left_is_deleted(copies):
    """As soon as it goes on, and nothing else is."""
    path, _ = copies
    left = [path / f"tables/groups.npy.{'a' * 32}.partial", path / f"run.json.{'b' * 32}.partial"]
    other = path / "tables" / "mine.partial"
    for file in (*left, other):
        file.write_bytes(b"1")
    more(path)
    assert [file.exists() for file in (*left, other)] == [False, False, True]


def test_a_search_that_two_begin_at_once(tmp_path, monkeypatch):
    """One of them does."""
    begun = CosetRun.exists

    def meanwhile(place):
        monkeypatch.setattr(CosetRun, "exists", staticmethod(begun))
        find_gods_number(config(tmp_path, 2, 3))
        return False

    monkeypatch.setattr("frontier.runs.drive.writing", lambda *_: nullcontext())
    monkeypatch.setattr(CosetRun, "exists", staticmethod(meanwhile))
    with pytest.raises((Gone, CorruptRunError)):
        find_gods_number(config(tmp_path, 2, 3))
    run = CosetRun.open(tmp_path / "run-gods-number")
    assert check_cosets(run, None).faults == []
    assert json.loads((run.path / "run.json").read_text())["identifier"] == run.ref.identifier
