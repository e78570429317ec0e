"""Which texts name places in an object store."""

import re

SCHEMES = ("s3", "gs", "az")
"""A URL of a place in an object store begins with one of these and ``://``."""

URL = re.compile(rf"({'|'.join(SCHEMES)})://([^/@]+)/(.+)")
BEGINS = re.compile(rf"({'|'.join(SCHEMES)}):|[^/]*://")
"""A text that begins like this is meant as a URL. A URL that contains a user name or password is
refused."""
