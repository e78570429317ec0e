"""An empty text names no place, so no option or key takes it for the default or the working
directory: `--out "$UNSET"` must not lead to another run."""

import click
import pytest
from click.testing import CliRunner

from frontier.cli import COMMANDS, main
from frontier.cli.common import PlaceName
from frontier.config.loading import make_config
from frontier.config.schema import ClusterTable, StoreTable
from frontier.errors import InputError
from frontier.storage.places import storage_at

PLACES = {
    "FILE", "DIR", "DIRECTORY", "RUN", "TARGET", "CONFIG|RUN", "CONFIG|RUN...", "RUN|CONFIG",
    "RUN...",
}  # fmt: skip
"""What helps call a path: these names, and FILE with a suffix."""

TILES = {"kind": "tiles", "rows": 2, "columns": 3}


def places():
    """Yield each parameter that names a place, with its command."""
    for name in COMMANDS:
        command = main.commands[name]
        for parameter in command.params:
            metavar = parameter.metavar or ""
            is_path = isinstance(parameter.type, click.Path) or parameter.name == "file"
            if metavar in PLACES or metavar.startswith("FILE") or is_path:
                yield name, command, parameter


def test_every_parameter_that_names_a_place_is_checked():
    found = list(places())
    assert {parameter.name for _, _, parameter in found} >= {"config", "run", "runs", "target"}
    assert {"--out", "--svg", "--expect"} <= {
        option for _, _, parameter in found for option in parameter.opts
    }
    for _, _, parameter in found:
        assert isinstance(parameter.type, PlaceName), parameter


@pytest.mark.parametrize("blank", ["", " "])
def test_blank_places_are_bad_input(blank):
    for name, command, parameter in places():
        if isinstance(parameter, click.Option):
            needed = [
                "2x3" if of.metavar != "DEPTH" else "1"
                for of in command.params
                if isinstance(of, click.Argument) and of.required
            ]
            arguments = [*needed, parameter.opts[0], blank]
        else:
            before = [of for of in command.params if isinstance(of, click.Argument)]
            arguments = ["2x3"] * before.index(parameter) + [blank, "1"]
        result = CliRunner().invoke(main, [name, *arguments])
        assert result.exit_code == 2, (name, arguments, result.output)
        assert "names no place" in result.output, (name, arguments, result.output)


def test_an_empty_directory_deletes_no_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ["run", "2x3", "--quiet"]
    assert CliRunner().invoke(main, run).exit_code == 0
    identity = (tmp_path / "runs/2x3/run.json").read_bytes()
    for option in ("--out", "--set"):
        value = "" if option == "--out" else "store.path="
        result = CliRunner().invoke(main, [*run, "--fresh", "--yes", option, value])
        assert result.exit_code == 2
        assert (tmp_path / "runs/2x3/run.json").read_bytes() == identity


@pytest.mark.parametrize("option", ["--memory", "--codec"])
def test_other_empty_values_are_not_the_default(option):
    result = CliRunner().invoke(main, ["run", "2x3", "--dry-run", option, ""])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("table", "key"), [("store", "path"), ("cluster", "address"), ("cluster", "scheduler_file")]
)
@pytest.mark.parametrize("blank", ["", " \t"])
def test_blank_places_in_a_config(table, key, blank):
    with pytest.raises(InputError, match=rf"{table}\.{key} = "):
        make_config("mine", TILES, **{table: {key: blank}})


def test_every_text_key_of_a_place_is_listed():
    """A new key must say whether it names a place."""
    texts = {
        key
        for table in (StoreTable, ClusterTable)
        for key, field in table.model_fields.items()
        if "str" in str(field.annotation)
    }
    assert texts == {"path", "codec", "address", "scheduler_file", "options"}


def test_blank_options_of_a_queue():
    with pytest.raises(InputError, match=r"cluster\.options\.log_directory"):
        make_config("mine", TILES, cluster={"options": {"log_directory": ""}})


def test_a_blank_text_is_no_storage():
    for blank in ("", " "):
        with pytest.raises(InputError, match="names no place"):
            storage_at(blank)


def test_a_size_without_a_unit_names_the_option():
    for command in (["run", "2x3"], ["plan", "2x3"], ["gods-number", "2x3"]):
        result = CliRunner().invoke(main, [*command, "--memory", "4"])
        assert result.exit_code == 2
        assert "--memory" in result.output
        assert '"4GB"' in result.output
