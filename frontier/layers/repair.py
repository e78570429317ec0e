"""Rolling a damaged run back to the last layer from which it can be resumed.

A layer needs the two before it, so a run can be resumed from depth t if layers t and t - 1 are
undamaged. For a complete run, the last layer is enough. A run that keeps only these cannot be
repaired once one of them is damaged. A run that keeps more (``search.spare``, ``search.keep =
"all"``) is rolled back as far as necessary.
"""

from dataclasses import dataclass, field
from typing import Any

from frontier.errors import CorruptRunError
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.layers.verify import Verified
from frontier.runs.checks import SUMMARY, SUMS, Repair
from frontier.storage.sealed import write_json
from frontier.text import counted


@dataclass
class LayerRepair(Repair):
    """The steps of a repair.

    depth: the last layer that stays committed. stored: the depths up to it whose layers are whole.
    described: the content of each ``zarr.json`` that is rewritten, by its name. tasks: the tasks of
    the layer under way that must be done again. lost: depths of layers that are deleted, whole or
    not. summary: see `Repair`.
    """

    depth: int
    stored: list[int]
    described: dict[str, dict] = field(default_factory=dict)
    tasks: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    summary: bool = False

    @property
    def needed(self) -> bool:
        return bool(self.tasks or self.lost or self.described or self.summary)

    def take(self, run: LayerRun) -> None:
        run.durable = True
        if self.lost:
            run.roll_back(self.depth, self.stored)
        under_way = RunReader(run).files(len(run.records))
        for task in self.tasks:
            run.storage.delete(under_way.name(task))
        run.sweep()
        for name, content in self.described.items():
            run.storage.make_folder(name.rpartition("/")[0])
            write_json(run.storage, name, content, durable=True)

    def in_words(self, run: LayerRun) -> str:
        sentences = [f"{run.storage.place(name)} rewritten" for name in self.described]
        if self.summary:
            sentences.append("summary.json rewritten")
        if self.tasks:
            layer = len(run.records)
            sentences.append(
                f"{counted(len(self.tasks), 'task')} of layer {layer} will be repeated"
            )
        if undone := [d for d in self.lost if d > self.depth]:
            which = f"layers {undone[0]}–{undone[-1]}" if undone[1:] else f"layer {undone[0]}"
            sentences.append(f"{which} discarded, to be recomputed by `run`")
        if older := [d for d in self.lost if d < self.depth]:
            noun = "layers" if older[1:] else "layer"
            sentences.append(f"unneeded {noun} {', '.join(map(str, older))} deleted")
        back = f"back to depth {self.depth}; " if undone else ""
        return f"{run.path}: {back}" + "; ".join(sentences)


def plan_repair(run: LayerRun, verified: Verified) -> LayerRepair:
    """Return the steps of a repair; raises CorruptRunError if the run cannot be repaired."""
    if messages := [fault.message for fault in verified.faults if fault.depth == SUMS]:
        raise CorruptRunError(f"{run.path} cannot be repaired: {messages[0]}")
    stored, last, reader = run.stored_depths(), len(run.records) - 1, RunReader(run)
    redo = sorted({fault.task for fault in verified.faults if fault.task is not None})
    more: dict[str, Any] = {"summary": not verified.sound(SUMMARY)}
    if not run.records:  # the run was stopped before it committed anything
        return LayerRepair(last, [], reader.wrong_descriptions([]), **more)
    replaced = verified.depth_being_replaced
    irreplaceable = replaced is not None and any(
        not reader.files(last - 1).has_part(task) for task in redo
    )
    whole = [depth for depth in stored if verified.sound(depth)]
    for depth in reversed(whole):
        # If the layer under way is deleted, the parts that it replaced are lost.
        usable = [d for d in whole if d <= depth and (depth == last or d != replaced)]
        if depth not in usable or (depth == last and irreplaceable):
            continue
        if run.identity["keep"] == "all" and len(usable) <= depth:
            continue  # a run that keeps all layers needs all of them to continue
        # Nothing is computed from the last layer of a complete run.
        if depth == 0 or depth - 1 in usable or (run.complete and depth == last):
            lost = [d for d in range(last + 1) if d > depth or (d in stored and d not in usable)]
            tasks = redo if depth == last else []
            described = reader.wrong_descriptions(usable)
            return LayerRepair(depth, usable, described, tasks, lost, **more)
    damaged = [str(depth) for depth in stored if depth not in whole]
    damaged += [str(last + 1)] * irreplaceable
    why = "no two consecutive layers are intact"
    advice = ". A run with search.spare = 2 keeps two more layers to fall back on"
    if run.identity["keep"] == "all":
        why = "a run that keeps all layers needs an intact layer 0"
        advice = ""
    raise CorruptRunError(
        f"{run.path} cannot be repaired: {'layers' if damaged[1:] else 'layer'} "
        f"{', '.join(damaged)} on disk {'are' if damaged[1:] else 'is'} damaged, and {why}. "
        f"Restore a copy, or move the directory away and start over{advice}"
    )
