"""The worker's half of `descriptors.oracle.loops`: traces the stages of an emitted loop, and gives the PTX."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

from descriptors.oracle.dsl.names import TARGETS

__all__ = ["prepare"]


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

    made: dict[str, Any] = {}
    exec(compile(question["text"], "<emitted>", "exec"), made)  # noqa: S102 - running that text is the question
    functions = {name: made[f"{question['name']}_{name}"] for name in ("mma", "fragments", "stage")}
    kernel = cute.kernel(
        _hopper(question, functions) if question["arch"] == "sm90" else _blackwell(question, functions)
    )

    def host(sink: Any) -> None:
        kernel(sink).launch(grid=[1, 1, 1], block=[128, 1, 1])

    sink = cute.runtime.make_fake_compact_tensor(cutlass.Int32, (1 << 16,))
    options = f"--gpu-arch {TARGETS[question['arch']]} --keep-ptx"
    return str(cute.compile(cute.jit(host), sink, options=options).__ptx__)


def _hopper(question: dict[str, Any], made: dict[str, Any]) -> Callable[[Any], None]:
    """Every stage of one warpgroup; the accumulators are stored, so that nothing is left out."""
    import cutlass
    from cutlass import Int32, cute
    from cutlass.cute.nvgpu import warpgroup

    def kernel(sink: Any) -> None:
        tiled = made["mma"]()
        a, b, held = made["fragments"](tiled, question["group"], Int32(0))
        tiled.set(warpgroup.Field.ACCUMULATE, False)
        for stage in range(question["stages"]):
            made["stage"](tiled, a, b, held, stage)
        for i in range(cute.size(held)):
            sink[i] = cutlass.Int32(held[i])

    return kernel


def _blackwell(question: dict[str, Any], made: dict[str, Any]) -> Callable[[Any], None]:
    """Every stage, committed to one barrier."""
    import cutlass
    from cutlass import Int32, cute
    from cutlass.cute.nvgpu import tcgen05

    def kernel(sink: Any) -> None:
        tiled = made["mma"]()
        a, b = made["fragments"](tiled, Int32(0))
        tiled.set(tcgen05.Field.ACCUMULATE, False)
        barrier = cute.make_ptr(cutlass.Int64, Int32(question["barrier"]), cute.AddressSpace.smem, assumed_align=8)
        for stage in range(question["stages"]):
            made["stage"](tiled, a, b, Int32(0), stage, barrier)
        sink[0] = cutlass.Int32(0)

    return kernel
