"""Kernels on disk that are damaged, or cannot be there: compiled anew, with the same results."""

import errno
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frontier
from frontier.space import kernel_cache
from frontier.space.kernel_cache import KernelFiles, SharedCache

PACKAGE = Path(frontier.__file__).parent

CALLS = """
import numpy as np
from frontier.space import zerobytes_kernels as kernels
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


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache, and the folder in it that has the files of two kernels."""
    home = tmp_path_factory.mktemp("home")
    assert called(HOME=str(home)) == ("12 0", "")
    (folder,) = home.glob(".cache/frontier/kernels-*/space_*")
    return home, folder


def file_of(folder, name, kind):
    (file,) = folder.glob(f"zerobytes_kernels.{name}-*.{kind}")
    return file


def start_of(folder, name):
    """What the names of the files of a kernel begin with."""
    return file_of(folder, name, "nbi").name.split(".py")[0]


def turned(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 8
    file.write_bytes(data)


DAMAGES = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "halved": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "emptied": lambda file: file.write_bytes(b""),
    "lengthened": lambda file: file.write_bytes(file.read_bytes() + b"0"),
    "turned": turned,
    "random": lambda file: file.write_bytes(os.urandom(file.stat().st_size)),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "a pickle": lambda file: file.write_bytes(pickle.dumps("0.0") + pickle.dumps((1, {}))),
    "no pickle of ours": lambda file: file.write_bytes(pickle.dumps(frontier.__name__)),
    "another kernel's": lambda file: file.write_bytes(
        file_of(file.parent, "_ones", file.suffix[1:]).read_bytes()
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_written_anew(kept, kind):
    """A process is started for those that Numba would run, or end with an error on."""
    home, folder = kept
    for name in ("halved", "turned"):
        DAMAGES[name](file_of(folder, "_count", kind))
        assert called(HOME=str(home)) == ("12 0", ""), name
        assert called(HOME=str(home)) == ("12 1", ""), name


@pytest.mark.parametrize("kind", ["nbi", "nbc", "seal"])
@pytest.mark.parametrize("damage", [*DAMAGES.values(), Path.unlink], ids=[*DAMAGES, "deleted"])
def test_what_is_not_as_it_was_sealed_is_deleted(kept, tmp_path, kind, damage):
    folder = shutil.copytree(kept[1], tmp_path / "folder")
    files = KernelFiles(str(folder / start_of(folder, "_count")))
    before = set(folder.iterdir())
    files.delete_unless_sealed()
    assert set(folder.iterdir()) == before
    damage(file_of(folder, "_count", kind))
    files.delete_unless_sealed()
    code = {path for path in before if path.suffix in (".nbi", ".nbc")}
    of_kernel = {path for path in code if "._count-" in path.name}
    assert len(of_kernel) == 2
    assert {path for path in folder.iterdir() if path in code} == code - of_kernel


@pytest.mark.sweep
def test_all_files_are_damaged(kept):
    home, folder = kept
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:9])
    assert called(HOME=str(home)) == ("12 0", "")
    assert called(HOME=str(home)) == ("12 1", "")


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


@pytest.mark.sweep
@pytest.mark.parametrize("what", ["frontier", "kernels", "space"])
def test_a_file_in_the_place_of_a_folder(tmp_path, kept, what):
    shutil.copytree(kept[0] / ".cache", tmp_path / ".cache")
    (folder,) = tmp_path.glob(".cache/frontier/kernels-*/space_*")
    place = {"frontier": folder.parents[1], "kernels": folder.parent, "space": folder}[what]
    place.rename(tmp_path / "elsewhere")
    place.touch()
    before = in_the_sources()
    found, said = called(HOME=str(tmp_path))
    assert found == "12 0"
    assert_said_once(said, f"in {folder.parent}")
    assert in_the_sources() == before


@pytest.mark.sweep
def test_a_user_without_a_home():
    without = "import pathlib\ndef none(cls): raise RuntimeError('no home')\n"
    without += "pathlib.Path.home = classmethod(none)"
    found, said = called(without)
    assert found == "12 0"
    assert_said_once(said, "anywhere, as there is no home directory")


@pytest.mark.sweep
def test_a_disk_that_is_full(tmp_path):
    """Of a cache that can be written until then: it ends the process, as any file does."""
    full = "from frontier.space import kernel_cache\nimport os\n"
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
from frontier.space import zerobytes_kernels as kernels

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
    (folder,) = tmp_path.glob("cache/frontier/kernels-*/space_*")
    return said, folder


@pytest.mark.sweep
def test_two_processes_that_compile_a_kernel_for_different_types_at_once(tmp_path):
    """Neither takes the code of the other for its own: the second waits until the first has
    saved."""
    said, folder = said_by_two(tmp_path, ("uint8", "uint64"))
    assert said == ["3 0\n", "3 0\n"]
    for kernel in ("bits.count_bits", "zerobytes_kernels._ones"):
        assert len(list(folder.glob(f"{kernel}-*.nbc"))) == 2


