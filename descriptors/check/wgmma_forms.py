"""Whether a ``wgmma`` instruction is one that an assembler takes: target, types, shape, registers, immediates.

Source: PTX ISA 9.1, wgmma.mma_async and its companions; the verdicts of ptxas on record; the rows of our tables.

Law: the number of registers is that of the accumulator, M by N over 128 threads, two halves to a register.

>>> [registers_of_d((64, n, 16), d) for n, d in ((8, "f32"), (256, "f32"), (256, "f16"))]
[4, 128, 64]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.check.finding import Finding, finding
from descriptors.check.ptx_module import MOST, REST, Instruction
from descriptors.check.ptx_operands import Negated, Operand, Vector
from descriptors.check.views import Wgmma, wgmma
from descriptors.smem.instructions.legality import check_shape, check_types
from descriptors.smem.instructions.rules import IllegalError

_KNOWN = ("fence", "mma_async", "commit_group", "wait_group")
#: Registers of A, whatever its type: 64 rows of 256 bits over 128 threads.
REGISTERS_OF_A = 4


def registers_of_d(shape: tuple[int, int, int], dtype: str) -> int:
    """Registers of the accumulator a thread."""
    return shape[0] * shape[1] // 128 // (2 if dtype == "f16" else 1)


def wgmma_findings(one: Instruction, target: str, room: int = MOST) -> Iterator[Finding]:
    """What an assembler would refuse about a ``wgmma`` instruction.

    Args:
        one: the instruction.
        target: the ``.target``.
        room: registers that a thread may have.

    >>> made = Instruction(3, "wgmma.fence.sync.aligned", ())
    >>> [found.rule.name for found in wgmma_findings(made, "sm_100a")]
    ['form-target']
    """
    words = one.qualifiers

    def told(name: str, found: str) -> Finding:
        return finding(one.line, name, found, one.opcode)

    if target != "sm_90a":
        yield told("form-target", f"found {target}; wgmma is of sm_90a alone")
    if len(words) < 2 or words[1] not in _KNOWN:
        yield told("form-qualifier", f"found .{words[1] if len(words) > 1 else ''}")
        return
    if not {"sync", "aligned"} <= set(words):
        yield told("form-qualifier", "found no .sync.aligned")
    if words[1] == "wait_group":
        pending = one.operands[0] if len(one.operands) == 1 else None
        if not isinstance(pending, int) or not 0 <= pending <= 7:
            yield told("form-immediate", f"found wait_group {pending}, which must be 0 to 7")
    elif words[1] == "mma_async":
        for name, text in _multiplication(one, room):
            yield told(name, text)
    elif one.operands:
        yield told("form-operands", f"found {len(one.operands)} where there are none")


def _multiplication(one: Instruction, room: int) -> Iterator[tuple[str, str]]:
    view = wgmma(one)
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
        return
    if not view.kind:
        yield "form-types", f"found {view.types[1]}"
        return
    m, n, k = view.shape
    a_source = "rmem" if view.from_registers else "smem"
    try:
        check_types("sm90", view.kind, view.types[1], view.types[2], view.types[0], legality="lenient")
    except IllegalError as error:
        yield "form-types", f"found {' by '.join(view.types[1:])} into {view.types[0]}: {error.rule}"
    try:
        check_shape(
            "sm90", view.kind, m=m, n=n, k=k, sparse=view.sparse, a_source=a_source, legality="lenient"
        )  # fmt: skip
    except IllegalError as error:
        yield "form-shape", f"found m{m}n{n}k{k}: {error.rule}"
        return
    yield from _vectors(view)
    if (wanted := registers_of_d(view.shape, view.types[0]) + REST) > room:
        yield "form-limit", f"found a limit of {room}; m{m}n{n}k{k} into {view.types[0]} needs {wanted}"
    yield from _immediates(view)


def _vectors(view: Wgmma) -> Iterator[tuple[str, str]]:
    wanted = registers_of_d(view.shape, view.types[0])
    if not isinstance(view.d, Vector):
        yield "form-operands", "found no vector for D"
    elif len(view.d.items) != wanted:
        yield "form-registers", f"found {len(view.d.items)} for D, which has {wanted}"
    if isinstance(view.a, Vector) and len(view.a.items) != REGISTERS_OF_A:
        yield "form-registers", f"found {len(view.a.items)} for A, which has {REGISTERS_OF_A}"
    for name, operand in (("A", view.a), ("B", view.b)):
        if not isinstance(operand, str) and not (name == "A" and isinstance(operand, Vector)):
            yield "form-operands", f"found no register with a descriptor for {name}"
    if view.kind == "b1" and view.extra != ("and", "popc"):
        yield "form-qualifier", f"found .{'.'.join(view.extra) or '(nothing)'}, and b1 has .and.popc alone"
    elif view.kind == "i8" and view.extra not in ((), ("satfinite",)):
        yield "form-qualifier", f"found .{'.'.join(view.extra)}"


def _immediates(view: Wgmma) -> Iterator[tuple[str, str]]:
    if isinstance(view.scale_d, int) and view.scale_d not in (0, 1):
        yield "form-immediate", f"found scale-d {view.scale_d}, which must be a predicate, 0 or 1"
    elif not isinstance(view.scale_d, str | int | Negated):
        yield "form-operands", "found no predicate for scale-d"
    for name, values, legal in (("imm-scale", view.scales, (-1, 1)), ("imm-trans", view.transposes, (0, 1))):
        for value in values:
            if value not in legal:
                yield "form-immediate", f"found {name} {_shown(value)}, which must be {legal[0]} or {legal[1]}"
    if view.transposes and view.kind != "f16":
        yield "form-transpose", f"found {len(view.transposes)} transposes of {view.types[1]}"


def _shown(value: Operand) -> str:
    return str(value) if isinstance(value, int | str) else "no number"
