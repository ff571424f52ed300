"""CUTLASS's own maps of tensor memory, as `scripts/make_tmem_vectors.py` recorded them, and how a map of ours is held
against one: the same numbers in the same order, by their SHA-256."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from places import VECTORS

RECORD = json.loads((VECTORS / "tmem.json").read_text(encoding="utf-8"))


def rows(kind: str) -> list[dict[str, Any]]:
    """The rows of a kind: D, SF, E, SFG, SFS, LDST, CP."""
    return [row for row in RECORD["rows"] if row["kind"] == kind]


def digest(entries: Any) -> str:
    """The SHA-256 of a map, entries down and numbers across."""
    return hashlib.sha256(np.ascontiguousarray(entries, dtype="<u4").tobytes()).hexdigest()


def in_order(cells: Any) -> Any:
    """The places of a fragment, one a row, its first mode fastest, as CuTe counts them."""
    found = np.asarray(cells)
    return found.reshape(-1, found.shape[-1], order="F") if found.ndim == 2 else _colexicographic(found)


def _colexicographic(found: Any) -> Any:
    axes = tuple(range(found.ndim - 2, -1, -1))
    return found.transpose(*axes, found.ndim - 1).reshape(-1, found.shape[-1])
