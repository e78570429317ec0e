"""Random changes to the files of a run directory, for `fuzz.py`.

What is changed has its digests, checksums and its place in the ledger's chain made right again, but
now and then: a reader meets values that no program has written, under seals that hold. A run
directory is a table here, from the names of its files to their bytes.
"""

import copy
import hashlib
import json
import random
from contextlib import suppress

import google_crc32c
import numpy as np

from frontier.codec.slabs import CHECKSUM_BYTES
from frontier.layers.parts import NOT_STORED, RECORD_BYTES

Files = dict[str, bytes]

ODD = (
    None, True, False, 0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e308, float("inf"), float("nan"), 255, 256,
    2**31, 2**32, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63), 10**30, "", "0", "x", "c.0", "bits",
    "list", "all", "\0", "\n", "../..", "é" * 300, "[" * 500, [], {}, [[]], [0], [1, 2, 3], {"": 0},
    "a" * 5000, "0" * 64, [[[[[[[[]]]]]]]], "tiles", "graph", "blocks", "cells", "pattern", "raw",
    "lz4", "zstd:1", "zstd:99",
)  # fmt: skip
"""Values that stand where others are expected."""

DEEP = 100_000
"""Brackets that are opened, in texts that no reader may follow to the end."""

ALONE = 0.1
"""How often what is changed is not sealed again."""


def changed(choice: random.Random, value):
    """A value of JSON, of which some places are other than they were."""
    value = copy.deepcopy(value)
    for _ in range(choice.choice((1, 1, 1, 2, 3))):
        value = _changed_once(choice, value)
    return value


def _changed_once(choice: random.Random, value):
    places = list(_places(value))
    if not places or choice.random() < 0.01:
        return choice.choice(ODD)
    holder, key = choice.choice(places)
    old, how = holder[key], choice.randrange(8)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(old))
    elif how == 1:
        holder[choice.choice(("x", "kind", "format", "depth", "", key + "s"))] = old
    elif how == 2:
        other, place = choice.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif how == 3 and isinstance(old, int | float):
        with suppress(OverflowError):
            holder[key] = choice.choice((old + 1, old - 1, -old, old * 2, old * 1000, float(old)))
    elif how == 3 and isinstance(old, str) and old:
        at = choice.randrange(len(old))
        holder[key] = old[:at] + choice.choice("0aé\0 9") + old[at + 1 :]
    elif how == 4 and isinstance(old, list):
        holder[key] = old[: choice.randrange(len(old) + 1)] * choice.choice((1, 1, 2))
    else:
        holder[key] = copy.deepcopy(choice.choice(ODD))
    return value


