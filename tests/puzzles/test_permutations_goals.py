"""Goals of permutation puzzles in part, and goals up to turns of the whole puzzle, against
dictionaries of whole boards."""

import json

import pytest

from frontier import make_config
from frontier.api import runs as api
from frontier.errors import InputError
from tests.support.commands import invoke
from tests.support.reference_permutations import permutation_layers, undone
from tests.support.sweeps import swept

CUBE = {
    "U": {"moves": "(1 2 3 4)"},
    "R": {"moves": "(1 4 7 5)", "turns": [1, 0, 0, 2, 2, 0, 1]},
}
"""The moves U and R of the 2×2×2 cube, for seven corners."""

RING = {"a": {"moves": "(1 2)(3 4)", "turns": [1, 1, 0, 0, 0]}, "b": {"moves": "(2 3 5)"}}


def lists_of(generators, orientations):
    """The generators as lists, with their inverses."""
    moves = []
    for move in generators.values():
        image = list(range(1, len(orientations) + 1))
        for cycle in move["moves"].strip("()").split(")("):
            steps = list(map(int, cycle.split()))
            for here, there in zip(steps, steps[1:] + steps[:1], strict=True):
                image[here - 1] = there
        moves.append((image, move.get("turns", [0] * len(image))))
    return moves + [undone(move) for move in moves]


def whole_layers(generators, orientations, goals):
    return permutation_layers(lists_of(generators, orientations), orientations, goals)


def run_of(path, **puzzle):
    puzzle = {"kind": "permutations", "closed": True, **puzzle}
    config = make_config("test", puzzle, store={"path": str(path)}, search={"keep": "all"})
    return api.run(api.plan(config))


@swept(
    ("generators", "orientations", "goal"),
    [
        (RING, [2] * 5, "1 ? ? 4 5"),
        ({"a": {"moves": "(1 2 3 4 5 6)"}, "b": {"moves": "(1 2)"}}, [1] * 6, "1 2 ? ? ? ?"),
        (CUBE, [3] * 7, "1 2 3 ? ? ? ?"),
        (CUBE, [3] * 7, "? 2+1 ? ? 5 ? ?"),
    ],
    few=2,
)
def test_a_goal_in_part(tmp_path, generators, orientations, goal):
    """What is seen of whole boards, by their distance from the nearest that agrees."""
    run = run_of(tmp_path / "run", generators=generators, orientations=orientations, goal=goal)
    marks = goal.split()
    solved = [
        (str(n), 0) if mark == "?" else (mark.split("+")[0], int((mark + "+0").split("+")[1]))
        for n, mark in enumerate(marks, start=1)
    ]
    shown = {label for (label, _), mark in zip(solved, marks, strict=True) if mark != "?"}

    def seen(board):
        return tuple(place if place[0] in shown else "?" for place in board)

    everywhere = set().union(*whole_layers(generators, orientations, [tuple(solved)]))
    goals = [board for board in everywhere if seen(board) == seen(solved)]
    found, expected = set(), []
    for layer in whole_layers(generators, orientations, goals):
        new = {seen(board) for board in layer} - found
        found |= new
        expected += [new] if new else []
    assert run.counts == list(map(len, expected))
    for boards, layer in zip(expected, run.layers, strict=True):
        texts = {" ".join(run.puzzle.notation.labels_on(board)) for board in layer}
        assert texts == {
            " ".join(of if of == "?" else of[0] + (f"+{of[1]}" if of[1] else "") for of in board)
            for board in boards
        }


def test_a_goal_up_to_rotations(tmp_path):
    """Six cards, which an exchange of neighbours sorts in a circle."""
    swaps = {f"s{n}": f"({n} {n % 6 + 1})" for n in range(1, 7)}
    rotations = {"turn": "(1 2 3 4 5 6)"}
    run = run_of(tmp_path / "run", generators=swaps, rotations=rotations, up_to_rotations=True)
    labels = [(str(n), 0) for n in range(1, 7)]
    goals = [tuple(labels[n:] + labels[:n]) for n in range(6)]
    generators = {name: {"moves": moves} for name, moves in swaps.items()}
    expected = whole_layers(generators, [1] * 6, goals)
    assert run.counts == list(map(len, expected))
    assert run.distance("2 3 4 5 6 1") == 0
    assert run.distance("3 2 4 5 6 1") == 1
    solution = run.solve("3 2 4 5 6 1")
    assert len(solution.moves) == 1


