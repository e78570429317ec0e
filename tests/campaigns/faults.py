"""A campaign of faults: whatever dies or is damaged, a run must never say anything wrong.

    python -m tests.campaigns.faults --faults 200 --seed 1 --json faults.json
    python -m tests.campaigns.faults --calls 500
    python -m tests.campaigns.faults --power 500
    python -m tests.campaigns.faults --requests 100

Each trial disturbs one run at a random moment, then goes on as a user would, until the run is
complete or the program says that it cannot be. Its layer counts and its layers, byte for byte, are
compared with those of a run that nobody disturbed.

Deaths: the process that drives, one worker or all of them are killed (SIGKILL), asked to stop
(SIGTERM) or held for a while (SIGSTOP, SIGCONT); workers outlive their driver while the next one
goes on, or are held meanwhile (zombies), also while a new run is begun in the place of theirs.
Damage, done to a run that was stopped half-way: a bit is turned, a file cut, emptied, lengthened,
deleted, or exchanged with one of another task, layer or run; the ledger is edited, with and without
a new digest and a new chain. `verify` must find it, `run` must refuse or come out right, `repair`
must mend it or say that it cannot. Runs with workers are spared this, as their files are alike.
Full disk: the run directory lies on a file system that is too small (a tmpfs, so only as root).
Calls (`--calls`): at one after the other of the system calls by which a run changes files, the
process is killed, or the call fails or does half of what it should; or a call fails by which
`verify`, `repair` or `run` reads or asks what is there (`calls.py`).
Power losses (`--power`): the run goes on from what the disk may hold after one (`powerloss.py`).
Requests (`--requests`): the run is in an object store whose requests go wrong (`requestfaults.py`).

All of these disturb searches for God's numbers too (`searches.py`), which must come out with the
bounds and the last layers of an undisturbed one; `repair` does nothing for them.

Of each kind it prints how many faults were injected, how many of them were detected (said, with
exit code 4), survived (the run came out right in the end), and how many results were wrong. The
exit code is 1 if any was. What it leaves of these is below the directory of `--scratch`.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from tests.campaigns.calls import Library, at_calls, preload
from tests.campaigns.damages import damage
from tests.campaigns.deaths import deaths, full_disks
from tests.campaigns.powerloss import at_power_losses
from tests.campaigns.requestfaults import at_requests
from tests.campaigns.searches import Search, damage_searches
from tests.campaigns.trials import SERIAL, TWO, Campaign, Case, workers

CASES = (
    Case("2x5", "2x5"),
    Case("2x5 fine", "2x5", SERIAL, fine=True),
    Case("2x5 fine, workers", "2x5", TWO, fine=True),
    Case("2x5 fine, memory", "2x5", workers(2), fine=True),
    Case("2x6", "2x6"),
    Case("2x6 many tasks", "2x6", SERIAL, begun=workers(8)),
    Case("2x6 many tasks, workers", "2x6", TWO, begun=workers(8)),
    Case("goat", "goat"),
    Case("goat by tasks", "goat", TWO, fine=True),
    Case("tower", "cube-2x2x2", workers(2), fine=True),
    Case("tower by tasks", "hexagram", SERIAL, fine=True),
    Case("tower, workers", "cube-2x2x2", TWO, fine=True),
    Case("keys", "hanoi", ("puzzle.disks=7",)),
    Case("keys by tasks", "hanoi", (*SERIAL, "puzzle.disks=7"), fine=True),
    Case("keys, workers", "hanoi", (*TWO, "puzzle.disks=6"), fine=True),
    Search("gods-number 2x4", "2x4", fine=True),
    Search("gods-number 3x3", "3x3", workers(2)),
)
CALLED = (
    Case("2x4 fine", "2x4", SERIAL, fine=True),
    Case("2x4 fine, memory", "2x4", workers(2), fine=True),
    Case("tower, calls", "hexagram", SERIAL, fine=True),
    Case("keys, calls", "hanoi", (*SERIAL, "puzzle.disks=5"), fine=True),
    Search("gods-number 2x4, calls", "2x4", workers(2), fine=True),
)
"""Those of `--calls` and `--power`."""

IN_OBJECTS = (
    Case("objects, serial", "2x4", SERIAL, fine=True, apart=True),
    Case("objects, workers", "2x4", TWO, fine=True, apart=True),
    Case("objects, memory", "2x5", apart=True),
    Case("objects, pieces", "2x6", (*SERIAL, "store.codec=raw"), apart=True),
    Case("objects, tower", "hexagram", SERIAL, fine=True, apart=True),
    Search("objects, gods-number", "2x4", fine=True, apart=True),
)
"""Those of `--requests`. The parts of the last one have up to 16 MB, and travel in pieces."""

POINTS = {"calls": at_calls, "power": at_power_losses}
OTHERS = (*POINTS, "requests")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--faults", type=int, default=200, metavar="N", help="in all; default: 200")
    add("--calls", type=int, metavar="N", help="instead: at so many system calls")
    add("--power", type=int, metavar="N", help="instead: so many losses of power")
    add("--requests", type=int, metavar="N", help="instead: so many requests and processes")
    add("--seed", type=int, default=1)
    add("--hold", type=float, default=60.0, metavar="SECONDS", help="the longest one; default: 60")
    every = CASES + CALLED + IN_OBJECTS
    add("--case", action="append", metavar="NAME", choices=[case.name for case in every],
        help="may be repeated; default: all")  # fmt: skip
    add("--kind", action="append", metavar="KIND", help="only these faults; may be repeated")
    add("--scratch", metavar="DIR", help="where run directories go; default: the system's")
    add("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    at = next((at for at in OTHERS if getattr(options, at) is not None), None)
    if at in POINTS:
        preload()
        library = Library()
    cases = IN_OBJECTS if at == "requests" else CALLED if at else CASES
    if options.case:
        cases = [case for case in every if case.name in options.case]
    campaign = Campaign(options.seed, options.kind)
    scratch = Path(tempfile.mkdtemp(prefix="faults-", dir=options.scratch))
    faults = getattr(options, at or "faults")
    for i, case in enumerate(cases):
        share = faults // len(cases) + (i < faults % len(cases))
        case.prepare(scratch)
        if at == "requests":
            at_requests(campaign, case, share)
            continue
        if at:
            POINTS[at](campaign, library, case, share)
            continue
        damaged, full = (share // 2, share // 10) if case.forks else (0, 0)
        (damage_searches if isinstance(case, Search) else damage)(campaign, case, damaged)
        deaths(campaign, case, share - damaged - full, options.hold)
        full_disks(campaign, case, full)
    if at in POINTS:
        library.remove()
    print(campaign.table())
    if options.json:
        Path(options.json).write_text(json.dumps(campaign.kinds, indent=1) + "\n")
    if campaign.wrong:
        sys.exit("\n".join(["wrong:", *campaign.wrong, f"the runs are below {scratch}"]))
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
