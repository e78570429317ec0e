"""What a report says of a run in words, wherever it is shown."""

import json
import time
from collections.abc import Iterator

from frontier.report.comparison import Comparison
from frontier.report.figures import SPENDING, Figures, LayerFigures
from frontier.text import brief, counted, percent, rate, size

LAYER_HEADER = ["depth", "states", "share", "up to here", "growth", "time", "written"]

SO_FAR = " so far"
"""What the keys of figures end in that may still change."""

NO_ENVIRONMENT = "environment.json is missing or damaged, so this is not known"


def key_figures(run: Figures) -> list[tuple[str, str]]:
    """The figures that matter most, each with what it tells."""
    if not run.layers:
        return [("states of the puzzle", f"{run.total:,}")]
    of = "" if run.complete else SO_FAR
    facts = [(f"depth{of}", counted(run.depth, "move")), (f"states{of}", f"{run.states:,}")]
    if not run.complete:
        facts.append(("states of the puzzle", f"{run.total:,}"))
    else:
        facts.append(("farthest positions", f"{run.farthest:,}"))
    if run.diameter is not None:
        facts.append(("diameter of the state graph", counted(run.diameter, "move")))
    if run.puzzle.start is not None:
        found = run.start_depth
        facts.append(
            ("from the start", counted(found, "move") if found is not None else "not found")
        )
    return [
        *facts,
        (f"mean depth{of}", f"{run.mean:.2f}"),
        (f"median depth{of}", f"{run.median:g}"),
        (f"fullest layer{of}", f"depth {run.fullest.depth}"),
        ("time in layers", brief(run.seconds)),
        ("states a second", rate(run.states, run.seconds).removesuffix("/s")),
        ("written", size(run.bytes)),
    ]


def layer_cells(layer: LayerFigures) -> list[str]:
    """A layer as people read it, under `LAYER_HEADER`."""
    return [
        str(layer.depth),
        f"{layer.states:,}",
        percent(layer.share),
        percent(layer.share_so_far),
        "" if layer.growth is None else f"{layer.growth:.3f}",
        brief(layer.seconds),
        size(layer.bytes) if layer.bytes else "",
    ]


def layers_at(comparison: Comparison, depth: int) -> list[LayerFigures | None]:
    """What each run has at a depth."""
    return [run.layers[depth] if depth < len(run.layers) else None for run in comparison.runs]


def comparison_rows(comparison: Comparison) -> list[list[str]]:
    """The key figures side by side; a row begins with what it tells."""
    columns = [dict(_side_by_side(run)) for run in comparison.runs]
    keys = list(dict.fromkeys(key for column in columns for key in column))
    rows = [["puzzle", *(run.puzzle.title for run in comparison.runs)]]
    rows += [["found", *(run.standing for run in comparison.runs)]]
    if any(not run.complete for run in comparison.runs):
        rows += [["states of the puzzle", *(f"{run.total:,}" for run in comparison.runs)]]
    return rows + [[key, *(column.get(key, "") for column in columns)] for key in keys]


def _side_by_side(run: Figures) -> Iterator[tuple[str, str]]:
    """The key figures that all runs have, by the same keys whether they are complete or not."""
    for key, value in key_figures(run):
        if key.endswith(SO_FAR):
            yield key.removesuffix(SO_FAR), value + SO_FAR
        elif key != "states of the puzzle":
            yield key, value
    if not run.complete:
        yield "farthest positions", "not known yet"


def comparison_spending(comparison: Comparison) -> list[list[str]]:
    """Where the time of each run went: by what it went to, how long and which share, or nothing."""
    columns = [
        {what: f"{time} ({share})" for what, time, share in spending(run)}
        for run in comparison.runs
    ]
    kinds = [said for said in SPENDING.values() if any(said in column for column in columns)]
    return [[said, *(column.get(said, "") for column in columns)] for said in kinds]


def comparison_layers(comparison: Comparison) -> list[list[str]]:
    """The states of each depth side by side."""
    return [
        [
            str(depth),
            *(f"{layer.states:,}" if layer else "" for layer in layers_at(comparison, depth)),
        ]
        for depth in comparison.depths
    ]


def spending(run: Figures) -> list[list[str]]:
    """Where the time went: what, how long, which share of all."""
    return [
        [SPENDING[kind], brief(seconds), f"{seconds / run.seconds:.1%}"]
        for kind, seconds in run.spent.items()
    ]


def spending_note(run: Figures) -> str:
    """How that is to be read, as far as need be."""
    if not any(kind in run.spent for kind in ("kernel", "codec", "disk", "rest")):
        return ""
    if "others" in run.spent:
        return (
            "Of the layers by tasks this is the mean over the workers; scheduling and waiting is "
            "the time in which a worker had no task."
        )
    return (
        "How many workers there were is not known, so scheduling and waiting is not told apart; "
        "the time is divided as the work of all workers together was."
    )


def why_no_boards(run: Figures) -> str:
    """Why a report shows no farthest positions; "" if it does."""
    if run.complete:
        return ""
    return "The farthest positions lie in the last layer, and the run is not complete."


def origin(run: Figures) -> list[tuple[str, str]]:
    """Where and with what the run was made: of its last leg, what it was made with."""
    facts = [("begun", _day(run.created))]
    if not run.legs:
        return [*facts, ("environment", NO_ENVIRONMENT)]
    last = run.legs[-1]
    cluster = last["config"]["cluster"]
    workers = f"{counted(cluster['workers'], 'worker')} of {size(cluster['memory'])}"
    if len(run.legs) > 1:
        facts.append(("legs", f"{len(run.legs)}; what follows is of the last one"))
    return [
        *facts,
        ("processor", f"{last['processor']}, {counted(last['cores'], 'core')}"),
        ("memory", size(last["memory"])),
        ("platform", last["platform"]),
        ("cluster", "serial" if cluster["kind"] == "serial" else f"{cluster['kind']}, {workers}"),
        ("Python", last["python"]),
        ("libraries", ", ".join(f"{name} {number}" for name, number in last["versions"].items())),
    ]


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def config_text(run: Figures) -> str:
    """The config that makes the run again, as TOML; but for where and on which hosts it ran."""
    known = {"search": {"keep": run.kept["keep"]}, "store": {"codec": run.kept["codec"]}}
    tables = run.legs[-1]["config"] if run.legs else {"puzzle": run.settings, **known}
    lines = [f"name = {_toml(run.name)}"]
    for table, values in tables.items():
        keys = sorted(values, key="kind".__ne__)  # that comes first, the others as they are
        lines += ["", f"[{table}]", *(f"{key} = {_toml(values[key])}" for key in keys)]
    return "\n".join(lines)


def _toml(value) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(of)}" for key, of in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str) and "\n" in value.strip() and "'''" not in value:
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False)
