"""The registers of a CTA, which its warps give back to a pool and take from it with ``setmaxnreg``.

A warp holds as many registers per thread as the kernel was launched with, until it gives some back (``.dec``) or takes
more (``.inc``), which waits until the pool has enough. The launch gives the registers only where the text limits them,
by ``.maxnreg``, or by ``.minnctapersm`` beside ``.reqntid`` or ``.maxntid``; elsewhere ptxas ignores ``setmaxnreg``
(C7508) unless an option limits them. A launch never has more registers per thread than the largest count.
Source: PTX ISA 9.1, setmaxnreg; ptxas 13.0 (registers used, C7508); measured on an H200: 40 x 128 + 240 x 256 registers
of a CTA that was launched with 168 x 384 never end.

Invariant: what all warps hold together never exceeds what the CTA was launched with.

>>> from descriptors.check.ptx.ptx_module import parse
>>> def at_launch(directives, count=240):
...     text = f".version 8.8\\n.entry k() {directives} {{ setmaxnreg.inc.sync.aligned.u32 {count}; ret; }}"
...     return launch_registers(parse(text).functions[0])
>>> [at_launch(one) for one in (".reqntid 384 .minnctapersm 1", ".maxnreg 170", ".reqntid 416 .minnctapersm 1")]
[168, 176, 128]
>>> at_launch(".reqntid 128 .minnctapersm 1"), at_launch(".reqntid 384")
(240, None)
"""

from __future__ import annotations

from math import prod

from descriptors.check.execution.launch import WARP
from descriptors.check.ptx.ptx_module import ALL, MOST_REGISTERS, STEP, Function, directive

#: Warps of a warpgroup, in whose number the warps of a CTA are counted for their registers.
_GROUP = 4


def launch_registers(function: Function) -> int | None:
    """Registers per thread that a kernel with ``setmaxnreg`` is launched with; None where the text does not say them.

    They are rounded up to the multiple of 8 that a warp is given.
    """
    head = function.head
    limits = list(directive(head, "maxnreg")[:1])
    threads = directive(head, "reqntid") or directive(head, "maxntid")
    if threads and (ctas := directive(head, "minnctapersm")):
        limits.append(ALL // max(1, _rounded(prod(threads)) * ctas[0]) // STEP * STEP)
    if not limits:
        return None
    counts = [count for index in function.having("setmaxnreg.") for count in function.code[index].operands[:1]]
    largest = max((count for count in counts if isinstance(count, int)), default=MOST_REGISTERS)
    return -(-min(*limits, largest) // STEP) * STEP


def _rounded(threads: int) -> int:
    """Threads in whole groups of four warps."""
    return -(-threads // (WARP * _GROUP)) * WARP * _GROUP


class RegisterPool:
    """The registers of a CTA.

    Args:
        at_launch: registers per thread that it was launched with.
        warps: how many warps it has.
    """

    def __init__(self, at_launch: int, warps: int) -> None:
        self.at_launch, self.warps = at_launch, warps
        self.held = dict.fromkeys(range(warps), at_launch)

    @property
    def free(self) -> int:
        """Registers of a thread of each warp that nobody holds, together."""
        return self.at_launch * self.warps - sum(self.held.values())

    @property
    def total(self) -> int:
        """The registers of the CTA."""
        return self.at_launch * self.warps * WARP
