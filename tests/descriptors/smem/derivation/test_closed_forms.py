"""Closed forms as text, LaTeX, Python and JSON hold the same formulas."""

from __future__ import annotations

import json

import pytest

from descriptors import DescriptorError
from descriptors.smem.derivation.closed_forms import write_formulas
from descriptors.smem.derivation.symbolic import derive_symbolic

ONE = {"dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


def test_the_text_has_every_step() -> None:
    text = write_formulas(derive_symbolic(("64*m", "64*k", "s"), **ONE, order=(1, 0, 2)))  # type: ignore[arg-type]
    for line in (
        "advance      (m,(4,k),(1,s)):(512*k,(2,64),(0,512*k*m))   (16-byte units)",
        "LBO  16 bytes  (changes nothing)",
        "SBO  1024*k bytes",
        "   MN: m subtiles, 8192*k bytes apart",
        "   stage: s subtiles, 8192*k*m bytes apart",
        "Atoms are stacked along K, then along MN, then along stages.",
    ):
        assert line in text.splitlines()


def test_latex_and_json_hold_the_same_formulas() -> None:
    family = derive_symbolic(("64*m", "64*k"), **ONE, order=(1, 0))  # type: ignore[arg-type]
    assert r"\mathrm{SBO} &= 1024 k" in write_formulas(family, "latex")
    assert r"\Delta_{\mathrm{MN},0} &= 8192 k, \quad 0 \le i < m" in write_formulas(family, "latex")
    record = json.loads(write_formulas(family, "json"))
    assert record["stride_byte_offset"] == "1024*k"
    assert record["leading_byte_offset"] == 16
    assert record["steps"][1] == {"dimension": "K", "extent": 4, "bytes": 32}


def test_a_symbol_that_python_reserves_is_refused_for_python_only() -> None:
    family = derive_symbolic(("64*lambda", "64*k"), **ONE)  # type: ignore[arg-type]
    assert "8192*lambda" in write_formulas(family)
    with pytest.raises(DescriptorError, match="symbol lambda cannot be the name of a parameter in Python"):
        write_formulas(family, "python")
