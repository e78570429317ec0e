"""A plain breadth-first search of a stack of pancakes, for comparison.

It works like `scripts/plain_search.py` for tiles, with Numba and on all cores. Each of the n!
orders has a byte, its distance from the sorted stack (255: not seen yet), and each layer is one
scan of all bytes. The number of an order is its rank by Lehmer digits of radices n, ..., 2. An
order is packed into one integer, four bits a pancake.

    python scripts/plain_pancakes.py 10
"""

import argparse
import os
from functools import cache
from math import factorial

import numba
from dictionary_search import tell
from plain_search import NUMBERS, ONES, UNSEEN, layers_of


@cache
def kernel(pancakes: int):
    """Compile expand(distance, depth, first, last) for `pancakes` pancakes."""
    if not 2 <= pancakes <= 15:
        raise ValueError(f"{pancakes} pancakes: 2 to 15 are supported")

    @numba.njit
    def rank(order):
        smaller = NUMBERS  # entry t: how many of the remaining pancakes are less than t
        number = 0
        for place in range(pancakes - 1):
            pancake = 4 * (order >> 4 * place & 15)
            number = number * (pancakes - place) + (smaller >> pancake & 15)
            smaller -= ONES << (pancake + 4)
        return number

    @numba.njit
    def unrank(number):
        digits = 0
        for place in range(pancakes - 2, -1, -1):
            digits = digits << 4 | number % (pancakes - place)
            number //= pancakes - place
        left, order = NUMBERS, 0  # left: the remaining pancakes, in order
        for place in range(pancakes):
            digit = 4 * (digits >> 4 * place & 15)
            order |= (left >> digit & 15) << 4 * place
            below = (1 << digit) - 1
            left = left & below | left >> 4 & ~below
        return order

    @numba.njit("int64(uint8[::1], int64, int64, int64)", nogil=True)
    def expand(distance, depth, first, last):
        """Expand the orders first..last-1 that are at `depth`; return their number."""
        found = 0
        for number in range(first, last):
            if distance[number] != depth:
                continue
            found += 1
            order = unrank(number)
            flipped = order & 15  # the first pancakes, flipped
            for flip in range(2, pancakes + 1):
                flipped = flipped << 4 | order >> 4 * (flip - 1) & 15
                to = rank(order >> 4 * flip << 4 * flip | flipped)
                if distance[to] == UNSEEN:
                    distance[to] = depth + 1
        return found

    return expand


def search(pancakes: int, threads: int) -> list[int]:
    """Return the number of orders of each layer, from depth 0 on."""
    return layers_of(kernel(pancakes), factorial(pancakes), threads)


def main():
    parser = argparse.ArgumentParser(description="Plain breadth-first search of pancakes.")
    parser.add_argument("pancakes", type=int)
    cores = os.cpu_count() or 1
    parser.add_argument("--threads", type=int, default=cores, help="default: every core")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    kernel(options.pancakes)  # compile first
    tell(lambda: search(options.pancakes, options.threads), options.json)


if __name__ == "__main__":
    main()
