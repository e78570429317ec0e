"""A plain breadth-first search of the m x n tile puzzle, for comparison.

This is the first serious program that one would write, with Numba and enough memory. Each of the
(mn)!/2 states has a byte, its distance from the goal (255: not seen yet), and each layer is one
scan of all bytes. The kernel turns a state of the current layer into a board, makes each move, and
turns the result back into a number; if the byte of that number is 255, it becomes the next
distance. Threads share the scan, piece by piece; two that find the same state write the same byte.
The script shares nothing with the package `frontier`: `scripts/bench.py` runs both and compares
their counts.

The number of a state is the blank's cell times k!/2 plus the rank of the k = mn - 1 tiles in
reading order. The rank is the number with the Lehmer digits of radices k, ..., 3; the last two
tiles are in the order whose parity fits the blank's cell. Boards, and the lists that convert tiles
to digits and digits to tiles, are packed into one integer, four bits an entry. The sides of the
board are constants of the compiled kernel, so that loops unroll and divisions become
multiplications.

The goal has the blank in the first cell and the tiles in order.

    python scripts/plain_search.py 3 3
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import factorial

import numba
import numpy as np
from dictionary_search import tell

UNSEEN = 255
PIECE = 1 << 20  # states that a thread scans at a time
ONES = 0x111111111111111  # 15 entries of 1
NUMBERS = 0xEDCBA9876543210  # 15 entries 0, 1, ..., 14


@cache
def kernel(rows: int, columns: int):
    """Compile expand(distance, depth, first, last) for one board."""
    cells, tiles = rows * columns, rows * columns - 1
    if min(rows, columns) < 2 or not 4 <= cells <= 15:
        raise ValueError(f"{rows} x {columns}: sides of at least 2 and at most 15 cells are needed")
    half = factorial(tiles) // 2

    @numba.njit
    def rank(sequence):
        """Return the number of a sequence of tiles."""
        smaller = NUMBERS  # entry t: how many of the remaining tiles are less than t
        number = 0
        for place in range(tiles - 2):
            tile = 4 * (sequence >> 4 * place & 15)
            number = number * (tiles - place) + (smaller >> tile & 15)
            smaller -= ONES << (tile + 4)
        return number

    @numba.njit
    def unrank(number, odd):
        """Return the sequence of tiles with this number and parity; the inverse of `rank`."""
        digits = 0
        for place in range(tiles - 3, -1, -1):
            digit = number % (tiles - place)
            number //= tiles - place
            odd ^= digit & 1
            digits = digits << 4 | digit
        digits |= odd << 4 * (tiles - 2)
        left, sequence = NUMBERS, 0  # left: the remaining tiles, in order
        for place in range(tiles):
            digit = 4 * (digits >> 4 * place & 15)
            sequence |= (left >> digit & 15) << 4 * place
            below = (1 << digit) - 1
            left = left & below | left >> 4 & ~below
        return sequence

    @numba.njit
    def slide(sequence, blank, cell):
        """Return the number of the state after the tile at `cell` slides to `blank`."""
        below = (1 << 4 * blank) - 1
        board = sequence & below | (sequence & ~below) << 4
        tile = board >> 4 * cell & 15
        board ^= tile << 4 * cell | tile << 4 * blank
        below = (1 << 4 * cell) - 1
        return cell * half + rank(board & below | board >> 4 & ~below)

    @numba.njit("int64(uint8[::1], int64, int64, int64)", nogil=True)
    def expand(distance, depth, first, last):
        """Expand the states first..last-1 that are at `depth`; return their number."""
        found = 0
        for state in range(first, last):
            if distance[state] != depth:
                continue
            found += 1
            blank = state // half
            row, column = blank // columns, blank % columns
            sequence = unrank(state % half, row * (columns - 1) & 1)
            for move in range(4):
                if move == 0 and row > 0:
                    cell = blank - columns
                elif move == 1 and row < rows - 1:
                    cell = blank + columns
                elif move == 2 and column > 0:
                    cell = blank - 1
                elif move == 3 and column < columns - 1:
                    cell = blank + 1
                else:
                    continue
                to = slide(sequence, blank, cell)
                if distance[to] == UNSEEN:
                    distance[to] = depth + 1
        return found

    return expand


def search(rows: int, columns: int, threads: int) -> list[int]:
    """Return the number of states of each layer, from depth 0 on."""
    return layers_of(kernel(rows, columns), factorial(rows * columns) // 2, threads)


def layers_of(expand, states: int, threads: int) -> list[int]:
    """Return the number of states of each layer, from state 0, by expand(distance, depth, first,
    last)."""
    distance = np.full(states, UNSEEN, dtype=np.uint8)
    distance[0] = 0
    pieces = [(first, min(first + PIECE, states)) for first in range(0, states, PIECE)]
    layers = []
    with ThreadPoolExecutor(threads) as pool:
        while True:
            depth = len(layers)
            found = sum(pool.map(lambda piece, d=depth: expand(distance, d, *piece), pieces))
            if not found:
                return layers
            layers.append(found)


def main():
    parser = argparse.ArgumentParser(description="Plain breadth-first search of a tile puzzle.")
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    cores = os.cpu_count() or 1
    parser.add_argument("--threads", type=int, default=cores, help="default: every core")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    kernel(options.rows, options.columns)  # compile first
    tell(lambda: search(options.rows, options.columns, options.threads), options.json)


if __name__ == "__main__":
    main()
