"""What a typical task reads and writes, without any layer: the locality of a layout."""

from dataclasses import dataclass

import numpy as np

from frontier.search.arena import Places
from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of

SAMPLE = 8
"""Tasks that are looked at, spread evenly; all where there are no more."""


@dataclass(frozen=True)
class Traffic:
    """What a task of one class reads of the current layer, on average, where all slabs exist.

    near, far: slabs of the parts with the task's own prefixes, and of others, as a multiple of the
    part that the task writes. Beside these it reads one part of the layer before. files: that it
    opens. decoded: slabs that it decodes, again or not, as such a multiple.
    """

    near: float
    far: float
    files: float
    decoded: float

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
    tasks = layout.task_count(klass)
    numbers = np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64))
    near, far, files, decoded = [], [], [], []
    for task in (layout.task(klass, int(number)) for number in numbers):
        program = program_of(layout, task)
        reads = reads_of(layout, task, program)
        prefix = program.slots[reads.slot] // layout.cuts
        inside = (task.first_prefix <= prefix) & (prefix < task.last_prefix)
        own = len(task.nodes) / layout.slab_nodes * layout.siblings * layout.cuts
        near.append(inside.sum() / own)
        far.append((~inside).sum() / own)
        places = Places(layout, reads)
        decoded.append(sum(places.take(batch)[0].size for batch in reads.batches) / own)
        files.append(np.unique(reads.task).size + 2)
    return Traffic(*(float(np.mean(x)) for x in (near, far, files, decoded)))
