"""The worker's half of `descriptors.oracle.instructions`: MMA operations of the DSL, and the PTX made from them.

Every word is compiled in a kernel of its own, with constant addresses, so that the compiler folds the instruction
descriptor to one constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["answering", "operation", "prepare"]

_TYPES = {
    "f16": "Float16",
    "bf16": "BFloat16",
    "tf32": "TFloat32",
    "f32": "Float32",
    "s32": "Int32",
    "e4m3": "Float8E4M3FN",
    "e5m2": "Float8E5M2",
    "e2m3": "Float6E2M3FN",
    "e3m2": "Float6E3M2FN",
    "e2m1": "Float4E2M1FN",
    "s8": "Int8",
    "u8": "Uint8",
    "ue8m0": "Float8E8M0FNU",
    "ue4m3": "Float8E4M3FN",
}
_MOVE = re.compile(r"mov\.b32\s+(%r\d+),\s*(-?\w+);")
_MMA = re.compile(r"(tcgen05\.mma\S+)\s+\[%r\d+\], %rd\d+, %rd\d+, (?:\[%r\d+\], )?(%r\d+)")


def answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """A worker whose reply to a question is what a function answers; any exception is the DSL's way to refuse."""

    def work(questions: list[Any], report: Callable[[str, object], None]) -> None:
        for question in questions:
            try:
                report("ok", answer(question))
            except Exception as error:  # noqa: BLE001
                text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
                report("rejected", f"{type(error).__name__}: {text}")

    return work


def operation(question: dict[str, Any]) -> Any:
    """The DSL's operation; it raises where the DSL refuses."""
    import cutlass
    from cutlass.cute.nvgpu import OperandMajorMode, tcgen05, warpgroup

    a, b, d, scale = (getattr(cutlass, _TYPES[question[name]]) for name in ("a", "b", "d", "scale"))
    shape = (question["m"], question["n"], question["k"])
    majors = [OperandMajorMode[question[name]] for name in ("a_major", "b_major")]
    if question["target"].startswith("sm_90"):
        place: list[Any] = [warpgroup.OperandSource.SMEM, *majors]
        match question["kind"]:
            case "f16":
                return warpgroup.MmaF16BF16Op(a, d, shape, *place)
            case "f8":
                return warpgroup.MmaF8Op(a, b, d, shape, *place)
            case _:
                return warpgroup.MmaI8Op(a, b, d, shape, *place)
    place = [tcgen05.CtaGroup(question["cta_group"]), tcgen05.OperandSource.SMEM]
    if question["sparse"]:
        return _sparse(question["kind"], a, d, shape, [*place, *majors])
    match question["kind"]:
        case "f16":
            return tcgen05.MmaF16BF16Op(a, d, shape, *place, *majors)
        case "tf32":
            return tcgen05.MmaTF32Op(shape, *place, *majors)
        case "i8":
            return tcgen05.MmaI8Op(a, shape, *place, *majors)
        case "f8f6f4":
            return tcgen05.MmaF8F6F4Op(a, b, d, shape, *place, *majors)
        case "mxf8f6f4":
            return tcgen05.MmaMXF8F6F4Op(a, b, shape, *place, *majors)
        case "mxf4":
            return (tcgen05.SM103MmaMXF4Op if shape[2] == 96 else tcgen05.MmaMXF4Op)(shape, *place)
        case _:
            return (tcgen05.SM103MmaMXF4NVF4Op if shape[2] == 96 else tcgen05.MmaMXF4NVF4Op)(scale, shape, *place)


def _sparse(kind: str, a: Any, d: Any, shape: tuple[int, int, int], place: list[Any]) -> Any:
    from cutlass.cute.nvgpu import tcgen05
    from cutlass.cute.nvgpu.warp.mma import SparseMetadataFormat

    instruction = {"f16": tcgen05.MmaF16BF16SparseOp, "f8f6f4": tcgen05.MmaFP8SparseOp}[kind]
    return instruction(a, d, shape, *place, SparseMetadataFormat.TID)


def _word(question: dict[str, Any]) -> dict[str, Any]:
    """Compile one instruction and find its descriptor in the PTX."""
    from cutlass import cute

    def kernel() -> None:
        _multiply(question)

    launched: Any = cute.kernel(kernel)

    def host() -> None:
        launched().launch(grid=[1, 1, 1], block=[128, 1, 1])

    ptx = cute.compile(cute.jit(host), options=f"--gpu-arch {question['target']} --keep-ptx").__ptx__
    constants = dict(_MOVE.findall(ptx))
    ((instruction, register),) = _MMA.findall(ptx)
    return {"word": int(constants[register], 0) % 2**32, "instruction": instruction}


def _multiply(question: dict[str, Any]) -> None:
    """Trace one MMA of operands at fixed addresses."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import tcgen05
    from cutlass.utils import blackwell_helpers as helpers

    instruction = operation(question)
    mma = cute.make_tiled_mma(instruction)
    shape = (question["m"], question["n"], question["k"])
    fragments = []
    for name, place, make in (("a", 0, helpers.make_smem_layout_a), ("b", 1 << 16, helpers.make_smem_layout_b)):
        in_containers = question["kind"].endswith("f8f6f4") and question[name] in ("e2m3", "e3m2", "e2m1")
        dtype = getattr(cutlass, "Uint8" if in_containers else _TYPES[question[name]])  # laid out as an 8-bit type is
        layout = make(mma, shape, dtype, 1)
        address = cute.make_ptr(dtype, cutlass.Int32(place), cute.AddressSpace.smem, assumed_align=1024)
        tile = cute.make_tensor(cute.recast_ptr(address, layout.inner, dtype=dtype), layout.outer)
        fragment = mma.make_fragment_A(tile) if name == "a" else mma.make_fragment_B(tile)
        fragments.append(fragment[None, None, 0, 0])
    accumulator = mma.make_fragment_C(mma.partition_shape_C(shape[:2]))
    result = cute.make_tensor(_tensor_memory(instruction.acc_dtype, 0), accumulator.layout)
    if question["kind"].startswith("mx"):
        for field, data_id in zip((tcgen05.Field.SFA, tcgen05.Field.SFB), question["scale_ids"], strict=True):
            mma.set(field, _tensor_memory(instruction.sf_dtype, 256 + (data_id << 30)))
    if question["sparse"]:
        mma.set(tcgen05.Field.METADATA, _tensor_memory(cutlass.Uint8, 256))
    for field, negated in zip((tcgen05.Field.NEGATE_A, tcgen05.Field.NEGATE_B), question["negate"], strict=True):
        if negated:
            mma.set(field, True)
    cute.gemm(mma, result, *fragments, result)


def _tensor_memory(dtype: Any, address: int) -> Any:
    """A pointer into tensor memory; the two highest bits of a scale factor's are its data id."""
    import cutlass
    from cutlass import cute

    signed = address - 2**32 if address >= 2**31 else address
    return cute.make_ptr(dtype, cutlass.Int32(signed), cute.AddressSpace.tmem, assumed_align=16)


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers questions."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    return answering(_word)
