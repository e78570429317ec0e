"""Permutation puzzles, slow and obvious, and the moves of some that are well known.

A move is a pair of lists: where the piece in each position goes, from 1, and by how much it is
turned. A board is a tuple of (label, orientation).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from tests.support.reference_search import layers_of

Move = tuple[list[int], list[int]]


def undone(move: Move) -> Move:
    image, turns = move
    back = [image.index(position) + 1 for position in range(1, len(image) + 1)]
    return back, [-turns[to - 1] for to in back]


def powers_of(move: Move, orientations: Sequence[int]) -> list[Move]:
    """The move made once, twice, and so on until it changes nothing."""
    image, turns = move
    powers, (to, turned) = [], move
    nothing = list(range(1, len(image) + 1)), [0] * len(image)
    while (list(to), [t % n for t, n in zip(turned, orientations, strict=True)]) != nothing:
        powers.append((to, turned))
        turned = [t + turns[at - 1] for t, at in zip(turned, to, strict=True)]
        to = [image[at - 1] for at in to]
    return powers


def moves_from(moves: Iterable[Move], orientations: Sequence[int], board: tuple) -> list[tuple]:
    """The boards after one move."""
    boards = []
    for image, turns in moves:
        after = [None] * len(board)
        for i, (label, turned) in enumerate(board):
            after[image[i] - 1] = (label, (turned + turns[i]) % orientations[i])
        boards.append(tuple(after))
    return boards


def permutation_layers(moves, orientations, origins: Iterable[tuple]) -> list[set[tuple]]:
    return layers_of(origins, lambda board: moves_from(moves, orientations, board))


def packed_sizes(images: Sequence[list[int]]) -> list[int]:
    """The sizes of the layers of up to 16 distinct pieces, whose board is a number of 16 digits."""
    shifts = [4 * place for place in range(len(images[0]))]
    layer = np.array([sum(place << shift for place, shift in enumerate(shifts))], dtype=np.uint64)
    before, sizes = layer[:0], []
    while layer.size:
        sizes.append(layer.size)
        moved = np.zeros((len(images), layer.size), dtype=np.uint64)
        for image, found in zip(images, moved, strict=True):
            for shift, to in zip(shifts, image, strict=True):
                found |= (layer >> np.uint64(shift) & np.uint64(15)) << np.uint64(4 * (to - 1))
        found = np.sort(moved.ravel())
        found = found[np.append(True, found[1:] != found[:-1])]
        known = np.concatenate([before, layer])
        before, layer = layer, found[~np.isin(found, known, assume_unique=True)]
    return sizes


def flip(first: int, pancakes: int) -> list[int]:
    """The image that turns over the first pancakes of a stack."""
    return [*range(first, 0, -1), *range(first + 1, pancakes + 1)]


def pancakes(number: int) -> dict:
    """The settings of so many pancakes."""
    return {"generators": {str(n): flip(n, number) for n in range(2, number + 1)}}


def burnt_pancakes(number: int) -> dict:
    """Those of pancakes with a burnt side, which the flipped ones turn."""
    flips = {
        str(n): {"moves": flip(n, number), "turns": [1] * n + [0] * (number - n)}
        for n in range(1, number + 1)
    }
    return {"generators": flips, "orientations": 2}


def topspin(number: int) -> dict:
    ring = [*range(2, number + 1), 1]
    return {"generators": {"turn": ring, "flip": [4, 3, 2, 1, *range(5, number + 1)]}}


PYRAMINX = {
    "orientations": [2] * 6 + [3] * 4,
    "generators": {
        "a": {"moves": "(1 2 3)", "turns": [0] * 6 + [1, 0, 0, 0]},
        "b": {"moves": "(1 4 5)", "turns": [1, 0, 0, 0, 1, 0, 0, 1, 0, 0]},
        "c": {"moves": "(2 4 6)", "turns": [0, 0, 0, 1, 0, 1, 0, 0, 1, 0]},
        "d": {"moves": "(3 5 6)", "turns": [0] * 9 + [1]},
    },
}
"""The pyraminx but for its tips: six edges, those of the corners a b, a c, a d, b c, b d, c d, and
what turns at each of the four corners."""

FACES = {
    "U": ("30124567", "00000000", "3012456789ab", "000000000000"),
    "R": ("41207563", "20011002", "8123b56749a0", "000000000000"),
    "F": ("15230467", "12002100", "0923486715ab", "010001001100"),
    "D": ("01235674", "00000000", "0123567489ab", "000000000000"),
    "L": ("02634157", "01200210", "01a34597826b", "000000000000"),
    "B": ("01374526", "00120021", "012b456a8937", "000100010011"),
}


def figures(text: str) -> list[int]:
    return [int(figure, 16) for figure in text]


CUBE_3 = {
    "name": "Cube",
    "orbits": [
        {"orbitName": "CORNERS", "numPieces": 8, "numOrientations": 3},
        {"orbitName": "EDGES", "numPieces": 12, "numOrientations": 2},
    ],
    "defaultPattern": {
        "CORNERS": {"pieces": [*range(8)], "orientation": [0] * 8},
        "EDGES": {"pieces": [*range(12)], "orientation": [0] * 12},
    },
    "moves": {
        face: {
            "CORNERS": {"permutation": figures(corners), "orientationDelta": figures(turned)},
            "EDGES": {"permutation": figures(edges), "orientationDelta": figures(flipped)},
        }
        for face, (corners, turned, edges, flipped) in FACES.items()
    },
}
"""The cube of 3x3x3 as a kpuzzle definition: its corners URF UFL ULB UBR DFR DLF DBL DRB, and its
edges UR UF UL UB DR DF DL DB FR FL BL BR."""
