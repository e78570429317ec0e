"""Whether a run directory holds what was written there, and whether that is right.

*Whole*: the ledger and the records match their digests and each other, each part of a layer is
there, is the one that was written and holds as many states as its record says, and Zarr would read
the array as it was meant.

*Right* (`deep`): states are drawn at random from a layer, and from the neighbours of the layer
before it, and each is held against the definition of a layer: a state lies at depth t just if some
neighbour lies at depth t - 1 and it lies neither there nor at t - 2. Neighbours are found one by
one from the base graph's arcs, on sequences, in plain Python: none of the kernels that made the
layer has a part in it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from frontier.errors import CorruptRunError
from frontier.space.graph import Space
from frontier.storage.sealed import read_json, read_sealed
from frontier.store.directory import COPIES, LEDGER, RUN, misplaced
from frontier.store.parts import Part, digest_of
from frontier.store.reader import RunReader, StoredLayer
from frontier.store.run import RunStore
from frontier.text import counted

SLABS_DRAWN = 32
"""The greatest number of slabs of a layer that states are drawn from."""

GROUP, SUMS, SUMMARY, OTHERS = -1, -2, -3, -4
"""These stand in the place of a depth for faults outside the layers: in the Zarr group and the
copies, in what the layers of the ledger add up to, in the summary, in what is not the run's."""


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was written, or not right.

    depth: of the layer, or GROUP, SUMS, SUMMARY or OTHERS. what: the file and what is wrong with
    it. task: of the layer under way, or of the next one.
    described: whether the file only describes the run to others, and the search does not read it.
    """

    depth: int
    what: str
    task: int | None = None
    described: bool = False


@dataclass
class Verified:
    """What was looked at, and what was found.

    layers, parts, bytes: on disk. asked: how many states were asked whether they belong there.
    given_up: the layer some of whose parts the layer under way has replaced.
    """

    layers: int = 0
    parts: int = 0
    bytes: int = 0
    asked: int = 0
    given_up: int | None = None
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
    reader, done, stored = RunReader(run), Verified(), run.stored_depths()
    done.faults += _faults_outside(run)
    for depth in stored:
        say(f"layer {depth}")
        done.layers += 1
        done.faults += [Fault(depth, what) for what in _whole_layer(reader, depth, done)]
        if done.sound(depth) and (what := _wrong_description(reader, depth)):
            done.faults.append(Fault(depth, what, described=True))
    if not run.complete:
        done.faults += _layer_under_way(reader, done)
    for file in misplaced(run.storage, run.layers_name):
        place = str(run.storage.place(file))
        if not any(place in fault.what for fault in done.faults):
            what = f"{place} is not what a run makes there"
            done.faults.append(Fault(OTHERS, what, described=True))
    rng = np.random.default_rng(seed)
    for depth in stored if deep else ():
        whole = all(done.sound(d) and d != done.given_up for d in (depth, depth - 1))
        if depth - 1 in stored and whole:
            say(f"layer {depth}: {counted(deep, 'state')} and as many others")
            done.faults += [Fault(depth, w) for w in _right_layer(reader, depth, deep, rng, done)]
    return done


def _faults_outside(run: RunStore) -> Iterator[Fault]:
    """What is wrong outside the layers: with the ledger, whose layers must add up; with the copies,
    the summary and the Zarr group, which must be what was written."""
    storage, found, states = run.storage, run.states, run.identity["states"]
    if found > states or (run.complete and found != states):
        holds = f"its layers hold {counted(found, 'state')}, the puzzle has {states:,}"
        yield Fault(SUMS, f"{storage.place(LEDGER)}: {holds}")
    others = {COPIES[RUN]: GROUP, COPIES[LEDGER]: GROUP, "summary.json": SUMMARY}
    for name, kind in others.items():
        try:
            if kind == GROUP or storage.exists(name):
                read_sealed(storage, name)
        except CorruptRunError as error:
            yield Fault(kind, str(error), described=True)
    if not run.is_group():
        group = storage.place(f"{run.layers_name}/zarr.json")
        yield Fault(GROUP, f"{group} is not what was written there", described=True)


def _whole_layer(reader: RunReader, depth: int, done: Verified) -> Iterator[str]:
    """What is wrong with the parts of a layer."""
    run, layer = reader.run, reader.layer(depth)
    record, files, records = run.records[depth], layer.files, []
    if files.storage.is_link(files.folder):
        yield f"layer {depth}: {files.place} is a link, and what the run wrote is not"
        return
    fading = not layer.is_list and depth + 2 == len(run.records)
    for task in files.tasks:
        try:
            part = files.part(task)
            _whole_part(layer, task, part, done)
            records.append(part.record)
        except CorruptRunError as error:
            # Looked at now, as a task may be done meanwhile.
            if fading and not files.there(task) and reader.files(depth + 2).there(task):
                done.given_up = depth
            else:
                yield str(error)
    if len(records) < len(files.tasks):
        return
    if digest_of(records) != record.digest:
        yield f"layer {depth}: the parts in {files.place} are not those that the ledger lists"
    if (found := sum(part.states for part in records)) != record.states:
        yield (
            f"layer {depth}: the parts in {files.place} hold {counted(found, 'state')}, the "
            f"ledger lists {record.states:,}"
        )


def _whole_part(layer: StoredLayer, task: int, part: Part, done: Verified) -> None:
    """CorruptRunError if something is wrong with a part of a layer."""
    files, layout, found = layer.files, layer.files.layout, 0
    space = layout.space
    done.parts += 1
    done.bytes += part.record.bytes
    part.check()
    if layer.is_list:
        numbers, end = layer.numbers(), space.nodes[files.side] * space.code.half
        if (numbers[1:] <= numbers[:-1]).any() or (numbers.size and int(numbers[-1]) >= end):
            raise CorruptRunError(
                f"layer {files.depth}: {part.path} is not an ascending list of states below {end:,}"
            )
        return
    where = layout.task(files.side, task)
    for slab, words in layer.decoded(task, part.slabs):
        found += int(np.bitwise_count(words).sum())
        nodes = space.nodes[files.side] - layout.slab_of(where, slab)[0]
        if words[max(0, nodes) :].any() or (words >> np.uint64(space.code.bits)).any():
            raise part.damaged(slab, "it has bits that stand for no state")
    if found != part.states:
        raise CorruptRunError(
            f"layer {files.depth}: {part.path} holds {counted(found, 'state')}, its record says "
            f"{part.states:,}"
        )


def _wrong_description(reader: RunReader, depth: int) -> str | None:
    """What is wrong with what Zarr sees of a layer."""
    files = reader.layer(depth).files
    try:
        name = f"{files.folder}/zarr.json"
        if read_json(files.storage, name) != files.metadata:
            return f"layer {depth}: {files.storage.place(name)} is not what was written there"
    except CorruptRunError as error:
        return f"layer {depth}: {error}"
    if others := files.surplus():
        other = files.storage.place(f"{files.folder}/{others[0]}")
        return f"layer {depth}: {other} is none of its parts"
    return None


def _layer_under_way(reader: RunReader, done: Verified) -> Iterator[Fault]:
    """What is wrong with the parts of the layer under way."""
    layer = StoredLayer(reader.files(len(reader.run.records)), 0)
    for task in sorted(reader.run.parts_under_way(reader.layout)):
        try:
            _whole_part(layer, task, layer.files.part(task), done)
        except CorruptRunError as error:
            yield Fault(layer.files.depth, str(error), task)


def _right_layer(
    reader: RunReader, depth: int, count: int, rng: np.random.Generator, done: Verified
) -> Iterator[str]:
    """A line for each state asked that is wrongly in the layer or wrongly missing from it.

    Asked are states drawn from the layer, and all neighbours of states drawn from the one before.
    """
    run, space, side = reader.run, reader.space, reader.space.side_of(depth)
    layer, before = reader.layer(depth), reader.layer(depth - 1)
    two_before = depth >= 2 and depth - 2 in run.stored_depths() and done.sound(depth - 2)
    inside = layer.some(count, SLABS_DRAWN, rng).tolist()
    beside = before.some(count, SLABS_DRAWN, rng).tolist()
    near = [n for number in beside for _, n in neighbours(space, space.side_of(depth - 1), number)]
    numbers = np.unique(np.array([*inside, *near], dtype=np.uint64))
    done.asked += numbers.size
    known, earlier = layer.contains(numbers), np.zeros(numbers.size, dtype=bool)
    if two_before:
        earlier |= reader.layer(depth - 2).contains(numbers)
    if space.sides == 1:
        earlier |= before.contains(numbers)
    around = [list(neighbours(space, side, int(number))) for number in numbers]
    flat = np.array([n for some in around for _, n in some], dtype=np.uint64)
    ends = np.cumsum([len(some) for some in around])
    there = np.split(before.contains(flat), ends[:-1])
    reached = np.array([some.any() for some in there])
    wrong = known & (earlier | ~reached)
    missing = ~known & reached & ~earlier & (depth < 2 or two_before)
    for i in np.flatnonzero(wrong | missing):
        how = "is missing" if missing[i] else "is there but must not be"
        yield f"layer {depth}: state {numbers[i]} {how} (in {run.layer_path(depth)})"


def neighbours(space: Space, side: int, number: int) -> Iterator[tuple[int, int]]:
    """(side, state number) of all neighbours of a state, one by one."""
    vertex, sequence = space.state(side, int(number))
    arcs = space.graph.arcs
    for arc in range(arcs.start[vertex], arcs.start[vertex + 1]):
        moved = list(sequence)
        for i in space.graph.voltages[arcs.voltage[arc]]:
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
        yield space.number(int(arcs.target[arc]), moved)
