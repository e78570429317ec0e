"""Power losses, by replay, for `faults.py`.

All calls by which a run changes files are recorded with their data (`calls.c`). For a moment in the
record, a directory is made as a power loss at that moment could leave it: what was forced to the
disk is there, of everything else some. Then the run is resumed, to its end.

*Ordered*, as ext4 and XFS keep it: changes of names are on the disk up to some moment, in the order
in which they were made, and forcing a file or folder puts there what had been done to it and all
that came before. Of a file that was not forced, some part from its beginning is there.

*Strict*, as POSIX has it: each name of a folder that was not forced since is any of the things that
it has been meanwhile, independently of all others; of a file that was not forced, each write is
there, or is not, or in part, or as zeros.
"""

import json
import random
import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from frontier.errors import CorruptRunError, InputError
from frontier.layers.run import LayerRun
from tests.campaigns.calls import KILL_BEFORE, Library
from tests.campaigns.trials import Campaign, Case

NEVER, FRESH = ('store.fsync="never"',), ("--fresh", "--yes")
PATH = Path("of", "runs", "run")
"""Where the run is, below the directory that is recorded."""

SECTOR = 512
"""Bytes that a disk writes as a whole."""


@dataclass(frozen=True)
class Start:
    """A start of a run, which ends by a kill; the last one of a history goes on to the end."""

    settings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


HISTORIES = {
    "layer": (Start(),),
    "layer, twice": (Start(), Start()),
    "layer after never": (Start(NEVER), Start()),
    "layer, fresh": (Start(), Start((), FRESH)),
    "never": (Start(NEVER),),
}
"""The power fails in the last start."""


@dataclass(frozen=True)
class Call:
    """A line of the record. kind: of what was done: a file opened to be made or emptied (o),
    written (w), cut (t), a file or folder forced (s), renamed (r), removed (u), a folder made (m).
    inode: of the file or folder. number: where a write begins, how long a cut file is, whether one
    that was opened is emptied."""

    kind: str
    inode: int
    number: int
    path: str
    other: str
    data: bytes


def calls_of(record: Path) -> Iterator[Call]:
    """The calls of a record, in their order."""
    with record.open("rb") as file:
        while line := file.readline():
            kind, inode, number, length = line.split()
            path, other = (file.readline()[:-1].decode() for _ in range(2))
            data = file.read(int(length))
            yield Call(kind.decode(), int(inode), int(number), path, other, data)


Write = tuple[int, bytes | None]
"""Where, and what; None as what where a file was cut there."""


@dataclass(eq=False)
class File:
    """writes: since the file was forced."""

    forced: bytes = b""
    writes: list[Write] = field(default_factory=list)

    def content(self, writes: list[Write]) -> bytes:
        """What was forced, with some writes."""
        found = bytearray(self.forced)
        for place, data in writes:
            if data is None:
                del found[place:]
            found.extend(bytes(max(0, place - len(found))))
            found[place : place + len(data or b"")] = data or b""
        return bytes(found)


@dataclass(eq=False)
class Folder:
    """names: as processes see them. forced: those on the disk. past: (name, what it was then) of
    each change since the folder was forced."""

    names: dict[str, "File | Folder"] = field(default_factory=dict)
    forced: dict[str, "File | Folder"] = field(default_factory=dict)
    past: list[tuple[str, "File | Folder | None"]] = field(default_factory=list)


Change = tuple[Folder, str, File | Folder | None]
"""What a name in a folder is from now on."""


