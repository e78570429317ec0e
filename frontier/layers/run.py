"""A run by layers: its committed layers and their files.

A layer is *committed* by one atomic replacement of the ledger, after its parts are in place. A
resumed run uses the layers that the ledger lists and the parts of the layer under way, and deletes
all other files of the run.

**Two layers on disk.** Only one task reads a part of layer t - 1: the one that computes the same
part of t + 1. That task deletes the part as soon as its own part is in place
(`delete_replaced_part`). So while layer t + 1 is under way, a part of t - 1 may be missing, but
only if the same part of t + 1 is in place.
"""

import re
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt

from frontier.config.loading import Config
from frontier.errors import InputError
from frontier.layers.files import LIST_NAME, PART_NAME, ZARR_GROUP, LayerFiles, part_names
from frontier.layers.key_files import KeyFiles, StoredKeys
from frontier.layers.record import LayerRecord, chained, records_of
from frontier.layers.stored import StoredLayer
from frontier.puzzles import Puzzle, puzzle_of
from frontier.puzzles.keyed import keyed
from frontier.puzzles.settings import Table
from frontier.runs.copies import COPIES, LEDGER, OWN_FILES
from frontier.runs.identity import Identity, same_puzzle
from frontier.runs.kind import kind_at
from frontier.runs.kinds import BY_LAYERS, KINDS
from frontier.runs.resolve import only_member, resolve
from frontier.runs.stored_run import StoredRun
from frontier.space.key_layout import AnyLayout, KeyLayout
from frontier.space.words import SLAB_BYTES, WORD_BYTES
from frontier.storage.base import Storage
from frontier.storage.places import Place
from frontier.storage.sealed import holds_json, write_json
from frontier.text import counted

LAYERS = KINDS[BY_LAYERS].folder

LAYER_NAME = re.compile(r"\d{4,}")
IDENTIFIER = re.compile(r"[0-9a-f]{32}")
"""The names of the folders of layers, and of the folders of runs above them."""


