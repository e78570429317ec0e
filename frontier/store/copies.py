"""The copies of run.json and of the ledger.

A damaged file is written anew from its copy. A run in an object store has no copies, as the store
keeps several of each object itself.

A commit writes the copy of the ledger first and then the ledger, and deletes what is no longer
needed after both. So ledger and copy may both be whole and differ:

* **The copy goes on where the ledger ends.** The run was killed between the two, or a power failure
  has lost the later write. The copy is what was committed last: its layers were in place before it
  was written. So the run goes on from it (`RunStore.newer_copy`), if these layers are whole; if a
  power failure has damaged them, it goes on from the ledger as if there were no copy.
* **The ledger goes on where the copy ends.** A `repair` was killed as it gave layers up. They are
  still there, whole or not: the ledger is what counts, and `repair` can be run again.
* **Neither goes on where the other ends.** One of them is not what was written there, and nobody
  can tell which: that is an error (`check_copies`).
"""

from frontier.errors import CorruptRunError
from frontier.store.directory import misplaced
from frontier.store.files import read_sealed, write_sealed
from frontier.store.identity import FORMAT
from frontier.store.ledger import read_ledger
from frontier.store.objects import ObjectPath, Place
from frontier.store.run import RunStore


def restore(path: Place) -> list[str]:
    """Write run.json, the ledger or a copy of them anew from its counterpart where it is damaged.
    What is in the place of such a file and is none is moved aside.

    Returns what was done, in sentences. CorruptRunError if both are damaged, or one is in an object
    store, where there are no copies.
    """
    folders, remedy = [path, path / "copies"], "one of them"
    if isinstance(path, ObjectPath):
        folders, remedy = [path], "an earlier version of the object, if the store keeps some"
    said, run, aside = [], None, misplaced(path)

    def move(file: Place) -> None:
        if place := aside.pop(file, None):
            file.rename(place)
            said.append(moved(file, place))

    for name in ("run.json", "ledger.json"):
        values, damages = [], {}
        for folder in folders:
            move(folder)
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
            move(file)
            write_sealed(file, values[0], durable=True)
            said.append(f"{file}: written anew from the other copy")
        if name == "run.json" and values[0].get("format") == FORMAT:
            run = values[0].get("identifier")  # a ledger of another format cannot be checked
    return said


def moved(file: Place, aside: Place) -> str:
    """A sentence about what was moved aside."""
    return f"{file} is not what a run makes there: moved to {aside.name}"


def check_copies(run: RunStore) -> None:
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
