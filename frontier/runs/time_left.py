"""The time that a search still takes, estimated from the layers so far.

`estimate_sizes` estimates the sizes of the layers to come. The time of a layer as a list is
proportional to its number of states. A layer of n states as a bitmap takes a n^b seconds: b is 0 if
a kernel goes over all words whatever they hold, and up to 1/2 if codec and disk weigh more. Both a
and b come from the bitmaps so far, and recent ones count most. Layers of one form say nothing about
the other form.

The sizes rest on no theory, so two more exponents, one too small and one too large, give two more
estimates (docs/scale.md). The range spans the resulting times, widened by `WIDER`; it is narrow
once the largest layer has been passed. From then on the likely exponent is smaller, because
searches thin out slowly.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frontier.layers.record import LayerRecord
from frontier.runs.sizes import EXPONENT, estimate_sizes

LIKELY = {False: EXPONENT, True: 2.25}
"""The likely exponent before the peak and after it."""

SHORTER, LONGER = 3.0, 2.0
"""The exponents for searches that end sooner and later than most."""

WIDER = {False: 2.0, True: 1.6}
"""The factor by which the range is widened on either side, before the peak and after it."""

PASSED = 0.9
"""The peak is passed when a layer has less than this share of the states of the largest layer."""

LEAST_LAYERS = 3
"""Nothing is estimated from this many bitmaps or fewer."""

MOST_GROWTH = 4
"""While all layers so far are lists, the time is estimated only if no later layer is expected to
have more than this many times the states of the largest one. A larger layer may become a bitmap,
and the time of bitmaps is not yet known."""

LISTS = 12
"""The time for each state is taken from this many of the last layers made as lists."""

FADE = 0.95
"""The weight of a bitmap layer, as a share of the weight of the next one."""

USUAL, WEIGHT = 0.25, 2.0
"""If few bitmaps are known, the exponent b is drawn towards this value. The value weighs as much as
layers whose logarithms of states have this sum of squared deviations from their mean."""

FLOOR = 1e-4
"""Layer times below this many seconds are noise."""


class TimeLeft(NamedTuple):
    """The likely seconds left and the likely depth of the last layer, each with a range.

    passed: True if the largest layer has surely been passed. rising: True if the last known layer
    is the largest so far. first: the seconds of the next layer. sizes: the likely number of states
    of each layer to come, up to the last depth that is computed.
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


def time_left(
    layers: Sequence[LayerRecord], states: int, until: int | None = None
) -> TimeLeft | None:
    """Return the time that the search takes after these layers; None if it is too early to say.

    layers: from depth 0. states: the number of states of the whole space. until: the last depth,
    None for all layers.
    """
    sizes_so_far = [layer.states for layer in layers]
    depth = len(sizes_so_far) - 1
    if sum(sizes_so_far) >= states or (until is not None and depth >= until):
        return TimeLeft(0.0, 0.0, 0.0, depth, depth, depth, passed=True)
    passed = sizes_so_far[-1] < PASSED * max(sizes_so_far)
    stop = None if until is None else until + 1
    later = [
        estimate_sizes(sizes_so_far, states, exponent).states[depth + 1 : stop]
        for exponent in (LIKELY[passed], SHORTER, LONGER)
    ]
    law = _law(layers, max(later[0]))
    if law is None:
        return None
    seconds = [[law(*pair) for pair in pairwise([sizes_so_far[-1], *sizes])] for sizes in later]
    first, times, depths = seconds[0][0], list(map(sum, seconds)), [depth + len(s) for s in later]
    # The depth is always uncertain by a layer or two.
    most = max(times) * WIDER[passed] + (2 * first if until is None else 0)
    return TimeLeft(
        times[0],
        min(times) / WIDER[passed],
        most,
        depths[0],
        min(depths),
        max(depths),
        passed,
        sizes_so_far[-1] == max(sizes_so_far),
        first,
        tuple(later[0]),
    )


def _law(layers: Sequence[LayerRecord], largest: int) -> Callable[[int, int], float] | None:
    """Return a function that gives the seconds of a layer from the states of the layer before it
    and its own states; None if too few layers are known. largest: the states of the largest layer
    to come."""
    # The first two layers are too short to be timed.
    lists = [layer for layer in layers[2:] if layer.form == "list"][-LISTS:]
    held = sum(layer.states for layer in lists)
    listed = sum(layer.seconds for layer in lists) / held if held else 0.0
    bits = [depth for depth, layer in enumerate(layers) if layer.form == "bits"]
    if not bits:
        if not listed or largest > MOST_GROWTH * max(layer.states for layer in layers):
            return None
        return lambda before, states: listed * states
    if len(bits) <= LEAST_LAYERS:
        return None
    scale, power = _power_law([layers[depth] for depth in bits[1:]])
    # The layer before the first bitmap was too large to be expanded as a list, and the layer before
    # that one was not. So the states of the smaller layer stand for the limit, which is not known
    # here.
    thin = layers[bits[0] - 2].states if bits[0] > 1 else 0
    return lambda before, states: (
        listed * states if max(before, states) <= thin else scale * states**power
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
