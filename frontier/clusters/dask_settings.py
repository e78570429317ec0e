"""Dask's settings where frontier starts schedulers and workers, and where it drives them."""

from importlib.util import find_spec

NO_PROFILING = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}
"""By default Dask samples its threads and event loops every 10 and 20 ms, for its dashboard."""

WORKER_SETTINGS = NO_PROFILING | {
    # Buffers of many megabytes come and go: keep their pages rather than map them again.
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
    # The layout keeps workers within their memory; pausing half-way would only hang the run.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}
"""The settings of the workers that frontier starts, here or in jobs."""

SCHEDULER_SETTINGS = NO_PROFILING | {
    # Otherwise Dask keeps a thousand messages of each worker for debugging, and the garbage
    # collector goes through them every second or two.
    "distributed.admin.low-level-log-length": 0,
}

QUIET = {
    "logging": dict.fromkeys(
        ("distributed", "distributed.client", "tornado.application"), "critical"
    )
}
"""Dask's loggers are quiet, as the driver reports errors. These settings hold if Dask is imported
after they are made."""


def security():
    """Return Dask's TLS settings, None if they demand no encryption."""
    from distributed import Security

    settings = Security()
    return settings if settings.require_encryption else None


def has_dashboard() -> bool:
    """Return whether bokeh is installed, with which Dask draws its dashboard."""
    return find_spec("bokeh") is not None
