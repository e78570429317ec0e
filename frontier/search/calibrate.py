"""How fast this machine is: a few seconds of kernels, codec, disk and scheduler.

Kernels and codec are timed on as many workers at once as a run here would have, since these share
memory and disk:

* the kernel on whole tasks of the very layout, all rows alive;
* the codec on real layers, those of the 3x4 board, whose compression stands for that of all
  puzzles at the same density (docs/scale.md);
* the disk in the run directory's file system, on files as large as a chunk.

All times are those of the clock, so other work on the machine slows a forecast as it slows a run.
"""

import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from frontier.config import ClusterTable
from frontier.errors import InputError
from frontier.puzzles import Tiles, puzzle_of
from frontier.search.clusters import executor_of
from frontier.search.forecast import Codec, Disk, Rates
from frontier.search.plan import Plan, layout_settings
from frontier.search.shape import Trial
from frontier.space.bits import expand
from frontier.space.layout import WORD_BYTES, Layout
from frontier.space.memory import MemorySearch, count_all, memory_layout
from frontier.space.program import program_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import ChunkCodec
from frontier.store.layers import ChunkWriter, Manifest
from frontier.store.run import LayerRecord, RunStore

SAMPLE_BOARD = (3, 4)
SAMPLE_EVERY = 2
"""Every second layer of the board is encoded."""

KERNEL_SECONDS = 0.5
STRIPS = 4
"""Strips that stand for all that a task reads: more than fit in the caches."""

DISK_BYTES = 128_000_000
DISK_FILES = 40
EMPTY_TASKS = 300
LAYERS = 5
LINES = 2000


def calibrate(plan: Plan, trial: Trial, workers: int) -> Rates:
    """Measure this machine for a plan, with so many workers, in the file system of its run.

    InputError if nothing can be written there.
    """
    codec = plan.config.store.codec
    with _scratch(plan.config.path) as folder:
        call = (plan.config.puzzle_settings, layout_settings(plan.layout), codec, str(folder))
        cluster = ClusterTable(kind="local", workers=workers, memory=plan.config.cluster.memory)
        began = time.perf_counter()
        with executor_of(cluster, alone=plan.alone) as executor:
            start = time.perf_counter() - began + _import_seconds()
            found = list(executor.run(measure, [call] * executor.workers, lambda: False))
            list(executor.run(_nothing, [(0,)] * workers, lambda: False))
            began = time.perf_counter()
            list(executor.run(_nothing, [(i,) for i in range(EMPTY_TASKS)], lambda: False))
            task = (time.perf_counter() - began) / EMPTY_TASKS
        layer, line = _layer_seconds(folder, plan)
        data, _ = ChunkCodec(codec).encode(trial.largest)
    word, curves, disk = (np.mean([part[i] for part in found], axis=0) for i in range(3))
    return Rates(
        word=float(word),
        listed=trial.state_seconds,
        list_bytes=data.size / trial.largest.size,
        codec=Codec(*(tuple(curve) for curve in curves.tolist())),
        disk=Disk(*disk.tolist()),
        task=task,
        layer=layer,
        line=line,
        start=start,
    )


