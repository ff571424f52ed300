"""The words agree with NVIDIA's own code: the CuTe DSL's compiler for sm_90a and sm_100a, and its typed words.

Cases are drawn from the lattice of legal operands; ``LAYOUTALG_SEED`` draws others, ``LAYOUTALG_WORDS`` sets how many.
The whole lattice is in ``test_words_agree_everywhere``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest
from compiled import disagreements, drawn
from seeds import seeds_of

from descriptors import DescriptorError, derive, oracle, plain
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.words.bitfield import Word
from descriptors.smem.words.descriptor import SM90_DESCRIPTOR, SM90_SWIZZLE_CODES, SM100_DESCRIPTOR, SM100_SWIZZLE_CODES
from descriptors.sweep.lattice import lattice
from layoutalg import ComposedLayout, Layout

pytestmark = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")

NUMBER = int(os.environ.get("LAYOUTALG_WORDS", "640"))

#: Tiles and operands of every size that instructions have, A and B.
WHOLE = lattice("32:256:32,48,80,240x32:256:32x1:2", "8:256:8xauto", operands="either")


@pytest.mark.parametrize("seed", seeds_of("test_sampled_words_are_exactly_those_of_the_compiler"))
def test_sampled_words_are_exactly_those_of_the_compiler(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    derivations = drawn(WHOLE, NUMBER, random.Random(str(seed)))
    wrong, counts = disagreements(derivations, exact=True)
    summary = f"{counts['ok']} words equal to the compiler's" if not wrong else f"{len(wrong)} words differ"
    archs = Counter(d.arch for d in derivations)
    parts = ", ".join(f"{arch} {n}" for arch, n in sorted(archs.items()))
    record_property("note", f"LAYOUTALG_SEED={seed}: {summary} ({parts})")
    assert not wrong, f"LAYOUTALG_SEED={seed}\n" + "\n".join(wrong[:10])
    assert counts["ok"] >= NUMBER - NUMBER // 50, counts  # a rejection is no agreement
    assert len({(d.arch, d.major) for d in derivations}) == 4


@pytest.mark.parametrize(
    "seed", seeds_of("test_words_of_layouts_that_cutlass_does_not_write_agree_but_for_what_nobody_reads")
)
def test_words_of_layouts_that_cutlass_does_not_write_agree_but_for_what_nobody_reads(seed: int) -> None:
    chooser = random.Random(str(seed))
    spread = [d for d in (_spread(d, chooser) for d in drawn(WHOLE, 60, chooser)) if d is not None]
    wrong, counts = disagreements(spread, exact=False)
    assert not wrong, f"LAYOUTALG_SEED={seed}\n" + "\n".join(wrong[:10])
    assert counts["ok"] > 20, counts


def _spread(d: Derivation, chooser: random.Random) -> Derivation | None:
    """The same tile with its atoms further apart, as no ``tile_to_shape`` makes it."""
    rows = plain(d.smem_tile)
    if not all(isinstance(mode, tuple) and len(mode) == 2 for mode in rows.shape[:2]):
        return None
    room = chooser.choice([2, 3])
    strides = tuple((a, b * room) for a, b in rows.stride[:2])
    spread = Layout(rows.shape[:2], strides)
    layout = ComposedLayout(d.smem_tile.outer, 0, spread) if isinstance(d.smem_tile, ComposedLayout) else spread
    with suppress(DescriptorError):
        return derive(
            layout=layout, dtype=d.element, major=d.major, mma=d.mma, arch=d.arch, capacity=None, verify=False
        )
    return None


#: Fields of our words by the names that the DSL gives them.
NAMES = {"swizzle": "layout_type"}

TYPED = """
import json
from cutlass.experimental import primitives
found = {}
for name in ("WgmmaSmemDesc", "Tcgen05SmemDesc"):
    typed = getattr(primitives, name)
    fields = [field for field in dir(typed) if isinstance(getattr(typed, field), property) and field != "dtype"]
    signed = [(bit, (1 << bit) - (1 << 64 if bit == 63 else 0)) for bit in range(64)]
    found[name] = {f: [(bit, int(getattr(typed(word), f))) for bit, word in signed] for f in fields}
for name in ("WgmmaSwizzle", "Tcgen05SmemSwizzle"):
    found[name] = {member.name: int(member) for member in getattr(primitives, name)}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def typed() -> dict[str, dict[str, list[tuple[int, int]]]]:
    """For each typed word of the DSL and each field: what it reads of every single bit."""
    environment = {**os.environ, "CUTE_DSL_LOG_LEVEL": "50"}
    done = subprocess.run([sys.executable, "-c", TYPED], capture_output=True, text=True, check=True, env=environment)
    record: dict[str, dict[str, list[tuple[int, int]]]] = json.loads(done.stdout.splitlines()[-1])
    return record


@pytest.mark.parametrize(("name", "word"), [("WgmmaSmemDesc", SM90_DESCRIPTOR), ("Tcgen05SmemDesc", SM100_DESCRIPTOR)])
def test_the_typed_words_have_every_field_where_ours_has_it(
    typed: dict[str, dict[str, list[tuple[int, int]]]], name: str, word: Word
) -> None:
    for field in word.fields:
        if field.name == "lbo_mode":  # the DSL sets the bit in build() and has no reader for it
            continue
        # Bits 14 and 30 belong to the Rubin architecture; the DSL calls them reserved in sm100.
        read = {
            bit: value for bit, value in typed[name][NAMES.get(field.name, field.name)] if value and bit not in (14, 30)
        }
        assert read == {field.low + i: 1 << i for i in range(field.bits)}, field.name
    assert {NAMES.get(field.name, field.name) for field in word.fields} - {"lbo_mode"} == set(typed[name])


@pytest.mark.parametrize(
    ("name", "table"),
    [("WgmmaSwizzle", SM90_SWIZZLE_CODES), ("Tcgen05SmemSwizzle", SM100_SWIZZLE_CODES)],
)
def test_the_typed_swizzles_have_our_codes(
    typed: dict[str, dict[str, int]], name: str, table: tuple[tuple[SwizzleMode, int], ...]
) -> None:
    codes = {str(mode): code for mode, code in table}
    assert sorted(typed[name].values()) == sorted(codes.values())
    for member, code in typed[name].items():
        plain_name = member.removeprefix("SWIZZLE_").replace("NONE", "none").replace("INTERLEAVE", "none")
        if plain_name in codes:
            assert codes[plain_name] == code, member
