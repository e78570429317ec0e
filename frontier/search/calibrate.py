"""How fast this machine is: a few seconds of kernels, codec, disk and scheduler.

Kernels and codec are timed on as many workers at once as a run here would have, since these share
memory and disk:

* the kernel on whole tasks of the very layout, all rows alive;
* the codec on real layers, those of the 3x4 board, whose compression stands for that of all
  puzzles at the same density (docs/scale.md);
* the disk in the run directory's file system, on files as large as a chunk.

The scheduler is given empty tasks, of which its own processor time counts: it limits how many
workers it can serve. Start-up is the time of a run that has 12 states.

All times are those of the clock, so other work on the machine slows a forecast as it slows a run.
"""

import json
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

from frontier import machine
from frontier.config import ClusterTable
from frontier.errors import InputError
from frontier.puzzles import Tiles, puzzle_of
from frontier.search.clusters import Executor, executor_of
from frontier.search.forecast import Codec, Disk, Rates
from frontier.search.plan import Plan, layout_settings
from frontier.search.shape import Trial
from frontier.space.bits import expand
from frontier.space.layout import SLAB_BYTES, WORD_BYTES, Layout
from frontier.space.memory import MemorySearch, memory_layout
from frontier.space.program import program_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.store.codecs import SlabCodec, encoded_bytes
from frontier.store.files import DELETING, existing, write_bytes
from frontier.store.run import LayerRecord, RunStore

SAMPLE_BOARD = (3, 4)
START_CONFIG = """name = "start"
[puzzle]
kind = "tiles"
rows = 2
columns = 2
"""

KERNEL_SECONDS = 0.5
KERNEL_WORDS = 300_000
"""Words that a call of the kernel makes."""

SLABS = 64
"""Slabs that stand for all that a task reads: more than fit in the caches."""

DISK_BYTES = 128_000_000
DISK_FILES = 40
EMPTY_TASKS = 300
LAYERS = 5


def calibrate(plan: Plan, trial: Trial) -> Rates:
    """Measure this machine for a plan, in the file system of its run.

    InputError if nothing can be written there.
    """
    codec = plan.config.store.codec
    workers = min(plan.config.cluster.workers, machine.cores())
    with _scratch(plan.config.path) as folder:
        call = (plan.config.puzzle_settings, layout_settings(plan.layout), codec, str(folder))
        kind = "serial" if plan.config.cluster.kind == "serial" else "local"
        cluster = ClusterTable(kind=kind, workers=workers, memory=plan.config.cluster.memory)
        with executor_of(cluster, alone=plan.alone) as executor:
            found = list(executor.run(measure, [call] * executor.workers, _never))
            trip, task = empty_tasks(executor)
        start = _start_seconds(folder, plan.alone, plan.config.store.fsync, cluster)
        layer = _layer_seconds(folder, plan)
        room = np.empty(encoded_bytes(trial.largest.nbytes), dtype=np.uint8)
        stored = SlabCodec(codec).encode(trial.largest, room)
    words, codecs, disks = zip(*found, strict=True)
    return Rates(
        word=float(np.mean(words)),
        listed=trial.state_seconds,
        list_bytes=stored / trial.largest.size,
        codec=_mean(codecs),
        disk=_mean(disks),
        task=task,
        layer=layer + trip,
        start=start,
    )


def _mean(parts: tuple):
    """The mean of what workers measured, field by field."""
    fields = zip(*(vars(part).values() for part in parts), strict=True)
    return type(parts[0])(*(np.mean(values, axis=0).tolist() for values in fields))