def test_rotations_that_change_parity(tmp_path):
    """Turns of three pieces never make the odd turn of all four, yet it counts as the goal."""
    generators = {"a": {"moves": "(1 2 3)"}, "b": {"moves": "(2 3 4)"}}
    run = run_of(
        tmp_path / "run", generators=generators, rotations={"r": "(1 2 3 4)"}, up_to_rotations=True
    )
    labels = [(str(n), 0) for n in range(1, 5)]
    goals = [tuple(labels[n:] + labels[:n]) for n in range(4)]
    assert run.counts == list(map(len, whole_layers(generators, [1] * 4, goals)))
    assert sum(run.counts) == 24


def test_rotations_whose_products_alone_the_moves_may_lead_to(tmp_path):
    """A turn exchanges the two sets of three, whose pieces moves keep apart; made twice it is a
    goal."""
    moves = {"a": "(1 2 3)", "b": "(4 5 6)", "c": "(2 3)", "d": "(5 6)"}
    rotations = {"x": "(1 4 2 5 3 6)"}
    run = run_of(tmp_path / "run", generators=moves, rotations=rotations, up_to_rotations=True)
    labels = [(str(n), 0) for n in range(1, 7)]
    goals = [
        tuple(labels[n:3] + labels[:n] + labels[n + 3 :] + labels[3 : n + 3]) for n in range(3)
    ]
    named = {name: {"moves": cycles} for name, cycles in moves.items()}
    assert run.counts == list(map(len, whole_layers(named, [1] * 6, goals)))


TWSEARCH = """
Name Sorted
Set CORNER 4 1
Solved
CORNER
1 2 3 4
End
Move A
CORNER
2 1 3 4
End
Move B
CORNER
1 3 2 4
End
Move C
CORNER
1 2 4 3
End
Move x
CORNER
2 3 4 1
End
"""


def test_rotations_of_a_file_of_twsearch(tmp_path):
    (tmp_path / "sorted.tws").write_text(TWSEARCH)
    words = "run", tmp_path / "sorted.tws", "--json", "--set"
    plain = invoke(*words, f"store.path={tmp_path / 'plain'}").stdout
    turned = invoke(
        *words, f"store.path={tmp_path / 'turned'}", "--set", "puzzle.up_to_rotations=true"
    ).stdout
    labels = [(str(n), 0) for n in range(1, 5)]
    goals = [tuple(labels[n:] + labels[:n]) for n in range(4)]
    swaps = {f"s{n}": {"moves": f"({n} {n + 1})"} for n in range(1, 4)}
    assert json.loads(plain)["depth"] == 6
    assert json.loads(turned)["depth"] == len(whole_layers(swaps, [1] * 4, goals)) - 1 < 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"up_to_rotations": True}, "define the turns of the whole puzzle in puzzle.rotations"),
        ({"up_to_rotations": True, "rotations": {"x": "(5 6)"}}, "6 positions|has 4|position"),
        (
            {"up_to_rotations": True, "rotations": {"x": "(1 4)"}, "goal": "1 2 3 4",
             "generators": {"a": "(1 2)", "b": "(3 4)"}},
            "makes another goal",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(settings, message):
    puzzle = {"kind": "permutations", "generators": {"a": "(1 2 3 4)"}, "closed": True}
    with pytest.raises(InputError, match=message):
        make_config("test", {**puzzle, **settings})


def test_too_many_rotations():
    rotations = {f"s{n}": f"({n} {n + 1})" for n in range(1, 8)}
    puzzle = {"kind": "permutations", "generators": {"a": "(1 2 3 4 5 6 7 8)", "b": "(1 2)"}}
    with pytest.raises(InputError, match="more than 1,000 goals"):
        make_config(
            "test", {**puzzle, "closed": True, "rotations": rotations, "up_to_rotations": True}
        )
