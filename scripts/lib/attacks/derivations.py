"""Fuzzer of the derivations: every element of every operand must be where the walk of the words goes.

A case has the arguments of ``derive``, an address for the tile, and a word's bits to spoil. A tile of atoms is laid
out by hand (:mod:`walk`), an explicit layout evaluated by :mod:`plain`; then each word is walked, element by element.
A spoilt word goes to ``diff``, which must count the elements that are read from elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product as every
from typing import Any

import descriptors
import layoutalg
from attacks import plain, walk
from attacks.algebra import TooLong, timed
from attacks.laws import Broken, need

NAME = "derivations"
_MOST = 1 << 14  # elements that are walked in a case


def draw(rng: random.Random) -> dict[str, Any]:
    arch, major, dtype = rng.choice(["sm90", "sm100"]), rng.choice(["K", "MN"]), rng.choice(sorted(walk.BITS))
    modes = ["none", "32B", "64B", "128B"] + ["128B_BASE32B"] * (major == "MN" and arch == "sm100")
    mode = rng.choice(modes)
    row = walk.MODES[mode][0] * 8 // walk.BITS[dtype]
    atom = (8, row) if major == "K" else (row, 8)
    tile = [atom[0] * rng.choice([1, 2, 3, 4]), atom[1] * rng.choice([1, 2, 3, 4])]
    while tile[0] * tile[1] > _MOST:
        tile = [max(extent // 2, a) // a * a for extent, a in zip(tile, atom, strict=True)]
    piece = 128 // walk.BITS[dtype]
    units = (8, piece) if major == "K" else (piece, 8)
    mma = [rng.choice([n for n in range(u, t + 1, u) if t % n == 0]) for u, t in zip(units, tile, strict=True)]
    stages = rng.choice([[], [], [1], [2], [3]])
    arguments: dict[str, Any] = {
        "dtype": dtype,
        "mma": mma,
        "arch": arch,
        "legality": "off",
        "verify": rng.random() < 0.2,
    }
    if rng.random() < 0.6:
        orders = [None, rng.sample(range(2 + len(stages)), 2 + len(stages))]
        arguments |= {"tile": [*tile, *stages], "major": major, "swizzle": mode, "order": rng.choice(orders)}
    else:
        arguments |= {"layout": _explicit(rng, atom, tile, walk.BITS[dtype], mode, major)}
    aligned = rng.random() < 0.6
    base = rng.choice([0, 1, 2, 5]) * (1024 if aligned else 128 if mode != "none" else 16)
    return {"derive": arguments, "base": base, "spoil": rng.choice([16, 17, 20, 32, 33, 36, 3, 49])}


def _explicit(rng: random.Random, atom: tuple[int, int], tile: list[int], bits: int, mode: str, major: str) -> str:
    """A tile of atoms as a layout, with steps between them that may leave gaps, or steps that are wrong."""
    row = walk.MODES[mode][0] * 8 // bits
    counts = [extent // a for extent, a in zip(tile, atom, strict=True)]
    inside = (row, 1) if major == "K" else (1, row)
    step, steps = 8 * row, [0, 0]
    for m in rng.sample(range(2), 2):
        steps[m] = step * rng.choice([1, 1, 2, 3])
        step = steps[m] * counts[m]
    if rng.random() < 0.2:
        inside = (inside[0] * rng.choice([1, 2]), inside[1] * rng.choice([1, 2]))
    rows = f"(({atom[0]},{counts[0]}),({atom[1]},{counts[1]})):(({inside[0]},{steps[0]}),({inside[1]},{steps[1]}))"
    _, moved, position, _ = walk.MODES[mode]
    base = position + (8 // bits).bit_length() - 1 if bits < 8 else position - (bits // 8).bit_length() + 1
    return rows if mode == "none" else f"S<{moved},{base},{7 - position}> o 0 o {rows}"


# ---- the check ----


def check(case: dict[str, Any], seconds: int = 5) -> str | None:
    try:
        timed(lambda: _checked(case), 4 * seconds)
    except TooLong:
        return f"time: more than {4 * seconds} s"
    except Broken as error:
        return f"wrong: {error}"
    except (descriptors.DescriptorError, layoutalg.LayoutError) as error:
        return f"wrong: {error}" if isinstance(error, descriptors.ProofError) else None
    except Exception as error:  # noqa: BLE001  that is what is looked for
        return f"untyped {type(error).__name__}: {error}"
    return None


def _checked(case: dict[str, Any]) -> None:
    arguments = case["derive"]
    derivation = descriptors.derive(**arguments)
    try:
        words = derivation.words(case["base"])
    except descriptors.DescriptorError:
        return  # an address or a field that no word can hold
    bits, major = walk.BITS[arguments["dtype"]], str(derivation.major)
    places = _places(arguments, derivation, bits)
    mn, k = arguments["mma"]
    for where, word in _subtiles(words):
        fields = walk.Word.read(word, arguments["arch"])
        for i, j in every(range(mn), range(k)):
            stored = places((where[0] * mn + i, where[1] * k + j, *where[2:]), case["base"])
            fetched = walk.fetched(fields, bits, major, i, j)
            need(
                fetched == stored,
                f"subtile {where}, element ({i},{j}) is read from bit {fetched:#x}, stored at {stored:#x}",
            )
    _check_spoilt(case, derivation, words, places, bits, major)


def _subtiles(table: Any, where: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], int]]:
    if isinstance(table, int):
        return [(where, table)]
    return [pair for i, part in enumerate(table) for pair in _subtiles(part, (*where, i))]


def _places(arguments: dict[str, Any], derivation: Any, bits: int) -> Callable[[tuple[int, ...], int], int]:
    """Where the tile has an element, in bits, if the tile and its swizzle pattern start at an address."""
    if "tile" in arguments:
        tile, major = arguments["tile"], arguments["major"]
        default = [0, 1] if major == "K" else [1, 0]
        order = arguments["order"] or [*default, *range(2, len(tile))]
        steps = walk.stacked(tuple(tile), tuple(order), bits, major, arguments["swizzle"])

        def of_tile(where: tuple[int, ...], base: int) -> int:
            offset = sum(step[x] for step, x in zip(steps, where, strict=False))
            return 8 * (base + walk.swizzled(offset // 8, arguments["swizzle"])) + offset % 8

        return of_tile
    layout = plain.of(layoutalg.parse_layout(arguments["layout"]))

    def of_layout(where: tuple[int, ...], base: int) -> int:
        return 8 * base + bits * int(plain.at(layout, where[0] + where[1] * plain.size(layout.shape[0])))

    return of_layout


def _check_spoilt(case: dict[str, Any], derivation: Any, words: Any, places: Any, bits: int, major: str) -> None:
    """``diff`` must count what a word with a wrong bit reads from elsewhere."""
    arguments, base = case["derive"], case["base"]
    (where, word), *_ = _subtiles(words)
    spoilt = word ^ 1 << case["spoil"]
    fields = walk.Word.read(spoilt, arguments["arch"])
    mn, k = arguments["mma"]
    elements = list(every(range(mn), range(k)))
    wrong = sum(walk.fetched(fields, bits, major, i, j) != places((i, j, *where[2:]), base) for i, j in elements)
    difference = descriptors.diff(
        spoilt, derivation.smem_tile, arch=arguments["arch"], dtype=arguments["dtype"], major=major, shape=(mn, k),
        base=base, pattern_start=base,
    )  # fmt: skip
    need(
        difference.differing == wrong,
        f"{wrong} elements of {spoilt:#x} are elsewhere, diff counts {difference.differing}",
    )
    if wrong and difference.right_word is not None:
        right = walk.Word.read(difference.right_word, arguments["arch"])
        for i, j in elements:
            need(
                walk.fetched(right, bits, str(difference.right_major), i, j) == places((i, j, *where[2:]), base),
                f"diff offers {difference.right_word:#x}, which does not read element ({i},{j})",
            )


def line(case: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in case["derive"].items())
    return f"from descriptors import *; d = derive({arguments}); print(d.words({case['base']}))  # bit {case['spoil']}"
