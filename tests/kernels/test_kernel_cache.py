"""Kernels on disk are compiled by one process; where they cannot be there, each compiles them."""

import errno
import fcntl
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

import frontier
from frontier.jit import cache as kernel_cache
from frontier.jit.notices import compiling_told_to

PACKAGE = Path(frontier.__file__).parent
ROOT = Path(__file__).parents[2]

CALLS = """
import numpy as np
from frontier.codec import zerobytes_kernels as kernels
{before}
masks = np.array([7, 0, 255, 1], dtype=np.uint8)
print(kernels._count(masks, 32), sum(kernels._count.compiled.stats.cache_hits.values()))
"""
"""Says how many ones some bytes have, by a kernel that calls others; and whether it was there."""


def called(before="", **environment):
    """(what it says, warnings) of a process that calls a kernel."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", **environment}
    environment["PYTHONPATH"] = str(PACKAGE.parent)
    command = [sys.executable, "-c", CALLS.format(before=before)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which this process keeps kernels."""
    folder = tmp_path / "kernels"
    folder.mkdir(0o700)
    monkeypatch.setattr(kernel_cache, "_folder", lambda: folder)
    return folder


def add(one, other):
    return one + other


def test_what_is_used_of_numba_is_there():
    """Private names, which any release may change, so the newest release is bounded."""
    kernel = numba.njit(cache=True)(add)
    assert list(inspect.signature(kernel.compile).parameters) == ["sig"]
    assert list(inspect.signature(kernel.get_call_template).parameters) == ["args", "kws"]
    load = inspect.signature(kernel._cache.load_overload)
    assert list(load.parameters) == ["sig", "target_context"]
    assert callable(kernel._cache.disable)
    assert kernel.stats.cache_path
    assert "CACHE_DIR" in vars(numba.config)
    bound = re.search(r'"numba>=[\d.]+,<([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    release = [int(number) for number in numba.__version__.split(".")[:2]]
    assert release < [int(number) for number in bound[1].split(".")]


def was_kept(one=1, other=2):
    """Whether the folder has the kernel for the types of two numbers; it is compiled if not."""
    kernel = kernel_cache.compiled(add)
    assert kernel(one, other) == one + other
    return bool(kernel.stats.cache_hits)


def locked(folder):
    """Whether somebody has the folder's lock."""
    with open(folder / "lock", "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_kernel_is_kept_for_each_type(folder):
    for numbers in ((1, 2), (1, 2.5)):
        assert not was_kept(*numbers)
        assert was_kept(*numbers)
    assert was_kept()


def test_the_folder_is_made_for_its_user_alone(folder):
    folder.rmdir()
    was_kept()
    assert folder.stat().st_mode & 0o777 == 0o700


def replaced_by_a_link(folder):
    folder.symlink_to(folder.rename(folder.with_name("elsewhere")))


EXPOSED = {
    "group": lambda folder, patch: folder.chmod(0o770),
    "others": lambda folder, patch: folder.chmod(0o707),
    "above": lambda folder, patch: folder.parent.chmod(0o777),
    "owner": lambda folder, patch: patch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1),
    "link": lambda folder, patch: replaced_by_a_link(folder),
}
"""How somebody else gets to put files into the folder."""


@pytest.mark.parametrize("how", EXPOSED)
def test_nothing_is_loaded_from_where_others_may_write(folder, monkeypatch, capsys, how):
    """The files are pickles, and loading one runs what it says."""
    kernel_cache.warn.cache_clear()
    was_kept()
    assert was_kept()
    for file in folder.rglob("*.nbi"):
        file.write_bytes(pickle.dumps(Planted(str(folder.parent / "ran"))))
    EXPOSED[how](folder, monkeypatch)
    assert not was_kept()
    assert not (folder.parent / "ran").exists()
    assert_said_once(capsys.readouterr().err, f"in {folder}")


def test_a_folder_in_a_place_like_tmp_is_used(folder):
    folder.parent.chmod(0o1777)
    was_kept()
    assert was_kept()


class Planted:
    """Makes a folder when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


DAMAGES = {
    "halved": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "no pickle of ours": lambda content: pickle.dumps(frontier.__name__),
}


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_loaded_is_compiled_anew(folder, kind, damage):
    was_kept()
    (file,) = folder.rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    assert not was_kept()
    assert was_kept()


def test_the_folder_is_locked_until_the_outermost_kernel_is_saved(folder, monkeypatch):
    """And no longer, even if a child of this process has the file open."""
    inner, save, found = kernel_cache.compiled(add), IndexDataCacheFile.save, []
    copies = []

    def saved(*of):
        save(*of)
        found.append(locked(folder))
        copies.append(os.dup(kernel_cache._turn[0].fileno()))

    monkeypatch.setattr(IndexDataCacheFile, "save", saved)
    outer = kernel_cache.compiled(lambda one: inner(one, one))
    assert outer(2) == 4
    assert found == [True, True]
    assert not locked(folder)
    for file in copies:
        os.close(file)


def test_what_another_process_saved_meanwhile_is_loaded(folder, monkeypatch, tmp_path):
    was_kept()
    elsewhere = folder.rename(tmp_path / "elsewhere")
    folder.mkdir()
    lock = fcntl.flock

    def wait(file, how):
        shutil.copytree(elsewhere, folder, dirs_exist_ok=True)
        lock(file, how)

    monkeypatch.setattr(kernel_cache.fcntl, "flock", wait)
    assert was_kept()
    monkeypatch.undo()
    assert not locked(folder)


def test_nobody_waits_for_ever(folder, monkeypatch, capsys):
    """Such as for a process that was stopped while it compiled."""
    kernel_cache.warn.cache_clear()
    monkeypatch.setattr(kernel_cache, "PATIENCE", 0.0)
    with open(folder / "lock", "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not was_kept()
    assert "cannot be kept" in capsys.readouterr().err
    assert not was_kept()


def test_a_listener_ends_the_wait_for_another_process(folder, monkeypatch):
    """It must also be told while the wait lasts: the first time, there was nothing to end."""
    told = []

    def ends():
        told.append(1)
        if len(told) == 2:
            raise KeyboardInterrupt

    with open(folder / "lock", "ab") as other, compiling_told_to(ends):
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(KeyboardInterrupt):
            was_kept()
    assert not locked(folder)
    assert not was_kept()


def test_a_kernel_that_fails_to_compile_leaves_no_lock(folder):
    kernel = kernel_cache.compiled(add)
    with pytest.raises(numba.TypingError):
        kernel(1, None)
    assert not locked(folder)
    assert not was_kept()


def test_a_file_system_without_locks(folder, monkeypatch, capsys):
    """Nothing is saved where another process might save at the same time, and that is said."""

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    kernel_cache.warn.cache_clear()
    was_kept()
    monkeypatch.setattr(kernel_cache.fcntl, "flock", no_locks)
    assert was_kept()
    assert capsys.readouterr().err == ""
    assert not was_kept(1, 2.5)
    assert not was_kept(1, 2.5)
    assert_said_once(capsys.readouterr().err, f"in {folder}")


def unusable(tmp_path):
    """Where a cache cannot be: environment, and how the folder is named that cannot be written."""
    (tmp_path / "file").touch()
    at, home = tmp_path / "file", str(tmp_path)
    yield {"HOME": str(at / "home")}, f"{at}/home/.cache/frontier/"
    yield {"HOME": home, "XDG_CACHE_HOME": str(at)}, f"{at}/frontier/"
    yield {"HOME": home, "NUMBA_CACHE_DIR": str(at)}, f"{at}/"


def assert_said_once(said, where):
    assert said.count("\n") == 1, said
    assert said.startswith(f"frontier: warning: compiled kernels cannot be kept {where}")


def in_the_sources():
    return sorted(PACKAGE.rglob("*.nb?"))


@pytest.mark.sweep
def test_a_place_that_cannot_be_written(tmp_path):
    """Kernels are compiled, no other place is taken, and that is said once."""
    before = in_the_sources()
    for environment, folder in unusable(tmp_path):
        found, said = called(**environment)
        assert found == "12 0"
        assert_said_once(said, f"in {folder}kernels-")
    assert in_the_sources() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("what", ["kernels", "space"])
def test_a_file_in_the_place_of_a_folder(folder, capsys, what):
    kernel_cache.warn.cache_clear()
    was_kept()
    (of_tests,) = (path for path in folder.iterdir() if path.is_dir())
    place = folder if what == "kernels" else of_tests
    shutil.rmtree(place)
    place.touch()
    before = sorted(Path(__file__).parent.rglob("*.nb?"))
    assert not was_kept()
    assert not was_kept()
    assert_said_once(capsys.readouterr().err, f"in {folder}")
    assert sorted(Path(__file__).parent.rglob("*.nb?")) == before


@pytest.mark.sweep
def test_a_user_without_a_home():
    without = "import pathlib\ndef none(cls): raise RuntimeError('no home')\n"
    without += "pathlib.Path.home = classmethod(none)"
    found, said = called(without)
    assert found == "12 0"
    assert_said_once(said, "anywhere, because there is no home directory")


@pytest.mark.sweep
def test_a_disk_that_is_full(tmp_path):
    """Of a cache that can be written until then: it ends the process, as any file does."""
    full = "import frontier.jit.cache\nimport os\n"
    full += "def replace(*_): raise OSError(28, 'No space left on device')\n"
    full += "os.replace = replace"
    with pytest.raises(AssertionError, match=r"OSError: \[Errno 28\] No space left on device"):
        called(full, HOME=str(tmp_path))
    assert called(HOME=str(tmp_path)) == ("12 0", "")
    assert called(HOME=str(tmp_path)) == ("12 1", "")


SAVES = """
import sys, time
from pathlib import Path
import numpy as np
from numba.core.caching import IndexDataCacheFile
from frontier.codec import zerobytes_kernels as kernels

here, other = map(Path, sys.argv[2:4])
save = IndexDataCacheFile._save_index

def late(self, overloads):
    here.touch()
    until = time.monotonic() + float(sys.argv[4])
    while not other.exists() and time.monotonic() < until:
        time.sleep(0.01)
    save(self, overloads)

IndexDataCacheFile._save_index = late
ones = kernels._ones(np.dtype(sys.argv[1]).type(7))
print(ones, sum(kernels._ones.compiled.stats.cache_hits.values()))
"""
"""Compiles a kernel for a type, and saves its index when another process is about to do so."""


def said_by_two(tmp_path, kinds):
    """What two processes say that call a kernel at once, and the folder of the files of kernels."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": ""}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    marks = [tmp_path / "one", tmp_path / "other"]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SAVES, kind, here, other, "2"],
            env=environment, stdout=subprocess.PIPE, text=True,
        )
        for kind, here, other in zip(kinds, marks, reversed(marks), strict=True)
    ]  # fmt: skip
    said = sorted(process.communicate()[0] for process in started)
    (folder,) = tmp_path.glob("cache/frontier/kernels-*")
    return said, folder


