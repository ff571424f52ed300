"""Copies to tensor memory, told: every ``tcgen05.cp``, tiles and scale factors on their way, whole multiplications.

Law: text and data have the same words, of the copies of a tile, of scale factors, and of every K step.

>>> from descriptors.tmem.block_scaled import block_scaled
>>> from descriptors.tmem.copied import tmem_copied
>>> tile = tmem_copied((128, 64), "bf16", "128B", "128x256b")
>>> [line.split()[1] for line in tell_copied(tile).splitlines() if "0x" in line] == [
...     one["word"] for one in record_copied(tile)["steps"]
... ]
True
>>> made = block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3")
>>> (step,) = record_block_scaled(made)["steps"]
>>> all(word in tell_block_scaled(made) for word in step.values())
True
>>> all(one["word"] in tell_factors(made.sfa) for one in record_factors(made.sfa)["copies"])
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.answers import fields
from descriptors.smem.derivation.verify import Report
from descriptors.text import aligned, word_text
from descriptors.tmem.block_scaled import BlockScaled, MmaStep
from descriptors.tmem.copied import Copied
from descriptors.tmem.copies import TmemCopy, WidenedCopy
from descriptors.tmem.fragment_text import record_columns, record_fragment, tell_columns, tell_fragment
from descriptors.tmem.landing_proof import Landing, Step
from descriptors.tmem.scale_factors import ScaleFactors

#: What is not known of every copy that widens its elements.
OPEN = "where in its byte an element's bits are"

#: What is proved of a multiplication, in order.
_PROVED = ("A", "B", "SFA", "SFB")
_Reports = tuple[Report, Report, Landing, Landing]


def tell_copies(copies: Sequence[TmemCopy]) -> str:
    """The copies for a person.

    >>> from descriptors.tmem.copies import tmem_copies
    >>> print(tell_copies(tmem_copies()).splitlines()[1])
    128x256b               128  256   8        1       (128,256,1):(2097152,1,0)
    """
    rows: list[tuple[object, ...]] = [
        ("copy", "rows", "bits", "columns", "copies", "(row, bit, copy) -> bit of tensor memory")
    ]
    rows += [(one.name, one.rows, one.bits, one.columns, one.copies, one.cells.layout) for one in copies]
    grades = dict.fromkeys(one.cells.evidence for one in copies)
    by_grade = [(" ".join(one.name for one in copies if one.cells.evidence == grade), grade) for grade in grades]
    return "\n".join([*aligned(rows), *(f"known of {names}: {grade}" for names, grade in by_grade)])


def record_copies(copies: Sequence[TmemCopy]) -> dict[str, Any]:
    """The copies as plain data.

    Law: text and data name the same copies.

    >>> from descriptors.tmem.copies import tmem_copies
    >>> made = tmem_copies()
    >>> told = [line.split()[0] for line in tell_copies(made).splitlines()[1 : len(made) + 1]]
    >>> told == [one["copy"] for one in record_copies(made)["copies"]]
    True
    """
    rows = [
        {"copy": one.name, **fields(one, "rows bits columns copies"), **fields(one.cells, "layout evidence")}
        for one in copies
    ]
    return {"copies": rows}


def tell_widened(copy: WidenedCopy) -> str:
    """A widening copy for a person.

    >>> from descriptors.tmem.copies import widened_copy
    >>> print(tell_widened(widened_copy("128x256b.b8x16.b6x16_p32")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32: 6 bits an element, 4 bytes of each 16 are padding
    """
    _, *cells = tell_fragment(copy.cells).splitlines()
    source = f"   source   (row, element) -> {copy.source}, in bits of rows one behind the other"
    return "\n".join([copy.headline, source, *cells, f"   open     {OPEN}"])


def record_widened(copy: WidenedCopy) -> dict[str, Any]:
    """A widening copy as plain data.

    >>> from descriptors.tmem.copies import widened_copy
    >>> record_widened(widened_copy("128x256b.b8x16.b6x16_p32"))["padding"]
    4
    """
    return {
        "ptx": copy.ptx(),
        **fields(copy, "element_bits padding source"),
        **record_fragment(copy.cells),
        "open": OPEN,
    }


def tell_copied(copied: Copied, report: Landing | None = None) -> str:
    """The copies of a tile for a person.

    Args:
        copied: the copies.
        report: their proof, for a last line.

    >>> from descriptors.tmem.copied import tmem_copied
    >>> print(tell_copied(tmem_copied((128, 64), "bf16", "128B", "128x256b")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b of a K-major tile of 128x64 bf16, swizzle 128B
    """
    d = copied.derivation
    few = "" if copied.copy.rows == d.tile[0] else f", the first {copied.copy.rows} of {d.tile[0]} rows"
    what = f"a K-major tile of {copied.copy.rows}x{d.tile[1]} {d.element}, swizzle {d.swizzle}{few}"
    _, *cells = tell_fragment(copied.cells).splitlines()
    rows = [("copy", "descriptor", "column"), *((i, word_text(s.word), s.column) for i, s in enumerate(copied.steps))]
    lines = [f"{copied.copy.ptx()} of {what}", f"   memory   (mn, k) -> {copied.memory}, in elements", *cells]
    lines += aligned(rows, ">", indent=3)
    return "\n".join([*lines, str(report)] if report is not None else lines)


def record_copied(copied: Copied, report: Landing | None = None) -> dict[str, Any]:
    """The copies of a tile as plain data.

    Args:
        copied: the copies.
        report: their proof.

    >>> from descriptors.tmem.copied import tmem_copied
    >>> record_copied(tmem_copied((128, 64), "bf16", "128B", "128x256b"))["steps"][1]
    {'word': '0x4000404000010002', 'column': 8}
    """
    return {
        "ptx": copied.copy.ptx(),
        "memory": str(copied.memory),
        "cells": record_fragment(copied.cells),
        "steps": _words(copied.steps),
        "proof": None if report is None else record_landing(report),
        "evidence": copied.evidence,
    }


def _words(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The word of each copy, and the column that it writes to."""
    return [{"word": word_text(step.word), "column": step.column} for step in steps]


def record_landing(landing: Landing) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        **fields(landing, "ok elements bits copies"),
        "wrong_bits": landing.wrong,
        "told": str(landing),
        "evidence": landing.evidence,
    }


def tell_factors(factors: ScaleFactors, report: Landing | None = None) -> str:
    """Scale factors for a person.

    Args:
        factors: the scale factors.
        report: their proof, for a last line.

    >>> from descriptors.tmem.scale_factors import scale_factors
    >>> print(*tell_factors(scale_factors(8, 64, 16)).splitlines()[:2], sep="\\n")
    scale factors of 8 rows, K 64 by 16: 512 bytes, 4 columns
       memory   (mn, k) -> ((32,4),(16,4)):((16,4),(0,1)), in bytes
    """
    _, *cells = tell_fragment(factors.cells).splitlines()
    lines = [factors.headline, f"   memory   (mn, k) -> {factors.memory}, in bytes", *cells]
    words = [(f"tcgen05.cp.{factors.copy}", word_text(step.word), f"column {step.column}") for step in factors.steps]
    ids = [(f"K step {i}", f"column {at.column}", f"id {at.byte}") for i, at in enumerate(factors.places)]
    lines += [*aligned(words, indent=3), *aligned(ids, indent=3)]
    return "\n".join([*lines, str(report)] if report is not None else lines)


def record_factors(factors: ScaleFactors, report: Landing | None = None) -> dict[str, Any]:
    """Scale factors as plain data.

    Args:
        factors: the scale factors.
        report: their proof.

    >>> from descriptors.tmem.scale_factors import scale_factors
    >>> record_factors(scale_factors(8, 64, 16))["bytes"]
    512
    """
    return {
        **fields(factors, "mn k vector memory bytes"),
        "cells": record_fragment(factors.cells),
        **fields(factors, "columns copy"),
        "copies": _words(factors.steps),
        "k_steps": [{"column": at.column, "id": at.byte} for at in factors.places],
        "proof": None if report is None else record_landing(report),
        "evidence": factors.evidence,
    }


def tell_block_scaled(multiplication: BlockScaled, reports: _Reports | None = None) -> str:
    """A multiplication for a person.

    Args:
        multiplication: what is told.
        reports: what ``multiplication.verify()`` returned, for the last lines.

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
        words = [f"{word_text(step.word)} to column {step.column}" for step in scales.steps]
        lines.append(f"        tcgen05.cp.{scales.copy}: {', '.join(words)}")
    lines += ["", tell_columns(multiplication.plan), "", "Words; addresses of shared memory from that of each part"]
    rows: list[tuple[str, ...]] = [("K step", "A", "B", "idesc", "scale A", "scale B")]
    rows += [(str(i), *_step_words(step)) for i, step in enumerate(multiplication.steps)]
    lines += aligned(rows, indent=3)
    proofs = zip(_PROVED, reports or (), strict=reports is not None)
    return "\n".join(
        [*lines, f"   known    {multiplication.evidence}", *(f"{name} {report}" for name, report in proofs)]
    )


def record_block_scaled(multiplication: BlockScaled, reports: _Reports | None = None) -> dict[str, Any]:
    """A multiplication as plain data.

    Args:
        multiplication: what is told.
        reports: what ``multiplication.verify()`` returned.

    >>> from descriptors.tmem.block_scaled import block_scaled
    >>> record_block_scaled(block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3"))["steps"][0]["idesc"]
    '0x08020480'
    """
    return {
        **fields(multiplication, "ptx kind"),
        "scale_vec": multiplication.qualifier,
        **fields(multiplication, "m n k cta_group scale_dtype"),
        "operands": {
            name: {"layout": str(one.smem_tile), "swizzle": str(one.swizzle), "dtype": one.element.name}
            for name, one in (("A", multiplication.a), ("B", multiplication.b))
        },
        "scale_factors": {"SFA": record_factors(multiplication.sfa), "SFB": record_factors(multiplication.sfb)},
        "columns": record_columns(multiplication.plan),
        "steps": [
            dict(zip(("a", "b", "idesc", "sfa", "sfb"), _step_words(step), strict=True))
            for step in multiplication.steps
        ],
        "proofs": None if reports is None else dict(zip(_PROVED, map(str, reports), strict=True)),
        "evidence": multiplication.evidence,
    }


def _step_words(step: MmaStep) -> tuple[str, ...]:
    wide, narrow = (step.a, step.b), (step.idesc, step.sfa, step.sfb)
    return (*(word_text(one) for one in wide), *(word_text(one, 32) for one in narrow))
