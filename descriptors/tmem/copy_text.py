"""Text and JSON records of copies to tensor memory: ``tcgen05.cp``, tiles, scale factors, block-scaled multiplications.

Invariant: text and record contain the same descriptors of the copies of a tile, of scale factors, and of every K step.

>>> from descriptors.tmem.block_scaled import block_scaled
>>> from descriptors.tmem.copied import tmem_copied
>>> tile = tmem_copied((128, 64), "bf16", "128B", "128x256b")
>>> [line.split()[1] for line in tell_copied(tile).splitlines() if "0x" in line] == [
...     step["word"] for step in record_copied(tile)["steps"]
... ]
True
>>> multiplication = block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> (step,) = record_block_scaled(multiplication)["steps"]
>>> all(word in tell_block_scaled(multiplication) for word in step.values())
True
>>> factors = multiplication.sfa
>>> all(copy["word"] in tell_factors(factors) for copy in record_factors(factors)["copies"])
True
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.records import HALF, WORD, Option, Record, Row, attributes, each, within
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.operand import DTYPES, SwizzleMode
from descriptors.text import aligned, word_text
from descriptors.tmem.block_scaled import BlockScaled
from descriptors.tmem.copied import Copied
from descriptors.tmem.copies import TmemCopy, WidenedCopy
from descriptors.tmem.fragment_text import record_columns, record_fragment, tell_columns, tell_fragment
from descriptors.tmem.landing_proof import Landing
from descriptors.tmem.scale_factors import ScaleFactors

#: The open question about copies that widen their elements.
OPEN = "where in its byte an element's bits are"

_Reports = tuple[Report, Report, Landing, Landing]


#: The record of a ``tcgen05.cp``.
COPY = Record(
    copy=Row(str, "name", "copy"),
    **each(int, "rows bits columns copies", shown=True),
    layout=Row(str, "cells.layout", "(row, bit, copy) -> bit of tensor memory"),
    evidence=Row(str, "cells.evidence"),
)
#: The record of all copies.
record_copies = Record("Copies", copies=Row([COPY], "."))


def tell_copies(copies: Sequence[TmemCopy]) -> str:
    """Return the text of some copies.

    >>> from descriptors.tmem.copies import tmem_copies
    >>> print(tell_copies(tmem_copies()).splitlines()[1])
    128x256b               128  256   8        1       (128,256,1):(2097152,1,0)
    """
    grades = dict.fromkeys(copy.cells.evidence for copy in copies)
    by_grade = [(" ".join(copy.name for copy in copies if copy.cells.evidence == grade), grade) for grade in grades]
    known = [f"known of {names}: {grade}" for names, grade in by_grade]
    return "\n".join([*aligned(COPY.table(copies)), *known])


def tell_widened(copy: WidenedCopy) -> str:
    """Return the text of a widening copy.

    >>> from descriptors.tmem.copies import widened_copy
    >>> print(tell_widened(widened_copy("128x256b.b8x16.b6x16_p32")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32: 6 bits an element, 4 bytes of each 16 are padding
    """
    _, *cells = tell_fragment(copy.cells).splitlines()
    source = f"   source   (row, element) -> {copy.source}, in bits of rows one behind the other"
    return "\n".join([copy.headline, source, *cells, f"   open     {OPEN}"])


#: The record of a widening copy.
record_widened = Record(
    ptx=Row(str, lambda copy: copy.ptx()),
    **attributes(WidenedCopy, "element_bits padding source") | within("cells", **record_fragment.rows),
    open=Row(str, lambda copy: OPEN),
)


#: The record of a copy with its descriptor and its first column.
PLACED = Record(word=Row(WORD, label="descriptor"), column=Row(int, label="column"))


def tell_copied(copied: Copied, report: Landing | None = None) -> str:
    """Return the text of the copies of a tile.

    Args:
        copied: the copies.
        report: the result of their verification, for the last line.

    >>> from descriptors.tmem.copied import tmem_copied
    >>> print(tell_copied(tmem_copied((128, 64), "bf16", "128B", "128x256b")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b of a K-major tile of 128x64 bf16, swizzle 128B
    """
    d = copied.derivation
    few = "" if copied.copy.rows == d.tile[0] else f", the first {copied.copy.rows} of {d.tile[0]} rows"
    what = f"a K-major tile of {copied.copy.rows}x{d.tile[1]} {d.element}, swizzle {d.swizzle}{few}"
    _, *cells = tell_fragment(copied.cells).splitlines()
    lines = [f"{copied.copy.ptx()} of {what}", f"   memory   (mn, k) -> {copied.memory}, in elements", *cells]
    lines += aligned(PLACED.table(copied.steps, number="copy"), ">", indent=3)
    return "\n".join([*lines, str(report)] if report is not None else lines)


#: The record of a verification.
record_landing = Record(
    "Landing", **attributes(Landing, "ok elements bits copies wrong_bits=wrong"), told=Row(str, "."), evidence=str
)
#: The record of the copies of a tile; the option ``report`` is the result of their verification.
record_copied = Record(
    "Copied",
    ptx=Row(str, lambda copied: copied.copy.ptx()),
    memory=str,
    cells=record_fragment,
    steps=[PLACED],
    proof=Row((record_landing, None), Option("report")),
    evidence=str,
)


def tell_factors(factors: ScaleFactors, report: Landing | None = None) -> str:
    """Return the text of scale factors.

    Args:
        factors: the scale factors.
        report: the result of their verification, for the last line.

    >>> from descriptors.tmem.scale_factors import scale_factors
    >>> print(*tell_factors(scale_factors(8, 64, 16)).splitlines()[:2], sep="\\n")
    scale factors of 8 rows, K 64 by 16: 512 bytes, 4 columns
       memory   (mn, k) -> ((32,4),(16,4)):((16,4),(0,1)), in bytes
    """
    _, *cells = tell_fragment(factors.cells).splitlines()
    lines = [factors.headline, f"   memory   (mn, k) -> {factors.memory}, in bytes", *cells]
    words = [(f"tcgen05.cp.{factors.copy}", word_text(step.word), f"column {step.column}") for step in factors.steps]
    ids = [(f"K step {i}", f"column {place.column}", f"id {place.byte}") for i, place in enumerate(factors.places)]
    lines += [*aligned(words, indent=3), *aligned(ids, indent=3)]
    return "\n".join([*lines, str(report)] if report is not None else lines)


#: The record of scale factors; the option ``report`` is the result of their verification.
record_factors = Record(
    "ScaleFactors",
    **attributes(ScaleFactors, "mn k vector memory bytes"),
    cells=record_fragment,
    **attributes(ScaleFactors, "columns copy"),
    copies=[PLACED],
    k_steps=[{"column": int, "id": Row(int, "byte")}],
    proof=Row((record_landing, None), Option("report")),
    evidence=str,
)


def tell_block_scaled(multiplication: BlockScaled, reports: _Reports | None = None) -> str:
    """Return the text of a block-scaled multiplication.

    Args:
        multiplication: the multiplication.
        reports: the results of ``multiplication.verify()``, for the last lines.

    >>> from descriptors.tmem.block_scaled import block_scaled
    >>> print(tell_block_scaled(block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")).splitlines()[0])
    tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X: M 128, N 8, K 64, factors ue4m3 by 16
    """
    scale = f"factors {multiplication.scale_dtype} by {multiplication.sfa.vector}"
    lines = [
        f"{multiplication.ptx}: M {multiplication.m}, N {multiplication.n}, K {multiplication.k}, {scale}",
        "",
        "Shared memory of a CTA",
    ]
    for name, operand in (("A", multiplication.a), ("B", multiplication.b)):
        size = operand.tile[0] * operand.tile[1] * operand.element.storage_bits // 8
        tile = f"{operand.tile[0]}x{operand.tile[1]} {operand.element}"
        lines.append(f"   {name}    {tile}, swizzle {operand.swizzle}, {size} bytes: {operand.smem_tile}")
    for name, scales in (("SFA", multiplication.sfa), ("SFB", multiplication.sfb)):
        lines.append(f"   {name}  {scales.bytes} bytes: {scales.memory}")
        words = [f"{word_text(step.word)} to column {step.column}" for step in scales.copies]
        lines.append(f"        tcgen05.cp.{scales.copy}: {', '.join(words)}")
    lines += ["", tell_columns(multiplication.plan), "", "Words; addresses of shared memory from that of each part"]
    lines += aligned(STEP.table(multiplication.steps, number="K step"), indent=3)
    proofs = zip(("A", "B", "SFA", "SFB"), reports or (), strict=reports is not None)
    return "\n".join(
        [*lines, f"   known    {multiplication.evidence}", *(f"{name} {report}" for name, report in proofs)]
    )


#: The record of an operand of a multiplication.
SCALED = Record("ScaledOperand", layout=Row(str, "smem_tile"), swizzle=SwizzleMode, dtype=Row(DTYPES, "element"))
#: The record of the descriptors and pointers of a K step.
STEP = Record(
    a=Row(WORD, label="A"),
    b=Row(WORD, label="B"),
    idesc=Row(HALF, label="idesc"),
    sfa=Row(HALF, label="scale A"),
    sfb=Row(HALF, label="scale B"),
)
#: The record of a multiplication; the option ``reports`` is the result of its ``verify``.
record_block_scaled = Record(
    "BlockScaled",
    **attributes(BlockScaled, "ptx kind scale_vec=qualifier m n k cta_group scale_dtype"),
    operands=Row({"A": Row(SCALED, "a"), "B": Row(SCALED, "b")}, "."),
    scale_factors=Row({"SFA": Row(record_factors, "sfa"), "SFB": Row(record_factors, "sfb")}, "."),
    columns=Row(record_columns, "plan"),
    steps=[STEP],
    proofs=Row((dict.fromkeys(("A", "B", "SFA", "SFB"), str), None), Option("reports")),
    evidence=str,
)
