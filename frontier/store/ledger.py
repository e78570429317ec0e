"""The ledger: the committed layers of a run, from depth 0, one line each; and its copy.

A line has a digest over the records of the layer's parts, and one over itself and the line before,
so that no line can be exchanged for another. Several layers may be committed by one replacement of
the file; then those between need not be stored.

Ledger and run.json have a copy each, from which a damaged one is written anew; not in an object
store, which keeps several copies of each object itself. A commit writes the copy of the ledger
first and then the ledger, and deletes what is no longer needed after both. So ledger and copy may
both be whole and differ:

* **The copy goes on where the ledger ends.** The run was killed between the two, or a power failure
  has lost the later write. The copy is what was committed last: its layers were in place before it
  was written. So the run goes on from it (`RunStore.newer_copy`), if these layers are whole; if a
  power failure has damaged them, it goes on from the ledger as if there were no copy.
* **The ledger goes on where the copy ends.** A `repair` was killed as it gave layers up. They are
  still there, whole or not: the ledger is what counts, and `repair` can be run again.
* **Neither goes on where the other ends.** One of them is not what was written there, and nobody
  can tell which: that is an error (`check_copies`).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import ConfigDict, StrictBool, TypeAdapter, ValidationError

from frontier.errors import CorruptRunError
from frontier.store.files import (
    Count,
    Seconds,
    first_wrong,
    read_sealed,
    remove_tree,
    sealed,
    write_sealed,
)
from frontier.store.identity import FORMAT
from frontier.store.objects import ObjectPath, Place
from frontier.store.parts import PartRecord, digest_of, value_of

if TYPE_CHECKING:
    from frontier.store.run import RunStore


@dataclass
class LayerRecord:
    """A committed layer, as the ledger lists it.

    form: "bits" or "list". stored: whether the layer is on disk; else it never was, or has been
    deleted. seconds: the time it took. bytes: its size on disk when it was written. work: seconds
    that the workers together spent waiting for the disk, in codecs, in kernels and on the rest.
    start: whether the layer holds the position whose distance is asked for. home: the number of
    states whose blank is where the goal has it (`Puzzle.blank_home`), None where that cannot be
    said. edges: the number of edges of the layer (`BaseGraph.counted`), None where they are not
    counted. parts: the number of files it had when it was stored. digest: over their records, empty
    if it was never stored. chain: a digest over this line and the chain of the line before.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    depth: Count
    states: Count
    form: Literal["bits", "list"]
    stored: StrictBool
    seconds: Seconds
    bytes: Count = 0
    work: dict[str, Seconds] = field(default_factory=dict)
    start: StrictBool = False
    home: Count | None = None
    edges: Count | None = None
    parts: Count = 0
    digest: str = ""
    chain: str = ""

    @classmethod
    def of(cls, parts: Sequence[PartRecord], form: str, seconds: float) -> "LayerRecord":
        """The line of a stored layer; parts: their records, in the order of the tasks."""
        homes, edges = ([getattr(part, name) for part in parts] for name in ("home", "edges"))
        return cls(
            depth=parts[0].depth,
            states=sum(part.states for part in parts),
            form=form,
            stored=True,
            seconds=seconds,
            bytes=sum(part.bytes for part in parts),
            start=any(part.start for part in parts),
            home=None if None in homes else sum(homes),
            edges=None if None in edges else sum(edges),
            parts=len(parts),
            digest=digest_of(parts),
        )

    def chained(self, before: str, run: str) -> str:
        """What `chain` must be. before: the chain of the line before, "" for the first line."""
        line = [run, before, self.depth, self.states, self.form, self.start, self.home]
        line += [self.digest, self.parts]
        if self.edges is not None:
            line.append(self.edges)
        return hashlib.sha256(json.dumps(line).encode()).hexdigest()


LAYERS = TypeAdapter(list[LayerRecord])


def read_ledger(file: Place, run: str) -> tuple[list[LayerRecord], bool]:
    """The layers that a ledger lists, and whether they are all that the run has.

    run: its identifier. CorruptRunError if the file is no ledger of it.
    """
    ledger, before = read_sealed(file), ""
    try:
        records = LAYERS.validate_python(ledger["layers"])
        complete = bool(ledger["complete"])
        for depth, record in enumerate(records):
            if record.depth != depth:
                raise ValueError(f"layer {record.depth} stands in the place of {depth}")
            if record.chain != record.chained(before, run):
                raise ValueError(f"the line of layer {depth} does not follow from the one before")
            before = record.chain
    except (KeyError, ValueError) as error:
        why = first_wrong(error) if isinstance(error, ValidationError) else error
        raise CorruptRunError(f"{file} is no ledger of this run: {why}") from None
    return records, complete


def ledger_bytes(
    run: str, records: list[LayerRecord], complete: bool, nonce: str | None = None
) -> bytes:
    """The content of a ledger's file; sets the chains of its lines.

    nonce: a text that no other ledger has, so that this one is never taken for an earlier one that
    lists the same.
    """
    chain = ""
    for record in records:
        chain = record.chain = record.chained(chain, run)
    ledger = {"layers": list(map(value_of, records)), "complete": complete}
    return sealed(ledger if nonce is None else {**ledger, "nonce": nonce})


def restore(path: Place) -> list[Place]:
    """Write run.json, the ledger or a copy of them anew from its counterpart where it is damaged.

    Returns the files that were written. CorruptRunError if both are damaged, or one is in an object
    store, where there are no copies.
    """
    folders, remedy = [path, path / "copies"], "one of them"
    if isinstance(path, ObjectPath):
        folders, remedy = [path], "an earlier version of the object, if the store keeps some"
    restored, run = [], None
    for name in ("run.json", "ledger.json"):
        values, damages = [], {}
        for folder in folders:
            folder.mkdir(exist_ok=True)
            try:
                value = read_sealed(folder / name)
                if run is not None:
                    read_ledger(folder / name, run)
                values.append(value)
            except CorruptRunError as damage:
                damages[folder / name] = damage
        if not values:
            raise CorruptRunError(
                f"{path} cannot be repaired: {', and '.join(map(str, damages.values()))}. Put back "
                f"{remedy}, or start anew with run --fresh"
            )
        for file in damages:
            if file.is_dir():
                remove_tree(file)
            write_sealed(file, values[0], durable=True)
            restored.append(file)
        if name == "run.json" and values[0].get("format") == FORMAT:
            run = values[0].get("identifier")  # a ledger of another format cannot be checked
    return restored


def check_copies(run: "RunStore") -> None:
    """CorruptRunError if run.json or the ledger contradicts its copy, though both are whole."""
    mine = [record.chain for record in run.records]

    def same_layers(copy: dict) -> bool:
        copied = [layer["chain"] for layer in copy.get("layers", [])]
        both = min(len(copied), len(mine))
        return copied[:both] == mine[:both]

    for name, agrees in (("run.json", run.identity.__eq__), ("ledger.json", same_layers)):
        try:
            copy = read_sealed(run.path / "copies" / name)
        except CorruptRunError:
            continue  # a damaged copy contradicts nothing
        if not agrees(copy):
            raise CorruptRunError(
                f"{run.path / name} is not what was written there: "
                f"{run.path / 'copies' / name} says something else; put back the right one"
            )
