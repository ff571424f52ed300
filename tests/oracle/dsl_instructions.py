"""Instruction words and shapes from NVIDIA's own code: what the CuTe DSL accepts and what its compiler writes.

Three questions: where the fields of the DSL's typed words lie, whether an MMA operation of the DSL takes given types
and extents, and which instruction descriptor the compiler puts into the PTX for it. No GPU is needed.

The DSL's operations check less than its documentation says (bf16 with an f16 accumulator passes, and N = 40 of kind
i8): acceptance is evidence of the wider reading, refusal of the narrower one.

The worker's half: MMA operations of the DSL, and the PTX made from them.

Every word is compiled in a kernel of its own, with constant addresses, so that the compiler folds the instruction
descriptor to one constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from layoutalg.frozen import frozen
from layoutalg.oracle import OracleError
from layoutalg.oracle.service import ask


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionRequest:
    """An MMA operation of the DSL, both operands in shared memory.

    Attributes:
        kind: f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4 for sm_100a; f16 f8 i8 for sm_90a.
        a: element type of A.
        b: element type of B.
        d: type of the accumulator.
        m: M of the instruction.
        n: N of the instruction.
        k: K of the instruction.
        cta_group: 1 or 2.
        a_major: ``K`` or ``MN``.
        b_major: ``K`` or ``MN``.
        sparse: whether A is stored without its zeros (kinds f16 and f8f6f4, A and B of one type).
        scale: ``ue8m0`` or ``ue4m3`` (mxf4nvf4).
        scale_ids: scale factor data ids of A and B.
        negate: whether A and B are negated.
        target: ``sm_100a``, ``sm_103a`` (K = 96, accepted or not, but no word) or ``sm_90a`` (no word either).
    """

    kind: str
    a: str
    b: str
    d: str
    m: int
    n: int
    k: int
    cta_group: int = 1
    a_major: str = "K"
    b_major: str = "K"
    sparse: bool = False
    scale: str = "ue8m0"
    scale_ids: tuple[int, int] = (0, 0)
    negate: tuple[bool, bool] = (False, False)
    target: str = "sm_100a"


@frozen
class InstructionWord:
    """What the compiler made of a request.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        word: the instruction descriptor, under ``ok``.
        instruction: the instruction with its qualifiers, as the PTX has it.
        text: the reason where there is no word.
    """

    status: str
    word: int | None
    instruction: str = ""
    text: str = ""


def field_positions() -> dict[str, dict[str, dict[int, int]]]:
    """For each typed word of the DSL and each of its fields: bit of the word -> value that the field then reads.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    ((status, value),) = _replies([{"ask": "fields"}], "sm_100a")
    if status != "ok":
        raise OracleError(f"oracle: the typed words must be readable, found {value}")
    return {word: {name: dict(bits) for name, bits in fields.items()} for word, fields in value.items()}


def accepted(requests: Iterable[InstructionRequest]) -> list[bool]:
    """Whether the DSL constructs each operation.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return [status == "ok" for status, _ in _grouped("accepts", list(requests))]


def instruction_words(requests: Iterable[InstructionRequest]) -> list[InstructionWord]:
    """The instruction descriptor that the compiler writes for each request, in order.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from descriptors.oracle import available
    >>> request = InstructionRequest(kind="f16", a="bf16", b="bf16", d="f32", m=128, n=128, k=16)
    >>> hex(instruction_words([request])[0].word or 0) if available() else "0x8200490"
    '0x8200490'
    """
    replies = _grouped("words", list(requests))
    return [
        InstructionWord("ok", value["word"], value["instruction"])
        if status == "ok"
        else InstructionWord(status, None, text=value)
        for status, value in replies
    ]


def _grouped(ask: str, requests: Sequence[InstructionRequest]) -> list[tuple[str, Any]]:
    """The replies in order; the DSL has one target a process."""
    replies: list[tuple[str, Any]] = [("crashed", "")] * len(requests)
    for target in dict.fromkeys(request.target for request in requests):
        indices = [index for index, request in enumerate(requests) if request.target == target]
        questions = [{"ask": ask, **asdict(requests[index])} for index in indices]
        for index, reply in zip(indices, _replies(questions, target), strict=True):
            replies[index] = reply
    return replies


def _replies(questions: list[dict[str, Any]], target: str) -> list[tuple[str, Any]]:
    """The replies of a worker in which the DSL believes to compile for ``target``."""
    return [
        (reply.status, reply.value)
        for reply in ask("dsl_instructions", questions, each_s=60.0, batch=500, target=target)
    ]


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
_WORDS = ("Tcgen05InstrDesc", "Tcgen05MxInstrDesc", "Tcgen05MxOmmaInstrDesc")

_MOVE = re.compile(r"mov\.b32\s+(%r\d+),\s*(-?\w+);")
_MMA = re.compile(r"(tcgen05\.mma\S+)\s+\[%r\d+\], %rd\d+, %rd\d+, (?:\[%r\d+\], )?(%r\d+)")


def _work(questions: list[Any], report: Callable[[str, object], None]) -> None:
    for question in questions:
        try:
            report("ok", _ANSWERS[question["ask"]](question))
        except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
            text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
            report("rejected", f"{type(error).__name__}: {text}")


def _fields(_: dict[str, Any]) -> dict[str, dict[str, list[tuple[int, int]]]]:
    """For each typed word and field, the bits that it reads and what each is worth."""
    from cutlass.experimental import primitives

    by_word: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for name in _WORDS:
        typed = getattr(primitives, name)
        fields = [field for field in dir(typed) if isinstance(getattr(typed, field), property) and field != "dtype"]
        by_word[name] = {
            field: [(bit, int(read)) for bit in range(32) if (read := getattr(typed(1 << bit), field))]
            for field in fields
        }
    return by_word


def _accepts(question: dict[str, Any]) -> bool:
    _operation(question)
    return True


def _operation(question: dict[str, Any]) -> Any:
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

    operation = {"f16": tcgen05.MmaF16BF16SparseOp, "f8f6f4": tcgen05.MmaFP8SparseOp}[kind]
    return operation(a, d, shape, *place, SparseMetadataFormat.TID)


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

    operation = _operation(question)
    mma = cute.make_tiled_mma(operation)
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
    result = cute.make_tensor(_tensor_memory(operation.acc_dtype, 0), accumulator.layout)
    if question["kind"].startswith("mx"):
        for field, data_id in zip((tcgen05.Field.SFA, tcgen05.Field.SFB), question["scale_ids"], strict=True):
            mma.set(field, _tensor_memory(operation.sf_dtype, 256 + (data_id << 30)))
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


_ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {"fields": _fields, "accepts": _accepts, "words": _word}


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers questions."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    return _work
