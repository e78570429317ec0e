"""A bucket of an object store on this machine, for tests that ask for the fixture `bucket`."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

from bucket_server import BUCKET, environment, s3_server, settings

from frontier.store.objects import place_of


@pytest.fixture(scope="session")
def s3_endpoint():
    """The URL of a server with an empty bucket; started when a test asks for it first."""
    pytest.importorskip("obstore")
    pytest.importorskip("moto")
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3_endpoint, request):
    """A place in the bucket where nothing is, for each test its own."""
    with environment(settings(s3_endpoint)):
        yield place_of(f"s3://{BUCKET}/{abs(hash(request.node.nodeid)):x}")
