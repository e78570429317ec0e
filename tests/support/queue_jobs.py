"""The processes that stand for the jobs of a queue."""

import os

import psutil


def members_of(job):
    """The processes of a job that are left."""
    return [process for process in psutil.process_iter() if group_of(process.pid) == job]


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
