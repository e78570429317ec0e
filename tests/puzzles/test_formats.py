"""Definitions of puzzles in every format: the same settings, and layers that a dictionary finds."""

import json
import random
import re

import pytest

import frontier
from frontier.errors import InputError
from frontier.puzzles import puzzle_of
from frontier.puzzles.formats import name_of, puzzle_table
from tests.support.commands import invoke
from tests.support.reference_permutations import permutation_layers, powers_of
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS

# Three corners that turn, two edges that are alike, and two moves.
KPUZZLE = {
    "name": "Mini",
    "orbits": [
        {"orbitName": "CORNER", "numPieces": 3, "numOrientations": 3},
        {"orbitName": "EDGE", "numPieces": 2, "numOrientations": 1},
    ],
    "defaultPattern": {
        "CORNER": {"pieces": [0, 1, 2], "orientation": [0, 1, 0], "orientationMod": [0, 0, 0]},
        "EDGE": {"pieces": [0, 0], "orientation": [0, 0]},
    },
    "moves": {
        "R": {"CORNER": {"permutation": [1, 2, 0], "orientationDelta": [0, 0, 1]}},
        "F": {
            "CORNER": {"permutation": [1, 0, 2], "orientationDelta": [2, 0, 0]},
            "EDGE": {"permutation": [1, 0], "orientationDelta": [0, 0]},
        },
        "x": {"CORNER": {"permutation": [2, 0, 1], "orientationDelta": [0, 0, 0]}},
    },
    "derivedMoves": {"S": "x [R: F2] L", "L": "x R' (F x)2"},
    "experimentalPuzzleDescription": "not looked at",
}
TWSEARCH = """
# Mini
Name Mini
Set CORNER 3 3
Set EDGE 2 1
Solved
CORNER
1 2 3
0 1 0
EDGE
1 1
End
Move R
CORNER
2 3 1
1 0 0
End
Move F
CORNER
2 1 3
0 2 0
EDGE
2 1
End
"""
GAP = """
# two moves of three things and of two
M_R:=(1,3,2);
M_F:=( 1,2 )
  (4,5);
Gen:=[
M_R,M_F
];
ip:=[[1],[2],[3],[4,5]];
Size(Group(Gen));
"""


def without(table, *names):
    generators = {name: of for name, of in table["generators"].items() if name not in names}
    return {key: of for key, of in table.items() if key != "rotations"} | {"generators": generators}


def test_all_formats_say_the_same():
    kpuzzle = puzzle_table(json.dumps(KPUZZLE), "a")
    assert without(kpuzzle, "S", "L") == puzzle_table(TWSEARCH, "a")
    assert list(kpuzzle["generators"]) == ["R", "F", "L", "S"]
    turned = TWSEARCH.replace("Set CORNER 3 3", "Set CORNER 3 1").replace("\n0 1 0", "")
    flat = puzzle_table(turned.replace("\n1 0 0", "").replace("\n0 2 0", ""), "a")
    gap = puzzle_table(GAP, "a")
    for key in ("kind", "orientations", "generators", "closed", "metric"):
        assert gap[key] == flat[key]
    assert (flat["goal"], gap["goal"]) == (["C1", "C2", "C3", "E1", "E1"], list("12344"))


def test_the_definitions_of_the_page_say_the_same():
    page = (CONFIGS.parent / "docs" / "reference" / "puzzles" / "definitions.md").read_text(
        encoding="utf-8"
    )
    texts = re.findall(r"```(?:text|json)\n(.*?)```", page, re.DOTALL)
    assert puzzle_table(texts[0], "x") == puzzle_table(texts[1], "x")


def test_moves_that_are_derived():
    each = [3, 3, 3, 1, 1]
    table = puzzle_table(json.dumps(KPUZZLE), "a")
    moves = {g.name: g for g in puzzle_of({**table, "metric": "turns"}).notation.generators}
    x = puzzle_of(
        {**table, "generators": {"x": {"moves": [2, 3, 1, 4, 5]}}, "metric": "turns"}
    ).notation.generators[0]
    r, f = moves["R"], moves["F"]

    def made(*sequence):
        first, *others = sequence
        for other in others:
            first = first.then(other, each)
        return first.effect

    left = made(x, r.inverse(each), f, x, f, x)
    assert moves["L"].effect == left
    assert moves["S"].effect == made(x, r, f, f, r.inverse(each), moves["L"])


