"""The proof of a derivation: it passes what is right, and catches every field that is wrong."""

from __future__ import annotations

import dataclasses
import re
import sys
from itertools import product
from typing import Any

import pytest
from derived import K_128, K_NONE, MN_64, derivations, leaves, unproved
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, derive
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import proved
from descriptors.smem.derivation.verdict import judge
from descriptors.smem.derivation.verify import verify
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.proof.addresses import stored_rows
from descriptors.smem.proof.mismatch import Mismatch
from layoutalg import ComposedLayout, Layout, Swizzle, size


@given(d=derivations())
def test_every_derivation_is_proved_for_every_element(d: Derivation) -> None:
    report = verify(d)
    assert report.ok, str(report)
    assert (report.elements, report.subtiles) == (size(d.smem_tile), size(d.advance))
    assert not report.mismatches


@given(d=derivations(), data=st.data())
def test_a_derivation_is_proved_at_any_address_with_the_base_offset_that_it_takes(
    d: Derivation, data: st.DataObject
) -> None:
    step = 16 if d.swizzle is SwizzleMode.NONE else 128
    bases = data.draw(st.lists(st.integers(0, 255).map(lambda n: n * step), min_size=1, max_size=3))
    report = verify(d, bases=bases)
    assert report.ok, str(report)
    assert report.bases == tuple(bases)


def test_the_report_counts_elements_and_subtiles_and_says_how_the_model_is_known() -> None:
    report = verify(derive(**K_128))
    assert str(report) == "proved: 16384 elements in 16 subtiles"
    assert report.evidence == "documented, not measured on a Blackwell GPU"
    assert verify(derive(**K_128, arch="sm90")).evidence == "measured on a Hopper GPU"
    assert str(verify(derive(**K_128), bases=(0, 1024))) == "proved: 16384 elements in 16 subtiles at 2 tile addresses"


def with_descriptor(d: Derivation, **changes: Any) -> Derivation:
    return dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, **changes))


@each(
    ("arguments", "changes"),
    [
        (K_128, {"stride_byte_offset": 512}),
        (K_128, {"stride_byte_offset": 0}),
        (K_128, {"swizzle": "64B"}),
        (K_128, {"swizzle": "none", "leading_byte_offset": 16}),
        (K_NONE, {"leading_byte_offset": 0}),
        (K_NONE, {"leading_byte_offset": 128, "stride_byte_offset": 2048}),
        (K_NONE, {"swizzle": "32B"}),
        (MN_64, {"leading_byte_offset": 16}),
        (MN_64, {"stride_byte_offset": 1024}),
        (MN_64, {"leading_byte_offset": 512, "stride_byte_offset": 8192}),
        (MN_64, {"swizzle": "32B"}),
        (K_128, {"start_address": 16}),
    ],
)
def test_a_wrong_field_is_caught(arguments: dict[str, Any], changes: dict[str, Any]) -> None:
    report = verify(with_descriptor(unproved(**arguments), **changes))
    assert not report.ok
    assert report.differing > 0
    assert str(report).startswith(
        f"disproved: {report.differing} of 16384 elements in 16 subtiles are read from elsewhere"
    )


@pytest.mark.parametrize("arch", ["sm90", "sm100"])
@pytest.mark.parametrize("mode", ["32B", "64B", "128B"])
def test_a_wrong_base_offset_is_caught_wherever_the_pattern_tells(arch: str, mode: str) -> None:
    d = unproved(**{**K_128, "swizzle": mode}, arch=arch)
    lines = {"32B": 2, "64B": 4, "128B": 8}[mode]
    for base_offset in range(8):
        spoilt = _Words(d, [with_base_offset(d, word, base_offset) for word in leaves(d.words())])
        assert verify(spoilt).ok == (base_offset % lines == 0)


