"""What a worker keeps of a run between tasks: tables, open layers, buffers. Only caches.

Everything here can be made again from the run directory, so a worker may die at any time.
"""

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from frontier.errors import CorruptRunError, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.space.graph import Space
from frontier.space.layout import Layout, Task
from frontier.space.lehmer import LehmerCode
from frontier.space.lists import ListKernel, list_bits, set_bits
from frontier.space.memory import MemorySearch
from frontier.space.program import Program, Read, program_of, reads_of, swaps_of
from frontier.stopwatch import Stopwatch
from frontier.store.layers import StoredLayer, bits_key, block_and_prefix
from frontier.store.run import RunStore
from frontier.text import counted

OPEN_LAYERS = 3
PROGRAM_BYTES = 50_000_000


class Workspace:
    """One worker's view of one run."""

    def __init__(self, path: Path, identity: dict):
        self.puzzle: Puzzle = puzzle_of(identity["puzzle"])
        self.run = RunStore(path, identity, [], False)
        self.space: Space = self.puzzle.space
        self.layout = Layout(self.space, **identity["layout"])
        self.swaps = swaps_of(self.layout)
        self.lists = ListKernel(self.space)
        self.codec: str = identity["codec"]
        self.clock = Stopwatch()
        self.start: tuple[int, int] | None = None
        if self.puzzle.start is not None:
            self.start = self.space.number(*self.puzzle.state(self.puzzle.start))
        home = self.puzzle.blank_home()
        self.home = None if home is None else [home[vertex] for vertex in self.space.vertex]
        self._programs: OrderedDict[Task, tuple[Program, list[Read]]] = OrderedDict()
        self._program_bytes = 0
        self._layers: OrderedDict[int, OpenLayer] = OrderedDict()
        self._buffers: dict[str, np.ndarray] = {}
        self.memory: MemorySearch | None = None

    @property
    def code(self) -> LehmerCode:
        return self.space.code

    def start_in(self, klass: int) -> int | None:
        """Number of the position whose distance is asked for, if there is one, of this class."""
        return self.start[1] if self.start is not None and self.start[0] == klass else None

    def task(self, depth: int, number: int) -> Task:
        return self.layout.task(self.space.class_of(depth), number)

    def program(self, task: Task) -> tuple[Program, list[Read]]:
        """The tables of a task, and what it reads."""
        if task not in self._programs:
            program = program_of(self.layout, task)
            self._programs[task] = program, reads_of(self.layout, program)
            self._program_bytes += program.nbytes
            while self._program_bytes > PROGRAM_BYTES and len(self._programs) > 1:
                _, (oldest, _) = self._programs.popitem(last=False)
                self._program_bytes -= oldest.nbytes
        return self._programs[task]

    def layer(self, depth: int) -> "OpenLayer":
        """The committed layer at a depth; the layer at depth -1 is empty."""
        if depth not in self._layers:
            self._layers[depth] = OpenLayer(self, depth)
            while len(self._layers) > OPEN_LAYERS:
                self._layers.popitem(last=False)
        return self._layers[depth]

    def place(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Where uint64[N] states lie: int64[N] chunk (block * prefixes + prefix), node in the
        block, word in the strip, bit."""
        layout = self.layout
        node, index = np.divmod(numbers.astype(np.int64), self.code.half)
        word, bit = np.divmod(index, self.code.bits)
        prefix, word = np.divmod(word, layout.strip_words)
        block, node = np.divmod(node, layout.block_nodes)
        return block * layout.prefixes + prefix, node, word, bit

    def by_chunk(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(states, their chunks as in `place`), grouped by chunk."""
        chunks = self.place(numbers)[0]
        if (chunks[1:] < chunks[:-1]).any():
            order = np.argsort(chunks, kind="stable")
            numbers, chunks = numbers[order], chunks[order]
        return numbers, chunks

    def buffer(self, name: str, words: int) -> np.ndarray:
        """A flat uint64 scratch buffer that is used again, so its pages are mapped once."""
        if name not in self._buffers or self._buffers[name].size < words:
            self._buffers[name] = np.empty(words, dtype=np.uint64)
        return self._buffers[name][:words]


@lru_cache(maxsize=1)
def workspace(path: str, identifier: str, durable: bool) -> Workspace:
    """This process's workspace for a run; `identifier` tells a run from an earlier one there."""
    run = RunStore.open(Path(path))
    if run.identity["identifier"] != identifier:
        raise InputError(
            f"{path} holds another run here than where the driver runs: every worker must see the "
            "same run directory"
        )
    work = Workspace(Path(path), run.identity)
    work.run.durable = durable
    return work


class OpenLayer:
    """A committed layer, read as chunks of bits or as a list, whichever form it is stored in."""

    def __init__(self, work: Workspace, depth: int):
        self._work = work
        self._klass = work.space.class_of(depth)
        self._stored: StoredLayer | None = work.run.layer(depth, work.clock) if depth >= 0 else None
        self._numbers: np.ndarray | None = None
        self._grouped: tuple[np.ndarray, np.ndarray] | None = None
        if self._stored is None:
            self._numbers = np.empty(0, dtype=np.uint64)
        elif self._stored.manifest.form == "list":
            self._numbers = self._stored.read_list()

    def has_chunk(self, block: int, prefix: int) -> bool:
        """Whether the chunk holds a state."""
        if self._numbers is None:
            return self._stored.has_chunk(bits_key(block, prefix))
        return self._listed_in(block, prefix).size > 0

    def read_chunk(self, block: int, prefix: int, out: np.ndarray) -> None:
        """Fill uint64[block_nodes, strip words] with a chunk that holds a state."""
        if self._numbers is None:
            self._stored.read_chunk(bits_key(block, prefix), out)
            return
        out[:] = 0
        code, layout = self._work.code, self._work.layout
        first_node, first_word = block * layout.block_nodes, prefix * layout.strip_words
        set_bits(out, self._listed_in(block, prefix), first_node, first_word, code.half, code.bits)

    def _listed_in(self, block: int, prefix: int) -> np.ndarray:
        """The states of a list layer that lie in a chunk."""
        if self._grouped is None:
            self._grouped = self._work.by_chunk(self._numbers)
        numbers, chunks = self._grouped
        at = np.searchsorted(
            chunks, block * self._work.layout.prefixes + np.array([prefix, prefix + 1])
        )
        return numbers[at[0] : at[1]]

    @property
    def is_list(self) -> bool:
        """Whether the layer is stored as a list (or is empty)."""
        return self._numbers is not None

    @property
    def held(self) -> int:
        """States that this object holds in memory."""
        return 0 if self._numbers is None else self._numbers.size

    def contains(self, numbers: np.ndarray) -> np.ndarray:
        """For each of uint64[N] state numbers of the layer's class, whether it is in: bool[N]."""
        if self._numbers is not None:
            if not self._numbers.size:
                return np.zeros(numbers.size, dtype=bool)
            at = np.searchsorted(self._numbers, numbers)
            return self._numbers[np.minimum(at, self._numbers.size - 1)] == numbers
        work, layout = self._work, self._work.layout
        chunks, node, word, bit = work.place(numbers)
        found = np.zeros(numbers.size, dtype=bool)
        out = work.buffer("chunk", layout.block_nodes * layout.strip_words)
        out = out.reshape(layout.block_nodes, layout.strip_words)
        order = np.argsort(chunks, kind="stable")
        starts = np.flatnonzero(np.diff(chunks[order], prepend=-1))
        for some in np.split(order, starts[1:]):
            key = divmod(int(chunks[some[0]]), layout.prefixes)
            if self.has_chunk(*key):
                self.read_chunk(*key, out)
                found[some] = out[node[some], word[some]] >> bit[some].astype(np.uint64) & 1
        return found

    def some(self, count: int, most_chunks: int, rng: np.random.Generator) -> np.ndarray:
        """Up to `count` states of a bits layer from at most so many of its chunks, at random."""
        work, layout = self._work, self._work.layout
        keys = sorted(self._stored.manifest.chunks)
        drawn = rng.choice(len(keys), min(most_chunks, len(keys)), replace=False)
        share = -(-count // drawn.size)
        out = np.empty((layout.block_nodes, layout.strip_words), dtype=np.uint64)
        found = []
        for key in (keys[i] for i in drawn):
            self._stored.read_chunk(key, out)
            node, word = np.nonzero(out)
            picked = rng.choice(node.size, min(share, node.size), replace=False)
            block, prefix = block_and_prefix(key)
            for n, w in zip(node[picked].tolist(), word[picked].tolist(), strict=True):
                value = int(out[n, w])
                bit = rng.choice([b for b in range(work.code.bits) if value >> b & 1])
                index = (prefix * layout.strip_words + w) * work.code.bits + int(bit)
                found.append((block * layout.block_nodes + n) * work.code.half + index)
        return np.array(found, dtype=np.uint64)

    def parts(self) -> Iterator[np.ndarray]:
        """The state numbers of the layer, uint64, chunk after chunk; each part is sorted.

        A part is good until the next one is asked for.
        """
        if self._numbers is not None:
            yield self._numbers
            return
        work, layout = self._work, self._work.layout
        out = np.empty((layout.block_nodes, layout.strip_words), dtype=np.uint64)
        numbers = np.empty(0, dtype=np.uint64)
        for key, (states, _, _) in self._stored.manifest.chunks.items():
            block, prefix = block_and_prefix(key)
            self._stored.read_chunk(key, out)
            first_node, first_word = block * layout.block_nodes, prefix * layout.strip_words
            if (found := int(np.bitwise_count(out).sum())) != states:
                raise _miscount(self._stored, key, states, found)
            if numbers.size < states:
                numbers = np.empty(states, dtype=np.uint64)
            list_bits(out, first_node, first_word, work.code.half, work.code.bits, numbers)
            yield numbers[:states]

    def numbers(self) -> np.ndarray:
        """The sorted state numbers of the layer."""
        if self._numbers is not None:
            return self._numbers
        numbers = np.empty(self._stored.manifest.states, dtype=np.uint64)
        size = 0
        for part in self.parts():
            numbers[size : size + part.size] = part
            size += part.size
        numbers.sort()
        return numbers


def _miscount(layer: StoredLayer, key: str, listed: int, found: int) -> CorruptRunError:
    return CorruptRunError(
        f"chunk {layer.path / key} holds {counted(found, 'state')}, its manifest lists {listed}"
    )
