"""The tables of a report in words, the same in every format."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from frontier.report.statistics import SPENDING, Report, RunStatistics
from frontier.text import brief, counted, percent, rate, size

LAYER: dict[str, tuple[str, Callable[[Any], str]]] = {
    "depth": ("depth", str),
    "states": ("states", "{:,}".format),
    "share": ("share", percent),
    "share_so_far": ("up to here", percent),
    "growth": ("growth", lambda times: f"{times:.3f}" if times else ""),
    "seconds": ("time", brief),
    "bytes": ("written", lambda count: size(count) if count else ""),
}
"""The columns of the layers of one run: a field of `LayerStatistics`, its heading and its
format."""


class Table(NamedTuple):
    """A table of text; its first column names the rows."""

    header: list[str]
    rows: list[list[str]]


class Tables(NamedTuple):
    """The tables of a report: the key figures, the time by kind of work, and the layers."""

    key: Table
    spending: Table
    layers: Table


def tables_of(report: Report) -> Tables:
    """Return the tables of a report, with a column for each run.

    For one run the table of layers has all numbers of each layer; for several runs it has only the
    states.
    """
    key = [key_figures(run) for run in report.runs]
    spending = [
        {SPENDING[kind]: f"{brief(of)} ({of / run.seconds:.1%})" for kind, of in run.spent.items()}
        for run in report.runs
    ]
    if run := report.one:
        columns = LAYER
        if run.members:  # beside the states, which stand for them
            begin = {name: LAYER[name] for name in ("depth", "states")}
            columns = begin | {"members": ("members", "{:,}".format)} | LAYER
        header = [heading for heading, _ in columns.values()]
        forms = {name: form for name, (_, form) in columns.items()}
        rows = [[form(getattr(of, name)) for name, form in forms.items()] for of in run.layers]
    else:
        titles = [{"puzzle": run.puzzle.title, "state": run.standing} for run in report.runs]
        key = [title | figures for title, figures in zip(titles, key, strict=True)]
        header = ["depth", *report.labels]
        rows = [
            [str(depth), *(f"{of.states:,}" if of else "" for of in layers)]
            for depth, layers in enumerate(report.layers)
        ]
    return Tables(
        _side_by_side(report, (name for column in key for name in column), key),
        _side_by_side(report, SPENDING.values(), spending),
        Table(header, rows),
    )


def key_figures(run: RunStatistics) -> dict[str, str]:
    """Return the most important numbers of a run by name."""
    if (fullest := run.fullest) is None:
        return {"states": f"0 of {run.total:,}" if run.total else "0"}
    of, so_far = ("", "") if run.complete else (f" of {run.total:,}", " so far")
    if run.total == run.states:  # the total is not known
        of = so_far
    figures = {
        "depth": counted(run.depth or 0, "move") + so_far,
        "states": f"{run.states:,}{of}",
        "farthest positions": f"{run.farthest:,}" if run.complete else "not known yet",
    }
    if run.members:
        figures["members of the classes"] = f"{run.members:,}{so_far}"
    if run.diameter is not None:
        figures["diameter of the state graph"] = counted(run.diameter, "move")
    if run.puzzle.start is not None:
        distance = run.run.start_depth
        figures["from the start"] = "not found" if distance is None else counted(distance, "move")
    return figures | {
        "mean depth": f"{run.mean_depth:.2f}{so_far}",
        "median depth": f"{run.median:g}{so_far}",
        "fullest layer": f"depth {fullest.depth}{so_far}",
        "time in layers": brief(run.seconds),
        "states per second": rate(run.states, run.seconds).removesuffix("/s"),
        "written": size(run.bytes),
    }


def _side_by_side(report: Report, names: Iterable[str], columns: list[dict[str, str]]) -> Table:
    """Return a table with a row for each name in any of the columns."""
    held = [name for name in dict.fromkeys(names) if any(name in column for column in columns)]
    rows = [[name, *(column.get(name, "") for column in columns)] for name in held]
    return Table(["", *report.labels], rows)