class _Words(Derivation):
    """A derivation that claims other words than its descriptor's."""

    __slots__ = ("claimed",)
    claimed: list[int]

    def __init__(self, d: Derivation, claimed: list[int]) -> None:
        for field in dataclasses.fields(d):
            object.__setattr__(self, field.name, getattr(d, field.name))
        object.__setattr__(self, "claimed", claimed)

    def words(self, base: int = 0) -> Any:
        return tuple(self.claimed)


def with_base_offset(d: Derivation, word: int, base_offset: int) -> int:
    return d.descriptor.word.encode({**d.descriptor.word.decode(word), "base_offset": base_offset})


def test_a_wrong_start_of_one_subtile_is_caught_and_named() -> None:
    d = unproved(**K_128)
    words = leaves(d.words())
    words[11] += 2  # subtile (1,3) of 2 x 8 starts 32 bytes late: in the next row of the swizzle
    report = verify(_Words(d, words))
    assert report.differing == 64 * 16
    assert report.mismatches[0] == Mismatch((0, 0), 8288, 8288 + 32 ^ 16, "byte", subtile=(1, 3))
    assert {mismatch.subtile for mismatch in report.mismatches} == {(1, 3)}
    assert str(report.mismatches[0]) == "element (0,0) of subtile (1,3) is stored at byte 0x2060, read at byte 0x2090"


def test_a_wrong_advance_is_caught() -> None:
    d = unproved(**K_128)
    wrong = dataclasses.replace(d, advance=Layout((2, (4, 2)), (512, (2, 512))))
    assert not verify(wrong).ok


@given(d=derivations(), data=st.data())
def test_one_wrong_element_anywhere_is_found(d: Derivation, data: st.DataObject) -> None:
    at = tuple(data.draw(st.integers(0, extent - 1)) for extent in d.tile)

    stages = product(*map(range, d.tile[2:]))

    def one_off(*arguments: Any, **options: Any) -> Any:
        rows = stored_rows(*arguments, **options)
        if next(stages) == at[2:]:
            rows[at[0]][at[1]] += 1
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["descriptors.smem.derivation.verify"], "stored_rows", one_off)
        report = verify(d)
    assert report.differing == 1
    first = report.mismatches[0]
    inside = zip(at, first.subtile, (*d.mma, *(1 for _ in at[2:])), strict=True)
    assert first.coordinate == tuple(where - part * extent for where, part, extent in inside)[:2]
    assert first.expected == first.found + 1


@pytest.mark.parametrize("tile", [(2048, 1024), (64, 16384)])
def test_what_words_can_name_of_a_tile_of_any_size_is_compared(tile: tuple[int, int]) -> None:
    report = verify(derive(**{**K_128, "tile": tile, "capacity": None, "verify": False}))
    assert report.ok and report.beyond


def test_stages_are_compared_each_with_its_words() -> None:
    d = derive(**{**MN_64, "tile": (128, 64, 3), "order": (1, 0, 2)}, verify=False)
    assert str(verify(d)) == "proved: 24576 elements in 24 subtiles"
    assert isinstance(d.advance, Layout) and isinstance(d.advance.stride, tuple)
    late = dataclasses.replace(d, advance=Layout(d.advance.shape, (*d.advance.stride[:2], (0, 256))))
    assert {one.subtile[2] for one in verify(late).mismatches} <= {1, 2}
    assert verify(late).differing == 2 * 128 * 64


def test_a_field_that_the_hardware_does_not_read_is_no_mismatch() -> None:
    assert verify(with_descriptor(unproved(**K_128), leading_byte_offset=4096)).ok
    assert verify(
        _Words(
            unproved(**K_128, arch="sm90"), [word | 3 << 52 for word in leaves(unproved(**K_128, arch="sm90").words())]
        )
    ).ok


def test_two_elements_of_a_byte_are_told_apart() -> None:
    d = unproved(tile=(128, 256), dtype="e2m1", major="K", swizzle="128B", mma=(128, 64))
    assert str(verify(d)) == "proved: 32768 elements in 4 subtiles"
    rows = d.smem_tile.inner if isinstance(d.smem_tile, ComposedLayout) else d.smem_tile
    half_a_byte_on = dataclasses.replace(d, smem_tile=ComposedLayout(Swizzle(3, 5, 3), 1, rows))
    report = verify(half_a_byte_on)
    assert report.differing == 32768
    assert (report.mismatches[0].unit, report.mismatches[0].expected, report.mismatches[0].found) == ("bit", 4, 0)


