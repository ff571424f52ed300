"""Hypothesis profiles, and the one seed of this run.

A release has its seed, so that every run of it draws the same examples; ``LAYOUTALG_SEED=N`` draws others. What is
drawn depends on the seed and the test alone: not on the examples that failed before, nor on the modules that happen to
be loaded, nor on the worker. ``LAYOUTALG_PROFILE=thorough`` looks sixty times as hard as the default.
"""

from __future__ import annotations

import os
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers
from seeds import BadSeedError, seed_of_this_run

_COMMON: dict[str, Any] = {
    "database": None,
    "derandomize": False,  # Hypothesis's own profile for CI, the parent of these, would draw without the seed
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
}
hypothesis.settings.register_profile("default", max_examples=100, **_COMMON)
hypothesis.settings.register_profile("quick", max_examples=10, **_COMMON)
hypothesis.settings.register_profile("thorough", max_examples=6000, **_COMMON)
PROFILE = os.environ.get("LAYOUTALG_PROFILE", "default")
hypothesis.settings.load_profile(PROFILE)

# Hypothesis draws the constants of the modules that are loaded so far, which differ from worker to worker.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = providers.Constants


#: What limits the processes that it begins, as POSIX can alone.
LIMITING = ("test_arguments.py", "test_attack.py", "test_mutation.py")
collect_ignore = [] if os.name == "posix" else [f"project/{name}" for name in LIMITING]


@pytest.fixture(params=["z3", "cvc5"])
def solver(request: pytest.FixtureRequest) -> str:
    """A solver that is asked: the test is skipped, and says so, where that is not installed."""
    name: str = request.param
    pytest.importorskip(name, reason=f"{name} is not installed: pip install '.[test]'")
    return name


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give Hypothesis the seed of this run, before its plugin reads the option."""
    try:
        seed = seed_of_this_run()
    except BadSeedError as error:
        raise pytest.UsageError(str(error)) from error
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(seed)


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to repeat this run."""
    left_out = f"; left out without POSIX: {', '.join(collect_ignore)}" if collect_ignore else ""
    return f"hypothesis profile {PROFILE!r}, repeat with {_how(config)}{left_out}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Say what passing tests have to tell (``record_property("note", ...)``), and below a failure the seed again."""
    for report in terminalreporter.stats.get("passed", []):
        for name, text in report.user_properties:
            if name == "note":
                terminalreporter.write_line(str(text))
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.write_line(f"repeat this run with {_how(config)}")


def _how(config: pytest.Config) -> str:
    seed, drawn = seed_of_this_run(), config.getoption("hypothesis_seed")
    return f"LAYOUTALG_SEED={seed}" + ("" if drawn == str(seed) else f" --hypothesis-seed={drawn}")
