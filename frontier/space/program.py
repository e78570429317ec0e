"""The slabs that a task reads and the origins of its rows, as tables for the kernel.

For an arc u -> v with voltage w, the layer at v gains w(cur[u]). Let K be the number of digits that
are fixed in a row. There are three kinds of voltage:

* all swaps before K: a row of v is a whole row of u, perhaps under another prefix;
* all swaps after K: a row of v is the same row of u with bits moved inside it;
* swaps on both sides: a row of v consists of stretches, each from some row of u. The swaps after K
  that can wait (`split_voltage`) are then done on the assembled row.

So every voltage is a table (prefix and row and stretch of the target -> *slot* of the slab that it
comes from, place in that slab) and a list of swaps to do inside the row afterwards. The kernel
knows nothing else about the puzzle. The slabs in these tables are exactly those that the task
needs.

If voltages into one node end in the same swaps, the kernel does these once, on the union of all
rows that need them. Flips of two, three and four pancakes are the swaps 0, 0 1 0 and 0 1 2 0 1 0,
and their union is

    swap 0 (x | swap 1 (swap 0 (y | swap 2 (swap 1 (swap 0 (z)))))),

which takes six passes over a row instead of ten.
"""

from collections.abc import Sequence
from itertools import takewhile
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from frontier.space.graph import Space
from frontier.space.layout import Layout, Task, digits_moved, split_voltage
from frontier.space.lehmer import digit_sum, swapped
from frontier.space.swaps import (
    GATHER,
    NOTHING,
    STRETCHES,
    gather_table,
    stretch_words,
    swap_kind,
    word_parities,
)

FIRST_PLACE, STRETCH_COUNT, STRETCH_WORDS, FIRST_SWAP, LAST_SWAP = range(5)
"""The columns of `Program.voltages`."""

SLOT, ROW, WORD = range(3)
"""The columns of `Program.places`."""

POSITION, ODD = range(2)
"""The columns of `Program.swaps`."""

KIND, RADIX, NEXT_RADIX, SWAP_WORDS, TABLE_BEGIN, TABLE_END = range(6)
"""The columns of `Swaps.positions`."""


class Program(NamedTuple):
    """Tables for one task, with S slots, N stacks of source nodes, A arcs and W voltages.

    slots: int64[S], sorted; the leading digits that are fixed in a slab, as one number, for each
        slab that rows come from. own_slots: int64, the places in `slots` of the slabs of one of the
        task's nodes under all of its prefixes; empty if the lift is bipartite.
    stacks: int64[N], sorted; the numbers of the stacks that hold a source node. The nodes of stack
        s begin with s * layout.slab_nodes.
    sign: int64[nodes of the task], their signs.
    needed: bool[N, S], True for the slabs that some row of the task comes from.
    start, stack, row, voltage: arcs into the task's nodes. Arcs start[i] .. start[i+1]-1 enter node
        i of the task. They come from stacks[stack] and have the voltage of that number. stack, row:
        uint32. row: the row of a slab where the source node begins. Arcs whose swaps inside the row
        end alike are consecutive, those with more swaps first.
    alike: int8[A], how many of its last swaps an arc shares with the next arc into its node.
    own: int32[nodes of the task, 2], the stack and the row of the node itself, used if the lift is
        not bipartite (a layer may then neighbour itself); otherwise -1.
    voltages: int64[W, 5]: the FIRST_PLACE of a voltage in `places`, the STRETCH_COUNT of a row, the
        STRETCH_WORDS, and where the swaps of the voltage inside the row begin and end in `swaps`
        (FIRST_SWAP, LAST_SWAP).
    places: int32[P, 3]: the SLOT, the ROW in its slab and the WORD in this row from which a stretch
        comes. Rows are counted through all of the task's prefixes, and stretch b of row r is at
        FIRST_PLACE + r * STRETCH_COUNT + b.
    swaps: int64[K, 2]: the POSITION of each swap, and the parity of the number of swaps of its
        voltage from this one to the last (ODD).
    row_odd: int64[rows], parity of the digits that number a row.
    """

    slots: np.ndarray
    own_slots: np.ndarray
    stacks: np.ndarray
    sign: np.ndarray
    needed: np.ndarray
    start: np.ndarray
    stack: np.ndarray
    row: np.ndarray
    voltage: np.ndarray
    alike: np.ndarray
    own: np.ndarray
    voltages: np.ndarray
    places: np.ndarray
    swaps: np.ndarray
    row_odd: np.ndarray

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self)

    @property
    def look_ups(self) -> int:
        """The number of stretches that all rows look up; see `Work`."""
        return self.row_odd.size * int(self.voltages[self.voltage, STRETCH_COUNT].sum())


