"""The server of the playground: two routes, this machine alone, and no way to any file.

    GET /       the page, with a token in it
    POST /run   JSON in; lines of JSON out: how far the work is, and at the end the result

It listens on 127.0.0.1 and answers requests that name this address (so that no other page can reach
it under a name of its own), from this origin, with the token.  Nothing in a request becomes a path:
there are no files to ask for.  One computation runs at a time; when the page asks for something
newer it hangs up, the next line cannot be sent, and the old computation ends there.
"""

import json
import os
import secrets
import socketserver
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from polhode.errors import InputError
from polhode.show.play import work
from polhode.show.play.catalogue import catalogue
from polhode.show.html import render

ADDRESS = "127.0.0.1"
LARGEST_BODY = 8192  # bytes: a request has seven short fields
IDLE_SECONDS = 30.0  # a connection that says nothing is closed
WAITING_SECONDS = 0.25  # between signs of life while another computation has the desk

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
}


class Server(ThreadingHTTPServer):
    """The playground on a port of 127.0.0.1; `serve_forever` until `shutdown`, or `with` it.

    Parameters
    ----------
    port : int
        From 1024 to 65535; 0 takes a free one.
    """

    allow_reuse_address = os.name == "posix"  # elsewhere it would let two servers share a port

    def __init__(self, port=0):
        if not (port == 0 or 1024 <= port <= 65535):
            raise InputError(
                f"the port must be from 1024 to 65535, or 0 for a free one, got {port}; write --port 0"
            )
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used: {error.strerror or error}; choose another with --port, or leave it "
                "out for a free one"
            ) from error
        self.token = secrets.token_urlsafe(24)
        self.desk = threading.Lock()  # who holds it computes
        self.page = render(
            "show/templates/play.html",
            title="polhode playground",
            catalogue=catalogue(),
            token=self.token,
        ).encode()

    def server_bind(self):
        """Bind without asking any name server who we are."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    @property
    def hosts(self):
        """What a browser on this machine calls the server."""
        return tuple(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))

    @property
    def url(self):
        """Where the page is."""
        return f"http://{self.hosts[0]}/"

    def handle_error(self, request, client_address):
        """A reader who hangs up is no error; the rest is told on stderr by the base class."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One request.  What is refused is answered with a status and one plain sentence."""

    server_version, sys_version = "polhode", ""
    timeout = IDLE_SECONDS
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d: %(message)s\n"

    def do_GET(self):
        if self._stranger():
            return
        if self.path != "/":
            self.send_error(HTTPStatus.NOT_FOUND, "there is only the page at /")
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        self.wfile.write(self.server.page)

    def do_POST(self):
        data = self._data()
        if self._stranger() or self._forged():
            return
        if self.path != "/run":
            self.send_error(HTTPStatus.NOT_FOUND, "only /run accepts POST requests")
        elif self.headers.get_content_type() != "application/json":
            self.send_error(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request must be application/json"
            )
        elif data is None:
            self.send_error(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the request must give its Content-Length, of at most {LARGEST_BODY} bytes",
            )
        else:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
            self._work(data)

    # --- who asks ---------------------------------------------------------------------------------

    def _stranger(self):
        """Refuse a request for another host: a page elsewhere may have given its own name this
        address."""
        named = self.headers.get_all("Host") or []
        if len(named) == 1 and named[0].lower() in self.server.hosts:
            return False
        self.send_error(
            HTTPStatus.FORBIDDEN, f"this server answers to {' and '.join(self.server.hosts)} alone"
        )
        return True

    def _forged(self):
        """Refuse a request from another page, or one that does not know the token."""
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in [
            f"http://{host}" for host in self.server.hosts
        ]:
            self.send_error(HTTPStatus.FORBIDDEN, "the request comes from another page")
            return True
        if not secrets.compare_digest(
            self.headers.get("X-Polhode-Token", "").encode(), self.server.token.encode()
        ):
            self.send_error(
                HTTPStatus.FORBIDDEN, "the token is not that of this server; reload the page"
            )
            return True
        return False

    def _data(self):
        """The body of the request, or None if it is too long or does not say how long it is.

        A long one is read and dropped as far as is decent: who is still writing would not hear the
        answer.
        """
        length = self.headers.get("Content-Length", "")
        if (
            not (length.isascii() and length.isdigit() and len(length) < 10)
            or "Transfer-Encoding" in self.headers
        ):
            return None
        if int(length) <= LARGEST_BODY:
            return self.rfile.read(int(length))
        self.rfile.read(min(int(length), 100 * LARGEST_BODY))
        return None

    # --- the work ---------------------------------------------------------------------------------

    def _work(self, data):
        try:
            request = work.check_request(self._parsed(data))
            while not self.server.desk.acquire(timeout=WAITING_SECONDS):
                self._tell("waiting", "", 0.0)
            try:
                self._line(work.computed(request, self._tell))
            finally:
                self.server.desk.release()
        except work.Refused as refused:
            self._line({"refused": refused.fields})

    def _parsed(self, data):
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise work.Refused({"": "the request is not JSON"}) from None

    def _tell(self, state, method, share):
        self._line({"state": state, "method": method, "share": share})

    def _line(self, data):
        self.wfile.write(json.dumps(data, allow_nan=False).encode() + b"\n")

    # --- manners ----------------------------------------------------------------------------------

    def end_headers(self):
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format, *args):
        """Requests are not worth a line each."""
