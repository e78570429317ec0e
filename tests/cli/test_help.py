"""`--help`, and what shells complete."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from frontier import cli
from frontier.cli import main
from frontier.config.loading import load_config
from frontier.errors import CorruptRunError, FrontierError, InputError, Stopped

ROOT = Path(__file__).parents[2]
COMMANDS = main.commands


def examples_of(command):
    """The command lines that the help of a command shows, without the program's name."""
    return re.findall(r"^  frontier (.+)$", command.epilog, re.MULTILINE)


EXAMPLES = [line for command in (main, *COMMANDS.values()) for line in examples_of(command)]


def help_of(*name):
    result = CliRunner().invoke(main, [*name, "--help"], prog_name="frontier", terminal_width=80)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("name", [(), *((name,) for name in COMMANDS)])
def test_help_fits_the_terminal(name):
    said = help_of(*name)
    assert max(map(len, said.splitlines())) <= 80
    assert "..." not in re.sub(r"\[?(ARGS|BOARD|NAME|RUN|WORD)\]?\.\.\.", "", said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_takes_and_how_it_is_used(name):
    command, said = COMMANDS[name], help_of(name)
    for parameter in command.params:
        assert parameter.param_type_name == "argument" or parameter.help, parameter.name
        if parameter.param_type_name == "argument":
            assert parameter.make_metavar(command.context_class(command)).strip("[].") in said
    lines = examples_of(command)
    assert any(line.startswith(name) for line in lines)
    for line in lines:
        assert f"\n    frontier {line}\n" in said


def test_all_commands_are_listed_in_the_order_of_use():
    listed = re.findall(r"^  ([a-z-]+)  ", help_of().split("Commands:\n")[1], re.MULTILINE)
    assert listed == list(COMMANDS)
    assert listed[:3] == ["list", "init", "plan"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_its_own_short_help(name):
    """The list is made without the modules of the commands."""
    listed = cli.COMMANDS[name]
    assert listed == COMMANDS[name].get_short_help_str(limit=100)
    assert re.search(rf"^  {name} +{re.escape(listed)}$", help_of(), re.MULTILINE)


def test_exit_codes():
    said = dict(re.findall(r"^    (\d)  (.+)$", help_of(), re.MULTILINE))
    for error, what in ((FrontierError, "failed"), (InputError, "bad input"),
                        (Stopped, "stopped"), (CorruptRunError, "corrupt")):  # fmt: skip
        assert said.pop(str(error.exit_code)).startswith(what)
    assert said == {"0": "done"}


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_are_commands(line):
    """Each is taken by the parser, as a shell would hand it on."""
    command, *arguments = shlex.split(line, comments=True)
    COMMANDS[command].make_context(command, arguments)
    assert all((ROOT / word).exists() for word in arguments if word.startswith("configs/"))


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
    assert completed("run", "hak") == {"hakoiri", "hakoiri-exit"}
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


@pytest.mark.sweep
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


def test_the_help_names_the_command_for_completion():
    said = CliRunner().invoke(main, ["--help"]).output
    script = re.search(r"(_FRONTIER_COMPLETE)=(bash_source) frontier", said)
    made = CliRunner().invoke(main, [], prog_name="frontier", env={script[1]: script[2]})
    assert "complete" in made.output
