"""Tables that others have published, found again by whole runs.

Each is the number of positions at each depth, as its source prints it:

* O. Tarakanov, SlidingTilesSolver (github.com/lightln2/SlidingTilesSolver, 2022): its logs
* the On-Line Encyclopedia of Integer Sequences (oeis.org): A089473, A092113
* CayleyPy (github.com/cayleypy/cayleypy, 2025): growth of Cayley graphs, cayleypy/data
* J. Scherphuis, Jaap's Puzzle Page (jaapsch.net/puzzles): Mini Cube, Pyraminx
* M. Fogleman, Solving Rush Hour, the Puzzle (michaelfogleman.com/rush, 2018): its database
"""

import tomllib
from itertools import combinations

from frontier import make_config
from frontier.api import runs as api
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS


def tiles(rows, columns, metric="step"):
    return {"kind": "tiles", "rows": rows, "columns": columns, "metric": metric}


def permutations(generators, closed=True, **more):
    return {"kind": "permutations", "generators": generators, "closed": closed, **more}


def of_config(name, **more):
    return {**tomllib.loads((CONFIGS / f"{name}.toml").read_text())["puzzle"], **more}


def ring(size):
    return "(" + " ".join(map(str, range(1, size + 1))) + ")"


def top_spin(size):
    """A ring that turns by one place, and a turnstile that turns four discs over."""
    return permutations({"L": ring(size), "X": "(1 4)(2 3)"})


def ring_and_swap(size, **more):
    """A ring that turns by one place, and an exchange of its first two places."""
    return permutations({"L": ring(size), "X": "(1 2)"}, **more)


def pancakes(size):
    flips = {f"f{n}": [*range(n, 0, -1), *range(n + 1, size + 1)] for n in range(2, size + 1)}
    return permutations(flips)


def pyraminx():
    """Without tips: four corners that turn in their places, and six edges.

    An edge between the vertices a and b has its stickers on the faces opposite c and d. It is not
    turned if the sticker opposite the lesser of them is.
    """
    edges, generators = list(combinations(range(4), 2)), {}
    for vertex in range(4):
        others = [v for v in range(4) if v != vertex]
        turn = dict(zip(others, others[1:] + others[:1], strict=True)) | {vertex: vertex}
        moves, turns = [1, 2, 3, 4], [int(v == vertex) for v in range(4)]
        for edge in edges:
            image = tuple(sorted(turn[v] for v in edge)) if vertex in edge else edge
            stickers = (min(set(range(4)) - set(of)) for of in (edge, image))
            moves.append(5 + edges.index(image))
            turns.append(int(vertex in edge and turn[next(stickers)] != next(stickers)))
        generators[f"V{vertex}"] = {"moves": moves, "turns": turns}
    return permutations(generators, orientations=[3] * 4 + [2] * 6)


TABLES = {
    # Tarakanov: results/normal_frontier, multitile_frontier
    "2x5": (tiles(2, 5), [
        1, 2, 3, 6, 11, 19, 30, 44, 68, 112, 176, 271, 411, 602, 851, 1232, 1783, 2530, 3567, 4996,
        6838, 9279, 12463, 16597, 21848, 28227, 35682, 44464, 54597, 65966, 78433, 91725, 104896,
        116966, 126335, 131998, 133107, 128720, 119332, 106335, 91545, 75742, 60119, 45840, 33422,
        23223, 15140, 9094, 5073, 2605, 1224, 528, 225, 75, 20, 2,
    ]),
    "2x5, several tiles": (tiles(2, 5, "multi"), [
        1, 5, 8, 20, 32, 80, 127, 300, 458, 960, 1458, 3055, 4540, 8780, 12694, 23520, 33370, 57200,
        77373, 119315, 151791, 204225, 235617, 256305, 246642, 178775, 120853, 49655, 20885, 4530,
        1229, 440, 113, 30, 8, 5, 1,
    ]),
    # OEIS A089473
    "3x3": (tiles(3, 3), [
        1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529,
        10878, 16993, 17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2,
    ]),
    # OEIS A092113
    "pancakes, 8": (pancakes(8), [1, 7, 42, 251, 1191, 4281, 10561, 15011, 8520, 455]),
    # CayleyPy: top_spin_cayley_growth, lrx_cayley_growth, lrx_coset_growth
    "TopSpin, 8": (top_spin(8), [
        1, 3, 6, 12, 23, 44, 85, 148, 244, 389, 621, 996, 1584, 2484, 3764, 5452, 6968, 7138, 6292,
        3036, 848, 166, 16,
    ]),
    "TopSpin, 9": (top_spin(9), [
        1, 3, 6, 12, 24, 46, 88, 168, 322, 613, 1137, 2095, 3745, 6385, 10697, 17134, 24461, 30412,
        32269, 27633, 17101, 5884, 1112, 92,
    ]),
    "ring and swap, 8": (ring_and_swap(8), [
        1, 3, 6, 12, 23, 44, 80, 142, 247, 411, 662, 1019, 1481, 2059, 2745, 3465, 4126, 4633, 4913,
        4777, 4163, 3079, 1612, 488, 94, 25, 6, 3, 1,
    ]),
    "ring and swap, 7 of 14 alike": (ring_and_swap(14, goal=[*"aaaaaaabbbbbbb"]), [
        1, 2, 3, 4, 6, 8, 10, 14, 17, 22, 29, 32, 44, 58, 70, 90, 104, 120, 143, 155, 171, 193, 201,
        210, 215, 214, 218, 203, 190, 186, 151, 126, 107, 68, 36, 11,
    ]),
    "ring and swap, 12 by turns alike": (ring_and_swap(12, goal=[*"abababababab"]), [
        1, 2, 3, 4, 6, 11, 18, 26, 37, 50, 72, 87, 95, 95, 72, 75, 74, 47, 42, 21, 23, 26, 7, 9, 10,
        3, 4, 4,
    ]),
    # Scherphuis
    "2x2x2, half turns": (of_config("cube-2x2x2"), [
        1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644,
    ]),
    "2x2x2, quarter turns": (of_config("cube-2x2x2", metric="turns", closed=True), [
        1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276,
    ]),
    "pyraminx": (pyraminx(), [
        1, 8, 48, 288, 1728, 9896, 51808, 220111, 480467, 166276, 2457, 32,
    ]),
}  # fmt: skip


@swept("name", TABLES, few=["2x5, several tiles", "pancakes, 8", "ring and swap, 7 of 14 alike"])
def test_layers_that_others_have_published(tmp_path, name):
    puzzle, counts = TABLES[name]
    config = make_config("public", puzzle, store={"path": str(tmp_path / "run")})
    assert api.run(api.plan(config)).counts == counts


def test_rush_hour(tmp_path):
    """Fogleman: 51 moves, 4,780 positions."""
    puzzle, store = of_config("rush-hour"), {"path": str(tmp_path / "run")}
    run = api.run(api.plan(make_config("public", puzzle, store=store, search={"keep": "all"})))
    assert (run.distance(puzzle["start"]), sum(run.counts)) == (51, 4780)
