"""What a worker does: compute some chunks of the next layer.

A task reads and writes whole chunks, writes the same bytes however often it is done, and
returns a few numbers. Nothing travels but through the store.
"""

import threading
from dataclasses import asdict, dataclass, field

import numpy as np

from frontier.search.workspace import OpenLayer, Workspace, workspace
from frontier.space.bits import expand, live_rows
from frontier.space.layout import Task
from frontier.space.program import Program, Read
from frontier.store.files import write_sealed
from frontier.store.layers import ChunkWriter, bits_key

MOST_NODES_COUNTED = 64

ONE_TASK = threading.Lock()
"""Tasks of one process share its buffers, so a worker with several threads takes turns."""


@dataclass
class TaskResult:
    """What one task found.

    chunks: lines of the manifest. nodes: states at each node, where there are few nodes.
    seconds: where its time went, by kind. start: whether it found the position whose
    distance is asked for. home: states whose blank is where the goal has it, where that can be
    said. run: identifier of the run it belongs to.
    """

    number: int
    states: int
    chunks: dict[str, list]
    nodes: dict[int, int]
    seconds: dict[str, float] = field(default_factory=dict)
    start: bool = False
    home: int | None = None
    run: str = ""


def expand_task(path: str, identifier: str, durable: bool, depth: int, number: int) -> TaskResult:
    """Compute task `number` of the layer at `depth` from the two committed layers before it."""
    with ONE_TASK:
        return _expand_task(workspace(path, identifier, durable), depth, number)


def _expand_task(work: Workspace, depth: int, number: int) -> TaskResult:
    task = work.task(depth, number)
    current, previous = work.layer(depth - 1), work.layer(depth - 2)
    clock = work.clock
    clock.reset()
    program, reads = work.program(task)
    arena, live, base = _gather(work, program, reads, current)
    clock.lap("kernel")
    result = TaskResult(number, 0, {}, {}, run=work.run.identity["identifier"])
    if work.home is not None:
        result.home = 0
    if live.any():
        layout = work.layout
        out = work.buffer("chunk", layout.block_nodes * layout.strip_words)
        out = out.reshape(layout.block_nodes, layout.strip_words)
        origin = layout.block(task.klass, task.first_block).start
        run = work.run
        writer = ChunkWriter(
            run.layer_path(depth), work.codec, run.recycled_path, clock, run.durable,
            run.wip_path(depth),
        )  # fmt: skip
        found = np.zeros(program.own.size, dtype=np.int64)
        for prefix in range(task.first_prefix, task.last_prefix):
            for block in range(task.first_block, task.last_block):
                nodes = layout.block(task.klass, block)
                known = previous.has_chunk(block, prefix)
                if known:
                    previous.read_chunk(block, prefix, out)
                else:
                    out[:] = 0
                rows = np.full(len(nodes) * layout.rows, known)
                clock.lap("rest")
                counts = expand(
                    out[: len(nodes)], rows, nodes.start - origin, prefix - task.first_prefix,
                    arena, live, base, program, work.swaps,
                )  # fmt: skip
                clock.lap("kernel")
                states = int(counts.sum())
                if states:
                    out[len(nodes) :] = 0
                    key = bits_key(block, prefix)
                    result.chunks[key] = writer.write(key, out, states)
                    result.states += states
                    result.start |= _holds_start(work, task, block, prefix, out)
                    found[nodes.start - origin : nodes.stop - origin] += counts
                clock.lap("rest")
        writer.finish()
        if work.home is not None:
            result.home = int(found[work.home[task.klass][origin : origin + found.size]].sum())
        if work.space.nodes[task.klass] <= MOST_NODES_COUNTED:
            result.nodes = {origin + int(i): int(found[i]) for i in np.flatnonzero(found)}
    result.seconds = clock.seconds
    write_sealed(work.run.wip_path(depth) / f"{number}.json", asdict(result), work.run.durable)
    return result


def _gather(work: Workspace, program: Program, reads: list[Read], current: OpenLayer):
    """Read the strips that the task needs: (arena, live rows, offsets) as `expand` wants."""
    layout = work.layout
    strip, per_block = layout.strip_words, layout.block_nodes
    base = np.full(program.needed.shape, -1, dtype=np.int64)
    reads = [read for read in reads if current.has_chunk(read.block, int(program.slots[read.slot]))]
    sizes = [per_block if read.whole else read.members.size for read in reads]
    arena = work.buffer("arena", sum(sizes) * strip)
    at = 0
    for read, size in zip(reads, sizes, strict=True):
        place = arena[at * strip : (at + size) * strip].reshape(size, strip)
        prefix = int(program.slots[read.slot])
        inside = program.sources[read.members] - read.block * per_block
        if read.whole:
            current.read_chunk(read.block, prefix, place)
            base[read.members, read.slot] = (at + inside) * strip
        else:
            chunk = work.buffer("chunk", per_block * strip).reshape(per_block, strip)
            current.read_chunk(read.block, prefix, chunk)
            place[:] = chunk[inside]
            base[read.members, read.slot] = (at + np.arange(size)) * strip
        at += size
    live = np.empty(arena.size // layout.row_words, dtype=bool)
    work.clock.lap("rest")
    live_rows(arena, layout.row_words, live)
    return arena, live, base


def _holds_start(work: Workspace, task: Task, block: int, prefix: int, out: np.ndarray) -> bool:
    """Whether a chunk holds the position whose distance is asked for."""
    number = work.start_in(task.klass)
    if number is None:
        return False
    chunk, node, word, bit = (int(place[0]) for place in work.place(np.array([number])))
    if chunk != block * work.layout.prefixes + prefix:
        return False
    return bool(int(out[node, word]) >> bit & 1)
