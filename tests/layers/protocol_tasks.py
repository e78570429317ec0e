"""What a worker does in the model of `protocol.py`: one task, step by step."""

from tests.layers.protocol_states import (
    EMPTY,
    REFUSED,
    RIGHT,
    TORN,
    WRONG,
    Disk,
    Refused,
    Scenario,
    Violation,
    Worker,
    World,
    is_part,
)


class Tasks:
    """The steps of workers in a scenario. power: whether it may yet be lost, by leg."""

    def __init__(self, scenario: Scenario, power: list[bool]):
        self.of, self.legs, self.power = scenario, scenario.legs, power

    def broken(self, mistake: str) -> bool:
        return mistake == self.of.broken

    def hand_out(self, world: World) -> World:
        driver, depth = world.driver, len(world.driver.records)
        task = min(driver.waiting)
        gives_up = self.legs[world.leg].spare == 0 and depth > 2
        world = world.now(waiting=driver.waiting - {task})
        return world.having(self._worker(world, depth, task, gives_up))

    def _sources(self, task: int) -> set[int]:
        """The parts of the layer before that a task reads."""
        return {task, (task + 1) % self.of.tasks}

    def _worker(self, world: World, depth: int, task: int, gives_up: bool) -> Worker:
        leg = self.legs[world.leg]
        sources = [(depth - 1, n) for n in sorted(self._sources(task))]
        sources += [(depth - 2, task)] if depth > 1 else []
        reads = dict.fromkeys(("read", d, n if d else 0) for d, n in sources)
        steps = ["scratch", "rename", "force", *(["exists", "unlink"] if gives_up else [])]
        if self.broken("given up before it is replaced") and gives_up:
            steps = ["unlink", *steps[:3]]
        if self.broken("given up before the new part is forced") and gives_up:
            steps = [*steps[:2], *steps[3:], "force"]
        name = next(i for i in range(9) if i not in {w.name for w in world.workers})
        todo = ("look", *reads, *steps, "hand in")
        return Worker(name, world.driver.run, depth, task, todo, leg.forced)

    def worker_step(self, world: World, worker: Worker) -> World:
        step, *arguments = worker.todo[0] if isinstance(worker.todo[0], tuple) else worker.todo[:1]
        disk = Disk(world, self.power[world.leg], worker.run)
        world = world.without(worker)
        after = worker._replace(todo=worker.todo[1:])
        try:
            after = getattr(self, f"_task_{step.replace(' ', '_')}")(disk, after, *arguments)
        except Refused as error:
            disk.put((disk.folder(worker.depth), "scratch", worker.name), None)
            if worker.boss:
                if not world.excused:
                    raise Violation(f"a task fails, as {error}") from None
                return REFUSED
            after = None
        if disk.get("run") not in (None, worker.run):
            changed = {name for name, _ in world.disk ^ frozenset(disk.now.items())}
            mine = {of for name, of in disk.now.items() if name[:2] == ("layer", disk.get("run"))}
            if any(is_part(name) and name[0] in mine for name in changed):
                raise Violation("a worker of an earlier run changes a part of this one")
        world = world._replace(**disk.frozen())
        if after is not None and after.todo:
            return world.having(after)
        if after is not None and after.boss:
            return world.now(results=world.driver.results | {(after.task, after.value)})
        return world

    def _task_look(self, disk: Disk, worker: Worker) -> Worker:
        if disk.get("run") != worker.run:
            raise Refused("another run is here")
        part = disk.part(worker.depth, worker.task)
        if part is None:
            return worker
        if part == TORN and self.broken("a part that is there is not read"):
            return self._found(worker, RIGHT)
        same = part[:3] == (worker.run, worker.depth, worker.task)
        return self._found(worker, part[3]) if same else worker

    def _found(self, worker: Worker, value: str) -> Worker:
        """Go on behind the renaming of the part."""
        todo = worker.todo[worker.todo.index("rename") + 1 :]
        if self.broken("a part that is there is not forced"):
            todo = tuple(step for step in todo if step != "force")
        return worker._replace(todo=todo, value=value)

    def _task_read(self, disk: Disk, worker: Worker, depth: int, task: int) -> Worker:
        part = disk.part(depth, task)
        if part is None and self.broken("a missing part is read as an empty one"):
            return worker._replace(value=WRONG)
        if part is None or part[:3] != (worker.run, depth, task):
            return worker._replace(todo=("look again", *worker.todo))
        return worker._replace(value=WRONG) if part[3] == WRONG else worker

    def _task_look_again(self, disk: Disk, worker: Worker) -> Worker:
        """Another may have done the task meanwhile, and given up what this one reads."""
        part = disk.part(worker.depth, worker.task) or TORN
        same = part[:3] == (worker.run, worker.depth, worker.task)
        if not same or self.broken("nobody looks again"):
            raise Refused("a part is missing or damaged")
        return self._found(worker, part[3])

    def _task_scratch(self, disk: Disk, worker: Worker) -> Worker:
        if not (folder := disk.folder(worker.depth)):
            raise Refused("the folder is gone")
        disk.put((folder, "scratch", worker.name), True)
        empty = worker.depth > self.of.last and worker.value == RIGHT
        return worker._replace(value=EMPTY) if empty else worker

    def _task_rename(self, disk: Disk, worker: Worker) -> Worker:
        folder = disk.folder(worker.depth)
        if not disk.get((folder, "scratch", worker.name)):
            raise Refused("the scratch file is gone")
        disk.put((folder, "scratch", worker.name), None)
        part = worker.run, worker.depth, worker.task, worker.value
        torn = not worker.forced or self.broken("parts are not forced")
        disk.put((folder, worker.task), part, torn)
        return worker

    def _task_force(self, disk: Disk, worker: Worker) -> Worker:
        folder = disk.folder(worker.depth)
        if worker.forced and not self.broken("parts are not forced"):
            disk.force((folder, worker.task))
            if not self.broken("names of parts are not forced"):
                disk.force_names(folder)
        return worker

    def _task_exists(self, disk: Disk, worker: Worker) -> Worker:
        there = disk.part(worker.depth, worker.task) is not None
        return worker if there else worker._replace(todo=("hand in",))

    def _task_unlink(self, disk: Disk, worker: Worker) -> Worker:
        if folder := disk.folder(worker.depth - 2):
            disk.put((folder, worker.task), None)
        return worker

    def _task_hand_in(self, disk: Disk, worker: Worker) -> Worker:
        return worker
