"""How much there is in a kernel to look at, property by property: what a verdict is of.

What no check looks at is counted too, so that a report can name it: the multiplications of ``wmma``; and all that
only running a kernel tells, which is what mbarriers wait for, how many bytes copies bring, whether the asynchronous
proxy sees what ordinary stores wrote, and when shared memory is used again. Which elements of A the registers of a
``wgmma`` hold is not checked, so that *fragments* are never clean where A is in registers.
Source: PTX ISA 9.1, mbarrier, Asynchronous copy, Async proxy, wgmma, tcgen05.

Law: what is not looked at is never clean.

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

#: What the checker is about.
FAMILIES = ("wgmma.", "tcgen05.")
#: Multiplications of a warp.
WARP_MMA = ("mma.",)
#: Multiplications of a warp in the older form.
WMMA = ("wmma.mma",)
#: What moves matrices, counted beside multiplications.
_MATRICES = ("ldmatrix.", "stmatrix.")
_ALLOCATES = ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit")
_TOUCHES = ("tcgen05.mma", "tcgen05.ld", "tcgen05.st", "tcgen05.cp", "tcgen05.shift")
_BULK = ("cp.async.bulk", "cp.reduce.async.bulk")
_NO_COPY = ("commit_group", "wait_group", "prefetch")
_READERS = ("wgmma.mma_async", "tcgen05.mma", "tcgen05.cp")
_OTHER_SPACES = ("global", "local", "param", "param::func", "param::entry")


def read_of(module: Module) -> Judgement:
    """What a reading of the text looks at, but for descriptor words: forms, order, tensor memory."""
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
    """What only running a kernel tells, of which nothing was looked at: barriers, bytes, proxies, reuse."""
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
    """The instructions of all functions whose opcode begins so."""
    return [function.code[index] for function in module.functions for index in function.having(*beginnings)]


def _with_a_in_registers(module: Module) -> list[Instruction]:
    """Return the ``wgmma`` that take A from registers."""
    return [
        one
        for one in _having(module, "wgmma.mma_async")
        if len(one.operands) > 1 and isinstance(one.operands[1], Vector)
    ]


def _unchecked_fragments(module: Module) -> tuple[Undecided, ...]:
    """Return what is not decided of the ``wgmma`` that take A from registers, at the first of them."""
    rows = _with_a_in_registers(module)
    why = "which elements the fragments hold is not checked"
    return (Undecided("fragments", rows[0].line, f"A in registers of {len(rows)} wgmma", why),) if rows else ()


def _unseen(name: str, row: Sequence[Instruction], unit: str, why: str = NOT_LOOKED_AT) -> tuple[Undecided, ...]:
    """One for all of them, at the first."""
    return (Undecided(name, row[0].line, counted(len(row), unit), why),) if row else ()


def _copies(one: Instruction) -> bool:
    return one.opcode.startswith(_BULK) and not set(_NO_COPY) & set(one.qualifiers)


def _stores(one: Instruction) -> bool:
    """Whether an instruction may write shared memory in order, and not by the asynchronous proxy."""
    words = one.qualifiers
    if words[0] in ("st", "stmatrix", "atom", "red"):
        return not set(words) & set(_OTHER_SPACES)
    return _of_thread(one)


def _of_thread(one: Instruction) -> bool:
    """Whether an instruction is a copy of a thread into shared memory, which a wait of its own ends."""
    words = one.qualifiers
    return words[:2] == ("cp", "async") and words[2:3] != ("bulk",) and any(w.startswith("shared") for w in words)
