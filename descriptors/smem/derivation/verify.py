"""Verify a derivation by enumeration: compare where each element is stored with where its descriptor reads it.

The stored address is the tile's layout, evaluated by the algebra. The read address is the result of the read model for
the descriptor word of each subtile. They are compared here only, element by element. A derivation that passes is right
if the read model is right; ``evidence`` states how the model is known. The tile is divided into blocks of consecutive
coordinates, without the algebra's divide, because that is one of the steps to verify.

Invariant: a right derivation passes, and fails after a change of a field that is read.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> changed = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(512, 2048, 256)]
>>> [verify(variant).ok for variant in changed] == [variant == d for variant in changed]
True
>>> print(verify(changed[0]))
disproved: 7168 of 8192 elements in 8 subtiles are read from elsewhere; element (8,0) of subtile (0,0) is stored at \
byte 0x400, read at byte 0x240
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import ne
from typing import NamedTuple

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.derivation.advance import named_subtiles, numbers
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.smem.proof.mismatch import SHOWN, Mismatch, first_mismatches
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.descriptor import window_bytes
from descriptors.text import Told, counted, tuple_text
from layoutalg import ComposedLayout, Layout, Swizzle, cosize, from_offsets, make_layout, size
from layoutalg.frozen import frozen


@frozen
class Report(Told):
    """The result of a comparison of all elements of a tile.

    Args:
        elements: number of elements of the tile, all of which were compared.
        subtiles: number of subtiles, and of descriptor words.
        bases: tile addresses at which the elements were compared, in bytes.
        differing: number of comparisons that failed, over all bases.
        mismatches: the first comparisons that failed.
        evidence: how the read model of this operand is known.
        beyond: number of subtiles beyond the window of the start address at one of the bases. They have no word, and
            were not compared there. It is 0 unless ``capacity`` is None.
        warnings: probable mistakes about the tile at one of the bases, although its descriptors read it.

    >>> from descriptors import derive, verify
    >>> report = verify(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), arch="sm90"))
    >>> print(report, report.evidence, sep="; read model ")
    proved: 16384 elements in 16 subtiles; read model measured on a Hopper GPU
    """

    elements: int
    subtiles: int
    bases: tuple[int, ...]
    differing: int
    mismatches: tuple[Mismatch, ...]
    evidence: str
    beyond: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every element is read from where it is stored."""
        return not self.differing

    def __str__(self) -> str:
        places = f" at {len(self.bases)} tile addresses" if len(self.bases) > 1 else ""
        amount = f"{counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{places}"
        if self.ok:
            lie = "lies" if self.beyond == 1 else "lie"
            beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
            return f"proved: {amount}{beyond}"
        return f"disproved: {self.differing} of {amount} are read from elsewhere; {self.mismatches[0]}"


def verify(derivation: Derivation, *, bases: Sequence[int] = (0,)) -> Report:
    """Compare where the tensor core reads every element of a derivation's tile with where the tile stores it.

    Invariant: for each subtile s and each of its elements e, ``read_rows(word of s)[e] == base + tile layout (s, e)``.
    For a derivation without a capacity, the subtiles within the window of the start address are compared.

    Args:
        derivation: the result of ``derive``.
        bases: addresses of the tile, in bytes: multiples of 16, or of 128 with a swizzle. The swizzle pattern of the
            tile starts at the base; the words have the base offset that this requires.

    Raises:
        DescriptorError: if a base is not such an address, or the tile does not fit in the address window from there.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16))
    >>> print(verify(d))
    proved: 16384 elements in 16 subtiles
    >>> verify(d, bases=(0, 0x400, 0x1080)).bases
    (0, 1024, 4224)
    """
    if not isinstance(derivation, Derivation):
        raise DescriptorError(f"verify: {brief(derivation)} is not a derivation")
    d, places = derivation, _bases(bases, window_bytes(derivation.arch))
    words, differing, mismatches, beyond = 0, 0, list[Mismatch](), 0
    for base in places:
        subtiles = _subtiles(d, base)
        words, beyond = len(subtiles), max(beyond, size(d.advance) - len(subtiles))
        for subtile in subtiles:
            count, first = _compare(d, base, subtile, SHOWN - len(mismatches))
            differing += count
            mismatches += first
    warnings = tuple(dict.fromkeys(warning for base in places for warning in d.warnings_at(base)))
    elements = words * d.mma[0] * d.mma[1]
    return Report(elements, words, places, differing, tuple(mismatches), d.evidence, beyond, warnings)


