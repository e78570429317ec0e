"""Searches for God's number as a whole: kept, stopped, resumed, by threads and by workers."""

import re

import pytest

from frontier import gods_number, make_config
from frontier.config.loading import Config
from frontier.cosets import questions, search
from frontier.cosets.checks import check_cosets
from frontier.cosets.kind import gods_number_value
from frontier.cosets.progress import Asking
from frontier.cosets.proof import Answer, Proof
from frontier.cosets.questions import Witness
from frontier.cosets.run import CosetRun
from frontier.errors import CorruptRunError, InputError, Stopped
from frontier.executors.executor import Threads
from frontier.jit.notices import tell_compiling
from frontier.report.gods_number import describe_gods_number
from frontier.runs import events
from frontier.runs.events import Compiling, Finished, Started, Starting
from frontier.runs.kind import mend
from frontier.runs.resolve import place_of_cosets
from frontier.storage.lock import writing
from tests.support.coset_runs import find_gods_number
from tests.support.reference_cosets import board_of
from tests.support.run_files import read_sealed, write_sealed
from tests.support.sweeps import swept

COUNTS_2X4 = {36: 1, 35: 7, 34: 19, 33: 39}
"""The last layers of 2×4, as `run` finds them."""

COUNTS_MULTI = {25: 8, 24: 50, 23: 140}
"""The same, where a move slides any number of tiles."""


def config(tmp_path, rows=2, columns=4, **tables) -> Config:
    puzzle = {"kind": "tiles", "rows": rows, "columns": columns} | tables.pop("puzzle", {})
    store = {"path": str(tmp_path / "run")}
    return make_config(f"{rows}x{columns}", puzzle, store=store, **tables)


def test_gods_number_and_last_layers(tmp_path):
    found = gods_number(config(tmp_path), layers=4)
    assert found.known
    assert found.upper == 36
    assert {depth: len(boards) for depth, boards in found.layers.items()} == COUNTS_2X4


@pytest.mark.sweep
def test_moves_of_several_tiles(tmp_path):
    """The last layers, as `run` finds them; and the ways that the search has kept are checked."""
    multi = config(tmp_path, puzzle={"metric": "multi"})
    found = gods_number(multi, layers=3)
    assert found.known
    assert {depth: len(boards) for depth, boards in found.layers.items()} == COUNTS_MULTI
    run, said = CosetRun.open(place_of_cosets(multi)), []
    assert check_cosets(run, 2, 0, said.append).faults == []
    ledger = read_sealed(run.path / "ledger.json")
    (kept, *_) = [
        portion for answer in ledger["answers"].values() for portion in answer["done"]
        if portion["farther"]
    ]  # fmt: skip
    way = kept["farther"][0]["blanks"]
    for blanks in ([way[0] ^ 4 ^ 1, *way[1:]], [way[0], way[0], *way[2:]]):
        kept["farther"][0]["blanks"] = blanks
        write_sealed(run.path / "ledger.json", ledger)
        (fault,) = check_cosets(CosetRun.open(run.path)).faults
        assert re.search("from cell|lead to the goal", fault.message)


@pytest.mark.sweep
def test_more_layers_are_found_later_and_nothing_twice(tmp_path, monkeypatch):
    gods_number(config(tmp_path), layers=1)
    asked = []
    whole = search.Asker.search
    monkeypatch.setattr(
        search.Asker, "search", lambda self, *a: asked.append(a[:2]) or whole(self, *a)
    )
    known = CosetRun.open(place_of_cosets(config(tmp_path))).proof.answers
    before = {(limit, number) for limit, answer in known.items() for number in answer.done}
    found = gods_number(config(tmp_path), layers=3)
    assert len(found.layers) >= 3
    assert asked
    assert not before & set(asked)
    asked.clear()
    gods_number(config(tmp_path), layers=3)
    assert not asked


@swept("at_most", [35, 36], few=1)
def test_one_bound(tmp_path, at_most):
    found = gods_number(config(tmp_path), at_most=at_most)
    assert (found.upper <= at_most) == (at_most >= 36)
    assert (found.lower > at_most) == (at_most < 36)