class Reads(NamedTuple):
    """The slabs of the current layer that a task reads if they exist: E entries for the B bands of
    `Layout.bands`.

    task, slab: int64[E], the task whose part has the slab, and the slab's number there.
    slot: int64[E], the place of the slab's slot in `Program.slots`.
    stack: int64[E], the place in `Program.stacks` of the stack of nodes that the slab has.
    band_start, entry: int64[B + 1] and int64; band b needs the entries entry[band_start[b]] ..
        entry[band_start[b+1]-1], which are sorted.
    next_band: for each member of `entry`, the next band that needs the same entry, B if none does.
    """

    task: np.ndarray
    slab: np.ndarray
    slot: np.ndarray
    stack: np.ndarray
    band_start: np.ndarray
    entry: np.ndarray
    next_band: np.ndarray

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self)


def reads_of(layout: Layout, task: Task, program: Program) -> Reads:
    """Return the slabs of the current layer that a task reads, if they exist."""
    side = (task.side - 1) % layout.space.sides
    stack, slot = np.nonzero(program.needed)
    prefix, cut = np.divmod(program.slots[slot], layout.cuts)
    node = program.stacks[stack] * layout.slab_nodes
    tasks, slabs, _ = layout.slab_at(side, node, prefix, cut)
    entry = np.full(program.needed.shape, -1)
    entry[stack, slot] = np.arange(stack.size)
    bands = _bands(layout, task, program, entry)
    return Reads(
        task=tasks,
        slab=slabs,
        slot=np.ascontiguousarray(slot),  # a kernel is compiled for each memory layout
        stack=np.ascontiguousarray(stack),
        **in_bands(bands, slabs.size),
    )


def in_bands(bands: Sequence[np.ndarray], entries: int) -> dict[str, np.ndarray]:
    """Return the fields of `Reads` that describe bands. Each band is given by the entries that it
    needs. entries: the number of all entries."""
    following, soonest = [], np.full(entries, len(bands))
    for band in reversed(range(len(bands))):
        following.append(soonest[bands[band]])
        soonest[bands[band]] = band
    none = np.empty(0, dtype=np.int64)
    return {
        "band_start": np.cumsum([0, *(band.size for band in bands)]),
        "entry": np.concatenate([none, *bands]),
        "next_band": np.concatenate([none, *reversed(following)]),
    }


def _bands(layout: Layout, task: Task, program: Program, entry: np.ndarray) -> list[np.ndarray]:
    """Return the entries that each band needs.

    entry: int64[stacks, slots], the number of the entry, -1 if there is none.
    """
    p, prefixes = program, task.last_prefix - task.first_prefix
    kinds: dict[tuple[bytes, ...], tuple[int, list[np.ndarray]]] = {}  # slots under each prefix
    kind_of = np.zeros(len(p.voltages), dtype=np.int64)
    for w in np.unique(p.voltage).tolist():
        begin, stretches = p.voltages[w, FIRST_PLACE], p.voltages[w, STRETCH_COUNT]
        places = p.places[begin : begin + prefixes * layout.rows * stretches, SLOT]
        slots = [_different(of_prefix) for of_prefix in places.reshape(prefixes, -1)]
        key = tuple(of_prefix.tobytes() for of_prefix in slots)
        kind_of[w], _ = kinds.setdefault(key, (len(kinds), slots))
    slots_of = [*(slots for _, slots in kinds.values()), p.own_slots.reshape(-1, layout.cuts)]
    # Pair each target stack once with each stack of sources and the slots that it reads there.
    stacks, count = len(entry), len(slots_of)
    target = np.arange(len(task.nodes)) // layout.slab_nodes
    keys = (np.repeat(target, np.diff(p.start)) * stacks + p.stack) * count + kind_of[p.voltage]
    if len(p.own_slots):
        keys = np.append(keys, (target * stacks + p.own[:, 0]) * count + count - 1)
    target, pairs = np.divmod(np.unique(keys), stacks * count)
    bounds = np.searchsorted(target, np.arange(layout.grid[0] + 1)).tolist()
    pairs, bands = pairs.tolist(), []
    for first, _, prefix, _ in layout.bands(task):
        stack = first // layout.slab_nodes
        parts = [
            entry[pair // count, slots_of[pair % count][prefix]]
            for pair in pairs[bounds[stack] : bounds[stack + 1]]
        ]
        bands.append(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts])))
    return bands