def measure(puzzle: dict, layout: dict, codec: str, folder: str) -> tuple:
    """What one worker measures: seconds a word, the rows of `Codec`, the fields of `Disk`."""
    cut = Layout(puzzle_of(puzzle).space, **layout)
    curves = _codec_curves(ChunkCodec(codec))
    peak = curves[:, -1]
    stored = max(1, int(min(cut.chunk_bytes, DISK_BYTES // 4) * peak[1]))
    return kernel_seconds(cut), curves, _disk_rates(Path(folder), stored)


def kernel_seconds(layout: Layout) -> float:
    """Seconds of one core for a word, on chunks of a typical task all of whose rows are alive."""
    klass = 0
    task = layout.task(klass, layout.task_count(klass) // 2)
    program, swaps = program_of(layout, task), swaps_of(layout)
    strip = layout.strip_words
    random = np.random.default_rng(0)
    arena = random.integers(0, 2**60, STRIPS * strip, dtype=np.uint64)
    arena &= np.roll(arena, 1) & np.roll(arena, 2)  # an eighth of the bits
    live = np.ones(arena.size // layout.row_words, dtype=bool)
    which = np.arange(program.needed.size).reshape(program.needed.shape) % STRIPS
    base = np.where(program.needed, which * strip, -1)
    words, spent = 0, 0.0
    origin = layout.block(klass, task.first_block).start
    chunks = [
        (layout.block(klass, block), prefix - task.first_prefix)
        for prefix in range(task.first_prefix, task.last_prefix)
        for block in range(task.first_block, task.last_block)
    ]
    for i, (nodes, prefix) in enumerate([chunks[0], *chunks]):
        out = np.zeros((len(nodes), strip), dtype=np.uint64)
        rows = np.ones(len(nodes) * layout.rows, dtype=bool)
        began = time.perf_counter()
        expand(out, rows, nodes.start - origin, prefix, arena, live, base, program, swaps)
        if i:  # the first one loads the kernel
            words, spent = words + out.size, spent + time.perf_counter() - began
        if spent > KERNEL_SECONDS:
            break
    return spent / words


def _codec_curves(codec: ChunkCodec) -> np.ndarray:
    """float64[4, samples]: density, stored bytes, seconds of encoding and of decoding a byte."""
    puzzle = Tiles(*SAMPLE_BOARD)
    space = puzzle.space
    search = MemorySearch(memory_layout(space, 1))
    search.layer(0).add(space.numbers(*puzzle.origins())[1].astype(np.uint64))
    samples, depth = [], 0
    while search.expand(depth := depth + 1).any():
        words = search.layer(depth).words
        chunk = words.reshape(-1, words.shape[-1])[words.shape[1] // 2][None]
        ones = int(count_all(chunk))
        if depth % SAMPLE_EVERY or not ones:
            continue
        back, clock = np.empty_like(chunk), Stopwatch()
        data, checksum = codec.encode(chunk)
        clock.lap("codec")
        whole = np.concatenate([data, np.frombuffer(checksum, dtype=np.uint8)])
        clock.lap("rest")
        codec.decode(whole, back)
        clock.lap("kernel")
        spent = clock.seconds
        rates = np.array([data.size, spent["codec"], spent["kernel"]]) / chunk.nbytes
        samples.append((ones / (chunk.size * space.code.bits), *rates))
    return np.array(sorted(samples)).T


def _disk_rates(folder: Path, size: int) -> np.ndarray:
    """The fields of `Disk`, on files of so many bytes."""
    path, recycled = folder / uuid.uuid4().hex, folder / uuid.uuid4().hex
    path.mkdir()
    data = np.frombuffer(np.random.default_rng(0).bytes(size + -size % WORD_BYTES), dtype=np.uint64)
    files = range(max(2, min(DISK_FILES, DISK_BYTES // data.nbytes)))

    def write(chunk: np.ndarray) -> float:
        clock = Stopwatch()
        writer = ChunkWriter(path, "raw", recycled, clock)
        for i in files:
            writer.write(f"c.{i}", chunk, 0)
        return clock.seconds["disk"]

    def read() -> float:
        began = time.perf_counter()
        for i in files:
            (path / f"c.{i}").read_bytes()
        return time.perf_counter() - began

    call = write(data[:1]) / len(files)
    write(data)
    path.rename(recycled)  # as chunks are written over those of a forgotten layer
    path.mkdir()
    written, found = write(data), read()
    began = time.perf_counter()
    for i in files:
        _flush(path / f"c.{i}")
    flushed = time.perf_counter() - began
    seconds = np.array([found, written, read(), written + flushed])
    return np.array([call, *(len(files) * data.nbytes / seconds)])


def _flush(path: Path) -> None:
    """Force a file to the disk and out of the page cache."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _layer_seconds(folder: Path, plan: Plan) -> tuple[float, float]:
    """Seconds of beginning and committing a layer, and of writing and reading a manifest's line."""
    run = RunStore.create(folder / "run", plan.identity)
    spent = []
    for depth in range(LAYERS):
        began = time.perf_counter()
        run.begin_layer(depth, plan.layout, plan.space.class_of(depth))
        forget = (depth - 2,) if depth >= 2 else ()
        run.commit(
            [Manifest(depth, "bits", 0)], [LayerRecord(depth, 0, "bits", True, 0.0)], False, forget
        )
        run.finish_tasks(depth)
        spent.append(time.perf_counter() - began)
    chunks = {f"c.0.{i}.0": [i, i, "00000000"] for i in range(LINES)}
    manifest = Manifest(LAYERS, "bits", sum(range(LINES)), chunks)
    began = time.perf_counter()
    manifest.write(folder / "manifest.json")
    Manifest.read(folder / "manifest.json")
    return float(np.mean(spent)), (time.perf_counter() - began) / LINES


def _import_seconds() -> float:
    """Seconds until a new Python knows the libraries of a run."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import distributed, frontier.api"], check=True)
    return time.perf_counter() - began


def _nothing(_) -> None:
    """An empty task."""


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """A directory of its own in the file system of a path that need not exist."""
    parent = existing(path)
    try:
        with tempfile.TemporaryDirectory(prefix=".frontier-plan-", dir=parent) as folder:
            yield Path(folder)
    except PermissionError as error:
        raise InputError(
            f"store.path = {path}: the disk cannot be tried, as {parent} cannot be written "
            f"({error.strerror}); choose another directory with --set store.path=…"
        ) from None


def existing(path: Path) -> Path:
    """The nearest directory above a path, or the path itself, that is there."""
    return next(place for place in (path, *path.parents) if place.is_dir())