@pytest.mark.sweep
def test_lower_bounds_are_guessed_where_questions_take_long(tmp_path, monkeypatch):
    """With hard positions: those that are left where cosets settle little."""
    monkeypatch.setattr(questions, "WORTH", 0)
    monkeypatch.setattr(questions, "LOOK_UPS_A_NODE", 0)
    monkeypatch.setattr(search, "GUESSED_SECONDS", 0.0)
    monkeypatch.setattr(Proof, "seconds", 20.0)
    tried, distances = [], board_of(2, 4, (0, 0)).distances
    whole = search.Asker.witness
    monkeypatch.setattr(
        search.Asker, "witness", lambda self, *a: tried.append(a) or whole(self, *a)
    )
    found = gods_number(config(tmp_path), layers=2)
    assert {depth: len(boards) for depth, boards in found.layers.items()} == {36: 1, 35: 7}
    assert tried
    assert all((distances[board] - limit) % 2 == 0 for board, limit, _ in tried)
    assert all(nodes > 0 for *_, nodes in tried)
    witnesses = CosetRun.open(found.path).proof.witnesses
    assert any((of.board, of.limit) in [a[:2] for a in tried] for of in witnesses)
    assert all(distances[witness.board] > witness.limit for witness in witnesses)


def test_a_search_that_is_stopped_says_nothing(tmp_path):
    run = CosetRun.open(gods_number(config(tmp_path), layers=2).path)
    asker = search._asker(run, True, 1)
    assert asker.search(33, 0).cosets
    asker.stop()
    assert asker.search(33, 0) is None
    assert asker.search(34, 0) is None


def test_portions_of_another_cut_are_refused(tmp_path):
    """They would not be of the cosets that this program takes them for."""
    run = CosetRun.open(gods_number(config(tmp_path)).path)
    run.proof.answers[33] = Answer(3, 5)
    asker = search._asker(run, True, 1)
    begun = search.CosetSearch(config(tmp_path))
    begun._run, begun._tell = run, lambda event: None
    with pytest.raises(CorruptRunError, match="resume it with the version that began"):
        begun._ask(asker, Threads(1), 33, True)


def test_what_contradicts_itself_ends_a_search(tmp_path):
    run = CosetRun.open(gods_number(config(tmp_path)).path)
    run.proof.witnesses.append(Witness(run.proof.layer(36)[0].board, 36))
    with pytest.raises(CorruptRunError, match="one takes 38"):
        run.commit()


def test_a_witness_is_kept_shown_and_checked(tmp_path):
    found = gods_number(config(tmp_path), at_most=33)
    assert 33 < found.lower < found.upper
    run = CosetRun.open(found.path)
    witness, *_ = run.proof.witnesses  # a portion under way may have come to another one
    assert (run.proof.lower, witness.limit) == (34, 32)
    value = gods_number_value(run)
    assert value["witness"]["at_least"] == 34
    assert "34 moves or more" in describe_gods_number(run, value, 33)
    checked = check_cosets(run, None)
    assert (checked.faults, checked.portions > 0) == ([], True)
    ledger = read_sealed(run.path / "ledger.json")
    ledger["witnesses"][0]["limit"] = 36
    write_sealed(run.path / "ledger.json", ledger)
    (fault,) = check_cosets(CosetRun.open(run.path), None).faults
    assert "takes at most 36 moves" in fault.message


@pytest.mark.sweep
def test_stopped_anywhere_and_resumed(tmp_path, monkeypatch):
    """A search that stops after each portion comes to the same end."""
    monkeypatch.setattr("frontier.cosets.questions.PORTION_COSETS", 8)
    searching, asking_of = search.CosetSearch.search, search.asking_of
    starts, portions, stopping = 0, 0, None

    def take_flag(self, *arguments):
        nonlocal stopping
        stopping = self.stopping
        searching(self, *arguments)

    def stop_soon(proof, limit, whole, left):
        nonlocal portions
        if left is not None:
            portions += 1
            stopping.set()
        return asking_of(proof, limit, whole, left)

    monkeypatch.setattr(search.CosetSearch, "search", take_flag)
    monkeypatch.setattr(search, "asking_of", stop_soon)
    while True:
        starts += 1
        try:
            found = gods_number(config(tmp_path, cluster={"workers": 1}), layers=2)
            break
        except Stopped:
            continue
    assert starts > 5
    assert portions >= starts - 1
    assert {depth: len(boards) for depth, boards in found.layers.items()} == {36: 1, 35: 7}


