"""The speed of this machine and the size of layers on the disk, from a second of measurements.

The sample is slabs of some layers of the 3x4 board; slabs of any puzzle with the same share of ones
compress like them (docs/scale.md). Each layer of the sample gives a stored size. The fullest layer
gives the time of the codec and of the kernel, with the tables of a task of the run's own layout.
Times are processor times of one thread, which other work on the machine changes less than clock
times.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.kernels.engines import engine_of, lists_of
from frontier.puzzles import Puzzle, tile_puzzle
from frontier.space.layout import Layout
from frontier.space.words import WORD_BYTES

SAMPLE_BOARD = (3, 4)
SAMPLE_STEP = 3
"""The step between the sampled layers of the sample board; it is odd, so that both sides occur."""

SAMPLE_SLABS = 32
"""The number of slabs in the sample of a layer."""

DECODED = 3
"""The approximate number of slabs that a task decodes for each slab that it makes."""

TRIAL_STATES = 2_000_000
TRIAL_BYTES = 500_000_000
"""A trial ends with the layer that has more states than this, or needs more bytes of memory."""

FILES_SECONDS = 2e-9
"""The seconds per word that a task spends on its files: more than for 2x7, whose layers the system
keeps in memory, and less than for 3x5, whose layers come from a disk."""


@dataclass(frozen=True)
class Rates:
    """The speed of one core here, and the size of layers on the disk.

    density: the shares of set bits in the sampled layers, increasing. stored: for each share, the
    stored bytes per raw byte. kernel: the seconds of the kernel per word. codec: the seconds of
    decoding and encoding per word that a task makes. listed: the seconds per state of a list.
    """

    density: Sequence[float]
    stored: Sequence[float]
    kernel: float
    codec: float
    listed: float

    @property
    def task(self) -> float:
        """The seconds per word of a task."""
        return self.kernel + self.codec + FILES_SECONDS

    def stored_at(self, density: float) -> float:
        """Return the stored bytes per raw byte."""
        return float(np.interp(density, self.density, self.stored))


class Trial(NamedTuple):
    """The first layers of a search, made as lists in this process.

    sizes: the number of states of each layer. state_seconds: the processor seconds for each state.
    """

    sizes: list[int]
    state_seconds: float


def trial_of(puzzle: Puzzle, most: int = TRIAL_STATES) -> Trial:
    """Search until there are more than `most` states."""
    kernel = lists_of(puzzle.model.space)
    most = min(most, TRIAL_BYTES // kernel.bytes_for(1))
    sizes: list[int] = []
    began = time.process_time()
    for layer in kernel.layers(puzzle.model.origins()):
        if len(sizes) == 1:
            began = time.process_time()  # the first step loads the kernels
        sizes.append(int(layer.size))
        if sum(sizes) > most:
            break
    return Trial(sizes, (time.process_time() - began) / max(1, sum(sizes[2:])))


def try_machine(layout: Layout, codec: str, listed: float) -> Rates:
    """Return the rates for a layout and a codec. listed: see `Rates`."""
    samples = sample_layers(tile_puzzle(*SAMPLE_BOARD), layout.slab_bytes)
    density, slabs = zip(*sorted(samples, key=itemgetter(0)), strict=True)
    stored, coding = zip(*(try_codec(SlabCodec(codec), some) for some in slabs), strict=True)
    tables = engine_of(layout.space).tables(layout, layout.task(0, layout.task_count(0) // 2))
    tables.word_seconds(slabs[-1])  # loads the kernel
    return Rates(density, stored, tables.word_seconds(slabs[-1]), coding[-1], listed)


def sample_layers(puzzle: Puzzle, slab_bytes: int) -> Iterator[tuple[float, np.ndarray]]:
    """Generate (share of set bits, slabs as uint64[slab, word]) of some layers of a puzzle."""
    space, engine = puzzle.model.space, engine_of(puzzle.model.space)
    search = engine.search(engine.memory_layout(space, 1), 1)
    for depth, _ in enumerate(search.layers(puzzle.model.origins())):
        if depth and depth % SAMPLE_STEP == 0:
            words = search.layer(depth).words.reshape(-1)
            density = int(np.bitwise_count(words).sum()) / (words.size * space.code.bits)
            yield density, sample_slabs(words, slab_bytes // WORD_BYTES)


def sample_slabs(words: np.ndarray, slab: int) -> np.ndarray:
    """Return some slabs of `slab` words, spread evenly over a layer. A slab that is larger than the
    layer repeats the layer."""
    whole = np.resize(words, max(1, words.size // slab) * slab).reshape(-1, slab)
    count = min(SAMPLE_SLABS, len(whole))
    return whole[np.linspace(0, len(whole) - 1, count).astype(np.int64)]


def try_codec(codec: SlabCodec, slabs: np.ndarray) -> tuple[float, float]:
    """Return (stored bytes per raw byte, processor seconds per word) of slabs. Each slab is encoded
    once and decoded `DECODED` times."""
    data = np.empty(encoded_bytes(slabs[0].nbytes), dtype=np.uint8)
    decoded, stored = np.empty_like(slabs[0]), 0
    began = time.thread_time()
    for slab in slabs:
        size = codec.encode(slab, data)
        stored += size
        for _ in range(DECODED):
            codec.decode(data[:size], decoded)
    return stored / slabs.nbytes, (time.thread_time() - began) / slabs.size
