"""Solutions as strips and pages, and the commands that draw."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import pytest
from click.testing import CliRunner

from frontier.cli import main
from frontier.puzzles import (
    block_puzzle,
    cell_puzzle,
    graph_puzzle,
    pattern_puzzle,
    permutation_puzzle,
    tile_puzzle,
)
from frontier.report.boards import (
    board_svg,
    boards_strip,
    captions_of,
    draw_boards,
    film_page,
    film_strip,
)
from frontier.solving.solution import Solution
from tests.report.test_boards import CONFIGS, SVG, puzzle_of, solved, texts
from tests.support.commands import invoke
from tests.support.sweeps import cases, swept

# --- solutions


AROUND = "a.../###./b..."

CORNER = block_puzzle("..../###./ba..", start=AROUND, metric="path")

HONEYCOMB = [(x + y / 2, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if abs(x + y) <= 1]

WAYS = {"→/←": (1, 0), "↘/↖": (0.5, 1), "↙/↗": (-0.5, 1)}

CUBE = permutation_puzzle(
    {
        "U": "(1 2 3 4)",
        "R": {"moves": "(1 4 7 5)", "turns": [1, 0, 0, 2, 2, 0, 1]},
        "F": {"moves": "(1 5 6 2)", "turns": [2, 1, 0, 0, 1, 2, 0]},
    },
    orientations=3,
    closed=True,
)
"""The cube of 2×2×2 in quarter turns."""

BUTTONS = {
    f"b{n}": {"turns": [int(abs(n % 3 - m % 3) + abs(n // 3 - m // 3) < 2) for m in range(9)]}
    for n in range(9)
}

TURNING = {
    "cube": (CUBE, "1+2 2 3 6 4 7+2 5+2", ["R'", "U", "F'", "U'", "R'"]),
    "lamps": (
        permutation_puzzle(BUTTONS, orientations=2, goal="abcdefghi"),
        "a+1 b c+1 d e f g h+1 i+1",
        ["b0", "b4", "b5"],
    ),
    "like lamps": (
        permutation_puzzle(BUTTONS, orientations=2, goal="ooooooooo"),
        "o+1 o o+1 o o o o o+1 o+1",
        ["b0", "b4", "b5"],
    ),
}
"""Puzzles whose pieces turn, each with a board and the moves that solve it."""

FILMS = {
    "goat": (puzzle_of("goat"), "ahBB/b.eg/dkfw"),
    "tiles": (puzzle_of("3x3"), "1 4 2/3 5 0/6 7 8"),
    "pattern": (pattern_puzzle(2, 3, k=1), "x 2 x/5 0 x"),
    "like blocks": (block_puzzle("Aabc/....", alike=["abc"]), "...c/baA."),
    "path": (CORNER, AROUND),
    "graph": (graph_puzzle([[1, 2], [0, 2], [0, 1]], "aa."), "a.a"),
    "cells": (cell_puzzle(HONEYCOMB, WAYS, "aa.b.c."), "..caa.b"),
    "cells, a path a move": (cell_puzzle(HONEYCOMB, WAYS, "aa.b.c.", metric="path"), "..caa.b"),
    **{name: turning[:2] for name, turning in TURNING.items()},
}


@pytest.fixture(
    scope="module", params=cases(FILMS, few=["goat", "pattern", "like blocks", "cells"])
)
def film(request):
    """(puzzle, solution)"""
    puzzle, board = FILMS[request.param]
    return puzzle, solved(puzzle, board)


def ways_of(puzzle, solution):
    """For each position, the ways of the pieces on a page, by code, in pixels."""
    page = film_page(puzzle, solution, "a title")
    return json.loads(re.search(r"const ways = (.+);", page)[1])


def pieces_at(element, shift=(0.0, 0.0)):
    """(what it says, x, y) of each text in a part of an SVG, moved by the groups it is in."""
    found = []
    if match := re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
        shift = shift[0] + float(match[1]), shift[1] + float(match[2])
    for child in element:
        if child.tag == f"{SVG}text":
            x, y = float(child.get("x")) + shift[0], float(child.get("y")) + shift[1]
            found.append((child.text, round(x), round(y)))
        else:
            found += pieces_at(child, shift)
    return found


def shared(puzzle, board, pieces):
    """Where pieces are, like ones under the label of all of them."""
    labels = {
        part.label: part.shared or part.label for part in puzzle.notation.picture(board).pieces
    }
    return sorted((labels.get(said, said), *where) for said, *where in pieces)


def test_the_strip_shows_each_board_and_move(film):
    puzzle, solution = film
    root = ElementTree.fromstring(film_strip(puzzle, solution))
    frames = root.findall(f"{SVG}g")
    captions = [element.text for element in root.findall(f"{SVG}text")]
    assert captions == captions_of(puzzle, solution)
    ends = [
        caption.split(" ")[-len(move.split(" ")) :]
        for caption, move in zip(captions[1:], solution.moves, strict=True)
    ]
    assert [" ".join(end) for end in ends] == solution.moves
    tops = [frame.get("transform").split()[1] for frame in frames]
    columns, wide = tops.count(tops[0]), float(root.get("width"))
    assert len(set(tops)) == -(-len(frames) // columns)
    assert wide <= 960
    assert columns == len(frames) or wide * (columns + 1) / columns > 960
    for frame, board in zip(frames, solution.boards, strict=True):
        del frame.attrib["transform"]
        alone = ElementTree.fromstring(board_svg(puzzle, board, side=30))
        assert shared(puzzle, board, pieces_at(frame)) == sorted(pieces_at(alone))


def changed(puzzle, before, after):
    """(the number of pieces that have come elsewhere, of those or of pieces that have turned)"""
    looks = [
        {of.code: of for of in puzzle.notation.picture(board).pieces} for board in (before, after)
    ]
    pairs = [(was, looks[1][code]) for code, was in looks[0].items()]
    displaced = sum(was.cells != now.cells for was, now in pairs)
    return displaced, sum((was.cells, was.label) != (now.cells, now.label) for was, now in pairs)


def test_the_strip_shows_what_has_moved(film):
    puzzle, solution = film
    root = ElementTree.fromstring(film_strip(puzzle, solution))
    frames = root.findall(f"{SVG}g")
    shadows = [len(frame.findall(".//*[@opacity]")) for frame in frames]
    marked = [len(frame.findall(".//*[@stroke-opacity='1']")) for frame in frames]
    expected = [changed(puzzle, *pair) for pair in pairwise(solution.boards)]
    assert list(zip(shadows, marked, strict=True)) == [(0, 0), *expected]


@pytest.mark.parametrize("name", TURNING)
def test_pieces_that_turn_are_drawn_as_in_a_terminal(name):
    puzzle, board, moves = TURNING[name]
    solution = solved(puzzle, board)
    assert solution.moves == moves
    captions = ["start", *(f"{n}. {move}" for n, move in enumerate(moves, start=1))]
    assert captions_of(puzzle, solution) == captions
    frames = ElementTree.fromstring(film_strip(puzzle, solution)).findall(f"{SVG}g")
    for frame, board in zip(frames, solution.boards, strict=True):
        shown = sorted((x, said) for said, x, _ in pieces_at(frame))
        printed = draw_boards(puzzle, [board], named=True).splitlines()[1]
        assert [said for _, said in shown] == printed.replace("│", " ").split()


def test_pieces_on_their_way_never_meet():
    """A move along a path goes around corners, not through what lies between."""
    (way,) = (way for moved in ways_of(CORNER, solved(CORNER, AROUND)) for way in moved.values())
    places = [(0, 0), *map(tuple, way)]
    assert all(abs(a - c) + abs(b - d) == 48 for (a, b), (c, d) in pairwise(places))
    assert (144, 48) in places


def test_like_tiles_stay_where_they_can_when_their_moves_are_not_counted():
    puzzle = pattern_puzzle(2, 3, k=1, metric="labelled")
    boards = [(1, 2, 0, 3, 4, 5), (2, 0, 1, 3, 4, 5)]
    solution = Solution([puzzle.parse([b[:3], b[3:]]) for b in map(list, boards)], ["2←"])
    assert list(map(len, ways_of(puzzle, solution))) == [0, 2]


def test_captions_say_what_is_drawn():
    puzzle, board = FILMS["goat"]
    solution = solved(puzzle, board)
    assert solution.moves[:3] == ["h↓", "B←", "g↑"]
    said = ["start", "1. ─ h↓", "2. B←", "3. g↑"]
    assert captions_of(puzzle, solution)[:4] == said
    assert captions_of(puzzle, solution, "ascii")[1:4] == ["1. h↓", "2. B←", "3. g↑"]
    assert set(said) <= set(texts(film_strip(puzzle, solution)))


def test_cells_are_named_where_moves_name_them():
    named = {"cells": [["left", 0, 0], ["right", 1, 0]], "pieces": "a."}
    pairs = cell_puzzle(moves=[["left", "right"]], **named)
    ways = cell_puzzle(moves={"→/←": [1, 0]}, **named)
    assert texts(board_svg(pairs, pairs.goals[0])) == ["a", "left", "right"]
    assert texts(board_svg(ways, ways.goals[0])) == ["a"]
    puzzle, board = FILMS["graph"]
    solution = solved(puzzle, board)
    assert {"0", "1", "2"} <= set(texts(film_strip(puzzle, solution)))


# --- commands


def config(name):
    return CONFIGS / f"{name}.toml"


def test_draw(tmp_path):
    assert invoke("draw", config("hakoiri")).stdout.startswith("goal\n┌")
    shown = invoke("draw", config("hexagram")).stdout.splitlines()
    assert shown[0].split() == ["goal", "start"]
    assert shown[1].split() == ["B", "W"]
    board = "8 6 7/2 5 4/3 0 1"
    assert invoke("draw", config("3x3"), board).stdout.splitlines()[1] == "│ 8 │ 6 │ 7 │"
    for boards in ([board], [], [board, board]):
        file = tmp_path / f"{len(boards)}.svg"
        assert invoke("draw", config("3x3"), *boards, "--svg", file).stdout == ""
        assert texts(file.read_text(encoding="utf-8")).count("8") == (len(boards) or 1)


def test_what_draw_prints_stands_in_the_documentation():
    page = Path(__file__).parents[2] / "docs" / "reference" / "puzzles" / "graph.md"
    assert invoke("draw", config("hexagram")).stdout in page.read_text(encoding="utf-8")


def test_a_terminal_of_few_columns(monkeypatch):
    for columns in (10, 25, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = invoke("solve", config("3x3"), "1 4 2/3 5 0/6 7 8", "--method", "ida", "--boards")
        drawn = out.stdout.split("\n\n", 1)[1].splitlines()
        assert max(map(len, drawn)) <= columns
        assert sum(line.count("8") for line in drawn) == 4


def test_drawings_of_a_solution(tmp_path):
    strip, page = tmp_path / "strip.svg", tmp_path / "page.html"
    asked = ("solve", config("3x3"), "1 4 2/3 5 0/6 7 8", "--method", "ida")
    result = invoke(*asked, "--strip", strip, "--animate", page)
    assert result.stderr == f"Searching by IDA* …\nwrote {strip}\nwrote {page}\n"
    assert texts(strip.read_text(encoding="utf-8")).count("8") == 4
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<h1>3x3: solution in 3 moves</h1>" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strip", "a.pdf"], "--strip a.pdf: expected a name that ends in .svg or .png"),
        (["--animate", "a.svg"], "--animate a.svg: expected a name that ends in .html"),
        (
            ["--strip", "here.svg"],
            "--strip here.svg already exists; name another file, or pass --force",
        ),
        (["--strip", "none/a.svg"], "--strip none/a.svg: there is no directory none"),
        (["--strip", "dir.svg"], "--strip dir.svg is a directory"),
        (["--strip", "pipe.svg", "--force"], "--strip pipe.svg exists and is not a regular file"),
        (["--animate", "run/a.html"], "--animate run/a.html is in a run directory"),
        (["--animate", "linked/a.html"], "--animate linked/a.html is in a run directory"),
        (["1 0 2/3 4 5/6 7 8", "--strip", "a.svg"], "of one position, not of 2; name one"),
    ],
)
def test_drawings_that_are_refused(tmp_path, monkeypatch, arguments, message):
    """Before anything is searched, and what is there stays."""
    monkeypatch.chdir(tmp_path)
    Path("here.svg").write_text("mine")
    Path("dir.svg").mkdir()
    os.mkfifo("pipe.svg")
    (tmp_path / "run" / "layers").mkdir(parents=True)
    Path("run", "run.json").write_text("{}")
    Path("linked").symlink_to("run/layers")
    there = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("frontier.solving.methods.IdaSolver", None)
    asked = ("solve", config("3x3"), "1 4 2/3 5 0/6 7 8", "--method", "ida")
    assert message in invoke(*asked, *arguments, code=2).stderr
    assert Path("here.svg").read_text() == "mine"
    assert sorted(tmp_path.rglob("*")) == there
    drawn = invoke("draw", config("3x3"), "--svg", "run/a.svg", code=2)
    assert "--svg run/a.svg is in a run directory" in drawn.stderr


def test_drawings_are_written_over_by_force(tmp_path):
    file = tmp_path / "a.svg"
    file.write_text("mine")
    asked = ("draw", config("3x3"), "--svg", file)
    assert "--force" in invoke(*asked, code=2).stderr
    assert file.read_text() == "mine"
    assert invoke(*asked, "--force").stderr == f"wrote {file}\n"
    drawn = file.read_text()
    assert "<svg" in drawn
    solved = ("solve", config("3x3"), "1 4 2/3 5 0/6 7 8", "--method", "ida")
    invoke(*solved, "--strip", file, "--force")
    assert drawn != file.read_text()
    assert list(tmp_path.iterdir()) == [file]


def test_a_terminal_that_cannot_write_arrows(tmp_path):
    result = CliRunner(charset="latin-1").invoke(
        main, ["solve", str(config("3x3")), "1 0 2/3 4 5/6 7 8", "--method", "ida", "--boards"]
    )
    assert result.exit_code == 0
    out = result.stdout_bytes.decode("latin-1")
    assert "1>" in out
    assert "| 1 |" in out


def test_films_of_many_pictures_share_no_names(film):
    """Several drawings can stand in one page: they name nothing."""
    puzzle, solution = film
    assert " id=" not in film_strip(puzzle, solution)


@swept("count", [1, 8, 81, 400], few=[1, 8, 81])
def test_a_strip_fits_a_page(count):
    puzzle = tile_puzzle(2, 3)
    strip = boards_strip(puzzle, [puzzle.goals[0]] * count, [f"{n}." for n in range(count)])
    wide, high = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', strip).groups())
    assert high <= 2**0.5 * wide + 1
    assert texts(strip).count("1.") == (count > 1)


@pytest.mark.sweep
def test_drawings_as_png(tmp_path):
    """In the colours and with the letters of the SVG, twice as large and more."""
    target = tmp_path / "goat.png"
    invoke("draw", "goat", "--png", target)
    invoke("solve", "goat", "--strip", tmp_path / "strip.png")
    image = matplotlib.image.imread(target)
    high, wide, _ = image.shape
    assert wide > high > 200
    colours = {
        tuple(row) for row in (255 * image[..., :3]).round().astype(int).reshape(-1, 3).tolist()
    }
    assert {(0xF0, 0xE4, 0x42), (0xD5, 0x5E, 0x00), (0, 0, 0)} <= colours
    strip = matplotlib.image.imread(tmp_path / "strip.png")
    assert strip.shape[0] > high
