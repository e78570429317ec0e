"""A run, in a directory or an object store: which run it is, which layers are committed.

docs/architecture.md lists its files, under *On disk*.

A layer is *committed* by one atomic replacement of the ledger (`frontier.store.ledger`), after its
parts are in place. What the ledger does not list does not count: a resumed run uses the parts of
the layer under way, and deletes everything else.

**Two layers on disk.** A part of layer t - 1 is read by one task only, the one that computes the
same part of t + 1. That task gives it up as soon as its own part is in place (`give_up`). So
while layer t + 1 is under way a part of t - 1 may be missing, but only if that of t + 1 is there.
"""

import os
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from frontier.errors import CorruptRunError, Gone, InputError
from frontier.puzzles import Puzzle, puzzle_of
from frontier.space.layout import Layout
from frontier.store.buckets import Replaced
from frontier.store.directory import (
    LAYER_NAME,
    delete_other_layers,
    make_directory,
    names_in,
    part_names,
    remove_layer,
)
from frontier.store.files import (
    force,
    force_above,
    read_json,
    replace_bytes,
    sealed,
    sweep,
    unlink_all,
    version_of,
    write_bytes,
    write_json,
    write_sealed,
)
from frontier.store.identity import FORMAT, read_identity
from frontier.store.layers import LIST_NAME, ZARR_GROUP, LayerFiles
from frontier.store.ledger import LayerRecord, chained, ledger_bytes, read_ledger
from frontier.store.objects import ObjectPath, Place
from frontier.store.run_ref import RunRef
from frontier.text import counted