def random_kpuzzle(seed):
    """A definition of two orbits, and its moves and goal as the twin has them."""
    rng = random.Random(seed)
    sizes = {"A": (rng.randint(2, 4), rng.randint(1, 3)), "B": (2, 2)}
    each = [n for size, n in sizes.values() for _ in range(size)]

    def arranged(keys, like=False):
        of = {}
        for name, (size, n) in sizes.items():
            order = rng.sample(range(size), size)
            order = [min(piece, size - 2) for piece in order] if like else order
            of[name] = dict(zip(keys, (order, [rng.randrange(n) for _ in order]), strict=True))
        return of

    solved = arranged(("pieces", "orientation"), like=seed % 2)
    moves = {name: arranged(("permutation", "orientationDelta")) for name in "RF"}
    twin = []
    for move in moves.values():
        image, turns, first = [], [], 1
        for name, (size, _) in sizes.items():
            source, after = move[name].values()
            image += [first + source.index(place) for place in range(size)]
            turns += [after[source.index(place)] for place in range(size)]
            first += size
        twin += powers_of((image, turns), each)
    goal = [
        (f"{name}{piece}", turn)
        for name, of in solved.items()
        for piece, turn in zip(*of.values(), strict=True)
    ]
    orbits = [
        {"orbitName": name, "numPieces": size, "numOrientations": n}
        for name, (size, n) in sizes.items()
    ]
    definition = {"name": "Made", "orbits": orbits, "defaultPattern": solved, "moves": moves}
    return definition, twin, each, tuple(goal)


@swept("seed", range(25), few=4)
def test_layers_of_kpuzzles_are_those_of_a_dictionary(tmp_path, seed):
    definition, moves, each, goal = random_kpuzzle(seed)
    sizes = [len(layer) for layer in permutation_layers(moves, each, [goal])]
    path = tmp_path / "puzzle"  # no ending tells the format
    path.write_text(json.dumps(definition))
    config = frontier.load_config(path, (f"store.path={tmp_path}/run", "cluster.kind=serial"))
    assert frontier.run(config).counts == sizes


@swept("seed", range(25), few=4)
def test_layers_of_groups_are_those_of_a_dictionary(tmp_path, seed):
    rng = random.Random(seed)
    size = rng.randint(2, 6)
    images = [rng.sample(range(1, size + 1), size) for _ in range(2)]
    images.append([2, 1, *range(3, size + 1)])
    alike = rng.sample(range(1, size + 1), rng.randint(1, size))
    goal = tuple(("x" if place in alike else str(place), 0) for place in range(1, size + 1))
    moves = [move for image in images for move in powers_of((image, [0] * size), [1] * size)]
    sizes = [len(layer) for layer in permutation_layers(moves, [1] * size, [goal])]

    def cycles(image):
        text = ""
        for first in range(1, size + 1):
            cycle = [first]
            while (to := image[cycle[-1] - 1]) != first:
                cycle.append(to)
            text += f"({','.join(map(str, cycle))})" if min(cycle) == first else ""
        return text

    text = f"a:={cycles(images[0])};G:=Group(a,{cycles(images[1])},{cycles(images[2])});"
    (tmp_path / "group.txt").write_text(f"{text}\nip:=[{alike}];  # alike\n")
    settings = f"store.path={tmp_path}/run", "cluster.kind=serial"
    config = frontier.load_config(tmp_path / "group.txt", settings)
    assert frontier.run(config).counts == sizes


def test_groups_of_gap():
    def generators(text):
        return {name: of["moves"] for name, of in puzzle_table(text, "x")["generators"].items()}

    a, b = [2, 3, 1], [2, 1, 3]
    assert generators("a:=(1,2,3);b:=(1,2);") == {"a": a, "b": b}
    assert generators("a:=(1,2,3);b:=(1,2)(3);Gen:=[b];") == {"b": b}
    assert generators("a:=(1,2,3);L:=[a,(1,2),()];G:=Group(L);") == {"a": a, "g1": b}
    assert generators("Group((1,2,3),(1,2))") == {"g1": a, "g2": b}
    assert generators("G:=Group([(1,2,3)]);") == {"g1": a}
    assert generators("M_a:=(1,2,3);b:=(1,2);") == {"M_a": a, "b": b}


def test_orientations_that_do_not_count():
    wild = {**KPUZZLE, "defaultPattern": json.loads(json.dumps(KPUZZLE["defaultPattern"]))}
    wild["defaultPattern"]["CORNER"]["orientationMod"] = [1, 1, 1]
    assert puzzle_table(json.dumps(wild), "x")["orientations"] == 1
    wild["defaultPattern"]["CORNER"]["orientationMod"] = [1, 0, 0]
    assert puzzle_table(json.dumps(wild), "x")["goal"][0].endswith("+?")


def test_names_of_runs_are_those_of_files():
    names = {
        "swap.kpuzzle.json": "swap", "swap.gap": "swap", "3x3x3.tws": "3x3x3", "swap": "swap",
        "my puzzle.def": "my-puzzle", "v1.2.txt": "v1.2", ".tws": "puzzle", "a.json": "a",
    }  # fmt: skip
    assert {file: name_of(file) for file in names} == names


def changed(**parts):
    return json.dumps({**KPUZZLE, **parts})


def moved(**orbits):
    return changed(moves={"R": orbits})


