"""Programs for tests: random graphs and known puzzles, and the layers that a dictionary finds."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import frontier
from frontier.config.loading import Config

GRAPH = '''
import numpy as np

def puzzle(states=500, degree=3, seed=0, both=True, first=0, pad=0):
    """A random graph. Digit 0 of a state is its number; further digits never change."""
    random = np.random.default_rng(seed)
    targets = random.integers(states, size=(states, degree))
    lists = [set() for _ in range(states)]
    for state in range(states):
        for target in targets[state].tolist():
            lists[state].add(target)
            if both:
                lists[target].add(state)
    most = max(map(len, lists))
    table = np.array([sorted(of) + [-1] * (most - len(of)) for of in lists])

    def neighbours(state, out):
        count = 0
        for i in range(most):
            if table[state[pad], i] >= 0:
                for digit in range(len(state)):
                    out[count, digit] = state[digit]
                out[count, pad] = table[state[pad], i]
                count += 1
        return count

    return {
        "radices": [3] * pad + [states],
        "start": [2] * pad + [first],
        "neighbours": neighbours,
        "most": most,
        "undone": both,
    }
'''


def program(folder: Path, text: str, keep: str = "frontier", **parameters) -> Config:
    """The config of a program with this text, which is written beside its run."""
    folder.mkdir(exist_ok=True)
    (folder / "moves.py").write_text(text)
    puzzle = {"kind": "program", "file": str(folder / "moves.py"), **parameters}
    store, search = {"path": str(folder / "run"), "fsync": "never"}, {"keep": keep}
    return frontier.make_config("moves", puzzle, search, store, {"workers": 2, "memory": "2GB"})


def listed(table: dict, state: Sequence[int]) -> set[tuple[int, ...]]:
    """The neighbours of a state, by the function itself."""
    out = np.full((table["most"], len(state)), -1)
    count = table["neighbours"](np.array(state), out)
    return set(map(tuple, out[:count].tolist()))


def layers(table: dict) -> list[set[tuple[int, ...]]]:
    """The layers of a search with a dictionary."""
    found = [{tuple(table["start"])}]
    seen = set(found[0])
    while found[-1]:
        found.append({n for state in found[-1] for n in listed(table, state)} - seen)
        seen |= found[-1]
    return found[:-1]


def table_of(text: str) -> Callable[..., dict]:
    """The function `puzzle` of a text."""
    names: dict = {}
    exec(text, names)
    return names["puzzle"]
