"""The canonical atoms: the DSL's layouts, and one row of bytes for every element type."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors import ATOMS, ChoiceError, DescriptorError, canonical_atom, derive, plain, tell, verify
from descriptors.smem.operands.atoms import OTHER_ATOMS, Atom, smem_tile
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode, as_element_type
from layoutalg import ComposedLayout, Layout, LayoutError, cosize, size

ids = {"ids": lambda value: value.name if isinstance(value, Atom) else str(value)}


@each(
    ("major", "swizzle", "dtype", "text"),
    [
        # Article, sections 3.1 and 4.1; the swizzle is that of the element offsets.
        ("K", "128B", "bf16", "S<3,3,3> o 0 o (8,64):(64,1)"),
        ("MN", "64B", "bf16", "S<2,3,3> o 0 o (32,8):(1,32)"),
        ("K", "none", "f16", "(8,8):(8,1)"),
        ("K", "32B", "tf32", "S<1,2,3> o 0 o (8,8):(8,1)"),
        ("K", "64B", "e4m3", "S<2,4,3> o 0 o (8,64):(64,1)"),
        ("K", "128B", "e2m1", "S<3,5,3> o 0 o (8,256):(256,1)"),
        ("MN", "none", "s8", "(16,8):(1,16)"),
        ("MN", "128B", "f16", "S<3,3,3> o 0 o (64,8):(1,64)"),
        ("MN", "128B_BASE32B", "tf32", "S<2,3,2> o 0 o (32,8):(1,32)"),
        ("K", "128B", "e2m3", "S<3,4,3> o 0 o (8,128):(128,1)"),
    ],
)
def test_an_atom_in_elements_reads_as_published(major: str, swizzle: str, dtype: str, text: str) -> None:
    atom = canonical_atom(Major(major), SwizzleMode(swizzle))
    assert str(atom.in_elements(as_element_type(dtype))) == text


@pytest.mark.parametrize("atom", ATOMS + OTHER_ATOMS, **ids)
@pytest.mark.parametrize("element", ELEMENT_TYPES.values(), **ids)
def test_a_recast_atom_keeps_every_byte_where_it_was(atom: Atom, element: ElementType) -> None:
    in_elements = atom.in_elements(element)
    swizzle = atom.mode.swizzle
    rows, columns = map(size, plain(in_elements))
    assert rows * columns * element.storage_bits == size(atom.rows) * 8
    for i in range(rows):
        for k in range(columns):
            contiguous = k if atom.major is Major.K else i
            byte = contiguous * element.storage_bits // 8
            offset = atom.rows((i, byte) if atom.major is Major.K else (byte, k))
            place = offset if swizzle is None else swizzle(offset)
            within = contiguous * element.storage_bits % 8
            assert in_elements((i, k)) * element.storage_bits == place * 8 + within


@pytest.mark.parametrize("atom", ATOMS, **ids)
def test_every_atom_is_8_rows_of_its_swizzle_span(atom: Atom) -> None:
    assert size(atom.rows) == cosize(atom.rows) == 8 * atom.mode.span_bytes
    assert size(atom.rows[atom.major.contiguous_mode]) == atom.mode.span_bytes
    assert atom.source


def test_there_is_one_atom_for_every_major_and_mode_but_k_major_with_32_byte_pieces() -> None:
    pairs = [(atom.major, atom.mode) for atom in ATOMS]
    assert len(set(pairs)) == len(pairs) == len(Major) * len(SwizzleMode) - 1
    with pytest.raises(
        DescriptorError, match=r"swizzle 128B_BASE32B has no K-major atom; K-major swizzles: none, 32B, 64B, 128B$"
    ):
        canonical_atom(Major.K, SwizzleMode.B128_BASE32B)


def test_a_tile_is_the_atom_at_every_place_in_the_given_order() -> None:
    atom = Layout((8, 64), (64, 1))
    assert str(smem_tile(atom, (16, 128), (0, 1))) == "((8,2),(64,2)):((64,512),(1,1024))"
    assert str(smem_tile(atom, (16, 128), (1, 0))) == "((8,2),(64,2)):((64,1024),(1,512))"


@pytest.mark.parametrize("tile", [(12, 64), (8, 65), (4, 64), (8, 32)])
def test_a_tile_that_the_atom_does_not_divide_is_refused(tile: tuple[int, int]) -> None:
    atom = canonical_atom(Major.K, SwizzleMode.B128).in_elements(as_element_type("bf16"))
    assert isinstance(atom, ComposedLayout)
    with pytest.raises((DescriptorError, LayoutError), match="which is not a multiple of the atom's"):
        smem_tile(atom, tile, (0, 1))


FOUR: dict[str, Any] = {"tile": (64, 16), "dtype": "tf32", "major": "MN", "swizzle": "128B_BASE32B", "mma": (64, 8)}


def test_the_atom_of_4_rows_makes_the_tile_of_cutlass_where_atoms_are_stacked_mn_first() -> None:
    four = derive(**FOUR, order=(0, 1), atom="MN_SW128_32B_4ROWS")
    # Layout_MN_SW128_32B_Atom in 32-bit elements, then tile_to_shape with the default order.
    assert str(four.atom) == "S<2,3,2> o 0 o (32,4):(1,32)"
    assert str(plain(four.smem_tile)) == "((32,2),(4,4)):((1,128),(32,256))"
    assert (four.descriptor.leading_byte_offset, four.descriptor.stride_byte_offset) == (512, 1024)
    assert verify(four, bases=(0, 0x200, 0x480)).ok
    assert four.words() != derive(**FOUR, order=(0, 1)).words()
    assert "MN_SW128_32B_4ROWS, in elements of 4 bytes" in tell(four, steps=True)


def test_the_two_atoms_make_one_tile_where_atoms_are_stacked_k_first() -> None:
    four, eight = derive(**FOUR, order=(1, 0), atom="MN_SW128_32B_4ROWS"), derive(**FOUR, order=(1, 0))
    assert four.words() == eight.words()
    assert all(four.smem_tile(i) == eight.smem_tile(i) for i in range(64 * 16))


@pytest.mark.parametrize("changes", [{"atom": "MN_SW128_32B_2ROWS"}, {"atom": "MN_SW128"}, {"atom": 4}])
def test_an_atom_of_another_mode_is_refused(changes: Any) -> None:
    mismatched = changes["atom"] == "MN_SW128"
    with pytest.raises(DescriptorError if mismatched else ChoiceError, match="MN_SW128_32B_4ROWS"):
        derive(**FOUR, **changes)
    with pytest.raises(DescriptorError, match="an explicit layout has no atom, but atom is"):
        derive(layout="(64,16):(64,1)", dtype="bf16", mma=(64, 16), swizzle="128B", **changes)
