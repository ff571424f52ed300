"""Hypothesis profiles and the seed of this run.

Every run draws new examples. The seed is printed at the top; ``pytest --hypothesis-seed=N`` repeats a run. The profile
comes from the environment: ``LAYOUTALG_PROFILE=thorough`` looks twenty times as hard as the default.
"""

from __future__ import annotations

import os
import random
from typing import Any

import hypothesis
import pytest

_COMMON: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
}
hypothesis.settings.register_profile("default", max_examples=300, **_COMMON)
hypothesis.settings.register_profile("quick", max_examples=30, **_COMMON)
hypothesis.settings.register_profile("thorough", max_examples=6000, **_COMMON)
PROFILE = os.environ.get("LAYOUTALG_PROFILE", "default")
hypothesis.settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose a seed where none was given, before the Hypothesis plugin reads the option."""
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to repeat this run."""
    return f"hypothesis profile {PROFILE!r}, repeat with --hypothesis-seed={config.getoption('hypothesis_seed')}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Say what passing tests have to tell (``record_property("note", ...)``), and below a failure the seed again."""
    for report in terminalreporter.stats.get("passed", []):
        for name, text in report.user_properties:
            if name == "note":
                terminalreporter.write_line(str(text))
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.write_line(f"repeat this run with --hypothesis-seed={config.getoption('hypothesis_seed')}")
