"""``scripts/test --fresh [MINUTES]``: run the tests that draw at random on new seeds until the time is up.

The suite has one seed a release and says the same every time; this looks where no release has looked yet. On a failure
it says the seed, the tests, and where to write both down so that the case stays. The exit status is 1 then, 0 if all is
well, and 2 for minutes that are none. Run as ``python scripts/lib/fresh.py [MINUTES] [pytest arguments]``.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ended import end

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 10.0
MOST_MINUTES = 7 * 24 * 60

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)")
_DRAWS = re.compile(r"@given\b|\bseeds_of\(")


class BadMinutesError(Exception):
    """The first argument is no number of minutes."""


def split(arguments: Sequence[str]) -> tuple[float, list[str]]:
    """The minutes, and the arguments left for pytest.

    Raises:
        BadMinutesError: if the first argument is neither an option nor a number of minutes above 0.
    """
    if not arguments or (arguments[0].startswith("-") and not re.match(r"-[\d.]", arguments[0])):
        return MINUTES, list(arguments)
    try:
        minutes = float(arguments[0])
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= MOST_MINUTES:
        raise BadMinutesError(f"--fresh: MINUTES must be a number of (0, {MOST_MINUTES}], found {arguments[0][:40]!r}")
    return minutes, list(arguments[1:])


def files_that_draw(folder: Path = ROOT / "tests") -> list[str]:
    """The test files whose examples come from the seed."""
    files = sorted(folder.rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in files if _DRAWS.search(path.read_text(encoding="utf-8"))]


def run_pytest(seed: int, arguments: Sequence[str]) -> tuple[int, str]:
    """One run on a seed: pytest's exit status and what it printed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--dist",
        "worksteal",
        *files_that_draw(),
        *arguments,
    ]
    environment = {**os.environ, "LAYOUTALG_SEED": str(seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def advice(seed: int, output: str) -> str:
    """What failed, and what to add where so that it stays."""
    failed = [match[1] for line in output.splitlines() if (match := _FAILED.match(line))]
    lines = [f"LAYOUTALG_SEED={seed} fails:", *(f"  {name}" for name in failed), "", "So that it stays as a case:"]
    return "\n".join(
        [
            *lines,
            "  a test with seeds_of(...): a row of tests/vectors/failed_seeds.json, "
            f'{{"test": NAME, "seed": {seed}, "why": ...}}',
            "  a test with @given(...): the smallest example, printed above, as @example(...) or a test of its own",
            f"Repeat it with: LAYOUTALG_SEED={seed} scripts/test {' '.join(failed)}",
        ]
    )


def hunt(
    minutes: float,
    arguments: Sequence[str],
    *,
    run: Callable[[int, Sequence[str]], tuple[int, str]] = run_pytest,
    seeds: random.Random | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Run on new seeds until the time is up or a run fails; the exit status."""
    source = seeds or random.SystemRandom()
    end = clock() + 60 * minutes
    tried = 0
    while tried == 0 or clock() < end:
        seed = source.randrange(2**32)
        status, output = run(seed, arguments)
        tried += 1
        if status not in (0, 1):  # a wrong option, or no test at all
            print(output)
            print(f"fresh: pytest must run the tests, found exit status {status}", file=sys.stderr)
            return 2
        if status:
            print(output)
            print(f"fresh: {_count(tried)} tried, and the last one fails")
            print(advice(seed, output))
            return 1
        print(f"fresh: LAYOUTALG_SEED={seed} passes", flush=True)
    print(f"fresh: {_count(tried)} tried, no failure")
    return 0


def _count(seeds: int) -> str:
    return f"{seeds} seed" + ("" if seeds == 1 else "s")


def main(arguments: Sequence[str]) -> int:
    """The command; its exit status."""
    try:
        minutes, rest = split(arguments)
    except BadMinutesError as error:
        print(error, file=sys.stderr)
        return 2
    return hunt(minutes, rest)


if __name__ == "__main__":
    end(main, sys.argv[1:])
