"""Boards and solutions as drawings in a terminal and as SVG."""

import io
import re
from functools import cache
from itertools import pairwise, product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style

from frontier.config.loading import load_config
from frontier.puzzles import block_puzzle, cell_puzzle, graph_puzzle, pattern_puzzle, tile_puzzle
from frontier.puzzles.picture import Picture
from frontier.report.boards import (
    board_svg,
    boards_strip,
    draw_boards,
)
from frontier.report.boards.svg import MARGIN, Scene
from frontier.report.boards.terminal import drawing
from frontier.report.colours import OKABE_ITO, colour_of, ink_on, luminance
from frontier.solving.pieces import IdaSolver
from tests.support.sweeps import swept, tried
from tests.support.temporary_runs import CONFIGS

NAMES = sorted(path.stem for path in CONFIGS.glob("*.toml"))
KINDS = ("2x3", "3x3-diameter", "goat", "hexagram", "pattern-2x4-k2")
"""Configs of all kinds of puzzles but cells, which take some seconds."""
SVG = "{http://www.w3.org/2000/svg}"
HEXAGRAM = """
      B
     ╱ ╲
B───B───B───B
 ╲ ╱ ╲ ╱ ╲ ╱
  B───○───W
 ╱ ╲ ╱ ╲ ╱ ╲
W───W───W───W
     ╲ ╱
      W
"""


@cache
def puzzle_of(name):
    return load_config(CONFIGS / f"{name}.toml").members[0].make_puzzle()


def solved(puzzle, board):
    return IdaSolver(puzzle, True).solve(puzzle.parse(board), None, lambda *_: None).solution


def screen(encoding="utf-8", width=80, **more):
    return Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=width, **more)


def texts(svg):
    """All that stands in an SVG, its title left out."""
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# --- in a terminal


@swept("name", NAMES, few=KINDS)
@swept("encoding", ["utf-8", "ascii"], few=1)
def test_lines_of_a_drawing_are_equally_broad(name, encoding):
    puzzle = puzzle_of(name)
    for goal in puzzle.goals:
        lines = drawing(puzzle.notation.picture(goal), encoding)
        assert len({line.cell_len for line in lines}) == 1
        if encoding == "ascii":
            assert all(line.plain.isascii() for line in lines)


DRAWINGS = {
    "aab/a.b/..b": """
┌───────┬───┐
│   a   │   │
│   ┌───┤   │
│   │   │ b │
├───┘   │   │
│       │   │
└───────┴───┘
""",
    "ab#/..c/#dd": """
┌───┬───┐
│ a │ b │░░░
├───┴───┼───┐
│       │ c │
└───┬───┴───┤
 ░░░│   d   │
    └───────┘
""",
    "aaa/a#a/a.a": """
┌───────────┐
│     a     │
│   ┌───┐   │
│   │░░░│   │
│   ├───┤   │
│   │   │   │
└───┴───┴───┘
""",
    "aaa/a.a/aaa": """
┌───────────┐
│     a     │
│   ┌───┐   │
│   │   │   │
│   └───┘   │
│           │
└───────────┘
""",
    "..": """
┌───────┐
│       │
└───────┘
""",
}


@pytest.mark.parametrize("goal", DRAWINGS)
def test_outlines_of_blocks(goal):
    puzzle = block_puzzle(goal)
    drawn = draw_boards(puzzle, puzzle.goals, console=screen())
    assert drawn == DRAWINGS[goal].strip("\n")


def test_walls_without_box_characters():
    puzzle = block_puzzle("a#./###/.##")
    lines = draw_boards(puzzle, puzzle.goals, console=screen("ascii")).splitlines()
    assert [line.rstrip() for line in lines] == [
        "+---+   +---+",
        "| a |###|   |",
        "+---+###+---+",
        " ###########",
        "+---+#######",
        "|   |#######",
        "+---+",
    ]


def test_like_pieces_look_alike_but_for_solutions():
    """Which of them lies where means nothing, and no letters are to say that it did."""
    blocks = block_puzzle("baA/dcA/..e", alike=["abcd"], symbols={"c": "*"})
    cells = cell_puzzle([[0, 0], [1, 0], [2, 0]], {"r/l": [1, 0]}, "ba.", alike=["ab"])
    for puzzle, shared in ((blocks, "b"), (cells, "b")):
        board, like = puzzle.goals[0], 4 if puzzle is blocks else 2
        drawn = draw_boards(puzzle, [board], console=screen())
        assert len(re.findall(r"[abcd*]", drawn)) == drawn.count(shared) == like
        assert texts(board_svg(puzzle, board)).count(shared) == like
        assert texts(boards_strip(puzzle, [board], ["-"])).count(shared) == like
        named = draw_boards(puzzle, [board], console=screen(), named=True)
        assert len(set(re.findall(r"[abcd*]", named))) == like


def test_labels_that_are_wide():
    puzzle = block_puzzle("ab/.b", symbols={"a": "羊", "b": "xyz"})
    assert draw_boards(puzzle, puzzle.goals, console=screen()).splitlines() == [
        "┌─────┬─────┐",
        "│ 羊  │     │",
        "├─────┤ xyz │",
        "│     │     │",
        "└─────┴─────┘",
    ]


