"""Checks whether a run directory holds what the run wrote, and whether its layers are right.

*Whole*: the ledger and the records match their digests and each other. Each part of a layer exists,
is the one that was written, and holds as many states as its record says. The search does not read
``zarr.json``, which describes layers to other programs; the check only notes where it is wrong.

*Right* (`deep`): the check draws states at random from a layer, and from the neighbours of the
layer before it, and tests each against the definition of a layer: a state lies at depth t if and
only if some neighbour lies at depth t - 1 and the state itself lies at neither t - 1 nor t - 2. The
check finds neighbours one by one from the base graph's arcs, on sequences, in plain Python, without
the kernels that made the layer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from frontier.errors import CorruptRunError
from frontier.kernels.engines import lists_of
from frontier.layers.key_files import StoredKeys
from frontier.layers.parts import Part, digest_of
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer
from frontier.runs.checks import COPY, SUMS, Checks, Fault, faults_of_copies_and_summary
from frontier.runs.copies import COPIES, LEDGER
from frontier.space.tower_space import AnySpace
from frontier.text import counted, size

SLABS_DRAWN = 32
"""States are drawn from at most this many slabs of a layer."""

LISTED = 1 << 16
"""So many states are expanded at a time."""


@dataclass
class Verified(Checks):
    """What was checked, and the faults.

    layers, parts, bytes: how much is on disk. positions: how many were checked against the
    definition of a layer. depth_being_replaced: the layer whose parts the layer under way has begun
    to replace. notes: which files that only other programs read are wrong.
    """

    layers: int = 0
    parts: int = 0
    bytes: int = 0
    positions: int = 0
    depth_being_replaced: int | None = None

    @property
    def in_words(self) -> str:
        looked = f"{counted(self.layers, 'layer')} on disk, {counted(self.parts, 'part')}"
        looked += f", {size(self.bytes)}"
        if not self.positions:
            return looked
        return f"{looked}; {counted(self.positions, 'position')} checked against the definition"

    def sound(self, depth: int) -> bool:
        """Return whether the search can build on a layer."""
        return all(fault.depth != depth for fault in self.faults)


def verify(
    run: LayerRun, deep: int = 0, seed: int = 0, say: Callable[[str], None] = lambda text: None
) -> Verified:
    """Check all files of a run.

    deep: check this many states of each layer, and the neighbours of the same number of states of
    the layer before, against the definition of a layer. say: called with the name of each layer
    before it is checked. Raises NotAFile if something else has the name of a file of the run.
    """
    reader, done, stored = RunReader(run), Verified(), run.stored_depths()
    done.faults += _faults_outside(run)
    for depth in stored:
        say(f"layer {depth}")
        done.layers += 1
        done.faults += [Fault(depth, message) for message in _whole_layer(reader, depth, done)]
    if not run.complete:
        done.faults += _layer_under_way(reader, done)
    done.notes += [
        f"{run.storage.place(name)} is missing or corrupt. The search does not read it; `repair` "
        "rewrites it for other programs that read the layers"
        for name in (reader.wrong_descriptions(filter(done.sound, stored)) if run.records else ())
    ]
    rng = np.random.default_rng(seed)
    for depth in stored if deep else ():
        whole = all(done.sound(d) and d != done.depth_being_replaced for d in (depth, depth - 1))
        if depth - 1 in stored and whole:
            say(f"layer {depth}: {counted(deep, 'state')} and the neighbours of as many")
            done.faults += [Fault(depth, w) for w in _right_layer(reader, depth, deep, rng, done)]
    return done


def _faults_outside(run: LayerRun) -> Iterator[Fault]:
    """Generate the faults outside the layers. The layers of the ledger must add up, the copies must
    match their originals, and the summary must be as it was written."""
    storage, counted_states, states = run.storage, run.states, run.identity["states"]
    if states and (counted_states > states or (run.complete and counted_states != states)):
        holds = f"its layers hold {counted(counted_states, 'state')}, but the puzzle has {states:,}"
        yield Fault(SUMS, f"{storage.place(LEDGER)}: {holds}")
    damages = list(faults_of_copies_and_summary(run))
    yield from damages
    if run.records and all(fault.depth != COPY for fault in damages):
        pairs = zip(run.records, run.copied_records(), strict=False)  # a copy may lack one commit
        apart = next((mine.depth for mine, copy in pairs if mine.chain != copy.chain), None)
        if apart is not None:
            yield Fault(
                SUMS,
                f"{storage.place(LEDGER)} and {storage.place(COPIES[LEDGER])} differ in layer "
                f"{apart}: one of them was changed. When the run resumes, it rewrites the copy "
                "with its next layer",
            )


def _whole_layer(reader: RunReader, depth: int, done: Verified) -> Iterator[str]:
    """Generate messages about parts of a layer that are missing or damaged."""
    run, layer = reader.run, reader.layer(depth)
    record, files, records = run.records[depth], layer.files, []
    files.check_folder()
    fading = not layer.is_list and depth + 2 == len(run.records)
    for task in files.tasks:
        try:
            part = files.part(task)
            _whole_part(layer, task, part, done)
            records.append(part.record)
        except CorruptRunError as error:
            # Look for it only now, because a task may finish meanwhile.
            if fading and not files.has_part(task) and reader.files(depth + 2).has_part(task):
                done.depth_being_replaced = depth
            else:
                yield str(error)
    if len(records) < len(files.tasks):
        return
    if digest_of(records) != record.digest:
        yield f"layer {depth}: the parts in {files.place} do not match the ledger"
    if (states_held := sum(part.states for part in records)) != record.states:
        yield (
            f"layer {depth}: the parts in {files.place} hold {counted(states_held, 'state')}, but "
            f"the ledger lists {record.states:,}"
        )


def _whole_part(layer: StoredLayer, task: int, part: Part, done: Verified) -> None:
    """Raise CorruptRunError if a part of a layer is missing or damaged."""
    files, layout, states_held = layer.files, layer.files.layout, 0
    space = layout.space
    done.parts += 1
    done.bytes += part.record.bytes
    part.check()
    if layer.is_list:
        numbers = layer.numbers()
        if (numbers[1:] <= numbers[:-1]).any() or not space.has_numbers(files.side, numbers):
            raise CorruptRunError(
                f"layer {files.depth}: {part.path} is not an ascending list of states of the puzzle"
            )
        return
    if isinstance(layer, StoredKeys):
        layer.check_lists(task)
        return
    task_place = layout.task(files.side, task)
    for slab, words in layer.decoded(task, part.slabs):
        states_held += int(np.bitwise_count(words).sum())
        if layout.has_strays(task_place, slab, words):
            raise part.damaged(slab, "it sets bits that represent no state")
    if states_held != part.states:
        raise CorruptRunError(
            f"layer {files.depth}: {part.path} holds {counted(states_held, 'state')}, but its "
            f"record says {part.states:,}"
        )


def _layer_under_way(reader: RunReader, done: Verified) -> Iterator[Fault]:
    """Generate the faults of the parts of the layer under way."""
    layer = reader.open_layer(len(reader.run.records))
    layer.files.check_folder()
    for task in sorted(reader.run.parts_under_way(reader.layout)):
        try:
            _whole_part(layer, task, layer.files.part(task), done)
        except CorruptRunError as error:
            yield Fault(layer.files.depth, str(error), task)


def _right_layer(
    reader: RunReader, depth: int, count: int, rng: np.random.Generator, done: Verified
) -> Iterator[str]:
    """Generate a message for each state that is wrongly in the layer or wrongly missing from it.

    It checks states drawn from the layer, and all neighbours of states drawn from the layer before.
    """
    run, space = reader.run, reader.space
    side, side_before = space.side_of(depth), space.side_of(depth - 1)
    layer, before = reader.layer(depth), reader.layer(depth - 1)
    two_before = depth >= 2 and depth - 2 in run.stored_depths() and done.sound(depth - 2)
    inside = layer.sample(count, SLABS_DRAWN, rng).tolist()
    beside = before.sample(count, SLABS_DRAWN, rng).tolist()
    near = [n for number in beside for _, n in space.neighbours(side_before, number)]
    numbers = np.unique(np.array([*inside, *near], dtype=space.dtype))
    done.positions += numbers.size
    contained, earlier = layer.contains(numbers), np.zeros(numbers.size, dtype=bool)
    if not space.undone:  # a move may lead to any earlier layer
        two_before = all(map(done.sound, range(depth - 1)))
    for back in range(depth - 2, -1 if not space.undone else depth - 3, -1) if two_before else ():
        earlier |= reader.layer(back).contains(numbers)
    if space.sides == 1:
        earlier |= before.contains(numbers)
    reached = _reached(space, side, before, numbers)
    wrong = contained & (earlier | ~reached)
    missing = ~contained & reached & ~earlier & (depth < 2 or two_before)
    for i in np.flatnonzero(wrong | missing):
        fault_text = "is missing" if missing[i] else "does not belong there"
        yield f"layer {depth}: state {numbers[i]} {fault_text} (in {run.layer_path(depth)})"


def _reached(space: AnySpace, side: int, before: StoredLayer, numbers: np.ndarray) -> np.ndarray:
    """Return whether a move leads from the layer before to each of some states, bool[N]."""
    if not space.undone:  # nothing lists the moves back
        lists, listed, reached = lists_of(space), before.numbers(), np.zeros(numbers.size, bool)
        for first in range(0, listed.size, LISTED):
            near, _ = lists.neighbours(0, listed[first : first + LISTED])
            reached |= np.isin(numbers, near)
        return reached
    around = [list(space.neighbours(side, number)) for number in numbers.tolist()]
    flat = np.array([n for some in around for _, n in some], dtype=space.dtype)
    ends = np.cumsum([len(some) for some in around])
    return np.array([some.any() for some in np.split(before.contains(flat), ends[:-1])])
