"""The proof of a derivation by enumeration: every element of every subtile is read from where the tile stores it.

The expected side is the tile's layout, evaluated by the algebra; the found side is the read model of the descriptor
word of each subtile. The two meet only here, element by element. A derivation that passes is right for the operand it
describes, as far as the read model is; ``evidence`` says how far that is known. The tile is cut into blocks of
consecutive coordinates, not by the algebra's divide: that is one of the steps which this proves.

Law: a derivation passes, and does so no longer when a field that is read holds anything else.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> changed = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(512, 2048, 256)]
>>> [verify(one).ok for one in changed] == [one == d for one in changed]
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
    """The outcome of a proof.

    Args:
        elements: elements of the tile, each of them compared.
        subtiles: operands that the tile holds, and so descriptor words.
        bases: tile addresses at which all of them were compared, in bytes.
        differing: comparisons that failed, over all bases.
        mismatches: the first of those.
        evidence: how the read model of this operand is known.
        beyond: subtiles of a tile of any size (``capacity`` None) that lie beyond what a start address can name at one
            of the bases: they have no word, and were not compared there.
        warnings: what is probably a mistake about the tile at one of the bases, although its descriptors read it.

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

    Law: for each subtile s and element e of it, ``read_rows(word of s)[e] == base + tile layout (s, e)``. Of a
    derivation without a capacity, those subtiles are compared that a start address can name.

    Args:
        derivation: what ``derive`` returned.
        bases: addresses at which the tile is placed in turn, in bytes: multiples of 16, of 128 where there is a
            swizzle. At a base where the pattern does not start by itself, the tile's pattern starts at the base, and
            the words carry the base offset that says so.

    Raises:
        DescriptorError: if a base is no such address, or the tile does not fit the address window from there.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16))
    >>> print(verify(d))
    proved: 16384 elements in 16 subtiles
    >>> verify(d, bases=(0, 0x400, 0x1080)).bases
    (0, 1024, 4224)
    """
    if not isinstance(derivation, Derivation):
        raise DescriptorError(f"verify: the operand must be a derivation, found {brief(derivation)}")
    d, places = derivation, _bases(bases, window_bytes(derivation.arch))
    words, differing, mismatches, beyond = 0, 0, list[Mismatch](), 0
    for base in places:
        subtiles = _subtiles(d, base)
        words, beyond = len(subtiles), max(beyond, size(d.advance) - len(subtiles))
        for one in subtiles:
            count, first = _mismatches_of(d, base, one, SHOWN - len(mismatches))
            differing += count
            mismatches += first
    warnings = tuple(dict.fromkeys(one for base in places for one in d.warnings_at(base)))
    elements = words * d.mma[0] * d.mma[1]
    return Report(elements, words, places, differing, tuple(mismatches), d.evidence, beyond, warnings)


def _bases(bases: object, window: int) -> tuple[int, ...]:
    if not isinstance(bases, (tuple, list)) or not bases:
        raise DescriptorError(f"verify: bases must be one or more addresses, found {brief(bases)}")
    return tuple(as_integer(base, "verify: a base", maximum=window - 1) for base in bases)


class _Subtile(NamedTuple):
    """A subtile of a tile at an address.

    Args:
        at: its coordinate; its number where it is one of those that a start address can name.
        word: its descriptor.
        addresses: where its elements are.
    """

    at: tuple[int, ...]
    word: int
    addresses: Rows


def _subtiles(d: Derivation, base: int) -> list[_Subtile]:
    """Every subtile that is compared at an address."""
    nameable = d.advance_report(base).named if d.capacity is None else size(d.advance)
    if nameable < size(d.advance) and isinstance(d.advance, Layout):  # those that cross atoms are compared all or none
        return list(_nameable_subtiles(d, d.advance, base))
    return list(_blocks(d, base))


def _mismatches_of(d: Derivation, base: int, one: _Subtile, most: int) -> tuple[int, list[Mismatch]]:
    """How many elements of a subtile are read from elsewhere, and the first of them."""
    fetched = fetched_rows([one.word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    if one.addresses == fetched:
        return 0, []
    differing = sum(sum(map(ne, *pair)) for pair in zip(one.addresses, fetched, strict=True))
    unit = address_unit(d.element)
    return differing, first_mismatches(one.addresses, fetched, unit=unit, most=most, subtile=one.at, base=base)


def _blocks(d: Derivation, base: int) -> Iterator[_Subtile]:
    """The whole tile, stage by stage, in blocks of consecutive coordinates."""
    words = numbers(d.words(base))
    rows, swizzle, offset = parts(d.smem_tile)
    modes = list(rows)
    (mn, k), (high, wide, *stages) = d.mma, map(size, modes)
    if high % mn or wide % k or size(rows) != len(words) * mn * k:
        count = f"{len(words)} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {count}; smem_tile = {d.smem_tile}")
    tables = {}
    for at in product(*map(range, stages)):
        start = offset + sum(mode(one) for mode, one in zip(modes[2:], at, strict=True))
        tables[at] = _stored_part(d, swizzle, start, modes[:2], base)
    grid = product(range(high // mn), range(wide // k), *map(range, stages))
    for (i, j, *stage), word in zip(grid, words, strict=True):
        table = tables[tuple(stage)][i * mn : (i + 1) * mn]
        yield _Subtile((i, j, *stage), word, [row[j * k : (j + 1) * k] for row in table])


def _nameable_subtiles(d: Derivation, advance: Layout, base: int) -> Iterator[_Subtile]:
    """The subtiles that a start address can name, each a layout of its own: the tile evaluated at its coordinates."""
    rows, swizzle, offset = parts(d.smem_tile)
    first, number = d.descriptor_at(base), 0
    for at, start in named_subtiles(
        advance, first=first.start_address, reach=16 * cosize(d.canonical), window=window_bytes(d.arch)
    ):
        begin, modes = offset, list[Layout]()
        for index, (mode, where) in enumerate(zip(rows, at, strict=True)):
            extent = d.mma[index] if index < 2 else 1
            offsets = [mode(where * extent + x) for x in range(extent)]
            part = from_offsets([one - offsets[0] for one in offsets])
            if part is None:
                raise DescriptorError(f"verify: every operand must be a layout, found {brief(offsets)}; at {at}")
            begin += offsets[0]
            modes.append(part)
        yield _Subtile((number,), first.at(start).encode(), _stored_part(d, swizzle, begin, modes[:2], base))
        number += 1
    if not number:
        raise DescriptorError(
            f"verify: a subtile must lie in the {window_bytes(d.arch)} bytes that a start address can name, found "
            f"none; base = {base}, smem_tile = {d.smem_tile}"
        )


def _stored_part(d: Derivation, swizzle: Swizzle | None, offset: int, modes: Sequence[Layout], base: int) -> Rows:
    """Where the elements of a part of the tile are."""
    part = ComposedLayout(swizzle or Swizzle(0, 4, 3), offset, make_layout(*modes))
    rows: Rows = stored_rows(part, d.element, base=base, pattern_start=base, window=window_bytes(d.arch))
    return rows