def test_goals_in_part():
    puzzle = block_puzzle("??/a?", start="../ab")
    assert draw_boards(puzzle, [*puzzle.goals, puzzle.start], console=screen()).splitlines() == [
        "┌───────┐   ┌───────┐",
        "│ ?   ? │   │       │",
        "├───┐   │   ├───┬───┤",
        "│ a │ ? │   │ a │ b │",
        "└───┴───┘   └───┴───┘",
    ]


def test_tiles_and_patterns():
    tiles = draw_boards(tile_puzzle(2, 2), [(1, 0, 2, 3)], ["one"], screen()).splitlines()
    assert tiles == ["one", "┌───┬───┐", "│ 1 │   │", "├───┼───┤", "│ 2 │ 3 │", "└───┴───┘"]
    pattern = draw_boards(pattern_puzzle(1, 4, labels=[2]), [(0, 1, 2, 3)], console=screen())
    assert pattern.splitlines()[1] == "│   │ x │ 2 │ x │"


def test_without_box_characters():
    """Neither the lines nor the symbols can be written; letters stand for these."""
    puzzle = block_puzzle("ab/.b", symbols={"a": "羊", "b": "é"})
    assert draw_boards(puzzle, puzzle.goals, console=screen("ascii")).splitlines() == [
        "+---+---+", "| a |   |", "+---+ b |", "|   |   |", "+---+---+",
    ]  # fmt: skip
    assert "| é |" not in draw_boards(puzzle, puzzle.goals, console=screen("ascii"))
    assert "│ é │" not in draw_boards(puzzle, puzzle.goals, console=screen("latin-1"))
    assert "é" in draw_boards(puzzle, puzzle.goals, console=screen("latin-1"))


def test_graphs_with_their_edges():
    puzzle = puzzle_of("hexagram")
    assert draw_boards(puzzle, puzzle.goals, console=screen()) == HEXAGRAM.strip("\n")
    triangle = graph_puzzle([[1, 2], [0, 2], [0, 1]], "ab.", picture=" 0\n1 2")
    assert draw_boards(triangle, [(1, 2, 0)], console=screen("ascii")).splitlines() == [
        "  a", " / \\", "b---o",
    ]  # fmt: skip
    assert (
        draw_boards(graph_puzzle([[1], [0]], ["one", "."]), [(0, 1)], console=screen()).count("one")
        == 1
    )