class Replay:
    """A directory as the calls of a record leave it, and what of that is on the disk."""

    def __init__(self, root: Path):
        self.root, self._top = root, Folder()
        self._inodes: dict[int, File | Folder] = {root.stat().st_ino: self._top}
        self._changes: list[tuple[Change, ...]] = []
        self._touched: dict[File | Folder, int] = defaultdict(int)
        """How many changes had been made when something was done to a file or folder last."""
        self._sure = 0
        """How many changes are on the disk of an ordered file system."""

    def do(self, call: Call) -> None:
        """Do one more call."""
        what = self._inodes.get(call.inode)
        if call.kind == "s":
            self._force(what)
        elif call.kind == "w":
            self._write(what, (call.number, call.data))
        elif call.kind == "t":
            self._write(what, (call.number, None))
        elif call.kind == "o":
            folder, name = self._place(call.path)
            if name not in folder.names:
                self._inodes[call.inode] = File()
                self._change((folder, name, self._inodes[call.inode]))
            elif call.number:
                self._write(folder.names[name], (0, None))
        elif call.kind == "m":
            self._inodes[call.inode] = Folder()
            self._change((*self._place(call.path), self._inodes[call.inode]))
        elif call.kind == "u":
            self._change((*self._place(call.path), None))
        elif call.kind == "r":
            folder, name = self._place(call.other)
            what = folder.names[name]
            self._change((*self._place(call.path), what), (folder, name, None))

    def _place(self, path: str) -> tuple[Folder, str]:
        *above, name = Path(path).relative_to(self.root).parts
        folder = self._top
        for part in above:
            folder = folder.names[part]
        return folder, name

    def _write(self, file: File, write: Write) -> None:
        file.writes.append(write)
        self._touched[file] = len(self._changes)

    def _change(self, *changes: Change) -> None:
        """Names that change at once."""
        self._changes.append(changes)
        for folder, name, what in changes:
            folder.past.append((name, what))
            folder.names.pop(name, None)
            if what is not None:
                folder.names[name] = what
                self._touched[what] = len(self._changes)
            self._touched[folder] = len(self._changes)

    def _force(self, what: File | Folder) -> None:
        if isinstance(what, File):
            what.forced, what.writes = what.content(what.writes), []
        else:
            what.forced, what.past = dict(what.names), []
        self._sure = max(self._sure, self._touched[what])

    def leave_ordered(self, target: Path, choice: random.Random) -> None:
        """Make the directory that a power loss leaves, on an ordered file system."""
        names: dict[Folder, dict[str, File | Folder]] = defaultdict(dict)
        for changes in self._changes[: choice.randint(self._sure, len(self._changes))]:
            for folder, name, what in changes:
                names[folder].pop(name, None)
                if what is not None:
                    names[folder][name] = what

        def content(file: File) -> bytes:
            kept = file.writes[: choice.randint(0, len(file.writes))]
            if kept and kept[-1][1]:
                place, data = kept[-1]
                kept[-1] = place, data[: choice.choice((len(data), choice.randrange(len(data))))]
            return file.content(kept)

        _make(target, self._top, lambda folder: names[folder], content)

    def leave_strict(self, target: Path, choice: random.Random) -> None:
        """The same, where the file system keeps no order."""
        gone = choice.choice((0.1, 0.5, 0.9))

        def names(folder: Folder) -> dict[str, File | Folder]:
            possible = {name: [what] for name, what in folder.forced.items()}
            for name, what in folder.past:
                possible.setdefault(name, [None]).append(what)
            found = {
                name: choice.choice(some[:-1]) if choice.random() < gone and some[1:] else some[-1]
                for name, some in possible.items()
            }
            return {name: what for name, what in found.items() if what is not None}

        def content(file: File) -> bytes:
            kept = []
            for place, data in file.writes:
                if choice.random() > gone:
                    kept.append((place, data))
                elif data and choice.random() < 0.5:
                    kept.append((place, _torn(choice, data)))
            return file.content(kept)

        _make(target, self._top, names, content)


MODELS = {"ordered": Replay.leave_ordered, "strict": Replay.leave_strict}


def _torn(choice: random.Random, data: bytes) -> bytes:
    """What the disk has of a write: its beginning, zeros, or some sectors of it."""
    how = choice.randrange(3)
    if how == 0:
        return data[: choice.randrange(len(data))]
    torn = bytearray(data)
    for begin in range(0, len(data), SECTOR):
        if how == 1 or choice.random() < 0.5:
            torn[begin : begin + SECTOR] = bytes(len(torn[begin : begin + SECTOR]))
    return bytes(torn)


def _make(target: Path, folder: Folder, names: Callable, content: Callable) -> None:
    contents: dict[File, bytes] = {}  # one that has two names is one file

    def make(target: Path, folder: Folder) -> None:
        target.mkdir()
        for name, what in names(folder).items():
            if isinstance(what, Folder):
                make(target / name, what)
                continue
            if what not in contents:
                contents[what] = content(what)
            (target / name).write_bytes(contents[what])

    make(target, folder)