def _places(value):
    """(list or table, key) of all places in a value."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def torn(choice: random.Random, data: bytes) -> bytes:
    """Bytes, of which some are others, lost or new."""
    data = bytearray(data)
    for _ in range(choice.choice((1, 1, 2, 5))):
        at, size = choice.randrange(len(data) + 1), choice.choice((1, 1, 4, 50))
        how = choice.randrange(6)
        if how == 0:
            del data[at : at + size]
        elif how == 1:
            data[at:at] = choice.randbytes(size)
        elif how == 2:
            data[at:at] = data[choice.randrange(len(data) + 1) :][:size]
        elif how == 3 and choice.random() < 0.1:
            data[at:at] = choice.choice((b"[", b'{"a":', b"[[")) * DEEP
        elif how == 4 and choice.random() < 0.1:
            del data[at:]
        elif at < len(data):
            data[at] = choice.randrange(256) if choice.random() < 0.5 else data[at] ^ 1 << at % 8
    return bytes(data)


# --- what says that there is a run


def ledger(choice: random.Random, files: Files) -> None:
    """Change both ledgers, or one, with a chain that holds."""
    if choice.random() < ALONE:
        _tear(choice, files, "ledger.json")
        return
    value = _value(files, "ledger.json")
    if choice.random() < 0.7:
        line = choice.randrange(len(value["layers"]))
        value["layers"][line] = changed(choice, value["layers"][line])
    else:
        value = changed(choice, value)
    _put_ledger(choice, files, value)


def identity(choice: random.Random, files: Files) -> None:
    """Change run.json and its copy alike, the puzzle and the layout most of all."""
    if choice.random() < ALONE:
        _tear(choice, files, "run.json")
        return
    value = _value(files, "run.json")
    key = choice.choice((None, None, "puzzle", "puzzle", "layout", "layout"))
    value = {**value, key: changed(choice, value[key])} if key else changed(choice, value)
    files["run.json"] = files["run.copy.json"] = _sealed(value)


def _value(files: Files, name: str):
    value = json.loads(files[name])
    del value["digest"]
    return value


def _sealed(value) -> bytes:
    """As `write_sealed` writes it, if it is a table."""
    if isinstance(value, dict):
        text = json.dumps(json.loads(json.dumps(value)), sort_keys=True)
        value = {**value, "digest": hashlib.sha256(text.encode()).hexdigest()}
    return json.dumps(value).encode()


def _tear(choice: random.Random, files: Files, name: str) -> None:
    name = choice.choice((name, name.replace(".json", ".copy.json")))
    files[name] = torn(choice, files[name])


def _put_ledger(choice: random.Random, files: Files, value) -> None:
    """A ledger whose lines follow from each other, as far as they are lines at all."""
    run, before = json.loads(files["run.json"]).get("identifier"), ""
    with suppress(TypeError, AttributeError, KeyError):
        for line in value["layers"]:
            names = ("depth", "states", "form", "start", "home", "digest", "parts")
            values = [run, before, *(line.get(name) for name in names)]
            before = line["chain"] = hashlib.sha256(json.dumps(values).encode()).hexdigest()
    files["ledger.json"] = _sealed(value)
    if choice.random() < 0.75:
        files["ledger.copy.json"] = files["ledger.json"]


# --- parts


def parts_of(files: Files) -> list[str]:
    return sorted(name for name in files if name.rsplit("/", 1)[-1].startswith("c."))


def record(choice: random.Random, files: Files) -> None:
    """Change what a part says of itself."""
    name, slabs, said, index = _taken(choice, files)
    _put_part(choice, files, name, slabs, changed(choice, said), index)


def index(choice: random.Random, files: Files) -> None:
    """Slabs elsewhere, larger, smaller, twice or not at all."""
    name, slabs, said, index = _taken(choice, files)
    for _ in range(choice.choice((1, 1, 2, 4))):
        row, column = choice.randrange(len(index)), choice.randrange(2)
        old, any_row = int(index[row, column]), choice.randrange(len(index))
        near = old + 1, old - 1, old * 2, len(slabs), len(slabs) - 4, int(index[any_row, 0])
        odd = (*near, 0, 1, 3, 4, 5, 8, 2**31, 2**62, 2**63, 2**64 - 2, int(NOT_STORED))
        index[row, column] = choice.choice(odd) % 2**64
        if choice.random() < 0.3:
            index[row] = NOT_STORED if choice.random() < 0.5 else (0, len(slabs))
    _put_part(choice, files, name, slabs, _with_content(slabs, said, index), index)


def slabs(choice: random.Random, files: Files) -> None:
    """Other bytes in a slab, under a checksum that holds."""
    name, slabs, said, index = _taken(choice, files)
    stored = np.flatnonzero(index[:, 0] != NOT_STORED)
    if stored.size:
        row = choice.choice(stored.tolist())
        begin, size = map(int, index[row])
        other = torn(choice, slabs[begin : begin + size - CHECKSUM_BYTES])
        other += google_crc32c.value(other).to_bytes(CHECKSUM_BYTES, "little")
        slabs = slabs[:begin] + other + slabs[begin + size :]
        more = len(other) - size
        index[row, 1] = len(other)
        later = (index[:, 0] != NOT_STORED) & (index[:, 0] > begin)
        index[later, 0] = (index[later, 0].astype(np.int64) + more).astype(np.uint64)
        said["bytes"] += more
    _put_part(choice, files, name, slabs, _with_content(slabs, said, index), index)


def part(choice: random.Random, files: Files) -> None:
    """Tear a part, under seals that were those of the whole one."""
    name = choice.choice(parts_of(files))
    files[name] = torn(choice, files[name])


def _taken(choice: random.Random, files: Files) -> tuple[str, bytes, dict, np.ndarray]:
    """A part: its name, its slabs, its record, its index."""
    name = choice.choice(parts_of(files))
    data = files[name]
    begin = data.rindex(b'{"run": ')
    said = json.loads(data[begin : begin + RECORD_BYTES])
    index = np.frombuffer(data[begin + RECORD_BYTES : -CHECKSUM_BYTES], dtype="<u8")
    return name, data[:begin], said, index.reshape(-1, 2).copy()


def _put_part(
    choice: random.Random, files: Files, name: str, slabs: bytes, said, index: np.ndarray
) -> None:
    whole = choice.random() > ALONE
    if isinstance(said, dict) and whole:
        plain = {key: value for key, value in said.items() if key != "digest"}
        text = json.dumps(plain, sort_keys=True).encode()
        said["digest"] = hashlib.sha256(text + index.tobytes()).hexdigest()
    text = json.dumps(said).ljust(RECORD_BYTES - 1).encode()[: RECORD_BYTES - 1] + b"\n"
    crc = google_crc32c.value(index.tobytes()).to_bytes(CHECKSUM_BYTES, "little")
    files[name] = slabs + text + index.tobytes() + (crc if whole else b"crc?")
    if whole:
        _recommit(choice, files, int(name.split("/")[2]))


def _with_content(slabs: bytes, said: dict, index: np.ndarray) -> dict:
    """The record with the checksum of the slabs' checksums, as far as they lie in the file."""
    checksums = np.zeros(len(index), dtype="<u4")
    for i, (begin, size) in enumerate(index.tolist()):
        if begin != NOT_STORED and CHECKSUM_BYTES < size <= len(slabs) - begin:
            checksums[i] = google_crc32c.value(slabs[begin : begin + size - CHECKSUM_BYTES])
    return {**said, "content": f"{google_crc32c.value(checksums.tobytes()):08x}"}


def _recommit(choice: random.Random, files: Files, depth: int) -> None:
    """Let the ledger say what the parts of a layer say now."""
    value = _value(files, "ledger.json")
    if depth >= len(value["layers"]):
        return
    said = []
    names = [name for name in parts_of(files) if name.split("/")[2] == f"{depth:04d}"]
    for name in sorted(names, key=lambda name: [int(n) for n in name.split(".")[:0:-1]]):
        try:
            said.append(json.loads(files[name][files[name].rindex(b'{"run": ') :][:RECORD_BYTES]))
        except ValueError:
            return
    line = value["layers"][depth]
    digests = "".join(str(record.get("digest")) for record in said)
    line["digest"] = hashlib.sha256(digests.encode()).hexdigest()
    tallies = [record.get("tally") for record in said]
    states = [tally.get("states") for tally in tallies if isinstance(tally, dict)]
    if isinstance(line.get("tally"), dict):
        line["tally"]["states"] = sum(some for some in states if isinstance(some, int))
    _put_ledger(choice, files, value)


MUTATIONS = {
    "ledger": ledger, "run.json": identity, "records": record, "indexes": index,
    "slabs of a part": slabs, "parts": part,
}  # fmt: skip
"""What is changed -> what changes it."""
