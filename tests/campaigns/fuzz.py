"""Whatever the files of a run hold, the program says what is wrong in one sentence.

    python -m tests.campaigns.fuzz --inputs 100000 --seed 1

Files of a run directory are changed at random (`mutations.py`): run.json, the ledger, and parts:
their records, their indexes and the bytes of their slabs. Digests, checksums and the chain are made
right again, most of the time, as nothing that is merely torn gets any further. Then what reads
the file is asked to, and of one input in `WHOLE` the whole run is verified, repaired and resumed.
Beside that, slabs of every codec are damaged and decoded; those of bitmaps lie between pages that
cannot be read, and are decoded into arrays with something beside them that must stay.

Anything else than a result or an error of `frontier` with one line to say is a failure: another
exception, more memory than there may be, an input that takes too long, or a process that dies.

An input depends on its number and the seed alone: `--only NUMBER` tries one again, in this process.
"""

import argparse
import ctypes
import faulthandler
import mmap
import multiprocessing
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from contextlib import redirect_stderr
from functools import cached_property
from io import StringIO
from pathlib import Path

import numpy as np

from frontier.api import runs as api
from frontier.codec import zerobytes
from frontier.codec.codecs import SlabCodec, encoded_bytes
from frontier.config.loading import Config
from frontier.errors import FrontierError
from frontier.layers.events import TaskFinished
from frontier.layers.reader import RunReader
from frontier.layers.repair import plan_repair
from frontier.layers.run import LayerRun
from frontier.layers.stored import StoredLayer
from frontier.layers.verify import verify
from frontier.report.status import describe_status, status_of
from frontier.runs.kind import mend
from frontier.space.layout import Layout
from frontier.storage.places import storage_at
from tests.campaigns.mutations import MUTATIONS, Files, torn
from tests.support.many_tasks import cut_finely

KINDS = ("slabs", *MUTATIONS)

BATCH = 2000
"""Inputs of one process."""

WHOLE = 40
"""A whole run is looked at for one input of so many."""

MORE_MEMORY = 1 << 30
"""Bytes that a process may take beyond what it begins with."""

LONGEST_MESSAGE = 1000
GUARD = 0xA5
PAGE = mmap.PAGESIZE


class TooLong(Exception):
    """An input takes longer than it may."""


# --- slabs


def decode_slab(choice: random.Random) -> None:
    """Decode damaged data of a slab."""
    words = choice.choice([0, 1, 7, 64, 65, 512, 700])
    share = choice.choice([0, 0.001, 0.02, 0.1, 0.5, 1])
    seed = np.random.default_rng(choice.getrandbits(64))
    bits = np.packbits(seed.random((words, 64)) < share, axis=1, bitorder="little")
    slab, name = bits.view(np.uint64).reshape(-1), choice.choice(["bitmap", "lz4", "zstd:1", "raw"])
    data = np.empty(encoded_bytes(slab.nbytes) + zerobytes.SLACK, dtype=np.uint8)
    given = torn(choice, data[: SlabCodec(name, plain=True).encode(slab, data)].tobytes())
    results = []
    for where in _before_a_shut_page, _behind_a_shut_page:
        mapped, pages = where(given)
        for plain in (False, True) if name == "bitmap" else (False,):
            results.append(_decoded(SlabCodec(name, plain), mapped, words))
        del mapped
        pages.close()
    if any(result != results[0] for result in results):
        raise AssertionError("kernels and NumPy do not agree")


def _decoded(codec: SlabCodec, data: np.ndarray, words: int) -> tuple[int, list[int]]:
    """How many of the data are a slab, 0 or 1, and the slab."""
    out = np.full((3, words), int.from_bytes(bytes([GUARD] * 8)), dtype=np.uint64)
    before, good = out.copy(), 1
    try:
        codec.decode(data, out[1])
    except ValueError:
        good = 0
    if (out[::2] != before[::2]).any():
        raise AssertionError("something beside the slab is written")
    return good, out[1].tolist() if good else []


