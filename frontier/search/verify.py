"""Whether a run directory holds what was written there, and whether that is right.

*Whole*: the ledger and each manifest match their digests and each other, each chunk that a
manifest lists is there, is the one that was written and holds as many states as listed, nothing
else lies beside it, and Zarr would read the array as it was meant.

*Right* (`deep`): states of a layer are drawn at random, and neighbours of the layer before it, and
are asked the definition of a layer: a state lies at depth t just if some neighbour lies at depth
t - 1 and it lies neither there nor at t - 2. Neighbours are found one by one from the base graph's
arcs, on sequences, in plain Python: none of the kernels that made the layer has a part in it.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import zarr
from zarr.errors import ZarrUserWarning

from frontier.errors import CorruptRunError
from frontier.search.workspace import OpenLayer, Workspace
from frontier.space.graph import Space
from frontier.store.codecs import ChunkCodec
from frontier.store.copies import check_copies
from frontier.store.files import read_sealed
from frontier.store.layers import StoredLayer, bits_key, block_and_prefix
from frontier.store.run import RunStore
from frontier.text import counted

CHUNKS_DRAWN = 8
GROUP, LEDGER, SUMMARY = -1, -2, -3
"""Stand in the place of a depth for what describes the run, for the ledger and the summary."""


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was written, or not right.

    depth: of the layer, or GROUP, LEDGER or SUMMARY. what: the file and what is wrong with it.
    task: of the layer under way.
    described: it is only what describes the run to others, which the search does not read.
    """

    depth: int
    what: str
    task: str | None = None
    described: bool = False


@dataclass
class Verified:
    """What was looked at, and what was found.

    layers, chunks, bytes: on disk. asked: positions of which it was asked whether they belong.
    """

    layers: int = 0
    chunks: int = 0
    bytes: int = 0
    asked: int = 0
    faults: list[Fault] = field(default_factory=list)

    def sound(self, depth: int) -> bool:
        """Whether the search can build on a layer."""
        return all(fault.depth != depth or fault.described for fault in self.faults)


