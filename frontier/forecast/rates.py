"""How fast this machine is: tasks and disk are tried for some seconds.

Tasks and disk are tried on as many workers at once as a run here would have, since these share
memory and disk. A task is one of the very layout. It goes through its own batches, but its slabs
are those of layers of the 3x4 board, whose compression stands for that of all puzzles at the same
density (docs/scale.md).

Tasks are timed by the processor time that they take, so other work on the machine hardly matters:
a forecast is that of a machine which has nothing else to do. The disk is timed by the clock.
"""

import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import google_crc32c
import numpy as np

from frontier import machine
from frontier.clusters.executors import Call
from frontier.clusters.kinds import executor_of
from frontier.config import ClusterTable
from frontier.errors import InputError
from frontier.puzzles import Tiles, puzzle_of
from frontier.search.plan import Plan, layout_settings
from frontier.search.task import Arena
from frontier.space.bits import expand
from frontier.space.layout import SLAB_BYTES, WORD_BYTES, Layout
from frontier.space.memory import MemorySearch, memory_layout
from frontier.space.program import program_of, reads_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import SlabCodec, encoded_bytes
from frontier.store.files import DELETING, existing, unlink_all, write_bytes
from frontier.store.objects import ObjectPath, Place, place_of
from frontier.store.slabs import new_memory

SAMPLE_BOARD = (3, 4)
SAMPLE_STEP = 3
"""The step between the layers of the sample board that are tried: odd, as sides alternate."""

SAMPLE_SLABS = 32
"""The number of slabs that stand for all of a layer."""

SAMPLE_SECONDS = 0.15
"""The seconds for which a task is tried on each layer."""

DISK_BYTES = 128_000_000
DISK_FILES = 40


