"""A run in an object store whose requests go wrong, for `faults.py`.

The store is a server on this machine (`support/bucket_server.py`). Some requests are refused, lost,
cut, late, never answered or carried out twice; the process that drives is killed now and then,
together with its workers, or a second one is started that drives the same run. Whatever comes of
that, the run is started again until it is complete, and compared with one in a file system that
nobody disturbed.
"""

import os
import random
import signal
from collections import Counter
from contextlib import suppress

from tests.campaigns.trials import Campaign, Case, Run
from tests.support.bucket_server import BUCKET, HARMS, Proxy, environment, s3_server, settings

HARMED = 0.1
"""This share of requests is harmed."""

KILLED, SECOND = 0.5, 0.3
"""How often a start of a run is killed, and how often another process drives it too."""

TIMEOUT = "2s"
"""An answer is waited for so long."""

STARTS = 20
"""A run is complete after so many starts."""


def at_requests(campaign: Campaign, case: Case, count: int) -> None:
    """Go over runs until so many faults have been injected."""
    injected, number = 0, 0
    with s3_server() as endpoint:
        while injected < count:
            number += 1
            place = f"s3://{BUCKET}/{case.scratch.name}-{number}"
            harm = _harm(random.Random(campaign.random.random()))
            with (
                Proxy(endpoint, harm) as proxy,
                environment({**settings(proxy.endpoint), "AWS_TIMEOUT": TIMEOUT}),
            ):
                faults, wrong = _disturbed(campaign.random, case, place)
                faults.update(proxy.injected)
                proxy.harm = lambda method, path: None
                wrong = wrong or case.judge(place)
            injected += faults.total()
            for kind, times in faults.items():
                campaign.note(kind, case, "wrong" if wrong else "survived", wrong or "", times)


def _harm(choice: random.Random):
    return lambda method, path: choice.choice(HARMS) if choice.random() < HARMED else None


def _disturbed(choice: random.Random, case: Case, place: str) -> tuple[Counter, str | None]:
    """Run to the end, with kills and second drivers: how many there were, and what went wrong."""
    faults = Counter()
    for _ in range(STARTS):
        run = case.start(place)
        second = None
        if choice.random() < SECOND:
            second = case.start(place, said="second")
            faults["a second driver"] += 1
        if choice.random() < KILLED:
            run.wait(choice.uniform(1, 1 + 2 * case.seconds))
            _kill(run)
            faults["driver and workers killed"] += 1
        ended = [each.wait() for each in (run, second) if each]
        for each in filter(None, (run, second)):
            if each.code not in (0, 2, 3, -signal.SIGKILL) or "Traceback" in each.said:
                return faults, f"it ends with {each.code}: {each.said}"
        if 0 in ended:
            return faults, None
    return faults, f"it is not complete after {STARTS} starts: {run.said}"


def _kill(run: Run) -> None:
    """Kill a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
