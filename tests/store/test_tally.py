"""What is counted of parts adds up, and a new count needs nothing but a field and who counts it."""

from dataclasses import dataclass

import pytest
from search.runs import FORMS, config_of

from frontier import api
from frontier.search import advance, by_tasks, task
from frontier.search.counting import Counting
from frontier.store import ledger, parts
from frontier.store.tally import Tally


def test_tallies_add_up():
    assert Tally(3, 1, 2, 5) + Tally(4, 0, 1, 1) == Tally(7, 1, 3, 6)
    assert Tally(3, 0, None, 5) + Tally() == Tally(3, 0, None, 5)
