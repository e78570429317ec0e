"""What is said to options that a command does not have."""

import re

import pytest

from frontier.cli import main
from frontier.cli.hints import MEANT
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
