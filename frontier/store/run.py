"""A run directory: who the run is, which layers are committed, where they lie.

    run.json            who: format, identifier, puzzle, codec, keep, layout
    ledger.json         the committed layers, from depth 0, one entry each
    copies/             of these two, for `repair`
    layers/zarr.json    a Zarr group; layers/0037 is the array of layer 37
    manifests/0037.json which chunks that array has
    wip/0038/5.json     chunks that task 5 of the layer under way has written
    recycled/           chunks of the layer that was forgotten last
    events.jsonl, summary.json, environment.json, status.html for people; lock names the process
                        that writes

A layer is *committed* by one atomic replacement of the ledger, after its chunks and its
manifest are in place. Several thin layers may be committed by one replacement; those between
need not be stored. What the ledger does not list is not there: a resumed run uses the finished
tasks of the layer under way and sweeps everything else.
"""

import re
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

import zarr

from frontier.errors import CorruptRunError, FormatError, InputError
from frontier.space.layout import Layout
from frontier.stopwatch import Stopwatch
from frontier.store.files import (
    DELETING,
    PARTIAL,
    force,
    read_json,
    read_sealed,
    remove_tree,
    sweep,
    write_sealed,
)
from frontier.store.layers import Manifest, StoredLayer, create_bits, create_list
from frontier.text import counted

FORMAT = 2
SCRATCH = ".scratch"
OWN_NAMES = {
    "run.json", "ledger.json", "copies", "layers", "manifests", "wip", "recycled",
    "events.jsonl", "summary.json", "environment.json", "status.html", "lock",
}  # fmt: skip
"""Everything that a run directory holds; nothing else there is ever touched."""


@dataclass
class LayerRecord:
    """A committed layer, as the ledger lists it.

    form: "bits" or "list". stored: whether the layer is on disk (or was never written, or is
    deleted by now). seconds: time it took. bytes: of its chunks on disk when it was written.
    nodes: states at each node of its class, where there are few nodes. work: seconds that the
    workers together spent on the disk, in codecs, in kernels and on the rest. start: whether
    the layer holds the position whose distance is asked for. home: states whose blank is where
    the goal has it, where that can be said.
    """

    depth: int
    states: int
    form: str
    stored: bool
    seconds: float
    bytes: int = 0
    nodes: list[int] | None = None
    work: dict[str, float] = field(default_factory=dict)
    start: bool = False
    home: int | None = None


