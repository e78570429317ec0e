"""Which texts name places in an object store."""

import re

SCHEMES = ("s3", "gs", "az")
"""A URL of a place in an object store begins with one of these and ``://``."""

URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/@]+)/(.+)")
BEGINS = re.compile(rf"({'|'.join(SCHEMES)}):|[^/]*://")
"""A text that begins so is meant as a URL. A URL with a user name or password in it is refused."""
