r"""The register pool of a CTA: its warps give registers back and take them with ``setmaxnreg``.

A warp has as many registers per thread as the kernel was launched with, until it gives some back (``.dec``) or takes
more (``.inc``), which waits until the pool has enough. The number at launch is known only if the text limits it, by
``.maxnreg``, or by ``.minnctapersm`` beside ``.reqntid`` or ``.maxntid``; otherwise ptxas ignores ``setmaxnreg``
(C7508) unless an option limits it. A launch never has more registers per thread than the largest count.

Source: PTX ISA 9.1, setmaxnreg; ptxas 13.0 (registers used, C7508); measured on an H200: 40 x 128 + 240 x 256 registers
of a CTA that was launched with 168 x 384 never end.

Invariant: what all warps hold together never exceeds what the CTA was launched with.

>>> from descriptors.check.ptx.ptx_module import parse
>>> def at_launch(directives, count=240):
...     text = f".version 8.8\n.entry k() {directives} {{ setmaxnreg.inc.sync.aligned.u32 {count}; ret; }}"
...     return launch_registers(parse(text).functions[0])
>>> [at_launch(text) for text in (".reqntid 384 .minnctapersm 1", ".maxnreg 170", ".reqntid 416 .minnctapersm 1")]
[168, 176, 128]
>>> at_launch(".reqntid 128 .minnctapersm 1"), at_launch(".reqntid 384")
(240, None)
"""

from __future__ import annotations

from math import prod

from descriptors.check.execution.launch import WARP
from descriptors.check.ptx.ptx_module import ALL, MOST_REGISTERS, STEP, Function, directive

#: Warps per warpgroup; registers are allocated to whole warpgroups.
_GROUP = 4


def launch_registers(function: Function) -> int | None:
    """Return the registers per thread at launch of a kernel with ``setmaxnreg``; None if the text does not give them.

    They are rounded up to a multiple of 8, the unit of allocation.
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
    """Return a number of threads rounded up to whole groups of four warps."""
    return -(-threads // (WARP * _GROUP)) * WARP * _GROUP


class RegisterPool:
    """The registers of a CTA.

    Args:
        at_launch: registers per thread at launch.
        warps: number of warps.
    """

    def __init__(self, at_launch: int, warps: int) -> None:
        self.at_launch, self.warps = at_launch, warps
        self.held = dict.fromkeys(range(warps), at_launch)

    @property
    def free(self) -> int:
        """Free registers per thread, summed over warps."""
        return self.at_launch * self.warps - sum(self.held.values())

    @property
    def total(self) -> int:
        """Number of registers of the CTA."""
        return self.at_launch * self.warps * WARP
