"""The resources of a planned run of either kind, as JSON and as text."""

from dataclasses import asdict

from frontier.config.loading import Config
from frontier.cosets.resources import CosetPlan, plan_cosets
from frontier.cosets.sampling import Sample
from frontier.errors import InputError
from frontier.layers.forecast import Forecast
from frontier.layers.plan import LARGEST_MEMORY, Plan
from frontier.layers.summary import found_value
from frontier.report.html import page
from frontier.space.keys import KeySpace
from frontier.text import brief, counted, named, rough_range, size

Samples = tuple[int, list[Sample]] | None
"""The limit of the next question, and a sample of its cosets at each distance."""

LONG_SECONDS = 600.0
"""A plan names the alternative if the run may take more seconds than this."""


def plan_value(forecast: Forecast) -> dict:
    """Return the output of `plan` as JSON."""
    plan, sizes, rates = forecast.plan, forecast.sizes, forecast.rates
    assert not isinstance(plan.space, KeySpace)
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


def key_plan_value(plan: Plan) -> dict:
    """Return the output of `plan` as JSON for a search by keys, whose states nobody has
    counted."""
    form, of_layer = ("memory", plan.list_states) if plan.in_memory else ("tasks", None)
    memory = {
        "needed": None, "given": plan.task_bytes, "a_state": 8 * plan.space.words,
        "largest_layer": of_layer,
    }  # fmt: skip
    free = plan.config.storage.free()
    foretold = {"form": form, "memory": memory, "disk": {"peak": None, "free": free}}
    value = found_value(plan.identity, [], False)
    most = {"most_states": plan.puzzle.states}
    return {**value, **most, "path": str(plan.config.path), "forecast": foretold}


def describe_key_plan(value: dict, plan: Plan) -> str:
    """Return the plan of a search by keys as text."""
    memory, free = value["forecast"]["memory"], value["forecast"]["disk"]["free"]
    where = f"for each of {counted(plan.config.cluster.workers, 'worker')}"
    if plan.in_memory:
        where = f"in one process of {counted(plan.threads, 'thread')}"
        where += f"; layers of more than {memory['largest_layer']:,} states go to disk"
    return (
        f"{named(value['name'], value['puzzle']['title'])}\n"
        f"  states    unknown before the search, at most {value['most_states']:,}\n"
        f"  memory    {size(memory['given'])} {where}\n"
        f"  disk      at most {size(memory['a_state'])} for each state and neighbour "
        f"that three layers hold; free: {size(free)}\n"
        "  time      unknown"
    )


def describe_plan(value: dict, forecast: Forecast, verbose: bool = False) -> str:
    """Return the plan as text. verbose: True to add its layout, and the rates behind the time."""
    plan = forecast.plan
    return _text("plan.txt", verbose=verbose, value=value, plan=plan, forecast=forecast)


def _text(template: str, **values) -> str:
    words = counted, named, size, brief, rough_range, need_words
    return page(template, **{word.__name__: word for word in words}, **values).rstrip()


def coset_plan_value(plan: CosetPlan, samples: Samples = None) -> dict:
    """Return the resources of a search as JSON."""
    region = plan.region
    value = {
        "name": plan.config.name,
        "puzzle": {"title": region.puzzle.title, **plan.config.puzzle_settings},
        "region": region.name,
        "labelled": region.labelled,
        "patterns": region.patterns,
        "boards": region.boards,
        "groups": list(plan.groups),
        "bytes": plan.bytes,
        "bytes_here": plan.room,
        "fits": plan.refusal is None,
        "refusal": plan.refusal,
        "most_cosets_of_a_question": plan.most_cosets,
    }
    if samples:
        limit, of_distances = samples
        value["next_question"] = {
            "limit": limit,
            "seconds": sum(of.all_seconds for of in of_distances),
            "at_least": not all(of.whole for of in of_distances),
            "distances": list(map(asdict, of_distances)),
        }
    return value


def describe_coset_plan(plan: CosetPlan, samples: Samples, verbose: bool = False) -> str:
    """Return the resources of a search as text. verbose: True to add its region and databases."""
    value, (_, shown) = coset_plan_value(plan, samples), samples or (None, [])
    return _text("coset_plan.txt", verbose=verbose, value=value, samples=shown)


def gods_number_need(config: Config) -> dict | None:
    """Return the resources that a search with `gods-number` needs, as JSON; None if it does not
    support the puzzle."""
    try:
        plan = plan_cosets(config)
    except InputError:
        return None
    if plan.bytes > LARGEST_MEMORY:
        return None
    value = coset_plan_value(plan)
    return {key: value[key] for key in ("region", "bytes", "bytes_here", "fits")}


def need_words(need: dict) -> str:
    """Return the value of `gods_number_need` as a sentence without a full stop."""
    room_here = "" if need["fits"] else f", but only {size(need['bytes_here'])} may be used here"
    return (
        "`gods-number` finds God's number, or bounds, without visiting every position, with about "
        f"{size(need['bytes'])} of memory{room_here}"
    )
