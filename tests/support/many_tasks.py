"""`frontier`, but a new run's layers are cut into many tasks and are never lists, and a search of
God's number is cut into many portions, each of which it commits.

    python tests/support/many_tasks.py run configs/2x5.toml --set search.in_memory=false

So a puzzle that takes a second goes through what large ones go through; for `faults.py`. A run in
memory commits what it has found twenty times a second.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

COMMIT_SECONDS = 0.05


@contextmanager
def cut_finely() -> Iterator[None]:
    """Plans made meanwhile are like that."""
    from frontier.cosets import questions
    from frontier.search import coset_driver as coset_search
    from frontier.search import driver, plan
    from frontier.space.layout import Layout

    make_plan, seconds = plan.make_plan, driver.MEMORY_SECONDS

    def make(config, layout=None):
        made = make_plan(config, layout)
        if layout is None:
            digits = min(2, len(made.space.code.leading))
            by_both, by_nodes = Layout(made.space, digits, 1), Layout(made.space, 0, 1)
            fine = by_both if by_both.fits_voltages else by_nodes
            made = dataclasses.replace(made, layout=fine)
        return dataclasses.replace(made, list_states=0)

    portions, commits = questions.PORTION_COSETS, coset_search.COMMIT_SECONDS
    plan.make_plan, driver.MEMORY_SECONDS = make, COMMIT_SECONDS
    questions.PORTION_COSETS, coset_search.COMMIT_SECONDS = 4, 0.0
    try:
        yield
    finally:
        plan.make_plan, driver.MEMORY_SECONDS = make_plan, seconds
        questions.PORTION_COSETS, coset_search.COMMIT_SECONDS = portions, commits


def main() -> None:
    from frontier.__main__ import main as command

    with cut_finely():
        command()


if __name__ == "__main__":
    main()
