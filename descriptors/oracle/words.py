"""Shared-memory descriptor words from NVIDIA's own compiler: no GPU, one compilation for hundreds of words.

The worker builds each tile in shared memory at address 0, partitions it, asks the DSL for the descriptor, stores it as
an integer, compiles the kernel and reads the constants out of the PTX. For sm100 that is ``make_umma_smem_desc``; for
sm90 the dialect's ``make_gmma_smem_desc``, which the DSL's warpgroup instructions use underneath.

The compiler also answers where the hardware has no such instruction (tf32 MN-major with plain 128B, fp4 MN-major): a
word is evidence of its encoding, not of its legality.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from layoutalg.frozen import frozen
from layoutalg.oracle.service import Status, ask

__all__ = ["WordAnswer", "WordRequest", "descriptor_words"]


@frozen
class WordRequest:
    """What the descriptor shall describe: the first instruction's operand of a tile in shared memory.

    Attributes:
        dtype: element type: f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 e2m1_unpacksmem s8 u8.
        major: ``K`` or ``MN``.
        swizzle: ``none``, ``32B``, ``64B``, ``128B`` or ``128B_BASE32B``.
        layout: the tile (MN, K, ...) in CuTe notation, in elements, without its swizzle.
        mma: extents (MN, K) that one instruction reads, in elements.
        arch: ``sm100``, ``sm103`` or ``sm90``.
        columns: of an instruction with K = 96, whose operands may cross atoms: the number of the part along K that it
            begins at, and of the one whose beginning is the next buffer (``next_src``); ``mma`` is one part then, 16
            bytes of K. None for the first part alone, and no next buffer.
    """

    dtype: str
    major: str
    swizzle: str
    layout: str
    mma: tuple[int, int]
    arch: str = "sm100"
    columns: tuple[int, int] | None = None


@frozen
class WordAnswer:
    """What the compiler made of a request.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        word: the 64-bit word with start address 0, under ``ok``.
        steps: the intermediate layouts as text: ``tile``, ``partitioned`` (zipped_divide by the instruction's extents),
            ``recast`` (to 128 bits) and ``canonical`` (logical_divide of the first operand by the form's piece, or by
            its own extent where that is smaller); a step that the DSL refuses reads ``rejected: ...``.
        text: the reason where there is no word.
    """

    status: Status
    word: int | None
    steps: Mapping[str, str] = MappingProxyType({})
    text: str = ""


def descriptor_words(requests: Iterable[WordRequest], *, batch: int = 64, each_s: float = 120.0) -> list[WordAnswer]:
    """Return the compiler's answer to every request, in order.

    Args:
        requests: the questions.
        batch: words compiled together. A batch the compiler refuses is halved until the culprit stands alone; one that
            kills it is asked again one by one.
        each_s: seconds that one compilation may take.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from descriptors.oracle import available
    >>> request = WordRequest("bf16", "K", "128B", "((8,16),(64,2)):((64,512),(1,8192))", (64, 16))
    >>> hex(descriptor_words([request])[0].word or 0) if available() else "0x4000404000010000"
    '0x4000404000010000'
    """
    questions = [_question(request) for request in requests]
    answers: list[WordAnswer | None] = [None] * len(questions)
    by_arch: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        by_arch.setdefault(question["arch"], []).append(index)
    # One compilation has one target architecture.
    chunks = [held[at : at + batch] for held in by_arch.values() for at in range(0, len(held), batch)]
    for chunk, answered in zip(chunks, _ask(questions, chunks, each_s), strict=True):
        if answered is not None:
            for index, answer in zip(chunk, answered, strict=True):
                answers[index] = answer
    alone = [[index] for index, answer in enumerate(answers) if answer is None]
    for (index,), answered in zip(alone, _ask(questions, alone, each_s, last=True), strict=True):
        answers[index] = answered[0] if answered else None
    return [answer for answer in answers if answer is not None]


def _question(request: WordRequest) -> dict[str, Any]:
    return {
        "dtype": request.dtype,
        "major": request.major,
        "swizzle": request.swizzle,
        "layout": request.layout,
        "mma": list(request.mma),
        "arch": request.arch,
        "columns": None if request.columns is None else list(request.columns),
    }


def _ask(
    questions: list[dict[str, Any]], chunks: list[list[int]], each_s: float, last: bool = False
) -> list[list[WordAnswer] | None]:
    """Answers by chunk; ``None`` for a chunk that killed the compiler, unless it is the ``last`` try."""
    requests = [[questions[index] for index in chunk] for chunk in chunks]
    answers: list[list[WordAnswer] | None] = []
    for chunk, reply in zip(chunks, ask("descriptors.oracle.dsl.words", requests, each_s=each_s, batch=8), strict=True):
        if reply.status == "ok":
            answers.append([_answer(value) for value in reply.value])
        else:
            failed = WordAnswer(reply.status, None, text=str(reply.value))
            answers.append([failed] * len(chunk) if last else None)
    return answers


def _answer(value: dict[str, Any]) -> WordAnswer:
    word = value["word"]
    return WordAnswer(value["status"], None if word is None else int(word, 16), value["steps"], value["text"])
