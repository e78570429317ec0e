"""Parts that are given up once others have taken their place."""

import shutil

from frontier.layers.run import LayerRun
from frontier.puzzles import tile_puzzle
from frontier.space.layout import Layout
from tests.support.temporary_runs import IDENTITY

LAYOUT = Layout(tile_puzzle(2, 4).model.space, 0, 1)


def begun(path):
    """A run in whose layers 2 and 4 part 1 is there, whatever it holds."""
    run = LayerRun.create(path, IDENTITY)
    for depth in (2, 4):
        run.files(depth, LAYOUT).begin()
        run.files(depth, LAYOUT).path(1).write_bytes(b"a part")
    return run


def test_a_part_is_given_up_for_its_successor_only(tmp_path):
    run = begun(tmp_path / "run")
    run.files(2, LAYOUT).path(0).write_bytes(b"a part without successor")
    for task in (0, 1, 2):
        run.delete_replaced_part(2, task, LAYOUT)
    assert [path.name for path in run.layer_path(2).glob("c.*")] == ["c.0.0.0"]
    run.delete_replaced_part(0, 1, LAYOUT)  # the layer has been forgotten


def test_parts_of_a_run_that_has_taken_the_place_are_not_met(tmp_path):
    """However late a worker of the earlier one is."""
    earlier = begun(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    later = begun(tmp_path / "run")
    before = {path: path.read_bytes() for path in later.layer_path(0).parent.rglob("c.*")}
    earlier.delete_replaced_part(2, 1, LAYOUT)
    assert {path: path.read_bytes() for path in later.layer_path(0).parent.rglob("c.*")} == before
