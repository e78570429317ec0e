"""Damage to files of a run that was stopped half-way, for `faults.py`.

`verify` must find it, `run` must refuse or come out right, `repair` must mend it or say that it
cannot. A forged ledger, whose digests and chain are all made right again, `verify` may not find; a
result that does not add up it must not be.
"""

import hashlib
import json
import random
import shutil
from pathlib import Path

from frontier.layers.files import PART_NAME
from frontier.layers.parts import footer_bytes
from frontier.layers.reader import RunReader
from frontier.layers.run import LayerRun
from frontier.runs.copies import COPIES
from frontier.storage.places import storage_at
from frontier.storage.sealed import write_sealed
from tests.campaigns.trials import Campaign, Case
from tests.support.ledgers import chain_anew, edit

DAMAGES = (
    "turn a bit", "turn a bit behind", "cut", "empty", "lengthen", "delete", "delete before",
    "exchange", "exchange tasks", "exchange layers", "another run's", "another run's layer",
    "edit", "edit and seal", "edit and chain", "forge",
)  # fmt: skip
KEPT = ((), ("search.spare=2",), ("search.keep=all",))
FORGED = ("states", "digest", "parts", "at_goal", "start", "form", "stored")
"""What may be edited in a line of the ledger."""


def damage(campaign: Campaign, case: Case, count: int) -> None:
    """Damage runs that were stopped after a layer, or killed in one, and of which some keep more
    than they need."""
    choice = campaign.random
    others = {more: _other(case, i, more) for i, more in enumerate(KEPT if count else ())}
    for i in range(count):
        more, path = KEPT[i % len(KEPT)], case.scratch / f"half-{i}"
        damaged, again = case.scratch / f"hurt-{i}", case.scratch / f"again-{i}"
        case.begin(path, more)
        if i % 4 == 3 or not _killed(choice, case, path, more):
            until = str(choice.randrange(3, len(case.counts) - 2))
            case.start(path, more, ("--until", until)).demand(0)
        shutil.copytree(path, damaged)
        there = len(LayerRun.open(path).records)
        kind = campaign.pick(DAMAGES)
        if (what := hurt(choice, damaged, kind, others[more])) is None:
            kind = "turn a bit"
            what = hurt(choice, damaged, kind, others[more])
        shutil.copytree(damaged, again)
        outcome, said = _consequence(case, damaged, again, more, there, kind == "forge")
        campaign.note(kind, case, outcome, f"{what}: {said}")
        if outcome != "wrong":
            for folder in (path, damaged, again):
                shutil.rmtree(folder)


def _other(case: Case, number: int, more: tuple[str, ...]) -> Path:
    """The layers of another run of the same case: each as it is when it was the last but one."""
    path = case.scratch / f"other-{number}"
    keep = tuple(setting for setting in more if "keep" not in setting)
    case.begin(path, (*keep, "search.keep=all"))
    case.start(path, (*keep, "search.keep=all")).demand(0)
    return path


def _killed(choice: random.Random, case: Case, path: Path, more: tuple[str, ...]) -> bool:
    """Kill a run at a random moment; returns whether it had begun and had not yet ended."""
    from tests.campaigns.deaths import kill_all  # it imports this module's siblings too

    process = case.start(path, more)
    process.wait(choice.uniform(0.2, 0.9) * case.seconds)
    begun = process.code is None and (path / "ledger.json").exists()
    kill_all(process)
    process.wait()
    if begun and len(json.loads((path / "ledger.json").read_text())["layers"]) > 2:
        return True
    shutil.rmtree(path, ignore_errors=True)
    case.begin(path, more)
    return False


def relied_on(path: Path) -> list[Path]:
    """The files of a run that are read again, by the search or by people; not what a killed
    process has left, which is swept away."""
    run = LayerRun.open(path)
    names = ("run.json", "ledger.json", "summary.json")
    files = [path / name for name in names if (path / name).exists()]
    reader, under_way = RunReader(run), len(run.records)
    done = set() if run.complete else run.parts_under_way(reader.layout)
    for depth in run.stored_depths():
        here = set(run.layer_path(depth).iterdir())
        if depth == under_way - 2 and run.records[depth].form == "bits":
            here -= {reader.files(depth).path(task) for task in done}  # replaced, not yet given up
        files += [f for f in here if PART_NAME.fullmatch(f.name)]
    files += [reader.files(under_way).path(task) for task in done]
    return sorted(files)