def test_the_tile_is_cut_without_the_algebra_s_divide() -> None:
    d = unproved(**K_128)
    assert verify(dataclasses.replace(d, partitioned=Layout(1, 0), recast=Layout(1, 0))).ok
    other_tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout(((8, 16), (64, 2)), ((64, 1024), (1, 512))))
    assert not verify(dataclasses.replace(d, smem_tile=other_tile)).ok


def test_an_element_wise_walk_in_plain_integers_agrees_with_the_report() -> None:
    d = unproved(**{**MN_64, "tile": (64, 32), "mma": (64, 16)}, arch="sm90")
    for k, word in enumerate(leaves(d.words())):
        start, leading, stride = (word & 0x3FFF) * 16, (word >> 16 & 0x3FFF) * 16, (word >> 32 & 0x3FFF) * 16
        for i in range(64):
            for j in range(16):
                b = 2 * i
                address = start + b // 64 * leading + b % 64 + j % 8 * 64 + j // 8 * stride
                address ^= (address >> 7 & 3) << 4
                assert d.smem_tile(i, 16 * k + j) * 2 == address
    assert verify(d).ok


@pytest.mark.parametrize(
    ("bases", "complaint"),
    [
        ((), "one or more addresses"),
        (0, "one or more addresses"),
        ((64,), "multiple of 128"),
        ((-16,), "the minimum is 0"),
        ((2**18,), "the maximum is"),
        ((0.0,), "an integer"),
        ((2**18 - 1024,), "beyond the 232448 bytes of shared memory; the highest aligned base is 199680"),
        ((199680, 200704), "the tile at base 200704 ends at 233472, beyond the 232448 bytes"),
    ],
)
def test_a_base_that_is_no_place_for_the_tile_is_an_error(bases: Any, complaint: str) -> None:
    with pytest.raises(DescriptorError, match=complaint):
        verify(derive(**K_128), bases=bases)


@pytest.mark.parametrize("value", [None, 3, "derivation", K_128])
def test_only_a_derivation_can_be_proved(value: Any) -> None:
    with pytest.raises(DescriptorError, match="is not a derivation"):
        verify(value)


def test_words_that_do_not_stand_for_the_operands_are_an_error() -> None:
    d = unproved(**K_128)
    with pytest.raises(DescriptorError, match="there is not one word per operand"):
        verify(_Words(d, leaves(d.words())[:-1]))


def test_a_report_is_a_value() -> None:
    one, other = verify(derive(**K_128)), verify(derive(**K_128))
    assert one == other == dataclasses.replace(one)
    assert len({one, other}) == 1
    assert repr(one).startswith("Report(elements=16384, subtiles=16, bases=(0,), differing=0, mismatches=(), ")


@pytest.mark.parametrize(
    ("arch", "dtype", "major", "mma"),
    [("sm90", "e4m3", "MN", (64, 32)), ("sm90", "bf16", "K", (64, 64)), ("sm100", "bf16", "K", (64, 64))],
)
def test_a_verdict_on_an_operand_that_no_instruction_reads_has_no_grade(
    arch: Any, dtype: str, major: Any, mma: tuple[int, int]
) -> None:
    d = derive((128, 64), dtype, major, "128B", mma, arch=arch, legality="off")
    for report in (None, verify(d), proved(d)):
        verdict = judge(d, report=report)
        assert (verdict.grade, verdict.evidence) == ("none", d.evidence)
        assert re.fullmatch("no (wgmma|tcgen05) instruction reads such an operand", d.evidence)
    assert judge(derive((128, 64), "bf16", "K", "128B", (64, 16), arch=arch, legality="off")).grade != "none"