CORNER = KPUZZLE["defaultPattern"]["CORNER"]
WRONG = {
    "x is not valid JSON: Expecting": "{",
    "x: orbits is missing; every kpuzzle definition needs it": "{}",
    "x: orbits = 3: expected a list": changed(orbits=3),
    "x: orbits = []: every puzzle needs pieces": changed(orbits=[]),
    "x: orbits.0.orbitName is missing": changed(orbits=[{}]),
    "x: orbits.0.numPieces = '3': expected a whole number": changed(
        orbits=[{"orbitName": "A", "numPieces": "3"}]
    ),
    "x: orbits.1.orbitName = 'EDGE': each orbit needs": changed(orbits=[KPUZZLE["orbits"][1]] * 2),
    "x: name = 3: expected text": changed(name=3),
    "x: moves = []: expected an object": changed(moves=[]),
    "x: moves.R = 3: expected an object": changed(moves={"R": 3}),
    "x: moves.R.A: the orbits are CORNER, EDGE": moved(A={}),
    "x: moves.R.CORNER.orientationDelta is missing": moved(CORNER={"permutation": [0, 1, 2]}),
    "x: moves.R.CORNER.permutation: expected 3 numbers": moved(CORNER={"permutation": [0]}),
    "x: moves.R.CORNER.permutation: 3 is not one of the numbers 0 to 2": moved(
        CORNER={"permutation": [0, 1, 3]}
    ),
    "x: moves.R.EDGE.permutation: 1.5 is not a number": moved(EDGE={"permutation": [0, 1.5]}),
    "x: moves.R: expected the places of EDGE in the move R: 2 numbers, each once": moved(
        EDGE={"permutation": [0, 0], "orientationDelta": [0, 0]}
    ),
    "x: defaultPattern.CORNER.orientationMod: 2 is not supported": changed(
        defaultPattern={"CORNER": {**CORNER, "orientationMod": [2, 0, 0]}}
    ),
    "x: derivedMoves.S = 3: expected a sequence": changed(derivedMoves={"S": 3}),
    "x: derivedMoves.R = 'F': R is already a move": changed(derivedMoves={"R": "F"}),
    "x: derivedMoves.S = 'R T': 'T' is not a move; the moves are R F x": changed(
        derivedMoves={"S": "R T", "T": "S"}
    ),
    "x: a:=(1,2)(2,3) names a position twice": "a:=(1,2)(2,3);",
    "x: a:=(1,300): 300 is not one of the numbers 1 to 255": "a:=(1,300);",
    "x: a:=b^2: expected a permutation such as (1,2,3)(4,5), or a": "a:=b^2;",
    "x: G:=b: no permutation has this name": "a:=(1,2);G:=Group(b);",
    "x: ip:=[[1],[1]]: every position must be in exactly one list": "a:=(1,2);ip:=[[1],[1]];",
    "x: ip:=[1,2]: expected lists of positions": "a:=(1,2);ip:=[1,2];",
    "x has no permutation that moves anything": "a:=();",
    "x has 0 moves with an effect": "a:=();ip:=[[1,2]];",
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_be_read(said):
    with pytest.raises(InputError) as error:
        puzzle_table(WRONG[said], "x")
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["hello", "name 3", 'name = "a\n', ""])
def test_an_error_names_the_formats_that_are_read(tmp_path, text):
    assert puzzle_table(text, "x") is None
    (tmp_path / "x.tws").write_text(text)
    with pytest.raises(InputError) as error:
        frontier.load_config(tmp_path / "x.tws")
    if text:
        for word in ("is not valid TOML", "kpuzzle", "twsearch", "ksolve", "GAP"):
            assert word in str(error.value)


@swept("text", [json.dumps(KPUZZLE), TWSEARCH, GAP], few=1)
def test_commands_know_formats_by_their_content(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mini.toml").write_text(text)
    serial = "--set", "cluster.kind=serial"
    for command in ("plan", "run", "status", "farthest", "report", "draw"):
        invoke(command, "mini.toml", *(serial if command in ("plan", "run") else ()))
    assert (tmp_path / "runs" / "mini" / "summary.json").exists()
    said = invoke("gods-number", "mini.toml", code=2).stderr
    assert "tile" in said


def test_a_config_begins_as_it_likes(tmp_path):
    """Comments, tables and dotted keys: what begins a config begins no other format."""
    table = 'kind = "tiles"\nrows = 2\ncolumns = 2\n'
    for text in (
        f"# Name Set Move\n\n[puzzle]\n{table}\n",
        f'name = "b"\n[puzzle]\ntitle = """\nSolved\nSet A 3 1"""\n{table}',
        'puzzle.kind = "tiles"\npuzzle = { rows = 2 }',
        '"puzzle" = { kind = "tiles" }',
        'puzzle.title = "a:=(1,2);"\n',
    ):
        assert puzzle_table(text, "x") is None


def test_a_shell_is_offered_the_usual_endings(tmp_path, monkeypatch):
    from frontier.cli.common import complete_run

    monkeypatch.chdir(tmp_path)
    files = ["a.def", "a.gap", "a.kpuzzle.json", "a.ksolve", "a.toml", "a.tws"]
    for name in [*files, "a.json", "a.txt"]:
        (tmp_path / name).write_text("")
    assert complete_run(None, None, "a") == files
