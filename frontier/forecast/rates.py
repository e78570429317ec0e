"""The speed of this machine: tasks and disk are measured for some seconds.

Tasks and disk are measured on as many workers at once as a run here would have, since these share
memory and disk. The task is one of the run's own layout and goes through its own batches, but its
slabs come from layers of the 3x4 board, whose compression stands for that of all puzzles at the
same density (docs/scale.md).

Tasks are timed by the processor time that they take, so other work on the machine hardly matters: a
forecast is for a machine that has nothing else to do. The disk is timed by the clock.
"""

import errno
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from operator import attrgetter

import google_crc32c
import numpy as np

from frontier import machine
from frontier.clusters.executor import Call
from frontier.clusters.kinds import executor_of
from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.codec.slabs import Slabs, encoded_slabs, words_of
from frontier.config import ClusterTable
from frontier.errors import InputError
from frontier.kernels.bits import expand
from frontier.kernels.expansion import Expansion
from frontier.kernels.memory import MemorySearch, memory_layout
from frontier.layers.parts import BUFFER_BYTES
from frontier.puzzles import puzzle_of, tile_puzzle
from frontier.search.plan import RunPlan, layout_settings
from frontier.search.workspace import Buffer
from frontier.space.layout import SLAB_BYTES, WORD_BYTES, Layout
from frontier.space.program import program_of, reads_of, swaps_of
from frontier.storage.base import Storage
from frontier.storage.places import storage_at

SAMPLE_BOARD = (3, 4)
SAMPLE_STEP = 3
"""The step between the layers of the sample board that are measured: odd, so that both sides
occur."""

SAMPLE_SLABS = 32
"""The number of slabs that stand for all of a layer."""

SAMPLE_SECONDS = 0.15
"""The seconds for which a task is measured on each layer."""

DISK_BYTES = 128_000_000
DISK_FILES = 40
"""The disk is tried with at most so many bytes and files."""


@dataclass(frozen=True)
class Rates:
    """The speed of a worker. Times are seconds of its processor, except those of the disk.

    density: the shares of set bits in the layers measured, increasing. stored, task: for each of
    them, the stored bytes per raw byte, and the time per word that a task makes, without files.
    kernel: the time per word of kernels that expand a layer in memory. listed: the time per state
    of a list. read, write: the seconds of the disk per byte, while all workers use it. read_work,
    write_work: the time to read and to write a byte.
    """

    density: list[float]
    stored: list[float]
    task: list[float]
    kernel: float = 0.0
    listed: float = 0.0
    read: float = 0.0
    write: float = 0.0
    read_work: float = 0.0
    write_work: float = 0.0

    def stored_at(self, density: float) -> float:
        """Return the stored bytes per raw byte."""
        return float(np.interp(density, self.density, self.stored))

    def task_at(self, density: float) -> float:
        """Return the seconds of a task per word that it makes."""
        return float(np.interp(density, self.density, self.task))


def calibrate(plan: RunPlan, listed: float) -> Rates:
    """Measure this machine for a plan, in the file system of its run.

    listed: see `Rates`. Raises InputError if nothing can be written there.
    """
    cluster, settings = plan.config.cluster, plan.config.puzzle_settings
    kind = "serial" if cluster.kind == "serial" else "local"
    workers = min(cluster.workers, machine.cores())
    table = ClusterTable(kind=kind, workers=workers, memory=cluster.memory)
    with (
        _scratch(plan.config.storage) as folder,
        executor_of(table, alone=plan.in_memory) as executor,
    ):
        arguments = settings, layout_settings(plan.layout), plan.config.store.codec, str(folder)
        calls = [Call(measure, (*arguments, executor.workers))] * executor.workers
        measured = list(executor.run(calls, lambda: False))
    means = {
        key: np.mean([rates[key] for rates in measured], axis=0).tolist() for key in measured[0]
    }
    return Rates(**means, listed=listed)


