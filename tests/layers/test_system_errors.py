"""What the system refuses a run: disk, files and memory."""

import builtins
import dataclasses
import errno
import io
import os
import re

import pytest
from click.testing import CliRunner

from frontier.api import runs as api
from frontier.cli import main
from frontier.errors import Stopped
from frontier.layers import by_tasks
from frontier.layers.run import LayerRun
from frontier.runs import events
from frontier.runs.log import read_last_start
from frontier.storage import local
from frontier.storage.local import LocalStorage
from tests.support.commands import invoke
from tests.support.stopped_runs import SETTINGS, config_of, copy_of_half_done
from tests.support.sweeps import swept
from tests.support.temporary_runs import CONFIGS


def test_a_disk_that_is_full_for_the_log_too(tmp_path):
    def full(event):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(Stopped, match="the disk is full"):
        api.run(api.plan(config_of(tmp_path / "run")), listeners=[full])

    def full_at_the_end(event):
        if isinstance(event, events.Stopped) or getattr(event, "depth", 0) == 5:
            full(event)

    with pytest.raises(Stopped, match=r"^the disk is full; make room$"):
        api.run(api.plan(config_of(tmp_path / "run")), listeners=[full_at_the_end])


def test_what_the_system_says_is_told_in_words(tmp_path):
    """Also in the log, and with the file, but without its number."""
    texts = [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/a"), "the disk quota is used up: /a"),
        (OSError(errno.EIO, "Input/output error", "/a/b"), "Input/output error: /a/b"),
        (OSError("lost"), "lost"),
    ]
    for number, (error, words) in enumerate(texts):

        def fail(event, error=error):
            if getattr(event, "depth", 0) == 5:
                raise error

        path = tmp_path / str(number)
        with pytest.raises(Stopped) as refused:
            api.run(api.plan(config_of(path)), listeners=[fail])
        assert words in str(refused.value)
        assert "Errno" not in str(refused.value)
        assert read_last_start(LocalStorage(path)).end[1].reason == words


READS = [
    *(("open", name) for name in ("layers/0020", "layers/0019", "ledger.json", "run.json")),
    *(("preadv", name) for name in ("layers/0020", "layers/0019")),
]
"""Calls by which files are read, and the files that are read by them."""


@swept("number", [errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE], few=1)
@swept(("call", "name"), READS, few=[READS[0], READS[3], READS[-1]])
def test_an_error_of_the_system_is_no_damage(tmp_path, monkeypatch, number, name, call):
    """It stops what is asked for, with a sentence, and nothing is mended because of it."""
    run = copy_of_half_done(tmp_path / "run", spare=2)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    failed = failing(monkeypatch, call, name, number)
    config = ["--set", f"store.path={run.path}", "--set", "search.spare=2", *SETTINGS]
    for words in (
        ("verify", run.path),
        ("repair", run.path, "--yes"),
        ("run", CONFIGS / "2x4.toml", *config),
    ):
        failed.clear()
        result = CliRunner().invoke(main, list(map(str, words)))
        assert failed, words
        assert isinstance(result.exception, SystemExit), words
        assert result.exit_code == 3, result.output
        assert os.strerror(number) in result.output
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    for path in before:
        assert "layers" not in path.parts or after[path] == before[path]
    assert len(LayerRun.open(run.path).records) == 21
    assert sum(api.run(api.plan(config_of(run.path, spare=2))).counts) == 20160


def failing(monkeypatch, call, name, number):
    """Let a system call fail for files whose path has a name in it: the list of those it did."""
    real, failed = getattr(os, call), []

    def fails(what, *arguments, **more):
        path = str(what) if call == "open" else os.readlink(f"/proc/self/fd/{what}")
        path = re.sub("layers/[0-9a-f]{32}", "layers", path)
        reads = call != "open" or not (arguments and arguments[0] & (os.O_WRONLY | os.O_RDWR))
        if f"run/{name}" in path and reads and not path.endswith(".json/"):
            failed.append(path)
            raise OSError(number, os.strerror(number), path)
        return real(what, *arguments, **more)

    monkeypatch.setattr(os, call, fails)
    return failed


