"""States of the model of a run directory (`protocol.py`), and how all of them are visited.

What a part holds depends on nothing but the parts that it is made from, so a few values stand for
it: right, empty (rightly so), wrong (made from something else than the right parts) and torn, which
its digest tells. A file is read whole or refused.

Beside what processes see, the disk has what a power loss may leave: of each name any value that it
has had since its folder was last forced, and a content that was not forced may be torn. No order
among names is assumed, as POSIX promises none; what a file system with a journal leaves is one of
these possibilities. Which of them it is stays open until somebody looks.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

RIGHT, EMPTY, WRONG, TORN = "right", "empty", "wrong", "torn"
UNFORCED = "unforced"
"""Among what a power loss may leave of a name: that its content is torn."""


class Violation(AssertionError):
    """What must not be."""


class Refused(Exception):
    """A process ends with an error."""


class Undecided(Exception):
    """Somebody looks at a name of which it is open what a power loss has left."""


class Leg(NamedTuple):
    """A run from a start to a stop.

    fresh: with --fresh. forced: fsync = "layer". tasks: else in memory. spare: layers kept beside
    the last two. ends: how it may end at any moment, by a "kill", or a loss of "power". hurt: a
    part may be damaged then. repaired: the leg begins with `repair`.
    """

    fresh: bool = False
    forced: bool = True
    tasks: bool = True
    spare: int = 0
    ends: str = "kill"
    hurt: bool = False
    repaired: bool = False


class Scenario(NamedTuple):
    """What is explored: legs of a run of so many tasks a layer, whose last layer is `last`.

    All legs but the last may end at any moment. zombies: how many workers may outlive a killed
    driver. twice: how many may be given up for lost by their driver, and go on. dying: how many may
    be killed. broken: a mistake, by name, which the program does not make.
    """

    legs: tuple[Leg, ...] = (Leg(), Leg())
    tasks: int = 2
    last: int = 3
    workers: int = 1
    zombies: int = 0
    twice: int = 0
    dying: int = 0
    broken: str = ""


class Driver(NamedTuple):
    """todo: its next steps. records: of the ledger, (values of the parts, stored) each. waiting:
    tasks that no worker has. results: (task, value) of those that are done. sure: whether all that
    is announced has been forced to the disk. fading: a layer that workers of an earlier leg may
    still be giving up."""

    todo: tuple
    run: int = 0
    records: tuple = ()
    complete: bool = False
    waiting: frozenset = frozenset()
    results: frozenset = frozenset()
    sure: bool = False
    fading: int | None = None


class Worker(NamedTuple):
    """A task under way. boss: whether a driver waits for it. value: of the part so far."""

    name: int
    run: int
    depth: int
    task: int
    todo: tuple
    forced: bool
    boss: bool = True
    value: str = RIGHT


class World(NamedTuple):
    """disk: (name, value) of what is there. past: (name, values) that a power loss may bring back.
    maybe: (name, values) of which a power loss has left one, for who looks first to find out.
    announced: (run, layers) of which the user has been told. excused: whether something was lost
    that nobody had promised. left: how many zombies, tasks done twice and deaths may still come."""

    disk: frozenset = frozenset()
    past: frozenset = frozenset()
    maybe: frozenset = frozenset()
    leg: int = 0
    driver: Driver = Driver(())
    workers: tuple = ()
    announced: tuple[int, int] | None = None
    excused: bool = False
    left: tuple[int, int, int] = (0, 0, 0)

    def then(self, *steps) -> "World":
        """The driver does these steps next."""
        return self.now(todo=(*steps, *self.driver.todo))

    def now(self, **changes) -> "World":
        """The driver has changed."""
        return self._replace(driver=self.driver._replace(**changes))

    def without(self, worker: Worker) -> "World":
        return self._replace(workers=tuple(w for w in self.workers if w is not worker))

    def having(self, worker: Worker, **changes) -> "World":
        return self._replace(workers=tuple(sorted((*self.workers, worker), key=repr)), **changes)

    def decided(self, step: Callable, *arguments) -> "list[World]":
        """The worlds after a step, for everything that it may find where that is open."""
        try:
            return [step(self, *arguments)]
        except Undecided as undecided:
            (name,) = undecided.args
            worlds = []
            for value in dict(self.maybe)[name]:
                disk = Disk(self)
                disk.decide(name, value)
                worlds += self._replace(**disk.frozen()).decided(step, *arguments)
            return worlds


REFUSED = World(excused=True)
"""An end that is allowed after a loss which nobody had promised to prevent."""


class Disk:
    """What a world's disk holds, to be changed.

    Names are "directory", "run", "ledger", their copies ("copy", "run") and ("copy", "ledger"),
    ("layer", run, depth), whose value is a folder, (folder, task), whose value is a part, and
    (folder, "scratch", worker). A part is (run, depth, task, what it holds), or TORN.

    power: whether it may yet be lost. run: that of who looks, below which its layers lie.
    """

    def __init__(self, world: World, power: bool = False, run: int = 0):
        self.run = run
        self.now, self.past, self.maybe = dict(world.disk), dict(world.past), dict(world.maybe)
        self._power, self._same = power, True

    def get(self, name):
        """The value of a name; Undecided if that is open."""
        if name in self.maybe:
            raise Undecided(name)
        return self.now.get(name)

    def put(self, name, value, torn: bool = False) -> None:
        """Give a name a value; None: none. torn: the content has not been forced."""
        self._same = False
        before = self.maybe.pop(name, frozenset([self.now.pop(name, None)]))
        if value is not None:
            self.now[name] = value
        if self._power:
            past = self.past.get(name, frozenset()) | before
            past = past - {UNFORCED} | {TORN} if UNFORCED in past else past
            self.past[name] = past | {UNFORCED} if torn else past

    def force(self, name) -> None:
        """Of a content."""
        self._same = False
        self.past[name] = self.past.get(name, frozenset()) - {UNFORCED}

    def force_names(self, folder) -> None:
        self._same = False
        for name in self.past:
            if home(name) == folder:
                self.past[name] &= {UNFORCED}

    def force_everything(self) -> None:
        self.past, self._same = {}, False

    def write(self, name, value, forced: bool) -> None:
        """Put a file in place; forced: and both its content and its name on the disk."""
        self.put(name, value, torn=not forced)
        if forced:
            self.force_names(home(name))

    def folder(self, depth: int):
        return self.get(("layer", self.run, depth))

    def part(self, depth: int, task: int):
        return self.get((self.folder(depth), task))

    def inside(self, depth: int, scratch: bool) -> list:
        """Names in the folder of a layer: of scratch files or of parts."""
        there = self.folder(depth)
        for name in self.maybe:
            if home(name) == there:
                raise Undecided(name)
        return [n for n in self.now if there and home(n) == there and (len(n) == 3) == scratch]

    def tasks(self, depth: int) -> frozenset:
        """Those whose parts are there, whatever they hold."""
        return frozenset(name[1] for name in self.inside(depth, scratch=False))

    def make_folder(self, depth: int) -> None:
        if self.folder(depth) is None:
            used = {home(name) for name in (*self.now, *self.past)}
            used |= {value for name, value in self.now.items() if name[0] == "layer"}
            folder = next((depth, i) for i in range(9) if (depth, i) not in used)
            self.put(("layer", self.run, depth), folder)

    def lose_power(self) -> None:
        """Leave open what a power loss has left."""
        for name, values in self.past.items():
            left = self.maybe.get(name, frozenset([self.now.get(name)])) | values
            self.maybe[name] = frozenset(TORN if value == UNFORCED else value for value in left)
        self.past, self._same = {}, False

    def decide(self, name, value) -> None:
        """Let a name that is open have a value; a folder that is not there has nothing in it."""
        self._same = False
        del self.maybe[name]
        before = self.now.pop(name, None)
        if value is not None:
            self.now[name] = value
        elif name == "directory":
            self.now, self.maybe = {}, {}
        elif name[0] == "layer":
            self.now = {n: v for n, v in self.now.items() if home(n) != before}
            self.maybe = {n: v for n, v in self.maybe.items() if home(n) != before}

    def frozen(self) -> dict:
        """As a world has it."""
        if self._same:
            return {}
        past = ((name, values - {self.now.get(name)}) for name, values in self.past.items())
        return {
            "disk": frozenset(self.now.items()),
            "past": frozenset((name, values) for name, values in past if values),
            "maybe": frozenset(self.maybe.items()),
        }


def home(name):
    """The folder that a name is in."""
    if isinstance(name, str):
        return "above" if name == "directory" else "directory"
    return "directory" if name[0] == "copy" else name[0]


def is_part(name) -> bool:
    return isinstance(name[0], tuple) and len(name) == 2


def check(world: World, scenario: Scenario) -> None:
    """Violation unless all that must hold of every state does."""
    now, maybe = dict(world.disk), dict(world.maybe)
    if any(is_part(name) and value[3:] == (WRONG,) for name, value in now.items()):
        raise Violation("a part is wrong")
    directories, runs, ledgers = (
        maybe.get(name, {now.get(name)}) for name in ("directory", "run", "ledger")
    )
    for ledger in ledgers - {None, TORN}:
        if {value for values, _ in ledger[1] for value in values} - {RIGHT}:
            raise Violation("a layer is committed that is not right")
    if world.announced and (
        directories != {True}
        or runs != {world.announced[0]}
        or any(ledger in (None, TORN) or ledger[0] not in runs for ledger in ledgers)
        or any(len(ledger[1]) < world.announced[1] for ledger in ledgers)
    ):
        raise Violation("what is announced is lost")
    if not world.driver.todo and world != REFUSED:
        for ledger in ledgers:
            counts = [len(values) for values, _ in ledger[1]] if ledger and ledger[2] else []
            if counts != [1] + [scenario.tasks] * scenario.last:
                raise Violation("the run ends before its end")
    if not maybe and not world.excused:
        (run,), (ledger,) = runs, ledgers
        if ledger and run == ledger[0]:
            check_stored(Disk(world, run=run), ledger[1])


def check_stored(disk: Disk, records: tuple) -> None:
    """Violation unless each part that is needed is there, or the one that replaces it."""
    for depth, (values, stored) in enumerate(records):
        later = depth + 2 if depth and depth + 2 == len(records) else depth
        for task in range(len(values)) if stored else ():
            parts = disk.part(depth, task), disk.part(later, task)
            if not any(part and part[3:] in ((RIGHT,), (EMPTY,)) for part in parts):
                raise Violation("a part is lost")


def explore(
    first: World, steps: Callable[[World], Iterator[tuple[str, World]]], scenario: Scenario
) -> int:
    """Visit every state that steps lead to, breadth first; returns how many there are.

    Violation, with a shortest way that leads there, if one of them must not be. Each step leaves
    less to be done, so a run that can always go on comes to its end.
    """
    came: dict[World, tuple[World, str] | None] = {first: None}
    todo = [first]
    for world in todo:
        try:
            check(world, scenario)
            following = list(steps(world))
        except Violation as error:
            raise Violation(f"{error}, by {_way(came, world)}") from None
        if not following and world.driver.todo:
            raise Violation(f"nothing can go on, by {_way(came, world)}")
        for what, after in following:
            if after not in came:
                came[after] = world, what
                todo.append(after)
    return len(came)


def _way(came: dict, world: World) -> str:
    """The steps that lead to a state."""
    steps = []
    while came[world] is not None:
        world, what = came[world]
        steps.append(str(what))
    return ", ".join(reversed(steps))