def measure(puzzle: dict, layout: dict, codec: str, folder: str, workers: int) -> dict:
    """Return the rates of tasks and of the disk that one worker measures. workers: the number of
    those that measure at the same time."""
    cut = Layout(puzzle_of(puzzle).model.space, **layout)
    samples = sorted(sample_layers(codec, cut.slab_bytes), key=attrgetter("density"))
    try_task(cut, samples[0]), try_kernel(cut, samples[0])  # loads the kernels
    task = [try_task(cut, sample) for sample in samples]
    kernel = [try_kernel(cut, sample) for sample in samples]
    scratch = storage_at(folder)
    room = min(DISK_BYTES, scratch.free() / (2 * workers))
    size = int(min(cut.part_bytes, room // 4) * samples[-1].stored)
    if not size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    rates = {"task": task, "kernel": np.median(kernel), **disk_rates(scratch, size, room)}
    return rates | {key: [getattr(s, key) for s in samples] for key in ("density", "stored")}


def stored_shares(codec: str) -> Rates:
    """Return rates of how layers are stored; their times are 0, as nothing else is measured."""
    samples = sorted(sample_layers(codec, SLAB_BYTES), key=attrgetter("density"))
    density, stored = zip(*((sample.density, sample.stored) for sample in samples), strict=True)
    return Rates(list(density), list(stored), [0.0] * len(samples))


def sample_layers(codec: str, slab_bytes: int) -> Iterator["SampleSlabs"]:
    """Generate slabs of some layers of the sample board."""
    puzzle = tile_puzzle(*SAMPLE_BOARD)
    search = MemorySearch(memory_layout(puzzle.model.space, 1))
    for depth, _ in enumerate(search.layers(puzzle.model.origins())):
        if depth and depth % SAMPLE_STEP == 0:
            words = search.layer(depth).words.reshape(-1)
            yield SampleSlabs(SlabCodec(codec), words, slab_bytes, puzzle.model.space.code.bits)


class SampleSlabs:
    """Some slabs of a layer, which stand for those that a task reads. If slabs are larger than the
    layer, they repeat it.

    density: the share of the layer's bits that are set. stored: the stored bytes per raw byte.
    """

    def __init__(self, codec: SlabCodec, words: np.ndarray, slab_bytes: int, bits: int):
        self.density = int(np.bitwise_count(words).sum()) / (words.size * bits)
        slab = slab_bytes // WORD_BYTES
        whole = np.resize(words, max(1, words.size // slab) * slab).reshape(-1, slab)
        count = min(SAMPLE_SLABS, len(whole))
        self.raw = whole[np.linspace(0, len(whole) - 1, count).astype(np.int64)]
        self.codec, self._stored = codec, []
        room = np.empty(encoded_bytes(slab_bytes), dtype=np.uint8)
        for slab in self.raw:
            self._stored.append(room[: codec.encode(slab, room)].copy())
        self.stored = sum(data.size for data in self._stored) / self.raw.nbytes

    def stored_slabs(self) -> Slabs:
        """Return the slabs as kernels decode them, decoded from what is stored."""
        return encoded_slabs(self._decoded(), len(self.raw))

    def _decoded(self) -> Iterator[tuple[int, np.ndarray]]:
        words = np.empty_like(self.raw[0])
        for number, data in enumerate(self._stored):
            google_crc32c.value(data)
            self.codec.decode(data, words)
            yield number, words


def try_task(layout: Layout, sample: SampleSlabs) -> float:
    """Return the processor seconds per word that a task makes. The task uses no files, and its
    layers have all of their slabs."""
    task = layout.task(0, layout.task_count(0) // 2)
    program, codec = program_of(layout, task), sample.codec
    reads = reads_of(layout, task, program)
    read, own = reads.slab.size, prod(layout.grid)
    begin = time.thread_time()
    stored = sample.stored_slabs()
    decoding = (time.thread_time() - begin) / len(sample.raw) * (not codec.by_kernels)
    current, before = (_repeated(stored, count) for count in (read, own))
    swaps = swaps_of(layout)
    expansion = Expansion(layout, task, swaps, program, reads, current, before, Buffer())
    most = encoded_bytes(layout.slab_bytes)
    room = np.empty(max(most, BUFFER_BYTES * codec.by_kernels), dtype=np.uint8)
    data, words = np.empty(most, dtype=np.uint8), np.empty_like(sample.raw[0])
    begin, seconds = time.thread_time(), 0.0
    while not expansion.done and seconds < SAMPLE_SECONDS:
        _, sizes = expansion.make(room)
        if not codec.by_kernels:
            for slab in words_of(room, sizes, words):
                google_crc32c.value(data[: codec.encode(slab, data)])
        seconds = time.thread_time() - begin
    return (seconds / expansion.made + decoding * (read + own) / own) / words.size


def _repeated(stored: Slabs, count: int) -> Slabs:
    some = np.arange(count) % stored.begin.size
    return replace(stored, begin=stored.begin[some], end=stored.end[some])


def try_kernel(layout: Layout, sample: SampleSlabs) -> float:
    """Return the processor seconds per word that kernels take which expand a layer in memory."""
    task, words = layout.task(0, layout.task_count(0) // 2), 0
    program, swaps = program_of(layout, task), swaps_of(layout)
    reads = reads_of(layout, task, program)
    base = np.full(program.needed.shape, -1, dtype=np.int64)
    counts = np.zeros(len(task.nodes), dtype=np.int64)
    rows = layout.rows // layout.cuts
    for entry in range(reads.slab.size):
        slab = entry % len(sample.raw)
        base[reads.stack[entry], reads.slot[entry]] = slab * layout.slab_nodes * rows
    arena = sample.raw.reshape(-1)
    live = arena.reshape(-1, layout.row_words).any(axis=1)
    seconds = 0.0
    for first, nodes, prefix, _ in layout.batches(task):
        target = np.resize(arena, (nodes, layout.slab_words))
        target_live = np.ones(nodes * rows, dtype=bool)
        own = range(prefix * layout.cuts, prefix * layout.cuts + 1)
        begin = time.thread_time()
        expand(target, target_live, first, own, counts, arena, live, base, program, swaps)
        seconds, words = seconds + time.thread_time() - begin, words + target.size
        if seconds > SAMPLE_SECONDS:
            break
    return seconds / words


def disk_rates(folder: Storage, size: int, room: float) -> dict[str, float]:
    """Return the rates of the disk: files of `size` bytes are forced to it, and read as tasks read
    them, not cached. room: the bytes that they may take together."""
    data = np.random.default_rng(0).bytes(size)
    names = [uuid.uuid4().hex for _ in range(max(2, min(DISK_FILES, int(room) // size)))]
    clocks = [(time.perf_counter(), time.thread_time())]
    for name in names:
        folder.write(name, data, durable=True)
        folder.forget_cached(name)
    clocks.append((time.perf_counter(), time.thread_time()))
    for name in names:
        if folder.map_ranges(name, [(0, size)]) is None:
            folder.read(name)
    clocks.append((time.perf_counter(), time.thread_time()))
    folder.delete(*names)
    (write, write_work), (read, read_work) = np.diff(clocks, axis=0) / (len(names) * size)
    return {"read": read, "write": write, "read_work": read_work, "write_work": write_work}


@contextmanager
def _scratch(storage: Storage) -> Iterator[Storage]:
    """Yield a temporary folder in the file system of a run."""
    try:
        with storage.scratch() as folder:
            yield folder
    except OSError as error:
        raise InputError(
            f"store.path = {storage}: the disk cannot be tried there ({error.strerror}); choose "
            "another directory with --set store.path=…"
        ) from None
