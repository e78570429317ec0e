"""A short campaign of random faults; scripts/faults.py does long ones."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "faults.py"


def test_a_short_campaign(tmp_path, capsys):
    """It ends with an error if a result is wrong."""
    campaign = runpy.run_path(str(SCRIPT))
    words = "--faults 10 --seed 3 --case 2x5 --hold 0.5 --scratch"
    campaign["main"]([*words.split(), str(tmp_path)])
    injected, detected, survived, wrong = map(int, capsys.readouterr().out.split()[-4:])
    assert (injected, wrong) == (10, 0)
    assert detected + survived == 10
