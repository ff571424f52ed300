"""Phases of mbarriers, as far as a text decides them: a wait in a loop whose parity never changes.

A phase ends with each commit of a round, so that a wait for one and the same parity is over before it began in every
other round. It is told where the loop commits to the mbarrier once, waits for it by one constant parity, and does
nothing else to any mbarrier: whatever more arrives, or makes it anew, may put that right.
Source: PTX ISA 9.1, mbarrier.try_wait (.parity), Phase of the mbarrier object.

Law: with a parity that changes there is nothing to tell.

>>> from descriptors.ptx.known import NOTHING, exactly
>>> from descriptors.ptx.module import parse
>>> commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [m];"
>>> text = f".entry k() {{ L: {commit} mbarrier.try_wait.parity.b64 w, [m], f; @q bra L; ret; }}"
>>> function, place = parse(".version 8.8\\n" + text).functions[0], exactly(0)._replace(base="&bar")
>>> [[i for i, _ in stuck(function, {0: {"m": place}, 1: {"m": place, "f": f}})] for f in (exactly(0), NOTHING)]
[[1], []]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.kernels.acts import Values, barrier, number
from descriptors.protocol.broken import Broken, broken
from descriptors.ptx.module import Function

_COMMIT, _WAITS = "tcgen05.commit", ("mbarrier.try_wait.parity", "mbarrier.test_wait.parity")
_OTHER = ("mbarrier.init", "mbarrier.inval", "mbarrier.arrive", "mbarrier.expect_tx", "mbarrier.complete_tx", "call")


def stuck(function: Function, values: Values) -> Iterator[tuple[int, Broken]]:
    """Waits of a loop for one parity: the index of the instruction, and the rule.

    Args:
        function: the function.
        values: what ``fold`` knows of the operands of its commits and waits.
    """
    code = function.code
    told: set[int] = set()
    for start, end in _loops(function):
        inside = range(start, end)
        if any(code[i].opcode.startswith(_OTHER) or "complete_tx" in code[i].opcode for i in inside):
            continue
        commits = [
            barrier(code[i].operands[:1], values.get(i, {})) for i in inside if code[i].opcode.startswith(_COMMIT)
        ]
        waits = [i for i in inside if code[i].opcode.startswith(_WAITS) and len(code[i].operands) > 2]
        names = {i: barrier(code[i].operands[1:2], values.get(i, {})) for i in waits}
        if "" in commits or "" in names.values():
            continue
        for name in dict.fromkeys(names.values()):
            own = [i for i in waits if names[i] == name]
            parities = {number(code[i].operands[2], values.get(i, {})) for i in own}
            if commits.count(name) == 1 and len(parities) == 1 and None not in parities and own[0] not in told:
                told.add(own[0])
                yield own[0], broken("tcgen05-parity", f"found {parities.pop()} in every round")


def _loops(function: Function) -> Iterator[tuple[int, int]]:
    """First instruction of a loop and the one behind its branch back, those with commits alone; the innermost first."""
    found = []
    for index, one in enumerate(function.code):
        target = one.operands[-1] if one.opcode.startswith("bra") and one.operands else None
        start = function.labels.get(target, index + 1) if isinstance(target, str) else index + 1
        if start <= index:
            found.append((start, index + 1))
    commits = [index for index, one in enumerate(function.code) if one.opcode.startswith(_COMMIT)]
    held = [(a, b) for a, b in found if any(a <= index < b for index in commits)]
    yield from sorted(held, key=lambda one: one[1] - one[0])[:MOST]


#: Loops that are looked at: far more than any kernel has around its commits.
MOST = 256
