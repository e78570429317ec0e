"""A model of how driver, workers and repair share a run directory, gone through exhaustively.

A state of the model (`protocol_states.py`) is what the disk holds and what each process is going to
do. All states are visited that some order of the steps of driver and workers (`protocol_tasks.py`)
leads to, with kills, power losses, and workers that outlive their driver. A step is what other
processes cannot see half done: a system call that changes a name, or a look at a file. Each step
stands for a part of the program:

| step | in the program |
| --- | --- |
| delete | `delete_files` |
| create | `LayerRun.create` |
| open | `LayerRun.open` |
| missing, missing too | `LayerRun.missing` |
| sweep | `LayerRun.sweep` |
| force all | `LayerRun.force` |
| search | `Driver.search` |
| make, store | `Driver._commit_origins` |
| layer, collect | `layer_by_tasks` |
| hand out | `DaskExecutor.run` |
| advance | `Driver._make_here`, `Held` |
| commit | `Driver._commit`, `LayerRun.commit`, done as clean, force layers, write, clear, remove |
| announce | `LayerFinished` |
| look, look again | `expand_task`, which looks whether its part is there, and whole |
| read | `StoredLayer.load` |
| scratch | `PartWriter` |
| rename, force | `PartWriter.finish` |
| exists, unlink | `LayerRun.delete_replaced_part` |
| hand in | `TaskResult` |
| verify | `verify`, `plan_repair`, `LayerRepair.take`, `LayerRun.roll_back` |

That a part may be written over the file of one that was unlinked is no step here:
`campaigns/powerloss.py` goes over it, call by call.
"""

from collections.abc import Iterator

from tests.layers.protocol_states import (
    EMPTY,
    REFUSED,
    RIGHT,
    TORN,
    Disk,
    Driver,
    Refused,
    Scenario,
    Violation,
    World,
    explore,
    home,
    is_part,
)
from tests.layers.protocol_tasks import Tasks


def states_of(scenario: Scenario) -> int:
    """How many states a scenario has; Violation if one of them must not be."""
    model = Model(scenario)
    left = scenario.zombies, scenario.twice, scenario.dying
    return explore(World(driver=Driver(("start",)), left=left), model.steps, scenario)


