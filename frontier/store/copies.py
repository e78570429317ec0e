"""The copies of run.json and of the ledger, which come to help when one of them is damaged.

A run in an object store has none, as such a store keeps several copies of each object itself.

A commit writes the copy of the ledger first and then the ledger, and deletes what is not needed any
more after both. Both may be whole, then, and differ:

* **The copy goes on where the ledger ends.** The run was killed between the two, or a power failure
  has lost the later one. The copy is what was committed last: its layers were in place before it
  was written. So the run goes on from it (`RunStore.newer_copy`), if these layers are whole; if
  they are not, which only a power failure can do, it goes on from the ledger as if it were alone.
* **The ledger goes on where the copy ends.** A `repair` was killed that gives layers up. They are
  still there, whatever they are like: the ledger holds, and `repair` can be asked again.
* **Neither goes on where the other ends.** One of them is not what was written there, and nobody
  can tell which: that is an error (`check_copies`).
"""

from frontier.errors import CorruptRunError
from frontier.store.files import read_sealed, remove_tree, write_sealed
from frontier.store.identity import FORMAT
from frontier.store.ledger import read_ledger
from frontier.store.objects import ObjectPath, Place
from frontier.store.run import RunStore


def restore(path: Place) -> list[Place]:
    """Write run.json, the ledger or a copy of them anew from its counterpart where it is damaged.

    Returns the files that were written.

    CorruptRunError if both are damaged, or there are no copies, as in an object store.
    """
    restored, run = [], None
    if isinstance(path, ObjectPath):
        for name in ("run.json", "ledger.json"):
            try:
                read_sealed(path / name)
            except CorruptRunError as damage:
                raise CorruptRunError(
                    f"{path} cannot be repaired: {damage}. Put back an earlier version of the "
                    "object, if the store keeps some, or start anew with run --fresh"
                ) from None
        return []
    (path / "copies").mkdir(exist_ok=True)
    for name in ("run.json", "ledger.json"):
        mine, copy = path / name, path / "copies" / name
        for file, other in ((mine, copy), (copy, mine)):
            try:
                _read(file, run)
            except CorruptRunError as damage:
                try:
                    value = _read(other, run)
                except CorruptRunError as another:
                    raise CorruptRunError(
                        f"{path} cannot be repaired: {damage}, and {another}. Put back one of "
                        "them, or start anew with run --fresh"
                    ) from None
                if file.is_dir():
                    remove_tree(file)
                write_sealed(file, value, durable=True)
                restored.append(file)
        if name == "run.json":
            identity = read_sealed(mine)
            # Whether a ledger of another format is damaged, this version cannot tell.
            run = identity.get("identifier") if identity.get("format") == FORMAT else None
    return restored


def _read(file: Place, run: str | None) -> dict:
    """The value of a file; run: the identifier of the run whose ledger it must be."""
    value = read_sealed(file)
    if run is not None:
        read_ledger(file, run)
    return value


def check_copies(run: RunStore) -> None:
    """CorruptRunError if run.json or the ledger and its copy, both whole, contradict."""
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
