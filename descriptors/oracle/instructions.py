"""Instruction descriptors from NVIDIA's own compiler: no GPU, a compilation for each.

The DSL's operations check less than its documentation says (bf16 with an f16 accumulator passes, and N = 40 of kind
i8): a word is evidence of its encoding, not of its legality.

Invariant: the compiler writes the word that `descriptors.idesc` gives.

>>> from descriptors import idesc
>>> from descriptors.oracle import available
>>> asked = InstructionRequest("f16", "bf16", "bf16", "f32", 128, 128, 16)
>>> not available() or instruction_words([asked])[0].word == idesc("bf16", m=128, n=128)
True
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutalg.frozen import contents, frozen
from layoutalg.oracle.service import ask

__all__ = ["InstructionRequest", "InstructionWord", "instruction_words"]


@frozen
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


def instruction_words(requests: Iterable[InstructionRequest]) -> list[InstructionWord]:
    """The instruction descriptor that the compiler writes for each request, in order.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    asked = list(requests)
    words: list[InstructionWord] = [InstructionWord("crashed", None)] * len(asked)
    for target in dict.fromkeys(request.target for request in asked):  # the DSL has one target a process
        places = [index for index, request in enumerate(asked) if request.target == target]
        questions = [contents(asked[index]) for index in places]
        replies = ask("descriptors.oracle.dsl.instructions", questions, each_s=60.0, batch=500, target=target)
        for index, reply in zip(places, replies, strict=True):
            done = reply.status == "ok"
            words[index] = (
                InstructionWord("ok", reply.value["word"], reply.value["instruction"])
                if done
                else InstructionWord(reply.status, None, text=str(reply.value))
            )
    return words
