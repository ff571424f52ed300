"""The part of a mutation run that lives inside pytest, told what to do by its environment.

``MUTATION_RECORD`` names a file: every test runs, coverage notes lines under the test's name, in child processes too,
and the file gets how long each passing test took. ``MUTATION_TESTS`` names a file with such times: its tests run, the
fastest first, each within its time limit, and ``MUTATION_AT`` gets the name of the test that is running.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECORD = os.environ.get("MUTATION_RECORD")
TESTS = os.environ.get("MUTATION_TESTS")
_AT = Path(os.environ.get("MUTATION_AT", os.devnull))
_MEMORY = 4 << 30  # bytes of data: a mutant that fills the memory must not take the machine with it
_BETWEEN = 120.0  # seconds to collect the tests: a mutant may hang while a module is imported, too
_seconds_of: dict[str, float] = json.loads(Path(TESTS).read_text(encoding="utf-8")) if TESTS else {}
_seconds: dict[str, float] = {}
_unfit: set[str] = set()


def limit(seconds: float) -> float:
    """The longest that a test may run: a mutant that hangs is noticed."""
    return 10 + 6 * seconds


def _only_hands_out(config: pytest.Config) -> bool:
    """Whether this process hands the tests out to others: it runs none, and waits as long as they take."""
    return bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Random tests stop at the first counterexample: its smallest form interests nobody here."""
    if TESTS:
        from hypothesis import Phase, settings

        if not _only_hands_out(config):
            faulthandler.dump_traceback_later(_BETWEEN, exit=True)
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        settings.register_profile(
            "mutation", parent=settings.get_profile("default"), phases=[Phase.explicit, Phase.generate], database=None
        )
        settings.load_profile("mutation")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if TESTS:
        items[:] = sorted((i for i in items if i.nodeid in _seconds_of), key=lambda i: _seconds_of[i.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if TESTS:
        _AT.write_text(item.nodeid, encoding="utf-8")
        faulthandler.dump_traceback_later(limit(_seconds_of[item.nodeid]), exit=True)
    with _named(item.nodeid) if RECORD else contextlib.nullcontext():
        outcome = yield
    if TESTS:
        faulthandler.dump_traceback_later(_BETWEEN, exit=True)
    return outcome


@contextlib.contextmanager
def _named(test: str) -> Iterator[None]:
    """Lines that run meanwhile run for this test, here and in the processes that it starts."""
    import coverage

    measured = coverage.Coverage.current()
    os.environ["MUTATION_TEST"] = test
    if measured:
        measured.switch_context(test)
    yield
    if measured:
        measured.switch_context("")
    del os.environ["MUTATION_TEST"]


def pytest_runtest_logreport(report: Any) -> None:
    if RECORD:
        _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
        if report.outcome != "passed":
            _unfit.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RECORD and not hasattr(session.config, "workerinput"):
        saved = {"seconds": {n: s for n, s in _seconds.items() if n not in _unfit}, "unfit": sorted(_unfit)}
        Path(RECORD).write_text(json.dumps(saved), encoding="utf-8")
