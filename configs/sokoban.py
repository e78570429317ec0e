"""Sokoban: a player walks on the floor between walls and pushes one box at a time."""

import numpy as np

DIRECTIONS = (-1, 0), (0, 1), (1, 0), (0, -1)


def puzzle(level):
    """Digit 0 of a state is the floor cell of the player; digit 1 + c is 1 if cell c has a box."""
    rows = [row for row in level.split("\n") if row.strip()]
    marks = {(y, x): mark for y, row in enumerate(rows) for x, mark in enumerate(row)}
    (player,) = (place for place, mark in marks.items() if mark == "@")
    cells = [player]  # the floor: what the player can reach when no box is in the way
    for y, x in cells:
        for dy, dx in DIRECTIONS:
            if marks.get((y + dy, x + dx), "#") != "#" and (y + dy, x + dx) not in cells:
                cells.append((y + dy, x + dx))
    cells.sort()
    number = {cell: c for c, cell in enumerate(cells)}
    beside = np.array(
        [[number.get((y + dy, x + dx), -1) for dy, dx in DIRECTIONS] for y, x in cells]
    )

    def neighbours(state, out):
        count = 0
        for direction in range(4):
            cell = beside[state[0], direction]
            if cell < 0:
                continue
            behind = beside[cell, direction]
            if state[1 + cell] and (behind < 0 or state[1 + behind]):
                continue
            for digit in range(len(state)):
                out[count, digit] = state[digit]
            out[count, 0] = cell
            if state[1 + cell]:
                out[count, 1 + cell] = 0
                out[count, 1 + behind] = 1
            count += 1
        return count

    def show(state):
        lines = [list(row) for row in rows]
        for c, (y, x) in enumerate(cells):
            lines[y][x] = "@" if c == state[0] else "$" if state[1 + c] else " "
        return "\n".join("".join(line) for line in lines)

    def read(text):
        lines = [row for row in text.split("\n") if row.strip()]
        there = [lines[y][x] for y, x in cells]
        return [there.index("@"), *(int(mark == "$") for mark in there)]

    def move(before, after):
        (y, x), (to_y, to_x) = cells[before[0]], cells[after[0]]
        arrow = "↑→↓←"[DIRECTIONS.index((to_y - y, to_x - x))]
        return arrow if (before[1:] == after[1:]).all() else f"push {arrow}"

    return {
        "radices": [len(cells)] + [2] * len(cells),
        "start": read("\n".join(rows)),
        "neighbours": neighbours,
        "most": 4,
        "undone": False,
        "show": show,
        "read": read,
        "move": move,
    }
