"""The options that hints name: for an option that a command does not have, and for what an error
names."""

import ast
import re
import shlex
from pathlib import Path

import pytest

import frontier
from frontier.cli import main
from frontier.cli.hints import MEANT, SETTING, options
from frontier.config.loading import load_config
from tests.support.commands import invoke
from tests.support.temporary_runs import CONFIGS

DESTRUCTIVE = "--fresh", "--yes", "--force", "--take-over"


def hint_of(command, option):
    """What stands behind the complaint about an option."""
    said = invoke(command, CONFIGS / "2x3.toml", option, code=2).stderr.splitlines()[-1]
    start = f"Error: No such option '{option.partition('=')[0]}'."
    assert said.startswith(start)
    return said.removeprefix(start).strip()


@pytest.mark.parametrize("name", main.commands)
def test_no_hint_names_what_deletes(name):
    """Whatever is misspelled, by a letter or as people do who know other programs."""
    typed = [option[:-1] for option in DESTRUCTIVE]
    for option in (*typed, "--workrs", "--resume", "--restart", "--refresh", "--forced", "--yess"):
        hint = hint_of(name, option)
        assert not any(re.search(rf"{word}\b", hint) for word in DESTRUCTIVE), (option, hint)


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("run", "--threads=4", "Use --workers instead."),
        ("gods-number", "--threads", "Use --workers instead."),
        ("plan", "--ram", "Use --memory instead."),
        ("run", "--output", "Use --out instead."),
        ("run", "-j", "Use --workers instead."),
        ("run", "--max_depth", "Use --until DEPTH instead."),
        ("gods-number", "--metric", "Use --set puzzle.metric=multi instead."),
        ("run", "--resume", "To resume a run, repeat the command that started it."),
        ("gods-number", "--resume", "To resume a run"),
        ("run", "--plan", "Use --dry-run instead."),
        ("run", "--workrs", "Did you mean '--workers'?"),
        ("run", "--unti", "Did you mean '--until'?"),
    ],
)
def test_the_remedy_is_named(command, option, hint):
    assert hint in hint_of(command, option)


@pytest.mark.parametrize("option", ["--depth", "--keep", "--output", "--zzz"])
def test_an_option_of_another_command_is_not_offered(option):
    assert hint_of("status", option) == ""


def test_every_option_that_is_advised_is_known():
    known = {name for parameter in main.commands["run"].params for name in parameter.opts}
    assert {option.split()[0] for option in MEANT} <= known
    settings = [option.removeprefix("--set ") for option in MEANT if option.startswith("--set")]
    load_config(CONFIGS / "2x3.toml", settings)


PACKAGE = Path(frontier.__file__).parent

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
"""An option within a text."""

PARAMETERS = [
    (name, parameter)
    for command in main.commands
    for parameter in main.commands[command].params
    for name in parameter.opts
]
"""(name, parameter) of the options of all commands."""


def texts_of(file):
    """The string constants of a module, docstrings included."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def test_only_the_command_line_names_its_options():
    """The rest of the package is used from Python too. Other programs' options may be named."""
    options_of_commands, files = dict(PARAMETERS).keys(), list(PACKAGE.rglob("*.py"))
    assert files
    for file in files:
        if file.parent != PACKAGE / "cli":
            named = {option for text in texts_of(file) for option in OPTION.findall(text)}
            assert not named & options_of_commands, file


@pytest.mark.parametrize(("name", "option"), SETTING.items())
def test_an_error_that_names_a_setting_is_followed_by_its_option(name, option):
    assert options(f"too little; choose {name}.") == f" (on the command line: {option})"
    assert options(f"resume with: frontier run 2x3 --set {name}=1") == ""
    assert OPTION.search(option)[0] in dict(PARAMETERS)
    if option.startswith("--set"):
        load_config(CONFIGS / "2x3.toml", shlex.split(option)[1])


def test_every_short_option_of_a_setting_is_offered():
    shorts = {
        found[1]: f"{name} {parameter.metavar or ''}".strip()
        for name, parameter in PARAMETERS
        if (found := re.search(r"Short for --set ([\w.]+)\.$", str(getattr(parameter, "help", ""))))
    }
    assert len(shorts) == 5
    assert shorts.items() <= SETTING.items()


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--workers", "100000"), "--workers N"),
        (("--memory", "1MB"), "--memory SIZE"),
        (("--codec", "none"), "--codec CODEC"),
        (("--out", __file__), "--out DIRECTORY"),
    ],
)
def test_a_refusal_ends_with_the_option(words, option):
    said = invoke("run", CONFIGS / "2x3.toml", *words, code=2).stderr
    assert said.endswith(f" (on the command line: {option})\n")
