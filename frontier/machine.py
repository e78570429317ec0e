"""The processors and the memory that this process may use, and the name of the processor. The
limits come from the machine, a container, a batch job or ulimit.

Dask and psutil have functions for them, but take time to load.
"""

import os
import platform
import resource
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from frontier.errors import InputError
from frontier.text import counted, size

GROUPS = Path("/proc/self/cgroup")
"""The file in which Linux lists the control groups of a process."""

UNUSED_BYTES = 500_000_000
"""The bytes of the address space that the libraries and threads of a process reserve but do not use
(measured). Where they find no room, Python may wait for ever for a thread that it has started."""

MOUNTED = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    for quota, period in _quotas():
        if quota > 0 < period:
            count = min(count, ceil(quota / period))
    return count


def processor() -> str:
    """Return the processor's name, as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def memory() -> int:
    """Return how many bytes of memory this process and the processes that it starts may use."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    # Queues set these limits for a job.
    for kind, unused in ((resource.RLIMIT_AS, UNUSED_BYTES), (resource.RLIMIT_RSS, 0)):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY:
            limits.append(max(1, limit - unused))
    for folder in _groups("memory"):
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes"):
            limits += _numbers(folder / name)
    return min(limit for limit in limits if limit > 0)


def refuse_beyond(workers: int, memory_each: int) -> None:
    """Raise InputError if there are fewer processors than workers, or less memory than they may
    take."""
    more = "allow more with cluster.oversubscribe = true"
    if workers > (available := cores()):
        raise InputError(
            f"cluster.workers = {workers:,}: this process may use "
            f"{counted(available, 'processor')}; set cluster.workers to at most {available}, "
            f"or {more}"
        )
    if (needed := workers * memory_each) > (memory_here := memory()):
        raise InputError(
            f"cluster.memory = {size(memory_each)} for {counted(workers, 'worker')} is "
            f"{size(needed)}, but this process may use {size(memory_here)}; set cluster.memory "
            f"to at most {memory_here // workers // 10**6}MB, or {more}"
        )


def _quotas() -> Iterator[tuple[int, int]]:
    """Generate the quota of each control group: its microseconds of processor time, and the
    period."""
    for folder in _groups("cpu"):
        for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):
            if len(numbers := [n for name in names for n in _numbers(folder / name)]) == 2:
                yield numbers[0], numbers[1]


def _groups(controller: str) -> Iterator[Path]:
    """Generate the folders of the control groups that may limit this process, from the innermost
    outwards.

    In a container, the path may be valid only outside; the limits may then be in the root folder.
    """
    try:
        lines = GROUPS.read_text().splitlines()
    except OSError:  # not on Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = MOUNTED / controller if controllers else MOUNTED  # in version 2 there is no name
        inner = root / path.strip("/")
        yield from (folder for folder in (inner, *inner.parents) if folder.is_relative_to(root))


def _numbers(file: Path) -> list[int]:
    """Return the numbers in a system file; an empty list if there is no such file, or it says
    "max"."""
    try:
        return [int(word) for word in file.read_text().split()]
    except (OSError, ValueError):
        return []
