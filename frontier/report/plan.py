"""What the run of a plan will take, as JSON and as text."""

from frontier.forecast.plan_forecast import PlanForecast
from frontier.report.summary import found_value
from frontier.search.plan import layout_settings
from frontier.space.layout import WORD_BYTES
from frontier.text import counted, size, span

LABEL = 18
PARTS = {"start": "start-up", "lists": "thin layers", "memory": "layers in memory",
         "tasks": "layers by tasks"}  # fmt: skip


def plan_value(made: PlanForecast) -> dict:
    """The output of `plan` as JSON."""
    plan, forecast, sizes = made.plan, made.forecast, made.sizes
    layout, graph = plan.layout, plan.space.graph
    fullest = sizes.states.index(max(sizes.states))
    step = next((s for s in forecast.steps if s.last == fullest and s.mode == "tasks"), None)
    moved = {}
    if step:
        moved = {"read": round(step.read), "written": round(step.written), "seconds": step.seconds}
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
            "prefixes": layout.prefixes,
            "tasks": layout.task_count(0),
            "part_bytes": layout.part_bytes,
            "slab_bytes": layout.slab_bytes,
            "current_read": max(locality.current for locality in forecast.localities),
            "far_share": max(locality.far_share for locality in forecast.localities),
        },
        "workers": forecast.workers,
        "memory": {
            "needed": plan.task_bytes,
            "given": int(plan.config.cluster.memory) * max(1, plan.threads),
        },
        "disk": {"peak": round(forecast.disk), "free": made.free},
        "bytes": {what: round(forecast.total(what)) for what in ("read", "written")},
        "fullest_layer": {
            "depth": fullest,
            "states": sizes.states[fullest],
            "raw": layout.layer_bytes(plan.space.side_of(fullest)),
            **moved,
        },
        "seconds": {
            "total": forecast.seconds,
            "start": forecast.rates.start,
            **{mode: forecast.total("seconds", mode) for mode in ("lists", "memory", "tasks")},
        },
        "rates": _rates_value(made),
        "warnings": made.warnings,
    }
    complete = sum(record.states for record in made.records) == plan.puzzle.states
    found = found_value(plan.identity, made.records, complete)
    return {**found, "path": str(plan.config.path), "forecast": foretold}


def _rates_value(made: PlanForecast) -> dict:
    """What was measured, in the units that the text uses."""
    rates, cached = made.forecast.rates, made.forecast.cached
    half = rates.density[-1] / 2  # about the fullest layer of 2xn
    forced = not cached or made.plan.config.store.fsync == "layer"
    return {
        "kernel_seconds_a_word": rates.kernel,
        "task_seconds_a_word": rates.task_at(half),
        "seconds_a_listed_state": rates.listed,
        "stored_share": rates.stored_at(half),
        "seconds_a_file": rates.file,
        "read_bytes_a_second": 1 / (rates.read_work if cached else rates.read),
        "write_bytes_a_second": 1 / (rates.write if forced else rates.write_work),
        "cached": cached,
        "scheduler_seconds_a_task": rates.scheduler,
        "seconds_a_layer": rates.layer,
    }


def describe_plan(value: dict, made: PlanForecast) -> str:
    """The same for a person, with what it rests on."""
    found, value = value, value["forecast"]
    seconds, plan, by_tasks = value["seconds"], made.plan, value["form"] == "tasks"
    processes = f"one process of {counted(plan.threads, 'thread')}"
    if by_tasks:
        processes = f"for each of {counted(value['workers'], 'worker')}"
    parts = ", ".join(f"{name} {span(seconds[key])}" for key, name in PARTS.items() if seconds[key])
    rows = {
        "states": f"{found['states_of_the_puzzle']:,}",
        "layers": _layers(**value["layers"], committed=len(found["layers"])),
        "base graph": _base_graph(**value["base_graph"]),
        "layout": _layout(value["layout"], by_tasks),
        "searched": plan.way,
        "memory": "{} of {}, ".format(*map(size, value["memory"].values())) + processes,
        "disk at its peak": _room(**value["disk"]),
        "fullest layer": _fullest(value["layers"]["depth_is_known"], **value["fullest_layer"]),
        "moved in all": "{} read, {} written".format(*map(size, value["bytes"].values())),
        "time": f"about {span(seconds['total'])}: {parts}",
    }
    if made.described and not plan.in_memory and seconds["tasks"]:
        needed = sum(value["bytes"].values()) / seconds["tasks"]
        rows["file system"] = f"moves {size(needed)} a second for that, all workers together"
    return "\n".join([
        f"{found['name']}: {found['puzzle']['title']}",
        *(f"  {label:{LABEL}}{text}" for label, text in rows.items()),
        "  this rests on",
        *(f"    {line}" for line in _assumptions(value, made)),
        *(f"  WARNING: {warning}" for warning in value["warnings"]),
    ])  # fmt: skip


