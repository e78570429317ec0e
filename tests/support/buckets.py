"""A bucket of an object store on this machine, for tests that ask for the fixture `bucket`.

By default it is in the memory of the process that runs the tests. Tests that ask for `s3_bucket`
get one from a server by requests, as in the sweeps all do; `azure_bucket` is given by another
program, by another protocol.
"""

import shutil

import pytest

from frontier.storage.places import storage_at
from tests.support.bucket_server import (
    AZURITE,
    BUCKET,
    Proxy,
    azure_server,
    azure_settings,
    environment,
    s3_server,
    settings,
)
from tests.support.sweeps import cases


@pytest.fixture(scope="session")
def s3_endpoint():
    """The URL of a server with an empty bucket; started when a test asks for it first."""
    pytest.importorskip("obstore")
    pytest.importorskip("moto")
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(params=cases(["memory", "s3"], few=1))
def bucket(request):
    """A place in a bucket where nothing is, for each test its own."""
    return request.getfixturevalue(f"{request.param}_bucket")


@pytest.fixture
def memory_bucket(request):
    """A place in the memory of this process."""
    store = pytest.importorskip("obstore.store").MemoryStore()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frontier.storage.bucket.bucket_of", lambda *_: store)
        yield _place("s3", request)


@pytest.fixture
def s3_bucket(s3_endpoint, request):
    """The same in the bucket of the server."""
    with environment(settings(s3_endpoint)):
        yield _place("s3", request)


@pytest.fixture
def proxy(s3_endpoint, s3_bucket):
    """A proxy before the bucket, whose `harm` a test sets."""
    with (
        Proxy(s3_endpoint, lambda method, path: None) as proxy,
        environment(settings(proxy.endpoint)),
    ):
        yield proxy


@pytest.fixture(scope="session")
def azure_endpoint():
    """The URL of Azurite with an empty bucket."""
    pytest.importorskip("obstore")
    if shutil.which(AZURITE) is None:
        pytest.skip(f"there is no {AZURITE}: npm install azurite")
    with azure_server() as endpoint:
        yield endpoint


@pytest.fixture
def azure_bucket(azure_endpoint, request):
    """A place where nothing is, by the protocol of Azure."""
    with environment(azure_settings(azure_endpoint)):
        yield _place("az", request)


def _place(scheme, request):
    return storage_at(f"{scheme}://{BUCKET}/{abs(hash(request.node.nodeid)):x}")