def _before_a_shut_page(data: bytes) -> tuple[np.ndarray, mmap.mmap]:
    """The data as an array, right before a page that cannot be read."""
    pages = -(-len(data) // PAGE)
    return _mapped(data, pages, pages * PAGE - len(data))


def _behind_a_shut_page(data: bytes) -> tuple[np.ndarray, mmap.mmap]:
    return _mapped(data, 0, PAGE)


def _mapped(data: bytes, shut: int, at: int) -> tuple[np.ndarray, mmap.mmap]:
    memory = mmap.mmap(-1, (-(-len(data) // PAGE) + 2) * PAGE)
    memory[at : at + len(data)] = data
    first = np.frombuffer(memory, dtype=np.uint8)
    address = first.ctypes.data + shut * PAGE
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    return first[at : at + len(data)], memory


# --- runs


class Original:
    """A run whose files are changed."""

    def __init__(self, path: Path):
        self.path = path
        names = (file for file in path.rglob("*") if file.is_file() and file.name != "status.html")
        self.files: Files = {str(name.relative_to(path)): name.read_bytes() for name in names}

    @cached_property
    def layout(self) -> Layout:
        return RunReader(LayerRun.open(self.path)).layout

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Of each part, its name -> its depth and its task."""
        run, found = LayerRun.open(self.path), {}
        for depth in (*run.stored_depths(), len(run.records)):
            files = run.files(depth, self.layout)
            found[f"{files.folder}/c.0"] = depth, 0
            for task in files.tasks:
                found[files.name(task)] = depth, task
        return found

    def put(self, path: Path, files: Files) -> None:
        """Make a directory hold these files, of which a few differ from the original's."""
        if not path.exists():
            shutil.copytree(self.path, path)
        for name, data in files.items():
            if data is not self.files[name]:
                (path / name).write_bytes(data)


def make_runs(folder: Path) -> list[Original]:
    """A run that was stopped in a layer, one that keeps more layers, and complete ones, of which
    one has lists."""
    runs = []
    for search in ({}, {"spare": 2}, {"keep": "all"}, {"keep": "all", "until": 20}):
        path = folder / f"run-{len(runs)}"
        config = Config(
            name="fuzz",
            puzzle={"kind": "tiles", "rows": 2, "columns": 3 if "keep" in search else 4},
            search={"in_memory": False, **search},
            store={"path": str(path)},
            cluster={"kind": "serial"},
        )

        def stop(event):
            if isinstance(event, TaskFinished) and (event.depth, event.done) == (22, 2):
                raise KeyboardInterrupt

        try:
            if "until" in search:
                api.run(config, progress=False)
            else:
                with cut_finely():
                    api.run(config, listeners=[stop], progress=False)
        except KeyboardInterrupt:
            pass
        runs.append(Original(path))
    return runs


def glance(path: Path) -> LayerRun:
    """Open a run."""
    run = LayerRun.open(path)
    run.missing()
    return run


def read_part(path: Path, layout: Layout, depth: int, task: int) -> None:
    """Read all that a part of a run holds."""
    run = LayerRun.open(path)
    files = run.files(depth, layout)
    layer = StoredLayer(files, 0)
    if depth < len(run.records):
        layer = RunReader(run).layer(depth)
    if layer.is_list:
        layer.files.part(0).check()
        layer.numbers()
        return
    part = files.part(task)
    part.check()
    for _ in layer.decoded(task, part.slabs):
        pass


def go_through(path: Path, choice: random.Random) -> None:
    """Verify a run, repair it and resume it."""
    mend(storage_at(path))
    run = LayerRun.open(path)
    describe_status(status_of(run.path))
    what = plan_repair(run, verify(run, deep=choice.choice((0, 5))))
    if what.needed:
        what.take(run)
    with cut_finely():
        api.run(path, progress=False)


# --- inputs


class Fuzz:
    """Inputs by number."""

    def __init__(self, seed: int, scratch: Path, kinds: list[str] | None):
        self.seed, self.scratch, self.kinds = seed, scratch, kinds or KINDS
        self.runs = make_runs(scratch)

    def attempt(self, number: int) -> tuple[str, str, str | None]:
        """Try one input: (its kind, what came of it, what is wrong)."""
        choice = random.Random(f"{self.seed} {number}")
        kind = choice.choice(self.kinds)
        try:
            with redirect_stderr(StringIO()):
                if kind == "slabs":
                    decode_slab(choice)
                else:
                    self._read(choice, kind)
        except FrontierError as error:
            said = str(error)
            if "\n" in said or not 10 < len(said) < LONGEST_MESSAGE:
                return kind, "failed", f"{type(error).__name__} says {said[:3000]!r}"
            return kind, "refused", None
        except BaseException:
            return kind, "failed", traceback.format_exc(limit=-12)
        return kind, "taken", None

    def _read(self, choice: random.Random, kind: str) -> None:
        run = choice.choice(self.runs)
        files = dict(run.files)
        MUTATIONS[kind](choice, files)
        if not choice.randrange(WHOLE):
            path = self.scratch / "whole"
            shutil.rmtree(path, ignore_errors=True)
            run.put(path, files)
            go_through(path, choice)
            return
        path = self.scratch / f"{run.path.name}-read"
        run.put(path, files)
        other = {name for name in files if files[name] is not run.files[name]}
        try:
            if parts := sorted(other & run.places.keys()):
                read_part(path, run.layout, *run.places[parts[0]])
            elif kind == "run.json":
                RunReader(glance(path))
            else:
                glance(path)
        finally:
            for name in other:
                (path / name).write_bytes(run.files[name])


# --- processes


def attempt_all(fuzz: Fuzz, numbers: range, at, pipe, longest: float) -> None:
    """In a process of its own: try some inputs; what comes of them goes to the pipe."""
    faulthandler.enable()
    used = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY, resource.RLIM_INFINITY))

    def too_long(*_):
        raise TooLong(f"{longest:g} s")

    signal.signal(signal.SIGPROF, too_long)
    for number in numbers:
        at.value = number
        signal.setitimer(signal.ITIMER_PROF, longest)  # of the processor's time
        result = fuzz.attempt(number)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((number, *result))
    pipe.close()


def campaign(fuzz: Fuzz, inputs: int, longest: float) -> tuple[Counter, list[str]]:
    """Try all inputs: how many of each (kind, outcome), and the failures."""
    outcomes, failures, number = Counter(), [], 0
    context = multiprocessing.get_context("fork")
    at = context.Value("q", 0)

    def failed(number: int, kind: str, what: str) -> None:
        failures.append(f"{number} ({kind}): {what}")
        print(failures[-1], file=sys.stderr)

    while number < inputs:
        numbers = range(number, min(number + BATCH, inputs))
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=attempt_all, args=(fuzz, numbers, at, theirs, longest))
        process.start()
        theirs.close()
        try:
            while True:
                done, kind, outcome, wrong = mine.recv()
                outcomes[kind, outcome] += 1
                if wrong:
                    failed(done, kind, wrong)
        except EOFError:
            process.join()
        number = numbers.stop
        if process.exitcode:
            failed(at.value, "a process", f"ends with {process.exitcode}")
            outcomes["a process", "failed"] += 1
            number = at.value + 1
            for run in fuzz.runs:  # it may have left what it had changed
                shutil.rmtree(fuzz.scratch / f"{run.path.name}-read", ignore_errors=True)
    return outcomes, failures


def table(outcomes: Counter) -> str:
    columns = ("refused", "taken", "failed")
    lines = [f"{'changed':20}{'inputs':>10}" + "".join(f"{name:>10}" for name in columns)]
    for kind in [*sorted({kind for kind, _ in outcomes}), None]:
        row = [sum(n for (k, o), n in outcomes.items() if k == (kind or k) and o == c)
               for c in columns]  # fmt: skip
        lines.append(f"{kind or 'all':20}{sum(row):10}" + "".join(f"{n:10}" for n in row))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--inputs", type=int, default=100_000, metavar="N", help="default: 100,000")
    add("--seed", type=int, default=1)
    add("--kind", action="append", choices=KINDS, help="may be repeated; default: all")
    add("--only", type=int, metavar="NUMBER", help="one input, in this process")
    add("--longest", type=float, default=60.0, metavar="SECONDS",
        help="that an input may keep the processor busy; default: 60")  # fmt: skip
    add("--scratch", metavar="DIR", help="default: the system's")
    options = parser.parse_args(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-", dir=options.scratch))
    try:
        fuzz = Fuzz(options.seed, scratch, options.kind)
        if options.only is not None:
            print(*fuzz.attempt(options.only), sep="\n")
            return
        outcomes, failures = campaign(fuzz, options.inputs, options.longest)
    finally:
        shutil.rmtree(scratch)
    print(table(outcomes))
    if failures:
        sys.exit(f"{len(failures)} failed; the first: {failures[0]}")


if __name__ == "__main__":
    main()
