"""What commands load: nothing that they do not use, as loading takes longer than many a command."""

import subprocess
import sys

import pytest

from frontier.cli import COMMANDS

LOADED = """
import sys
from frontier.cli import main
main(sys.argv[1:], prog_name="frontier", standalone_mode=False)
print(*sys.modules)
"""

PARTS = {
    f"frontier.{part}"
    for part in ("answers", "clusters", "config", "cosets", "forecast", "puzzles", "report",
                 "search", "space", "storage", "store", "thesis")
}  # fmt: skip


def loaded(*arguments):
    """The modules that a command loads."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_loads_none_of_them(option):
    modules = loaded(option)
    assert not modules & (PARTS | {"numpy", "pydantic", "rich"})
    assert not modules & {f"frontier.cli.{module}" for module, _ in COMMANDS.values()}
