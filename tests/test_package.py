"""What an installation has besides the modules."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_file_of_the_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {
        file
        for package, patterns in settings["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for file in ROOT.joinpath(*package.split(".")).glob(pattern)
        if file.is_file()
    }
    files = (file for file in (ROOT / "frontier").rglob("*") if file.is_file())
    data = {file for file in files if file.suffix not in (".py", ".pyc", ".nbi", ".nbc")}
    assert data == listed
    assert ROOT / "frontier" / "py.typed" in data
    assert ROOT / "frontier" / "report" / "templates" / "notebook" / "run.html" in data