class RunStore:
    """A run at a place. `identity` is what makes two runs the same; see `create`.

    A run in an object store is an `ObjectRunStore`; `create` and `open` choose by the place.
    """

    durable = False
    """Whether what is committed is on the disk before anything it replaces is given up."""

    def __init__(self, path: Place, identity: dict, records: list[LayerRecord], complete: bool):
        self.path, self.identity = path, identity
        self.records, self.complete = records, complete
        self._version: object = None

    @staticmethod
    def exists(path: Place) -> bool:
        return (path / "run.json").exists()

    @classmethod
    def create(cls, path: Place, identity: dict, durable: bool = False) -> "RunStore":
        """Begin a run at a place where there is none; a directory is made by `make_directory`."""
        make_directory(path)
        identity = {
            "format": FORMAT,
            "identifier": uuid.uuid4().hex,
            "created": time.time(),
            **identity,
        }
        run = _kind(path)(path, identity, [], False)
        run.durable = durable
        run.describe_group()
        run.begin()
        if durable:
            force_above(path)
        return cls.open(path)

    def begin(self) -> None:
        """Write what says that there is a run; a ledger that an earlier one left is replaced."""
        self._version = version_of(self.path / "ledger.json")
        self.write()

    def write(self) -> None:
        """Write what says that there is a run: the ledger, run.json and the copies of both."""
        self._write_ledger()
        for folder in (self.path / "copies", self.path):
            write_sealed(folder / "run.json", self.identity, self.durable)

    @property
    def ref(self) -> RunRef:
        """A reference to the run, by which any process opens it."""
        return RunRef(str(self.path), self.identity["identifier"], self.durable)

    @property
    def layers_path(self) -> Place:
        """The group of all layers."""
        return self.path / "layers"

    @property
    def copies(self) -> list[Place]:
        """The copies of run.json and of the ledger."""
        return [self.path / "copies" / name for name in ("run.json", "ledger.json")]

    @classmethod
    def open(cls, path: Place) -> "RunStore":
        """Open a run; InputError if there is none, FormatError if its format is not ours."""
        if not cls.exists(path):
            if (path / "copies" / "run.json").exists():
                raise CorruptRunError(f"{path / 'run.json'} is missing; there is a copy of it")
            raise InputError(f"{path} holds no run: it has no run.json")
        run = _kind(path)(path, read_identity(path / "run.json"), [], False)
        run.read_ledger()
        return run

    def read_ledger(self) -> None:
        """Read again which layers are committed; CorruptRunError if the ledger is damaged."""
        file = self.path / "ledger.json"
        self._version = version_of(file)
        self.records, self.complete = read_ledger(file, self.identity["identifier"])

    def newer_copy(self) -> "RunStore | None":
        """The run as the copy of its ledger lists it, if that goes on where the ledger ends."""
        file, identifier = self.path / "copies" / "ledger.json", self.identity["identifier"]
        try:
            copy = RunStore(self.path, self.identity, *read_ledger(file, identifier))
        except CorruptRunError:
            return None
        copy._version = self._version
        mine, copied = ([record.chain for record in run.records] for run in (self, copy))
        newer = (len(copied), copy.complete) > (len(mine), self.complete)
        return copy if newer and copied[: len(mine)] == mine else None

    @cached_property
    def puzzle(self) -> Puzzle:
        return puzzle_of(self.identity["puzzle"])

    def layer_path(self, depth: int) -> Place:
        return self.layers_path / f"{depth:04d}"

    @property
    def environment_path(self) -> Place:
        """Where and with what the run was made; for people alone."""
        return self.path / "environment.json"

    def files(self, depth: int, layout: Layout, listed: int | None = None) -> LayerFiles:
        """Where the parts of a layer are, committed or not; listed: as of `LayerFiles`."""
        run, codec = self.identity["identifier"], self.identity["codec"]
        return LayerFiles(self.layer_path(depth), run, codec, layout, depth, listed)

    def stored_depths(self) -> list[int]:
        return [record.depth for record in self.records if record.stored]

    @property
    def states(self) -> int:
        """States of all committed layers."""
        return sum(record.states for record in self.records)

    @property
    def disk(self) -> int:
        """Bytes of the layers on disk."""
        return sum(record.bytes for record in self.records if record.stored)

    @property
    def start_depth(self) -> int | None:
        """Depth of the position whose distance is asked for, None if not (yet) found."""
        return next((record.depth for record in self.records if record.tally.start), None)

    def commit(
        self, records: list[LayerRecord], complete: bool, forget: tuple[int, ...] = ()
    ) -> None:
        """Commit layers that follow the last committed one and have their parts in place.

        forget: depths of layers that are not needed once these are committed; they are deleted
        afterwards. Gone as of `check_still_there`.
        """
        self.check_still_there()
        for record in records:
            if record.stored:
                sweep(self.layer_path(record.depth))  # workers that were killed may have left files
        if self.durable and records:
            force(self.layers_path)
        begun = len(self.records)
        self.records.extend(records)
        self.complete = complete
        for depth in forget:
            self.records[depth] = replace(self.records[depth], stored=False)
        self._write_ledger()
        for depth in forget:
            remove_layer(self.layer_path(depth))
        for record in records:
            if record.stored or record.depth == begun:  # tasks may have begun that one
                self._drop_other_forms(record)

    def _drop_other_forms(self, record: LayerRecord) -> None:
        """Drop what the folder of a layer that is committed holds in another form: earlier starts,
        and workers that outlived them, may have made parts or a list. Before the commit these are
        not touched, as what they replace has been given up."""
        folder = self.layer_path(record.depth)
        if not record.stored:
            remove_layer(folder)
        elif record.form == "list":
            unlink_all([folder / name for name in part_names(folder) - {LIST_NAME}])
        else:
            (folder / LIST_NAME).unlink(missing_ok=True)

    def roll_back(self, depth: int, stored: list[int]) -> None:
        """Make `depth` the last committed layer; `stored`: which layers up to it are kept.

        What lies beyond is swept away by the next `sweep`.
        """
        back = depth < len(self.records) - 1
        under_way = len(self.records)
        left = self.records[: depth + 1]
        self.records = [replace(record, stored=record.depth in stored) for record in left]
        self.complete = self.complete and not back
        self._write_ledger()
        if back:  # the layer after `depth` was committed, but shall not be taken for one under way
            for beyond in range(depth + 1, under_way + 1):
                remove_layer(self.layer_path(beyond))

    def parts_under_way(self, layout: Layout) -> set[int]:
        """Return the tasks of the layer under way whose parts are there."""
        files = self.files(len(self.records), layout)
        names = part_names(files.folder)
        return {task for task in files.tasks if files.path(task).name in names}

    def check_still_there(self) -> None:
        """Gone if the directory was moved or deleted, or another run has taken the place of this
        one: the files there belong to that run."""
        identity = read_json(self.path / "run.json") if self.exists(self.path) else {}
        if identity.get("identifier") != self.identity["identifier"]:
            raise Gone(
                f"{self.path} no longer holds the run that goes on there: the directory was moved, "
                "deleted, or taken by another run, and nothing more is written to it. If it was "
                "moved, go on where it is now: python -m frontier run DIRECTORY"
            )

    def give_up(self, depth: int, task: int, layout: Layout) -> None:
        """Delete a part of a layer of bits, if the part that replaces it is in place.

        Gone as of `check_still_there`.
        """
        files = self.files(depth, layout)
        try:
            folder = os.open(files.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return  # nothing of the layer is needed any more
        try:
            # A run that takes the place of this one from now on makes a folder of its own.
            self.check_still_there()
            if self.files(depth + 2, layout).there(task):
                with suppress(FileNotFoundError):
                    os.unlink(files.path(task).name, dir_fd=folder)
        finally:
            os.close(folder)

    def missing(self) -> list[str]:
        """What is missing of the stored layers, as sentences. Only names are looked at.

        The run may go on meanwhile.
        """
        found = []
        for record in reversed(self.records):
            if not record.stored:
                continue
            folder = self.layer_path(record.depth)
            there = part_names(folder)
            if record.form == "bits" and record.depth + 2 == len(self.records):
                there |= part_names(self.layer_path(record.depth + 2))
            if (lost := record.parts - len(there)) > 0:
                found.append(f"{folder} lacks {lost:,} of its {counted(record.parts, 'part')}")
            if folder.is_symlink():
                found.append(f"{folder} is a link, and what the run wrote is not")
        if found and (now := RunStore.open(self.path)).records != self.records:
            return now.missing()  # what is missed has been given up since
        return found

    def tasks_done(self) -> int:
        """Parts that are there of the layer under way."""
        return len(part_names(self.layer_path(len(self.records))))

    def drop_list(self, depth: int) -> None:
        """Drop a list that was not committed; parts that tasks have computed stay.

        A worker that outlives its driver may put such a part in place at any time, and then gives
        up the one that it replaces.
        """
        folder = self.layer_path(depth)
        if not folder.is_symlink():
            (folder / LIST_NAME).unlink(missing_ok=True)

    def abandon_layer(self, depth: int) -> None:
        """Drop what is there of a layer that is not committed."""
        remove_layer(self.layer_path(depth))

    def sweep(self) -> None:
        """Remove what a killed run left behind and no resumed run can use."""
        for folder in (self.path, self.layers_path, self.path / "copies"):
            folder.mkdir(exist_ok=True)
            sweep(folder)
        stored, under_way = set(self.stored_depths()), len(self.records)
        for folder in self.layers_path.iterdir():
            if LAYER_NAME.fullmatch(folder.name) and not folder.is_symlink():
                depth = int(folder.name)
                if depth == under_way and not self.complete:
                    sweep(folder)
                elif depth not in stored and not self._may_be_anothers(depth):
                    remove_layer(folder)

    def _may_be_anothers(self, depth: int) -> bool:
        """Whether another driver may have made a layer that the ledger does not list."""
        return False

    def is_group(self) -> bool:
        """Whether Zarr can open the layers together."""
        try:
            return read_json(self.layers_path / "zarr.json") == ZARR_GROUP
        except CorruptRunError:
            return False

    def describe_group(self) -> None:
        """Write the ``zarr.json`` of all layers anew."""
        self.layers_path.mkdir(exist_ok=True)
        write_json(self.layers_path / "zarr.json", ZARR_GROUP, self.durable)

    def _write_ledger(self) -> None:
        self.records = chained(self.identity["identifier"], self.records)
        content = ledger_bytes(self.records, self.complete)
        self.check_alone()
        (self.path / "copies").mkdir(exist_ok=True)
        write_bytes(self.path / "copies" / "ledger.json", content, self.durable)
        self._replace_ledger(content)

    def _replace_ledger(self, content: bytes) -> None:
        file = self.path / "ledger.json"
        try:
            self._version = replace_bytes(file, content, self._version, self.durable)
        except Replaced:
            raise self._outrun() from None

    def check_alone(self) -> None:
        """Gone if another process has written the ledger since this one did."""
        if version_of(self.path / "ledger.json") != self._version:
            raise self._outrun()

    def _outrun(self) -> Gone:
        return Gone(
            f"{self.path} is being written by another process, which has gone on with the run "
            "meanwhile; nothing of what it wrote was changed. Let it go on, or stop it and go on "
            "here"
        )


class ObjectRunStore(RunStore):
    """A run in an object store.

    It has no copies of run.json and the ledger, as such a store keeps its objects safe itself, and
    no lock: of two drivers the second one to commit ends. Until then either may be ahead, so
    neither deletes what may be the other's.
    """

    copies = ()

    @property
    def layers_path(self) -> ObjectPath:
        """The group of all layers: one for each run, as a late worker of a run that was deleted may
        put an object in place at any time."""
        return self.path / "layers" / self.identity["identifier"]

    def begin(self) -> None:
        """Write run.json, if there is none, and then the ledger, so that of two processes that
        begin a run at once one succeeds. What is left of runs that were deleted here is deleted."""
        try:
            replace_bytes(self.path / "run.json", sealed(self.identity), None)
        except Replaced:
            raise self._outrun() from None
        delete_other_layers(self.path, self.identity["identifier"])
        self._version = version_of(self.path / "ledger.json")
        self._write_ledger()

    def read_ledger(self) -> None:
        try:
            super().read_ledger()
        except CorruptRunError:
            begun = any(map(LAYER_NAME.fullmatch, names_in(self.layers_path)))
            if begun or self._version is not None:
                raise
            self.records, self.complete = [], False  # it was stopped when run.json had been written

    def check_still_there(self) -> None:
        """Do nothing: the layers of another run lie elsewhere, and a commit finds out."""

    def give_up(self, depth: int, task: int, layout: Layout) -> None:
        if self.files(depth + 2, layout).there(task):
            self.files(depth, layout).path(task).unlink(missing_ok=True)

    def drop_list(self, depth: int) -> None:
        """Do nothing, as another driver may have committed the list: it is written over, or deleted
        when the layer is committed in another form."""

    def _may_be_anothers(self, depth: int) -> bool:
        return depth > len(self.records) and not self.complete

    def _write_ledger(self) -> None:
        self.records = chained(self.identity["identifier"], self.records)
        self._replace_ledger(ledger_bytes(self.records, self.complete, uuid.uuid4().hex))


def _kind(path: Place) -> type[RunStore]:
    return ObjectRunStore if isinstance(path, ObjectPath) else RunStore
