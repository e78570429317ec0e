"""Who hears a run's scheduler and workers: sockets, TLS, the dashboard."""

import urllib.error
import urllib.request

import dask
import psutil
import pytest
from distributed import Client, Security, SpecCluster

from frontier.api import runs as api
from frontier.executors import dask_executor
from frontier.runs.events import Started
from tests.executors.test_clusters import assert_right, config_of
from tests.support.tile_runs import as_bits


@pytest.mark.sweep
def test_only_this_run_is_heard(tmp_path):
    """No other user of the host can talk to its scheduler, workers or nannies, whatever they
    speak; nor do their ports for browsers offer anything."""
    security, tried, answers, others = Security.temporary(), [], set(), listening()

    def knock(event):
        if not isinstance(event, Started):
            return
        (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
        addresses = [cluster.scheduler_address]
        addresses += [nanny.address for nanny in cluster.workers.values()]
        addresses += [nanny.worker_address for nanny in cluster.workers.values()]
        tried.extend(addresses)
        for address in addresses:
            for other, place in ((None, address.replace("tls", "tcp")), (security, address)):
                with pytest.raises(OSError, match=r"Timed out|closed|certificate|handshake|alert"):
                    Client(place, security=other, timeout=2)
        known = {int(address.rpartition(":")[2]) for address in addresses}
        for port in {port for _, port in listening() - others} - known:
            for path in ("info/main/workers.html", "api/v1/retire_workers", "metrics", "status"):
                with pytest.raises(urllib.error.HTTPError) as found:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5)
                answers.add(found.value.code)

    plan = as_bits(api.plan(config_of(tmp_path / "run")))
    assert_right(api.run(plan, listeners=[knock]), 4)
    assert len(tried) == 5
    assert answers == {404}


def listening():
    """(address, port) of each place where this process and those it has started listen."""
    me = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in [me, *me.children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }


@pytest.mark.sweep
def test_a_dashboard_is_named_where_there_is_one(tmp_path, monkeypatch):
    """Without Bokeh, Dask's would say that it needs it."""
    named = []

    def note(event):
        if isinstance(event, Started):
            named.append(event.dashboard)

    for found in (False, True):
        monkeypatch.setattr(dask_executor, "has_dashboard", lambda found=found: found)
        path = tmp_path / str(found)
        api.run(api.plan(config_of(path)), until=3, listeners=[note])
    assert named[0] is None
    assert named[1].startswith("http://127.0.0.1:")


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["local", "slurm"])
def test_sockets_are_on_the_loopback(tmp_path, queue, kind):
    config = config_of(tmp_path / "run", kind=kind)
    seen = set()
    listen = [lambda event: seen.update(ip for ip, _ in listening())]
    api.run(as_bits(api.plan(config)), listeners=listen)
    assert seen == {"127.0.0.1"}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["local", "slurm"])
def test_tls(tmp_path, queue, certificates, kind):
    """With the settings of docs/reference/clusters.md, all speak TLS, and only TLS is heard."""
    config = config_of(tmp_path / "run", kind=kind)
    heard = []

    def listen(event):
        if isinstance(event, Started):
            (cluster,) = (c for c in SpecCluster._instances if c.status.name == "running")
            heard.append(cluster.scheduler_address)
            plain = dask.config.set({"distributed.comm.require-encryption": False})
            with plain, pytest.raises(OSError, match=r"Timed out|closed"):
                Client(heard[0].replace("tls://", "tcp://"), timeout=2)

    settings = dask.config.collect([str(certificates)], {})
    with dask.config.set(dask.config.merge(dask.config.config, settings)):
        assert_right(api.run(as_bits(api.plan(config)), listeners=[listen]), 4)
    assert [address.split(":")[0] for address in heard] == ["tls"]
