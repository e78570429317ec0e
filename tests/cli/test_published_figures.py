"""Published figures, each got by the command that a reader would type."""

import json

import pytest
from click.testing import CliRunner

from frontier.cli import main
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

GOAT_LETTERS = {
    "┌": "a", "─": "h", "│": "b", "羊": "g", "‖": "e", "└": "d", "┘": "f", "狼": "w",
    "B1": "B", "B2": "B", "□": ".",
}  # fmt: skip
GOAT_FARTHEST = [
    "狼 B1 B2 ┌ / ‖ 羊 │ ─ / ┘ ─ └ □",
    "□ ‖ B1 B2 / 狼 ┘ │ ─ / ─ 羊 └ ┌",
    "狼 ‖ B1 B2 / ┘ 羊 │ ─ / □ ─ └ ┌",
    "‖ 狼 B1 B2 / ┘ 羊 ┌ □ / ─ └ │ ─",
    "狼 ‖ B1 B2 / ┘ 羊 └ ┌ / □ ─ │ ─",
    "‖ 狼 B1 B2 / ┘ 羊 │ ┌ / □ ─ └ ─",
    "□ ‖ B1 B2 / 狼 ┘ │ ┌ / 羊 ─ └ ─",
]
HAKOIRI_LAYERS = [
    8, 10, 15, 18, 18, 23, 28, 42, 42, 50, 44, 50, 46, 52, 43, 59, 62, 70, 64, 74,
    48, 64, 81, 91, 113, 156, 197, 187, 240, 295, 373, 456, 487, 551, 650, 717, 774, 906, 946, 1038,
]  # fmt: skip
HEXAGRAM_FARTHEST = [
    "SWWWWWWBBBBBB", "WWSWWWWBBBBBB", "WWWWWWSBBBBBB", "WWWWWWBBBBSBB", "WWWWWWBBBBBBS",
    "WSWWWWWBBBBBB", "WWWWWWBBBBBSB",
]  # fmt: skip


def said(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def run(tmp_path, name, *settings):
    options = [f"store.path={tmp_path / 'run'}", "cluster.kind=serial", *settings]
    changes = [word for option in options for word in ("--set", option)]
    return said("run", CONFIGS / f"{name}.toml", *changes, "--json")


def goat_board(text):
    """A published board in the config's letters, both like pieces with the first of theirs."""
    return "/".join("".join(GOAT_LETTERS[word] for word in row.split()) for row in text.split("/"))


@pytest.mark.sweep
def test_goat(tmp_path):
    value = run(tmp_path, "goat", "search.keep=all")
    assert (value["states"], value["depth"], value["start"]["depth"]) == (5_443_200, 52, 20)
    farthest = said("farthest", tmp_path / "run", "--json")
    assert (farthest["depth"], farthest["count"]) == (52, 7)
    found = {"/".join(rows).replace("k", "h") for rows in farthest["positions"]}
    assert found == set(map(goat_board, GOAT_FARTHEST))
    solved = said("solve", tmp_path / "run", "--json", "--boards")
    assert solved["distance"] == 20
    assert solved["boards"][0] == ["ahBB", "b.eg", "dkfw"]
    assert "".join(solved["boards"][-1]).replace("k", "h") == "ahBBbge.dhfw"


@pytest.mark.sweep
def test_goat_drawings_show_the_published_signs(tmp_path):
    run(tmp_path, "goat")
    narrow = CliRunner(env={"COLUMNS": "24"})
    drawn = narrow.invoke(main, ["farthest", str(tmp_path / "run")]).output
    boards = drawn.split("\n\n")[1:]
    assert len(boards) == 7
    wanted = sorted(
        tuple(
            sign
            for sign in board.translate({ord("羊"): "g", ord("狼"): "w"}).replace("/", " ").split()
            if sign not in ("B1", "B2", "□")
        )
        for board in GOAT_FARTHEST
    )
    rows = [[line for line in board.splitlines() if line.startswith("│")] for board in boards]
    signs = [
        tuple(cell.strip() for line in board for cell in _cells(line) if cell.strip())
        for board in rows
    ]
    assert sorted(signs) == wanted


def _cells(line):
    """What stands inside the four cells of a line of a drawing."""
    width = (len(line) - 1) // 4 - 1
    return [line[at : at + width] for at in range(1, len(line), width + 1)]


def test_hexagram(tmp_path):
    value = run(tmp_path, "hexagram", "search.keep=all")
    assert (value["states"], value["depth"], value["start"]["depth"]) == (12_012, 30, 30)
    assert value["farthest"]["count"] == 7
    assert sorted(value["farthest"]["positions"]) == sorted(HEXAGRAM_FARTHEST)
    assert said("solve", tmp_path / "run", "--json")["distance"] == 30


@pytest.mark.sweep
def test_hakoiri(tmp_path):
    value = run(tmp_path, "hakoiri")
    assert value["layers"][1:41] == HAKOIRI_LAYERS
    assert value["states"] == 25_955


@pytest.mark.sweep
def test_honeycomb(tmp_path):
    """What the config itself says."""
    value = run(tmp_path, "honeycomb")
    said = (CONFIGS / "honeycomb.toml").read_text(encoding="utf-8").split("name =")[0]
    assert f"{value['states']:,}" in said
    assert f"the farthest need {value['depth']} moves." in said
    assert f"start is {value['start']['depth']} moves away" in said.replace("\n# ", " ")


@pytest.mark.sweep
@swept(("metric", "moves"), [("step", 116), ("straight", 90), ("path", 81)], few=1)
def test_hakoiri_to_the_exit(tmp_path, metric, moves):
    value = run(tmp_path, "hakoiri-exit", f"puzzle.metric={metric}")
    assert value["start"]["depth"] == moves


@pytest.mark.sweep
@swept(("metric", "depths"), [("step", {31, 30}), ("multi", {24})], few=1)
def test_3x3_from_every_blank(tmp_path, metric, depths):
    value = run(tmp_path, "3x3-diameter", f"puzzle.metric={metric}")
    assert {member["depth"] for member in value["runs"]} == depths
    assert value["diameter"] == max(depths)
