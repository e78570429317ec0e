"""The work of a task on layers of keys: one part of the next layer, in one round.

The driver and all tasks find the same borders between the parts, quantiles of the neighbours of the
layer before. A task reads the neighbours in its range from all files of that layer, keeps those
that are in no earlier layer, and expands these new states at once. Its file has the new states and
their neighbours (delayed duplicate detection, R. E. Korf, AAAI 2004). Parts are ranges of keys, not
of hashes, because moves change few digits: most neighbours of a part belong to the same range.
"""

from itertools import pairwise
from typing import Any

from frontier.kernels.key_lists import KeyLists
from frontier.kernels.lists import united
from frontier.layers.key_files import KeyFiles, StoredKeys
from frontier.layers.reader import RunReader
from frontier.layers.task import TaskResult, Workspace, done_before, workspace_of
from frontier.puzzles.program_file import trust
from frontier.runs.stored_run import RunRef
from frontier.stopwatch import Stopwatch, preparing


def ranges(reader: RunReader, depth: int) -> list[tuple[Any, Any]]:
    """Return the ranges of keys of the parts of the layer at `depth`, from the layer before: (low,
    high), None at both ends."""
    layer = reader.layer(depth - 1)
    assert isinstance(layer, StoredKeys)  # the driver has seen to it
    return list(pairwise([None, *layer.borders(), None]))


def expand_keys(
    run_ref: RunRef, trusted: str | None, threads: int, room: int, depth: int, number: int
) -> TaskResult:
    """Compute a part of the layer at `depth`.

    trusted: the digest of the program that the user trusts. threads, room: the threads and the
    bytes of memory that the kernels may use.
    """
    prepared = preparing.seconds
    if trusted:
        trust(trusted)
    work = workspace_of(run_ref)
    with work.computing:  # one task at a time has its keys in memory
        if (result := done_before(work, depth, number)) is None:
            result = _expand(work, threads, room, depth, number)
            result.prepared = preparing.seconds - prepared
    return result


def _expand(work: Workspace, threads: int, room: int, depth: int, number: int) -> TaskResult:
    clock, kernel, space = Stopwatch(), work.lists, work.space
    assert isinstance(kernel, KeyLists)
    kernel.allow(threads, room)
    low, high = ranges(work, depth)[number]
    layer = work.layer(depth - 1)
    current, before = (work.layer(d).between(low, high) for d in (depth - 1, depth - 2))
    for earlier in range(depth - 2) if work.puzzle.model.revisits else ():
        before = united(before, work.layer(earlier).between(low, high))
    assert isinstance(layer, StoredKeys)
    found = layer.neighbours_between(low, high)
    clock.lap("disk")
    new = kernel.unseen(found, before, current)
    del found
    kernel.check_layer(new, layer.first_states)
    tally = work.counting.of_list(0, new)
    near = kernel.beside(new, current) if new.size else new
    clock.lap("kernel")
    files = work.files(depth)
    assert isinstance(files, KeyFiles)
    words = space.words_of(new), space.words_of(near)
    record = files.write_keys(number, *words, tally, work.run.durable)
    clock.lap("disk")
    return TaskResult(record, clock.seconds)
