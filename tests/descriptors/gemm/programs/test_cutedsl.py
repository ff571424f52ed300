"""Inner loops for the CuTe DSL: the DSL compiles them, and its compiler makes the plan's own words of the layouts."""

from __future__ import annotations

from typing import Any

import pytest
from dsl_loops import Loop, compile_loops
from gemm_plans import BLACKWELL, HOPPER, made, pointers

from descriptors import DescriptorError, Plan
from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.oracle import available

KNOWN = [one for name, one in HOPPER.items() if name in ("mn", "blocks")]
UNKNOWN = ("narrow", "sparse tf32", "sparse nvf4", "sparse mx", "sparse pair of blocks")
KNOWN += [one for name, one in BLACKWELL.items() if name not in UNKNOWN]


def loops_of(one: Plan) -> list[Loop]:
    text = emit_plan(one, "cutedsl", "loop")
    groups = one.accumulators.warpgroups if isinstance(one.accumulators, Registers) else 1
    return [Loop(text, "loop", one.asked.arch, one.stages, one.barriers, group) for group in range(groups)]


def words_of_plan(one: Plan, group: int) -> list[tuple[int, ...]]:
    """The operands of every instruction of the plan: D, A, B, metadata, idesc, scale factors."""
    accumulators, operands = one.accumulators, list[tuple[int, ...]]()
    m, n, k = one.asked.blocks
    for s in range(one.stages):
        for q in range(k):
            for j in range(n):
                for i in range(group, m, accumulators.warpgroups if isinstance(accumulators, Registers) else 1):
                    words = (one.a.word_at(i, q, s), one.b.word_at(j, q, s))
                    if isinstance(accumulators, TensorColumns):
                        factors = pointers(one, i, j, q)
                        # Compilers move the id of the byte from the pointer into the instruction descriptor.
                        metadata = ()
                        if one.metadata is not None:
                            metadata = (one.metadata.place(q)[0] + i * one.metadata.block_columns,)  # type: ignore[assignment]
                        words = (accumulators.firsts[j * m + i], *words, *metadata, one.line.idescs[q], *factors)  # type: ignore[assignment]
                    operands.append(words)
    return operands


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
def test_the_words_of_the_dsl_are_those_of_the_plan() -> None:
    plans = [made(one) for one in KNOWN]
    compiled_loops = [(one, loop) for one in plans for loop in loops_of(one)]
    for (one, loop), answer in zip(compiled_loops, compile_loops([loop for _, loop in compiled_loops]), strict=True):
        assert (answer.status, answer.text) == ("ok", ""), one.headline
        mine = words_of_plan(one, loop.group)
        at = 1 if one.asked.arch == "sm100" else 0
        # The DSL's integers saturate, which is a bit that nobody asked the plan for.
        clamp = 1 << 3 if one.asked.kind == "i8" else 0
        unread = [side.derivation.dont_care_mask() for side in (one.a, one.b)]

        def read(row: tuple[int, ...], at: int = at, clamp: int = clamp, unread: list[int] = unread) -> tuple[int, ...]:
            words = (row[at] & ~unread[0], row[at + 1] & ~unread[1])
            return (*row[:at], *words, *(one & ~clamp for one in row[at + 2 :]))

        # The order of accumulators within a K block is the DSL's own.
        assert sorted(map(read, answer.operands)) == sorted(map(read, mine)), one.headline


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (HOPPER["registers"], "A in registers"),
        (HOPPER["tf32"], "wgmma of tf32"),
        (BLACKWELL["narrow"], "e2m3"),
        (HOPPER["sparse"], "wgmma of a sparse A"),
        (BLACKWELL["sparse tf32"], "tf32 of a sparse A, tf32 by tf32"),
        (BLACKWELL["sparse pair of blocks"], "mxf8f6f4 of a sparse A, e4m3 by e4m3"),
        (BLACKWELL["sparse nvf4"], "mxf4nvf4 of a sparse A, e2m1 by e2m1"),
    ],
)
def test_what_the_dsl_does_not_have_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptorError, match=f"emit: the CuTe DSL must have the operation, found {said}"):
        emit_plan(made(arguments), "cutedsl")


def test_the_text_is_python_and_its_names_have_the_prefix() -> None:
    for arguments in KNOWN:
        text = emit_plan(made(arguments), "cutedsl", "loop")
        compile(text, "<emitted>", "exec")
        assert all(line.startswith("def loop_") for line in text.splitlines() if line.startswith("def"))
    with pytest.raises(DescriptorError, match="emit: name must be an identifier"):
        emit_plan(made(KNOWN[0]), "cutedsl", "a b")
