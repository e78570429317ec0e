"""Runs by layers, as a kind of run."""

from frontier.layers.farthest import farthest
from frontier.layers.progress import LayerProgress
from frontier.layers.run import LAYERS, LayerRun, remove_runs
from frontier.runs.kind import Kind


class _ByLayers(Kind[LayerRun]):
    run, progress, farthest = LayerRun, LayerProgress, staticmethod(farthest)

    def verify(self, run, count, seed, say):
        from frontier.layers.verify import verify  # few commands check

        return verify(run, count, seed, say)

    def repair(self, run, say):
        from frontier.layers.repair import plan_repair

        return plan_repair(run, self.verify(run, 0, 0, say))

    def results(self, run):
        from frontier.layers.summary import run_value

        return run_value(run)

    def summary(self, run):
        from frontier.layers.summary import summary

        return summary(run)

    def delete(self, storage):
        remove_runs(storage)
        storage.sweep(LAYERS)
        storage.remove_folder(LAYERS)


KIND = _ByLayers()