def measure(puzzle: dict, layout: dict, codec: str, folder: str) -> tuple[float, Codec, Disk]:
    """What one worker measures: seconds of the kernel for a word, its codec, its disk."""
    cut = Layout(puzzle_of(puzzle).space, **layout)
    found = codec_on_layers(SlabCodec(codec))
    stored = int(min(cut.part_bytes, DISK_BYTES // 4) * found.stored[-1])
    return kernel_seconds(cut), found, disk_rates(Path(folder), stored)


def kernel_seconds(layout: Layout) -> float:
    """Seconds of one core for a word, on chunks of a typical task all of whose rows are alive."""
    task = layout.task(0, layout.task_count(0) // 2)
    program, swaps = program_of(layout, task), swaps_of(layout)
    strip, nodes = (
        layout.strip_words,
        min(len(task.nodes), max(1, KERNEL_WORDS // layout.strip_words)),
    )
    slab = layout.slab_words
    arena = np.random.default_rng(0).integers(0, 2**60, SLABS * slab, dtype=np.uint64)
    arena &= np.roll(arena, 1) & np.roll(arena, 2)  # an eighth of the bits
    live = np.ones(arena.size // layout.row_words, dtype=bool)
    which = np.arange(program.needed.size).reshape(program.needed.shape) % SLABS
    base = np.where(program.needed, which * slab, -1)
    out = np.zeros((nodes, strip), dtype=np.uint64)
    rows = np.ones(nodes * layout.rows, dtype=bool)

    def strips(prefix: int) -> None:
        rows[:] = True
        expand(out, rows, 0, prefix, arena, live, base, program, swaps)

    strips(0)  # loads the kernel
    calls, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < KERNEL_SECONDS:
        strips(calls % (task.last_prefix - task.first_prefix))
        calls += 1
    return spent / (calls * out.size)


def codec_on_layers(codec: SlabCodec) -> Codec:
    """The codec on slabs of one node in each layer of the sample board."""
    puzzle = Tiles(*SAMPLE_BOARD)
    space = puzzle.space
    search = MemorySearch(memory_layout(space, 1))
    search.layer(0).add(space.numbers(*puzzle.origins())[1].astype(np.uint64))
    samples, clock, depth = [], Stopwatch(), 0
    _codec_seconds(codec, np.ones((1, SLAB_BYTES // WORD_BYTES), dtype=np.uint64), clock)
    while search.expand(depth := depth + 1).any():
        words = search.layer(depth).words
        words = words[:, words.shape[1] // 2].reshape(-1)
        slabs = words[: words.nbytes // SLAB_BYTES * (SLAB_BYTES // WORD_BYTES)]
        density = int(np.bitwise_count(slabs).sum()) / (slabs.size * space.code.bits)
        spent = _codec_seconds(codec, slabs.reshape(-1, SLAB_BYTES // WORD_BYTES), clock)
        samples.append((density, *(x / slabs.nbytes for x in spent)))
    density, stored, encode, decode = np.array(sorted(samples)).T
    # Single times are too short to be trusted; of all together a line is seen.
    basis = np.stack([np.ones_like(stored), stored], axis=1)
    lines = (np.linalg.lstsq(basis, seconds)[0].tolist() for seconds in (encode, decode))
    return Codec(density.tolist(), stored.tolist(), *lines)


def _codec_seconds(
    codec: SlabCodec, slabs: np.ndarray, clock: Stopwatch
) -> tuple[int, float, float]:
    """(stored bytes, seconds to encode, seconds to decode) of uint64 [slabs, words]."""
    room = np.zeros((len(slabs), encoded_bytes(SLAB_BYTES)), dtype=np.uint8)
    back = np.zeros_like(slabs)
    clock.reset()
    sizes = np.array([codec.encode(slab, data) for slab, data in zip(slabs, room, strict=True)])
    clock.lap("codec")
    begins = np.arange(len(slabs)) * room.shape[1]
    codec.decode_slabs(room.reshape(-1), begins, begins + sizes, back, np.arange(len(slabs)))
    clock.lap("kernel")
    return int(sizes.sum()), clock.seconds["codec"], clock.seconds["kernel"]


def disk_rates(folder: Path, size: int) -> Disk:
    """The disk on files of so many bytes."""
    data = np.frombuffer(np.random.default_rng(0).bytes(size), dtype=np.uint8)
    paths = [folder / uuid.uuid4().hex for _ in range(max(2, min(DISK_FILES, DISK_BYTES // size)))]

    def write(content: np.ndarray, durable: bool) -> float:
        began = time.perf_counter()
        for path in paths:
            write_bytes(path, content, durable)
        return time.perf_counter() - began

    def read() -> float:
        began = time.perf_counter()
        for path in paths:
            path.read_bytes()
        return time.perf_counter() - began

    call = write(data[:1], False) / len(paths)
    written, found, forced = write(data, False), read(), write(data, True)
    for path in paths:
        _forget(path)
    rates = len(paths) * data.nbytes / np.array([found, written, read(), forced])
    return Disk(call, *rates.tolist())


def _forget(path: Path) -> None:
    """Take a file that is on the disk out of the page cache."""
    if not hasattr(os, "posix_fadvise"):  # macOS; reading then looks as fast as from memory
        return
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _layer_seconds(folder: Path, plan: Plan) -> float:
    """Seconds of beginning and committing a layer."""
    run = RunStore.create(folder / "run", plan.identity)
    run.durable = plan.config.store.fsync == "layer"
    began = time.perf_counter()
    for depth in range(LAYERS):
        run.files(depth, plan.layout).begin_bits(run.durable)
        forget = (depth - 2,) if depth >= 2 else ()
        run.commit([LayerRecord(depth, 0, "bits", True, 0.0)], False, forget)
    return (time.perf_counter() - began) / LAYERS


def _start_seconds(folder: Path, alone: bool, fsync: str, cluster: ClusterTable) -> float:
    """Seconds of a whole run that has next to nothing to search: 12 states."""
    config = folder / "start.toml"
    config.write_text(START_CONFIG)
    settings = {
        "store.path": json.dumps(str(folder / "start")),
        "search.in_memory": json.dumps(alone),
        "store.fsync": fsync,
        "cluster.kind": cluster.kind,
        "cluster.workers": cluster.workers,
    }
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "frontier", "run", str(config), *words]
    began = time.perf_counter()
    tried = subprocess.run(command, capture_output=True, text=True)
    if tried.returncode:
        raise InputError(f"a run of 12 states, to see how long one starts, failed: {tried.stderr}")
    return time.perf_counter() - began


def empty_tasks(executor: Executor) -> tuple[float, float]:
    """Seconds that an empty task takes alone, and of this process, where the scheduler and the
    driver are, for one of many."""
    trips = EMPTY_TASKS // 10
    began = time.perf_counter()
    for _ in range(trips):
        list(executor.run(_nothing, [()], _never))
    trip = (time.perf_counter() - began) / trips
    began = time.process_time()
    list(executor.run(_nothing, [()] * EMPTY_TASKS, _never))
    return trip, (time.process_time() - began) / EMPTY_TASKS


def _nothing() -> None:
    """An empty task."""


def _never() -> bool:
    return False


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """A directory of its own in the file system of a path that need not exist.

    Should it be left in a run directory, the next run there removes it.
    """
    parent = existing(path)
    try:
        with tempfile.TemporaryDirectory(DELETING, "plan-", parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise InputError(
            f"store.path = {path}: the disk cannot be tried in {parent} ({error.strerror}); choose "
            "another directory with --set store.path=…"
        ) from None
