import errno
import os
import subprocess
import sys
import tomllib

import pytest

from frontier.config.loading import load_config
from frontier.errors import InputError, StorageError
from frontier.puzzles import KINDS
from frontier.puzzles.settings import KIND_TABLES
from frontier.storage.local import LocalStorage
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

GOOD = """
name = "mine"
[puzzle]
kind = "tiles"
rows = 2
columns = 3
"""

BLOCKS = """
name = "mine"
[puzzle]
kind = "blocks"
goal = "ab/.b"
"""
GRAPH = """
name = "mine"
[puzzle]
kind = "graph"
adjacency = [[1], [0, 2], [1]]
goal = "ab."
"""


def load(tmp_path, text, *settings):
    path = tmp_path / "c.toml"
    path.write_text(text)
    return load_config(path, settings)


def test_defaults(tmp_path):
    config = load(tmp_path, GOOD)
    assert config.path.parts[-2:] == ("runs", "mine")
    assert (config.search.keep, config.search.until, config.store.codec) == (
        "frontier",
        None,
        "bitmap",
    )
    assert config.cluster.kind == "local"
    assert config.cluster.workers >= 1
    assert config.make_puzzle().goals == ((0, 1, 2, 3, 4, 5),)


def test_every_kind_of_puzzle_has_its_table():
    assert set(KIND_TABLES) == set(KINDS)


def test_a_blank_may_be_called_all(tmp_path):
    settings = ('puzzle.blank="all"', 'puzzle.goal=["a", "b", "all"]')
    config = load(tmp_path, GRAPH, *settings)
    assert config.members == [config]
    assert config.make_puzzle().goals == ((1, 2, 0),)


def test_windows_line_ends(tmp_path):
    (tmp_path / "c.toml").write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert load_config(tmp_path / "c.toml").name == "mine"


@pytest.mark.sweep
def test_configs_are_utf8_whatever_the_locale(tmp_path):
    goat = CONFIGS / "goat.toml"
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + goat.read_bytes())
    paths = [str(goat), str(tmp_path / "bom.toml")]
    ask = "import sys\nfrom frontier.config.loading import load_config as load\n"
    ask += "for path in sys.argv[1:]: assert load(path).puzzle.symbols['e'] == '\\u2016'"
    ascii_only = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", ask, *paths], check=True, env=ascii_only)
    assert [load_config(path).puzzle.symbols["e"] for path in paths] == ["‖", "‖"]


def test_settings_override(tmp_path):
    config = load(
        tmp_path,
        GOOD,
        "puzzle.rows=3",
        "store.codec=zstd:3",
        'store.path="/somewhere"',
        "cluster.memory=2GB",
        "puzzle.goal=[[1,2,3],[4,5,6],[7,8,0]]",
    )
    assert config.puzzle.rows == 3
    assert (config.store.codec, config.store.path) == ("zstd:3", "/somewhere")
    assert config.cluster.memory == 2_000_000_000
    assert config.make_puzzle().goals == ((1, 2, 3, 4, 5, 6, 7, 8, 0),)
    alone = load_config(tmp_path / "c.toml", "cluster.workers=1")
    assert alone.cluster.workers == 1


def test_each_kind_of_puzzle_is_made(tmp_path):
    for puzzle, title in (
        ('kind = "blocks"\ngoal = "aab/..b"', "2×3 blocks, 2 pieces (step)"),
        ('kind = "graph"\nadjacency = [[1], [0, 2], [1]]\ngoal = "ab."', "graph of 3 cells, 2 kin"),
        ('kind = "tiles"\nrows = 2\ncolumns = 3\nmetric = "multi"', "2×3 tiles, any number"),
    ):
        config = load(tmp_path, f'name = "mine"\n[puzzle]\n{puzzle}')
        assert config.make_puzzle().title.startswith(title)
        assert config.members == [config]


