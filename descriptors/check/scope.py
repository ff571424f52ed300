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
>>> [(one.property, one.number, one.unit) for one in not_run(module).scopes if one.number]
[('barriers', 1, 'mbarrier'), ('proxies', 1, 'ordinary store'), ('reuse', 1, 'asynchronous operation'), \
('fragments', 1, 'mma.sync')]
>>> [(one.property, one.number, one.looked_at) for one in read_of(module).scopes if one.number]
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
    held = len(_having(module, *FAMILIES))
    warp, older = len(_having(module, *WARP_MMA)), _having(module, *WMMA)
    moves = sum(len(one.having(*_MATRICES)) for one in module.functions if one.having(*FAMILIES, *WARP_MMA))
    order = held - len(_having(module, *_ALLOCATES))
    touching = held - order + len(_having(module, *_TOUCHES))
    scopes = (
        Scope("forms", held + moves + warp + len(older), "instruction", held + moves + warp),
        Scope("order", order, "instruction", order),
        Scope("tensor memory", touching, "instruction", touching),
    )
    return Judgement(scopes, (*_unseen("forms", older, "wmma instruction"), *_unchecked_fragments(module)))


def not_run(module: Module) -> Judgement:
    """Return the scopes of the properties that need an execution, with nothing checked yet."""
    code = _having(module, "")
    barriers = _having(module, "mbarrier.init")
    unit = "mbarrier" if barriers else "mbarrier instruction"
    barriers = barriers or _having(module, "mbarrier.", "tcgen05.commit")
    if not barriers and (barriers := _having(module, "setmaxnreg.")):
        unit = "setmaxnreg"
    copies = [one for one in code if _copies(one)]
    readers = [one for one in code if one.opcode.startswith(_READERS) or _copies(one)]
    stores = [one for one in code if _stores(one)] if readers else []
    operations = [one for one in code if one.opcode.startswith(_READERS) or _copies(one) or _of_thread(one)]
    multiplied, of_registers = _having(module, *WARP_MMA), _with_a_in_registers(module)
    matrices = [one for one in code if one.opcode.startswith("ldmatrix")] if multiplied and not operations else []
    held = (
        ("barriers", barriers, unit),
        ("bytes", copies, "bulk copy"),
        ("proxies", stores, "ordinary store"),
        ("reuse", operations or matrices, "asynchronous operation" if operations else "ldmatrix"),
        ("fragments", [*multiplied, *of_registers], "multiplication" if of_registers else "mma.sync"),
    )
    return Judgement(
        tuple([Scope(name, len(row), unit) for name, row, unit in held]),
        tuple([one for name, row, unit in held for one in _unseen(name, row, unit)]),
    )


def _having(module: Module, *beginnings: str) -> list[Instruction]:
    """Return the instructions of all functions whose opcode has one of some beginnings."""
    return [function.code[index] for function in module.functions for index in function.having(*beginnings)]


def _with_a_in_registers(module: Module) -> list[Instruction]:
    """Return the ``wgmma`` that take A from registers."""
    return [
        one
        for one in _having(module, "wgmma.mma_async")
        if len(one.operands) > 1 and isinstance(one.operands[1], Vector)
    ]


def _unchecked_fragments(module: Module) -> tuple[Undecided, ...]:
    """Return one undecided item for all ``wgmma`` that take A from registers, at the line of the first."""
    rows = _with_a_in_registers(module)
    why = "which elements the fragments hold is not checked"
    return (Undecided("fragments", rows[0].line, f"A in registers of {len(rows)} wgmma", why),) if rows else ()


def _unseen(name: str, row: Sequence[Instruction], unit: str, why: str = NOT_LOOKED_AT) -> tuple[Undecided, ...]:
    """Return one undecided item for all instructions of a row, at the line of the first."""
    return (Undecided(name, row[0].line, counted(len(row), unit), why),) if row else ()


def _copies(one: Instruction) -> bool:
    """Return whether an instruction is a bulk copy."""
    return one.opcode.startswith(_BULK) and not set(_NO_COPY) & set(one.qualifiers)


def _stores(one: Instruction) -> bool:
    """Return whether an instruction may write shared memory through the generic proxy."""
    words = one.qualifiers
    if words[0] in ("st", "stmatrix", "atom", "red"):
        return not set(words) & set(_OTHER_SPACES)
    return _of_thread(one)


def _of_thread(one: Instruction) -> bool:
    """Return whether an instruction is a ``cp.async`` of a thread, which is not a bulk copy."""
    words = one.qualifiers
    return words[:2] == ("cp", "async") and words[2:3] != ("bulk",) and any(w.startswith("shared") for w in words)