class Swaps(NamedTuple):
    """The action of each swap inside a row, for the kernel.

    positions: int64[positions, 6]: for the swap of i and i+1, its KIND, the radices of its digits
        (RADIX, NEXT_RADIX), the words of a stretch (SWAP_WORDS), and where its table begins and
        ends in `table` (TABLE_BEGIN, TABLE_END); 0 where the kind has none.
    table: uint32.
    parities: uint64[words of a row], all ones where the digits of a word are odd.
    """

    positions: np.ndarray
    table: np.ndarray
    parities: np.ndarray


def swaps_of(layout: Layout[Space]) -> Swaps:
    code = layout.space.code
    positions = np.zeros((max(code.length - 1, 0), 6), dtype=np.int64)
    table = np.empty(0, np.uint32)
    for i, row in enumerate(positions):
        row[KIND] = kind = swap_kind(code, i)
        if kind in (STRETCHES, GATHER):
            row[RADIX], row[NEXT_RADIX] = code.radices[i], code.radices[i + 1]
            row[SWAP_WORDS] = stretch_words(code, i)
        if kind == GATHER and i >= layout.row_digits:
            row[TABLE_BEGIN] = table.size
            table = np.append(table, gather_table(code, i))
            row[TABLE_END] = table.size
    return Swaps(positions, table, word_parities(code, layout.row_words))


def program_of(layout: Layout[Space], task: Task) -> Program:
    """Return the tables of one task."""
    space = layout.space
    nodes = np.arange(task.first_node, task.last_node)
    start, arc_source, arc_voltage = space.arcs_into(task.side, task.nodes)
    used = np.flatnonzero(np.bincount(arc_voltage))
    inner = [_swaps_inside(layout, voltage) for voltage in space.graph.voltages]
    order = _order(start, arc_voltage, used, inner)
    arc_source, arc_voltage = arc_source[order], arc_voltage[order]
    origins = [_origin_of_rows(layout, task, space.graph.voltages[w]) for w in used]

    bipartite = space.sides == 2
    back, cut_rows = (task.side - 1) % space.sides, layout.rows // layout.cuts
    arc_stack = arc_source // layout.slab_nodes
    inside = arc_source - arc_stack * layout.slab_nodes  # faster than a remainder
    own_stack, own_inside = np.divmod(nodes, layout.slab_nodes)
    read = np.zeros(ceil(space.nodes[back] / layout.slab_nodes), dtype=bool)
    read[arc_stack] = True
    if not bipartite:
        read[own_stack] = True
    place = np.cumsum(read, dtype=np.int32) - 1
    own_numbers = np.arange(task.first_prefix * layout.cuts, task.last_prefix * layout.cuts)
    own_numbers = own_numbers[: 0 if bipartite else None]
    reached = [_different(origin.slab) for origin in origins]
    slots = np.unique(np.concatenate([*reached, own_numbers]))
    stack = place[arc_stack]
    needed = np.zeros((np.count_nonzero(read), slots.size), dtype=bool)
    for w, slabs in zip(used, reached, strict=True):
        leave = np.bincount(stack[arc_voltage == w], minlength=len(needed)) > 0
        needed[np.ix_(leave, np.searchsorted(slots, slabs))] = True
    own = np.full((nodes.size, 2), -1, dtype=np.int32)
    if not bipartite:
        own[:, 0], own[:, 1] = place[own_stack], own_inside * cut_rows
        needed[np.ix_(np.unique(own[:, 0]), np.searchsorted(slots, own_numbers))] = True

    rows = np.arange(task.first_prefix * layout.rows, task.last_prefix * layout.rows)
    voltages = np.zeros((len(space.graph.voltages), 5), dtype=np.int64)
    sizes = np.array([origin.slab.size for origin in origins], dtype=np.int64)
    voltages[used, FIRST_PLACE] = np.cumsum(sizes) - sizes
    voltages[used, STRETCH_COUNT] = stretches = sizes // rows.size
    voltages[used, STRETCH_WORDS] = layout.row_words // stretches
    ends = np.cumsum([0, *(len(swaps) for swaps in inner)])
    voltages[:, FIRST_SWAP], voltages[:, LAST_SWAP] = ends[:-1], ends[1:]
    places = [
        np.stack([np.searchsorted(slots, origin.slab), origin.row, origin.word], 1)
        for origin in origins
    ]
    return Program(
        slots=slots,
        own_slots=np.searchsorted(slots, own_numbers),
        stacks=np.flatnonzero(read),
        sign=space.sign[task.side][nodes].astype(np.int64),
        needed=needed,
        start=start,
        stack=stack.astype(np.uint32),
        row=(inside * cut_rows).astype(np.uint32, copy=False),
        voltage=arc_voltage,
        alike=_alike(start, arc_voltage, used, inner),
        own=own,
        voltages=voltages,
        places=np.concatenate([np.empty((0, 3)), *places]).astype(np.int32),
        swaps=np.array([swap for swaps in inner for swap in swaps], np.int64).reshape(-1, 2),
        row_odd=digit_sum(rows, space.code.leading[: layout.row_digits]) % 2,
    )


