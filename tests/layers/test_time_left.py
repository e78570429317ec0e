"""The time that a search still takes, against searches whose layers and times were recorded.

``recorded.json`` holds the states, seconds and form of each layer of runs: 2x5 and 3x4 in memory,
2x6 and 2x7 by tasks, the latter beside other work on a busy machine.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import pytest

from frontier.layers import estimate
from tests.support.sweeps import cases


@dataclass(frozen=True)
class Layer:
    states: int
    seconds: float
    form: str


RECORDED = {
    name: [Layer(*line) for line in lines]
    for name, lines in json.loads(Path(__file__).with_name("recorded.json").read_text()).items()
}


def time_left(layers, states, until=None):
    """The time left after some layers, as a run under way gives it."""
    sizes = [layer.states for layer in layers]
    return estimate.time_left(sizes, states, estimate.recorded_cost(layers), until)


FACTOR = 2.5
"""After the peak the likely time is right up to this, until the last PART of the time is left."""

PART = 0.12


@pytest.fixture(params=cases(RECORDED, few=2), scope="module")
def layers(request):
    return RECORDED[request.param]


@pytest.fixture(scope="module")
def along(layers):
    """(layers known, the estimate, the seconds that it then took) at each depth."""
    states = sum(layer.states for layer in layers)
    return [
        (known, time_left(layers[:known], states), sum(layer.seconds for layer in layers[known:]))
        for known in range(1, len(layers))
    ]


def test_nothing_is_said_before_the_first_bitmaps(layers, along):
    first = [layer.form for layer in layers].index("bits")
    made = [estimate for known, estimate, _ in along if known <= first]
    assert made
    assert not any(made)
    assert all(estimate for known, estimate, _ in along if known > first + 5)


def test_it_gets_better_along_the_run(layers, along):
    total = sum(layer.seconds for layer in layers)
    errors = [abs(made.seconds - took) / total for _, made, took in along if made]
    third = len(errors) // 3
    early, middle, late = (fmean(errors[at : at + third]) for at in (0, third, len(errors) - third))
    assert late < middle < early
    assert late < 0.08


def test_the_range_is_wide_before_the_peak_and_narrow_after(layers, along):
    peak = max(range(len(layers)), key=lambda depth: layers[depth].states)
    total = sum(layer.seconds for layer in layers)
    before, after, held = [], [], []
    for known, made, took in along:
        if made is None or took < PART * total:
            continue
        assert made.least <= made.seconds <= made.most
        assert made.passed <= (known > peak)
        (after if made.passed else before).append(made.most / made.least)
        held.append(made.least <= took <= made.most)
        if made.passed:
            assert 1 / FACTOR < took / made.seconds < FACTOR
    assert fmean(after) < fmean(before) / 1.4
    assert fmean(held) > 0.8


def test_the_depth_is_within_its_range_after_the_peak(layers, along):
    passed = [made for _, made, _ in along if made and made.passed]
    assert passed
    for made in passed:
        assert made.least_depth <= made.depth <= made.most_depth
        assert made.least_depth - 2 <= len(layers) - 1 <= made.most_depth + 2


def test_a_run_that_is_to_stop_sooner(layers):
    states, half = sum(layer.states for layer in layers), len(layers) // 2
    whole = time_left(layers[:half], states)
    part = time_left(layers[:half], states, until=half + 4)
    assert part.depth == part.most_depth == half + 4
    assert part.sizes == whole.sizes[:5]
    assert 0 < part.seconds < whole.seconds
    assert time_left(layers[:half], states, until=half - 1).most == 0


def test_larger_layers_that_are_not_asked_for_do_not_matter():
    """ShiftBitmaps may be among them, but not among those that are made."""
    sizes = [1, 3, 9, 27, 81, 200, 400, 600, 700, 600, 400, 200, 80, 20, 4, 1]
    layers = [Layer(size, size * 0.01, "list") for size in sizes]
    assert time_left(layers[:4], sum(sizes)) is None
    made = time_left(layers[:4], sum(sizes), until=4)
    assert len(made.sizes) == 1
    assert made.seconds == pytest.approx(made.sizes[0] * 0.01)


def test_all_states_are_found(layers):
    made = time_left(layers, sum(layer.states for layer in layers))
    assert (made.most, made.most_depth) == (0, len(layers) - 1)


def test_lists_alone():
    """Where even the largest layer is not much larger than those known, a state takes as long."""
    sizes = [1, 3, 9, 27, 81, 200, 400, 600, 700, 600, 400, 200, 80, 20, 4, 1]
    layers = [Layer(size, size * 0.01, "list") for size in sizes]
    states = sum(sizes)
    assert time_left(layers[:4], states) is None
    made = time_left(layers[:9], states)
    rest = sum(layer.seconds for layer in layers[9:])
    assert made.least < rest < made.most
    assert made.seconds == pytest.approx(rest, rel=0.01)


@pytest.mark.parametrize("factor", [0.1, 10])
def test_times_follow_the_machine(factor, layers):
    slower = [Layer(layer.states, layer.seconds * factor, layer.form) for layer in layers]
    states, known = sum(layer.states for layer in layers), 3 * len(layers) // 4
    seconds = [time_left(these[:known], states).seconds for these in (layers, slower)]
    assert seconds[1] / seconds[0] == pytest.approx(factor, rel=0.2)