def hurt(choice: random.Random, path: Path, kind: str, other: Path) -> str | None:
    """Damage a file of a run that the search reads; returns which, None if there is none such."""
    files = relied_on(path)
    parts = [file for file in files if PART_NAME.fullmatch(file.name)]
    if kind in ("edit", "edit and seal", "edit and chain", "forge"):
        return _edit(choice, path, kind)
    if kind == "another run's layer":
        return _put_layer(choice, path, other)
    if kind in ("turn a bit behind", "exchange tasks", "exchange layers", "another run's"):
        files = parts
    if kind == "delete before":
        run = LayerRun.open(path)
        before = run.layer_path(len(run.records) - 2)
        files = [file for file in parts if file.parent == before]
    if not files:
        return None
    file = choice.choice(files)
    data, said = file.read_bytes(), file.relative_to(path)
    at = choice.randrange(len(data))
    if kind == "turn a bit behind":
        at = choice.randrange(max(0, len(data) - footer_bytes(2)), len(data))
    if kind.startswith("turn a bit"):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :])
        return f"{said}, byte {at} of {len(data)}"
    if kind == "cut":
        file.write_bytes(data[:at])
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "lengthen":
        file.write_bytes(data + data[: at + 1])
    elif kind.startswith("delete"):
        file.unlink()
    elif kind == "another run's":
        theirs = other / said
        if not theirs.exists() or theirs.read_bytes() == data:
            return None
        shutil.copyfile(theirs, file)
    else:
        with_whom = [f for f in files if f.read_bytes() != data and _alike(kind, file, f)]
        if not with_whom:
            return None
        friend = choice.choice(with_whom)
        file.write_bytes(friend.read_bytes())
        friend.write_bytes(data)
        return f"{said} and {friend.relative_to(path)}"
    return str(said)


def _alike(kind: str, file: Path, other: Path) -> bool:
    """Whether two files may be exchanged with each other."""
    if kind == "exchange tasks":
        return file.parent == other.parent
    return kind == "exchange" or file.name == other.name


def _put_layer(choice: random.Random, path: Path, other: Path) -> str | None:
    """Put a whole layer of another run in the place of a stored one."""
    run = LayerRun.open(path)
    depth = choice.choice(run.stored_depths())
    mine, theirs = run.layer_path(depth), LayerRun.open(other).layer_path(depth)
    if not theirs.exists():
        return None
    shutil.rmtree(mine)
    shutil.copytree(theirs, mine)
    return f"{mine.relative_to(path)} of {other.name}"


def _edit(choice: random.Random, path: Path, kind: str) -> str:
    """Edit a line of the ledger, and make right again what says so; when forged, the copy too."""
    file = path / "ledger.json"
    value, run = json.loads(file.read_text()), LayerRun.open(path)
    line = choice.choice(value["layers"])
    what = choice.choice(FORGED if kind in ("edit and chain", "forge") else ("states",))
    tally = line["tally"]
    changed = {
        "states": tally["states"] + 1,
        "digest": hashlib.sha256(b"").hexdigest(),
        "parts": line["parts"] + 1,
        "at_goal": (tally["at_goal"] or 0) + 1,
        "start": 1 - tally["start"],
        "form": "bits" if line["form"] == "list" else "list",
        "stored": not line["stored"],
    }[what]
    edit(line, what, changed)
    said = f"{what} of layer {line['depth']}"
    if kind == "edit":
        file.write_text(json.dumps(value))
        return said
    if kind != "edit and seal":
        chain_anew(value["layers"], run.identity["identifier"])
    del value["digest"]
    for name in ("ledger.json", COPIES["ledger.json"]) if kind == "forge" else ("ledger.json",):
        write_sealed(storage_at(path), name, value)
    return said


def _consequence(
    case: Case, path: Path, again: Path, more: tuple[str, ...], there: int, forged: bool
) -> tuple[str, str]:
    """What comes of damage: (detected, survived or wrong; what was said).

    again: the same, to go on with at once. there: the layers that are there, of which some are not
    read again; they may stay damaged, but not those that come.
    """
    verified, said = case.call("verify", str(path), "--deep", "--states", "50")
    if verified != 4 and not (forged and verified == 0):
        return "wrong", f"verify ends with {verified}: {said}"
    resumed = case.start(again, more)
    if resumed.wait() not in (0, 4):
        return "wrong", f"run ends with {resumed.code}: {resumed.said}"
    if resumed.code == 0 and (wrong := case.wrong(again, there)):
        return "wrong", f"run came out wrong: {wrong}"
    if verified == 0:
        return "survived" if resumed.code == 0 else "detected", f"run ends with {resumed.code}"
    repaired, words = case.call("repair", str(path), "--yes")
    if repaired == 4:
        return "detected", "cannot be repaired"
    if repaired:
        return "wrong", f"repair ends with {repaired}: {words}"
    after = case.start(path, more)
    if after.wait() == 0 and not (wrong := case.judge(path)):
        return "survived", "repaired"
    return (
        "wrong",
        f"after repair run ends with {after.code}: {after.said if after.code else wrong}",
    )