class KeyLayoutTable(Table):
    """The settings of a `KeyLayout`."""

    part_keys: StrictInt = Field(ge=1)
    part_slabs: StrictInt = Field(ge=1)
    slab_words: StrictInt = Field(ge=8, le=SLAB_BYTES // WORD_BYTES)


class LayoutTable(Table):
    """The settings of a `Layout`."""

    prefix_digits: StrictInt = Field(ge=0)
    task_nodes: StrictInt = Field(ge=1)
    numbering: StrictInt | None = None
    shares: StrictInt = Field(ge=1)


class LayerIdentity(Identity):
    """The content of ``run.json`` of a run by layers."""

    keep: Literal["frontier", "all"]
    codec: str
    layout: LayoutTable | KeyLayoutTable
    states: Annotated[StrictInt, Field(ge=1)] | None


class LayerRun(StoredRun):
    """A run by layers at its place.

    records: the committed layers, from depth 0. complete: True if these are all layers.
    """

    kind, schema = BY_LAYERS, LayerIdentity
    complete: bool = False

    def __init__(self, storage: Storage, identity: dict):
        super().__init__(storage, identity)
        self.records: list[LayerRecord] = []

    @property
    def begun(self) -> bool:
        return bool(self.records)

    def particulars(self, workers: int = 0) -> dict[str, Any]:
        of_layers = {"states": self.identity["states"], "depth": len(self.records) - 1}
        return super().particulars(workers) | of_layers

    def _begin(self) -> None:
        remove_runs(self.storage, but=self.identity["identifier"])
        self.describe_group()

    @property
    def fresh(self) -> bool:
        return not self.records and not layer_names(self.storage, self.layers_name)

    def _content(self) -> dict:
        self.records = chained(self.identity["identifier"], self.records)
        return {"layers": list(map(asdict, self.records)), "complete": self.complete}

    def _take(self, content: dict) -> None:
        records = records_of(content["layers"], self.identity["identifier"])
        self.records, self.complete = records, bool(content["complete"])

    def copied_records(self) -> list[LayerRecord]:
        """Return the committed layers that the copy of the ledger lists."""
        copy = LayerRun(self.storage, self.identity)
        copy.take(COPIES[LEDGER])
        return copy.records

    @property
    def layers_name(self) -> str:
        """The folder of all layers of the run, a Zarr group."""
        return f"{LAYERS}/{self.identity['identifier']}"

    @cached_property
    def puzzle(self) -> Puzzle:
        puzzle = puzzle_of(self.identity["puzzle"])
        return keyed(puzzle) if "part_keys" in self.identity["layout"] else puzzle

    def layer_name(self, depth: int) -> str:
        """Return the name of the folder of a layer."""
        return f"{self.layers_name}/{depth:04d}"

    def layer_path(self, depth: int) -> Path | str:
        """Return the path of the folder of a layer."""
        return self.storage.place(self.layer_name(depth))

    def part_names(self, depth: int) -> set[str]:
        """Return the names of the existing parts of a layer."""
        return part_names(self.storage, self.layer_name(depth))

    def files(
        self, depth: int, layout: AnyLayout, listed: int | None = None, parts: int = 0
    ) -> LayerFiles:
        """Return the files of a layer, committed or not. listed: see `LayerFiles`. parts: see
        `KeyFiles`."""
        run, codec = self.identity["identifier"], self.identity["codec"]
        where = self.storage, self.layer_name(depth), run, codec, layout, depth
        if listed is None and isinstance(layout, KeyLayout):
            return KeyFiles(*where, parts=parts)
        return LayerFiles(*where, listed)

    def open_layer(self, depth: int, layout: AnyLayout) -> StoredLayer:
        """Return a committed layer that is stored, or the layer under way as tasks make it. The
        layer at depth -1 is empty."""
        record = self.records[depth] if 0 <= depth < len(self.records) else None
        states, parts = (record.states, record.parts) if record else (0, 0)
        as_list = record.form == "list" if record else depth < 0
        files = self.files(depth, layout, states if as_list else None, parts)
        stored = StoredKeys if isinstance(files, KeyFiles) else StoredLayer
        return stored(files, states, committed=depth < len(self.records))

    def stored_depths(self) -> list[int]:
        return [record.depth for record in self.records if record.stored]

    @property
    def states(self) -> int:
        """The number of states of all committed layers."""
        return sum(record.states for record in self.records)

    @property
    def disk(self) -> int:
        """The bytes of the layers on disk."""
        return sum(record.bytes for record in self.records if record.stored)

    @property
    def start_depth(self) -> int | None:
        """The depth of the config's `start`, or None if it has not been reached."""
        return next((record.depth for record in self.records if record.tally.start), None)

    def commit(
        self, records: list[LayerRecord], complete: bool, forget: tuple[int, ...] = ()
    ) -> None:
        """Commit layers that follow the last committed one and have their parts in place.

        forget: depths of layers that are not needed once these are committed; they are deleted
        afterwards. Raises the errors of `check_mine`; then nothing is committed.
        """
        storage = self.storage
        for record in records:
            if record.stored:  # killed workers may have left files
                storage.sweep(self.layer_name(record.depth))
        if self.durable and records:
            storage.force(self.layers_name)
        begun = len(self.records)
        self.records.extend(records)
        self.complete = complete
        for depth in forget:
            self.records[depth] = replace(self.records[depth], stored=False)
        self.write_ledger()
        for depth in forget:
            self.abandon_layer(depth)
        for record in records:
            if record.stored or record.depth == begun:  # tasks may have begun it
                self._drop_other_forms(record)

    def replace_last(self, record: LayerRecord) -> None:
        """Commit another form of the last layer, whose parts are in place."""
        self.records[-1] = record
        self.write_ledger()
        self._drop_other_forms(record)

    def _drop_other_forms(self, record: LayerRecord) -> None:
        """Delete everything of another form from the folder of a committed layer. Earlier
        starts, and workers that outlived them, may have made parts or a list. These must stay until
        the commit, because the parts that they replace were deleted."""
        folder = self.layer_name(record.depth)
        if not record.stored:
            self.abandon_layer(record.depth)
        elif record.form == "list":
            parts = self.part_names(record.depth) - {LIST_NAME}
            self.storage.delete(*(f"{folder}/{name}" for name in parts))
        else:
            self.storage.delete(f"{folder}/{LIST_NAME}")

    def roll_back(self, depth: int, stored: list[int]) -> None:
        """Make `depth` the last committed layer. stored: the depths up to it whose layers are kept.

        The next `sweep` deletes the rest.
        """
        back = depth < len(self.records) - 1
        under_way = len(self.records)
        remaining = self.records[: depth + 1]
        self.records = [replace(record, stored=record.depth in stored) for record in remaining]
        self.complete = self.complete and not back
        self.write_ledger()
        if back:  # the next layer was committed and must not be taken for one under way
            for beyond in range(depth + 1, under_way + 1):
                self.abandon_layer(beyond)

    def parts_under_way(self, layout: AnyLayout) -> set[int]:
        """Return the tasks of the layer under way whose parts are in place."""
        depth = len(self.records)
        tasks = map(self.files(depth, layout).task_of, self.part_names(depth))
        return {task for task in tasks if task is not None}

    def delete_replaced_part(self, depth: int, task: int, layout: AnyLayout) -> None:
        """Delete a part of a layer of bits, if the part that replaces it is in place."""
        if self.files(depth + 2, layout).has_part(task):
            self.storage.delete(self.files(depth, layout).name(task))

    def missing(self) -> list[str]:
        """Return a sentence for each stored layer that lacks files. Only names are read.

        The run may continue during the check.
        """
        sentences = []
        for record in reversed(self.records):
            if not record.stored:
                continue
            folder, names = self.layer_path(record.depth), self.part_names(record.depth)
            if self.storage.is_link(self.layer_name(record.depth)):
                sentences.append(f"{folder} is a link, not a folder")
                continue
            if record.form == "bits" and record.depth + 2 == len(self.records):
                names |= self.part_names(record.depth + 2)
            if (missing := record.parts - len(names)) > 0:
                sentences.append(f"{folder} lacks {missing:,} of {counted(record.parts, 'part')}")
        if sentences and (reopened := LayerRun.open(self.storage)).records != self.records:
            return reopened.missing()  # the run has since deleted the missing files
        return sentences

    def drop_list(self, depth: int) -> None:
        """Delete a list that was not committed; parts that tasks have computed stay.

        A worker that outlives its driver may put a part in place at any time, and then deletes the
        part that it replaces.
        """
        if LIST_NAME in self.part_names(depth) and not self._may_be_anothers(depth):
            self.storage.delete(f"{self.layer_name(depth)}/{LIST_NAME}")

    def abandon_layer(self, depth: int) -> None:
        """Delete the files of a layer that is not needed."""
        remove_layer(self.storage, self.layer_name(depth))

    def sweep(self) -> None:
        storage, group = self.storage, self.layers_name
        for folder in (LAYERS, group):
            storage.make_folder(folder)
        super().sweep()
        for folder in (LAYERS, group):
            storage.sweep(folder)
        if not holds_json(storage, f"{group}/zarr.json", ZARR_GROUP):
            self.describe_group()
        stored, under_way = set(self.stored_depths()), len(self.records)
        for name in layer_names(storage, group):
            depth, folder = int(name), f"{group}/{name}"
            if depth == under_way and not self.complete:
                storage.sweep(folder)
            elif depth not in stored and not self._may_be_anothers(depth):
                remove_layer(storage, folder)

    def _may_be_anothers(self, depth: int) -> bool:
        """Return whether another process may have committed a layer without this process's
        knowledge. That can happen only where there are no locks."""
        ahead = depth >= len(self.records) and not self.complete
        return ahead and self.storage.lock_file is None

    def force(self) -> None:
        """Return once the existing layers, and the files that list them, are on the disk. Files
        that only people read may not be."""
        storage, group = self.storage, self.layers_name
        for folder in sorted(f"{group}/{name}" for name in layer_names(storage, group)):
            storage.force(*layer_files(storage, folder), folder)
        storage.force(f"{group}/zarr.json", group, LAYERS)
        storage.force(*filter(storage.exists, OWN_FILES), "")
        storage.force_above()

    def describe_group(self) -> None:
        """Write the ``zarr.json`` of all layers again."""
        for folder in (LAYERS, self.layers_name):
            self.storage.make_folder(folder)
        write_json(self.storage, f"{self.layers_name}/zarr.json", ZARR_GROUP, self.durable)
        if self.durable:
            self.storage.force(LAYERS)


def remove_runs(storage: Storage, but: str = "") -> None:
    """Delete the layers of all runs in a storage, except those of the run `but`."""
    for name in filter(IDENTIFIER.fullmatch, storage.names(LAYERS) - {but}):
        group = f"{LAYERS}/{name}"
        for layer in layer_names(storage, group):
            remove_layer(storage, f"{group}/{layer}")
        if not storage.is_link(group):
            storage.sweep(group)
            storage.delete(f"{group}/zarr.json")
            storage.remove_folder(group)


def layer_names(storage: Storage, group: str) -> set[str]:
    """Return the names of the layers in the folder of all layers."""
    return set(filter(LAYER_NAME.fullmatch, storage.names(group)))


def remove_layer(storage: Storage, folder: str) -> None:
    """Delete the files that a run has written in a layer's folder, and then the folder if it is
    empty.

    A link does not belong to the run: neither it nor its target is deleted.
    """
    if storage.is_link(folder):
        return
    storage.sweep(folder)
    storage.delete(*layer_files(storage, folder))
    storage.remove_folder(folder)


def layer_files(storage: Storage, folder: str) -> list[str]:
    """Return the files that a run has written in a layer's folder."""
    own = [n for n in storage.names(folder) if n == "zarr.json" or PART_NAME.fullmatch(n)]
    return [f"{folder}/{name}" for name in sorted(own)]


def layers_of(run: StoredRun, instead: str = "use status, farthest or verify") -> LayerRun:
    """Return a run, which must be one by layers; raises InputError if it is of another kind.

    instead: the remedy that the error names.
    """
    if isinstance(run, LayerRun):
        return run
    raise InputError(f"{run.path} holds a run by {run.kind}, which has no layers; {instead}")


def puzzle_and_run(
    what: Config | Place, settings: tuple[str, ...] = ()
) -> tuple[Config, LayerRun | None]:
    """Return the config of the one named puzzle, and its run by layers, or None if its directory
    has no run of this puzzle."""
    if isinstance(what, Config):
        config = only_member(what, what.name)
    else:
        config = resolve(what, settings).puzzle
    place = config.storage
    if (kind := kind_at(place)) not in (None, BY_LAYERS):
        raise InputError(
            f"{place} holds a run by {kind}, which solves only a few positions: name the config of "
            "the puzzle instead"
        )
    run = LayerRun.open(place) if LayerRun.exists(place) else None
    if run and not same_puzzle(run.identity["puzzle"], config.puzzle_settings):
        run = None
    return config, run