def test_hours_end_a_search_with_bounds(tmp_path):
    found = gods_number(config(tmp_path), hours=1e-9)
    assert not found.known
    assert found.lower < 36 < found.upper
    assert gods_number(config(tmp_path)).known


@pytest.mark.sweep
def test_by_the_workers_of_a_scheduler(tmp_path):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        found = gods_number(config(tmp_path, 2, 3), layers=2, client=client)
    assert (found.upper, [len(some) for some in found.layers.values()][:2]) == (21, [1, 6])


@pytest.mark.sweep
def test_a_damaged_table_is_found(tmp_path):
    gods_number(config(tmp_path), layers=1)
    file = place_of_cosets(config(tmp_path)).path / "tables" / "patterns.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(CorruptRunError, match="checksum does not match"):
        gods_number(config(tmp_path), layers=2)
    for kept in file.parent.iterdir():
        kept.unlink()
    assert gods_number(config(tmp_path), layers=2).known


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["run.json", "ledger.json"])
def test_an_edited_file_is_found(tmp_path, name):
    gods_number(config(tmp_path))
    file = place_of_cosets(config(tmp_path)).path / name
    file.write_text(file.read_text().replace("3", "4", 1))
    with pytest.raises(CorruptRunError, match="digest"):
        gods_number(config(tmp_path))


def test_the_ledger_of_another_search_is_refused(tmp_path):
    gods_number(config(tmp_path))
    file = place_of_cosets(config(tmp_path)).path / "ledger.json"
    write_sealed(file, {**read_sealed(file), "run": "0" * 32})
    with pytest.raises(CorruptRunError, match="another run"):
        gods_number(config(tmp_path))


def test_what_was_made_by_another_config_is_refused(tmp_path):
    gods_number(config(tmp_path))
    with pytest.raises(InputError, match=r"columns = 4, here puzzle\.columns = 5"):
        gods_number(config(tmp_path, 2, 5))
    with pytest.raises(InputError, match="not 2x2"):
        gods_number(config(tmp_path), region="2x2")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("rows", "columns", "puzzle", "said"),
    [
        (2, 4, {"goal": "2 1 3 0 / 4 5 6 7"}, "in order"),
        (2, 2, {}, "`run` searches"),
        (1, 5, {}, "`run` searches"),
        (2, 4, {"blank": "all"}, "several runs"),
        (5, 5, {}, "memory"),
        (2, 11, {}, "memory"),
    ],
)
def test_what_cannot_be_searched_is_refused(tmp_path, rows, columns, puzzle, said):
    with pytest.raises(InputError, match=said):
        gods_number(config(tmp_path, rows, columns, puzzle=puzzle))
    assert not (tmp_path / "run-gods-number" / "run.json").exists()


def test_an_unknown_region_is_refused(tmp_path):
    with pytest.raises(InputError, match="2x2, 2x3"):
        gods_number(config(tmp_path), region="3x3")


def test_checks_find_what_is_wrong(tmp_path):
    gods_number(config(tmp_path), layers=2)
    path = place_of_cosets(config(tmp_path)).path
    found = check_cosets(CosetRun.open(path), None)
    assert (found.tables, found.paths, found.faults) == (5, 8, [])
    proof = CosetRun.open(path).proof
    portions = sum(len(of.done) for of in proof.answers.values())
    assert found.portions == portions + len(proof.witnesses)
    ledger = read_sealed(path / "ledger.json")
    (found, *_) = [
        portion for answer in ledger["answers"].values() for portion in answer["done"]
        if portion["farther"]
    ]  # fmt: skip
    way = found["farther"][0]["blanks"]
    for blanks, wrong in (
        (way[:-1], "35 moves|34 moves"),
        ([7, *way[1:]], "from cell"),
        ([*way[:-3], way[-1], way[-2], way[-1]], "lead to the goal|from cell"),
    ):
        found["farther"][0]["blanks"] = blanks
        write_sealed(path / "ledger.json", ledger)
        faults = check_cosets(CosetRun.open(path)).faults
        assert len(faults) == 1
        assert re.search(wrong, faults[0].message)
    found["farther"][0]["blanks"] = way
    (several, *_) = [
        portion for answer in ledger["answers"].values() for portion in answer["done"]
        if len(portion["farther"]) > 1
    ]  # fmt: skip
    several["farther"].pop()
    write_sealed(path / "ledger.json", ledger)
    faults = check_cosets(CosetRun.open(path), None).faults
    assert [fault.described for fault in faults] == [False]


