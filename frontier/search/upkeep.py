"""Verifying and repairing a run of either kind."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from frontier.errors import CorruptRunError, Gone
from frontier.runs.kinds import open_run
from frontier.runs.layer_run import LayerRun
from frontier.search.repair import Repair, plan_repair
from frontier.search.verify import Verified, verify

if TYPE_CHECKING:
    from frontier.runs.coset_run import CosetRun
    from frontier.search.coset_checks import Checked
    from frontier.search.coset_repair import CosetRepair

Say = Callable[[str], None]
"""Called with each step in words."""


def verified(
    run: "LayerRun | CosetRun", count: int, seed: int, say: Say
) -> "tuple[LayerRun | CosetRun, Verified | Checked]":
    """Return the run in the state in which it was verified, and the result.

    count: the argument `deep` of `verify`, or, for a run by cosets, the number of portions to
    search again. In an object store no lock keeps writers out, so a run that seems damaged is
    verified again if another process has resumed it meanwhile.
    """
    try:
        result = _verify(run, count, seed, say)
    except CorruptRunError:
        if (reopened := _moved_on(run)) is None:
            raise
        return verified(reopened, count, seed, say)
    if result.faults and (reopened := _moved_on(run)):
        return verified(reopened, count, seed, say)
    return run, result


def _verify(run: "LayerRun | CosetRun", count: int, seed: int, say: Say) -> "Verified | Checked":
    if isinstance(run, LayerRun):
        return verify(run, count, seed, say)
    from frontier.search.coset_checks import check_cosets  # imports all of `cosets`

    return check_cosets(run, count, seed, say)


def _moved_on(run: "LayerRun | CosetRun") -> "LayerRun | CosetRun | None":
    """Return the run in its present state, if it has continued since it was opened."""
    try:
        run.check_mine()
    except Gone:
        return open_run(run.storage)
    return None


def repair_of(run: "LayerRun | CosetRun", say: Say) -> "Repair | CosetRepair":
    """Return the steps that repair a run; raises CorruptRunError if it cannot be repaired."""
    if isinstance(run, LayerRun):
        return plan_repair(run, verify(run, 0, 0, say))
    from frontier.search.coset_checks import check_cosets  # imports all of `cosets`
    from frontier.search.coset_repair import plan_coset_repair

    return plan_coset_repair(run, check_cosets(run, 0, 0, say))
