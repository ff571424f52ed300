"""A layout and a swizzle mean one tile to every command: where elements are stored is judged by enumeration."""

from __future__ import annotations

import random
from ast import literal_eval
from typing import Any

import pytest

from descriptors import DescriptorError, candidates, derive, diff, match
from descriptors.gemm.chain_notation import chain
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.proof.read_model import read_rows
from layoutalg import Layout, LayoutError
from layoutalg import size as size_of

#: Which bits of a byte address a swizzle mode exclusive-ors into which: how many, from where, to where.
BITS = {"none": (0, 0, 0), "32B": (1, 7, 4), "64B": (2, 7, 4), "128B": (3, 7, 4), "128B_BASE32B": (2, 7, 5)}
SWIZZLES = [None, *BITS]
BYTES = {"bf16": 2, "tf32": 4, "e4m3": 1}


def swizzled(address: int, mode: str) -> int:
    """An address behind the swizzle, written down from the table of the PTX ISA and not by the library."""
    count, source, target = BITS[mode]
    return address ^ (address >> source & (1 << count) - 1) << target


def some_layout(draw: random.Random, dtype: str, major: Any) -> tuple[str, str, tuple[int, int]]:
    """A plain layout, a swizzle mode that may fit it, and what one instruction reads.

    Half of the layouts are a tile without its swizzle, the others are made of strides that few words read.
    """
    k, mn = 32 // BYTES[dtype], 8 if major == "K" else 128
    if draw.random() < 0.5:
        mode: Any = draw.choice([name for name in BITS if name != "128B_BASE32B" or (major, dtype) == ("MN", "tf32")])
        tile = (2 * mn, draw.choice([2, 4, 8]) * k)
        d = answer(derive, tile, dtype, major, mode, (mn, k), legality="off", arch="sm90", verify=False)
        if d is not None:
            return str(plain(d.smem_tile)), mode, (mn, k)
    rows, whole, pitch = 2 * mn, 2 * k, draw.choice([k // 2, k, 2 * k, 4 * k])
    text = draw.choice(
        [
            f"({rows},{whole}):({pitch},1)",
            f"({rows},{whole}):(1,{draw.choice([rows, 2 * rows, 64, 72])})",
            f"((8,{rows // 8}),{whole}):(({pitch},{8 * pitch + draw.choice([0, 8 * pitch])}),1)",
            f"((8,{rows // 8}),({k // 2},4)):(({k // 2},{4 * k}),(1,{draw.choice([2, 4]) * k * rows}))",
        ]
    )
    return text, "128B", (mn, k)


def answer(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """What a function returns; None where it refuses."""
    try:
        return function(*arguments, **keywords)
    except LayoutError:
        return None


@pytest.mark.parametrize("seed", range(8))
def test_derive_diff_candidates_and_chain_mean_the_same_tile(seed: int) -> None:
    draw = random.Random(seed)
    fits = 0
    for _ in range(16):
        dtype, major = draw.choice(list(BYTES)), draw.choice(["K", "MN"])
        text, mode, shape = some_layout(draw, dtype, major)
        size, swizzle = BYTES[dtype], draw.choice([*SWIZZLES, mode, mode, mode])
        layout = Layout(*map(literal_eval, text.split(":")))
        if len({layout(i) for i in range(size_of(layout))}) < size_of(layout):
            continue  # a chain has no room for two elements in one place
        known: dict[str, Any] = {"dtype": dtype, "arch": "sm90"}
        d = answer(derive, layout=text, swizzle=swizzle, major=major, mma=shape, legality="off", verify=False, **known)
        forms = answer(candidates, text, shape=shape, swizzle=swizzle, **known)
        own = [one for one in forms or () if one.fit and not one.applied and str(one.major) == major]
        compare = {"shape": shape, "major": major, "base": 0, "swizzle": swizzle, **known}
        if d is None:
            # A first operand that has a form may belong to a tile whose operands have none.
            assert not any(answer(diff, one.fit.descriptor.encode(), text, **compare).differing for one in own)
            continue
        fits += 1
        word, stored = d.descriptor.encode(), str(swizzle or d.swizzle)
        for (i, j), one in {(0, 0): word, (0, 1): d.word(0, 1), (1, 0): d.word(1, 0)}.items():
            reads = read_rows(one, "sm90", dtype=dtype, major=major, shape=shape)
            corner = (i * shape[0], j * shape[1])
            homes = [[layout(corner[0] + a, corner[1] + b) * size for b in range(shape[1])] for a in range(shape[0])]
            if swizzle is not None:
                homes = [[swizzled(home, swizzle) for home in row] for row in homes]
            assert reads == homes
            comparison = diff(one, text, subtile=(i, j), **compare)
            assert not comparison.differing and comparison.right_word is not None
            assert comparison.ok is not bool(comparison.illegal)  # an operand that no instruction reads stays undecided
        words = {one.fit.descriptor.encode() for one in own if str(one.swizzle) == str(d.swizzle)}
        assert any(not (each ^ word) & ~d.dont_care_mask() for each in words)
        if swizzle is not None:
            assert all(str(one.swizzle) == stored for one in own)
        for other in set(BITS) - {stored}:
            moved = any(swizzled(layout(a, b) * size, other) != reads_at for a, b, reads_at in first(word, d, shape))
            assert bool(diff(word, text, **{**compare, "swizzle": other}).differing) is moved
        link = f"layout {text}" + (f" swizzle={swizzle}" if swizzle else "")
        derived = ";".join(",".join(str(d.word(*at) - word) for at in ats) for ats in blocks(d))
        verdict = chain(
            [link, f"word {word:#x} mma={shape[0]}x{shape[1]} major={major} advance={derived}"],
            tile=(d.tile[0], d.tile[1]), dtype=dtype, arch="sm90",
        ).verify()  # fmt: skip
        assert verdict.verdict == ("incomplete" if comparison.illegal else "proved")
    assert fits >= 2


def first(word: int, d: Any, shape: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Row, column and address of every element that a word reads."""
    found = read_rows(word, "sm90", dtype=d.element, major=d.major, shape=shape)
    return [(a, b, found[a][b]) for a in range(shape[0]) for b in range(shape[1])]


def blocks(d: Any) -> list[list[tuple[int, int]]]:
    """The subtiles along the rows and along the columns."""
    counts = d.tile[0] // d.mma[0], d.tile[1] // d.mma[1]
    return [[(i, 0) for i in range(counts[0])], [(0, j) for j in range(counts[1])]]


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
def test_a_named_swizzle_and_the_same_one_written_in_the_layout_are_one(swizzle: str) -> None:
    bits = BITS[swizzle][0]
    pitch = 8 << bits
    text, written = f"(64,{pitch}):({pitch},1)", f"S<{bits},3,3> o 0 o (64,{pitch}):({pitch},1)"
    known: dict[str, Any] = {"dtype": "bf16", "arch": "sm90"}
    by_name = derive(layout=text, swizzle=swizzle, mma=(64, 16), **known)
    in_text = derive(layout=written, mma=(64, 16), **known)
    assert by_name == in_text
    word = in_text.descriptor.encode()
    compare: dict[str, Any] = {"major": "K", "shape": (64, 16), "base": 0, **known}
    assert diff(word, text, swizzle=swizzle, **compare) == diff(word, written, **compare)
    assert not diff(word, text, **compare).ok and diff(word, text, **compare).right_word is None
    first = [candidates(text, shape=(64, 16), swizzle=swizzle, **known), candidates(written, shape=(64, 16), **known)]
    assert str(first[0][0]) == str(first[1][0])
    assert match(f"(64,16):({pitch},1)", "bf16", swizzle=swizzle) == match(
        f"S<{bits},3,3> o 0 o (64,16):({pitch},1)", "bf16"
    )
    for function in (derive, diff, candidates, match):
        arguments: dict[str, Any] = {"dtype": "bf16", "swizzle": "128B_BASE32B"}
        with pytest.raises(
            DescriptorError, match=f"the layout has swizzle {swizzle}, but swizzle 128B_BASE32B was given"
        ):
            if function is derive:
                derive(layout=written, mma=(64, 16), major="MN", **arguments)
            elif function is diff:
                diff(word, written, "sm90", major="MN", **arguments)
            elif function is candidates:
                candidates(written, **arguments)
            else:
                match(written, major="MN", **arguments)


def test_a_swizzle_that_is_hidden_in_strides_is_stored_as_written_for_all() -> None:
    text, known = "(8,8):(1,72)", {"dtype": "bf16", "arch": "sm90"}
    d = derive(layout=text, mma=(8, 8), legality="off", **known)  # type: ignore[arg-type]
    found = diff(d.descriptor.encode(), text, major="MN", base=0, shape=(8, 8), **known)  # type: ignore[arg-type]
    assert (str(d.swizzle), found.differing, found.right_word) == ("128B", 0, d.descriptor.encode())
    fit = candidates(text, **known)[0]  # type: ignore[arg-type]
    assert fit.fit is not None and (str(fit.swizzle), fit.applied) == ("128B", False)
    assert derive_refuses(text, "none") and candidates(text, swizzle="none", **known)[0].fit is None  # type: ignore[arg-type]


def derive_refuses(text: str, swizzle: Any) -> bool:
    """Whether a layout with a swizzle has no word."""
    return answer(derive, layout=text, dtype="bf16", mma=(8, 8), legality="off", arch="sm90", swizzle=swizzle) is None
