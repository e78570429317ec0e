"""What is counted of parts adds up, and a new count is a field and a line that counts it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frontier
from frontier.layers.tally import Tally

PROGRAM = """
import sys
from pathlib import Path
from frontier.api import runs as api
sys.path.insert(0, sys.argv[1])
from tests.support.tile_runs import FORMS, config_of
plan = FORMS[sys.argv[2]](api.plan(config_of(Path(sys.argv[3]), 2, 3)))
print([record.tally.thirds for record in api.run(plan).store.records])
"""


def test_tallies_add_up():
    assert Tally(3, 1, 2) + Tally(4, 0, 1) == Tally(7, 1, 3)
    assert Tally(3, 0, None) + Tally() == Tally(3, 0, None)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A directory with a copy of the package that has a made-up count: three for each state."""
    home = tmp_path_factory.mktemp("home")
    copy = home / "frontier"
    shutil.copytree(Path(frontier.__file__).parent, copy)
    module = copy / "layers" / "tally.py"
    for before, after in (
        ("    states: Count = 0\n", "    states: Count = 0\n    thirds: Count = 0\n"),
        ("Tally(int(counts.sum()),", "Tally(n := int(counts.sum()), 3 * n,"),
    ):
        text = module.read_text()
        assert text.count(before) == 1
        module.write_text(text.replace(before, after))
    return home


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["list", "bits", "memory"])
def test_a_new_count_touches_one_file(home, tmp_path, form):
    """It is in the ledger at the end."""
    root = Path(__file__).parents[2]
    words = "-c", PROGRAM, str(root), form, str(tmp_path / "run")
    environment = {"PYTHONPATH": str(home), "PATH": "/usr/bin:/bin", "HOME": str(home)}
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    layers = json.loads((tmp_path / "run" / "run" / "ledger.json").read_text())["layers"]
    assert json.loads(done.stdout) == [3 * layer["tally"]["states"] for layer in layers]
    assert [layer["tally"]["thirds"] for layer in layers] == json.loads(done.stdout)
