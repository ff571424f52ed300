"""Inner loops written for the CuTe DSL, compiled by it: the words, instruction descriptors and pointers that it makes.

Every stage is traced with constant addresses, shared memory from 0 on and tensor memory likewise, so that the compiler
folds every operand of every instruction to a constant. No GPU is needed.

Law: what is read of PTX is what its registers hold, in the order of the instruction's operands.

>>> text = "mov.b32 %r1, -1; mov.b64 %rd1, 16; mov.b64 %rd2, 32; tcgen05.mma.x [%r1], %rd1, %rd2, %r1, 1;"
>>> operands(text)
((4294967295, 16, 32, 4294967295),)

The worker's half: traces the stages of an emitted loop, and gives the PTX.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from descriptors.oracle.dsl.words import TARGETS
from layoutalg.frozen import frozen
from layoutalg.oracle.service import Status, ask

_MOVE = re.compile(r"mov\.b(32|64)\s+(%\w+),\s*(-?\d+);")
_WGMMA = re.compile(r"wgmma\.mma_async\S+ \{[^}]*\}, (%rd\d+), (%rd\d+),")
_TCGEN05 = re.compile(
    r"tcgen05\.mma\S+\s+\[(%\w+)\], (%rd\d+), (%rd\d+), (?:\[(%r\d+)\], )?(%r\d+)(?:, \[(%r\d+)\], \[(%r\d+)\])?",
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
        operands: the words of A and B; on sm100 the column of D before them, and behind them, of a sparse A, the column
            of its metadata, the instruction descriptor, and the pointers of scale factors, if there are any.
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
        for reply in ask("dsl_loops", [asdict(one) for one in loops], each_s=each_s, batch=4)
    ]


def operands(ptx: str) -> tuple[tuple[int, ...], ...]:
    """The operands of the multiplications of PTX whose registers are constants, each defined once.

    >>> operands("mov.b64 %rd1, 16; mov.b64 %rd2, -1; wgmma.mma_async.x {%f1}, %rd1, %rd2, p, 1;")
    ((16, 18446744073709551615),)
    """
    known = {name: int(value, 0) % 2 ** int(bits) for bits, name, value in _MOVE.findall(ptx)}
    instructions = [made.groups() for made in (_WGMMA if "wgmma.mma" in ptx else _TCGEN05).finditer(ptx)]
    return tuple(tuple(known[one] for one in made if one is not None) for made in instructions)


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that compiles loops."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    def work(questions: list[Any], report: Callable[[str, object], None]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)  # the DSL leaves its PTX in the working directory
            for question in questions:
                try:
                    report("ok", _compiled(question))
                except Exception as error:  # noqa: BLE001 - any exception is the DSL's way to refuse
                    text = " ".join(re.sub(r"\x1b\[\d+m", "", str(error)).split())[:300]
                    report("rejected", f"{type(error).__name__}: {text}")
            os.chdir("/")

    return work


def _compiled(question: dict[str, Any]) -> str:
    import cutlass
    from cutlass import cute

    namespace: dict[str, Any] = {}
    exec(compile(question["text"], "<emitted>", "exec"), namespace)  # noqa: S102 - running that text is the question
    functions = {name: namespace[f"{question['name']}_{name}"] for name in ("mma", "fragments", "stage")}
    kernel = cute.kernel(
        _hopper(question, functions) if question["arch"] == "sm90" else _blackwell(question, functions)
    )

    def host(sink: Any) -> None:
        kernel(sink).launch(grid=[1, 1, 1], block=[128, 1, 1])

    sink = cute.runtime.make_fake_compact_tensor(cutlass.Int32, (1 << 16,))
    options = f"--gpu-arch {TARGETS[question['arch']]} --keep-ptx"
    return str(cute.compile(cute.jit(host), sink, options=options).__ptx__)


def _hopper(question: dict[str, Any], namespace: dict[str, Any]) -> Callable[[Any], None]:
    """Every stage of one warpgroup; the accumulators are stored, so that nothing is left out."""
    import cutlass
    from cutlass import Int32, cute
    from cutlass.cute.nvgpu import warpgroup

    def kernel(sink: Any) -> None:
        tiled = namespace["mma"]()
        a, b, accumulators = namespace["fragments"](tiled, question["group"], Int32(0))
        tiled.set(warpgroup.Field.ACCUMULATE, False)
        for stage in range(question["stages"]):
            namespace["stage"](tiled, a, b, accumulators, stage)
        for i in range(cute.size(accumulators)):
            sink[i] = cutlass.Int32(accumulators[i])

    return kernel


def _blackwell(question: dict[str, Any], namespace: dict[str, Any]) -> Callable[[Any], None]:
    """Every stage, committed to one barrier."""
    import cutlass
    from cutlass import Int32, cute
    from cutlass.cute.nvgpu import tcgen05

    def kernel(sink: Any) -> None:
        tiled = namespace["mma"]()
        a, b = namespace["fragments"](tiled, Int32(0))
        tiled.set(tcgen05.Field.ACCUMULATE, False)
        barrier = cute.make_ptr(cutlass.Int64, Int32(question["barrier"]), cute.AddressSpace.smem, assumed_align=8)
        for stage in range(question["stages"]):
            namespace["stage"](tiled, a, b, Int32(0), stage, barrier)
        sink[0] = cutlass.Int32(0)

    return kernel