def verify(
    run: RunStore,
    deep: int = 0,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Verified:
    """Look at all that is on disk of a run.

    deep: how many states of each layer, and as many others, are asked whether they belong there.
    say: is told of each layer before it is looked at.
    """
    work, done, rng = Workspace(run.path, run.identity), Verified(), np.random.default_rng(seed)
    _whole_ledger(run, done)
    if not run.is_group():
        file = run.path / "layers" / "zarr.json"
        done.faults.append(Fault(GROUP, f"{file} is not what was written there", described=True))
    for depth in run.stored_depths():
        say(f"layer {depth}")
        done.layers += 1
        for what in _whole_layer(run, work, depth, done):
            done.faults.append(Fault(depth, what))
        if done.sound(depth) and (what := _wrong_description(run, work, depth)):
            done.faults.append(Fault(depth, what, described=True))
    _layer_under_way(run, work, done)
    if deep:
        for depth in run.stored_depths():
            if depth - 1 in run.stored_depths() and done.sound(depth) and done.sound(depth - 1):
                say(f"layer {depth}: {counted(deep, 'state')} and as many others")
                for what in _right_layer(run, work, depth, deep, rng, done):
                    done.faults.append(Fault(depth, what))
    return done


def _whole_ledger(run: RunStore, done: Verified) -> None:
    """Whether the ledger makes sense, the copies are what they are copies of, and the summary is
    what was written."""
    file, found, states = run.path / "ledger.json", run.states, run.identity["states"]
    if found > states or (run.complete and found != states):
        what = f"{file}: its layers hold {counted(found, 'state')}, the puzzle has {states:,}"
        done.faults.append(Fault(LEDGER, what))
    for depth, record in enumerate(run.records):
        if record.depth != depth:
            what = f"{file}: layer {record.depth} stands in the place of {depth}"
            done.faults.append(Fault(LEDGER, what))
    try:
        check_copies(run)
    except CorruptRunError as error:
        done.faults.append(Fault(LEDGER, str(error)))
    others = {run.path / "copies" / name: GROUP for name in ("run.json", "ledger.json")}
    if (summary := run.path / "summary.json").exists():
        others[summary] = SUMMARY
    for other, kind in others.items():
        try:
            read_sealed(other)
        except CorruptRunError as error:
            done.faults.append(Fault(kind, str(error), described=True))


def _whole_layer(run: RunStore, work: Workspace, depth: int, done: Verified) -> Iterator[str]:
    """What is wrong with a layer's manifest, its array or its chunks."""
    try:
        stored = run.layer(depth)
    except CorruptRunError as error:
        yield str(error)
        return
    if stored.manifest.form != run.records[depth].form:
        yield f"layer {depth}: its manifest and the ledger do not name the same form"
        return
    for key, (states, size, _) in stored.manifest.chunks.items():
        done.chunks += 1
        done.bytes += size
        yield from _whole_chunk(stored, work, key, states)
    if stored.manifest.form == "list" and stored.manifest.states:
        try:
            numbers = stored.read_list()
        except CorruptRunError:
            return  # it was named above
        klass = work.space.class_of(depth)
        end = work.space.nodes[klass] * work.code.half
        if (numbers[1:] <= numbers[:-1]).any() or int(numbers[-1]) >= end:
            yield f"layer {depth}: {stored.path} is not an ascending list of states below {end:,}"


def _wrong_description(run: RunStore, work: Workspace, depth: int) -> str | None:
    """What is wrong with what Zarr sees of a layer."""
    stored, layout, klass = run.layer(depth), work.layout, work.space.class_of(depth)
    shape: tuple[int, ...] = (stored.manifest.states,)
    if stored.manifest.form == "bits":
        shape = layout.blocks(klass) * layout.block_nodes, *layout.shape(klass)[1:]
    meant = shape, np.uint64, tuple(ChunkCodec(work.codec).zarr_codecs())
    try:
        with warnings.catch_warnings():  # see `frontier.store.codecs`
            warnings.simplefilter("ignore", ZarrUserWarning)
            array = zarr.open_array(stored.path, mode="r")
        if (array.shape, array.dtype, array.compressors) != meant:
            return f"layer {depth}: {stored.path / 'zarr.json'} is not what was written there"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"layer {depth}: {stored.path / 'zarr.json'} describes no array: {error}"
    names = {entry.name for entry in stored.path.iterdir()}
    if others := sorted(names - {"zarr.json"} - stored.manifest.chunks.keys()):
        return f"layer {depth}: {stored.path / others[0]} is not in the manifest"
    return None


def _whole_chunk(stored: StoredLayer, work: Workspace, key: str, states: int) -> Iterator[str]:
    """What is wrong with a chunk."""
    layout = work.layout
    if stored.manifest.form == "list":
        try:
            stored.read_chunk(key, np.empty(stored.list_chunk, dtype=np.uint64))
        except CorruptRunError as error:
            yield str(error)
        return
    chunk = np.empty((layout.block_nodes, layout.strip_words), dtype=np.uint64)
    try:
        stored.read_chunk(key, chunk)
    except CorruptRunError as error:
        yield str(error)
        return
    found = int(np.bitwise_count(chunk).sum())
    nodes = layout.block(work.space.class_of(stored.manifest.depth), block_and_prefix(key)[0])
    if found != states:
        yield (
            f"layer {stored.manifest.depth}: chunk {stored.path / key} holds "
            f"{counted(found, 'state')}, its manifest lists {states:,}"
        )
    if chunk[len(nodes) :].any() or (chunk >> np.uint64(work.code.bits)).any():
        yield (
            f"layer {stored.manifest.depth}: chunk {stored.path / key} has bits that stand for no "
            "state"
        )


def _layer_under_way(run: RunStore, work: Workspace, done: Verified) -> None:
    """The finished tasks of the layer that is not committed yet."""
    depth = len(run.records)
    for path in sorted(run.wip_path(depth).glob("*.json")):
        try:
            chunks = read_sealed(path)["chunks"]
        except CorruptRunError as error:
            done.faults.append(Fault(depth, str(error), path.stem))
            continue
        stored = run.uncommitted(depth, chunks)
        for key, (states, size, _) in chunks.items():
            done.chunks += 1
            done.bytes += size
            for what in _whole_chunk(stored, work, key, states):
                done.faults.append(Fault(depth, what, path.stem))


def _right_layer(
    run: RunStore, work: Workspace, depth: int, count: int, rng: np.random.Generator, done: Verified
) -> Iterator[str]:
    """States of a layer and their neighbours' neighbours that do not lie where they must."""
    space, klass = work.space, work.space.class_of(depth)
    layers = {d: work.layer(d) for d in (depth, depth - 1)}
    before_known = depth < 2 or depth - 2 in run.stored_depths()
    if depth >= 2 and before_known:
        layers[depth - 2] = work.layer(depth - 2)
    inside = _drawn(layers[depth], work, count, rng)
    beside = _drawn(layers[depth - 1], work, count, rng)
    near = [n for number in beside for _, n in neighbours(space, space.class_of(depth - 1), number)]
    numbers = np.unique(np.array([*inside, *near], dtype=np.uint64))
    done.asked += numbers.size
    known = layers[depth].contains(numbers)
    earlier = np.zeros(numbers.size, dtype=bool)
    for d in (depth - 1, depth - 2):
        if d in layers and space.class_of(d) == klass:
            earlier |= layers[d].contains(numbers)
    around = [list(neighbours(space, klass, int(number))) for number in numbers]
    flat = np.array([n for some in around for _, n in some], dtype=np.uint64)
    ends = np.cumsum([len(some) for some in around])
    there = np.split(layers[depth - 1].contains(flat), ends[:-1])
    reached = np.array([some.any() for some in there])
    wrong = known & (earlier | ~reached)
    missing = ~known & reached & ~earlier & before_known
    places = work.place(numbers)[0].tolist()
    for i in np.flatnonzero(wrong | missing):
        key = bits_key(*divmod(places[i], work.layout.prefixes))
        how = "is missing" if missing[i] else "is there but must not be"
        yield f"layer {depth}: state {numbers[i]} {how} (chunk {key} of {run.layer_path(depth)})"


def neighbours(space: Space, klass: int, number: int) -> Iterator[tuple[int, int]]:
    """(class, state number) of all neighbours of a state, one by one."""
    vertex, sequence = space.state(klass, int(number))
    arcs = space.graph.arcs
    for arc in range(arcs.start[vertex], arcs.start[vertex + 1]):
        moved = list(sequence)
        for i in space.graph.words[arcs.word[arc]]:
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
        yield space.number(int(arcs.target[arc]), moved)


def _drawn(layer: OpenLayer, work: Workspace, count: int, rng: np.random.Generator) -> list[int]:
    """Up to `count` states of a layer, drawn at random from a few chunks drawn at random."""
    if layer.is_list:
        numbers = layer.numbers()
        return rng.choice(numbers, min(count, numbers.size), replace=False).tolist()
    return layer.some(count, CHUNKS_DRAWN, rng).tolist()
