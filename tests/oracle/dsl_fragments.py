"""Register fragments, tiled MMAs and tiled copies of the CuTe DSL: which thread has what, as the DSL prints it.

No GPU is needed. A question names an instruction as ``layoutalg.fragment`` does; the answer is a layout's text.

Law: the DSL's fragments are those of ``layoutalg.fragment``.

>>> from layoutalg.oracle import available
>>> question = {"ask": "mma", "name": "mma.m16n8k16.f16"}
>>> fragments([question])[0].value["C"] if available() else "((4,8),(2,2)):((32,1),(16,8))"
'((4,8),(2,2)):((32,1),(16,8))'

The worker's half: atoms, tiled MMAs and tiled copies, all in one trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from layoutalg.oracle.dsl.algebra import Work, build, traced
from layoutalg.oracle.service import Reply, ask, read


def fragments(questions: Iterable[dict[str, Any]], *, target: str = "sm_90a") -> list[Reply]:
    """The DSL's answer to every question, in order.

    Args:
        questions: plain data with ``ask``, one of

            - ``mma``: ``name`` (``mma.m16n8k16.f16``, ``wgmma.m64n8k16.f16``), ``a_source`` (smem or rmem): the layouts
              of A, B and C;
            - ``copy``: ``name`` (``ldmatrix.x4``, ``tcgen05.ld.32x32b.x2``): source and destination, in elements of
              16 bits for matrices, in cells for tensor memory;
            - ``tiled_mma``: ``name``, ``atoms`` (text of a layout), ``permutation`` (three numbers, texts of layouts or
              None), ``layout`` (text), ``threads`` (numbers): what each operand's thrfrg and partitions are;
            - ``tv``: ``threads`` and ``values`` (texts): what make_layout_tv gives;
            - ``tiled_copy``: ``name`` (or a number of elements), ``threads`` and ``values``, or ``of`` (A, B, C),
              ``mma`` and the parts of a tiled MMA; ``layout`` and ``numbers``: what each thread's partitions are.
        target: what the DSL believes to compile for.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> question = {"ask": "tv", "threads": "(2,3):(3,1)", "values": "(2,2):(2,1)"}
    >>> fragments([question])[0].value["layout"] if available() else "((3,2),(2,2)):((8,2),(4,1))"
    '((3,2),(2,2)):((8,2),(4,1))'
    """
    return ask("dsl_fragments", list(questions), each_s=60.0, batch=200, target=target)


_TYPES = {
    "f16": "Float16",
    "bf16": "BFloat16",
    "e4m3": "Float8E4M3FN",
    "e5m2": "Float8E5M2",
    "e2m1": "Float4E2M1FN",
    "s8": "Int8",
    "u8": "Uint8",
}


def prepare() -> Work:
    """Import the DSL and return the function that answers a batch of questions."""
    from cutlass import cute

    return traced(cute, lambda question: _ANSWERS[question["ask"]](cute, question))


def _mma_operation(question: dict[str, Any]) -> Any:
    """The DSL's operation of an instruction."""
    import cutlass
    from cutlass.cute.nvgpu import OperandMajorMode, tcgen05, warp, warpgroup

    head, shape, dtype = question["name"].split(".")
    m, n, k = (int(number) for number in re.findall(r"\d+", shape))
    one = getattr(cutlass, _TYPES.get(dtype, "Float16"))
    if head == "wgmma":
        source = warpgroup.OperandSource.RMEM if question.get("a_source") == "rmem" else warpgroup.OperandSource.SMEM
        place = [source, OperandMajorMode.K, OperandMajorMode.K]
        if dtype in ("s8", "u8"):
            return warpgroup.MmaI8Op(one, one, cutlass.Int32, (m, n, k), *place)
        if dtype in ("e4m3", "e5m2"):
            return warpgroup.MmaF8Op(one, one, cutlass.Float32, (m, n, k), *place)
        return warpgroup.MmaF16BF16Op(one, cutlass.Float32, (m, n, k), *place)
    if head == "tcgen05":
        pair = tcgen05.CtaGroup(question["cta_group"])
        majors = (tcgen05.OperandSource.SMEM, OperandMajorMode.K, OperandMajorMode.K)
        if dtype == "tf32":
            return tcgen05.MmaTF32Op((m, n, k), pair, *majors)
        return tcgen05.MmaF16BF16Op(one, cutlass.Float32, (m, n, k), pair, *majors)
    if dtype == "tf32":
        return warp.MmaTF32Op((m, n, k))
    if dtype == "e2m1":
        return warp.MmaMXF4NVF4Op(one, cutlass.Float32, cutlass.Float8E4M3FN)
    operation = warp.MmaFP8Op if dtype in ("e4m3", "e5m2") else warp.MmaF16BF16Op
    return operation(one, cutlass.Float32, (m, n, k))


