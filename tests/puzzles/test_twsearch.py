"""Puzzles in the format of twsearch against a search that multiplies states as that program does,
and what it and this one do not have in common."""

import random
from itertools import chain

import pytest

import frontier
from frontier.errors import InputError
from frontier.puzzles import puzzle_of
from frontier.puzzles.formats import puzzle_table
from tests.support.commands import invoke
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS


def block(command, arranged):
    """The lines of Solved or of a Move; arranged: set -> its lines of numbers."""
    lines = [[name, *(" ".join(map(str, row)) for row in rows)] for name, rows in arranged.items()]
    return "\n".join([command, *chain(*lines), "End", ""])


def file_of(sets, solved, moves, solved_as="Solved", moves_as="Move"):
    """The text of a definition; sets: name -> (pieces, orientations)."""
    given = [f"Set {name} {pieces} {each}" for name, (pieces, each) in sets.items()]
    blocks = [block(f"{moves_as} {name}", arranged) for name, arranged in moves.items()]
    return "\n".join(
        ["# made by a test", "Name Made", *given, "", block(solved_as, solved), *blocks]
    )


def counts_of(sets, solved, moves):
    """The sizes of the layers, found by states as twsearch multiplies them: in place i comes what
    was in place p[i], and its orientation, told by the place it came from, is added."""

    def after(state, move):
        new = {}
        for name, (pieces, each) in sets.items():
            order, turns = state[name]
            came, turned = move.get(name, (range(1, pieces + 1), [0] * pieces))
            new[name] = (
                tuple(order[p - 1] for p in came),
                tuple((turns[p - 1] + turned[p - 1]) % each for p in came),
            )
        return new

    def key(state):
        return tuple(state.values())

    whole = {name: (range(1, n + 1), [0] * n) for name, (n, _) in sets.items()} | solved
    start = {name: (tuple(order), tuple(turns)) for name, (order, turns) in whole.items()}
    known, layer, counts = {key(start)}, [start], []
    while layer:
        counts.append(len(layer))
        found = {}
        for state in layer:
            for move in moves.values():
                once = after(state, move)
                power = once
                while key(power) != key(state):  # all powers, until the state comes back
                    if key(power) not in known:
                        found[key(power)] = power
                    power = after(power, move)
        known |= found.keys()
        layer = list(found.values())
    return counts


def random_puzzle(seed):
    rng = random.Random(seed)
    sets = {"EDGE": (rng.randint(3, 4), 2), "TIP": (2, 3), "Z": (rng.randint(2, 3), 1)}

    def arranged(name, like):
        pieces, each = sets[name]
        order = rng.sample(range(1, pieces + 1), pieces)
        if like:
            order = [min(number, pieces - 1) for number in order]
        return order, [rng.randrange(each) for _ in range(pieces)]

    solved = {name: arranged(name, seed % 2) for name in sets if rng.random() < 0.7}
    moves = {
        move: {name: arranged(name, False) for name in sets if rng.random() < 0.8}
        for move in ("F", "R2")
    }
    moves["F"] |= {
        "EDGE": ([2, 1, *range(3, sets["EDGE"][0] + 1)], [1, 0] + [0] * (sets["EDGE"][0] - 2))
    }
    return sets, solved, moves


def from_zero(arranged, states):
    """The same counted from 0; states: of moves, whose orientations are those after the move."""
    return {
        name: (
            [place - 1 for place in order],
            [turns[place - 1] for place in order] if states else turns,
        )
        for name, (order, turns) in arranged.items()
    }


def counted_by_frontier(tmp_path, text):
    path = tmp_path / "made puzzle.tws"
    path.write_text(text)
    config = frontier.load_config(path, (f"store.path={tmp_path}/run", "cluster.kind=serial"))
    assert (config.name, config.make_puzzle().title) == ("made-puzzle", "Made")
    return frontier.run(config, fresh=True).counts


@swept("seed", range(12), few=2)
def test_layers_are_those_of_states_multiplied(tmp_path, seed):
    sets, solved, moves = random_puzzle(seed)
    wanted = counts_of(sets, solved, moves)
    assert counted_by_frontier(tmp_path, file_of(sets, solved, moves)) == wanted
    turned = {name: from_zero(arranged, states=True) for name, arranged in moves.items()}
    other = file_of(sets, from_zero(solved, False), turned, "StartState", "MoveTransformation")
    assert counted_by_frontier(tmp_path, other) == wanted


CUBE = """
Name Cube
Set CORNER 7 3
Solved
End
Move U
CORNER
4 1 2 3 5 6 7
End
Move R
CORNER
5 2 3 1 7 6 4
1 0 0 2 2 0 1
End
Move F
CORNER
2 6 3 4 1 5 7
2 1 0 0 1 2 0
End
Move Uv
CORNER
2 3 4 1 5 6 7
End
Move x'
CORNER
2 3 4 1 5 6 7
End
MoveAlias Q U
SwizzleSet A B
"""


