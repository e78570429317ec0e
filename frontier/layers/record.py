"""What a run remembers of a layer: the lines of its ledger.

A line has a digest over the records of the layer's parts, and a checksum over itself and the
previous line, so that no line can replace another.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal

from pydantic import ConfigDict, StrictBool, TypeAdapter

from frontier.layers.parts import PartRecord, digest_of
from frontier.layers.tally import Tally
from frontier.storage.sealed import Count, Seconds

Form = Literal["bits", "list", "keys"]


@dataclass(frozen=True)
class LayerRecord:
    """A committed layer, as the ledger lists it; `of` makes it.

    form: see `frontier.layers.files`. tally: the counts over its states. seconds: the time it
    took. stored: True if the layer is on disk; otherwise it never was, or has been deleted.
    bytes: its size on disk when it was written. work: the seconds that all workers together
    spent on each kind of work: waiting for the disk, codecs, kernels and the rest. parts: the
    number of files it had when it was stored. digest: a checksum over the records of these
    files, empty if the layer was never stored. chain: a checksum over this line and the chain
    of the previous line.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    depth: Count
    form: Form
    tally: Tally
    seconds: Seconds
    stored: StrictBool
    bytes: Count
    work: dict[str, Seconds]
    parts: Count
    digest: str
    chain: str = ""

    @classmethod
    def of(
        cls,
        depth: int,
        form: Form,
        tally: Tally,
        seconds: float,
        parts: Sequence[PartRecord] = (),
        work: dict[str, float] | None = None,
    ) -> "LayerRecord":
        """Return the line of a new layer.

        parts: the records of its files, in task order; empty if it is not stored.
        """
        size, digest = sum(part.bytes for part in parts), digest_of(parts) if parts else ""
        stored = bool(parts)
        return cls(depth, form, tally, seconds, stored, size, work or {}, len(parts), digest)

    @property
    def states(self) -> int:
        return self.tally.states

    def chained(self, before: str, run: str) -> "LayerRecord":
        """Return the line with its chain.

        before: the chain of the previous line, "" for the first line. run: the identifier of the
        run.
        """
        counts = asdict(self.tally)
        line = [run, before, self.depth, self.form, counts, self.digest, self.parts]
        chain = hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()
        return replace(self, chain=chain)


LINES = TypeAdapter(list[LayerRecord])


def records_of(lines: list, run: str) -> list[LayerRecord]:
    """Return the layers that some lines of a ledger's JSON describe.

    run: the identifier of the run. Raises ValueError if the lines are not consecutive lines of the
    run.
    """
    records, before = LINES.validate_python(lines), ""
    for depth, record in enumerate(records):
        if record.depth != depth:
            raise ValueError(f"layer {record.depth} is listed instead of layer {depth}")
        if record != record.chained(before, run):
            raise ValueError(f"the entry of layer {depth} does not match the entry before it")
        before = record.chain
    return records


def chained(run: str, records: Iterable[LayerRecord]) -> list[LayerRecord]:
    """Return the lines of a ledger with their chains."""
    lines, chain = [], ""
    for record in records:
        lines.append(record.chained(chain, run))
        chain = lines[-1].chain
    return lines
