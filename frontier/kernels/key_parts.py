"""One layer of keys after another, part by part.

The states of a layer are expanded block by block, by several threads. Each block scatters its
neighbours into *parts*, ranges of the key with borders at quantiles of the layer. A hash table for
each part, small enough for the cache, first takes in the part's last two layers, and then keeps
each neighbour that it does not have (delayed duplicate detection, R. E. Korf, AAAI 2004, and
Linear-Time Disk-Based Implicit Graph Search, Journal of the ACM 55, 2008). The new states of a part
are sorted; the parts one after the other are the next layer.
"""

from collections.abc import Callable, Sequence
from math import ceil
from threading import Thread
from typing import Any

import numpy as np

from frontier.jit import kernel
from frontier.space.keys import NO_KEY, keys_of
from frontier.space.words import lowest_bit

PART_KEYS, MOST_PARTS = 64_000, 4096
"""About as many keys are in a part: their hash table fits in a core's cache. The most parts."""

FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number that spreads keys over a hash table."""


class Parts:
    """The ranges of keys into which the neighbours of a layer are divided.

    layers: the last two layers, uint64[N, words], sorted. like: sorted keys, whose quantiles are
    the borders. parts: the number of ranges.
    """

    def __init__(self, layers: tuple[np.ndarray, np.ndarray], like: np.ndarray, parts: int):
        self._layers = layers
        firsts = [len(like) * part // parts for part in range(1, parts)]
        self._borders, self._parts = like[firsts], parts
        self._low, high = like[0, 0], like[-1, 0]
        bits = parts.bit_length() + 5
        self._shift = np.uint64(max(0, int(high - self._low).bit_length() - bits))
        # The key of the border after part p lies in bucket `bucket[p]`, a range of leading bits.
        bucket = ((self._borders[:, 0] - self._low) >> self._shift).astype(np.int64)
        self._first = np.searchsorted(bucket, np.arange((1 << bits) + 1)).astype(np.uint16)

    def next_layer(
        self,
        words: np.ndarray,
        listed: Callable[[np.ndarray], np.ndarray],
        most: int,
        threads: int,
        block: int,
        wave: int,
        check: Callable[[int], None],
    ) -> np.ndarray:
        """Return the neighbours that are in neither layer, each once, sorted.

        words: the states whose neighbours are wanted. listed: returns the neighbours of some of
        them. most: the most neighbours of a state. block: the number of states that a thread
        expands at a time. wave: the number of states whose neighbours are in memory at a time.
        check: raises an error if memory has no room for a number of keys.
        """
        width = words.shape[1]
        cuts = [self._cuts(layer) for layer in self._layers]
        found = [np.empty((0, width), np.uint64)] * self._parts
        wave = min(wave, len(words))
        room = np.empty((wave * most, width), np.uint64)

        def scatter(first: int) -> np.ndarray:
            """Write the neighbours of a block, part after part, and return where parts begin."""
            keys = listed(words[first : min(first + block, stop)])
            begin, offset = np.empty(self._parts + 1, np.int64), (first - start) * most
            out = room[offset : offset + len(keys)]
            part, at = np.empty(len(keys), np.uint16), np.empty_like(begin)
            _scatter(keys, self._borders, self._first, self._low, self._shift, part, at, out, begin)
            return begin + offset

        def take_in(part: int) -> np.ndarray:
            """Return the new states of a part."""
            seen = [
                layer[cut[part] : cut[part + 1]]
                for layer, cut in zip(self._layers, cuts, strict=True)
            ]
            seen.append(found[part])
            count = int((begins[:, part + 1] - begins[:, part]).sum())
            slots = 1 << max(4, ceil(1.5 * (count + sum(map(len, seen)))).bit_length())
            table, out = np.empty((slots, width), np.uint64), np.empty((count, width), np.uint64)
            new = out[: _new_keys(room, begins, part, *seen, table, out)].copy()
            return np.concatenate([found[part], new]) if len(found[part]) else new

        for start in range(0, len(words), wave):
            stop = min(start + wave, len(words))
            begins = np.array(spread(threads, scatter, range(start, stop, block)))
            found = spread(threads, take_in, range(self._parts))
            check(2 * sum(map(len, found)) + len(room) + sum(map(len, self._layers)))
        return np.concatenate(spread(threads, ordered, found))

    def _cuts(self, layer: np.ndarray) -> np.ndarray:
        """Return where the parts begin in a sorted layer, and its length."""
        at = np.searchsorted(keys_of(layer), keys_of(self._borders))
        return np.array([0, *at.tolist(), len(layer)])


def spread(threads: int, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return the results of a function for some items, computed by several threads.

    The calling thread only waits, and the others never keep the process from ending: a function of
    the user may run for ever, and Ctrl-C must still end it.
    """
    results, waiting, errors = [None] * len(items), iter(range(len(items))), list[BaseException]()

    def work() -> None:
        for i in waiting:  # a range's iterator gives each number to one thread only
            try:
                results[i] = function(items[i])
            except BaseException as error:
                errors.append(error)
            if errors:
                return

    workers = [Thread(target=work, daemon=True) for _ in range(min(threads, len(items)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return results


def ordered(words: np.ndarray) -> np.ndarray:
    """Return keys, uint64[N, words], sorted."""
    if words.shape[1] == 1:
        words[:, 0].sort()
        return words
    return words[np.argsort(keys_of(words))]


@kernel
def _scatter(keys, borders, first, low, shift, part, at, out, begin):
    """Write keys to `out`, part after part, their parts to `part`, and where each part begins to
    `begin`. at: int64[parts + 1], overwritten."""
    parts, words, last = borders.shape[0] + 1, keys.shape[1], np.uint64(first.size - 2)
    for p in range(parts + 1):
        begin[p] = 0
    for i in range(keys.shape[0]):
        bucket = np.uint64(0)
        if keys[i, 0] > low:
            bucket = min((keys[i, 0] - low) >> shift, last)
        # Its part is the number of borders that are not above the key.
        a, b = np.int64(first[bucket]), np.int64(first[bucket + np.uint64(1)])
        while a < b:
            middle, w = (a + b) >> 1, 0
            while w < words - 1 and borders[middle, w] == keys[i, w]:
                w += 1
            if borders[middle, w] <= keys[i, w]:
                a = middle + 1
            else:
                b = middle
        part[i] = a
        begin[a + 1] += 1
    for p in range(parts):
        begin[p + 1] += begin[p]
        at[p] = begin[p]
    for i in range(keys.shape[0]):
        to = at[part[i]]
        for w in range(words):
            out[to, w] = keys[i, w]
        at[part[i]] += 1


@kernel
def _new_keys(keys, begins, part, before, current, found, table, out):
    """Write the keys of a part that are in none of three lists to `out`, each once, and return
    their number.

    begins: int64[blocks, parts + 1], where the parts of each block begin in `keys`. table: 2^n
    rows, more than there are keys.
    """
    size = np.uint64(table.shape[0])
    shift, mask, count = np.uint64(64 - lowest_bit(size)), size - np.uint64(1), 0
    for i in range(table.shape[0]):
        table[i, 0] = NO_KEY
    if keys.shape[1] > 1:
        return _new_long_keys(keys, begins, part, before, current, found, table, out, shift)
    for seen in (before, current, found):
        for i in range(seen.shape[0]):
            at = (seen[i, 0] * FACTOR) >> shift
            while table[at, 0] != NO_KEY:
                at = (at + np.uint64(1)) & mask
            table[at, 0] = seen[i, 0]
    for block in range(begins.shape[0]):
        for i in range(begins[block, part], begins[block, part + 1]):
            key = keys[i, 0]
            at = (key * FACTOR) >> shift
            while table[at, 0] != NO_KEY and table[at, 0] != key:
                at = (at + np.uint64(1)) & mask
            if table[at, 0] == NO_KEY:
                table[at, 0] = key
                out[count, 0] = key
                count += 1
    return count


@kernel
def _new_long_keys(keys, begins, part, before, current, found, table, out, shift):
    """Do the work of `_new_keys` for keys of several words."""
    count = 0
    for seen in (before, current, found):
        for i in range(seen.shape[0]):
            _entered(seen[i], table, shift)
    for block in range(begins.shape[0]):
        for i in range(begins[block, part], begins[block, part + 1]):
            if _entered(keys[i], table, shift):
                for w in range(keys.shape[1]):
                    out[count, w] = keys[i, w]
                count += 1
    return count


@kernel
def _entered(key, table, shift):
    """Enter a key into a hash table of 2^n rows; return False if it has the key. shift: 64 - n."""
    words, mask = key.size, np.uint64(table.shape[0] - 1)
    mix = key[0] * FACTOR
    for w in range(1, words):
        mix = (mix ^ (mix >> np.uint64(32)) ^ key[w]) * FACTOR
    at = mix >> shift
    while table[at, 0] != NO_KEY:
        w = 0
        while w < words and table[at, w] == key[w]:
            w += 1
        if w == words:
            return False
        at = (at + np.uint64(1)) & mask
    for w in range(words):
        table[at, w] = key[w]
    return True
