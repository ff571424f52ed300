"""The number of items of each property in a kernel, which a verdict is about.

Items that no check looks at are counted too, so that a report can name them: the multiplications of ``wmma``; and the
items of the properties that need an execution of the kernel (waits on mbarriers, bytes of copies, ordinary stores that
the asynchronous proxy reads, reuse of shared memory). The check does not know which elements of A are in the registers
of a ``wgmma``, so *fragments* are never clean if A is in registers.
Source: PTX ISA 9.1, mbarrier, Asynchronous copy, Async proxy, wgmma, tcgen05.

Invariant: a property whose items were not checked is not clean.

>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mbarrier.init.shared.b64 [b], 1; st.shared.b32 [s], 0; wgmma.mma_async.x d, a, b; mma.sync.y d, a, b, c;"
>>> module = parse(f".version 8.8\\n.target sm_90a\\n.entry k() {{ {body} ret; }}")
>>> [(scope.property, scope.number, scope.unit) for scope in not_run(module).scopes if scope.number]
[('barriers', 1, 'mbarrier'), ('proxies', 1, 'ordinary store'), ('reuse', 1, 'asynchronous operation'), \
('fragments', 1, 'mma.sync')]
>>> [(scope.property, scope.number, scope.looked_at) for scope in read_of(module).scopes if scope.number]
[('forms', 2, 2), ('order', 1, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.check.kernel_report import NOT_LOOKED_AT, Judgement, Scope, Undecided
from descriptors.check.ptx.ptx_module import Instruction, Module
from descriptors.check.ptx.ptx_operands import Vector
from descriptors.text import counted

#: Beginnings of the opcodes of tensor-core instructions of a warpgroup or a CTA.
FAMILIES = ("wgmma.", "tcgen05.")
#: Beginnings of the opcodes of multiplications of a warp.
WARP_MMA = ("mma.",)
#: Multiplications of a warp in the older form.
WMMA = ("wmma.mma",)
#: Instructions that move matrices. They are counted if the function has multiplications.
_MATRICES = ("ldmatrix.", "stmatrix.")
_ALLOCATES = ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit")
_TOUCHES = ("tcgen05.mma", "tcgen05.ld", "tcgen05.st", "tcgen05.cp", "tcgen05.shift")
_BULK = ("cp.async.bulk", "cp.reduce.async.bulk")
_NO_COPY = ("commit_group", "wait_group", "prefetch")
_READERS = ("wgmma.mma_async", "tcgen05.mma", "tcgen05.cp")
_OTHER_SPACES = ("global", "local", "param", "param::func", "param::entry")


def read_of(module: Module) -> Judgement:
    """Return the scopes of the properties that the text decides, except descriptors: forms, order, tensor memory."""
    tensor_count = len(_instructions_with(module, *FAMILIES))
    warp_count, older = len(_instructions_with(module, *WARP_MMA)), _instructions_with(module, *WMMA)
    moves = sum(
        len(function.having(*_MATRICES)) for function in module.functions if function.having(*FAMILIES, *WARP_MMA)
    )
    order = tensor_count - len(_instructions_with(module, *_ALLOCATES))
    memory_count = tensor_count - order + len(_instructions_with(module, *_TOUCHES))
    scopes = (
        Scope(
            "forms", tensor_count + moves + warp_count + len(older), "instruction", tensor_count + moves + warp_count
        ),
        Scope("order", order, "instruction", order),
        Scope("tensor memory", memory_count, "instruction", memory_count),
    )
    return Judgement(scopes, (*_unchecked_item("forms", older, "wmma instruction"), *_unchecked_fragments(module)))


def not_run(module: Module) -> Judgement:
    """Return the scopes of the properties that need an execution, with nothing checked yet."""
    code = _instructions_with(module, "")
    barriers = _instructions_with(module, "mbarrier.init")
    unit = "mbarrier" if barriers else "mbarrier instruction"
    barriers = barriers or _instructions_with(module, "mbarrier.", "tcgen05.commit")
    if not barriers and (barriers := _instructions_with(module, "setmaxnreg.")):
        unit = "setmaxnreg"
    copies = [instruction for instruction in code if _is_bulk_copy(instruction)]
    readers = [
        instruction for instruction in code if instruction.opcode.startswith(_READERS) or _is_bulk_copy(instruction)
    ]
    stores = [instruction for instruction in code if _is_generic_store(instruction)] if readers else []
    operations = [
        instruction
        for instruction in code
        if instruction.opcode.startswith(_READERS) or _is_bulk_copy(instruction) or _is_thread_copy(instruction)
    ]
    warp_mmas, register_mmas = _instructions_with(module, *WARP_MMA), _wgmma_with_a_in_registers(module)
    matrices = (
        [instruction for instruction in code if instruction.opcode.startswith("ldmatrix")]
        if warp_mmas and not operations
        else []
    )
    rows = (
        ("barriers", barriers, unit),
        ("bytes", copies, "bulk copy"),
        ("proxies", stores, "ordinary store"),
        ("reuse", operations or matrices, "asynchronous operation" if operations else "ldmatrix"),
        ("fragments", [*warp_mmas, *register_mmas], "multiplication" if register_mmas else "mma.sync"),
    )
    return Judgement(
        tuple([Scope(name, len(row), unit) for name, row, unit in rows]),
        tuple([item for name, row, unit in rows for item in _unchecked_item(name, row, unit)]),
    )


def _instructions_with(module: Module, *beginnings: str) -> list[Instruction]:
    """Return the instructions of all functions whose opcode has one of some beginnings."""
    return [function.code[index] for function in module.functions for index in function.having(*beginnings)]


def _wgmma_with_a_in_registers(module: Module) -> list[Instruction]:
    """Return the ``wgmma`` that take A from registers."""
    return [
        instruction
        for instruction in _instructions_with(module, "wgmma.mma_async")
        if len(instruction.operands) > 1 and isinstance(instruction.operands[1], Vector)
    ]


def _unchecked_fragments(module: Module) -> tuple[Undecided, ...]:
    """Return one undecided item for all ``wgmma`` that take A from registers, at the line of the first."""
    rows = _wgmma_with_a_in_registers(module)
    why = "which elements the fragments hold is not checked"
    return (Undecided("fragments", rows[0].line, f"A in registers of {len(rows)} wgmma", why),) if rows else ()


def _unchecked_item(
    name: str, row: Sequence[Instruction], unit: str, why: str = NOT_LOOKED_AT
) -> tuple[Undecided, ...]:
    """Return one undecided item for all instructions of a row, at the line of the first."""
    return (Undecided(name, row[0].line, counted(len(row), unit), why),) if row else ()


def _is_bulk_copy(instruction: Instruction) -> bool:
    """Return whether an instruction is a bulk copy."""
    return instruction.opcode.startswith(_BULK) and not set(_NO_COPY) & set(instruction.qualifiers)


def _is_generic_store(instruction: Instruction) -> bool:
    """Return whether an instruction may write shared memory through the generic proxy."""
    words = instruction.qualifiers
    if words[0] in ("st", "stmatrix", "atom", "red"):
        return not set(words) & set(_OTHER_SPACES)
    return _is_thread_copy(instruction)


def _is_thread_copy(instruction: Instruction) -> bool:
    """Return whether an instruction is a ``cp.async`` of a thread, which is not a bulk copy."""
    words = instruction.qualifiers
    return words[:2] == ("cp", "async") and words[2:3] != ("bulk",) and any(w.startswith("shared") for w in words)
