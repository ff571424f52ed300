"""The story of a kernel: for a person, and as plain data.

Law: each accumulation has its lines in both.

>>> from descriptors import explain_ptx
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 1;"
>>> told = explain_ptx(f".version 8.8\\n.target sm_90a\\n.entry k() {{ {mma} }}")
>>> "line 3" in tell(told), record(told)["kernels"][0]["accumulations"][0]["lines"]
(True, [3])
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from descriptors.check.story import Accumulation, Kernel, Story
from descriptors.text import counted, extents_text
from descriptors.text import tell as printed


@printed.register
def tell(story: Story) -> str:
    """A story for a person.

    >>> from descriptors import explain_ptx
    >>> print(tell(explain_ptx(".version 8.8\\n.target sm_80\\n")))
    sm_80: 0 functions with tensor-core instructions
    """
    return "\n".join([story.headline, *(line for kernel in story.kernels for line in _kernel(kernel))])


def _kernel(kernel: Kernel) -> list[str]:
    lines = ["", f"{kernel.name}, line {kernel.line}"]
    for number, one in enumerate(kernel.accumulations, 1):
        lines += _accumulation(number, one)
    if kernel.waits:
        waits = ", ".join(f"{n} (line {line})" for line, n in kernel.waits)
        lines.append(f"  {counted(kernel.commits, 'commit')}, waits for all groups but the newest {waits}")
        lines.append(f"  at most {counted(kernel.in_flight, 'group')} in flight where one is issued")
    if kernel.columns:
        columns = ", ".join("a register's" if one is None else str(one) for one in kernel.columns)
        lines.append(f"  tensor memory: {columns} columns allocated of 512")
    if kernel.loads or kernel.stores:
        lines.append(f"  {kernel.loads} tcgen05.ld, {kernel.stores} tcgen05.st")
    if kernel.commits and not kernel.waits:
        lines.append(f"  {counted(kernel.commits, 'commit')} to mbarriers")
    return lines


def _accumulation(number: int, one: Accumulation) -> list[str]:
    m, n, k = one.shape
    many = len(one.lines)
    where = f"line {one.lines[0]}" if many == 1 else f"lines {one.lines[0]}..{one.lines[-1]}"
    shape = f"{extents_text(one.shape)}, together {extents_text((m, n, k * many))}" if k else "of a shape not known"
    starts = {True: "adds to D", False: "starts from zero", None: "starts as a predicate says"}[one.first_adds]
    lines = [
        f"  {number}. {many} x {one.opcode}",
        f"     {where}{', in a loop' if one.in_loop else ''}: {shape}; {starts}",
    ]
    return lines + [f"     {operand}" for operand in one.operands]


def record(story: Story) -> dict[str, Any]:
    """A story as plain data.

    >>> from descriptors import explain_ptx
    >>> record(explain_ptx(".version 8.8\\n.target sm_80\\n"))
    {'target': 'sm_80', 'kernels': []}
    """
    return {"target": story.target, "kernels": [_plain(asdict(kernel)) for kernel in story.kernels]}


def _plain(value: Any) -> Any:
    """Tuples as lists, as JSON has them."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
