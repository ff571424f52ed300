"""Tiles, operands and derivations to draw: of every type, major, swizzle and architecture."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from descriptors import DescriptorError, NotCanonicalError, derive
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode

#: Elements of K that one instruction reads, by bits that an element takes up: 256 bits in all.
INSTRUCTION_K = {32: 8, 16: 16, 8: 32, 4: 64}

#: The algebra alone: any operand that divides its tile, proved by the tests themselves.
ALGEBRA: dict[str, Any] = {"legality": "off", "verify": False}

K_128: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
K_NONE: dict[str, Any] = {**K_128, "swizzle": "none"}
MN_64: dict[str, Any] = {**K_128, "major": "MN", "swizzle": "64B", "order": (1, 0)}


@st.composite
def tiles(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `derive` that describe a tile of whole atoms and an operand the hardware could read."""
    element = draw(st.sampled_from(sorted(ELEMENT_TYPES.values(), key=str)))
    major = draw(st.sampled_from(Major))
    arch = draw(st.sampled_from(["sm90", "sm100"]))
    modes = [mode for mode in SwizzleMode if mode is not SwizzleMode.B128_BASE32B]
    if major is Major.MN and arch == "sm100":
        modes.append(SwizzleMode.B128_BASE32B)
    mode = draw(st.sampled_from(modes))
    span = mode.span_bytes * 8 // element.storage_bits
    depth = INSTRUCTION_K[element.storage_bits]
    rows = draw(st.sampled_from([8, 16, 64, 128]))
    if major is Major.K:
        tile = (rows * draw(st.integers(1, 3)), max(span, depth) * draw(st.integers(1, 3)))
        operand = (rows, depth)
    else:
        width = max(span, rows)
        operand = (max(rows, element.per_16_bytes), depth)
        tile = (max(width, operand[0]) * draw(st.integers(1, 2)), depth * draw(st.integers(1, 3)))
    order = draw(st.sampled_from([(0, 1), (1, 0)]))
    return {
        "tile": tile, "dtype": element.name, "major": major.value, "swizzle": mode.value, "mma": operand,
        "order": order, "arch": arch,
    }  # fmt: skip


def derive_or_none(arguments: dict[str, Any]) -> Derivation | None:
    """The derivation, or None for the tiles that have none: too large, or stacked so that a step is not single."""
    try:
        return derive(**{**ALGEBRA, **arguments})
    except NotCanonicalError as error:
        # A group of 4 k is half an atom of 32-byte pieces: stacked along MN first, k takes two steps.
        assert arguments["swizzle"] == "128B_BASE32B"
        assert error.found.startswith("(2,")
    except DescriptorError as error:
        assert "a CTA has 232448 bytes" in str(error)
    return None


def unproved(**arguments: Any) -> Derivation:
    """A derivation for the algebra alone: no table of instructions asked, no proof run."""
    return derive(**arguments, legality="off", verify=False)


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    """Tiles of whole atoms, every type, major, swizzle and architecture."""
    element = draw(st.sampled_from(sorted(ELEMENT_TYPES.values(), key=str)))
    major, arch = draw(st.sampled_from(Major)), draw(st.sampled_from(["sm90", "sm100"]))
    modes: list[SwizzleMode] = [mode for mode in SwizzleMode if mode is not SwizzleMode.B128_BASE32B]
    if major is Major.MN and arch == "sm100":
        modes.append(SwizzleMode.B128_BASE32B)
    mode = draw(st.sampled_from(modes))
    span, depth = mode.span_bytes * 8 // element.storage_bits, INSTRUCTION_K[element.storage_bits]
    rows = draw(st.sampled_from([8, 16, 64]))
    if major is Major.K:
        operand = (rows, depth)
        tile = (rows * draw(st.integers(1, 3)), max(span, depth) * draw(st.integers(1, 2)))
    else:
        operand = (max(rows, element.per_16_bytes), depth)
        tile = (max(span, operand[0]) * draw(st.integers(1, 2)), depth * draw(st.integers(1, 2)))
    stages = draw(st.sampled_from([(), (2,)]))
    order = draw(st.permutations(range(2))) + [2] * len(stages)
    try:
        return unproved(
            tile=tile + stages, dtype=element, major=major, swizzle=mode, mma=operand, order=order, arch=arch
        )
    except NotCanonicalError:
        # A group of 4 k is half an atom of 32-byte pieces: stacked along MN first, k takes two steps.
        assert mode is SwizzleMode.B128_BASE32B
        return unproved(**K_128)


def leaves(table: Any) -> list[int]:
    return [table] if isinstance(table, int) else [leaf for row in table for leaf in leaves(row)]