class Model(Tasks):
    """What may happen in a scenario."""

    def __init__(self, scenario: Scenario):
        ends = [leg.ends == "power" for leg in scenario.legs[:-1]]
        super().__init__(scenario, [any(ends[leg:]) for leg in range(len(scenario.legs))])

    def steps(self, world: World) -> Iterator[tuple[str, World]]:
        """All that may happen next: (what, the world after it)."""
        driver = world.driver
        waits = driver.todo[:1] == ("collect",) and not self._all_in(driver)
        if driver.todo and not waits:
            for after in world.decided(self._driver_step):
                yield driver.todo[0], after
        for worker in world.workers:
            for after in world.decided(self.worker_step, worker):
                yield f"{worker.todo[0]} ({worker.name})", after
        if driver.waiting and sum(w.boss for w in world.workers) < self.of.workers:
            yield "hand out", self.hand_out(world)
        yield from self._losses(world)
        if world.leg + 1 < len(self.legs) and driver.todo:
            yield from self._ends(world)

    # --- what goes wrong

    def _losses(self, world: World) -> Iterator[tuple[str, World]]:
        """Workers that die or are cut off; their tasks are done again."""
        zombies, twice, dying = world.left
        for worker in world.workers:
            if worker.boss:
                collecting = world.driver.todo[:1] == ("collect",)
                again = {worker.task} if collecting else set()
                gone = world.without(worker).now(waiting=world.driver.waiting | again)
                if dying:
                    yield "dies", gone._replace(left=(zombies, twice, dying - 1))
                if twice:
                    left = zombies, twice - 1, dying
                    yield "is cut off", gone.having(worker._replace(boss=False), left=left)

    def _ends(self, world: World) -> Iterator[tuple[str, World]]:
        """The driver dies, and its workers may go on without it; or the power fails."""
        leg, sure = self.legs[world.leg], world.driver.sure
        after = world._replace(leg=world.leg + 1, driver=Driver(("start",)))
        if leg.ends == "power":
            if sure or leg.fresh or not (leg.forced and world.leg):  # else as if in the leg before
                disk = Disk(world)
                disk.lose_power()
                kept = {"announced": world.announced} if sure else {"announced": None}
                excused = world.excused or not sure
                after = after._replace(workers=(), excused=excused, **kept)
                yield "power loss", after._replace(**disk.frozen())
            return
        zombies, *left = world.left
        after = after._replace(workers=tuple(w for w in world.workers if not w.boss))
        yield "kill", after
        for worker in world.workers if zombies else ():
            if worker.boss:
                yield "kill", after.having(worker._replace(boss=False), left=(zombies - 1, *left))
        for name, _ in world.disk if leg.hurt else ():
            if is_part(name):
                disk = Disk(world)
                disk.put(name, TORN)
                yield "damage", after._replace(**disk.frozen(), excused=True)

    # --- the driver

    def _driver_step(self, world: World) -> World:
        todo = world.driver.todo
        step, *arguments = todo[0] if isinstance(todo[0], tuple) else todo[:1]
        disk = Disk(world, self.power[world.leg], world.driver.run)
        world = world.now(todo=todo[1:])
        try:
            world = getattr(self, f"_{step.replace(' ', '_')}")(world, disk, *arguments) or world
        except Refused as error:
            if not world.excused or self.legs[world.leg].fresh:
                raise Violation(f"the run is refused, as {error}") from None
            return REFUSED
        return world._replace(**disk.frozen())

    def _start(self, world: World, disk: Disk) -> World:
        leg, there = self.legs[world.leg], disk.get("directory") and disk.get("run")
        first = ["delete"] if leg.fresh and there else []
        return world.then(*first, "create", *["verify"] * leg.repaired, "open")

    def _delete(self, world: World, disk: Disk) -> World:
        names = ("copy", "ledger"), "ledger", ("copy", "run"), "run"
        files = [("unlink", name) for name in names]
        layers = [("clear", depth) for depth in range(self.of.last + 2)]
        layers += [("remove", depth) for depth in range(self.of.last + 2)]
        world = world._replace(announced=None, excused=True)  # until a new run is there
        world = world.now(run=disk.get("run"))
        return world.then(*files, *layers, ("unlink", "directory"))

    def _unlink(self, world: World, disk: Disk, name) -> None:
        disk.put(name, None)
        if name != "directory" and not self.broken("what is deleted is not forced"):
            disk.force_names(home(name))

    def _create(self, world: World, disk: Disk) -> World | None:
        if disk.get("run"):
            return None
        for name in ("ledger", ("copy", "ledger")):
            if (ledger := disk.get(name)) == TORN or (ledger and ledger[1]):
                raise Refused("there are layers, but no run.json")
        if not disk.get("directory"):
            disk.put("directory", True)
        run = 1 if self.broken("runs have no identifier") else world.leg + 1
        ledger = (run, (), False)
        files = {"run": run, ("copy", "run"): run, "ledger": ledger, ("copy", "ledger"): ledger}
        writes = [("write", name, value) for name, value in files.items()]
        return world._replace(excused=False).then(*writes, "force above")

    def _write(self, world: World, disk: Disk, name, value) -> None:
        disk.write(name, value, self.legs[world.leg].forced)

    def _force_above(self, world: World, disk: Disk) -> World:
        sure = self.legs[world.leg].forced
        if sure and not self.broken("the run's own name is not forced"):
            disk.force_names("above")
        return world.now(sure=sure)

    def _open(self, world: World, disk: Disk) -> World:
        run, ledger = disk.get("run"), disk.get("ledger")
        disk.run, begun = run, ledger or (run, (), False)
        lost = ledger is None and any(map(disk.folder, range(self.of.last + 2)))
        if lost or TORN in (run, ledger) or begun[0] != run:
            raise Refused("run.json or the ledger is damaged")
        names = ["ledger", ("copy", "ledger")] if ledger is None else []  # stopped as it began
        writes, records = [("write", name, begun) for name in names], begun[1]
        two = sum(stored for _, stored in records) == 2 and not self.broken("spare layers fade")
        fading = len(records) - 2 if two else None
        world = world.now(run=run, records=records, complete=begun[2], fading=fading)
        forces = self.legs[world.leg].forced and not world.driver.sure
        return world.then("missing", "sweep", *writes, *["force all"] * forces, "search")

    def _missing(self, world: World, disk: Disk) -> World | None:
        records = world.driver.records
        for depth, (values, stored) in enumerate(records):
            there = disk.tasks(depth)
            if stored and len(there) < len(values):
                if depth + 2 < len(records) or depth == 0:
                    raise Refused(f"layer {depth} lacks a part")
                return world.then(("missing too", depth, there))
        return None

    def _missing_too(self, world: World, disk: Disk, depth: int, there: frozenset) -> None:
        replaced = disk.tasks(depth + 2) if depth + 2 == len(world.driver.records) else frozenset()
        if len(there | replaced) < self.of.tasks:
            raise Refused(f"layer {depth} lacks a part")

    def _sweep(self, world: World, disk: Disk) -> World:
        records, steps = world.driver.records, []
        for depth in range(self.of.last + 2):
            if depth == len(records) and not world.driver.complete:
                swept = [("clear", depth)] if self.broken("parts under way are swept") else []
                steps += [("clean", depth), *swept] if disk.folder(depth) else []
            elif disk.folder(depth) and not (depth < len(records) and records[depth][1]):
                steps += [("clear", depth), ("remove", depth)]
        return world.then(*steps)

    def _clean(self, world: World, disk: Disk, depth: int) -> None:
        for name in disk.inside(depth, scratch=True):
            disk.put(name, None)

    def _clear(self, world: World, disk: Disk, depth: int) -> None:
        for scratch in (True, False):
            for name in disk.inside(depth, scratch):
                disk.put(name, None)

    def _remove(self, world: World, disk: Disk, depth: int) -> None:
        if not (disk.inside(depth, True) or disk.inside(depth, False)):
            disk.put(("layer", disk.run, depth), None)

    def _force_all(self, world: World, disk: Disk) -> World:
        if not self.broken("earlier legs are not forced"):
            disk.force_everything()
        announced = world.driver.run, len(world.driver.records)
        return world.now(sure=True)._replace(announced=announced)

    def _search(self, world: World, disk: Disk) -> World | None:
        records, leg = world.driver.records, self.legs[world.leg]
        if not records:
            commit = "commit", ((RIGHT,),), False
            return world.then(("make", 0), ("store", 0, 0), commit, "search")
        if world.driver.complete:
            return None
        if not leg.spare and sum(stored for _, stored in records) > 2:
            return world.then(("commit", (), False), "search")
        return world.then("layer" if leg.tasks or disk.tasks(len(records)) else "advance")

    def _make(self, world: World, disk: Disk, depth: int) -> None:
        disk.make_folder(depth)

    def _store(self, world: World, disk: Disk, depth: int, task: int) -> None:
        part = world.driver.run, depth, task, RIGHT
        disk.write((disk.folder(depth), task), part, self.legs[world.leg].forced)

    def _layer(self, world: World, disk: Disk) -> World:
        depth = len(world.driver.records)
        steps = [("make", depth), "force layers", "hand out all"]
        if not disk.tasks(depth) and self.broken("a layer that was begun is abandoned"):
            steps = [("clear", depth), ("remove", depth), *steps]
        return world.then(*steps)

    def _hand_out_all(self, world: World, disk: Disk) -> World:
        return world.now(waiting=frozenset(range(self.of.tasks))).then("collect")

    def _all_in(self, driver: Driver) -> bool:
        enough = 1 if self.broken("committed before all tasks are done") else self.of.tasks
        return len(driver.results) >= enough

    def _collect(self, world: World, disk: Disk) -> World:
        found = dict(world.driver.results)
        values = tuple(found.get(task, RIGHT) for task in range(self.of.tasks))
        world = world.now(results=frozenset(), waiting=frozenset())
        if set(values) == {EMPTY}:
            depth = len(world.driver.records)
            return world.then(("commit", (), True), ("clear", depth), ("remove", depth))
        return world.then(("commit", (values,), False), "search")

    def _advance(self, world: World, disk: Disk) -> World:
        depth, run = len(world.driver.records), world.driver.run
        for before in range(max(0, depth - 2), depth):
            for task in range(self.of.tasks if before else 1):
                if disk.part(before, task) != (run, before, task, RIGHT):
                    if not disk.tasks(depth) or self.broken("memory does not give way to tasks"):
                        raise Refused(f"layer {before} lacks a part")
                    return world.then("layer")
        new, steps = range(depth, min(depth + 1, self.of.last) + 1), []
        for at in new:
            steps += [("make", at), *(("store", at, task) for task in range(self.of.tasks))]
        values = tuple((RIGHT,) * self.of.tasks for _ in new)
        return world.then(*steps, ("commit", values, depth + 1 >= self.of.last), "search")

    def _commit(self, world: World, disk: Disk, values: tuple, complete: bool) -> World:
        driver, leg = world.driver, self.legs[world.leg]
        stored = [depth for depth, record in enumerate(driver.records) if record[1]]
        forget = stored[: max(0, len(stored) + len(values) - 2 - leg.spare)]
        before = len(driver.records) - 2
        fades = before == driver.fading or len(disk.tasks(before)) < self.of.tasks
        if before > 0 and before in stored and fades:
            forget = sorted({*forget, before})
        records = (*driver.records, *((some, True) for some in values))
        records = tuple((some, kept and d not in forget) for d, (some, kept) in enumerate(records))
        ledger = (driver.run, records, complete)
        cleans = [("clean", depth) for depth in range(len(driver.records), len(records))]
        writes = [("write", "ledger", ledger), ("write", ("copy", "ledger"), ledger)]
        forgets = [(step, depth) for depth in forget for step in ("clear", "remove")]
        both = [*forgets, *writes] if self.broken("forgotten too early") else [*writes, *forgets]
        world = world.now(records=records, complete=complete)
        return world.then(*cleans, "force layers", *both, "announce")

    def _force_layers(self, world: World, disk: Disk) -> None:
        if self.legs[world.leg].forced and not self.broken("folders of layers are not forced"):
            disk.force_names("layer")

    def _announce(self, world: World, disk: Disk) -> World:
        depth = len(world.driver.records) - 1
        torn = TORN in [disk.part(depth, task) for task in disk.tasks(depth)]
        if torn and not world.driver.complete:
            raise Violation("a damaged part is committed")
        return world._replace(announced=(world.driver.run, depth + 1))

    def _verify(self, world: World, disk: Disk) -> World | None:
        """What `verify` and `plan_repair` find; `repair` does it next."""
        if disk.get("ledger") is None:  # stopped as it began
            return None
        run, records, complete = disk.get("ledger")
        disk.run = run
        last, given_up, whole = len(records) - 1, False, []
        for depth, (values, stored) in enumerate(records):
            parts = [disk.part(depth, task) for task in range(len(values))]
            replaced = disk.tasks(depth + 2) if 0 < depth == last - 1 else frozenset()
            missing = {task for task, part in enumerate(parts) if part is None}
            given_up |= stored and bool(missing & replaced)
            if stored and not missing - replaced and TORN not in parts:
                whole.append(depth)
        redo = [n for n in sorted(disk.tasks(last + 1)) if disk.part(last + 1, n) == TORN]
        gone = [n for n in redo if given_up and disk.part(last - 1, n) is None]
        for depth in reversed(whole):
            back = [d for d in whole if depth == last or d != last - 1 or not given_up]
            if depth not in back or (depth == last and gone):
                continue
            if depth == 0 or depth - 1 in back or (complete and depth == last):
                kept = tuple((values, d in back) for d, (values, _) in enumerate(records))
                ledger = run, kept[: depth + 1], complete and depth == last
                steps = [("write", "ledger", ledger), ("write", ("copy", "ledger"), ledger)]
                for beyond in range(depth + 1, last + 2) if depth < last else ():
                    steps += [("clear", beyond), ("remove", beyond)]
                steps += [("unlink", (disk.folder(last + 1), n)) for n in redo if depth == last]
                return world._replace(announced=None).then(*steps)
        if self.legs[world.leg].spare >= 2 and last >= 2:
            raise Violation("one part is damaged, and spare layers do not help")
        if records:
            raise Refused("there are no two whole layers in a row")
        return None
