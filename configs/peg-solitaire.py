"""Peg solitaire: a peg jumps over a neighbour into an empty hole, and the neighbour is removed."""

import numpy as np


def puzzle(board, classes=False):
    """Digit h of a state is 1 if hole h has a peg; `o` is a peg in the text, `.` an empty hole.

    If `classes` is True, the search keeps one of all positions that are the same when the board is
    turned or reflected.
    """
    rows = [row for row in board.split("\n") if row.strip()]
    holes = [(y, x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark in "o."]
    number = {hole: h for h, hole in enumerate(holes)}
    jumps = np.array(
        [
            (h, number[y + dy, x + dx], number[y + 2 * dy, x + 2 * dx])
            for h, (y, x) in enumerate(holes)
            for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))
            if (y + dy, x + dx) in number and (y + 2 * dy, x + 2 * dx) in number
        ]
    )
    start = [int(rows[y][x] == "o") for y, x in holes]
    pegs = sum(start)

    def neighbours(state, out):
        count = 0
        for jump in range(len(jumps)):
            source, over, target = jumps[jump]
            if state[source] == 1 and state[over] == 1 and state[target] == 0:
                for hole in range(len(state)):
                    out[count, hole] = state[hole]
                out[count, source] = out[count, over] = 0
                out[count, target] = 1
                count += 1
        return count

    symmetries = np.array(symmetries_of(holes))

    def canonical(state, out):
        """Write the greatest of the symmetric states."""
        best = 0
        for other in range(1, len(symmetries)):
            for hole in range(len(state)):
                more = state[symmetries[other, hole]] - state[symmetries[best, hole]]
                if more != 0:
                    if more > 0:
                        best = other
                    break
        for hole in range(len(state)):
            out[hole] = state[symmetries[best, hole]]

    def class_size(state):
        """All symmetries, divided by those that leave the state as it is."""
        same = 0
        for other in range(len(symmetries)):
            same += (state[symmetries[other]] == state).all()
        return len(symmetries) // same

    def layer(state):
        return pegs - state.sum()

    def show(state):
        marks = {hole: ".o"[digit] for hole, digit in zip(holes, state, strict=True)}
        width = max(map(len, rows))
        lines = ("".join(marks.get((y, x), " ") for x in range(width)) for y in range(len(rows)))
        return "\n".join(line.rstrip() for line in lines)

    def read(text):
        return [".o".index(mark) for mark in text if mark in ".o"]

    table = {
        "radices": [2] * len(holes),
        "start": start,
        "neighbours": neighbours,
        "most": len(jumps),
        "undone": False,
        "layer": layer,
        "show": show,
        "read": read,
    }
    return table | ({"canonical": canonical, "class_size": class_size} if classes else {})


def symmetries_of(holes):
    """The turns and reflections of the board: each as the hole that every hole comes from."""
    found = []
    for turn in range(8):
        moved = holes
        for _ in range(turn % 4):
            moved = [(x, -y) for y, x in moved]
        if turn >= 4:
            moved = [(x, y) for y, x in moved]
        least = min(y for y, _ in moved), min(x for _, x in moved)
        moved = [(y - least[0], x - least[1]) for y, x in moved]
        first = min(y for y, _ in holes), min(x for _, x in holes)
        if all((y + first[0], x + first[1]) in holes for y, x in moved):
            found.append([holes.index((y + first[0], x + first[1])) for y, x in moved])
    return found
