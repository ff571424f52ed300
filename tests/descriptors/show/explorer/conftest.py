"""The explorer on this machine, for each module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from descriptors.show.explorer.server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server({})
    Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()
