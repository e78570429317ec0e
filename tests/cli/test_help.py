"""`--help` as a manual page, and what shells complete."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from frontier.cli import main
from frontier.cli.help import Command
from frontier.config import load_config
from frontier.errors import InputError

ROOT = Path(__file__).parents[2]
COMMANDS = main.commands
EXAMPLES = [(name, line) for name in COMMANDS for line in COMMANDS[name].examples]


def help_of(name, width):
    arguments = [name, "--help"] if name else ["--help"]
    result = CliRunner().invoke(main, arguments, prog_name="frontier", terminal_width=width)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("width", [60, 80])
def test_help_fits_the_terminal(name, width):
    said = help_of(name, width)
    assert max(map(len, said.splitlines())) <= width
    assert "..." not in re.sub(r"\[?(ARGS|BOARD|NAME|RUN)\]?\.\.\.", "", said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page(name):
    command = COMMANDS[name]
    assert isinstance(command, Command)
    said = help_of(name, 80)
    titles = [line for line in said.splitlines() if line.endswith(":") and line[0] != " "]
    wanted = ["Options:", "Examples:", "Files:", "Exit codes:", "See also:"]
    assert said.count("Examples:") == 1
    assert titles == [title for title in wanted if title in titles]
    assert {"Options:", "Examples:", "See also:"} <= set(titles)
    options = said.split("Options:\n")[1].split("\n\n")[0].splitlines()
    assert all(line.startswith((" " * 10, "  -")) for line in options)
    for parameter in command.params:
        assert parameter.param_type_name == "argument" or parameter.help, parameter.name
        if parameter.param_type_name == "argument":
            assert parameter.make_metavar(command.context_class(command)).strip("[].") in said
    for other in command.see_also:
        assert other.split()[0] in COMMANDS or (ROOT / other).exists()


def test_every_command_stands_in_one_section():
    listed = [COMMANDS[name] for names in main.sections.values() for name in names]
    assert sorted(command.name for command in listed) == sorted(COMMANDS)
    said = help_of("", 80)
    assert all(f"\n{title}:\n" in said for title in main.sections)


@pytest.mark.parametrize(("name", "line"), [*EXAMPLES, *(("", line) for line in main.examples)])
def test_examples_are_commands(name, line):
    """Each is taken by the parser, and stands in the help so that a shell takes it too."""
    command, *arguments = shlex.split(line)
    if arguments != ["--help"]:
        COMMANDS[command].make_context(command, arguments)
    assert all((ROOT / word).exists() for word in arguments if word.startswith("configs/"))
    for width in (60, 80):
        shown = help_of(name, width).split("Examples:\n")[1].split("\n\n")[0]
        assert ["frontier", *shlex.split(line)] in [
            shlex.split(part) for part in shown.replace("\\\n", "").splitlines()
        ]


def completed(*words):
    """What bash is offered for the last word."""
    complete = BashComplete(main, {}, "frontier", "_FRONTIER_COMPLETE")
    found = complete.get_completions([*words[:-1]], words[-1])
    return {item.value for item in found}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with configs and a run."""
    (tmp_path / "configs").mkdir()
    for name in ("2x2", "2x3"):
        text = (ROOT / "configs" / f"{name}.toml").read_text(encoding="utf-8")
        (tmp_path / "configs" / f"{name}.toml").write_text(text, encoding="utf-8")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "runs" / "none").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["run", "configs/2x2.toml"]).exit_code == 0
    return tmp_path


def test_runs_and_configs_are_completed(folder):
    configs = {"configs/2x2.toml", "configs/2x3.toml"}
    assert completed("plan", "conf") == completed("run", "conf") == configs
    assert completed("run", "configs/2x3") == {"configs/2x3.toml"}
    assert completed("status", "") == completed("run", "") == configs | {"runs/2x2"}
    assert completed("status", "runs/") == completed("verify", "run") == {"runs/2x2"}
    assert completed("farthest", str(folder / "runs") + "/") == {str(folder / "runs" / "2x2")}
    assert completed("status", "nowhere/") == set()


def test_commands_options_and_keys_are_completed():
    assert completed("s") == {"status", "solve"}
    assert "--until" in completed("run", "configs/2x2.toml", "--")
    assert completed("run", "--set", "search.k") == {"search.keep=frontier", "search.keep=all"}
    assert {"cluster.workers=", "cluster.kind=slurm", "puzzle.metric=multi"} <= completed(
        "run", "--set", ""
    )


def complaint(setting):
    try:
        load_config(ROOT / "configs" / "2x2.toml", (setting,))
    except InputError as error:
        return str(error)
    return ""


def test_every_key_offered_is_known():
    assert "unknown" in complaint("search.kept=all")
    for setting in completed("run", "--set", ""):
        if not setting.startswith("puzzle."):  # these are of one kind each
            assert "unknown" not in complaint(setting)


def test_bash_takes_the_script(folder):
    """As the shell asks: through the program's own script."""
    program = folder / "frontier"
    code = "from frontier.cli import main; main(prog_name='frontier')"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n')
    program.chmod(0o755)
    said = subprocess.run(
        [
            "bash",
            "-c",
            'PATH="$PWD:$PATH"; eval "$(_FRONTIER_COMPLETE=bash_source frontier)"; '
            "COMP_WORDS=(frontier status ru) COMP_CWORD=2; _frontier_completion frontier; "
            'echo "$COMPREPLY"',
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "runs/2x2", said.stderr
