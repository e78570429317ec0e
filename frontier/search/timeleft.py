"""How long a search will still take, from the layers so far.

The sizes of the layers to come are guessed by `shape_of`. A layer as a list takes a time in
proportion to its states. A layer as a bitmap takes a n^b seconds for n states: b is 0 where a
kernel goes over all words whatever they hold, up to 1/2 where codec and disk weigh more; a and b
come from the bitmaps so far, recent ones counting most. Layers of one form say nothing of the
other.

There is no theory behind the shape, so it is tried with two exponents besides, which err to
either side (docs/scale.md). That and `SLACK` make the range, which is narrow once the largest
layer is passed. From then on the likely exponent is a smaller one: searches thin out slowly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from frontier.search.shape import EXPONENT, shape_of

LIKELY = {False: EXPONENT, True: 2.25}
"""The exponent before and after the peak."""

SHORTER, LONGER = 3.0, 2.0
"""Exponents of shapes that end sooner and later than most."""

SLACK = {False: 2.0, True: 1.6}
"""The range is wider by such a factor to each side; before and after the peak."""

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


@dataclass(frozen=True)
class Ending:
    """One guess: seconds from the last known layer on, `depth` of the last layer."""

    seconds: float
    depth: int


@dataclass(frozen=True)
class Estimate:
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
    if sum(known) >= states or (until is not None and len(known) > until):
        return Estimate(*[Ending(0.0, len(known) - 1)] * 3, 0.0, [], True)
    passed = known[-1] < PASSED * max(known)
    stop = None if until is None else until + 1
    later = [
        shape_of(known, states, exponent).sizes[len(known) : stop]
        for exponent in (LIKELY[passed], SHORTER, LONGER)
    ]
    pace = _pace_of(layers, max(later[0]))
    if pace is None:
        return None
    endings, slack = [], SLACK[passed]
    for sizes in later:
        endings.append(Ending(sum(pace.seconds(known[-1], sizes)), len(known) - 1 + len(sizes)))
    first = pace.seconds(known[-1], later[0][:1])[0]
    times, depths = zip(*((ending.seconds, ending.depth) for ending in endings), strict=True)
    # By a layer or two the depth is always uncertain.
    most = max(times) * slack + (2 * first if until is None else 0)
    return Estimate(
        endings[0],
        Ending(min(times) / slack, min(depths)),
        Ending(most, max(depths)),
        first,
        later[0],
        passed,
        known[-1] == max(known),
    )


@dataclass(frozen=True)
class _Pace:
    """listed: seconds of a state in a list. scale, power: a bitmap of n states takes
    scale * n ** power. thin: two layers of at most so many states make the next one a list."""

    listed: float
    scale: float
    power: float
    thin: float

    def seconds(self, before: int, sizes: list[int]) -> list[float]:
        """Of each of the layers that follow one of `before` states."""
        return [
            self.listed * states
            if max(states, last) <= self.thin
            else self.scale * states**self.power
            for last, states in zip([before, *sizes], sizes, strict=False)
        ]


def _pace_of(layers: Sequence[Timed], largest: int) -> _Pace | None:
    """largest: states of the largest layer to come."""
    first = next((d for d, layer in enumerate(layers) if layer.form == "bits"), len(layers))
    lists = [layer for layer in layers[2:] if layer.form == "list"]  # the first loads the kernels
    held = sum(layer.states for layer in lists[-LISTS:])
    listed = sum(layer.seconds for layer in lists[-LISTS:]) / held if held else 0.0
    if first == len(layers):
        seen = max(layer.states for layer in layers)
        return _Pace(listed, 0.0, 0.0, np.inf) if listed and largest <= FAR * seen else None
    bits = [layer for layer in layers[first + 1 :] if layer.form == "bits"]
    if len(bits) < LEAST_LAYERS:
        return None
    # The first layer that was too large for a list was one still.
    thin = layers[first - 2].states if first > 1 else 0
    return _Pace(listed, *_power_law(bits), thin)


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
