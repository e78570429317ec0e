"""Searches for God's number."""

from frontier.cosets.search import CosetSearch
from frontier.runs.drive import drive


def find_gods_number(config, *arguments, listeners=(), take_over=False, **options):
    """The run by cosets of a config, when it is done. The other arguments are those of
    `CosetSearch`."""
    return drive(CosetSearch(config, *arguments, **options), listeners, take_over)
