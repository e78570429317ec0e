"""A start of a run by layers."""

from frontier.errors import CorruptRunError
from frontier.executors.executor import Executor
from frontier.layers.loop import Driver
from frontier.layers.plan import Plan
from frontier.layers.run import LayerRun
from frontier.layers.task import close_workspace
from frontier.runs.drive import Search
from frontier.runs.events import Listener
from frontier.runs.identity import check_identity
from frontier.runs.kinds import BY_LAYERS
from frontier.space.keys import KeySpace
from frontier.text import counted


class LayerSearch(Search[LayerRun]):
    """Carries out a plan in its run directory.

    until: the last depth to compute, None for all. client: as for `Search`.
    """

    kind = BY_LAYERS

    def __init__(self, plan: Plan, until: int | None = None, client=None):
        super().__init__(plan.config, plan.config.storage, {"until": until}, client)
        self.plan, self.until = plan, until
        self.alone, self.mode = plan.in_memory, plan.mode_in_words
        self._driver: Driver | None = None

    @property
    def _durable(self) -> bool:
        return self.config.store.fsync == "layer"

    def open(self) -> LayerRun:
        existed = LayerRun.exists(self.storage)
        if not existed:
            self._check_program()
            return LayerRun.create(self.storage, self.plan.identity, self._durable)
        run = LayerRun.open(self.storage)
        check_identity(run.path, run.identity, self.plan.identity)
        if lost := run.missing():  # reported now, not hours later
            more = f" (and {counted(len(lost) - 1, 'more fault')})" if len(lost) > 1 else ""
            raise CorruptRunError(f"{lost[0]}{more}")
        self.check(run)
        if not self.is_done(run):
            self._check_program()
        return run

    def _check_program(self) -> None:
        """Raise InputError if the functions of a program cannot be used."""
        if isinstance(self.plan.space, KeySpace):
            _ = self.plan.space.rules

    def is_done(self, run: LayerRun) -> bool:
        return run.complete or (self.until is not None and len(run.records) > self.until)

    def prepare(self, run: LayerRun) -> None:
        run.durable, run.settings = self._durable, self.config.settings

    def search(self, run: LayerRun, executor: Executor, emit: Listener, began: float) -> None:
        if run.begun and run.durable:
            run.force()  # an earlier start may have left its files in the system's caches
        self._driver = Driver(self.plan, run, executor, emit, self.stopping, began)
        self._driver.search(self.until)

    def close(self, run: LayerRun) -> None:
        if self._driver:
            self._driver.close()
        close_workspace(run.ref)

    def check(self, run: LayerRun) -> None:
        """Raise CorruptRunError if a complete run does not hold every state of the space."""
        puzzle = self.plan.puzzle
        if puzzle.model.counted and run.complete and run.states != puzzle.states:
            raise CorruptRunError(
                f"the layers of {run.path} add up to {counted(run.states, 'state')}, but "
                f"{puzzle.title} has {puzzle.states:,}. The run is wrong; do not use it"
            )

    def pause(self, run: LayerRun) -> str:
        return f"depth {run.records[-1].depth} reached, as requested"