def test_the_cube_is_the_one_of_configs():
    """A move stands for its powers; turns of the whole cube are no moves."""
    table = puzzle_table(CUBE, "cube.tws")
    assert list(table["generators"]) == ["U", "R", "F"]
    mine = frontier.make_config("mine", {**table, "title": "x"}).make_puzzle()
    names = [generator.name for generator in mine.notation.generators]
    assert names == ["U", "U2", "U'", "R", "R2", "R'", "F", "F2", "F'"]
    theirs = frontier.load_config(CONFIGS / "cube-2x2x2.toml").make_puzzle()
    effects = [{g.effect for g in puzzle.notation.generators} for puzzle in (mine, theirs)]
    assert effects[0] == effects[1]
    assert mine.states == theirs.states == 3_674_160
    assert table["orientations"] == 3


def test_turns_count_one_each_if_set_so(tmp_path):
    (tmp_path / "cube.tws").write_text(CUBE)
    settings = ("puzzle.metric=turns", f"store.path={tmp_path}/run", "cluster.kind=serial")
    config = frontier.load_config(tmp_path / "cube.tws", (*settings, "search.until=4"))
    assert frontier.run(config).counts == [1, 6, 27, 120, 534]
    config = frontier.load_config(tmp_path / "cube.tws", (*settings[1:], "search.until=4"))
    assert frontier.run(config, fresh=True).counts == [1, 9, 54, 321, 1847]


def test_labels_have_the_letters_of_the_sets():
    def labels(*names):
        sets = dict.fromkeys(names, (2, 2))
        moves = {"F": dict.fromkeys(names, ((2, 1), (0, 0)))}
        solved = {names[-1]: ((1, 1), (1, 0))}
        return puzzle_table(file_of(sets, solved, moves), "x.tws")["goal"]

    assert labels("EDGE") == ["1+1", "1"]
    assert labels("EDGE", "CORNER") == ["E1", "E2", "C1+1", "C1"]
    assert labels("CORNER", "CORNER2") == ["a1", "a2", "b1+1", "b1"]


def test_any_orientation_is_one_orientation(tmp_path):
    """A center that only turns, and turns as it likes, is as if it had one orientation."""
    sets = {"EDGE": (3, 1), "CENTER": (2, 4)}
    turning = {"CENTER": ((1, 2), (1, 1))}
    moves = {"F": {"EDGE": ((2, 3, 1), (0, 0, 0)), **turning}}
    wild = file_of(sets, {"CENTER": ((1, 2), ("?", 0))}, moves)
    assert counted_by_frontier(tmp_path, wild) == [1, 11]
    both = file_of(sets, {"CENTER": ((1, 2), ("?", "?"))}, moves)
    assert counted_by_frontier(tmp_path, both) == [1, 2]
    like = {"F": {"CENTER": ((2, 3, 1), (1, 0, 0))}}
    texts = [
        file_of({"CENTER": (3, 4)}, {"CENTER": ((1, 2, 2), turns)}, like)
        for turns in ((0, "?", 0), (0, 0, "?"), (0, "?", "?"))
    ]
    assert len({str(puzzle_table(text, "x")) for text in texts}) == 1
    exchanged = {"F": {"CENTER": ((2, 1), (1, 1))}}
    some = file_of(sets, {"CENTER": ((1, 2), ("?", 0))}, exchanged)
    assert counted_by_frontier(tmp_path, some) == [1, 3]