def _layers(known: int, depth: int, depth_is_known: bool, committed: int) -> str:
    text = f"depth unknown, perhaps {depth}; {known} layers are known"
    if depth_is_known:
        text = f"{known}, all known: depth {depth}"
    if depth_is_known and committed == known:
        return f"{text}; the run is complete, and what follows is of such a run from its beginning"
    if committed:
        return f"{text}; {committed} are committed, and what follows is of the others"
    return text


def _base_graph(vertices: int, arcs: int) -> str:
    many = "1 vertex" if vertices == 1 else f"{vertices:,} vertices"
    return f"{many}, {counted(arcs, 'arc')}"


def _layout(layout: dict, by_tasks: bool) -> str:
    parts = f"of {size(layout['part_bytes'])}, in slabs of {size(layout['slab_bytes'])}"
    if not by_tasks:
        return f"in memory; stored as {counted(layout['tasks'], 'part')} {parts}"
    return (
        f"{counted(layout['tasks'], 'task')} a layer, each makes a part {parts}: prefixes of "
        f"{counted(layout['prefix_digits'], 'digit')}, {counted(layout['task_nodes'], 'node')}"
    )


def _fullest(is_known: bool, depth: int, states: int, raw: int, **moved) -> str:
    perhaps = "" if is_known else "perhaps "
    text = f"{states:,} states, {perhaps}at depth {depth}; {size(raw)} raw"
    if not moved:
        return text
    read, written = size(moved["read"]), size(moved["written"])
    return f"{text}; {read} read, {written} written, {span(moved['seconds'])}"


def _assumptions(value: dict, made: PlanForecast) -> list[str]:
    rates, layout = value["rates"], value["layout"]
    lines = [
        f"tasks: {rates['task_seconds_a_word'] * 1e9:.1f} ns of the processor a word of "
        f"{WORD_BYTES} bytes, {rates['kernel_seconds_a_word'] * 1e9:.1f} ns of these in kernels; "
        f"{rates['seconds_a_listed_state'] * 1e9:.0f} ns a state of a thin layer",
        f"codec {made.plan.config.store.codec}: a layer as full as half the fullest one of 3×4 "
        f"is stored in {rates['stored_share']:.0%}",
        f"disk, a worker: {size(rates['read_bytes_a_second'])}/s read, "
        f"{size(rates['write_bytes_a_second'])}/s written, {rates['seconds_a_file'] * 1e3:.2f} ms "
        f"a file; {'all layers' if rates['cached'] else 'no layer'} in the page cache",
    ]
    if value["form"] == "tasks":
        lines += [
            f"scheduler: {rates['scheduler_seconds_a_task'] * 1e3:.1f} ms a batch of tasks, "
            f"{rates['seconds_a_layer'] * 1e3:.1f} ms a layer",
            f"locality: a task reads {layout['current_read']:.2f} times its own part of the "
            f"current layer; {layout['far_share']:.1%} of all that it reads has another prefix",
        ]
    if not value["layers"]["depth_is_known"]:
        lines.append(
            f"layers from {value['layers']['known']} on are estimated from the growth of those "
            "before (docs/scale.md)"
        )
    if made.described:
        rate = made.forecast.disk_rate
        lines.append(
            f"{counted(value['workers'], 'worker')}, each as fast as one here, and a file system "
            + (f"of {size(rate)}/s for all" if rate else "as fast for each of them")
        )
    return lines


def _room(peak: int, free: int | None) -> str:
    return f"{size(peak)}; free: {'not known' if free is None else size(free)}"
