"""`frontier`, but a new run's layers are cut into many tasks and are never lists, and a search of
God's number is cut into many portions, each of which it commits.

    python tests/support/many_tasks.py run configs/2x5.toml --set search.in_memory=false

So a puzzle that takes a second goes through what large ones go through; for `faults.py`. A run in
memory commits what it has found twenty times a second.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

COMMIT_SECONDS = 0.05


def _fine_layout(space):
    """A layout of many tasks; of at most eight where a tower numbers the rows, because it may
    have thousands of rows."""
    from frontier.space.key_layout import KeyLayout
    from frontier.space.keys import KeySpace
    from frontier.space.layout import Layout

    if isinstance(space, KeySpace):  # slabs of a few keys, some of them to a part
        return KeyLayout(space, 300, 240, 256 * space.words)
    if space.rows_are_numbered:
        return Layout(space, 0, ceil(max(space.nodes) / 8))
    by_both = Layout(space, min(2, len(space.code.leading)), 1)
    return by_both if by_both.fits_voltages else Layout(space, 0, 1)


@contextmanager
def cut_finely() -> Iterator[None]:
    """Plans made meanwhile are like that."""
    from frontier.api import start as start_runs  # has the function under its own name
    from frontier.cosets import questions
    from frontier.cosets import search as coset_search
    from frontier.layers import loop as driver
    from frontier.layers import plan

    make_plan, seconds = plan.make_plan, driver.MEMORY_SECONDS

    def make(config, layout=None, until=None):
        made = make_plan(config, layout, until)
        if layout is None:
            made = dataclasses.replace(made, layout=_fine_layout(made.space))
        return dataclasses.replace(made, list_states=0 if made.puzzle.model.counted else 1)

    portions, commits = questions.PORTION_COSETS, coset_search.COMMIT_SECONDS
    start_runs.make_plan, driver.MEMORY_SECONDS = make, COMMIT_SECONDS
    questions.PORTION_COSETS, coset_search.COMMIT_SECONDS = 4, 0.0
    try:
        yield
    finally:
        start_runs.make_plan, driver.MEMORY_SECONDS = make_plan, seconds
        questions.PORTION_COSETS, coset_search.COMMIT_SECONDS = portions, commits


def main() -> None:
    from frontier.__main__ import main as command

    with cut_finely():
        command()


if __name__ == "__main__":
    main()
