"""Inner loops written for the CuTe DSL, compiled by it: the words, instruction descriptors and pointers that it makes.

Every stage is traced with constant addresses, shared memory from 0 on and tensor memory likewise, so that the compiler
folds every operand of every instruction to a constant. No GPU is needed.

Law: what is read of PTX is what its registers hold, in the order of the instruction's operands.

>>> text = "mov.b32 %r1, -1; mov.b64 %rd1, 16; mov.b64 %rd2, 32; tcgen05.mma.x [%r1], %rd1, %rd2, %r1, 1;"
>>> operands(text)
((4294967295, 16, 32, 4294967295),)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict

from descriptors.frozen import frozen
from layoutalg.oracle.service import Status, ask

__all__ = ["Loop", "LoopAnswer", "compile_loops"]

_MOVE = re.compile(r"mov\.b(32|64)\s+(%\w+),\s*(-?\d+);")
_WGMMA = re.compile(r"wgmma\.mma_async\S+ \{[^}]*\}, (%rd\d+), (%rd\d+),")
_TCGEN05 = re.compile(
    r"tcgen05\.mma\S+\s+\[(%\w+)\], (%rd\d+), (%rd\d+), (%r\d+)(?:, \[(%r\d+)\], \[(%r\d+)\])?",
)


@frozen
class Loop:
    """A loop and what it is traced with.

    Attributes:
        text: what ``plan --emit cutedsl`` wrote.
        name: the prefix of its functions.
        arch: ``sm100`` or ``sm90``.
        stages: how many of them are traced, one after the other.
        barrier: an address of shared memory for the barrier that a stage is committed to.
        group: which warpgroup, on sm90.
    """

    text: str
    name: str
    arch: str
    stages: int
    barrier: int
    group: int = 0


@frozen
class LoopAnswer:
    """The operands of every instruction, in the order in which they are issued.

    Attributes:
        status: ``ok``; ``rejected``; ``crashed``; ``timeout``.
        operands: the words of A and B; on sm100 the column of D before them, and behind them the instruction descriptor
            and the pointers of scale factors, if there are any.
        text: the reason where there are none.
    """

    status: Status
    operands: tuple[tuple[int, ...], ...] = ()
    text: str = ""


def compile_loops(loops: Iterable[Loop], *, each_s: float = 120.0) -> list[LoopAnswer]:
    """Compile loops and return the operands of their instructions.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    return [
        LoopAnswer("ok", operands(reply.value)) if reply.status == "ok" else LoopAnswer(reply.status, (), reply.value)
        for reply in ask("descriptors.oracle.dsl.loops", [asdict(one) for one in loops], each_s=each_s, batch=4)
    ]


def operands(ptx: str) -> tuple[tuple[int, ...], ...]:
    """The operands of the multiplications of PTX whose registers are constants, each defined once.

    >>> operands("mov.b64 %rd1, 16; mov.b64 %rd2, -1; wgmma.mma_async.x {%f1}, %rd1, %rd2, p, 1;")
    ((16, 18446744073709551615),)
    """
    known = {name: int(value, 0) % 2 ** int(bits) for bits, name, value in _MOVE.findall(ptx)}
    found = [made.groups() for made in (_WGMMA if "wgmma.mma" in ptx else _TCGEN05).finditer(ptx)]
    return tuple(tuple(known[one] for one in made if one is not None) for made in found)