def test_all_blanks_stand_for_a_run_each(tmp_path):
    """One for each orbit of cells under the board's symmetries, in directories of their own."""
    config = load(tmp_path, GOOD, "puzzle.rows=3", "puzzle.blank=all", "store.path=/somewhere")
    assert [member.puzzle.blank for member in config.members] == [[0, 0], [0, 1], [1, 1]]
    assert [member.make_puzzle().goals[0].index(0) for member in config.members] == [0, 1, 4]
    assert [member.name for member in config.members] == [
        "mine-blank-0-0", "mine-blank-0-1", "mine-blank-1-1",
    ]  # fmt: skip
    paths = [member.path for member in config.members]
    assert len(set(paths)) == 3
    assert {str(path.parent) for path in paths} == {"/somewhere"}


@pytest.mark.parametrize(
    ("text", "settings", "words"),
    [
        ("name = ", (), ["not valid TOML"]),
        (GOOD, ("puzzle.row=3",), ["puzzle.row", "did you mean puzzle.rows?"]),
        (GOOD, ("serch.keep=all",), ["serch", "did you mean search"]),
        (GOOD, ("store.zzz=1",), ["store.zzz", "codec", "path"]),
        (GOOD, ("puzzle.rows=0",), ["puzzle.rows", "0", "at least 1"]),
        (GOOD, ("puzzle.rows=two",), ["puzzle.rows", "two", "whole number"]),
        (GOOD, ("puzzle.rows=7", "puzzle.columns=6"), ["42", "40"]),
        (GOOD, ("puzzle.kind=tile",), ["puzzle.kind", "tile", "tiles"]),
        (GOOD, ("puzzle.goal=[[0,1,2],[3,4,4]]",), ["puzzle.goal", "0..5"]),
        (GOOD, ("puzzle.goal=[[0,1],[2,3]]",), ["puzzle.goal", "2 rows of 3"]),
        (GOOD, ("puzzle.start=[[0,2,1],[3,4,5]]",), ["puzzle.start", "parity"]),
        (GOOD, ("puzzle.metric=far",), ["puzzle.metric", "far", "step", "multi"]),
        (GOOD, ("puzzle.blank=[2,0]",), ["puzzle.blank", "[2, 0]", "0..1", "0..2"]),
        (GOOD, ("puzzle.blank=[0]",), ["puzzle.blank", "[0]"]),
        (GOOD, ("puzzle.blank=some",), ["puzzle.blank", "some", "all"]),
        (GOOD, ("puzzle.goals=[]",), ["puzzle.goals", "not empty"]),
        (GOOD, ("puzzle.alike=[]",), ["puzzle.alike", "known: ", "columns"]),
        (GOOD, ("puzzle.goal=[0,1,2,3,4,5]",), ["puzzle.goal"]),
        (GOOD, ("puzzle.goal=[[0,1,2],[3,4,5.5]]",), ["puzzle.goal", "5.5"]),
        (GOOD, ("puzzle.goal=[[0,1,2],[3,4,[5]]]",), ["puzzle.goal"]),
        (GOOD, ("puzzle.goal=[[false,true,2],[3,4,5]]",), ["puzzle.goal"]),
        (
            GOOD,
            ("puzzle.goal=[[0,1,2],[3,4,-1]]",),
            ["puzzle.goal", "-1 is not the number of a tile"],
        ),
        (GOOD, ("puzzle.goal=1979-05-27",), ["puzzle.goal", "1979"]),
        (GOOD, ("puzzle.rows=3000", "puzzle.columns=3000", "puzzle.blank=all"), ["9000000", "40"]),
        (BLOCKS, ("puzzle.metric=multi",), ["puzzle.metric", "multi", "straight"]),
        (BLOCKS, ("puzzle.start=ab/.a",), ["puzzle.start", "ab/.a"]),
        (BLOCKS, ("puzzle.rows=3",), ["unknown key puzzle.rows", "known: ", "alike"]),
        (BLOCKS, ("puzzle.goal=",), ["puzzle.goal"]),
        (BLOCKS, ("puzzle.alike=aa",), ["puzzle.alike"]),
        (BLOCKS, ("puzzle.goal=[1,2]",), ["puzzle.goal", "rows of text"]),
        (GRAPH, ("puzzle.goal=aab.",), ["puzzle.goal", "aab.", "3 cells"]),
        (GRAPH, ("puzzle.adjacency=[[1],[0],[1.5]]",), ["puzzle.adjacency", "1.5"]),
        (GRAPH, ("puzzle.goal=a..",), ["2 blanks"]),
        (GRAPH, ("puzzle.start=ba.",), ["puzzle.start", "ba.", "cannot be reached"]),
        (GRAPH, ("puzzle.shade=a",), ["unknown key puzzle.shade", "known: "]),
        (
            GOOD,
            ("puzzle=tiles",),
            ["puzzle = 'tiles': expected a table of", '[puzzle] with kind = "ti'],
        ),
        (GOOD, ("search=all",), ["search = 'all': expected a table of keys, such as [search]"]),
        (GOOD, ("cluster=[2]",), ["cluster = [2]: expected a table of keys, such as [cluster]"]),
        (BLOCKS, ("puzzle.symbols=a",), ["puzzle.symbols = 'a': expected a table of keys"]),
        (GOOD.replace("rows = 2", ""), (), ["puzzle.rows is missing"]),
        (GRAPH.replace("kind", "kin"), (), ["puzzle.kind"]),
        (GOOD, ("search.keep=some",), ["search.keep", "some", "frontier", "all"]),
        (GOOD, ("search.until=-1",), ["search.until", "-1"]),
        (GOOD, ("store.codec=gzip",), ["store.codec", "gzip", "lz4", "zstd:N"]),
        (GOOD, ("store.codec=zstd:99",), ["store.codec", "zstd:99", "22"]),
        (GOOD, ("cluster.memory=lots",), ["cluster.memory", "lots", "a number with a unit"]),
        (GOOD, ("cluster.memory=true",), ["cluster.memory", "True", "a number with a unit"]),
        (GOOD, ("cluster.memory=1,5GB",), ["cluster.memory = 1,5GB", "without commas"]),
        (GOOD, ("cluster.memory=401,809,186",), ["cluster.memory", "without commas"]),
        (GOOD, ("cluster.memory=1.5.2GB",), ["cluster.memory = 1.5.2GB", "a number with a unit"]),
        (GOOD, ("cluster.memory=4.GB",), ["cluster.memory = 4.GB", "a number with a unit"]),
        (GOOD, ("cluster.memory=4GB each",), ["cluster.memory", "a number with a unit"]),
        (GOOD, ("cluster.workers=0",), ["cluster.workers", "0"]),
        (GOOD, ("cluster.kind=address",), ["cluster.address"]),
        (GOOD, ("cluster.kind=scheduler-file",), ["cluster.scheduler_file"]),
        (GOOD, ("cluster.kind=slurm",), ["cluster.options.interface", "eth0", "lo"]),
        (GOOD, ("cluster.kind=slurm-runner",), ["cluster.options.interface"]),
        (GOOD, ("cluster.kind=grid",), ["cluster.kind", "grid", "'slurm'"]),
        (GOOD, ("cluster.patience=0",), ["cluster.patience", "0"]),
        (GOOD, ("keep=all",), ["unknown key keep; did you mean search.keep?"]),
        (GOOD, ("store.keep=all",), ["unknown key store.keep; did you mean search.keep?"]),
        (GOOD, ("cluster.walltime=1",), ["unknown key cluster.walltime", "into cluster.options"]),
        (GOOD, ("cluster.options=-x",), ["cluster.options", "-x"]),
        (
            GOOD,
            ("cluster.kind=lsf", "cluster.options={interface = 'lo', processes = 4}"),
            ["unknown key cluster.options.processes", "cluster.workers"],
        ),
        (GOOD, ("name=a/b",), ["name", "a/b"]),
        (GOOD, ('name="羊 run"',), ["name = '羊 run': a name has letters", "no spaces"]),
        (GOOD, ('name="a\\n"',), ["a name has letters"]),
        (GOOD, ("name=-a",), ["name = '-a'", "begins with a letter or a digit"]),
        (GOOD, (f"name={'a' * 101}",), ["at most 100 characters"]),
        (GOOD, ("rows",), ["key=value"]),
        (GOOD, ("name.x=1",), ["name is a value"]),
        ('name = "x"', (), ["the table [puzzle] is missing"]),
        (GOOD.replace('name = "mine"', ""), (), ["name is missing"]),
    ],
)
def test_complaints_name_key_value_and_limit(tmp_path, text, settings, words):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, *settings)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "setting", ["cluster.memory=lots", "store.codec=zip", "search.kept=all", "other.key=1"]
)
def test_a_wrong_override_is_not_blamed_on_the_file(tmp_path, setting):
    with pytest.raises(InputError) as caught:
        load(tmp_path, GOOD, setting)
    assert str(tmp_path) not in str(caught.value)
    assert setting.partition("=")[0].partition(".")[0] in str(caught.value)
    with pytest.raises(InputError, match=str(tmp_path)):
        load(tmp_path, GOOD.replace("2", "0"), setting)


