"""What a typical task reads, from the tables of a few: the locality of a layout."""

from dataclasses import dataclass

import numpy as np

from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of

SAMPLE = 8
"""Tasks that are looked at, spread evenly; all where there are no more."""


@dataclass(frozen=True)
class Traffic:
    """What a task of one class reads of the current layer, on average, where all slabs exist.

    near, far: slabs of the parts with the task's own prefixes, and of others, as a multiple of the
    part that the task writes. Beside these it reads one part of the layer before. files: how many
    it opens.
    """

    near: float
    far: float
    files: float

    @property
    def current(self) -> float:
        """Parts of the current layer that a task reads."""
        return self.near + self.far

    @property
    def far_share(self) -> float:
        """The share of what it reads that tasks with other prefixes have written."""
        return self.far / (1 + self.current)


def traffic_of(layout: Layout, klass: int, sample: int = SAMPLE) -> Traffic:
    """The traffic of a class's tasks, of which a sample is looked at."""
    tasks, found = layout.task_count(klass), []
    for number in np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64)):
        task = layout.task(klass, int(number))
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        prefix = program.slots[reads.slot] // layout.cuts
        near = ((task.first_prefix <= prefix) & (prefix < task.last_prefix)).sum()
        own = len(task.nodes) / layout.slab_nodes * layout.siblings * layout.cuts
        files = np.unique(reads.task).size + 2
        found.append((near / own, (prefix.size - near) / own, files))
    return Traffic(*np.mean(found, axis=0).tolist())