@pytest.mark.sweep
def test_two_processes_that_compile_a_kernel_for_different_types_at_once(tmp_path):
    """Neither takes the code of the other for its own: the second waits until the first has
    saved."""
    said, folder = said_by_two(tmp_path, ("uint8", "uint64"))
    assert said == ["3 0\n", "3 0\n"]
    for kernel in ("words.count_bits", "zerobytes_kernels._ones"):
        assert len(list(folder.rglob(f"{kernel}-*.nbc"))) == 2


@pytest.mark.sweep
def test_two_processes_that_need_a_kernel_at_once(tmp_path):
    """One compiles it, the other takes what the first has saved."""
    said, folder = said_by_two(tmp_path, ("uint8", "uint8"))
    assert said == ["3 0\n", "3 1\n"]
    assert len(list(folder.rglob("zerobytes_kernels._ones-*.nbc"))) == 1


@pytest.mark.sweep
def test_kernels_are_compiled_anew_where_one_has_changed(tmp_path):
    """Also one of another folder, which Numba may have inlined anywhere."""
    shutil.copytree(PACKAGE, tmp_path / "frontier", ignore=shutil.ignore_patterns("__pycache__"))

    def folder(changed):
        file = tmp_path / "frontier" / changed
        file.write_bytes(file.read_bytes() + b"\n# changed\n")
        command = [
            sys.executable, "-c", "import frontier.jit.cache as c; print(c._folder())"
        ]  # fmt: skip
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=True
        ).stdout

    names = [
        folder(name) for name in ("kernels/expand_rows.py", "cosets/kernel.py", "report/html.py")
    ]
    assert names[0] != names[1] == names[2]