@pytest.mark.sweep
def test_checks_find_a_damaged_table(tmp_path):
    gods_number(config(tmp_path))
    path = place_of_cosets(config(tmp_path)).path
    file = path / "tables" / "boards.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    (fault,) = check_cosets(CosetRun.open(path), None).faults
    assert "boards.npy is corrupt (its checksum" in fault.message
    file.write_bytes(b"")
    (fault,) = check_cosets(CosetRun.open(path), None).faults
    assert "boards.npy" in fault.message
    for kept in file.parent.iterdir():
        kept.unlink()
    assert check_cosets(CosetRun.open(path), 1).faults == [], "a table that is missing is made anew"


def test_what_was_asked_is_kept(tmp_path):
    gods_number(config(tmp_path), layers=2)
    run = CosetRun.open(place_of_cosets(config(tmp_path)))
    assert (run.request, run.complete) == ((None, 2), True)
    gods_number(config(tmp_path), at_most=40)
    run = CosetRun.open(run.path)
    assert run.request == (40, 1)
    run.note_request(None, 9)
    assert not CosetRun.open(run.path).complete


def test_listeners_are_told_of_kernels_that_are_compiled(tmp_path, monkeypatch):
    told, make = [], search._asker

    def compile_first(*arguments):
        assert Compiling() not in told
        tell_compiling()
        return make(*arguments)

    monkeypatch.setattr(search, "_asker", compile_first)
    find_gods_number(config(tmp_path), hours=1e-9, listeners=[told.append])
    assert [type(event) for event in told[:3]] == [Starting, Started, Asking]
    assert told[3] == Compiling()


def test_listeners_are_told_what_happens(tmp_path):
    told = []
    find_gods_number(config(tmp_path), hours=1e-9, listeners=[told.append])
    find_gods_number(config(tmp_path), layers=2, listeners=[told.append])
    told = [event for event in told if not isinstance(event, Compiling)]
    kinds = [type(event) for event in told if not isinstance(event, Asking)]
    one, other = (Starting, Started, events.Stopped), (Starting, Started, Finished)
    assert kinds == [*one, *other]
    assert (told[0].resumed, told[0].workers, told[0].states) == (False, 0, None)
    assert told[1].resumed is False
    assert told[1].request == {"at_most": None, "layers": 1}
    assert "time limit" in told[kinds.index(events.Stopped) + 1].reason
    asked = [event for event in told if isinstance(event, Asking)]
    assert asked[0].doing == "making the tables"
    assert all(event.done <= event.portions for event in asked)
    assert (asked[-1].lower, asked[-1].upper, asked[-1].limit) == (36, 36, None)
    told.clear()
    find_gods_number(config(tmp_path), layers=2, listeners=[told.append])
    assert not told, "nothing is left to be done"


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["run.json", "ledger.json", "run.copy.json", "ledger.copy.json"])
def test_the_files_that_a_run_cannot_do_without_are_mended(tmp_path, name):
    gods_number(config(tmp_path))
    place = place_of_cosets(config(tmp_path))
    before = CosetRun.open(place).proof.answers
    (place.path / name).write_text("{}")
    if "copy" not in name:
        with pytest.raises(CorruptRunError, match="is corrupt"):
            CosetRun.open(place)
    assert mend(place) == [f"{place.place(name)}: rewritten from the other copy"]
    assert CosetRun.open(place).proof.answers == before
    assert mend(place) == []


@pytest.mark.sweep
def test_two_searches_at_once_are_refused(tmp_path):
    gods_number(config(tmp_path), hours=1e-9)
    with (
        writing(place_of_cosets(config(tmp_path))),
        pytest.raises(InputError, match=r"written|writing"),
    ):
        gods_number(config(tmp_path))
