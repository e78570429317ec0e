"""What the run of a plan will take, as JSON and as text."""

from frontier.forecast.forecast import Forecast
from frontier.report.html import page
from frontier.report.summary import found_value
from frontier.search.plan import layout_settings
from frontier.text import counted, size, span


def plan_value(forecast: Forecast) -> dict:
    """The output of `plan` as JSON."""
    plan, sizes, rates = forecast.plan, forecast.sizes, forecast.rates
    layout, graph = plan.layout, plan.space.graph
    fullest = sizes.states.index(max(sizes.states))
    complete = sum(record.states for record in forecast.records) == plan.puzzle.states
    foretold = {
        "layers": {
            "known": sizes.known,
            "depth": sizes.depth,
            "depth_is_known": sizes.complete,
        },
        "base_graph": {"vertices": graph.vertices, "arcs": graph.source.size},
        "form": "memory" if plan.in_memory else "tasks",
        "layout": {
            **layout_settings(layout),
            "tasks": layout.task_count(0),
            "part_bytes": layout.part_bytes,
            "slab_bytes": layout.slab_bytes,
            "current_read": max(forecast.reads),
        },
        "workers": forecast.workers,
        "memory": {
            "needed": plan.task_bytes,
            "given": int(plan.config.cluster.memory) * max(1, plan.threads),
        },
        "disk": {"peak": round(forecast.disk), "free": forecast.free, "cached": forecast.cached},
        "bytes": {what: round(forecast.total(what)) for what in ("read", "written")},
        "fullest_layer": {
            "depth": fullest,
            "states": sizes.states[fullest],
            "raw": layout.layer_bytes(plan.space.side_of(fullest)),
        },
        "seconds": {
            "total": forecast.seconds,
            **{mode: forecast.total("seconds", mode) for mode in ("lists", "memory", "tasks")},
        },
        "rates": {
            "kernel_seconds_a_word": rates.kernel,
            "task_seconds_a_word": rates.task_at(rates.density[-1]),
            "seconds_a_listed_state": rates.listed,
            "stored_share": rates.stored_at(rates.density[-1]),
            "read_bytes_a_second": 1 / rates.read,
            "write_bytes_a_second": 1 / rates.write,
        },
        "warnings": forecast.warnings,
    }
    found = found_value(plan.identity, forecast.records, complete)
    return {**found, "path": str(plan.config.path), "forecast": foretold}


def describe_plan(value: dict, forecast: Forecast) -> str:
    """The same as text, with what it rests on."""
    look = {"counted": counted, "size": size, "span": span}
    text = page("plan.txt", value=value, plan=forecast.plan, forecast=forecast, **look)
    return text.rstrip()
