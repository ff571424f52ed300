"""A derivation, and a family of them, held against the theorem: what the tile stores and what its words read, as maps.

The stored side is the tile's layout, mode by mode. The fetched side begins with the bits of the first word, as
``walk_model`` reads them: the walk within one operand, then the steps of the advance from operand to operand, by which
the start address alone moves. Where operands cross atoms, K is walked piece by piece and the other modes by digits.

Law: the verdict is that of the enumerating proof, on right words and on wrong ones.

>>> from dataclasses import replace
>>> from descriptors import derive, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> words = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(0, 2048, 256)]
>>> [verdict(one).outcome == "equal" for one in words] == [verify(one).ok for one in words]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from descriptors.derivation.parts.crossing import LINE, PIECES
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.symbolic import SymbolicDerivation
from descriptors.errors import DescriptorError
from descriptors.operands.operand import Major, SwizzleMode
from descriptors.operands.swizzled import plain
from descriptors.text import tuple_text
from descriptors.theorem.affine import Affine, modes, stored
from descriptors.theorem.agreement import Verdict, agreement, agreement_for_all
from descriptors.theorem.digits import Digit, normal, value
from descriptors.theorem.walk_model import fields, per_16_bytes, walk, xor
from descriptors.words.descriptor import Arch, SmemDescriptor
from layoutalg import ComposedLayout, Layout

_OPEN = Verdict("open")


def verdict(d: Derivation, tile: Affine | None = None) -> Verdict:
    """Whether every element of the tile, at address 0, is read from where it is stored.

    Args:
        d: the derivation.
        tile: its tile as ``stored`` has it, where that is known already.

    Raises:
        DescriptorError: if the words do not stand for the operands of the tile.

    >>> from descriptors import derive
    >>> verdict(derive((128, 128), "bf16", "MN", "64B", (64, 16), verify=False))
    Verdict(outcome='equal', at=())
    """
    read = fetched(d)
    if read is None:
        return _OPEN
    tile = tile or stored(d.smem_tile)
    found = _across_atoms(d, tile, read) if d.crossing is not None else agreement(tile, read)
    if found.outcome != "equal":
        _check_operands(d, tile, read)
    return found


def fetched(d: Derivation) -> Affine | None:
    """What the words of a tile at address 0 read, in elements: modes (MN, K, stages...); None if over no whole digits.

    Where operands cross atoms, the mode of K is that of one column of 16 bytes.
    """
    first = d.descriptor if not d.descriptor.base_offset else d.descriptor_at(0)
    found = _operand(
        first.leading_byte_offset, first.stride_byte_offset, first.start_address, first.swizzle.value, first.arch,
        first.leading_is_absolute, d.element.name, d.major is Major.K, d.mma,
    )  # fmt: skip
    if found is None or first.leading_is_absolute is (d.crossing is None):
        return None
    if d.crossing is not None:
        return found
    return Affine(found.start, _moved(found.modes, d.advance, per_16_bytes(d.element.name)), found.xor, found.late)


@lru_cache(maxsize=1 << 14)
def _operand(
    leading: int, stride: int, start: int, swizzle: str, arch: Arch, absolute: bool, dtype: str, is_k: bool,
    mma: tuple[int, int],
) -> Affine | None:  # fmt: skip
    """What the word with these fields reads of one operand: from its bits, which are encoded here and read again."""
    word = SmemDescriptor(arch, leading, stride, SwizzleMode(swizzle), start, 0, absolute).encode()
    told = fields(word, arch)
    found = walk(told._replace(start=0), dtype, "K" if is_k else "MN", mma)
    if found is None:
        return None
    late = told.base_offset & (1 << told.pattern.bits) - 1
    return Affine(told.start * per_16_bytes(dtype), found, xor(told.pattern, dtype), late)


def _moved(operand: Sequence[Sequence[Digit]], advance: Any, whole: int) -> list[list[Digit]]:
    """The digits of the operand, then those of the steps from operand to operand."""
    steps = modes(advance, whole)
    return [[*operand[0], *steps[0]], [*operand[1], *steps[1]], *steps[2:]]


def _check_operands(d: Derivation, tile: Affine, read: Affine) -> None:
    """Refuse words that are not one for each operand of the tile."""
    sizes = [[prod(n for n, _ in mode) for mode in side.modes] for side in (tile, read)]
    if d.crossing is None and sizes[0] != sizes[1]:
        found = f"words for {tuple_text(sizes[1])}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {found}; smem_tile = {d.smem_tile}")


def _across_atoms(d: Derivation, tile: Affine, read: Affine) -> Verdict:
    """The verdict where operands go on in other lines: MN and stages by the theorem, K piece by piece.

    An operand reads the pieces of a row from where it begins to the end of its line, and the others from the line that
    its word names. Which they are depends on K alone if the steps along all other modes are whole lines.
    """
    whole, advance = per_16_bytes(d.element.name), d.advance
    if not isinstance(advance, ComposedLayout) or not isinstance(advance.outer, Layout) or d.crossing is None:
        return _OPEN
    steps = modes(advance.outer, whole)
    others = [digit for i, mode in enumerate(steps) for digit in mode if i != 1]
    one_by_one = normal(tile.modes[1])[0]
    conditions = (
        tile.xor == read.xor and not read.late,
        modes(plain(advance)) == _chosen(steps),
        all(n == 1 or step % (LINE * whole) == 0 for n, step in others),
        one_by_one[1] == 1 and one_by_one[0] % whole == 0 and tile.start % whole == 0,
    )
    if not all(conditions):
        return _OPEN
    along_k = _differing_piece(d, tile, read, whole)
    if along_k is not None:
        return Verdict("different", (0, along_k * whole, *(0 for _ in steps[2:])))
    rows = [[*read.modes[0], *steps[0]], tile.modes[1], *steps[2:]]
    return agreement(tile, Affine(tile.start, rows, tile.xor))


def _chosen(steps: Sequence[Sequence[Digit]]) -> list[list[Digit]]:
    """What chooses the pieces at which operands begin: every piece of a mode, but every third along K."""
    found, below = list[list[Digit]](), 1
    for i, mode in enumerate(steps):
        many, every = prod(n for n, _ in mode), PIECES if i == 1 else 1
        found.append([(many // every, every * below)])
        below *= many
    return found


def _differing_piece(d: Derivation, tile: Affine, read: Affine, whole: int) -> int | None:
    """The first piece of 16 bytes along K, in the first row, that is read from elsewhere than where it is stored."""
    assert d.crossing is not None
    first, line = read.start // whole, d.descriptor.leading_byte_offset // 16
    for piece in range(d.tile[1] // whole):
        operand, number = divmod(piece, PIECES)
        begins = first + d.offset_of(0, operand) // 16
        beyond = begins % LINE + number - LINE
        found = begins + number if beyond < 0 else line + d.line_of(0, operand) // 16 + beyond
        if found * whole != tile.start + value(tile.modes[1], piece * whole):
            return piece
    return None


def verdict_for_all(family: SymbolicDerivation) -> bool:
    """Whether the formulas of a family of tiles hold for every value of its symbols.

    False also where that is not decided.

    >>> from dataclasses import replace
    >>> from descriptors import derive_symbolic
    >>> one = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> verdict_for_all(one), verdict_for_all(replace(one, match=replace(one.match, stride_byte_offset=1024)))
    (True, False)
    """
    name, word = family.element.name, SmemDescriptor(family.arch, 0, 0, family.swizzle).encode()
    told = fields(word, family.arch)
    whole, step = per_16_bytes(name), family.match.stride_byte_offset // 16
    told = told._replace(leading=family.match.leading_byte_offset // 16, stride=step)
    operand = walk(told, name, "K" if family.major is Major.K else "MN", family.mma)
    if operand is None:
        return False
    read = Affine(0, _moved(operand, family.advance, whole), xor(told.pattern, name))
    return agreement_for_all(stored(family.smem_tile), read)
