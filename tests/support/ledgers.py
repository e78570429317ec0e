"""Lines of ledgers, and edits of them."""

from dataclasses import replace

from pydantic import TypeAdapter

from frontier.layers.record import LayerRecord
from frontier.layers.run import LayerRun
from frontier.layers.tally import Tally


def line_of(depth: int, states: int, form: str = "list", seconds: float = 0.5) -> LayerRecord:
    """The line of a layer that is not stored."""
    return LayerRecord.of(depth, form, Tally(states), seconds)


def add_states(run: LayerRun, depth: int, states: int) -> None:
    """Make an opened run say of a layer that it has so many states more."""
    record = run.records[depth]
    tally = replace(record.tally, states=record.states + states)
    run.records[depth] = replace(record, tally=tally)


def edit(line: dict, key: str, value) -> None:
    """Change a value of a line, or of the tally in it."""
    (line["tally"] if key in line["tally"] else line)[key] = value


def chain_anew(lines: list[dict], run: str) -> None:
    """Make the chains of lines right again. run: the identifier of the run."""
    before = ""
    for line in lines:
        record = TypeAdapter(LayerRecord).validate_python(line)
        before = line["chain"] = record.chained(before, run).chain
