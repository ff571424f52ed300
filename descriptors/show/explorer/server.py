"""Serve the explorer on this machine, or write it as a folder of files for any web server.

The server answers questions and reads no files. It listens on the loopback address, and refuses requests for another
host and bodies larger than ``MOST_BYTES``. The folder contains the page, Pyodide, and the packages in one archive. The
engine then runs in a worker in the reader's browser, which loads nothing from other sites.

Invariants: the answer to any request is a status and a record, and the server continues. The page of a folder starts
the worker in the same folder, which calls the module that answers.

>>> import json
>>> from threading import Thread
>>> from urllib.request import Request, urlopen
>>> server = Server({"cell": "11,21"})
>>> Thread(target=server.serve_forever, daemon=True).start()
>>> question = b'{"want": ["inspector"], "cell": "11,21"}'
>>> request = Request(server.url + "answer", question, {"Content-Type": "application/json"})
>>> with urlopen(request) as reply:
...     json.load(reply)["inspector"]["after"]
1434
>>> server.shutdown(); server.server_close()
>>> "worker.js?answers=descriptors.show.explorer.page" in page({}, "worker")
True
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.browser.folder import archive, png, runtime, source, write
from descriptors.show.explorer.page import ANSWERS, about_page, page
from descriptors.show.explorer.question import question, view
from descriptors.show.stages.bank_stage import column
from descriptors.show.stages.tile_stage import lines

HOST = "127.0.0.1"
#: The largest question, in bytes.
MOST_BYTES = 1 << 20


class Server(ThreadingHTTPServer):
    """A server of one page.

    Args:
        question_record: the first state of the page.
        port: the port to listen on; 0 for any free port.

    Raises:
        DescriptorError: if the question has no answer, or the port is not free.
    """

    daemon_threads = True
    #: Connections that may wait, for many readers who open the page at once.
    request_queue_size = 128

    def __init__(self, question_record: object, port: int = 0) -> None:
        self.page = page(question_record, "server").encode()
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            raise DescriptorError(f"explore: port {port} is not free: {error}") from error

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore closed connections, and print one line for any other error."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"descriptors: explore: {type(error).__name__}: {error}", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    """The handler of one request, which is for the page or asks a question."""

    server: Server
    timeout = 20
    protocol_version = "HTTP/1.1"
    server_version = "descriptors"
    sys_version = ""

    def do_GET(self) -> None:
        """Send the page; any other path is refused."""
        if not self._is_ours():
            return
        if self.path.partition("?")[0] != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "the path is not a page; the only page is /")
            return
        self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Send the answer to a question."""
        if not self._is_ours():
            return
        answered = ANSWERS.get(self.path.removeprefix("/"))
        if answered is None:
            paths = " or ".join(f"/{name}" for name in ANSWERS)
            self._refuse(HTTPStatus.NOT_FOUND, f"the path does not answer questions; use {paths}")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the question is not application/json")
        else:
            self._answer(answered)

    def _answer(self, answered: Callable[[object], dict[str, Any]]) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "the request has no valid Content-Length")
            return
        if len(length) > 9 or int(length) > MOST_BYTES:
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the question has {length[:20]} bytes, but the maximum is {MOST_BYTES}",
            )
            return
        try:
            question = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, f"the question is not JSON: {error}")
            return
        self._send(HTTPStatus.OK, json.dumps(answered(question)).encode(), "application/json")

    def _is_ours(self) -> bool:
        """Check that the request names this server and does not come from a page of another site."""
        own = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in own or (origin is not None and origin.removeprefix("http://") not in own):
            self._refuse(HTTPStatus.FORBIDDEN, f"the request does not name this server, {self.server.url}")
            return False
        return True

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True  # the rest of the request is not read
        refusal = {"ok": False, "error": {"type": status.phrase, "message": f"explore: {why}"}}
        self._send(status, json.dumps(refusal).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            *((("Connection", "close"),) if self.close_connection else ()),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing, because questions are private."""


def unfurled_picture(question_record: object = None) -> bytes:
    """Draw the preview of a link as PNG: rows of the tile, and the lines of memory that contain their 16 bytes."""
    first_view = view(question(question_record or {}))
    picture = lines(first_view)
    logical, memory = picture.grids
    fills = dict(re.findall(r"\.f-c(\d)\{fill:(#\w{6})\}", picture.record()["svg"]))
    (u, v), (top, left) = first_view.anatomy.unit, logical.origin
    rows = [[(top + i * u, left + j * v) for j in range(8)] for i in range(8)]
    sides = [
        [[column(first_view, element) if element else None for element in line] for line in side]
        for side in (rows, memory.cells or ())
    ]
    pixels = [["#ffffff"] * 1200 for _ in range(630)]
    for left_edge, side in zip((60, 620), sides, strict=True):
        for i, line in enumerate(side[:8]):
            for j, number in enumerate(line[:8]):
                colour = "#e9ecef" if number is None else fills.get(str(number % 8), "#e9ecef")
                for y in range(55 + 65 * i, 117 + 65 * i):
                    pixels[y][left_edge + 65 * j : left_edge + 65 * j + 62] = [colour] * 62
    return png(pixels)


def write_site(
    folder: Path, pyodide: Path, question_record: object = None, url: str = "", home: str = ""
) -> list[tuple[str, int]]:
    """Write the files of the site.

    Args:
        folder: the folder, which is created if it does not exist.
        pyodide: the folder of the npm package ``pyodide``.
        question_record: the first state of the page.
        url: the address of the site, for link previews; "" if it is not known.
        home: the address of the documentation, relative to the page; "" if there is none.

    Returns:
        Path and size in bytes of each file.

    Raises:
        DescriptorError: if Pyodide is missing, the question has no answer, or a file cannot be written.
    """
    engine = {f"pyodide/{name}": data for name, data in runtime(pyodide).items()}
    files = {"index.html": page(question_record, "worker", url, home).encode(), "packages.zip": archive()}
    files["about.html"] = about_page(url).encode()
    files["picture.png"] = unfurled_picture(question_record)
    files["worker.js"] = source("descriptors.show.browser", "worker.js").encode()
    return write(folder, files | engine, "--site")
