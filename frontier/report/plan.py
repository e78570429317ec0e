"""What a run will take, as JSON and as text."""

from frontier.forecast.ahead import Outlook
from frontier.search.plan import layout_settings
from frontier.space.layout import WORD_BYTES
from frontier.text import counted, size, span

LABEL = 18
PARTS = (("start", "start-up"), ("lists", "thin layers"), ("memory", "layers in memory"),
         ("tasks", "layers by tasks"))  # fmt: skip


def plan_value(outlook: Outlook) -> dict:
    """What `plan` says, as JSON."""
    plan, made, sizes = outlook.plan, outlook.forecast, outlook.sizes
    layout, graph = plan.layout, plan.space.graph
    fullest = sizes.states.index(max(sizes.states))
    step = next((s for s in made.steps if s.last == fullest and s.form == "tasks"), None)
    moved = {}
    if step:
        moved = {"read": round(step.read), "written": round(step.written), "seconds": step.seconds}
    return {
        "name": plan.config.name,
        "puzzle": plan.puzzle.title,
        "path": str(plan.config.path),
        "states": plan.puzzle.states,
        "layers": {
            "known": sizes.known,
            "depth": sizes.depth,
            "depth_is_known": sizes.complete,
            "committed": outlook.committed,
        },
        "base_graph": {"vertices": graph.vertices, "arcs": graph.source.size},
        "form": "memory" if plan.alone else "tasks",
        "layout": {
            **layout_settings(layout),
            "prefixes": layout.prefixes,
            "tasks": layout.task_count(0),
            "part_bytes": layout.part_bytes,
            "slab_bytes": layout.slab_bytes,
            "current_read": max(traffic.current for traffic in outlook.traffic),
            "far_share": max(traffic.far_share for traffic in outlook.traffic),
        },
        "workers": outlook.workers,
        "memory": {
            "needed": plan.task_bytes,
            "given": int(plan.config.cluster.memory) * max(1, plan.threads),
        },
        "disk": {"peak": round(made.disk), "free": outlook.free},
        "bytes": {what: round(made.total(what)) for what in ("read", "written")},
        "fullest_layer": {
            "depth": fullest,
            "states": sizes.states[fullest],
            "raw": layout.layer_bytes(plan.space.class_of(fullest)),
            **moved,
        },
        "seconds": {
            "total": made.seconds,
            "start": made.start,
            **{form: made.total("seconds", form) for form in ("lists", "memory", "tasks")},
        },
        "rates": _rates_value(outlook),
        "warnings": outlook.warnings,
    }


def _rates_value(outlook: Outlook) -> dict:
    """What was measured, in the units that the text uses."""
    rates, cached = outlook.rates, outlook.forecast.cached
    half = rates.density[-1] / 2  # about the fullest layer of 2xn
    forced = not cached or outlook.plan.config.store.fsync == "layer"
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


def describe_plan(value: dict, outlook: Outlook) -> str:
    """The same for a person, with what it rests on."""
    layers, seconds = value["layers"], value["seconds"]
    processes = f"one process of {counted(outlook.plan.threads, 'thread')}"
    if value["form"] == "tasks":
        processes = f"for each of {counted(value['workers'], 'worker')}"
    parts = ", ".join(f"{said} {span(seconds[key])}" for key, said in PARTS if seconds[key])
    rows = [
        ("states", f"{value['states']:,}"),
        ("layers", _layers(layers)),
        ("base graph", "{vertices:,} vertices, {arcs:,} arcs".format(**value["base_graph"])),
        ("layout", _layout(value)),
        ("searched", outlook.plan.way),
        ("memory", "{} of {}, ".format(*map(size, value["memory"].values())) + processes),
        ("disk at its peak", "{}; free: {}".format(*map(size, value["disk"].values()))),
        ("fullest layer", _fullest(value["fullest_layer"])),
        ("moved in all", "{} read, {} written".format(*map(size, value["bytes"].values()))),
        ("time", f"about {span(seconds['total'])}: {parts}"),
    ]
    if outlook.described and not outlook.plan.alone and seconds["tasks"]:
        needed = sum(value["bytes"].values()) / seconds["tasks"]
        rows.append(
            ("file system", f"moves {size(needed)} a second for that, all workers together")
        )
    lines = [f"{value['name']}: {value['puzzle']}"]
    lines += [f"  {label:{LABEL}}{text}" for label, text in rows]
    lines += ["  this rests on"] + [f"    {line}" for line in _assumptions(value, outlook)]
    return "\n".join([*lines, *(f"  WARNING: {warning}" for warning in value["warnings"])])


