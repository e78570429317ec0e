"""Runs by cosets, as a kind of run."""

from frontier.cosets.progress import CosetProgress
from frontier.cosets.results import farthest_found, gods_number_value
from frontier.cosets.run import CosetRun
from frontier.runs.kind import Kind
from frontier.storage.tables import delete_tables


class _ByCosets(Kind[CosetRun]):
    run, progress = CosetRun, CosetProgress
    results, farthest = staticmethod(gods_number_value), staticmethod(farthest_found)
    delete = staticmethod(delete_tables)

    def verify(self, run, count, seed, say):
        from frontier.cosets.checks import check_cosets  # few commands check

        return check_cosets(run, count, seed, say)

    def repair(self, run, say):
        from frontier.cosets.repair import plan_coset_repair

        return plan_coset_repair(run, self.verify(run, 0, 0, say))


KIND = _ByCosets()
