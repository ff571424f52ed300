"""A block-scaled multiplication of one tile: operands, scale factors, columns, and the words of every K step.

Law: text and data have the same words.

>>> from descriptors.tmem.block_scaled import block_scaled
>>> made = block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> (step,) = record(made)["steps"]
>>> all(word in tell(made) for word in step.values())
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.chains import factors
from descriptors.output.tmem import columns
from descriptors.smem.derivation.verify import Report
from descriptors.text import aligned, word_text
from descriptors.tmem.block_scaled import BlockScaled, MmaStep
from descriptors.tmem.copied import Landing

#: What is proved of a multiplication, in order.
_PROVED = ("A", "B", "SFA", "SFB")


@text.tell.register(BlockScaled)
def tell(made: BlockScaled, reports: tuple[Report, Report, Landing, Landing] | None = None) -> str:
    """A multiplication for a person.

    Args:
        made: the multiplication.
        reports: what ``made.verify()`` returned, for the last lines.

    >>> from descriptors.tmem.block_scaled import block_scaled
    >>> print(tell(block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")).splitlines()[0])
    tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X: M 128, N 8, K 64, factors ue4m3 by 16
    """
    scale = f"factors {made.scale_dtype} by {made.sfa.vector}"
    lines = [f"{made.ptx}: M {made.m}, N {made.n}, K {made.k}, {scale}", "", "Shared memory of a CTA"]
    for name, operand in (("A", made.a), ("B", made.b)):
        size = operand.tile[0] * operand.tile[1] * operand.element.storage_bits // 8
        tile = f"{operand.tile[0]}x{operand.tile[1]} {operand.element}"
        lines.append(f"   {name}    {tile}, swizzle {operand.swizzle}, {size} bytes: {operand.smem_tile}")
    for name, scales in (("SFA", made.sfa), ("SFB", made.sfb)):
        lines.append(f"   {name}  {scales.bytes} bytes: {scales.memory}")
        words = [f"{word_text(step.word)} to column {step.column}" for step in scales.steps]
        lines.append(f"        tcgen05.cp.{scales.copy}: {', '.join(words)}")
    lines += ["", columns.tell(made.plan), "", "Words; addresses of shared memory from that of each part"]
    rows: list[tuple[str, ...]] = [("K step", "A", "B", "idesc", "scale A", "scale B")]
    rows += [(str(i), *_words(step)) for i, step in enumerate(made.steps)]
    lines += aligned(rows, indent=3)
    proofs = zip(_PROVED, reports or (), strict=reports is not None)
    return "\n".join([*lines, f"   known    {made.evidence}", *(f"{name} {report}" for name, report in proofs)])


def record(made: BlockScaled, reports: tuple[Report, Report, Landing, Landing] | None = None) -> dict[str, Any]:
    """A multiplication as plain data.

    Args:
        made: the multiplication.
        reports: what ``made.verify()`` returned.

    >>> from descriptors.tmem.block_scaled import block_scaled
    >>> record(block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3"))["steps"][0]["idesc"]
    '0x08020480'
    """
    return {
        "ptx": made.ptx,
        "kind": made.kind,
        "scale_vec": made.qualifier,
        "m": made.m,
        "n": made.n,
        "k": made.k,
        "cta_group": made.cta_group,
        "scale_dtype": made.scale_dtype,
        "operands": {
            name: {"layout": str(one.smem_tile), "swizzle": str(one.swizzle), "dtype": one.element.name}
            for name, one in (("A", made.a), ("B", made.b))
        },
        "scale_factors": {"SFA": factors.record(made.sfa), "SFB": factors.record(made.sfb)},
        "columns": columns.record(made.plan),
        "steps": [dict(zip(("a", "b", "idesc", "sfa", "sfb"), _words(step), strict=True)) for step in made.steps],
        "proofs": None if reports is None else dict(zip(_PROVED, map(str, reports), strict=True)),
        "evidence": made.evidence,
    }


def _words(step: MmaStep) -> tuple[str, ...]:
    wide, narrow = (step.a, step.b), (step.idesc, step.sfa, step.sfb)
    return (*(word_text(one) for one in wide), *(word_text(one, 32) for one in narrow))
