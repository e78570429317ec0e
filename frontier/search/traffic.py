"""What a typical task reads and writes, without any layer: the locality of a layout."""

from dataclasses import dataclass

import numpy as np

from frontier.space.layout import Layout
from frontier.space.program import program_of, reads_of

SAMPLE = 8
"""Tasks that are looked at, spread evenly; all where there are no more."""


@dataclass(frozen=True)
class Traffic:
    """Chunks of a task of one class, on average, where all chunks exist.

    own: what it writes; as many it reads of the layer before the current one. near, far: what it
    reads of the current layer at the places of its own chunks, and of other tasks' chunks.
    """

    own: float
    near: float
    far: float

    @property
    def reads(self) -> float:
        return self.own + self.near + self.far

    @property
    def far_share(self) -> float:
        """The share of what it reads that other tasks have written."""
        return self.far / self.reads


def traffic_of(layout: Layout, klass: int, sample: int = SAMPLE) -> Traffic:
    """The traffic of a class's tasks, of which a sample is looked at."""
    tasks = layout.task_count(klass)
    numbers = np.unique(np.linspace(0, tasks - 1, min(sample, tasks)).astype(np.int64))
    near, far = [], []
    for task in (layout.task(klass, int(number)) for number in numbers):
        program = program_of(layout, task)
        inside = [
            task.first_block <= read.block < task.last_block
            and task.first_prefix <= program.slots[read.slot] < task.last_prefix
            for read in reads_of(layout, program)
        ]
        near.append(sum(inside))
        far.append(len(inside) - sum(inside))
    own = layout.prefixes * layout.blocks(klass) / tasks
    return Traffic(own, float(np.mean(near)), float(np.mean(far)))
