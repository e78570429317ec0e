"""What is said to options that a command does not have."""

import re

import pytest
from making import CONFIGS, invoke

from frontier.cli import main
from frontier.cli.hints import SETTINGS
from frontier.config import load_config

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
    for option in (*typed, "--workers", "--resume", "--restart", "--refresh", "--forced", "--yess"):
        if any(option in parameter.opts for parameter in main.commands[name].params):
            continue
        hint = hint_of(name, option)
        assert not any(re.search(rf"{word}\b", hint) for word in DESTRUCTIVE), (option, hint)


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("run", "--workers", "Give --set cluster.workers=4 instead."),
        ("run", "--workers=4", "Give --set cluster.workers=4 instead."),
        ("gods-number", "--threads", "Give --set cluster.workers=4 instead."),
        ("plan", "--memory", "Give --set cluster.memory=4GB instead."),
        ("run", "--out", "Give --set store.path=DIRECTORY instead."),
        ("run", "-j", "Give --set cluster.workers=4 instead."),
        ("run", "--max_depth", "Give --until DEPTH to stop after a depth."),
        ("run", "--resume", "frontier run` resumes what was stopped; no option is needed."),
        ("gods-number", "--resume", "frontier gods-number` resumes what was stopped"),
        ("run", "--dry-run", "frontier plan` says what a search will take, and writes nothing."),
        ("gods-number", "--dry-run", "frontier gods-number --plan` says what a search will take"),
        ("run", "--unti", "'--until'"),
    ],
)
def test_the_remedy_is_named(command, option, hint):
    assert hint in hint_of(command, option)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_that_is_advised_is_known(setting):
    load_config(CONFIGS / "2x3.toml", setting)
