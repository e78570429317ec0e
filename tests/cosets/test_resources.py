"""What a search of cosets is said to use, of boards that fit and of boards that do not."""

import pytest

from frontier import machine
from frontier.config.loading import config_of
from frontier.cosets.resources import plan_cosets
from frontier.errors import InputError
from tests.support.coset_runs import find_gods_number

GB = 10**9


@pytest.fixture
def memory(monkeypatch):
    """Sets the memory of the machine."""
    return lambda size: monkeypatch.setattr(machine, "memory", lambda: size)


def config(tmp_path, rows, columns):
    puzzle = {"kind": "tiles", "rows": rows, "columns": columns}
    values = {"name": "a", "puzzle": puzzle, "store": {"path": str(tmp_path / "run")}}
    return config_of(values, "the test")


def test_a_board_that_fits(tmp_path, memory):
    memory(24 * GB)
    plan = plan_cosets(config(tmp_path, 2, 8))
    assert plan.refusal is None
    bits = 57_657_600 / 60 * 64 / 8
    assert bits + 1_814_400 < plan.region.memory_while_made < plan.bytes <= plan.room < 24 * GB
    assert plan.most_cosets == 57_657_600 // 2


def test_a_board_that_fits_with_more_memory(tmp_path, memory):
    """The memory that the refusal asks for is enough."""
    memory(24 * GB)
    assert plan_cosets(config(tmp_path, 4, 5)).refusal is None
    memory(16 * GB)
    plan = plan_cosets(config(tmp_path, 4, 5))
    assert "take 17" in plan.refusal
    assert "a machine with 23" in plan.refusal
    memory(24 * GB)
    assert plan_cosets(config(tmp_path, 4, 5)).refusal is None


def test_a_region_that_fits_is_proposed(tmp_path, memory):
    memory(24 * GB)
    refusal = plan_cosets(config(tmp_path, 2, 8), "2x7").refusal
    proposed = refusal.split("another region, such as ")[1].split(",")[0]
    assert plan_cosets(config(tmp_path, 2, 8), proposed).refusal is None


def test_a_search_that_does_not_fit_begins_nothing(tmp_path, memory):
    memory(24 * GB)
    with pytest.raises(InputError, match="may be used here; use a machine with"):
        find_gods_number(config(tmp_path, 2, 11))
    assert list(tmp_path.iterdir()) == []
