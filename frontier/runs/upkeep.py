"""Verifying a run of any kind while another process may resume it."""

from frontier.errors import CorruptRunError, Gone
from frontier.runs.checks import Checks, Say
from frontier.runs.kind import kind_of, open_run
from frontier.runs.stored_run import StoredRun


def verified(run: StoredRun, count: int, seed: int, say: Say) -> tuple[StoredRun, Checks]:
    """Return the run in the state in which it was verified, and the result of `Kind.verify`.

    In an object store no lock keeps writers out, so a run that seems damaged is verified again if
    another process has resumed it meanwhile.
    """
    try:
        result = kind_of(run).verify(run, count, seed, say)
    except CorruptRunError:
        if (reopened := _moved_on(run)) is None:
            raise
        return verified(reopened, count, seed, say)
    if result.faults and (reopened := _moved_on(run)):
        return verified(reopened, count, seed, say)
    return run, result


def _moved_on(run: StoredRun) -> StoredRun | None:
    """Return the run in its present state, if it has continued since it was opened."""
    try:
        run.check_mine()
    except Gone:
        return open_run(run.storage)
    return None