@pytest.mark.parametrize("walltime", ["04:30:00", "'04:30:00'", "36:00:00", "04:30"])
def test_walltimes(tmp_path, walltime):
    """Quotes may be left out on the command line."""
    cluster = load(tmp_path, GOOD, f"cluster.options.walltime={walltime}").cluster
    assert cluster.options == {"walltime": walltime.strip("'")}


def refused(tmp_path, text, *settings):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, *settings)
    return str(caught.value).replace(str(tmp_path), "")


def test_errors_name_the_line(tmp_path):
    rows = "goal = [\n  [1, 2, 3],\n  [4, 5, 6],\n]\n[store]\ncodec = 'gz'\n"
    assert refused(tmp_path, f"{GOOD}cols = 3").startswith("/c.toml, line 7: unknown key")
    assert "; line 8: unknown key puzzle.b" in refused(tmp_path, f"{GOOD}a = 3\nb = 3")
    assert refused(tmp_path, GOOD + rows).startswith("/c.toml, line 12: store.codec")
    bad = refused(tmp_path, (GOOD + rows).replace("gz", "raw"))
    assert bad.startswith("/c.toml, line 7: puzzle.goal")
    assert "line" not in refused(tmp_path, GOOD, "puzzle.start=[[0,2,1],[3,4,5]]")
    dotted = "'cluster' . \"memory\" = 'x'\n" + GOOD
    assert refused(tmp_path, dotted).startswith("/c.toml, line 1: cluster.memory")


