"""Whether the CuTe DSL is there: an answer without importing it, and one error where it is not."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import Any, NoReturn

import pytest

from layoutalg.oracle import service as installed
from layoutalg.oracle.service import OracleUnavailableError, available, require, version


def test_without_the_distribution_there_is_no_version_and_asking_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installed.metadata, "version", missing)
    assert version() is None and not available()
    with pytest.raises(OracleUnavailableError, match="the CuTe DSL is not installed; pip install"):
        require()


@pytest.mark.parametrize("module", [None, object()])
def test_the_dsl_is_there_if_both_its_module_and_its_version_are(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: module)
    monkeypatch.setattr(installed.metadata, "version", lambda name: "4.8.1")
    assert (available(), version()) == (module is not None, "4.8.1")
    if module is not None:
        require()
