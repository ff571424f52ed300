"""The proof of a chain to tensor memory, as a line and as data.

Law: what is proved has nothing wrong.

>>> from descriptors.tmem.copied import tmem_copied
>>> report = tmem_copied((128, 64), "bf16", "128B", "128x256b").verify()
>>> tell(report), record(report)["wrong_bits"]
('proved: 8192 elements, 131072 bits of tensor memory, written by 4 copies', 0)
"""

from __future__ import annotations

from typing import Any

from descriptors.tmem.copied import Landing


def tell(landing: Landing) -> str:
    """A proof for a person."""
    return str(landing)


def record(landing: Landing) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        "ok": landing.ok,
        "elements": landing.elements,
        "bits": landing.bits,
        "copies": landing.copies,
        "wrong_bits": landing.wrong,
        "told": str(landing),
        "evidence": landing.evidence,
    }