def _bases(bases: object, window: int) -> tuple[int, ...]:
    if not isinstance(bases, (tuple, list)) or not bases:
        raise DescriptorError(f"verify: bases {brief(bases)} is not a list of one or more addresses")
    return tuple(as_integer(base, "verify: a base", maximum=window - 1) for base in bases)


class _Subtile(NamedTuple):
    """A subtile of a tile at an address.

    Args:
        at: its coordinate; or its number, if only the subtiles within the address window are compared.
        word: its descriptor.
        addresses: the addresses of its elements.
    """

    at: tuple[int, ...]
    word: int
    addresses: Rows


def _subtiles(d: Derivation, base: int) -> list[_Subtile]:
    """Return the subtiles to compare at an address."""
    nameable = d.advance_report(base).named if d.capacity is None else size(d.advance)
    if nameable < size(d.advance) and isinstance(d.advance, Layout):  # operands that cross atoms: all or none
        return list(_nameable_subtiles(d, d.advance, base))
    return list(_blocks(d, base))


def _compare(d: Derivation, base: int, subtile: _Subtile, most: int) -> tuple[int, list[Mismatch]]:
    """Return the number of elements of a subtile that are read from another address, and the first of them."""
    stored = subtile.addresses
    fetched = fetched_rows([subtile.word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    if stored == fetched:
        return 0, []
    differing = sum(sum(map(ne, *pair)) for pair in zip(stored, fetched, strict=True))
    unit = address_unit(d.element)
    return differing, first_mismatches(stored, fetched, unit=unit, most=most, subtile=subtile.at, base=base)


def _blocks(d: Derivation, base: int) -> Iterator[_Subtile]:
    """Yield the subtiles of the whole tile, as blocks of consecutive coordinates."""
    words = numbers(d.words(base))
    rows, swizzle, offset = parts(d.smem_tile)
    modes = list(rows)
    (mn, k), (high, wide, *stages) = d.mma, map(size, modes)
    if high % mn or wide % k or size(rows) != len(words) * mn * k:
        raise DescriptorError(
            f"verify: there is not one word per operand: {len(words)} words for operands {tuple_text(d.mma)}; "
            f"smem_tile = {d.smem_tile}"
        )
    tables = {}
    for at in product(*map(range, stages)):
        start = offset + sum(mode(index) for mode, index in zip(modes[2:], at, strict=True))
        tables[at] = _stored_part(d, swizzle, start, modes[:2], base)
    grid = product(range(high // mn), range(wide // k), *map(range, stages))
    for (i, j, *stage), word in zip(grid, words, strict=True):
        table = tables[tuple(stage)][i * mn : (i + 1) * mn]
        yield _Subtile((i, j, *stage), word, [row[j * k : (j + 1) * k] for row in table])


def _nameable_subtiles(d: Derivation, advance: Layout, base: int) -> Iterator[_Subtile]:
    """Yield the subtiles within the address window; each layout is the tile evaluated at the subtile's coordinates."""
    rows, swizzle, offset = parts(d.smem_tile)
    first, number = d.descriptor_at(base), 0
    for at, start in named_subtiles(
        advance, first=first.start_address, reach=16 * cosize(d.canonical), window=window_bytes(d.arch)
    ):
        begin, modes = offset, list[Layout]()
        for i, (mode, index) in enumerate(zip(rows, at, strict=True)):
            extent = d.mma[i] if i < 2 else 1
            offsets = [mode(index * extent + x) for x in range(extent)]
            part = from_offsets([offset - offsets[0] for offset in offsets])
            if part is None:
                raise DescriptorError(f"verify: the offsets {brief(offsets)} of subtile {at} are not those of a layout")
            begin += offsets[0]
            modes.append(part)
        yield _Subtile((number,), first.at(start).encode(), _stored_part(d, swizzle, begin, modes[:2], base))
        number += 1
    if not number:
        raise DescriptorError(
            f"verify: no subtile is within the {window_bytes(d.arch)} bytes that a start address can address; "
            f"base = {base}, smem_tile = {d.smem_tile}"
        )


def _stored_part(d: Derivation, swizzle: Swizzle | None, offset: int, modes: Sequence[Layout], base: int) -> Rows:
    """Return the addresses of the elements of a part of the tile."""
    part = ComposedLayout(swizzle or Swizzle(0, 4, 3), offset, make_layout(*modes))
    rows: Rows = stored_rows(part, d.element, base=base, pattern_start=base, window=window_bytes(d.arch))
    return rows
