"""Short campaigns of faults and of fuzz; faults.py and fuzz.py do long ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(*words):
    """Run Python with these arguments, for which the campaigns can be imported."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command, environment = [sys.executable, *words], {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def campaign(tmp_path, *words):
    """(injected, detected, survived, wrong) of a campaign, what it said, and its exit code."""
    result = python("-m", "tests.campaigns.faults", "--scratch", tmp_path, *words)
    if result.returncode == 77:
        pytest.skip(result.stdout)
    assert result.stdout, result.stderr
    return tuple(map(int, result.stdout.split()[-4:])), result.stderr, result.returncode


@pytest.mark.sweep
@pytest.mark.parametrize("case", ["2x4 fine", "gods-number 2x4"])
def test_a_short_campaign(tmp_path, case):
    """It ends with an error if a result is wrong."""
    words = "--faults", "4", "--seed", "3", "--case", case, "--hold", "0.5"
    (injected, detected, survived, wrong), said, code = campaign(tmp_path, *words)
    assert (injected, wrong, code) == (4, 0, 0), said
    assert detected + survived == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.sweep
def test_harm_at_system_calls(tmp_path):
    """Some points of a run by tasks, of one in memory and of a search for God's number; each is
    resumed and compared."""
    (injected, _, survived, wrong), said, code = campaign(tmp_path, "--calls", "10")
    assert (injected, survived, wrong, code) == (10, 10, 0, 0), said


@pytest.mark.sweep
def test_power_losses(tmp_path):
    """Some states that the disk may be in, of a run by tasks, of one in memory and of a search of
    God's number."""
    (injected, detected, survived, wrong), said, code = campaign(tmp_path, "--power", "10")
    assert (injected, detected + survived, wrong, code) == (10, 10, 0, 0), said
    assert survived > 5
    assert not list(tmp_path.iterdir())


@pytest.mark.sweep
def test_requests_to_an_object_store(tmp_path):
    """Some that go wrong, and drivers that are killed or are not alone."""
    words = "--requests", "10", "--case", "objects, memory"
    (injected, _, survived, wrong), said, code = campaign(tmp_path, *words)
    assert (injected, wrong, code) == (survived, 0, 0), said
    assert injected >= 10


@pytest.mark.sweep
def test_a_layer_that_is_lost_is_told(tmp_path):
    """A program that forces nothing to the disk does not keep what it promises."""
    (tmp_path / "forgetful.py").write_text(
        "import os\nos.fsync = lambda number: None\n"
        "from tests.campaigns import faults\nfaults.main()\n"
    )
    words = "--power", "10", "--scratch", tmp_path, "--case", "2x4 fine"
    done = python(tmp_path / "forgetful.py", *words)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 1
    assert "were announced" in done.stderr


@pytest.mark.sweep
def test_fuzzed_files(tmp_path):
    """Whatever is in them, all that comes of it is a sentence."""
    words = "--inputs", "300", "--seed", "2", "--scratch", tmp_path
    done = python("-m", "tests.campaigns.fuzz", *words)
    assert done.returncode == 0, done.stderr
    inputs, refused, taken, failed = map(int, done.stdout.split()[-4:])
    assert (inputs, failed) == (300, 0)
    assert min(refused, taken) > 30


@pytest.mark.sweep
def test_an_exception_of_a_reader_is_told(tmp_path):
    (tmp_path / "careless.py").write_text(
        "from frontier.layers import record\n"
        "from tests.campaigns import fuzz\n"
        "class Careless:\n"
        "    validate_python = lambda layers: [record.LayerRecord(**line) for line in layers]\n"
        "record.LINES = Careless\nfuzz.main()\n"
    )
    words = "--inputs", "500", "--kind", "ledger", "--scratch", tmp_path
    done = python(tmp_path / "careless.py", *words)
    assert done.returncode == 1
    assert "AttributeError" in done.stderr


@pytest.mark.sweep
def test_a_wrong_result_is_told(tmp_path):
    """A run that differs from the undisturbed one in a single byte is not taken for right."""
    lies = (
        "import sys; sys.argv = ['faults.py', '--faults', '2', '--case', '2x5', '--kind',"
        f" 'terminate', '--scratch', {str(tmp_path)!r}];"
        " from tests.campaigns import faults, trials; found = trials.found_in;"
        " trials.found_in = lambda path: (found(path)[0], {d: {n: s + ('' if path.name =="
        " 'undisturbed' else 'x') for n, s in f.items()} for d, f in found(path)[1].items()});"
        " faults.main()"
    )
    done = python("-c", lies)
    assert done.returncode == 1
    assert "differs" in done.stderr
