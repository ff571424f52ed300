"""Other names that people write for a choice: those of C++, of PyTorch, of PTX targets, of CUTLASS's atoms.

Law: a synonym is never the name of another choice, and has several meanings only where nobody could tell which one is
meant; it is refused there, with all of them.

>>> meanings("half_t", ("f16", "bf16")), meanings("bf16", ("f16", "bf16"))
(('f16',), ())
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product


def _rows() -> Iterable[tuple[tuple[str, ...], str]]:
    """What a choice is called here, after its other names."""
    yield (("m", "n", "mn-major", "m-major", "n-major", "mn_major"), "MN")
    yield (("k-major", "k_major"), "K")
    yield (("half", "half_t", "float16", "fp16", "__half"), "f16")
    yield (("bfloat16", "bfloat16_t", "__nv_bfloat16"), "bf16")
    yield (("tfloat32", "tfloat32_t", "tfloat"), "tf32")
    yield (("int8", "int8_t", "i8"), "s8")
    yield (("uint8", "uint8_t", "ui8"), "u8")
    yield (("32x128b.warpx4",), "32x128b")
    for width, name in (("8", "e4m3"), ("8", "e5m2"), ("6", "e2m3"), ("6", "e3m2"), ("4", "e2m1")):
        yield ((f"fp{width}", f"float{width}", f"fp{width}_{name}", f"float_{name}_t", f"__nv_fp{width}_{name}"), name)
        yield ((f"fp{width}_{name}fn", f"float{width}_{name}", f"float{width}_{name}fn", f"f{width}{name}fn"), name)
        yield ((f"{name}fn", f"f{width}{name}"), name)
    for digits, name, called in (("90", "sm90", "hopper"), ("100", "sm100", "blackwell")):
        suffixes = ("", "a", "f") if digits == "100" else ("", "a")
        yield (tuple(f"{start}{digits}{end}" for start, end in product(("", "sm_", "sm"), suffixes)), name)
        yield ((called,), name)
    for width in ("32", "64", "128"):
        yield ((width, f"{width}-byte"), f"{width}B")
        yield (tuple(f"{start}sw{width}" for start in ("", "k_", "mn_")), f"{width}B")
        yield ((f"swizzle_{width}b", f"cu_tensor_map_swizzle_{width}b"), f"{width}B")
    yield (("k_inter", "mn_inter", "inter", "interleave", "swizzle_none", "cu_tensor_map_swizzle_none"), "none")
    yield (("mn_sw128_32b", "sw128_32b"), "128B_BASE32B")


def _table() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names, meant in _rows():
        for name in names:
            if name != meant.casefold():
                found[name] = (*found.get(name, ()), meant)
    return found


#: What each other name, in small letters, may mean.
SYNONYMS: Mapping[str, tuple[str, ...]] = _table()


def meanings(value: object, choices: Iterable[str]) -> tuple[str, ...]:
    """The choices that a value may mean: none if it is no other name of one of them.

    >>> meanings("SW128", ["none", "128B"]), meanings("fp8", ["e4m3", "e5m2", "s8"]), meanings("90", ["K", "MN"])
    (('128B',), ('e4m3', 'e5m2'), ())
    """
    known = set(choices)
    return tuple(one for one in SYNONYMS.get(value.casefold(), ()) if one in known) if isinstance(value, str) else ()
