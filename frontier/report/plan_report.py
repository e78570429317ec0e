"""The resources of a planned run, as JSON and as text, and the alternative of a search by
cosets."""

from frontier.config.loading import Config
from frontier.cosets.resources import plan_cosets
from frontier.errors import InputError
from frontier.layers.forecast import Forecast
from frontier.layers.plan import LARGEST_MEMORY
from frontier.layers.summary import found_value
from frontier.report.html import page
from frontier.text import counted, named, rough_range, size

LONG_SECONDS = 600.0
"""A plan names the alternative if the run may take more seconds than this."""


def plan_value(forecast: Forecast) -> dict:
    """Return the output of `plan` as JSON."""
    plan, sizes, rates = forecast.plan, forecast.sizes, forecast.rates
    layout, graph = plan.layout, plan.space.graph
    fullest = sizes.states.index(max(sizes.states))
    complete = sum(record.states for record in forecast.records) == plan.puzzle.states
    least, most = forecast.seconds
    foretold = {
        "layers": {
            "known": sizes.known,
            "depth": sizes.depth,
            "depth_is_known": sizes.depth_is_known,
        },
        "base_graph": {"vertices": graph.vertices, "arcs": graph.source.size},
        "form": "memory" if plan.in_memory else "tasks",
        "layout": {
            **layout.settings,
            "tasks": layout.task_count(0),
            "part_bytes": layout.part_bytes,
            "slab_bytes": layout.slab_bytes,
        },
        "workers": forecast.workers,
        "memory": {
            "needed": plan.task_bytes,
            "given": int(plan.config.cluster.memory) * max(1, plan.threads),
        },
        "disk": {"peak": round(forecast.disk), "free": forecast.free},
        "fullest_layer": {
            "depth": fullest,
            "states": sizes.states[fullest],
            "raw": layout.layer_bytes(plan.space.side_of(fullest)),
        },
        "seconds": {"least": least, "most": most},
        "rates": {
            "seconds_a_word": rates.kernel if plan.in_memory else rates.task,
            "seconds_a_listed_state": rates.listed,
            "stored_share": rates.stored_at(rates.density[-1]),
        },
        "warnings": forecast.warnings,
        "gods_number": None,
    }
    if forecast.too_small or most > LONG_SECONDS:
        foretold["gods_number"] = gods_number_need(plan.config)
    value = found_value(plan.identity, forecast.records, complete)
    return {**value, "path": str(plan.config.path), "forecast": foretold}


def describe_plan(value: dict, forecast: Forecast, verbose: bool = False) -> str:
    """Return the plan as text. verbose: True to add its layout, and the rates behind the time."""
    look = {
        "counted": counted, "named": named, "size": size, "rough_range": rough_range,
        "need_words": need_words,
    }  # fmt: skip
    text = page(
        "plan.txt", verbose=verbose, value=value, plan=forecast.plan, forecast=forecast, **look
    )
    return text.rstrip()


def gods_number_need(config: Config) -> dict | None:
    """Return the resources that a search with `gods-number` needs, as JSON; None if it does not
    support the puzzle."""
    try:
        plan = plan_cosets(config)
    except InputError:
        return None
    if plan.bytes > LARGEST_MEMORY:
        return None
    return {
        "region": plan.region.name,
        "bytes": plan.bytes,
        "bytes_here": plan.room,
        "fits": plan.refusal is None,
    }


def need_words(need: dict) -> str:
    """Return the value of `gods_number_need` as a sentence without a full stop."""
    room_here = "" if need["fits"] else f", but only {size(need['bytes_here'])} may be used here"
    return (
        "`gods-number` finds God's number, or bounds, without visiting every position, with about "
        f"{size(need['bytes'])} of memory{room_here}"
    )