def test_keys_of_a_puzzle_outside_its_table(tmp_path):
    said = refused(tmp_path, GOOD.replace("[puzzle]\n", ""))
    assert "line 3: unknown key kind" in said
    assert "under [puzzle]" in said
    assert "did you mean" not in said


@pytest.mark.parametrize("size", ["4", "4.5", "999999"])
def test_a_small_size_needs_a_unit(tmp_path, size):
    said = refused(tmp_path, GOOD, f"cluster.memory={size}")
    assert said.startswith("cluster.memory")
    assert f'did you mean "{size}GB"?' in said
    assert load(tmp_path, GOOD, "cluster.memory=1500000000").cluster.memory == 1_500_000_000


@pytest.mark.parametrize("key", [".".join("a" * 300), "[" + ".".join("a" * 300) + "]\nx"])
def test_a_deep_key_is_refused_before_it_is_read(tmp_path, monkeypatch, key):
    """TOML's reader takes quadratic time."""
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("read"))
    assert "32 parts" in refused(tmp_path, f"{GOOD}{key} = 1")


def test_rows_of_dots_are_no_keys(tmp_path):
    text = f'{BLOCKS}title = "{"." * 60}"\n# {". " * 60}'
    assert load(tmp_path, text).puzzle.title == "." * 60


