"""A look at the files of a run that takes no time: whether they are there, not what they hold."""

from frontier.errors import CorruptRunError, InputError
from frontier.store.run import RunStore

MOST_CHUNKS = 4000
"""That are looked at; `frontier.search.verify` looks at all, and into them."""


def glance(run: RunStore) -> list[str]:
    """What is missing of the stored layers or is not as long as it was, the last layers first.

    The run may be under way meanwhile.
    """
    faults, chunks = [], 0
    for depth in reversed(run.stored_depths()):
        found, seen = _glance_at(run, depth)
        # The ledger forgets a layer before its files go.
        if found and _is_stored(run, depth):
            faults += found
        chunks += seen
        if chunks > MOST_CHUNKS:
            break
    return faults


def _glance_at(run: RunStore, depth: int) -> tuple[list[str], int]:
    """Of a layer: faults, and how many chunks it has."""
    try:
        chunks = run.layer(depth).manifest.chunks
    except CorruptRunError as error:
        return [str(error)], 0
    faults = []
    if len(chunks) <= MOST_CHUNKS:
        for key, (_, size, _) in chunks.items():
            file = run.layer_path(depth) / key
            try:
                there = file.stat().st_size
            except OSError as error:
                faults.append(f"{file} cannot be found ({error.strerror})")
                continue
            if there != size:
                faults.append(f"{file} has {there:,} bytes, not {size:,}")
    return faults, len(chunks)


def _is_stored(run: RunStore, depth: int) -> bool:
    try:
        return depth in RunStore.open(run.path).stored_depths()
    except InputError:  # deleted
        return False
