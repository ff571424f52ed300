"""Scale factors on their whole way: memory, copies, tensor memory, ids of the K steps, and the proof.

Law: text and data have the same words.

>>> from descriptors.tmem.scale_factors import scale_factors
>>> made = scale_factors(128, 256, 32, step=64)
>>> told = [word for line in tell(made).splitlines() for word in line.split() if word.startswith("0x0000")]
>>> told == [one["word"] for one in record(made)["copies"]]
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.output.chains import landing
from descriptors.output.tmem import fragment
from descriptors.text import aligned, word_text
from descriptors.tmem.copied import Landing
from descriptors.tmem.scale_factors import ScaleFactors


@text.tell.register(ScaleFactors)
def tell(factors: ScaleFactors, report: Landing | None = None) -> str:
    """Scale factors for a person.

    Args:
        factors: the scale factors.
        report: their proof, for a last line.

    >>> from descriptors.tmem.scale_factors import scale_factors
    >>> print(*tell(scale_factors(8, 64, 16)).splitlines()[:2], sep="\\n")
    scale factors of 8 rows, K 64 by 16: 512 bytes, 4 columns
       memory   (mn, k) -> ((32,4),(16,4)):((16,4),(0,1)), in bytes
    """
    _, *cells = fragment.tell(factors.cells).splitlines()
    lines = [factors.headline, f"   memory   (mn, k) -> {factors.memory}, in bytes", *cells]
    words = [(f"tcgen05.cp.{factors.copy}", word_text(step.word), f"column {step.column}") for step in factors.steps]
    ids = [(f"K step {i}", f"column {at.column}", f"id {at.byte}") for i, at in enumerate(factors.places)]
    lines += [*aligned(words, indent=3), *aligned(ids, indent=3)]
    return "\n".join([*lines, str(report)] if report is not None else lines)


def record(factors: ScaleFactors, report: Landing | None = None) -> dict[str, Any]:
    """Scale factors as plain data.

    Args:
        factors: the scale factors.
        report: their proof.

    >>> from descriptors.tmem.scale_factors import scale_factors
    >>> record(scale_factors(8, 64, 16))["bytes"]
    512
    """
    return {
        "mn": factors.mn,
        "k": factors.k,
        "vector": factors.vector,
        "memory": str(factors.memory),
        "bytes": factors.bytes,
        "cells": fragment.record(factors.cells),
        "columns": factors.columns,
        "copy": factors.copy,
        "copies": [{"word": word_text(step.word), "column": step.column} for step in factors.steps],
        "k_steps": [{"column": at.column, "id": at.byte} for at in factors.places],
        "proof": None if report is None else landing.record(report),
        "evidence": factors.evidence,
    }
