"""The breadth-first search of the m x n tile puzzle that everyone writes first, in plain Python.

A dictionary holds the depth of every position seen, a position is a bytes object, and the frontier
is a list. The script shares nothing with the package `frontier`: `scripts/bench.py --compare`
runs both and compares their counts. The goal has the blank in the first cell and the tiles in
order.

    python scripts/dictionary_search.py 3 3
"""

import argparse
import json
import time
from collections.abc import Callable


def search(rows: int, columns: int) -> list[int]:
    """Return the number of states of each layer, from depth 0 on."""
    cells = range(rows * columns)
    neighbours = [
        [c for c in cells if abs(c // columns - b // columns) + abs(c % columns - b % columns) == 1]
        for b in cells
    ]
    goal = bytes(cells)
    depth_of, frontier, layers = {goal: 0}, [goal], []
    while frontier:
        layers.append(len(frontier))
        found = []
        for position in frontier:
            blank = position.index(0)
            for cell in neighbours[blank]:
                moved = bytearray(position)
                moved[blank], moved[cell] = moved[cell], 0
                key = bytes(moved)
                if key not in depth_of:
                    depth_of[key] = len(layers)
                    found.append(key)
        frontier = found
    return layers


def main():
    parser = argparse.ArgumentParser(description="Dictionary search of a tile puzzle.")
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    tell(lambda: search(options.rows, options.columns), options.json)


def tell(search: Callable[[], list[int]], as_json: bool) -> None:
    """Search, and print the number of states of each layer and the seconds."""
    began = time.perf_counter()
    layers = search()
    seconds = time.perf_counter() - began
    if as_json:
        print(json.dumps({"layers": layers, "seconds": seconds}))
        return
    for depth, found in enumerate(layers):
        print(f"{depth:5} {found:15,}")
    print(f"{sum(layers):,} states, depth {len(layers) - 1}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
