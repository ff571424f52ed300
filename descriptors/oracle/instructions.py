"""Instruction words and shapes from NVIDIA's own code: what the CuTe DSL accepts and what its compiler writes.

Three questions: where the fields of the DSL's typed words lie, whether an MMA operation of the DSL takes given types
and extents, and which instruction descriptor the compiler puts into the PTX for it. No GPU is needed.

The DSL's operations check less than its documentation says (bf16 with an f16 accumulator passes, and N = 40 of kind
i8): acceptance is evidence of the wider reading, refusal of the narrower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from descriptors.frozen import frozen
from layoutalg.oracle import OracleError
from layoutalg.oracle.service import ask

__all__ = ["InstructionRequest", "InstructionWord", "accepted", "field_positions", "instruction_words"]


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
    ((status, value),) = _ask([{"ask": "fields"}], "sm_100a")
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
        held = [index for index, request in enumerate(requests) if request.target == target]
        questions = [{"ask": ask, **asdict(requests[index])} for index in held]
        for index, reply in zip(held, _ask(questions, target), strict=True):
            replies[index] = reply
    return replies


def _ask(questions: list[dict[str, Any]], target: str) -> list[tuple[str, Any]]:
    """The replies of a worker in which the DSL believes to compile for ``target``."""
    return [
        (reply.status, reply.value)
        for reply in ask("descriptors.oracle.dsl.instructions", questions, each_s=60.0, batch=500, target=target)
    ]
