"""An object store on this machine, by the protocol of Amazon S3, and a proxy that harms it.

    with s3_server() as endpoint, Proxy(endpoint, harm) as proxy: ...

moto keeps objects in the memory of a process of its own. Azurite, which npm has, does the same by
the protocol of Azure (`azure_server`). The proxy hands requests on to it, and
does to some of them what networks and stores do: it refuses them, lets them come late, carries them
out twice, or carries them out and loses the answer.
"""

import base64
import hashlib
import hmac
import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from frontier.storage.requests import bucket_of

BUCKET = "bucket"

HARMS = ("refused", "lost", "cut", "never", "twice", "late", "busy")
"""The connection is closed before the request is handed on, after it, or in the middle of the
answer; it is carried out and never answered; it is carried out twice; its answer comes late; the
store says that it is busy (503)."""

STATUS = {"busy": 503, "conflict": 409, "precondition": 412}
"""The harms in place of which the proxy answers with a status; only tests ask for the last two."""

LATE_SECONDS = 0.5

SERVER = """
import sys
from moto.server import create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", int(sys.argv[1]), create_backend_app("s3"))
"""
"""One request is carried out after the other, so that an object is compared and replaced at once,
as object stores promise; moto's own program carries out several, and looks at each for the service
of Amazon's that is meant, which takes as long as the request."""

HOP = {"connection", "transfer-encoding", "content-length", "keep-alive", "server", "date"}
"""Headers that a proxy makes itself."""


def settings(endpoint: str) -> dict[str, str]:
    """Variables of the environment by which obstore finds a server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }


AZURITE = "azurite-blob"
"""The program, which `npm install azurite` brings."""

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The one account of Azurite, whose key its documentation tells."""


def azure_settings(endpoint: str) -> dict[str, str]:
    """Variables of the environment by which obstore finds Azurite."""
    return {
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURITE_BLOB_STORAGE_URL": endpoint,
    }


@contextmanager
def s3_server() -> Iterator[str]:
    """A server with an empty bucket, on a port of the loopback that is free: its URL."""
    port = _free_port()
    with _server([sys.executable, "-c", SERVER, str(port)], port, f"/{BUCKET}", {}) as endpoint:
        yield endpoint


@contextmanager
def azure_server() -> Iterator[str]:
    """The same by the protocol of Azure."""
    port, path = _free_port(), f"/{ACCOUNT}/{BUCKET}?restype=container"
    about = f"x-ms-date:{formatdate(usegmt=True)}\nx-ms-version:2021-08-06"
    to_sign = f"PUT{12 * chr(10)}{about}\n/{ACCOUNT}/{ACCOUNT}/{BUCKET}\nrestype:container"
    signed = hmac.new(base64.b64decode(KEY), to_sign.encode(), hashlib.sha256).digest()
    headers = dict(line.split(":", 1) for line in about.splitlines())
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(signed).decode()}"
    command = [AZURITE, "--inMemoryPersistence", "--skipApiVersionCheck", "--blobPort", str(port)]
    with _server(command, port, path, headers) as endpoint:
        yield endpoint


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def _server(command: list[str], port: int, bucket: str, headers: dict) -> Iterator[str]:
    """A server that this command starts, in which a request has made a bucket."""
    server = subprocess.Popen(
        command,
        env={**os.environ, "S3_UPLOAD_PART_MIN_SIZE": "1"},  # moto's; S3 itself takes 5 MB and more
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _make_bucket(server, port, bucket, headers)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _make_bucket(server: subprocess.Popen, port: int, bucket: str, headers: dict) -> None:
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            connection.request("PUT", bucket, headers=headers)
            assert connection.getresponse().status in (200, 201)
            return
        except OSError:
            if server.poll() is not None:
                raise RuntimeError(f"the server does not start: {server.args}") from None
            time.sleep(0.05)
        finally:
            connection.close()


class Proxy:
    """Context manager: a server that hands on requests, some of them harmed.

    harm: is asked for each request, by its method and path, and gives one of `HARMS` or None.
    injected: how many were harmed, by kind. requests: how many there were, by method.
    """

    def __init__(self, endpoint: str, harm: Callable[[str, str], str | None]):
        self.harm, self.injected, self.requests = harm, Counter(), Counter()
        self._asking = threading.Lock()
        handler = type("Handler", (_Handler,), {"proxy": self, "target": urlsplit(endpoint)})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def ask(self, method: str, path: str) -> str | None:
        with self._asking:
            self.requests[method] += 1
            if harm := self.harm(method, path):
                self.injected[harm] += 1
            return harm


class _Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 100

    def handle_error(self, request, client_address) -> None:
        """A client that was killed is no error of the proxy's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else an answer's content waits 40 ms behind its headers
    proxy: Proxy

    def handle_request(self) -> None:
        harm = self.proxy.ask(self.command, self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if harm == "refused":
            self._hang_up()
            return
        if harm in STATUS:
            status, headers, content = STATUS[harm], [], b""
        else:
            status, headers, content = self._handed_on(body)
        if harm == "twice":
            status, headers, content = self._handed_on(body)
        if harm == "never":
            self.rfile.read(1)  # until the client closes the connection
        if harm in ("lost", "never"):
            self._hang_up()
            return
        if harm == "late":
            time.sleep(LATE_SECONDS)
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP:
                self.send_header(name, value)
        length = {n.lower(): v for n, v in headers}.get("content-length", str(len(content)))
        self.send_header("Content-Length", length if self.command == "HEAD" else str(len(content)))
        self.end_headers()
        if harm == "cut":
            self.wfile.write(content[: len(content) // 2])
            self._hang_up()
            return
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    def _handed_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.target.hostname, self.target.port)
        try:
            headers = {n: v for n, v in self.headers.items() if n.lower() not in HOP}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_) -> None:
        """Say nothing."""


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Variables of this process's environment, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    bucket_of.cache_clear()
    try:
        yield
    finally:
        bucket_of.cache_clear()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