@pytest.mark.sweep
def test_two_processes_that_need_a_kernel_at_once(tmp_path):
    """One compiles it, the other takes what the first has saved."""
    said, folder = said_by_two(tmp_path, ("uint8", "uint8"))
    assert said == ["3 0\n", "3 1\n"]
    assert len(list(folder.glob("zerobytes_kernels._ones-*.nbc"))) == 1


class Saved(list):
    """Numba's cache, as far as it is asked; the signatures for which something was saved."""

    def load_overload(self, signature, context):
        return signature if signature in self else None

    def save_overload(self, signature, result):
        self.append(signature)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Makes what a process has of a kernel; it does not wait for others. The kernel's cache."""
    monkeypatch.setattr(SharedCache, "patience", 0.05)
    saved, files = Saved(), KernelFiles(str(tmp_path / "kernel"))
    return lambda: SharedCache(saved, files), saved


def compile_and_save(cache, signature):
    assert cache.load_overload(signature, None) is None
    cache.save_overload(signature, "code")


@pytest.mark.parametrize("saved_meanwhile", [False, True])
def test_what_was_saved_is_found_and_not_locked(shared, tmp_path, saved_meanwhile):
    """Also if it was not there yet before the kernel was locked."""
    make, saved = shared
    compile_and_save(make(), "int64")
    if saved_meanwhile:  # the first look finds no seal, and what is under it is there in the second
        (tmp_path / "kernel.seal").unlink()
    one = make()
    assert one.load_overload("int64", None) == "int64"
    compile_and_save(make(), "uint8")
    assert saved == ["int64", "uint8"]


def test_a_kernel_that_is_locked_is_loaded_if_it_is_there(shared):
    make, _ = shared
    compile_and_save(make(), "int64")
    stopped, other = make(), make()
    assert stopped.load_overload("uint8", None) is None
    assert other.load_overload("int64", None) == "int64"


def test_a_process_that_waits_for_long_compiles_and_does_not_save(shared):
    make, saved = shared
    stopped, waiting = make(), make()
    assert stopped.load_overload("int64", None) is None
    compile_and_save(waiting, "int64")
    assert saved == []
    assert SharedCache.patience == 0
    stopped.save_overload("int64", "code")
    assert saved == ["int64"]
    compile_and_save(waiting, "uint8")
    assert saved == ["int64", "uint8"]


def test_a_file_system_without_locks(shared, monkeypatch, capsys):
    """Nothing is saved where another process might save at the same time, and that is said."""

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    make, saved = shared
    kernel_cache.warn.cache_clear()
    compile_and_save(make(), "int64")
    monkeypatch.setattr(kernel_cache.fcntl, "flock", no_locks)
    assert make().load_overload("int64", None) == "int64"
    compile_and_save(make(), "uint8")
    compile_and_save(make(), "uint8")
    assert saved == ["int64"]
    assert_said_once(capsys.readouterr().err, "in ")


@pytest.mark.parametrize("fails", ["load_overload", "save_overload"])
def test_a_cache_that_fails_leaves_no_lock(shared, monkeypatch, fails):
    make, saved = shared
    failing = make()
    with monkeypatch.context() as patch:
        patch.setattr(Saved, fails, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            compile_and_save(failing, "int64")
    compile_and_save(make(), "int64")
    assert saved == ["int64"]


FAILS = """
from numba.core.dispatcher import _FunctionCompiler
compile, _FunctionCompiler.compile = _FunctionCompiler.compile, lambda *_: 1 / 0
try:
    kernels._count(np.array([7], dtype=np.uint8), 8)
except ZeroDivisionError:
    _FunctionCompiler.compile = compile
import fcntl
from frontier.space import kernel_cache
locks = list(kernel_cache._folder().rglob("*.lock"))
assert locks
for lock in locks:
    fcntl.flock(open(lock), fcntl.LOCK_EX | fcntl.LOCK_NB)
"""
"""Fails to compile a kernel, and ends with an error if the kernel is locked then."""


@pytest.mark.sweep
def test_a_kernel_that_fails_to_compile_is_not_locked(tmp_path):
    before = f"import numpy as np\nfrom frontier.space import zerobytes_kernels as kernels\n{FAILS}"
    assert called(before, HOME=str(tmp_path)) == ("12 0", "")
    assert called(HOME=str(tmp_path)) == ("12 1", "")


@pytest.mark.sweep
def test_kernels_are_compiled_anew_where_one_has_changed(tmp_path):
    """Also one of another folder, which Numba may have inlined anywhere."""
    shutil.copytree(PACKAGE, tmp_path / "frontier", ignore=shutil.ignore_patterns("__pycache__"))

    def folder(changed):
        file = tmp_path / "frontier" / changed
        file.write_bytes(file.read_bytes() + b"\n# changed\n")
        command = [
            sys.executable, "-c", "import frontier.space.kernel_cache as c; print(c._folder())"
        ]  # fmt: skip
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=True
        ).stdout

    names = [folder(name) for name in ("space/bits.py", "cosets/kernel.py", "report/html.py")]
    assert names[0] != names[1] == names[2]