def _swaps_inside(layout: Layout[Space], voltage: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return (position, parity of the number of swaps from this one to the last) of each swap to do
    inside a row."""
    code = layout.space.code
    _, inner = split_voltage(voltage, layout.row_digits)
    inner = last_first(inner)
    return [
        (i, remaining % 2)
        for remaining, i in zip(range(len(inner), 0, -1), inner, strict=True)
        if swap_kind(code, i) != NOTHING
    ]


def last_first(word: Sequence[int]) -> tuple[int, ...]:
    """Return swaps whose product is that of a word. They bring the right member to the last place
    first, then the right member to the place before it, and so on.

    The swaps are as few as possible. The fewer leading places a permutation moves, the shorter its
    word, and one word is often the end of another.
    """
    row = list(range(max(word, default=-1) + 2))
    for i in word:
        row[i], row[i + 1] = row[i + 1], row[i]
    current, swaps = list(range(len(row))), []
    for place in reversed(range(len(row))):
        for i in range(current.index(row[place]), place):
            current[i], current[i + 1] = current[i + 1], current[i]
            swaps.append(i)
    return tuple(swaps)


def _order(
    start: np.ndarray, voltage: np.ndarray, used: np.ndarray, inner: Sequence[list]
) -> np.ndarray | slice:
    """Return an order of the arcs by their swaps inside the row: arcs that end alike follow one
    another, the longer first. Node i has the arcs start[i] .. start[i+1]-1."""
    ends = [inner[w][-1] for w in used if inner[w]]
    if len(set(ends)) == len(ends):
        return slice(None)
    rank = np.zeros(len(inner), dtype=np.int64)
    words = {w: (*reversed(inner[w]), (np.inf, 0)) for w in used.tolist()}
    number = {word: i for i, word in enumerate(sorted(set(words.values())))}
    rank[used] = [number[words[w]] for w in used.tolist()]
    node = np.repeat(np.arange(start.size - 1), np.diff(start))
    return np.lexsort((rank[voltage], node))


def _alike(
    start: np.ndarray, voltage: np.ndarray, used: np.ndarray, inner: Sequence[list]
) -> np.ndarray:
    """Return for each arc how many of its last swaps it shares with the next arc into its node,
    int8."""
    alike = np.zeros(voltage.size, dtype=np.int8)
    ends = [inner[w][-1] for w in used if inner[w]]
    if len(set(ends)) == len(ends):
        return alike
    pairs = voltage[:-1].astype(np.int64) * len(inner) + voltage[1:]
    different, place = np.unique(pairs, return_inverse=True)
    common = [
        _common_end(inner[w], inner[v])
        for w, v in (divmod(p, len(inner)) for p in different.tolist())
    ]
    alike[:-1] = np.array([*common, 0], dtype=np.int8)[place]
    alike[start[1:][start[1:] > 0] - 1] = 0
    return alike


def _common_end(one: list, other: list) -> int:
    """Return how many members at the end of two lists are the same."""
    same = (a == b for a, b in zip(reversed(one), reversed(other), strict=False))
    return sum(takewhile(bool, same))


class _Origin(NamedTuple):
    """Where each stretch of each row of a task comes from: the slab, numbered as in
    `Program.slots`, the row in it, and the word in this row."""

    slab: np.ndarray
    row: np.ndarray
    word: np.ndarray


def _origin_of_rows(layout: Layout, task: Task, voltage: tuple[int, ...]) -> _Origin:
    leading = layout.space.code.leading
    outer, _ = split_voltage(voltage, layout.row_digits)
    digits = digits_moved(outer, layout.row_digits)
    per_prefix = prod(leading[layout.prefix_digits : digits])
    per_slab, per_row = per_prefix // layout.cuts, prod(leading[layout.row_digits : digits])
    origin = np.arange(task.first_prefix * per_prefix, task.last_prefix * per_prefix)
    for i in reversed(outer):
        origin = swapped(origin, leading[i], leading[i + 1], prod(leading[i + 2 : digits]))
    row, stretch = np.divmod(origin % per_slab, per_row)
    return _Origin(origin // per_slab, row, stretch * prod(leading[digits:]))


def _different(numbers: np.ndarray) -> np.ndarray:
    """Return the distinct numbers, sorted. The function is fast if equal numbers follow one
    another."""
    return np.unique(numbers[np.diff(numbers, prepend=-1) != 0])
