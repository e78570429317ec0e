"""The results of a run of either kind, in the form of ``summary.json`` and ``status --json``."""

from typing import TYPE_CHECKING

from frontier.report.console import warn_unwritten
from frontier.runs.directory import SUMMARY
from frontier.runs.layer_run import LayerRun
from frontier.runs.stored_run import StoredRun
from frontier.runs.summary import run_value, summary, write_summary

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun


def summary_of(run: "LayerRun | CosetRun") -> dict:
    """Return the content of ``summary.json``."""
    return summary(run) if isinstance(run, LayerRun) else _found(run)


def found_so_far(run: "LayerRun | CosetRun") -> dict:
    """Return the results of a run so far; for a run by layers, without its farthest positions."""
    return run_value(run) if isinstance(run, LayerRun) else _found(run)


def _found(run: "CosetRun") -> dict:
    from frontier.report.gods_number import gods_number_value  # this loads all of `cosets`

    return gods_number_value(run)


def write_summary_or_warn(run: StoredRun, value: dict) -> None:
    """Write ``summary.json``, if the run is still in its place. If the file cannot be written, only
    warn, because a complete run may be in a read-only place."""
    run.check_here()
    try:
        write_summary(run.storage, value)
    except OSError as error:
        warn_unwritten(run.storage.place(SUMMARY), error)
