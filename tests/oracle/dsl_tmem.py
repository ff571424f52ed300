"""Layouts of tensor memory from NVIDIA's own code: accumulators, loads and stores, scale factors of the CuTe DSL.

One is known to be wrong and no oracle: the DSL 4.8.1's ``make_smem_layout_sfa`` for cta_group 2 with M 128, whose two
M tiles overlap (stride 8, cosize 520).

The worker's half: layouts of tensor memory that the DSL prints while it traces.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from layoutalg.oracle.service import Reply, ask


def accumulators(requests: Iterable[tuple[int, int, int, str]]) -> list[Reply]:
    """For each (M, N, cta_group, type of D) the layout of the fragment, and its columns.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask([{"ask": "accumulator", "m": m, "n": n, "cta_group": pair, "d": d} for m, n, pair, d in requests])


def moves(requests: Iterable[tuple[str, str, int, bool]]) -> list[Reply]:
    """For each (direction, shape, number, packed) the layout (thread, register) -> number of the 32 bits in the tile.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask(
        [
            {"ask": "move", "direction": d, "shape": shape, "num": n, "packed": packed}
            for d, shape, n, packed in requests
        ]
    )


def scale_layouts(requests: Iterable[tuple[int, int, int, int, int]]) -> list[Reply]:
    """For each (M, N, K, vector, cta_group) the layouts of SFA and SFB, in shared and in tensor memory.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return _ask(
        [{"ask": "scales", "m": m, "n": n, "k": k, "vector": v, "cta_group": pair} for m, n, k, v, pair in requests]
    )


def _ask(questions: Sequence[dict[str, Any]]) -> list[Reply]:
    return ask("dsl_tmem", questions, each_s=120, batch=256, target="sm_100a")


_TYPES = {"f32": "Float32", "f16": "Float16", "s32": "Int32"}


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers questions, all of a batch in one trace."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    return _work


def _work(questions: list[Any], report: Callable[[str, object], None]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # the DSL leaves its files in the working directory
        for status, text in _traced(questions):
            report(status, text)
        os.chdir("/")


def _traced(questions: list[Any]) -> list[tuple[str, Any]]:
    """All answers out of one trace, where alone the DSL has layouts."""
    from cutlass import cute

    answers: list[tuple[str, Any]] = []

    def host() -> None:
        answers.extend(map(_answer, questions))

    cute.compile(cute.jit(host), options="--gpu-arch sm_100a")
    return answers


def _answer(question: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "ok", _ANSWERS[question["ask"]](question)
    except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
        text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
        return "rejected", f"{type(error).__name__}: {text}"


def _accumulator(question: dict[str, Any]) -> list[Any]:
    """The layout of an accumulator's fragment, and its columns."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import OperandMajorMode, tcgen05

    m, n, major = question["m"], question["n"], OperandMajorMode.K
    place = tcgen05.CtaGroup(question["cta_group"]), tcgen05.OperandSource.SMEM, major, major
    if question["d"] == "s32":
        operation: Any = tcgen05.MmaI8Op(cutlass.Int8, (m, n, 32), *place)
    else:
        operation = tcgen05.MmaF16BF16Op(cutlass.Float16, getattr(cutlass, _TYPES[question["d"]]), (m, n, 16), *place)
    mma = cute.make_tiled_mma(operation)
    d_fragment = mma.make_fragment_C(mma.partition_shape_C((m, n)))
    return [str(d_fragment.layout), int(tcgen05.find_tmem_tensor_col_offset(d_fragment))]


def _scales(question: dict[str, Any]) -> dict[str, str]:
    """The layouts of both operands' scale factors, in shared and in tensor memory."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import tcgen05
    from cutlass.utils import blockscaled_layout as scaled

    vector, tile = question["vector"], (question["m"], question["n"], question["k"])
    place = tcgen05.CtaGroup(question["cta_group"]), tcgen05.OperandSource.SMEM
    operation: Any = (
        tcgen05.MmaMXF4NVF4Op(cutlass.Float8E4M3FN, (*tile[:2], 64), *place)
        if vector == 16
        else tcgen05.MmaMXF4Op((*tile[:2], 64), *place)
    )
    mma = cute.make_tiled_mma(operation)
    layouts = {}
    for name in ("sfa", "sfb"):
        memory = getattr(scaled, f"make_smem_layout_{name}")(mma, tile, vector, 1)
        one = cute.slice_(memory, (None, None, None, 0))
        layouts[f"{name} memory"] = str(one)
        layouts[f"{name} cells"] = str(getattr(scaled, f"make_tmem_layout_{name}")(mma, tile, vector, one))
    return layouts


def _move(question: dict[str, Any]) -> str:
    """The layout (thread, register) of a load or store, as the atom prints it."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import tcgen05

    store, packed = question["direction"] == "st", question["packed"]
    operation = getattr(tcgen05, f"{'St' if store else 'Ld'}{question['shape']}Op")
    repeat = tcgen05.Repetition[f"x{question['num']}"]
    if store:
        packing: Any = tcgen05.Unpack.UNPACK_32b_IN_16b if packed else tcgen05.Unpack.NONE
    else:
        packing = tcgen05.Pack.PACK_16b_IN_32b if packed else tcgen05.Pack.NONE
    atom = cute.make_copy_atom(operation(repeat, packing), cutlass.Float32)
    return str(atom.layout_src_tv if store else atom.layout_dst_tv)


_ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "accumulator": _accumulator,
    "scales": _scales,
    "move": _move,
}