def _mma(cute: Any, question: dict[str, Any]) -> dict[str, str]:
    atom = cute.make_mma_atom(_mma_operation(question))
    return {"A": str(atom.tv_layout_A), "B": str(atom.tv_layout_B), "C": str(atom.tv_layout_C)}


def _copy_atom(cute: Any, name: Any) -> Any:
    """The DSL's atom: of 16-bit elements, or of tensor memory in bits."""
    import cutlass
    from cutlass.cute.nvgpu import tcgen05, warp

    if isinstance(name, int):
        return cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=16 * name)
    head, *words = name.split(".")
    if head != "tcgen05":
        operation = warp.LdMatrix8x8x16bOp if head == "ldmatrix" else warp.StMatrix8x8x16bOp
        return cute.make_copy_atom(operation("trans" in words, int(words[0][1:])), cutlass.Float16)
    kind = getattr(tcgen05, f"{words[0].capitalize()}{words[1]}Op")
    packs = {"pack16b": "PACK_16b_IN_32b", "unpack16b": "UNPACK_32b_IN_16b"}
    more = []
    if len(words) > 3:
        more = [getattr(tcgen05.Pack if words[0] == "ld" else tcgen05.Unpack, packs[words[3]])]
    return cute.make_copy_atom(kind(tcgen05.Repetition[words[2]], *more), cutlass.Float32)


def _copy(cute: Any, question: dict[str, Any]) -> dict[str, str]:
    atom = _copy_atom(cute, question["name"])
    return {"source": str(atom.layout_src_tv), "destination": str(atom.layout_dst_tv)}


def _layout(cute: Any, text: str) -> Any:
    return build(cute, read(text))


def _tiled(cute: Any, question: dict[str, Any]) -> Any:
    parts = question["permutation"]
    tiler = None if parts is None else tuple(_layout(cute, part) if isinstance(part, str) else part for part in parts)
    return cute.make_tiled_mma(_mma_operation(question), _layout(cute, question["atoms"]), permutation_mnk=tiler)


def _tiled_mma(cute: Any, question: dict[str, Any]) -> dict[str, Any]:
    tiled, layout = _tiled(cute, question), _layout(cute, question["layout"])
    tensor = cute.make_tensor(0, layout)
    slices = [(number, tiled.get_slice(number)) for number in question["threads"]]
    layouts: dict[str, Any] = {"vmnk": str(tiled.thr_layout_vmnk)}
    for operand in "ABC":
        layouts[f"thrfrg_{operand}"] = str(getattr(tiled, f"_thrfrg_{operand}")(layout))
        layouts[f"tv_{operand}"] = str(getattr(tiled, f"tv_layout_{operand}_tiled"))
        parts = [getattr(mine, f"partition_{operand}")(tensor) for _, mine in slices]
        layouts[f"partition_{operand}"] = [[str(part.layout), str(part.iterator)] for part in parts]
    return layouts


def _tv(cute: Any, question: dict[str, Any]) -> dict[str, str]:
    tiler, layout = cute.make_layout_tv(_layout(cute, question["threads"]), _layout(cute, question["values"]))
    return {"tiler": str(tiler), "layout": str(layout)}


def _tiled_copy(cute: Any, question: dict[str, Any]) -> dict[str, Any]:
    atom, tensor = _copy_atom(cute, question["name"]), cute.make_tensor(0, _layout(cute, question["layout"]))
    if "of" in question:
        make = getattr(cute, f"make_tiled_copy_{question['of']}")
        tiled = make(atom, _tiled(cute, {**question, "name": question["mma"]}))
    else:
        threads, values = (_layout(cute, question[name]) for name in ("threads", "values"))
        tiled = cute.make_tiled_copy_tv(atom, threads, values)
    layouts = {}
    for side in "SD":
        parts = [getattr(tiled.get_slice(number), f"partition_{side}")(tensor) for number in question["numbers"]]
        layouts[side] = [[str(part.layout), str(part.iterator)] for part in parts]
    return layouts


_ANSWERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "mma": _mma,
    "copy": _copy,
    "tiled_mma": _tiled_mma,
    "tv": _tv,
    "tiled_copy": _tiled_copy,
}