def a_search(path):
    """A search for God's number of 2×3."""
    words = "--set", f"store.path={path}", "--set", "cluster.kind=serial"
    invoke("gods-number", CONFIGS / "2x3.toml", *words)
    return path.parent / f"{path.name}-gods-number"


def is_sound(path):
    assert "no faults" in invoke("verify", path).output


LOOKS = {
    "verify": (lambda path: copy_of_half_done(path, spare=2).path, ["verify"]),
    "repair": (lambda path: copy_of_half_done(path, spare=2).path, ["repair", "--yes"]),
    "verify, God's number": (a_search, ["verify"]),
}
"""What makes a run, and a command that looks at its files."""


@swept("step", [7, 1], few=1)
@pytest.mark.parametrize("look", LOOKS)
@swept("call", ["stat", "lstat"], few=1)
def test_what_the_system_cannot_tell_is_not_absent(tmp_path, monkeypatch, call, look, step):
    """If the n-th call fails by which a command asks what is there, the command says so and changes
    nothing."""
    make, (command, *options) = LOOKS[look]
    path = make(tmp_path / "run")
    before, number = files_below(path), 1
    while True:
        with monkeypatch.context() as patch:
            failed = failing_at(patch, call, path, number)
            result = CliRunner().invoke(main, [command, str(path), *options])
        if not failed:
            assert result.exit_code == 0, result.output
            break
        assert isinstance(result.exception, SystemExit), (failed, result.exception)
        assert (result.exit_code, failed) == (3, failed), result.output
        assert os.strerror(errno.EIO) in result.output
        assert files_below(path) == before
        number += step
    assert number > 1
    is_sound(path)
    if look == "repair":
        assert sum(api.run(api.plan(config_of(path, spare=2))).counts) == 20160


def files_below(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def failing_at(patch, call, path, number):
    """Let the n-th call fail that asks for a file below a path: the list of it."""
    real, calls, failed = getattr(os, call), [], []

    def fails(what, *arguments, **more):
        if str(what).startswith(str(path)):
            calls.append(what)
            if len(calls) == number:
                failed.append(str(what))
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(what))
        return real(what, *arguments, **more)

    patch.setattr(os, call, fails)
    return failed


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", ["environment.json", "events.jsonl", "summary.json", "status.html"]
)
@pytest.mark.parametrize("number", [errno.EROFS, errno.EINVAL])
def test_a_file_for_people_that_cannot_be_opened_ends_no_run(tmp_path, monkeypatch, name, number):
    """The run says so once, and what the file held stays there."""
    run = copy_of_half_done(tmp_path / "run")
    (run.path / name).touch()
    file = run.path / name
    before = file.read_bytes()
    with monkeypatch.context() as patch:
        for module in (os, io, builtins):
            refuse(patch, module, f"{run.path}/{name}", number)
        words = "run", CONFIGS / "2x4.toml", "--set", f"store.path={run.path}", *SETTINGS
        said = invoke(*words).stderr
        assert said.count(f"warning: {file} cannot be written ({os.strerror(number)})") == 1
        invoke("report", run.path)
        assert "is already complete" in invoke("run", run.path).output
    assert file.read_bytes() == before
    assert LayerRun.open(run.path).complete


def refuse(patch, module, file, number):
    """Let a file not be opened, nor those that would get its name."""
    real = module.open

    def refuses(path, *arguments, **more):
        if str(path).startswith(file):
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *arguments, **more)

    patch.setattr(module, "open", refuses)


def test_a_directory_in_the_place_of_the_log_ends_no_run(tmp_path):
    run = copy_of_half_done(tmp_path / "run")
    for name in ("events.jsonl", "environment.json"):
        (run.path / name).unlink()
        (run.path / name).mkdir()
        (run.path / name / "mine").write_text("mine")
    words = "run", CONFIGS / "2x4.toml", "--set", f"store.path={run.path}", *SETTINGS
    said = invoke(*words).stderr
    for name in ("events.jsonl", "environment.json"):
        assert said.count(f"warning: {run.path / name} cannot be written (Is a directory)") == 1
        assert (run.path / name / "mine").read_text() == "mine"
    assert LayerRun.open(run.path).complete