START = "Name X\nSet A 3 2\n"
MOVE = "Solved\nEnd\nMove R\nA\n2 3 1\nEnd\n"
WRONG = {
    "line 3: 'Sets' is not a command; expected one of Name, Set, Solved": START + "Sets A",
    "line 3: Set B 3: expected Set NAME PIECES ORIENTATIONS": START + "Set B 3",
    "line 3: 256 is not one of the numbers 1 to 255": START + "Set B 256 1",
    "line 3: each Set may appear once": START + "Set A 3 1",
    "line 5: each Set may appear once, and only before Solved": START + "Solved\nEnd\nSet B 2 1",
    "line 5: Solved may appear only once": START + "Solved\nEnd\nSolved\nEnd",
    "line 3: a move comes before Solved; put Solved first": START + "Move R\nEnd",
    "line 9: the move R appears twice": START + MOVE + "Move R\nEnd",
    "line 4: B: expected End or the name of a set, which are A": START + "Solved\nB\n1 2 3\nEnd",
    "line 4: 1 2 3: expected End": START + "Solved\n1 2 3\nEnd",
    "line 7: 0 0 0: expected End": START + "Solved\nA\n1 2 3\n0 0 0\n0 0 0\nEnd",
    "line 6: A appears twice": START + "Solved\nA\n1 2 3\nA\n1 2 3\nEnd",
    "line 5: expected the numbers of A": START + "Solved\nA\nEnd",
    "line 5: expected 3 numbers for A": START + "Solved\nA\n1 2\nEnd",
    "line 5: '2x' is not a number": START + "Solved\nA\n1 2x 3\nEnd",
    "line 6: 2 is not one of the numbers 0 to 1": START + "Solved\nA\n1 2 3\n2 0 0\nEnd",
    "line 3: its End is missing": START + "Solved\nA\n1 2 3",
    "line 7: 4 is not one of the numbers 1 to 3": START + MOVE.replace("2 3 1", "2 3 4"),
    "line 5: expected the places of A in the move R": START + MOVE.replace("2 3 1", "2 3 3"),
    "line 8: '?' is not a number": START + MOVE.replace("2 3 1", "2 3 1\n? 0 0"),
    "line 9: Illegal is not supported: it forbids some positions": START + MOVE + "Illegal A 1 2",
    "line 9: Block is not supported: it ties pieces together": START + MOVE + "Block",
    "line 9: MoveSequence L: expected MoveSequence NAME MOVES": START + MOVE + "MoveSequence L",
    "line 9: 'R Q': 'Q' is not a move; the moves are R": START + MOVE + "MoveSequence L R Q",
    "line 2: Ignore comes before Solved": "Name X\nIgnore\nEnd",
    "line 9: places of A that accept any piece are not supported": START
    + MOVE
    + "Ignore\nA\n1 0 0\nEnd",
    "line 11: 2 is not one of the numbers 0 to 1": START + MOVE + "Ignore\nA\n2 0 0\nEnd",
    "has no Solved; every puzzle needs one": START,
    "has no Move; every puzzle needs one": START + "Solved\nEnd",
    "has no Set; every puzzle needs one": "Name X",
    "has 0 moves with an effect": START + "Solved\nEnd\nMove R\nEnd",
    "has 70 pieces in its sets: at most 64": "Set B 67 1\n" + START + MOVE,
    "the pieces of B have 9 orientations, at most 7": "Set B 3 9\n" + START + MOVE,
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_be_read(said):
    with pytest.raises(InputError) as error:
        puzzle_table(WRONG[said], "x.tws")
    assert str(error.value).startswith("x.tws")
    assert said in str(error.value)


def test_too_many_powers():
    cycles = []
    for length in (5, 7, 8, 9):  # 2,520 powers
        cycles += [*range(len(cycles) + 2, len(cycles) + length + 1), len(cycles) + 1]
    table = puzzle_table(file_of({"A": (29, 1)}, {}, {"F": {"A": (cycles, [0] * 29)}}), "x.tws")
    with pytest.raises(InputError, match=r"generators\.F has 2,519 powers: at most 1,000 moves"):
        puzzle_of(table)
    turns = puzzle_of({**table, "metric": "turns"})
    assert [generator.name for generator in turns.notation.generators] == ["F", "F'"]


def test_powers_do_not_take_the_names_of_moves():
    moves = {"F": {"A": ((2, 3, 1), (0, 0, 0))}, "F'": {"A": ((2, 1, 3), (0, 0, 0))}}
    puzzle = puzzle_of(puzzle_table(file_of({"A": (3, 1)}, {}, moves), "x.tws"))
    assert {generator.name: generator.image for generator in puzzle.notation.generators} == {
        "F": (2, 0, 1),
        "F^2": (1, 2, 0),
        "F'": (1, 0, 2),
    }


def test_a_sequence_of_moves_is_one():
    moves = {"F": {"A": ((2, 3, 4, 1), (1, 0, 0, 0))}, "R": {"A": ((2, 1, 3, 4), (0, 0, 1, 0))}}
    text = file_of({"A": (4, 2)}, {}, moves) + "MoveSequence S F R2' F\n"
    table = puzzle_table(text, "x.tws")
    each, (f, r, s) = (
        [2] * 4,
        [puzzle_of({**table, "metric": "turns"}).notation.generators[n] for n in range(3)],
    )
    assert s.effect == f.then(r, each).then(r, each).then(f, each).effect


def test_ignored_orientations_are_any():
    """A 1 on the second line of a set in Ignore is a ? in Solved."""
    moves = {"F": {"A": ((2, 1, 3), (1, 1, 0)), "B": ((2, 1), (1, 0))}}
    sets = {"A": (3, 2), "B": (2, 2)}
    wild = file_of(sets, {"A": ((1, 2, 3), ("?", "?", 0))}, moves)
    ignoring = block("Ignore", {"A": ((0, 0, 0), (1, 1, 0))})
    assert puzzle_table(file_of(sets, {}, moves) + ignoring, "x") == puzzle_table(wild, "x")


def test_commands_take_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mini.tws").write_text(
        "Name Mini\nSet A 4 1\nSolved\nEnd\nMove F\nA\n2 3 4 1\nEnd\nMove S\nA\n2 1 3 4\nEnd\n"
    )
    serial = "--set", "cluster.kind=serial"
    assert "Mini" in invoke("run", "mini.tws", *serial).stdout
    assert "complete" in invoke("status", "mini.tws").stdout
    assert "2 moves" in invoke("solve", "mini.tws", "3 2 4 1").stdout
    assert "depth" in invoke("run", "runs/mini", *serial).stdout
    (tmp_path / "mini.tws").write_text("Nme Mini\nSet A 4 1\n")
    assert "mini.tws, line 1: 'Nme' is not a command" in invoke("plan", "mini.tws", code=2).stderr
