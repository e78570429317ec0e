"""Files of runs by their paths, and the layers of a run as its directory has them."""

from pathlib import Path

from frontier.storage import sealed
from frontier.storage.places import storage_at


def read_json(path):
    return sealed.read_json(storage_at(path), "")


def write_json(path, value):
    sealed.write_json(storage_at(path), "", value)


def read_sealed(path):
    return sealed.read_sealed(storage_at(path), "")


def write_sealed(path, value):
    sealed.write_sealed(storage_at(path), "", value)


def layers_of(path):
    """The folder of the layers of the run at a path."""
    (folder,) = (Path(path) / "layers").iterdir()
    return folder


def file_of(path, name):
    """A file of the run at a path; its layers are named as if they were in ``layers`` itself."""
    first, _, rest = name.partition("/")
    return layers_of(path) / rest if first == "layers" else Path(path) / name


def copied(source, target):
    """Copy all files of a run, as the tools of a file system or of a bucket do."""
    source, target = storage_at(source), storage_at(target)
    target.make_folder()
    for name, _ in source.files():
        folders = name.split("/")[:-1]
        for depth in range(len(folders)):
            target.make_folder("/".join(folders[: depth + 1]))
        target.write(name, source.read(name))


COPIES = {"run.json": "run.copy.json", "ledger.json": "ledger.copy.json"}