def _layers(layers: dict) -> str:
    if layers["depth_is_known"]:
        said = f"{layers['known']}, all known: depth {layers['depth']}"
    else:
        said = f"depth unknown, perhaps {layers['depth']}; {layers['known']} layers are known"
    if layers["depth_is_known"] and layers["committed"] == layers["known"]:
        said += "; the run is complete, and what follows is of such a run from its beginning"
    elif layers["committed"]:
        said += f"; {layers['committed']} are committed, and what follows is of the others"
    return said


def _layout(value: dict) -> str:
    layout = value["layout"]
    parts = f"of {size(layout['part_bytes'])}, in slabs of {size(layout['slab_bytes'])}"
    if value["form"] == "memory":
        return f"in memory; stored as {counted(layout['tasks'], 'part')} {parts}"
    return (
        f"{counted(layout['tasks'], 'task')} a layer, each makes a part {parts}: prefixes of "
        f"{counted(layout['prefix_digits'], 'digit')}, {counted(layout['task_nodes'], 'node')}"
    )


def _fullest(layer: dict) -> str:
    said = (
        f"{layer['states']:,} states, perhaps at depth {layer['depth']}; {size(layer['raw'])} raw"
    )
    if "read" in layer:
        said += (
            f"; {size(layer['read'])} read, {size(layer['written'])} written, "
            f"{span(layer['seconds'])}"
        )
    return said


def _assumptions(value: dict, outlook: Outlook) -> list[str]:
    rates, layout = value["rates"], value["layout"]
    said = [
        f"tasks: {rates['task_seconds_a_word'] * 1e9:.1f} ns of the processor a word of "
        f"{WORD_BYTES} bytes, {rates['kernel_seconds_a_word'] * 1e9:.1f} ns of these in kernels; "
        f"{rates['seconds_a_listed_state'] * 1e9:.0f} ns a state of a thin layer",
        f"codec {outlook.plan.config.store.codec}: a layer as full as half the fullest one of 3×4 "
        f"is stored in {rates['stored_share']:.0%}",
        f"disk, a worker: {size(rates['read_bytes_a_second'])}/s read, "
        f"{size(rates['write_bytes_a_second'])}/s written, {rates['seconds_a_file'] * 1e3:.2f} ms "
        f"a file; {'all layers' if rates['cached'] else 'no layer'} in the page cache",
    ]
    if value["form"] == "tasks":
        said += [
            f"scheduler: {rates['scheduler_seconds_a_task'] * 1e3:.1f} ms a task, "
            f"{rates['seconds_a_layer'] * 1e3:.1f} ms a layer",
            f"locality: a task reads {layout['current_read']:.2f} times its own part of the "
            f"current layer; {layout['far_share']:.1%} of all that it reads has another prefix",
        ]
    if not value["layers"]["depth_is_known"]:
        said.append(
            f"layers from {value['layers']['known']} on are estimated from the growth of those "
            "before (docs/scale.md)"
        )
    if outlook.described:
        rate = outlook.disk_rate
        said.append(
            f"{counted(value['workers'], 'worker')}, each as fast as one here, and a file system "
            + (f"of {size(rate)}/s for all" if rate else "as fast for each of them")
        )
    return said
