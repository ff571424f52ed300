"""Registers that may differ between the threads of a warp: what is computed from a thread's number, or elected.

What is loaded from one address, or exchanged by a ``shfl.sync.idx`` from one lane or by a vote, is one for all: so does
the assembler have it. Control flow is not followed: a register that only the way taken makes differ counts as one for
all. Source: PTX ISA 9.1, Special Registers; elect.sync, shfl.sync; ptxas 12.9, 13.0, 13.5 (which branches it calls
divergent).

Law: a register is varying where something that it is computed from is.

>>> from descriptors.ptx.module import parse
>>> body = "mov.u32 a, %tid.x; shr.u32 b, a, 7; shfl.sync.idx.b32 c, b, 0, 31, -1; ld.global.u32 d, [e+4]; ret;"
>>> sorted(varying(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]))
['a', 'b']
"""

from __future__ import annotations

from descriptors.ptx.fold import targets
from descriptors.ptx.module import Function, Instruction
from descriptors.ptx.operands import names

_SPECIAL = ("%tid", "%laneid", "%lanemask", "%warpid", "%clock", "%globaltimer")
_MADE = ("elect.sync", "atom", "activemask", "match.", "ldmatrix", "wgmma.", "tcgen05.ld", "clock")
_SAME = ("vote", "redux", "shfl.sync.idx", "mbarrier")


def varying(function: Function) -> set[str]:
    """The registers of a function that may differ between threads."""
    users: dict[str, list[Instruction]] = {}
    found: set[str] = set()
    waiting: list[str] = []

    def mark(one: Instruction) -> None:
        for name in targets(one):
            if name not in found:
                found.add(name)
                waiting.append(name)

    for one in function.code:
        read = {name for operand in one.operands for name in names(operand)} | {one.predicate}
        if one.opcode.startswith(_MADE) or any(name.startswith(_SPECIAL) for name in read):
            mark(one)
        elif not one.opcode.startswith(_SAME):
            for name in read:
                users.setdefault(name, []).append(one)
    while waiting:
        for one in users.get(waiting.pop(), ()):
            mark(one)
    return found
