"""Layouts of tensor memory from NVIDIA's own code: accumulators, loads and stores, scale factors of the CuTe DSL.

One is known to be wrong and no oracle: the DSL 4.8.1's ``make_smem_layout_sfa`` for cta_group 2 with M 128, whose two
M tiles overlap (stride 8, cosize 520).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from layoutalg.oracle.service import Reply, ask

__all__ = ["accumulators", "moves", "scale_layouts"]


def accumulators(asked: Iterable[tuple[int, int, int, str]]) -> list[Reply]:
    """For each (M, N, cta_group, type of D) the layout of the fragment, and its columns.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask([{"ask": "accumulator", "m": m, "n": n, "cta_group": pair, "d": d} for m, n, pair, d in asked])


def moves(asked: Iterable[tuple[str, str, int, bool]]) -> list[Reply]:
    """For each (direction, shape, number, packed) the layout (thread, register) -> number of the 32 bits in the tile.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask(
        [{"ask": "move", "direction": d, "shape": shape, "num": n, "packed": packed} for d, shape, n, packed in asked]
    )


def scale_layouts(asked: Iterable[tuple[int, int, int, int, int]]) -> list[Reply]:
    """For each (M, N, K, vector, cta_group) the layouts of SFA and SFB, in shared and in tensor memory.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask(
        [{"ask": "scales", "m": m, "n": n, "k": k, "vector": v, "cta_group": pair} for m, n, k, v, pair in asked]
    )


def _ask(questions: Sequence[dict[str, Any]]) -> list[Reply]:
    return ask("descriptors.oracle.dsl.tmem", questions, each_s=120, batch=256, target="sm_100a")
