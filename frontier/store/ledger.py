"""The ledger: the committed layers of a run, from depth 0, one line each.

A line has a digest over the records of the layer's parts, and one over itself and the line before,
so that no line can be exchanged for another. Several layers may be committed by one replacement of
the file; then those between need not be stored.
"""

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import ConfigDict, StrictBool, TypeAdapter, ValidationError

from frontier.errors import CorruptRunError
from frontier.storage.base import Storage
from frontier.storage.sealed import Count, Seconds, first_wrong, read_sealed, sealed
from frontier.store.parts import PartRecord, digest_of, value_of


@dataclass
class LayerRecord:
    """A committed layer, as the ledger lists it.

    form: "bits" or "list". stored: whether the layer is on disk; else it never was, or has been
    deleted. seconds: the time it took. bytes: its size on disk when it was written. work: seconds
    that the workers together spent waiting for the disk, in codecs, in kernels and on the rest.
    start: whether the layer holds the position whose distance is asked for. home: the number of
    states whose blank is where the goal has it (`Model.at_goal_shape`), None where that cannot be
    said. edges: the number of edges of the layer (`BaseGraph.edge_targets`), None where they are
    not counted. parts: the number of files it had when it was stored. digest: over their records,
    empty if it was never stored. chain: a digest over this line and the chain of the line before.
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


def read_ledger(storage: Storage, name: str, run: str) -> tuple[list[LayerRecord], bool]:
    """Return the layers that a ledger lists, and whether they are all that the run has.

    name: that of the file. run: the identifier of the run. Raises CorruptRunError if the file is no
    ledger of it.
    """
    ledger, before = read_sealed(storage, name), ""
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
        said = f"{storage.place(name)} is no ledger of this run: {why}"
        raise CorruptRunError(said) from None
    return records, complete


def ledger_bytes(run: str, records: list[LayerRecord], complete: bool) -> bytes:
    """Return the content of a ledger's file, and set the chains of its lines.

    It has a number of its own, so that it is never taken for an earlier one that lists the same.
    """
    chain = ""
    for record in records:
        chain = record.chain = record.chained(chain, run)
    layers = list(map(value_of, records))
    return sealed({"layers": layers, "complete": complete, "number": uuid.uuid4().hex})
