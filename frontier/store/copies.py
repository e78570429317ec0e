"""The copies of run.json and of the ledger, which come to help when one of them is damaged."""

from pathlib import Path

from frontier.errors import CorruptRunError
from frontier.store.files import read_sealed, remove_tree, write_sealed
from frontier.store.run import RunStore


def restore(path: Path) -> list[Path]:
    """Write a damaged run.json or ledger.json, or a copy of it, anew from the other: which.

    CorruptRunError if both are damaged.
    """
    restored = []
    (path / "copies").mkdir(exist_ok=True)
    for name in ("run.json", "ledger.json"):
        mine, copy = path / name, path / "copies" / name
        for file, other in ((mine, copy), (copy, mine)):
            try:
                read_sealed(file)
            except CorruptRunError:
                value = read_sealed(other)
                if file.is_dir():
                    remove_tree(file)
                write_sealed(file, value, durable=True)
                restored.append(file)
    return restored


def check_copies(run: RunStore) -> None:
    """CorruptRunError if run.json or the ledger and its copy, both whole, contradict.

    They are written one after the other, so one may be ahead of the other.
    """
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
