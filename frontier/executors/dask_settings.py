"""Dask's settings for the schedulers and workers that frontier starts, and for the driver."""

from importlib.util import find_spec

NO_PROFILING = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}
"""By default Dask samples its threads every 10 ms and its event loops every 20 ms, for its
dashboard."""

WORKER_SETTINGS = NO_PROFILING | {
    # Workers allocate and free buffers of many megabytes: keep the pages rather than map them
    # again.
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
    # The layout keeps workers within their memory; pausing them halfway would only hang the run.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}
"""The settings of the workers that frontier starts, here or in jobs."""

SCHEDULER_SETTINGS = NO_PROFILING | {
    # Otherwise Dask keeps a thousand messages of each worker for debugging, and the garbage
    # collector scans them every second or two.
    "distributed.admin.low-level-log-length": 0,
}

QUIET = {
    "logging": dict.fromkeys(
        ("distributed", "distributed.client", "tornado.application"), "critical"
    )
}
"""Dask's loggers are quiet, because the driver reports errors. These settings apply only if they
are made before Dask is imported."""


def security():
    """Return Dask's TLS settings, or None if they do not require encryption."""
    from distributed import Security

    settings = Security()
    return settings if settings.require_encryption else None


def has_dashboard() -> bool:
    """Return whether bokeh is installed. Dask draws its dashboard with it."""
    return find_spec("bokeh") is not None