@pytest.mark.parametrize("part", ["9" * 400, "-1e7", "inf"])
def test_coordinates_have_a_limit(tmp_path, part):
    text = f"""
    name = "mine"
    [puzzle]
    kind = "cells"
    cells = [["a", 0, {part}], ["b", 1, 0]]
    moves = [["a", "b"]]
    pieces = "x."
    """
    said = refused(tmp_path, text)
    assert "puzzle.cells" in said
    assert "1,000,000" in said


@pytest.mark.parametrize(
    "puzzle",
    [
        'kind = "graph"\nadjacency = [[1], [0, 2], [1]]\ngoal = ["a\\u001b", "b", "."]',
        'kind = "tiles"\nrows = 2\ncolumns = 3\ntitle = "\\u202ex"',
        'kind = "permutations"\ngenerators = {"a\\u0007" = "(1 2 3)"}',
        'kind = "blocks"\ngoal = "ab/.b"\nsymbols = {a = "\\u009b"}',
    ],
)
def test_a_puzzle_has_only_what_prints(tmp_path, puzzle):
    said = refused(tmp_path, f'name = "mine"\n[puzzle]\n{puzzle}')
    assert "does not print" in said or "one line" in said
    assert said.isprintable()


def test_other_programs_names_print(tmp_path):
    moves = "Set P 3 1\nSolved\nP\n1 2 3\nEnd\nMove {}\nP\n2 3 1\nEnd\n"
    for name, move in (("a\x1b[31m", "r"), ("a", "r\x07")):
        said = refused(tmp_path, f"Name {name}\n{moves.format(move)}")
        assert "does not print" in said or "one line" in said
        assert said.isprintable()


def test_boards_may_have_other_spaces(tmp_path):
    goal = load(tmp_path, GOOD, 'puzzle.goal="""1 2 3\n\t4\u30005\u00a00"""').make_puzzle().goals
    assert goal == ((1, 2, 3, 4, 5, 0),)


def test_many_errors_are_counted(tmp_path):
    said = refused(tmp_path, "".join(f"k{n} = 1\n" for n in range(3000)) + GOOD)
    assert "unknown key k0" in said
    assert "unknown key k2999" not in said
    assert "2,995 more errors" in said


def test_a_message_quotes_the_beginning_and_the_end_of_a_long_value(tmp_path):
    said = refused(tmp_path, GOOD, f"puzzle.goal={'羊' * 100_000}")
    assert len(said) < 2000
    assert "puzzle.goal" in said
    assert said.endswith("columns") or "expected" in said


def test_what_does_not_print_is_escaped(tmp_path):
    said = refused(tmp_path, GOOD, "store.codec=a\x1b[31m\u202e")
    assert said.count("\\x1b[31m\\u202e") == 1
    assert said.isprintable()


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EMFILE, StorageError), (errno.EISDIR, InputError)]
)
def test_a_system_error_is_not_bad_input(tmp_path, monkeypatch, number, kind):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(LocalStorage, "read", fail)
    with pytest.raises(kind, match="cannot be read as a config"):
        load(tmp_path, GOOD)


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"#\n\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read as a config: line 2 is not UTF-8"):
        load_config(tmp_path / "binary.toml")


SHIPPED = sorted(path.name for path in CONFIGS.glob("*.toml"))
LARGE = ("honeycomb.toml", "hakoiri-exit.toml")
"""Configs that take seconds to check."""


@swept("name", SHIPPED, few=[name for name in SHIPPED if name not in LARGE])
def test_shipped_configs_are_good(name):
    path = CONFIGS / name
    config = load_config(path)
    assert config.name == path.stem
    for member in config.members:
        puzzle = member.make_puzzle()
        if config.puzzle.kind == "tiles":
            size = f"{puzzle.grid.rows}x{puzzle.grid.columns}"
            assert puzzle.title.replace("×", "x").startswith(size)
            tiles = puzzle.cells - 1
            assert path.stem == f"{tiles}-puzzle" or path.stem.split("-")[0] == size
    assert path.read_text(encoding="utf-8").startswith("# ")
