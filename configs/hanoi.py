"""The Towers of Hanoi with any number of pegs."""

import numpy as np


def puzzle(disks=10, pegs=4):
    """Digit d of a state is the peg of a disk, the largest disk first. All begin on peg 0."""

    def neighbours(state, out):
        top = np.full(pegs, -1)  # the smallest disk on each peg; -1 on an empty peg
        for disk in range(disks):
            top[state[disk]] = disk
        count = 0
        for source in range(pegs):
            for target in range(pegs):
                if top[source] > top[target]:
                    for disk in range(disks):
                        out[count, disk] = state[disk]
                    out[count, top[source]] = target
                    count += 1
        return count

    def move(before, after):
        (disk,) = np.flatnonzero(before != after)
        return f"disk {disks - disk} to peg {after[disk] + 1}"

    return {
        "radices": [pegs] * disks,
        "start": [0] * disks,
        "neighbours": neighbours,
        "most": pegs * (pegs - 1) // 2,
        "move": move,
    }