def test_memory_that_the_system_refuses_stops_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("frontier.layers.plan.THIN_STATES", 0)
    monkeypatch.setattr("frontier.layers.plan.LISTED_SECONDS", 1e9)
    words = "run", CONFIGS / "2x3.toml", "--set", f"store.path={tmp_path / 'run'}", *SETTINGS

    def refused(work, depth, number):
        raise MemoryError("Unable to allocate 3.00 GiB")

    with monkeypatch.context() as patch:
        patch.setattr("frontier.layers.task._expand", refused)
        said = invoke(*words, code=3).stderr
    assert "no more memory (Unable to allocate 3.00 GiB)" in said
    assert "resume with: python -m frontier run" in said
    assert "states: 360" in invoke(*words).stdout


REFUSED = {
    "memory": (MemoryError("Unable to allocate 3.00 GiB"), "3.00 GiB"),
    "thread": (RuntimeError("can't start new thread"), "no more threads"),
    "library": (OSError("Could not find/load shared object file 'libllvmlite.so'"), "a library"),
    "module": (ImportError("failed to map segment from shared object"), "a library"),
}
"""What Python raises where the address space is used up, and words of the sentence about it."""


@pytest.mark.parametrize("kind", ["run", "gods-number"])
@pytest.mark.parametrize("what", REFUSED)
def test_an_address_space_that_is_limited_is_named(tmp_path, monkeypatch, what, kind):
    """The run stops and can be resumed, whatever did not fit."""
    error, words = REFUSED[what]

    def refused(*_):
        raise error

    monkeypatch.setattr("resource.getrlimit", lambda kind: (7_000_000_000, -1))
    monkeypatch.setattr("frontier.layers.loop.Driver._commit_origins", refused)
    monkeypatch.setattr("frontier.cosets.search._asker", refused)
    command = kind, CONFIGS / "2x3.toml", "--set", f"store.path={tmp_path / 'run'}", *SETTINGS
    said = invoke(*command, code=3).stderr
    assert words in said
    assert "the address space is limited to 7,000,000,000 bytes" in said


def test_other_errors_of_python_stay_what_they_are(tmp_path, monkeypatch):
    def fails(*_):
        raise RuntimeError("a mistake")

    monkeypatch.setattr("frontier.layers.loop.Driver._commit_origins", fails)
    with pytest.raises(RuntimeError, match="a mistake"):
        api.run(api.plan(config_of(tmp_path / "run")))


def test_a_run_stops_before_its_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(by_tasks, "SPARE_BYTES", 10**18)
    plan = api.plan(config_of(tmp_path / "run"))
    plan = dataclasses.replace(plan, list_states=0, threads=0)
    with pytest.raises(Stopped, match=r"only .* is free at .*; make room"):
        api.run(plan)
    monkeypatch.undo()
    assert sum(api.run(plan).counts) == plan.puzzle.states


@pytest.mark.parametrize("fsync", ["layer", "never"])
def test_what_is_forced_to_the_disk(tmp_path, monkeypatch, fsync):
    """By `layer`, each file before the ledger that counts on it; by `never`, none."""
    forced, real = [], os.fsync

    def noted(number):
        forced.append(
            re.sub("layers/[0-9a-f]{32}", "layers", os.readlink(f"/proc/self/fd/{number}"))
        )
        real(number)

    monkeypatch.setattr(local.os, "fsync", noted)
    config = config_of(tmp_path / "run", keep="all")
    config = config.model_copy(update={"store": config.store.model_copy(update={"fsync": fsync})})
    api.run(api.plan(config), until=6)
    if fsync == "never":
        assert forced == []
        return
    names = [str(path).removeprefix(str(tmp_path / "run")) for path in forced]
    last = max(i for i, name in enumerate(names) if name.startswith("/ledger.json"))
    for depth in range(7):
        stored = [i for i, n in enumerate(names) if n.startswith(f"/layers/{depth:04d}")]
        assert any(names[i].startswith(f"/layers/{depth:04d}/c.0.") for i in stored)
        assert f"/layers/{depth:04d}" in names  # the name of the file in its folder
        assert max(stored) < last