@dataclass(frozen=True)
class Rates:
    """How fast a worker is, in seconds of its processor where nothing else is said.

    density: shares of the bits that are set, increasing. For layers of each density, stored: stored
    bytes of a raw byte; task: of a word that a task makes, without files. kernel: the kernel's part
    of that. listed: of a state of a list. read, write: of the disk for a byte, while all workers
    are at it. move: of the processor for a byte that is read or written, checksum included.
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
        """The stored bytes of a raw byte."""
        return float(np.interp(density, self.density, self.stored))

    def task_at(self, density: float) -> float:
        """The seconds of a task for a word that it makes."""
        return float(np.interp(density, self.density, self.task))


def calibrate(plan: Plan, listed: float) -> Rates:
    """Measure this machine for a plan, in the file system of its run; listed: as of `Rates`.

    InputError if nothing can be written there.
    """
    cluster, path = plan.config.cluster, plan.config.path
    workers = min(cluster.workers, machine.cores())
    kind = "serial" if cluster.kind == "serial" else "local"
    here = ClusterTable(kind=kind, workers=workers, memory=cluster.memory)
    with _scratch(path) as folder:
        call = Call(
            measure,
            (plan.config.puzzle_settings, layout_settings(plan.layout), plan.config.store.codec,
             str(folder)),
        )  # fmt: skip
        with executor_of(here, alone=plan.in_memory) as executor:
            found = list(executor.run([call] * executor.workers, lambda: False))
    means = {key: np.mean([one[key] for one in found], axis=0).tolist() for key in found[0]}
    return Rates(**means, listed=listed)


def measure(puzzle: dict, layout: dict, codec: str, folder: str) -> dict:
    """What one worker measures: the rates of tasks and of the disk."""
    cut = Layout(puzzle_of(puzzle).space, **layout)
    tried = []
    for density, sample in sample_layers(codec, cut.slab_bytes):
        if not tried:
            try_task(cut, sample)  # loads the kernels
        tried.append((density, sample.stored, *try_task(cut, sample)))
    density, stored, task, kernel = np.array(sorted(tried)).T.tolist()
    size = int(min(cut.part_bytes, DISK_BYTES // 4) * stored[-1])
    rates = {"density": density, "stored": stored, "task": task, "kernel": np.median(kernel)}
    return rates | disk_rates(place_of(folder), size)


def stored_shares(codec: str) -> Rates:
    """Rates that say how layers are stored, and nothing else."""
    layers = [(density, slabs.stored) for density, slabs in sample_layers(codec, SLAB_BYTES)]
    density, stored = zip(*sorted(layers), strict=True)
    return Rates(list(density), list(stored), [0.0] * len(layers))


def sample_layers(codec: str, slab_bytes: int) -> Iterator[tuple[float, "SampleSlabs"]]:
    """The share of bits that are set in some layers of the sample board, and slabs of each."""
    puzzle, slabs = Tiles(*SAMPLE_BOARD), SlabCodec(codec)
    space = puzzle.space
    search = MemorySearch(memory_layout(space, 1))
    for depth, states in enumerate(search.layers(puzzle.origins())):
        if depth and depth % SAMPLE_STEP == 0:
            words = search.layer(depth).words.reshape(-1)
            density = int(states.sum()) / (words.size * space.code.bits)
            yield density, SampleSlabs(slabs, words, slab_bytes)


class SampleSlabs:
    """Some slabs of a layer, encoded, that stand for those that a task reads. A slab that is larger
    than the layer has it several times.

    stored: bytes of a raw byte.
    """

    def __init__(self, codec: SlabCodec, words: np.ndarray, slab_bytes: int):
        slab = slab_bytes // WORD_BYTES
        whole = np.resize(words, max(1, words.size // slab) * slab).reshape(-1, slab)
        count = min(SAMPLE_SLABS, len(whole))
        self.raw = whole[np.linspace(0, len(whole) - 1, count).astype(np.int64)]
        room = np.zeros((count, encoded_bytes(slab_bytes)), dtype=np.uint8)
        sizes = [codec.encode(raw, data) for raw, data in zip(self.raw, room, strict=True)]
        self.codec, self.stored = codec, sum(sizes) / self.raw.nbytes
        self._data, self._begin = room.reshape(-1), np.arange(count) * room.shape[1]
        self._end = self._begin + sizes

    def decode(self, slabs: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None:
        """Decode slabs as a layer that was read does."""
        some = slabs % len(self.raw)
        self.codec.decode_slabs(self._data, self._begin[some], self._end[some], out, rows)


def try_task(layout: Layout, sample: SampleSlabs) -> tuple[float, float]:
    """The processor time for a word that a task makes, and the kernel's part of it: the loop of
    `search.task`, without files, on layers all of whose slabs are there."""
    task = layout.task(0, layout.task_count(0) // 2)
    program, swaps = program_of(layout, task), swaps_of(layout)
    reads = reads_of(layout, task, program)
    sample.there = np.ones(reads.slab.size, dtype=bool)  # what the arena asks of a layer's slabs
    arena = Arena(layout, program, reads, sample, new_memory, Stopwatch())
    cuts, slab = layout.cuts, layout.slab_bytes // WORD_BYTES
    out = np.empty((cuts, slab), dtype=np.uint64)
    encoded = new_memory(encoded_bytes(layout.slab_bytes))
    words, kernel, began = 0, 0.0, time.thread_time()
    for batch, (first, nodes, prefix, place) in enumerate(layout.batches(task)):
        arena.prepare(batch)
        sample.decode(place + np.arange(cuts), out, np.arange(cuts))
        rows = np.ones(nodes * layout.rows, dtype=bool)
        strips, before = out.reshape(layout.slab_nodes, -1)[:nodes], time.thread_time()
        expand(strips, rows, first, prefix, arena.words, arena.live, arena.base, program, swaps)
        kernel += time.thread_time() - before
        for cut in range(cuts):
            sample.codec.encode(sample.raw[(place + cut) % len(sample.raw)], encoded)
        words += strips.size
        if time.thread_time() - began > SAMPLE_SECONDS:
            break
    return (time.thread_time() - began) / words, kernel / words


def disk_rates(folder: Place, size: int) -> dict[str, float]:
    """The rates of the disk on files of `size` bytes, forced to it and not in the page cache."""
    data = np.random.default_rng(0).bytes(size)
    paths = [folder / uuid.uuid4().hex for _ in range(max(2, min(DISK_FILES, DISK_BYTES // size)))]

    def timed(action) -> np.ndarray:
        """The seconds of the clock and of the processor for each byte."""
        began = np.array([time.perf_counter(), time.thread_time()])
        for path in paths:
            action(path)
        now = np.array([time.perf_counter(), time.thread_time()])
        return (now - began) / (len(paths) * size)

    def write(path: Place) -> None:
        google_crc32c.value(data)
        write_bytes(path, data, durable=True)
        # macOS has no such call; reading then looks as fast as from memory.
        if isinstance(path, Path) and hasattr(os, "posix_fadvise"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    written, write_work = timed(write)
    read, read_work = timed(lambda path: google_crc32c.value(path.read_bytes()))
    unlink_all(paths)
    return {"read": read, "write": written, "move": (read_work + write_work) / 2}


@contextmanager
def _scratch(path: Place) -> Iterator[Place]:
    """A place of its own where the files of a run would be, which need not be there.

    Should it be left in a run directory, the next run there removes it.
    """
    if isinstance(path, ObjectPath):
        yield path / f"plan-{uuid.uuid4().hex}"
        return
    parent = existing(path)
    try:
        with tempfile.TemporaryDirectory(DELETING, "plan-", parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise InputError(
            f"store.path = {path}: the disk cannot be tried in {parent} ({error.strerror}); choose "
            "another directory with --set store.path=…"
        ) from None
