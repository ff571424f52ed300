"""A tile copied to tensor memory: the instruction, each word with its column, and the proof.

Law: text and data have the same words.

>>> from descriptors.tmem.copied import tmem_copied
>>> made = tmem_copied((128, 64), "bf16", "128B", "128x256b")
>>> words = [line.split()[1] for line in tell(made).splitlines() if "0x" in line]
>>> words == [one["word"] for one in record(made)["steps"]]
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.chains import landing
from descriptors.output.tmem import fragment
from descriptors.text import aligned, word_text
from descriptors.tmem.copied import Copied, Landing


@text.tell.register(Copied)
def tell(copied: Copied, report: Landing | None = None) -> str:
    """The copies of a tile for a person.

    Args:
        copied: the copies.
        report: their proof, for a last line.

    >>> from descriptors.tmem.copied import tmem_copied
    >>> print(tell(tmem_copied((128, 64), "bf16", "128B", "128x256b")).splitlines()[0])
    tcgen05.cp.cta_group::1.128x256b of a K-major tile of 128x64 bf16, swizzle 128B
    """
    d = copied.derivation
    few = "" if copied.copy.rows == d.tile[0] else f", the first {copied.copy.rows} of {d.tile[0]} rows"
    what = f"a K-major tile of {copied.copy.rows}x{d.tile[1]} {d.element}, swizzle {d.swizzle}{few}"
    _, *cells = fragment.tell(copied.cells).splitlines()
    rows = [("copy", "descriptor", "column"), *((i, word_text(s.word), s.column) for i, s in enumerate(copied.steps))]
    lines = [f"{copied.copy.ptx()} of {what}", f"   memory   (mn, k) -> {copied.memory}, in elements", *cells]
    lines += aligned(rows, ">", indent=3)
    return "\n".join([*lines, str(report)] if report is not None else lines)


def record(copied: Copied, report: Landing | None = None) -> dict[str, Any]:
    """The copies of a tile as plain data.

    Args:
        copied: the copies.
        report: their proof.

    >>> from descriptors.tmem.copied import tmem_copied
    >>> record(tmem_copied((128, 64), "bf16", "128B", "128x256b"))["steps"][1]
    {'word': '0x4000404000010002', 'column': 8}
    """
    return {
        "ptx": copied.copy.ptx(),
        "memory": str(copied.memory),
        "cells": fragment.record(copied.cells),
        "steps": [{"word": word_text(step.word), "column": step.column} for step in copied.steps],
        "proof": None if report is None else landing.record(report),
        "evidence": copied.evidence,
    }