class RunStore:
    """A run directory. `identity` is what makes two runs the same; see `create`."""

    durable = False
    """Whether what is committed is on the disk before anything it replaces is given up."""

    def __init__(self, path: Path, identity: dict, records: list[LayerRecord], complete: bool):
        self.path, self.identity = path, identity
        self.records, self.complete = records, complete

    @staticmethod
    def exists(path: Path) -> bool:
        return (path / "run.json").exists()

    @staticmethod
    def make_directory(path: Path) -> None:
        """Make an empty run directory, if there is no run yet.

        InputError if the place cannot be written or holds something else; CorruptRunError if
        it holds the layers of a run that has lost its ``run.json``.
        """
        if RunStore.exists(path):
            return
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in path.iterdir()}
        except OSError as error:
            raise InputError(
                f"store.path = {path}: the run directory cannot be made there "
                f"({error.strerror}); choose another with --set store.path=…"
            ) from None
        RunStore.refuse_others(names, path)
        for ledger in (path / "ledger.json", path / "copies" / "ledger.json"):
            if ledger.exists() and read_sealed(ledger)["layers"]:
                raise CorruptRunError(
                    f"{path} holds layers, but its run.json is missing; put it back, or move the "
                    "directory away to start anew"
                )

    @staticmethod
    def refuse_others(names: set[str], path: Path) -> None:
        """InputError if one of the names in a run directory is not a run's."""
        others = (name for name in names - OWN_NAMES if not name.endswith((PARTIAL, DELETING)))
        if foreign := sorted(others):
            raise InputError(
                f"store.path = {path}: the directory also holds {', '.join(foreign[:3])}"
                f"{', …' if len(foreign) > 3 else ''}; choose one of its own with "
                "--set store.path=…"
            )

    @staticmethod
    def delete(path: Path) -> None:
        """Delete what a run has written to its directory, even if it is damaged; nothing else."""
        sweep(path)
        # What says that there are layers goes first, what keeps other writers out last.
        first = ("copies", "ledger.json", "run.json")
        for name in (*first, *sorted(OWN_NAMES - {"lock"}), "lock"):
            if (path / name).is_dir():
                remove_tree(path / name)
            else:
                (path / name).unlink(missing_ok=True)

    @classmethod
    def create(cls, path: Path, identity: dict, durable: bool = False) -> "RunStore":
        """Begin a run in a directory of `make_directory`."""
        cls.make_directory(path)
        for name in ("manifests", "wip", "copies"):
            (path / name).mkdir(exist_ok=True)
        if not (path / "layers" / "zarr.json").exists():
            zarr.create_group(path / "layers")
        identity = {
            "format": FORMAT,
            "identifier": uuid.uuid4().hex,
            "created": time.time(),
            **identity,
        }
        for folder in (path / "copies", path):
            write_sealed(folder / "ledger.json", {"layers": [], "complete": False}, durable)
            write_sealed(folder / "run.json", identity, durable)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "RunStore":
        """Open a run; InputError if there is none, FormatError if its format is not ours."""
        if not cls.exists(path):
            if (path / "copies" / "run.json").exists():
                raise CorruptRunError(f"{path / 'run.json'} is missing; there is a copy of it")
            raise InputError(f"{path} holds no run: it has no run.json")
        identity = read_json(path / "run.json")
        if not isinstance(identity, dict) or "format" not in identity:
            raise CorruptRunError(f"{path / 'run.json'} is not what was written there")
        if (format := identity["format"]) != FORMAT:
            newer = isinstance(format, int) and format > FORMAT
            raise FormatError(
                f"{path / 'run.json'} has format {format}, this program reads format {FORMAT}: "
                + ("install a newer frontier" if newer else "use the version that wrote it")
            )
        identity = read_sealed(path / "run.json")
        ledger = read_sealed(path / "ledger.json")
        try:
            records = [LayerRecord(**record) for record in ledger["layers"]]
            complete = ledger["complete"]
        except (KeyError, TypeError) as error:
            raise CorruptRunError(f"{path / 'ledger.json'} is not a ledger: {error}") from None
        return cls(path, identity, records, complete)

    def layer_path(self, depth: int) -> Path:
        return self.path / "layers" / f"{depth:04d}"

    def scratch_path(self, depth: int) -> Path:
        """A new name for a layer that is not committed yet; `sweep` removes what stays there."""
        return self.path / "layers" / f"{depth:04d}.{uuid.uuid4().hex}{SCRATCH}"

    def manifest_path(self, depth: int) -> Path:
        return self.path / "manifests" / f"{depth:04d}.json"

    def wip_path(self, depth: int) -> Path:
        return self.path / "wip" / f"{depth:04d}"

    @property
    def environment_path(self) -> Path:
        """Where and with what the run was made; for people alone."""
        return self.path / "environment.json"

    @property
    def recycled_path(self) -> Path:
        """Chunks of the layer that was forgotten last, to be written over."""
        return self.path / "recycled"

    def layer(self, depth: int, clock: Stopwatch | None = None) -> StoredLayer:
        """A stored layer, for reading."""
        manifest = Manifest.read(self.manifest_path(depth))
        if manifest.depth != depth:
            raise CorruptRunError(
                f"{self.manifest_path(depth)} describes layer {manifest.depth}, not {depth}"
            )
        if self.records and manifest.states != (states := self.records[depth].states):
            raise CorruptRunError(
                f"{self.manifest_path(depth)} describes {counted(manifest.states, 'state')}, the "
                f"ledger {states:,}"
            )
        return StoredLayer(self.layer_path(depth), manifest, self.identity["codec"], clock)

    def uncommitted(self, depth: int, chunks: dict[str, list]) -> StoredLayer:
        """Chunks of the layer under way, for reading."""
        manifest = Manifest(depth, "bits", sum(line[0] for line in chunks.values()), chunks)
        return StoredLayer(self.layer_path(depth), manifest, self.identity["codec"])

    def stored_depths(self) -> list[int]:
        return [record.depth for record in self.records if record.stored]

    @property
    def states(self) -> int:
        """States of all committed layers."""
        return sum(record.states for record in self.records)

    @property
    def start_depth(self) -> int | None:
        """Depth of the position whose distance is asked for, None if not (yet) found."""
        return next((record.depth for record in self.records if record.start), None)

    def commit(
        self,
        manifests: list[Manifest],
        records: list[LayerRecord],
        complete: bool,
        forget: tuple[int, ...] = (),
    ) -> None:
        """Commit layers that follow the last committed one.

        manifests: of those that are stored. forget: depths of layers that are not needed once
        these are committed; they are deleted afterwards, but for the last one, whose files the
        next layer may be written over.
        """
        for manifest in manifests:
            if manifest.scratch:
                remove_tree(self.layer_path(manifest.depth))  # left by a driver that died here
                (self.path / "layers" / manifest.scratch).rename(self.layer_path(manifest.depth))
                manifest.scratch = None
            if self.durable:
                force(self.layer_path(manifest.depth) / "zarr.json")
                force(self.layer_path(manifest.depth))
                force(self.path / "layers")
            manifest.write(self.manifest_path(manifest.depth), self.durable)
        self.records.extend(records)
        self.complete = complete
        for depth in forget:
            self.records[depth].stored = False
        self._write_ledger()
        for depth in forget:
            self.manifest_path(depth).unlink(missing_ok=True)
            remove_tree(self.recycled_path)
            if self.layer_path(depth).exists():
                self.layer_path(depth).rename(self.recycled_path)

    def roll_back(self, depth: int, stored: list[int]) -> None:
        """Make `depth` the last committed layer; `stored`: which layers up to it are kept.

        What lies beyond is swept away by the next `sweep`.
        """
        back = depth < len(self.records) - 1
        self.records, self.complete = self.records[: depth + 1], self.complete and not back
        for record in self.records:
            record.stored = record.depth in stored
        self._write_ledger()
        if back:  # else the layer under way is as it was
            remove_tree(self.path / "wip")
            (self.path / "wip").mkdir()

    def begin_layer(self, depth: int, layout: Layout, klass: int) -> None:
        """Make the array of a bits layer, unless an earlier run has begun it.

        The folder of task records is made first: where it is, the chunks stay.
        """
        self.wip_path(depth).mkdir(parents=True, exist_ok=True)
        (self.layer_path(depth) / "zarr.json").unlink(missing_ok=True)
        create_bits(self.layer_path(depth), layout, klass, self.identity["codec"])

    def describe_layer(self, depth: int, layout: Layout, klass: int) -> None:
        """Write a layer's ``zarr.json`` anew, and remove files that are none of its chunks."""
        scratch, record = self.scratch_path(depth), self.records[depth]
        if record.form == "bits":
            create_bits(scratch, layout, klass, self.identity["codec"])
        else:
            create_list(scratch, record.states, self.identity["codec"])
        chunks = self.layer(depth).manifest.chunks
        for entry in self.layer_path(depth).iterdir():
            if entry.name not in chunks:
                remove_tree(entry) if entry.is_dir() else entry.unlink()
        (scratch / "zarr.json").replace(self.layer_path(depth) / "zarr.json")
        remove_tree(scratch)

    def is_group(self) -> bool:
        """Whether Zarr can open the layers together."""
        try:
            value = read_json(self.path / "layers" / "zarr.json")
        except CorruptRunError:
            return False
        return isinstance(value, dict) and value.get("node_type") == "group"

    def describe_group(self) -> None:
        """Write the ``zarr.json`` of all layers anew."""
        (self.path / "layers").mkdir(exist_ok=True)
        (self.path / "layers" / "zarr.json").unlink(missing_ok=True)
        zarr.create_group(self.path / "layers")

    def abandon_layer(self, depth: int) -> None:
        """Drop what tasks have done of a layer that is made anew in another form."""
        remove_tree(self.wip_path(depth))
        remove_tree(self.layer_path(depth))

    def finish_tasks(self, depth: int) -> None:
        """Drop the task records of a committed layer."""
        remove_tree(self.wip_path(depth))

    def sweep(self) -> None:
        """Remove what a killed run left behind and no resumed run can use."""
        for name in ("manifests", "wip"):
            (self.path / name).mkdir(exist_ok=True)
        for folder in ("", "layers", "manifests", "wip"):
            sweep(self.path / folder)
        for path in (self.path / "layers").glob(f"*{SCRATCH}"):
            remove_tree(path)
        stored, under_way = set(self.stored_depths()), len(self.records)
        for folder in (self.path / "layers", self.path / "manifests", self.path / "wip"):
            for path in folder.iterdir():
                if not re.fullmatch(r"\d{4,}(\.json)?", path.name):
                    continue
                depth = int(path.name.removesuffix(".json"))
                kept = depth in stored and folder.name != "wip"
                if not kept and not (depth == under_way and self.wip_path(depth).exists()):
                    if path.is_dir():
                        remove_tree(path)
                    else:
                        path.unlink()
        for folder in (self.layer_path(under_way), self.wip_path(under_way)):
            sweep(folder)

    def drop_forgotten(self) -> None:
        """Delete what is left of forgotten layers."""
        remove_tree(self.recycled_path)

    def _write_ledger(self) -> None:
        layers = [asdict(record) for record in self.records]
        ledger = {"layers": layers, "complete": self.complete}
        (self.path / "copies").mkdir(exist_ok=True)
        for folder in (self.path / "copies", self.path):
            write_sealed(folder / "ledger.json", ledger, self.durable)
