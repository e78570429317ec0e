"""The plan of a run, made and checked before anything is written or started."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from frontier import machine
from frontier.config.loading import Config
from frontier.config.schema import default_memory
from frontier.errors import TooLarge
from frontier.executors.executor import TASKS_UNDER_WAY
from frontier.kernels.engines import engine_of, lists_of
from frontier.kernels.key_lists import PROCESS_BYTES
from frontier.kernels.shift_search import LOOK_UP_SECONDS, layer_seconds
from frontier.layers.layouts import (
    choose_layout,
    enough_memory,
    process_bytes,
    row_bytes,
    task_bytes,
)
from frontier.layers.parts import WRITER_BYTES
from frontier.layers.policy import LEAST_KEPT, Policy
from frontier.puzzles import Puzzle
from frontier.puzzles.keyed import keyed
from frontier.space.key_layout import AnyLayout, KeyLayout, layout_of
from frontier.space.keys import KeySpace
from frontier.space.layout import Layout
from frontier.space.tower_space import AnySpace, NumberedSpace
from frontier.space.words import WORD_BYTES
from frontier.text import counted, facts_html, named, size, size_to_set

SLABS_A_THREAD = 3
"""The number of slabs that a thread holds while it stores a layer from memory."""

LISTED_BYTES = 3 * 24
"""Bytes per listed state in a task that reads lists: three layers, each with its sort keys."""

LISTED_SECONDS, THIN_WORD_SECONDS = 420e-9, 1.6e-9
"""A layer is thin if its list takes less time than its bitmaps. A list takes about 130 ns of one
core for each state, and 300 ns more where it is put into bitmaps or taken from them. Tasks take
`THIN_WORD_SECONDS` for each word of a bitmap with few states. In memory, where rows without a state
are skipped, a word takes less (`layer_seconds`). Look-ups add to these times. (Measured with 2x7:
the two times are equal if there are 1/256 as many states as words from disk, 1/320 in memory.)"""

THIN_STATES, THIN_IN_MEMORY = 200_000, 1000
"""A layer of at most this many states is always made as a list, because starting a task costs more.
The second number is for layers in memory, where a step costs less to start."""

LIST_COPIES = 8
"""While the next layer is made, the lists take at most this many times the memory of a layer."""

THIN_KEYS = 1_000_000
"""Tasks make layers of keys that are larger than this."""

MOST_BY_KEYS = 10**10
"""The most states of a puzzle that is searched whole by keys because it has no numbers."""

LEAST_KEY_BYTES = 20_000_000
"""The least memory that a task on keys needs beside that of its process."""

LARGEST_MEMORY = 25 * 10**12
"""No worker has this many bytes of memory. If a puzzle needs more, the error names no size."""

MOST_STATES = 2**63
"""State numbers have 63 bits."""


class TooLittle(TooLarge):
    """A run needs more memory than its config allows, but no more than this machine has."""


@dataclass(frozen=True, repr=False)
class Plan:
    """A checked plan of a run, which a notebook shows as a table.

    Attributes
    ----------
    config
        The config of the run.
    puzzle
        The puzzle that the config describes.
    space
        The states that are searched.
    layout
        How the states are laid out in files.
    list_states
        Layers of at most this many states are made as lists.
    task_bytes
        The bytes of memory that a worker needs for the largest task, including its process.
    threads
        How many threads of one process make layers in memory; 0 if tasks make them.
    bytes_in_memory
        If tasks make layers because one process is not allowed enough memory, the bytes that it
        would need; otherwise 0.
    fresh
        True if the plan assumes that there is no run yet.
    """

    config: Config
    puzzle: Puzzle
    space: AnySpace
    layout: AnyLayout
    list_states: int
    task_bytes: int
    threads: int = 0
    bytes_in_memory: int = 0
    fresh: bool = False

    def __repr__(self) -> str:
        return (
            f"<Plan of {named(self.config.name, self.puzzle.title)}, "
            f"{self.states_in_words}; {self._mode}, {size(self.task_bytes)} a "
            f"process; {self.config.path}>"
        )

    def _repr_html_(self) -> str:
        facts = {
            "states": self.states_in_words,
            "layers": self._mode,
            "memory": f"{size(self.task_bytes)} a process",
            "directory": str(self.config.path),
        }
        return facts_html(named(self.config.name, self.puzzle.title), facts)

    @property
    def states_in_words(self) -> str:
        """The number of states, or what is known of it."""
        known = counted(self.puzzle.states, "state")
        return (
            known if self.puzzle.model.counted else f"an unknown number of states, at most {known}"
        )

    @property
    def _mode(self) -> str:
        return f"in memory, {counted(self.threads, 'thread')}" if self.in_memory else "by tasks"

    @property
    def in_memory(self) -> bool:
        """True if the driver's process holds the layers and does all the work."""
        return self.threads > 0

    @property
    def policy(self) -> Policy:
        search = self.config.search
        kept = None if search.keep == "all" else LEAST_KEPT + search.spare
        bitmaps = self.in_memory and not isinstance(self.space, KeySpace)
        return Policy(self.list_states, bitmaps, kept)

    @property
    def mode_in_words(self) -> str:
        """Where layers are during the search, and how to change that, in words."""
        if self.in_memory:
            return (
                f"in memory, by {counted(self.threads, 'thread')} of one process (by tasks, from "
                "disk to disk: search.in_memory = false)"
            )
        if not self.config.cluster.workers_here:
            return "by tasks, from disk to disk"
        if not self.config.search.in_memory:
            return "by tasks, from disk to disk (in memory: search.in_memory = true)"
        room = self.config.cluster.memory * _workers_in_one_process(self.config)
        return (
            "by tasks, from disk to disk (layers in memory would need "
            f"{size(self.bytes_in_memory)}, but only {size(room)} is allowed)"
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The identity of the run, written to its directory and compared when it is resumed."""
        return {
            **config_identity(self.config),
            "layout": self.layout.settings,
            "states": self.puzzle.states if self.puzzle.model.counted else None,
        }


def config_identity(config: Config) -> dict[str, Any]:
    """Return the part of a run's identity that its config determines."""
    return {
        "name": config.name,
        "puzzle": config.puzzle_settings,
        "keep": config.search.keep,
        "codec": config.store.codec,
    }


def with_what_is_kept(config: Config) -> Config:
    """Return the config, made to keep all layers if moves may lead to any earlier layer."""
    if not config.make_puzzle().model.revisits:
        return config
    return with_search(config, keep="all")


def with_search(config: Config, **values: Any) -> Config:
    """Return the config with other values in its [search] table."""
    return config.model_copy(update={"search": config.search.model_copy(update=values)})


def make_plan(
    config: Config, layout: dict[str, Any] | None = None, until: int | None = None
) -> Plan:
    """Plan a run; raises TooLarge if it cannot fit in memory.

    If the states cannot be searched by numbers, the plan is of a search by keys: of all layers if
    there are at most `MOST_BY_KEYS` states, otherwise of the first layers, up to `until`. layout:
    the layout settings of an existing run. until: the last depth to compute, None for all.
    """
    config = with_what_is_kept(config)
    puzzle = config.make_puzzle()
    if config.cluster.workers_here and not config.cluster.oversubscribe:
        machine.refuse_beyond(config.cluster.workers_here, config.cluster.memory)
    if puzzle.model.counted and "part_keys" not in (layout or {}):
        try:
            return _plan_numbers(config, puzzle, layout)
        except TooLittle:
            raise
        except TooLarge as error:
            if layout is not None:
                raise
            if until is None and not _few_states(puzzle):
                first = "set search.until to search only its first layers"
                raise TooLarge(f"{error}, or {first}") from None
    return _plan_keys(config, keyed(puzzle), layout)


def _few_states(puzzle: Puzzle) -> bool:
    """Return whether a puzzle without numbers is known to have few states."""
    try:
        states = puzzle.states
    except TooLarge:  # counting them would take a tower
        states = keyed(puzzle).states
    return states <= MOST_BY_KEYS


def _plan_numbers(config: Config, puzzle: Puzzle, layout: dict[str, Any] | None) -> Plan:
    """Return the plan of a run whose states have numbers."""
    space, memory = _space_of(config, puzzle), config.cluster.memory
    assert not isinstance(space, KeySpace)
    bytes_in_memory = 0
    if config.search.in_memory and config.cluster.workers_here:
        in_memory = _plan_in_memory(config, puzzle, space, layout)
        if in_memory.task_bytes <= memory * _workers_in_one_process(config):
            return in_memory
        bytes_in_memory = in_memory.task_bytes
    held = process_bytes(space)
    transfers = TASKS_UNDER_WAY * _transfer_bytes(config)
    if layout is None:
        chosen, need = choose_layout(space, memory - transfers, config.cluster.workers)
    else:
        chosen = Layout.from_settings(space, layout)
        need = task_bytes(chosen)
    need += transfers
    if need > max(memory, LARGEST_MEMORY):
        raise TooLarge(
            f"{puzzle.title} has {puzzle.states:,} states, which are out of reach: even a task of "
            f"the finest layout needs {size(need)} of memory, and a worker has at most "
            f"{size(LARGEST_MEMORY)}; choose a puzzle with fewer pieces"
        )
    if need > memory:
        which = "the layout of the existing run" if layout else "the finest layout"
        enough = need if layout else enough_memory(space, need, transfers, config.cluster.workers)
        raise _too_little(
            config,
            f"{which} of {puzzle.title} needs {size(need)} ({size(held)} for the process, "
            f"{size(need - held)} for a task)",
            enough,
        )
    work = chosen.work(0)
    seconds = work.words * THIN_WORD_SECONDS + work.look_ups * LOOK_UP_SECONDS
    # This process makes lists, on the host of its workers or on one of its own; tasks read them.
    room = min(memory, default_memory("local", 1)) - need
    most = room // max(LISTED_BYTES, lists_of(space).bytes_for(1))
    list_states = max(THIN_STATES, min(int(seconds / LISTED_SECONDS), most))
    return Plan(config, puzzle, space, chosen, list_states, need, 0, bytes_in_memory)


def _too_little(config: Config, why: str, enough: int) -> TooLarge:
    """Return the error for workers with too little memory. enough: the bytes that would suffice."""
    cluster, here = config.cluster, machine.memory()
    remedy = f"set cluster.memory to at least {size_to_set(enough)}"
    if cluster.workers_here and enough > here:
        remedy = f"this machine has {size(here)}; choose a smaller puzzle"
    elif cluster.workers_here * enough > here:
        remedy += f", with at most {counted(here // enough, 'worker')}"
    message = f"cluster.memory = {size(cluster.memory)} for each worker is too little"
    return (TooLarge if enough > here else TooLittle)(f"{message}: {why}; {remedy}")


def _space_of(config: Config, puzzle: Puzzle) -> AnySpace:
    """Return the space of a puzzle.

    Raises TooLarge if it is too large for one process of the run, or for any process.
    """
    workers = _workers_in_one_process(config)
    shape_bytes = puzzle.model.encoding.shape_bytes
    least, most = PROCESS_BYTES + shape_bytes, config.cluster.memory * workers
    if shape_bytes and least > most:
        raise _too_little(
            config,
            f"the shapes of {puzzle.title} take {size(shape_bytes)} in one process, "
            f"which may use {size(most)}",
            ceil(least / workers),
        )
    if puzzle.model.counted and puzzle.states >= MOST_STATES:
        raise TooLarge(
            f"{puzzle.title} has {puzzle.states:,} states: state numbers have 63 bits, so at "
            f"most {MOST_STATES:,} can be searched; choose a smaller puzzle"
        )
    space = puzzle.model.space
    if max(space.nodes) * space.code.half >= MOST_STATES:
        raise TooLarge(f"{puzzle.title}: its state numbers would exceed 63 bits")
    return space


def _plan_in_memory(
    config: Config, puzzle: Puzzle, space: NumberedSpace, layout: dict[str, Any] | None
) -> Plan:
    """Return the plan of a run whose layers are in the memory of one process, even if they do not
    fit.

    On this machine that process may use the memory of all workers together.
    """
    workers = _workers_in_one_process(config)
    engine = engine_of(space)
    chosen = Layout.from_settings(space, layout) if layout else engine.memory_layout(space, workers)
    need = process_bytes(space) + engine.memory_bytes(chosen)
    thread_bytes = WRITER_BYTES + SLABS_A_THREAD * chosen.slab_bytes + row_bytes(chosen)
    need += workers * (thread_bytes + _transfer_bytes(config))
    spare = config.cluster.memory * workers - need
    lists = lists_of(space)
    thin = int(layer_seconds(chosen, 0) / LISTED_SECONDS)
    most_states = space.states if lists.plain else thin
    list_states = max(THIN_IN_MEMORY, min(most_states, spare // lists.bytes_for(1)))
    return Plan(config, puzzle, space, chosen, list_states, need, workers)


def _plan_keys(config: Config, puzzle: Puzzle, layout: dict[str, Any] | None) -> Plan:
    """Return the plan of a run whose states are keys. One process makes lists while they fit in its
    memory, and tasks make larger layers."""
    space = _space_of(config, puzzle)
    assert isinstance(space, KeySpace)
    memory, workers = config.cluster.memory, _workers_in_one_process(config)
    fixed = PROCESS_BYTES + WRITER_BYTES + _transfer_bytes(config)
    if memory < fixed + LEAST_KEY_BYTES:
        why = f"a task of {puzzle.title} needs {size(fixed + LEAST_KEY_BYTES)}"
        raise _too_little(config, why, fixed + LEAST_KEY_BYTES)
    chosen = layout_of(space, layout) if layout else KeyLayout.within(space, memory - fixed)
    assert isinstance(chosen, KeyLayout)
    here = bool(config.search.in_memory and config.cluster.workers_here)
    room = memory * workers if here else memory
    lists = (room - fixed) // (WORD_BYTES * space.words * LIST_COPIES)
    if not here:
        lists = min(lists, THIN_KEYS, chosen.part_keys // space.most)
    return Plan(config, puzzle, space, chosen, lists, room, workers if here else 0)


def _workers_in_one_process(config: Config) -> int:
    """Return the number of workers whose memory and cores one process may use."""
    local = config.cluster.kind == "local" and config.search.in_memory
    return config.cluster.workers if local else 1


def _transfer_bytes(config: Config) -> int:
    """Return the bytes in transit between an object store and one task."""
    return config.storage.transfer_bytes
