"""The locality of a layout: how much a typical task reads, from the tables of a few tasks."""

from typing import NamedTuple

import numpy as np

from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of

SAMPLE = 8
"""So many tasks are looked at, spread evenly; all where there are no more."""


class Locality(NamedTuple):
    """What a task of one class reads of the current layer on average, where all slabs exist.

    near, far: the slabs under the task's own prefixes and those under others, in parts of the size
    that the task writes. It reads one part of the layer before besides. files: how many it opens.
    """

    near: float
    far: float
    files: float

    @property
    def current(self) -> float:
        """The parts of the current layer that a task reads."""
        return self.near + self.far

    @property
    def far_share(self) -> float:
        """The share of what a task reads that tasks with other prefixes have written."""
        return self.far / (1 + self.current)


def locality_of(layout: Layout, klass: int, sample: int = SAMPLE) -> Locality:
    """The locality of a class's tasks, of which a sample is looked at."""
    tasks, found = layout.task_count(klass), []
    if not tasks:
        return Locality(0.0, 0.0, 0.0)
    for number in np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64)):
        task = layout.task(klass, int(number))
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        prefix = program.slots[reads.slot] // layout.cuts
        near = ((task.first_prefix <= prefix) & (prefix < task.last_prefix)).sum()
        own = len(task.nodes) / layout.slab_nodes * layout.siblings * layout.cuts
        found.append((near / own, (prefix.size - near) / own, np.unique(reads.task).size + 2))
    return Locality(*np.mean(found, axis=0).tolist())
