"""What is counted of parts adds up, and a new count is a field and a line that counts it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from frontier.layers import tally
from frontier.layers.tally import Tally

PROGRAM = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import frontier.layers
name, (_, root, form, place) = "frontier.layers.tally", sys.argv
spec = spec_from_file_location(name, "tally.py")
frontier.layers.tally = sys.modules[name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
sys.path.insert(0, root)
from frontier.api import runs as api
from tests.support.tile_runs import FORMS, config_of
plan = FORMS[form](api.plan(config_of(Path(place), 2, 3)))
print([record.tally.thirds for record in api.run(plan).store.records])
"""
"""Runs with a module of tallies of its own. The kernels are those of the package, which are
compiled already."""


def test_tallies_add_up():
    assert Tally(3, 1, 2) + Tally(4, 0, 1) == Tally(7, 1, 3)
    assert Tally(3, 0, None) + Tally() == Tally(3, 0, None)


def with_a_made_up_count():
    """The module of tallies with one more count: three for each state."""
    text = Path(tally.__file__).read_text()
    for before, after in (
        ("    states: Count = 0\n", "    states: Count = 0\n    thirds: Count = 0\n"),
        ("Tally(int(counts.sum()),", "Tally(n := int(counts.sum()), 3 * n,"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["list", "bits", "memory"])
def test_a_new_count_touches_one_file(tmp_path, form):
    """It is in the ledger at the end."""
    (tmp_path / "tally.py").write_text(with_a_made_up_count())
    words = "-c", PROGRAM, str(Path(__file__).parents[2]), form, str(tmp_path / "run")
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    layers = json.loads((tmp_path / "run" / "run" / "ledger.json").read_text())["layers"]
    assert json.loads(done.stdout) == [3 * layer["tally"]["states"] for layer in layers]
    assert [layer["tally"]["thirds"] for layer in layers] == json.loads(done.stdout)
