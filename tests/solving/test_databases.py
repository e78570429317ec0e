"""Pattern databases that are kept for later solvers."""

import numpy as np
import pytest

from frontier.puzzles import tile_puzzle
from frontier.solving import search as search_module
from frontier.solving.databases import DatabaseFiles, cache_folder
from frontier.solving.search import Search, TileSolver
from frontier.storage.places import storage_at
from tests.support.reference_cosets import board_of
from tests.support.sweeps import swept

METRICS = ("step", "multi")


class Kept:
    """Solvers whose databases are kept below a path; `made` has the names of those made."""

    def __init__(self, path):
        self.storage, self.made = storage_at(path), []

    def files(self):
        return DatabaseFiles(1, lambda name, *_: self.made.append(name), self.storage)

    def solver(self, shape, blank=(0, 0), metric="step"):
        puzzle = tile_puzzle(*shape, blank=blank, metric=metric)
        return TileSolver(puzzle, self.files(), 10**7, 1)

    def solves(self, shape, blank=(0, 0), metric="step"):
        """Whether it solves all positions sampled, with all databases."""
        board, solver = board_of(*shape, blank, metric), self.solver(shape, blank, metric)
        try:
            for load in (lambda: None, solver.load_all):
                load()
                for tiles in sorted(board.distances)[::97]:
                    search = Search(solver.databases.homes(tiles))
                    solver.solve(search, None, lambda: None)
                    if not search.proved or search.length != board.distances[tiles]:
                        return False
        finally:
            solver.close()
        return True


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "databases")


def kept_files(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("metric", METRICS)
def test_a_second_solver_reads_what_the_first_has_kept(kept, tmp_path, metric):
    assert kept.solves((2, 3), metric=metric)
    assert kept.made
    files, kept.made = kept_files(tmp_path), []
    assert files
    assert kept.solves((2, 3), metric=metric)
    assert kept.made == []
    assert kept_files(tmp_path) == files
    puzzle = tile_puzzle(2, 3, metric=metric)
    for sizes in search_module.stages(puzzle, 10**7):
        assert kept.files().kept(puzzle, sizes)
    assert not kept.files().kept(tile_puzzle(2, 5, metric=metric), (3, 3, 3))


@pytest.mark.parametrize("metric", METRICS)
@swept("suffix", ["npy", "json"], few=2)
@swept("how", ["a bit", "cut", "empty", "missing"], few=1)
def test_a_damaged_file_is_made_again(kept, tmp_path, metric, suffix, how):
    assert kept.solves((2, 3), metric=metric)
    good, kept.made = kept_files(tmp_path), []
    for file in sorted(tmp_path.rglob(f"*.{suffix}")):
        content = bytearray(file.read_bytes())
        content[-len(content) // 3] ^= 4
        if how == "missing":
            file.unlink()
        else:
            file.write_bytes({"a bit": content, "cut": content[:-9], "empty": b""}[how])
    assert kept.solves((2, 3), metric=metric)
    assert kept.made
    assert kept_files(tmp_path) == good


@pytest.mark.parametrize("metric", METRICS)
def test_a_cache_that_cannot_be_written_still_solves(tmp_path, metric):
    """Its place is a file."""
    (tmp_path / "file").write_text("not a directory")
    for path in (tmp_path / "file", tmp_path / "file" / "databases"):
        kept = Kept(path)
        assert kept.solves((2, 3), metric=metric)
        assert kept.made
    assert (tmp_path / "file").read_text() == "not a directory"


@pytest.mark.parametrize("metric", METRICS)
def test_a_full_disk_still_solves(kept, monkeypatch, metric):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("frontier.storage.tables.np.save", full)
    assert kept.solves((2, 3), metric=metric)
    monkeypatch.undo()
    kept.made = []
    assert kept.solves((2, 3), metric=metric)
    assert kept.made


@pytest.mark.parametrize("metric", METRICS)
def test_a_damaged_file_that_cannot_be_replaced_is_not_used(kept, tmp_path, monkeypatch, metric):
    assert kept.solves((2, 3), metric=metric)
    for file in tmp_path.rglob("*.npy"):
        file.write_bytes(file.read_bytes()[:-1])
    damaged, kept.made = kept_files(tmp_path), []

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(kept.storage, "new_file", read_only)
    monkeypatch.setattr(kept.storage, "delete", read_only)
    assert kept.solves((2, 3), metric=metric)
    assert kept.made
    assert kept_files(tmp_path) == damaged


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["exists", "memory"])
def test_a_cache_that_cannot_be_read_still_solves(kept, monkeypatch, metric, method):
    assert kept.solves((2, 3), metric=metric)

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(kept.storage, method, denied)
    kept.made = []
    assert kept.solves((2, 3), metric=metric)
    assert kept.made


def test_databases_of_several_boards_do_not_mix(kept):
    """Boards of one number of cells, homes of the blank, and metrics, at one place."""
    boards = [
        (shape, blank, metric)
        for shape, blank in (((2, 3), (0, 0)), ((3, 2), (0, 0)), ((2, 3), (0, 1)))
        for metric in METRICS
    ]
    for _ in range(2):
        assert all(kept.solves(*board) for board in boards)
        assert kept.made or _
        kept.made = []


@pytest.mark.parametrize("metric", METRICS)
def test_puzzles_with_other_goals_share_databases(kept, metric):
    """If the blank's home is the same."""
    assert kept.solves((2, 3), metric=metric)
    kept.made = []
    goal = [[0, 5, 3], [1, 2, 4]]
    for stage in search_module.stages(tile_puzzle(2, 3, metric=metric), 10**7):
        kept.files().databases(tile_puzzle(2, 3, goal=goal, metric=metric), stage)
    assert kept.made == []


@pytest.mark.sweep
@pytest.mark.parametrize("metric", METRICS)
def test_names_of_large_boards_fit_a_file_system(kept, metric):
    """However many groups there are."""
    puzzle = tile_puzzle(5, 5, metric=metric)
    files = kept.files()
    assert not files.kept(puzzle, (1,) * 24)
    board = puzzle.goals[0]
    databases = files.databases(puzzle, (1,) * 24)
    decider = databases.decider(np.zeros(1, dtype=np.uint8))
    assert decider.bound(databases.homes(board)) == 0
    assert files.kept(puzzle, (1,) * 24)


def test_the_place_of_databases(monkeypatch, tmp_path):
    monkeypatch.setenv("FRONTIER_DATABASES", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("FRONTIER_DATABASES")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "frontier" / "databases"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "frontier" / "databases"
