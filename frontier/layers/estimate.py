"""The layers that a search has yet to make: their sizes, the depth of the last one, and the time
that they take.

The first layers of a space grow by a factor that declines slowly, until the space runs out. Let y
be the logarithm of the size of the last known layer and s the growth of the logarithm there. The
logarithm of the size of the k-th layer after it is taken to be

    y + s k - (y + s K) (k / K)^e

so that one state is left K layers later. K is the least number of layers that holds all states. The
exponent e rests on no theory. With e = 2, the estimates for the searches of 2x6, 2x7, 3x4 and 4x4
are too long; with 3, they are too short (docs/scale.md). The resulting depth is only a guess, but
the breadth of the peak, which decides the cost of a run, is a good estimate.

So the range of the time spans the times of three exponents, one likely, one too small and one too
large, and is widened. A plan takes the time of a layer from measurements of the machine
(`forecast`), a run under way from its layers so far (`recorded_cost`). The time of a layer as a
list is proportional to its number of states. A layer of n states as a bitmap takes a n^b seconds: b
is 0 if a kernel goes over all words whatever they hold, and up to 1/2 if codec and disk weigh more.
Both a and b come from the bitmaps so far, and recent ones count most.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from frontier.layers.record import LayerRecord

LIKELY = {False: 2.5, True: 2.25}
"""The likely exponent before the peak and after it: searches thin out slowly."""

SHORTER, LONGER = 3.0, 2.0
"""The exponents for searches that end sooner and later than most."""

WIDER, AFTER_PEAK = 2.0, 1.6
"""The factor by which the range of the time is widened on either side, and the factor for a run
whose layers so far give the times and include the peak (docs/scale.md)."""

PASSED = 0.9
"""The peak is passed when a layer has less than this share of the states of the largest layer."""

MOST_LAYERS = 100_000

GROWTH_LAYERS = 6
"""The growth is the mean over this many layers, because sides and symmetries make single layers
uneven."""

LEAST_LAYERS = 3
"""Nothing is estimated from this many bitmaps or fewer."""

MOST_GROWTH = 4
"""While all layers so far are lists, the time is known only for layers of up to this many times the
states of the largest one. A larger layer may become a bitmap."""

LISTS = 12
"""The time for each state is taken from this many of the last layers made as lists."""

FADE = 0.95
"""The weight of a bitmap layer, as a share of the weight of the next one."""

USUAL, WEIGHT = 0.25, 2.0
"""If few bitmaps are known, the exponent b is drawn towards this value. The value weighs as much as
layers whose logarithms of states have this sum of squared deviations from their mean."""

MOST_EXPONENT = 20.0
"""The greatest exponent that a known depth may require."""

FLOOR = 1e-4
"""Layer times below this many seconds are noise."""

Cost = Callable[[Sequence[int], int], float]
"""The seconds of a layer, from the sizes of all layers and its depth; nan if not known."""


class Sizes(NamedTuple):
    """The sizes of all layers from depth 0. Those after the first `known` are estimates. last: the
    depth of the last layer if it was known before."""

    states: list[int]
    known: int
    last: int | None = None

    @property
    def depth(self) -> int:
        return len(self.states) - 1

    @property
    def complete(self) -> bool:
        return self.known == len(self.states)

    @property
    def depth_is_known(self) -> bool:
        return self.complete or self.last is not None


class TimeLeft(NamedTuple):
    """The likely seconds left and the likely depth of the last layer, each with a range.

    passed: True if the largest layer has surely been passed. rising: True if the last layer made is
    the largest so far. first: the seconds of the next layer. sizes: the likely number of states of
    each layer to come, up to the last depth that is computed.
    """

    seconds: float
    least: float
    most: float
    depth: int
    least_depth: int
    most_depth: int
    passed: bool
    rising: bool = False
    first: float = 0.0
    sizes: tuple[int, ...] = ()


def estimate_sizes(
    known: Sequence[int], states: int, exponent: float | None = None, last: int | None = None
) -> Sizes:
    """Return the sizes of all layers of a space of `states` states.

    known: the sizes of the first layers. exponent: e, by default the likely one. last: the depth of
    the last layer if it is known; it determines e.
    """
    remaining = states - sum(known)
    if remaining <= 0:
        return Sizes(list(known), len(known))
    e = LIKELY[_passed(known)] if exponent is None else exponent
    y = np.log(known[-1])
    back = min(GROWTH_LAYERS, len(known) - 1)
    s = (y - np.log(known[-1 - back])) / back if back else 0.0

    def layers(count: int, e: float = e) -> np.ndarray:
        k = np.arange(1, count + 1)
        with np.errstate(over="ignore"):
            return np.exp(y + s * k - (y + s * count) * (k / count) ** e)

    if last is not None and (count := last + 1 - len(known)) > 0:
        exponents = np.linspace(1, MOST_EXPONENT, 1000)
        e = exponents[
            bisect_left(exponents, remaining, hi=999, key=lambda e: layers(count, e).sum())
        ]
    else:
        last, most = None, 1
        while layers(most).sum() < remaining and most < MOST_LAYERS:
            most *= 2
        half = most // 2
        count = 1 + bisect_left(range(1, most), remaining, half, key=lambda n: layers(n).sum())
        count = min(count, most)
    later = layers(count, e)
    sizes = np.maximum(1, later / later.sum() * remaining).astype(np.int64)
    if last is None:
        sizes = sizes[np.cumsum(sizes) <= remaining]
    sizes[sizes.argmax()] += remaining - sizes.sum()
    return Sizes([*known, *sizes.tolist()], len(known), last)


def time_left(
    known: Sequence[int],
    states: int,
    cost: Cost,
    until: int | None = None,
    made: int | None = None,
    factor: float | None = None,
    last: int | None = None,
) -> TimeLeft | None:
    """Return the time that a search still takes; None if the cost of a layer is not known.

    known: the sizes of the first layers. states: the number of states of the whole space. until:
    the last depth, None for all layers. made: the number of layers made, by default all that are
    known. factor: by which the range is widened, by default `WIDER` or `AFTER_PEAK`. last: the
    depth of the last layer if it is known.
    """
    made = len(known) if made is None else made
    sizes_made, stop = known[:made], None if until is None else until + 1
    estimates = [estimate_sizes(known, states, e, last) for e in (None, SHORTER, LONGER)]
    sizes = [estimate.states[:stop] for estimate in estimates]
    seconds = [[cost(these, depth) for depth in range(made, len(these))] for these in sizes]
    times, depths = list(map(sum, seconds)), [max(made, len(these)) - 1 for these in sizes]
    if any(map(isnan, times)):
        return None
    first = seconds[0][0] if seconds[0] else 0.0
    passed = not seconds[0] or _passed(sizes_made)
    factor = factor or (AFTER_PEAK if passed else WIDER)
    # The depth is uncertain by a layer or two, unless it is known or given.
    more = 0 if estimates[0].depth_is_known or until is not None else 2 * first
    return TimeLeft(
        times[0],
        min(times) / factor,
        max(times) * factor + more,
        depths[0],
        min(depths),
        max(depths),
        passed,
        sizes_made[-1] == max(sizes_made),
        first,
        tuple(sizes[0][made:]),
    )


def _passed(sizes: Sequence[int]) -> bool:
    """Return whether the largest layer is surely among these."""
    return sizes[-1] < PASSED * max(sizes)


def recorded_cost(layers: Sequence[LayerRecord]) -> Cost:
    """Return the cost of later layers of a search, from its layers so far, from depth 0."""
    # The first two layers are too short to be timed.
    lists = [layer for layer in layers[2:] if layer.form == "list"][-LISTS:]
    held = sum(layer.states for layer in lists)
    listed = sum(layer.seconds for layer in lists) / held if held else 0.0
    bits = [depth for depth, layer in enumerate(layers) if layer.form == "bits"]
    if not bits and listed:
        most = MOST_GROWTH * max(layer.states for layer in layers)
        return lambda sizes, depth: listed * sizes[depth] if sizes[depth] <= most else nan
    if len(bits) <= LEAST_LAYERS:
        return lambda sizes, depth: nan
    scale, power = _power_law([layers[depth] for depth in bits[1:]])
    # The layer before the first bitmap was too large to be expanded as a list, and the layer before
    # that one was not. So the states of the smaller layer stand for the limit, which is not known
    # here.
    thin = layers[bits[0] - 2].states if bits[0] > 1 else 0
    return lambda sizes, depth: (
        listed * sizes[depth]
        if max(sizes[depth - 1 : depth + 1]) <= thin
        else scale * sizes[depth] ** power
    )


def _power_law(layers: list[LayerRecord]) -> tuple[float, float]:
    """Return (a, b) such that layers took about a * states ** b seconds. The weighted sum of these
    times is exact."""
    states = np.array([layer.states for layer in layers], dtype=float)
    seconds = np.array([layer.seconds for layer in layers])
    weights = FADE ** np.arange(len(layers))[::-1]
    x, y = np.log(states), np.log(np.maximum(seconds, FLOOR))
    x, y = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
    power = (np.sum(weights * x * y) + WEIGHT * USUAL) / (np.sum(weights * x * x) + WEIGHT)
    power = float(np.clip(power, 0, 1))
    return float(np.sum(weights * seconds) / np.sum(weights * states**power)), power
