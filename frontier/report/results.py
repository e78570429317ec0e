"""What a run of either kind has found, as its ``summary.json`` and ``status --json`` have it."""

from typing import TYPE_CHECKING

from frontier.report.console import warn_unwritten
from frontier.runs.directory import SUMMARY
from frontier.runs.layer_run import LayerRun
from frontier.runs.stored_run import StoredRun
from frontier.runs.summary import run_value, summary, write_summary

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun


def summary_of(run: "LayerRun | CosetRun") -> dict:
    """Return what ``summary.json`` holds."""
    return summary(run) if isinstance(run, LayerRun) else _found(run)


def found_so_far(run: "LayerRun | CosetRun") -> dict:
    """Return what a run has found so far, without its farthest positions if it is by layers."""
    return run_value(run) if isinstance(run, LayerRun) else _found(run)


def _found(run: "CosetRun") -> dict:
    from frontier.report.gods_number import gods_number_value  # with all of `cosets`

    return gods_number_value(run)


def write_summary_or_warn(run: StoredRun, value: dict) -> None:
    """Write ``summary.json``, if the run still is at its place; warn if the file cannot be written,
    as a complete run may be kept where nothing can be."""
    run.check_here()
    try:
        write_summary(run.storage, value)
    except OSError as error:
        warn_unwritten(run.storage.place(SUMMARY), error)