def at_power_losses(campaign: Campaign, library: Library, case: Case, count: int) -> None:
    """Go over so many moments of the histories of a run."""
    histories = HISTORIES
    if (
        not case.counts
    ):  # a search for God's number is never begun anew, and forces all that it writes
        histories = {name: HISTORIES[name] for name in ("layer", "layer, twice")}
    for i, (name, starts) in enumerate(histories.items()):
        share = count // len(histories) + (i < count % len(histories))
        root = case.scratch / f"recorded-{i}"
        record, begun = _recorded(campaign, case, library, starts, root)
        promised = list(_promises(starts, record, begun))
        replay, done = Replay(root), 0
        moments = (campaign.random.randint(begun[-1], len(record)) for _ in range(share))
        for moment in sorted(moments):
            for call in record[done:moment]:
                replay.do(call)
            done, when = moment, f"after call {moment} of {len(record)}"
            _lost(campaign, case, name, replay, when, promised[moment])


def _recorded(
    campaign: Campaign, case: Case, library: Library, starts: tuple[Start, ...], root: Path
) -> tuple[list[Call], list[int]]:
    """Run some starts below a directory: their calls, and how many came before each start."""
    root.mkdir()
    record, begun = case.scratch / f"{root.name}.calls", [0]

    def armed(at: int) -> Callable[[], None]:
        def arm() -> None:
            library.record(record)
            library.arm(root, at, KILL_BEFORE)

        return arm

    *earlier, last = starts
    for start in earlier:
        counted = case.scratch / f"counted-{root.name}"
        case.start(counted, start.settings, before=lambda to=counted: library.arm(to, 0)).demand(0)
        shutil.rmtree(counted)
        at = int(library.count * campaign.random.uniform(0.3, 0.9))
        run = case.start(root / PATH, start.settings, start.options, armed(at))
        if run.wait() == 0:  # how often a run writes depends on the time it takes
            shutil.rmtree(root)
            record.unlink()
            return _recorded(campaign, case, library, starts, root)
        run.demand(-signal.SIGKILL)
        begun.append(len(list(calls_of(record))))
    case.start(root / PATH, last.settings, last.options, armed(0)).demand(0)
    return list(calls_of(record)), begun


def _promises(
    starts: tuple[Start, ...], record: list[Call], begun: list[int]
) -> Iterator[int | None]:
    """After each number of calls, from 0: how many layers have been announced, which a power loss
    must not cost any more; None where nothing is promised, not even that the run can go on."""
    promised, start, begins = 0, starts[0], dict(zip(begun, starts, strict=True))
    for i, call in enumerate([None, *record]):
        if call and start.settings != NEVER and call.path.endswith("events.jsonl"):
            for line in call.data.splitlines():
                event = json.loads(line)
                if event["event"] in ("Started", "LayerFinished"):
                    promised = event["depth"] + 1
        start = begins.get(i, start)
        if start.settings == NEVER or (i in begins and start.options == FRESH):
            promised = None
        yield promised


def _lost(
    campaign: Campaign, case: Case, name: str, replay: Replay, when: str, promised: int | None
) -> None:
    """Note what comes of a run that goes on after a power loss."""
    choice, root = campaign.random, case.scratch / "lost"
    shutil.rmtree(root, ignore_errors=True)
    model = choice.choice(sorted(MODELS))
    MODELS[model](replay, root, choice)
    start, kind, path = HISTORIES[name][-1], f"{name}, {model}", root / PATH
    there = _layers(path)
    run, outcome, wrong = case.start(path, start.settings), "survived", None
    if run.wait() == 4 and promised is None:
        outcome = "detected"
    if there < (promised or 0):
        wrong = f"{there} layers are there, {promised} were announced"
    elif outcome == "detected" and start.options == FRESH:  # what was asked for can be done
        run = case.start(path, start.settings, FRESH)
        wrong = f"--fresh ends with {run.code}: {run.said}" if run.wait() else None
    elif outcome == "survived" and run.code:
        wrong = f"run ends with {run.code}: {run.said}"
    elif outcome == "survived":
        wrong, (code, said) = case.wrong(path), case.call("verify", str(case.at(path)))
        if code == 4 and promised is None:  # such as a copy that is lost
            outcome = "detected"
        elif code:
            wrong = wrong or f"verify ends with {code}: {said}"
    campaign.note(kind, case, "wrong" if wrong else outcome, f"{when} {wrong or ''}")
    if wrong:
        root.rename(case.scratch / f"wrong-{len(campaign.wrong)}")


def _layers(path: Path) -> int:
    """The committed layers that can be read."""
    try:
        return len(LayerRun.open(path).records)
    except (CorruptRunError, InputError):
        return 0