@settings(max_examples=tried(10, 30))
@given(st.integers(1, 200), st.integers(1, 9))
def test_boards_stand_side_by_side_as_far_as_there_is_room(width, count):
    puzzle = tile_puzzle(2, 3)
    drawn = draw_boards(puzzle, [puzzle.goals[0]] * count, ["a"] * count, screen(width=width))
    across = max(1, min(count, (width + 3) // (13 + 3 if width >= 13 else 7 + 3)))
    assert len(drawn.splitlines()[0].split()) == across
    assert len(re.findall("a", drawn)) == count
    assert max(map(len, drawn.splitlines())) <= max(width, 7)
    assert drawn.count("\n\n") == drawn.splitlines().count("") == -(-count // across) - 1


def test_colours_only_where_there_are_some(monkeypatch):
    puzzle = tile_puzzle(2, 2)
    shown = {"force_terminal": True, "color_system": "truecolor"}
    Style._add.cache_clear()  # a style is written as the first terminal that showed it needs it
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = draw_boards(puzzle, puzzle.goals, console=screen(**shown))
    grounds = re.findall(r"48;2;\d+;\d+;\d+", coloured)
    assert len(grounds) == 3
    assert grounds[0] != grounds[1] == grounds[2]
    assert "\x1b" not in draw_boards(puzzle, puzzle.goals, console=screen())
    monkeypatch.setenv("NO_COLOR", "1")
    plain = draw_boards(puzzle, puzzle.goals, console=screen(**shown))
    assert "48;" not in plain
    assert "38;" not in plain
    stripped = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert stripped == draw_boards(puzzle, puzzle.goals, console=screen())


# --- colours


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("kinds", [1, 2, 3, 7, 8, 9, 25])
def test_labels_can_be_read_on_every_colour(kinds, ordered):
    for kind in [None, *range(kinds)]:
        colour = colour_of(kind, kinds, ordered)
        light, dark = sorted((luminance(colour), luminance(ink_on(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
    assert len({colour_of(kind, kinds, ordered) for kind in range(kinds)}) == kinds


def test_colours_of_a_scale_get_lighter():
    lights = [luminance(colour_of(kind, 9, True)) for kind in range(9)]
    assert all(b > a for a, b in pairwise(lights))
    assert [colour_of(kind, 3, False) for kind in range(3)] == list(OKABE_ITO[:3])


# --- the forms of pieces


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
def test_squares_are_one_form_without_gaps_and_holes_stay_open(squares):
    """A point is covered if all squares beside it are there."""
    everywhere = tuple(product(range(5), repeat=2))
    cells = [number for number, place in enumerate(everywhere) if place in squares]
    scene = Scene(Picture(everywhere, (), (), 0, ordered=False), side=100)
    path = scene._squares(cells, 0.25)
    boxes = [
        (x / 100 - MARGIN, y / 100 - MARGIN, w / 100, h / 100)
        for x, y, w, h in (
            map(float, box) for box in re.findall(r"M(\S+?),(\S+?)h(\S+?)v(\S+?)h", path)
        )
    ]
    assert len(boxes) == path.count("M")
    for i, j in product(range(11), repeat=2):
        covered = any(x <= i / 2 <= x + w and y <= j / 2 <= y + h for x, y, w, h in boxes)
        beside = product({(i - 1) // 2, i // 2}, {(j - 1) // 2, j // 2})
        assert covered == squares.issuperset(beside), (i, j)


# --- SVG


@swept("name", NAMES, few=KINDS)
def test_svg_shows_each_label_once(name):
    puzzle = puzzle_of(name)
    for board in [*puzzle.goals, *([puzzle.start] if puzzle.start else [])]:
        svg = board_svg(puzzle, board)
        picture = puzzle.notation.picture(board).alike()
        labels = [part.label for part in picture.pieces if part.label]
        marks = [*labels, *["?"] * len(picture.open), *picture.names]
        assert sorted(texts(svg)) == sorted(marks)
        root = ElementTree.fromstring(svg)
        assert root.find(f"{SVG}title").text == puzzle.line(board)
        assert not any({"id", "href", "class", "style"} & set(e.attrib) for e in root.iter())
        assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


def test_a_piece_is_one_form_and_its_size_is_asked_for():
    puzzle = block_puzzle("aab/a.b/..b")
    root = ElementTree.fromstring(board_svg(puzzle, puzzle.goals[0], side=100))
    assert float(root.get("width")) == float(root.get("height")) == pytest.approx(344)
    tray, *pieces = root.findall(f"{SVG}path")
    around, inside = pieces[::2], pieces[1::2]
    assert [path.get("d") for path in around] == [path.get("d") for path in inside]
    assert len({path.get("fill") for path in (tray, *inside)}) == 3
    for line, form in zip(around, inside, strict=True):
        assert line.get("fill") == "none"
        assert float(line.get("stroke-width")) > float(form.get("stroke-width"))


def test_labels_stand_in_their_cells():
    board = (1, 2, 3, 4, 5, 0)
    root = ElementTree.fromstring(board_svg(tile_puzzle(2, 3), board, side=50))
    at = {e.text: (float(e.get("x")), float(e.get("y"))) for e in root.iter(f"{SVG}text")}
    for cell, tile in enumerate(board[:-1]):
        x, y = at[str(tile)]
        assert (int((x - 11) // 50), int((y - 11) // 50)) == (cell % 3, cell // 3)


def test_graphs_have_a_line_an_edge_and_a_ring_a_cell():
    puzzle = puzzle_of("hexagram")
    root = ElementTree.fromstring(board_svg(puzzle, puzzle.goals[0]))
    edges, rings, cells, *stones = [path.get("d") for path in root.findall(f"{SVG}path")]
    assert edges.count("L") == 24
    assert rings.count("h0") == cells.count("h0") == 13
    assert [path.count("h0") for path in stones] == [1] * (2 * 12)  # and the lines around them


def test_labels_of_any_kind():
    puzzle = block_puzzle("ab/.c", symbols={"a": "<&\"'>", "b": "\x07", "c": "a long word"})
    assert texts(board_svg(puzzle, puzzle.goals[0])) == ["<&\"'>", "\ufffd", "a long word"]


# --- solutions


def test_the_name_of_a_cell_stands_between_its_edges():
    """On no edge and on no piece of one cell, whatever edges there are."""
    hexagram = puzzle_of("hexagram")
    picture = hexagram.notation.picture(hexagram.goals[0])
    at = {said: (x, y) for said, x, y in name_places(hexagram, 1000)}
    assert set(at) == set(picture.names)
    for cell, name in enumerate(picture.names):
        x, y = at[name]
        for u, v in picture.edges:
            (a, b), (c, d) = (
                [
                    (q - p + 0.22) * 1000
                    for q, p in zip(picture.places[w], picture.bounds, strict=False)
                ]
                for w in (u, v)
            )
            along = ((x - a) * (c - a) + (y - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2)
            along = min(1, max(0, along))
            away = ((a + along * (c - a) - x) ** 2 + (b + along * (d - b) - y) ** 2) ** 0.5
            assert away > 150, (cell, u, v)


def name_places(puzzle, side):
    root = ElementTree.fromstring(board_svg(puzzle, puzzle.goals[0], side))
    for element in root.findall(f"{SVG}text[@paint-order]"):
        size = float(element.get("font-size"))
        yield element.text, float(element.get("x")), float(element.get("y")) - 0.35 * size


def test_several_boards_in_one_drawing():
    puzzle = puzzle_of("hexagram")
    svg = boards_strip(puzzle, [*puzzle.goals, puzzle.start], ["goal", "start"])
    said = texts(svg)
    assert [said.count(word) for word in ("goal", "start", "B", "W")] == [1, 1, 12, 12]
