"""Kernels are compiled for few types: one memory layout of an array, and no constants. They count
no references.

To compile one again takes seconds of the first search on a machine. Numba counts references to
arrays by atomic operations, which take half of the time where rows are short.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import frontier
from frontier.jit import cache as kernel_cache
from tests.support.temporary_runs import CONFIGS


def add(one, other):
    return one + other


def test_a_kernel_is_compiled_once_for_all_constants(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_folder", lambda: tmp_path)
    kernel = kernel_cache.compiled(add)
    assert numba.njit(lambda number: kernel(kernel(number, 1), kernel(2, number)))(4) == 11
    assert kernel.signatures == [(numba.int64, numba.int64)]


SEARCHES = """
import sys
from pathlib import Path
from numba.core import event
import frontier

class Signatures(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("frontier."):
            print(function.__qualname__, event.data["args"], file=found)
            kernels.add(event.data["dispatcher"])

    def on_end(self, event):
        pass

def config(name, *settings):
    path = Path(sys.argv[1], f"{name}.toml")
    return frontier.load_config(path, ("cluster.kind=serial", f"store.path={name}", *settings))

kernels = set()
event.register("numba:compile", Signatures())
with open("signatures", "w") as found:
    frontier.run(config("2x6", "search.in_memory=false"), until=30)
    frontier.run(config("pattern-2x5-k2", "search.keep=all")).export(Path("array"))
    for method in ("ida", "databases"):
        frontier.solve(config("2x5"), "0 2 1 3 4/5 7 6 8 9", method=method)
    frontier.gods_number(config("2x5"))
with open("code", "w") as code:
    for kernel in kernels:
        code.writelines(kernel.inspect_asm().values())
"""
"""Writes for which types kernels are compiled by a run by tasks, one in memory, IDA* and a
search of cosets."""


@pytest.mark.sweep
def test_kernels_have_one_memory_layout_no_constants_and_no_atomic_operations(tmp_path):
    """A kernel that unpacks an array, or that is called with a column of one, has another type."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = str(Path(frontier.__file__).parents[1])
    command = [sys.executable, "-c", SEARCHES, str(CONFIGS)]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    signatures = (tmp_path / "signatures").read_text().splitlines()
    names = {line.split(" ")[0] for line in signatures}
    assert {"expand_encoded", "_deepen", "within", "search_cosets"} <= names
    of_constants_or_gaps = re.compile(r"Literal|, 'A'|\dd, A\)")
    assert list(filter(of_constants_or_gaps.search, signatures)) == []
    code = (tmp_path / "code").read_text()
    assert code.count("expand_rows") > 0
    assert re.findall(r"^\s*lock\b.*", code, re.MULTILINE) == []  # x86
    assert re.findall(r"^\s*(?:ldaxr|ldadd).*", code, re.MULTILINE) == []  # ARM
