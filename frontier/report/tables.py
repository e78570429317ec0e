"""The tables of a report in words, the same in every format."""

import json
import time
from typing import NamedTuple

from frontier.report.comparison import Comparison
from frontier.report.statistics import SPENDING, LayerStatistics, RunStatistics
from frontier.text import brief, counted, percent, rate, size

LAYER_HEADER = ["depth", "states", "share", "up to here", "growth", "time", "written"]

SO_FAR = " so far"
"""The names of numbers that may still change end so."""


class Table(NamedTuple):
    """A table of text; its first column names the rows."""

    header: list[str]
    rows: list[list[str]]


class Tables(NamedTuple):
    """The tables of a report: the key figures, where the time went, and the layers."""

    key: Table
    spending: Table
    layers: Table


def tables_of(subject: RunStatistics | Comparison) -> Tables:
    """The tables of a report of one run or of several."""
    if isinstance(subject, RunStatistics):
        spent = [
            [SPENDING[kind], brief(seconds), f"{seconds / subject.seconds:.1%}"]
            for kind, seconds in subject.spent.items()
        ]
        return Tables(
            Table(["", subject.name], [list(pair) for pair in key_figures(subject)]),
            Table(["", "time", "share"], spent),
            Table(LAYER_HEADER, list(map(_layer_row, subject.layers))),
        )
    spent = [
        {what: f"{time} ({share})" for what, time, share in tables_of(run).spending.rows}
        for run in subject.runs
    ]
    layers = [
        [str(depth), *(f"{layer.states:,}" if layer else "" for layer in subject.layers_at(depth))]
        for depth in subject.depths
    ]
    labels = subject.labels
    return Tables(
        Table(["", *labels], _key_rows(subject)),
        Table(["", *labels], _side_by_side(SPENDING.values(), spent)),
        Table(["depth", *labels], layers),
    )


def key_figures(run: RunStatistics) -> list[tuple[str, str]]:
    """The most important numbers of a run, each with its name."""
    if not run.layers:
        return [("states of the puzzle", f"{run.total:,}")]
    of = "" if run.complete else SO_FAR
    facts = [(f"depth{of}", counted(run.depth, "move")), (f"states{of}", f"{run.states:,}")]
    if run.complete:
        facts.append(("farthest positions", f"{run.farthest:,}"))
    else:
        facts.append(("states of the puzzle", f"{run.total:,}"))
    if run.diameter is not None:
        facts.append(("diameter of the state graph", counted(run.diameter, "move")))
    if run.puzzle.start is not None:
        found = run.start_depth
        facts.append(("from the start", "not found" if found is None else counted(found, "move")))
    return [
        *facts,
        (f"mean depth{of}", f"{run.mean:.2f}"),
        (f"median depth{of}", f"{run.median:g}"),
        (f"fullest layer{of}", f"depth {run.fullest.depth}"),
        ("time in layers", brief(run.seconds)),
        ("states a second", rate(run.states, run.seconds).removesuffix("/s")),
        ("written", size(run.bytes)),
    ]


def _layer_row(layer: LayerStatistics) -> list[str]:
    """A row under `LAYER_HEADER`."""
    return [
        str(layer.depth),
        f"{layer.states:,}",
        percent(layer.share),
        percent(layer.share_so_far),
        "" if layer.growth is None else f"{layer.growth:.3f}",
        brief(layer.seconds),
        size(layer.bytes) if layer.bytes else "",
    ]


def _key_rows(comparison: Comparison) -> list[list[str]]:
    """The key figures side by side, under the same names for complete runs and others."""
    columns = []
    for run in comparison.runs:
        column = {"puzzle": run.puzzle.title, "found": run.standing}
        if any(not other.complete for other in comparison.runs):
            column["states of the puzzle"] = f"{run.total:,}"
        for name, value in key_figures(run):
            if name.endswith(SO_FAR):
                column[name.removesuffix(SO_FAR)] = value + SO_FAR
            elif name != "states of the puzzle":
                column[name] = value
        if not run.complete:
            column["farthest positions"] = "not known yet"
        columns.append(column)
    return _side_by_side(dict.fromkeys(name for column in columns for name in column), columns)


def _side_by_side(names, columns: list[dict[str, str]]) -> list[list[str]]:
    """A row for each name that some column has."""
    held = [name for name in names if any(name in column for column in columns)]
    return [[name, *(column.get(name, "") for column in columns)] for name in held]


def spending_note(run: RunStatistics) -> str:
    """How the table of spending is to be read, where it has layers by tasks; else nothing."""
    if not any(kind in run.spent for kind in ("kernel", "codec", "disk", "rest")):
        return ""
    if "others" in run.spent:
        return (
            "Of the layers by tasks this is the mean over the workers; scheduling and waiting is "
            "the time in which a worker had no task."
        )
    return (
        "How many workers there were is not known, so scheduling and waiting is not a part of its "
        "own; the time is divided as the work of all workers together was."
    )


def why_no_boards(run: RunStatistics) -> str:
    """Why a report shows no farthest positions; "" if it does."""
    if run.complete:
        return ""
    return "The farthest positions lie in the last layer, and the run is not complete."


def origin(run: RunStatistics) -> list[tuple[str, str]]:
    """When the run was begun, and with what it was made when it was started last."""
    begun = time.strftime("%Y-%m-%d", time.gmtime(run.run.identity["created"]))
    facts = [("begun", begun)]
    if not run.starts:
        missing = "environment.json is missing or damaged, so this is not known"
        return [*facts, ("environment", missing)]
    last = run.starts[-1]
    cluster = last["config"]["cluster"]
    workers = f"{counted(cluster['workers'], 'worker')} of {size(cluster['memory'])}"
    if len(run.starts) > 1:
        facts.append(("started", f"{len(run.starts)} times; what follows is of the last time"))
    return [
        *facts,
        ("processor", f"{last['processor']}, {counted(last['cores'], 'core')}"),
        ("memory", size(last["memory"])),
        ("platform", last["platform"]),
        ("cluster", "serial" if cluster["kind"] == "serial" else f"{cluster['kind']}, {workers}"),
        ("Python", last["python"]),
        ("libraries", ", ".join(f"{name} {number}" for name, number in last["versions"].items())),
    ]


def config_text(run: RunStatistics) -> str:
    """The config that makes the run again, as TOML, without its directory and its hosts."""
    keep, codec = (run.run.identity[key] for key in ("keep", "codec"))
    known = {"search": {"keep": keep}, "store": {"codec": codec}}
    tables = run.starts[-1]["config"] if run.starts else {"puzzle": run.settings, **known}
    lines = [f"name = {_toml(run.name)}"]
    for table, values in tables.items():
        keys = sorted(values, key="kind".__ne__)  # the kind comes first, the others as they are
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
