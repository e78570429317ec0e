"""The speed of this machine: tasks and disk are measured for some seconds.

Tasks and disk are measured on as many workers at once as a run here would have, since these share
memory and disk. The task is one of the run's own layout and goes through its own batches, but its
slabs come from layers of the 3x4 board, whose compression stands for that of all puzzles at the
same density (docs/scale.md).

Tasks are timed by the processor time that they take, so other work on the machine hardly matters: a
forecast is for a machine that has nothing else to do. The disk is timed by the clock.
"""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from operator import attrgetter

import google_crc32c
import numpy as np

from frontier import machine
from frontier.clusters.executor import Call
from frontier.clusters.kinds import executor_of
from frontier.config import ClusterTable
from frontier.errors import InputError
from frontier.puzzles import puzzle_of, tile_puzzle
from frontier.search.expansion import Arena, Expansion
from frontier.search.plan import RunPlan, layout_settings
from frontier.search.workspace import Buffer
from frontier.space.layout import SLAB_BYTES, WORD_BYTES, Layout
from frontier.space.memory import MemorySearch, memory_layout
from frontier.space.program import program_of, reads_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.storage.base import Storage
from frontier.storage.places import storage_at
from frontier.store.codecs import SlabCodec, encoded_bytes

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


@dataclass(frozen=True)
class Rates:
    """The speed of a worker. Times are seconds of its processor, except those of the disk.

    density: the shares of set bits in the layers measured, increasing. stored, task: for each of
    them, the stored bytes per raw byte, and the time per word that a task makes, without files.
    kernel: the kernel's part of that time. listed: the time per state of a list. read, write: the
    seconds of the disk per byte, while all workers use it. move: the time to read or write a byte,
    with its checksum.
    """

    density: list[float]
    stored: list[float]
    task: list[float]
    kernel: float = 0.0
    listed: float = 0.0
    read: float = 0.0
    write: float = 0.0
    move: float = 0.0

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
        calls = [Call(measure, arguments)] * executor.workers
        measured = list(executor.run(calls, lambda: False))
    means = {
        key: np.mean([rates[key] for rates in measured], axis=0).tolist() for key in measured[0]
    }
    return Rates(**means, listed=listed)


def measure(puzzle: dict, layout: dict, codec: str, folder: str) -> dict:
    """Return the rates of tasks and of the disk that one worker measures."""
    cut = Layout(puzzle_of(puzzle).model.space, **layout)
    samples = sorted(sample_layers(codec, cut.slab_bytes), key=attrgetter("density"))
    try_task(cut, samples[0])  # loads the kernels
    task = [sum(try_task(cut, sample).values()) for sample in samples]
    kernel = [try_task(cut, sample, apart=True)["kernel"] for sample in samples]
    size = int(min(cut.part_bytes, DISK_BYTES // 4) * samples[-1].stored)
    rates = {"task": task, "kernel": np.median(kernel), **disk_rates(storage_at(folder), size)}
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
    """Some encoded slabs of a layer, which stand for those that a task reads. If slabs are larger
    than the layer, they repeat it.

    density: the share of the layer's bits that are set. stored: the stored bytes per raw byte.
    apart: True if no kernel is to decode slabs and do something else too.
    """

    def __init__(self, codec: SlabCodec, words: np.ndarray, slab_bytes: int, bits: int):
        self.density = int(np.bitwise_count(words).sum()) / (words.size * bits)
        slab = slab_bytes // WORD_BYTES
        whole = np.resize(words, max(1, words.size // slab) * slab).reshape(-1, slab)
        count = min(SAMPLE_SLABS, len(whole))
        self.raw = whole[np.linspace(0, len(whole) - 1, count).astype(np.int64)]
        self.codec, self.apart = codec, False
        self._data = np.empty(count * encoded_bytes(slab_bytes), np.uint8)
        self._begin = np.arange(count) * encoded_bytes(slab_bytes)
        self._end = self._begin + [
            codec.encode(slab, self._data[at:])
            for slab, at in zip(self.raw, self._begin, strict=True)
        ]
        self.stored = int((self._end - self._begin).sum()) / self.raw.nbytes

    def encoded(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return slabs in stored form as a stored layer does."""
        some = np.arange(first, last) % len(self.raw)
        return None if self.apart else (self._data, self._begin[some], self._end[some])

    def decode(self, slabs: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None:
        """Decode slabs as a stored layer does."""
        some = slabs % len(self.raw)
        self.codec.decode_slabs(self._data, self._begin[some], self._end[some], out, rows)


class Discarded:
    """Takes slabs in stored form from an `Expansion`, and keeps none."""

    def __init__(self, layout: Layout):
        """A strip of the layout has room."""
        self._room = np.empty(layout.cuts * encoded_bytes(layout.slab_bytes), dtype=np.uint8)

    def room(self, slab_bytes: int) -> np.ndarray:
        return self._room

    def add(self, numbers: np.ndarray, sizes: np.ndarray) -> None:
        pass


def try_task(layout: Layout, sample: SampleSlabs, apart: bool = False) -> dict[str, float]:
    """Return the processor seconds per word that a task makes, by kind of work. The task uses no
    files, and its layers have all of their slabs.

    apart: decode, expand and encode one after the other, so that the kernel's time is known.
    """
    task = layout.task(0, layout.task_count(0) // 2)
    program, swaps = program_of(layout, task), swaps_of(layout)
    reads = reads_of(layout, task, program)
    sample.filled = np.ones(max(reads.slab.size, prod(layout.grid)), dtype=bool)
    sample.apart = apart
    clock, words = Stopwatch(time.thread_time), 0
    arena = Arena(layout, program, reads, sample, Buffer(), clock)
    expansion = Expansion(layout, swaps, program, arena, sample, sample.codec, clock)
    for nodes, _, _ in expansion.run(task, Discarded(layout)):
        words += (nodes.stop - nodes.start) * layout.strip_words
        if sum(clock.seconds.values()) > SAMPLE_SECONDS:
            break
    return {kind: seconds / words for kind, seconds in clock.seconds.items()}


def disk_rates(folder: Storage, size: int) -> dict[str, float]:
    """Return the rates of the disk: files of `size` bytes are forced to it, and not cached when
    read."""
    data = np.random.default_rng(0).bytes(size)
    names = [uuid.uuid4().hex for _ in range(max(2, min(DISK_FILES, DISK_BYTES // size)))]
    clocks = [(time.perf_counter(), time.thread_time())]
    for name in names:
        google_crc32c.value(data)
        folder.write(name, data, durable=True)
        folder.forget_cached(name)
    clocks.append((time.perf_counter(), time.thread_time()))
    for name in names:
        google_crc32c.value(folder.read(name))
    clocks.append((time.perf_counter(), time.thread_time()))
    folder.delete(*names)
    (write, write_work), (read, read_work) = np.diff(clocks, axis=0) / (len(names) * size)
    return {"read": read, "write": write, "move": (read_work + write_work) / 2}


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
