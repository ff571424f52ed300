"""The seed of every random choice in the tests: one a release, so that two runs of the suite say the same.

``LAYOUTALG_SEED=N`` takes another. A seed on which a test once failed stays: it is a row of ``failed_seeds.json``, and
that test runs on it too, as long as no seed is asked for.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256

from places import VECTORS

import layoutalg

FAILED = VECTORS / "failed_seeds.json"


class BadSeedError(Exception):
    """``LAYOUTALG_SEED`` is no seed."""


def release_seed(version: str = layoutalg.__version__) -> int:
    """The seed of a release: 32 bits of its name's digest."""
    return int.from_bytes(sha256(f"layoutalg {version}".encode()).digest()[:4], "big")


def seed_of_this_run() -> int:
    """The seed that was asked for, else that of the release.

    Raises:
        BadSeedError: if ``LAYOUTALG_SEED`` is not an integer of 0 or more.
    """
    asked = os.environ.get("LAYOUTALG_SEED")
    if not asked:
        return release_seed()
    if not (asked.isascii() and asked.isdigit()):
        raise BadSeedError(f"LAYOUTALG_SEED must be an integer of 0 or more, found {asked[:40]!r}")
    return int(asked)


def seeds_of(test: str) -> list[int]:
    """The seeds that a test runs on: this run's, and those on which it once failed."""
    seed = seed_of_this_run()
    if os.environ.get("LAYOUTALG_SEED"):
        return [seed]
    return list(dict.fromkeys([seed, *(row["seed"] for row in failed_seeds() if row["test"] == test)]))


def failed_seeds() -> list[dict[str, object]]:
    """The rows of the file: test, seed, and why it failed."""
    rows: list[dict[str, object]] = json.loads(FAILED.read_text(encoding="utf-8"))["seeds"]
    return rows
