"""How long a search will still take, from the layers so far.

The sizes of the layers to come are guessed by `estimate_sizes`. A layer as a list takes a time in
proportion to its states. A layer as a bitmap takes a n^b seconds for n states: b is 0 where a
kernel goes over all words whatever they hold, up to 1/2 where codec and disk weigh more; a and b
come from the bitmaps so far, recent ones counting most. Layers of one form say nothing of the
other.

There is no theory behind the shape, so it is tried with two exponents besides, which err to
either side (docs/scale.md). That and `SLACK` make the range, which is narrow once the largest
layer is passed. From then on the likely exponent is a smaller one: searches thin out slowly.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from frontier.forecast.sizes import EXPONENT, estimate_sizes

LIKELY = {False: EXPONENT, True: 2.25}
"""The exponent before and after the peak."""

SHORTER, LONGER = 3.0, 2.0
"""Exponents of shapes that end sooner and later than most."""

SLACK = {False: 2.0, True: 1.6}
"""The range is wider by such a factor to each side, before and after the peak."""

PASSED = 0.9
"""The peak is passed when a layer has less than this share of the largest one."""

LEAST_LAYERS = 3
"""Bitmaps whose times are known, before anything is said."""

FAR = 4
"""While there are lists alone, layers so many times larger may be bitmaps."""

LISTS = 12
"""The last so many lists say how long a state takes."""

FADE, USUAL, WEIGHT = 0.95, 0.25, 2.0
"""Each bitmap counts so much of what the next one does; the exponent b that few of them are taken
to have, and how firmly: as much as layers that spread so far in squares of logarithms."""

FLOOR = 1e-4
"""Shorter times of a layer, in seconds, are noise."""


class Timed(Protocol):
    """What is known of a layer; form: "bits" or "list"."""

    states: int
    seconds: float
    form: str


class Ending(NamedTuple):
    """One guess: seconds from the last known layer on, `depth` of the last layer."""

    seconds: float
    depth: int


class Estimate(NamedTuple):
    """The likely ending, between the least and the most of what is not unlikely.

    first: seconds of the next layer. sizes: states of the layers to come, likely ones, up to the
    last depth asked for. passed: whether the largest layer is behind, for sure. rising: whether the
    last known layer is the largest so far.
    """

    likely: Ending
    least: Ending
    most: Ending
    first: float
    sizes: list[int]
    passed: bool
    rising: bool = False


def time_left(layers: Sequence[Timed], states: int, until: int | None = None) -> Estimate | None:
    """The time from the last of these layers on; None where it is too early to tell.

    layers: from depth 0. states: of the whole space. until: the last depth that is asked for.
    """
    known = [layer.states for layer in layers]
    depth = len(known) - 1
    if sum(known) >= states or (until is not None and depth >= until):
        return Estimate(*[Ending(0.0, depth)] * 3, 0.0, [], True)
    passed = known[-1] < PASSED * max(known)
    stop = None if until is None else until + 1
    later = [
        estimate_sizes(known, states, exponent).states[depth + 1 : stop]
        for exponent in (LIKELY[passed], SHORTER, LONGER)
    ]
    seconds = _seconds_of(layers, later)
    if seconds is None:
        return None
    first, times, depths = seconds[0][0], list(map(sum, seconds)), [depth + len(s) for s in later]
    # By a layer or two the depth is always uncertain.
    most = max(times) * SLACK[passed] + (2 * first if until is None else 0)
    return Estimate(
        Ending(times[0], depths[0]),
        Ending(min(times) / SLACK[passed], min(depths)),
        Ending(most, max(depths)),
        first,
        later[0],
        passed,
        known[-1] == max(known),
    )


def _seconds_of(layers: Sequence[Timed], later: list[list[int]]) -> list[list[float]] | None:
    """The seconds of each layer to come, for several guesses of their sizes; None where too few
    layers are known."""
    first = next((d for d, layer in enumerate(layers) if layer.form == "bits"), len(layers))
    lists = [layer for layer in layers[2:] if layer.form == "list"]  # the first loads the kernels
    held = sum(layer.states for layer in lists[-LISTS:])
    listed = sum(layer.seconds for layer in lists[-LISTS:]) / held if held else 0.0
    if first == len(layers):
        if not listed or max(later[0]) > FAR * max(layer.states for layer in layers):
            return None
        return [[listed * states for states in sizes] for sizes in later]
    bits = [layer for layer in layers[first + 1 :] if layer.form == "bits"]
    if len(bits) < LEAST_LAYERS:
        return None
    scale, power = _power_law(bits)
    # The first layer that was too large for a list was one still.
    thin = layers[first - 2].states if first > 1 else 0
    return [
        [
            listed * states if max(before, states) <= thin else scale * states**power
            for before, states in pairwise([layers[-1].states, *sizes])
        ]
        for sizes in later
    ]


def _power_law(layers: list[Timed]) -> tuple[float, float]:
    """(a, b) so that the layers took about a * states ** b seconds, and just so in all."""
    states = np.array([layer.states for layer in layers], dtype=float)
    seconds = np.array([layer.seconds for layer in layers])
    weights = FADE ** np.arange(len(layers))[::-1]
    x, y = np.log(states), np.log(np.maximum(seconds, FLOOR))
    x, y = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
    power = (np.sum(weights * x * y) + WEIGHT * USUAL) / (np.sum(weights * x * x) + WEIGHT)
    power = float(np.clip(power, 0, 1))
    return float(np.sum(weights * seconds) / np.sum(weights * states**power)), power
