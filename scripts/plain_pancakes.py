"""The plain breadth-first search of a stack of pancakes, to compare with.

It is as plain as `scripts/plain_search.py` for tiles: a byte for each of the n! orders, its
distance from the sorted stack (255: not seen yet), each layer one scan of all the bytes, all
cores, Numba. The number of an order is its rank by Lehmer digits of radices n, ..., 2; orders
are packed four bits a pancake into one integer.

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
        smaller = NUMBERS  # entry t: how many pancakes less than t are left
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
        left, order = NUMBERS, 0  # left: the pancakes that are left, in order
        for place in range(pancakes):
            digit = 4 * (digits >> 4 * place & 15)
            order |= (left >> digit & 15) << 4 * place
            below = (1 << digit) - 1
            left = left & below | left >> 4 & ~below
        return order

    @numba.njit("int64(uint8[::1], int64, int64, int64)", nogil=True)
    def expand(distance, depth, first, last):
        """Expand the orders first..last-1 that are at `depth`; returns how many there are."""
        found = 0
        for number in range(first, last):
            if distance[number] != depth:
                continue
            found += 1
            order = unrank(number)
            flipped = order & 15  # the first pancakes, turned over
            for flip in range(2, pancakes + 1):
                flipped = flipped << 4 | order >> 4 * (flip - 1) & 15
                to = rank(order >> 4 * flip << 4 * flip | flipped)
                if distance[to] == UNSEEN:
                    distance[to] = depth + 1
        return found

    return expand


def search(pancakes: int, threads: int) -> list[int]:
    """Number of orders in each layer, from depth 0 on."""
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
