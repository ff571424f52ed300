"""The proof of a derivation: every element of every subtile is read from where the tile stores it.

The expected side is the tile's layout, evaluated by the algebra; the found side is the read model of the descriptor
word of each subtile. The two meet only here, element by element. A derivation that passes is right for the operand it
describes, as far as the read model is; ``evidence`` says how far that is known.

Law: a derivation passes, and does so no longer when a field that is read holds anything else.

>>> from dataclasses import replace
>>> from descriptors import derive
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> changed = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(512, 2048, 256)]
>>> [verify(one).ok for one in changed] == [one == d for one in changed]
True

Report: what a comparison of every element of a tile came to; the value alone, without what compares.

Law: it holds exactly where nothing differs, and says which.

>>> good, bad = Report(64, 1, (0,), 0, (), "measured"), Report(64, 1, (0,), 2, ("element (0,1)",), "measured")
>>> good.ok, bad.ok, str(good), str(bad)
(True, False, 'proved: 64 elements in 1 subtile', 'disproved: 2 of 64 elements in 1 subtile are read from elsewhere; \
element (0,1)')

A tile and its words compared in plain Python, subtile by subtile: what ``verify`` does of ordinary tiles.

Law: it finds the elements that the comparison by arrays finds, in the same order.

>>> from dataclasses import replace
>>> from descriptors import derive
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> wrong = replace(d, descriptor=replace(d.descriptor, stride_byte_offset=512))
>>> for one in (d, wrong):
...     words = list(numbers(one.words()))
...     print([(at, sum(map(sum, unequal(*pair)))) for at, *pair in by_subtile(one, 0, words)][:2])
[((0, 0), 0), ((0, 1), 0)]
[((0, 0), 896), ((0, 1), 896)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from descriptors.frozen import frozen
from descriptors.text import Told, counted

if TYPE_CHECKING:
    from descriptors.smem.proof.mismatch import Mismatch


from collections.abc import Iterator, Sequence
from itertools import product
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.derivation.advance import named_subtiles, numbers
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.explicit import layout_of
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof import read_model
from descriptors.smem.proof.addresses import (
    address_unit,
    arrays_pay,
    fetched_addresses,
    plain_fetched,
    plain_stored,
    stored_addresses,
)
from descriptors.smem.proof.mismatch import SHOWN, Mismatch, first_mismatches, mismatched
from descriptors.smem.proof.walk_model import Rows
from descriptors.smem.words.bitfield import WINDOW_BYTES
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, Swizzle, cosize, make_layout, size

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    @property
    def ok(self) -> bool:
        """Whether every element is read from where it is stored."""
        return not self.differing

    def __str__(self) -> str:
        places = f" at {len(self.bases)} tile addresses" if len(self.bases) > 1 else ""
        compared = f"{counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{places}"
        if self.ok:
            lie = "lies" if self.beyond == 1 else "lie"
            beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
            return f"proved: {compared}{beyond}"
        return f"disproved: {self.differing} of {compared} are read from elsewhere; {self.mismatches[0]}"


__all__ = ["by_subtile", "numbers", "unequal"]


def by_subtile(d: Derivation, base: int, words: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Rows, Rows]]:
    """Each subtile's coordinate, where its elements are stored, and from where its word reads them.

    The tile is cut into blocks of consecutive coordinates, not by the algebra's divide: that is one of the steps which
    this proves.

    Args:
        d: the derivation.
        base: address of the tile, in bytes, where its swizzle pattern starts.
        words: of every subtile, in the order of their coordinates.

    Raises:
        DescriptorError: if there is not a word for each operand.
    """
    rows, swizzle, offset = parts(d.smem_tile)
    modes = list(rows)
    (mn, k), stages = d.mma, [size(mode) for mode in modes[2:]]
    high, wide = size(modes[0]), size(modes[1])
    if high % mn or wide % k or size(rows) != len(words) * mn * k:
        found = f"{len(words)} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {found}; smem_tile = {d.smem_tile}")
    tables = {at: _stored(d, base, modes, at, swizzle, offset) for at in product(*map(range, stages))}
    read = plain_fetched(words, arch=d.arch, element=d.element, major=d.major, shape=d.mma)
    grid = product(range(high // mn), range(wide // k), *map(range, stages))
    for (i, j, *stage), fetched in zip(grid, read, strict=True):
        whole = tables[tuple(stage)]
        yield (i, j, *stage), [row[j * k : (j + 1) * k] for row in whole[i * mn : (i + 1) * mn]], fetched


def _stored(
    d: Derivation, base: int, modes: list[Layout], stage: tuple[int, ...], swizzle: Swizzle | None, offset: int
) -> Rows:
    """Where the elements of one stage are: ``rows[mn][k]``."""
    moved = offset + sum(mode(one) for mode, one in zip(modes[2:], stage, strict=True))
    tile = ComposedLayout(swizzle or Swizzle(0, 4, 3), moved, make_layout(*modes[:2]))
    found: Rows = plain_stored(tile, d.element, base=base, pattern_start=base)
    return found


def unequal(stored: Rows, fetched: Rows) -> list[list[bool]]:
    """Whether each element is read from elsewhere; nothing at all where all are right."""
    if stored == fetched:
        return []
    return [list(map(ne, *pair)) for pair in zip(stored, fetched, strict=True)]


def verify(derivation: Derivation, *, bases: Sequence[int] = (0,)) -> Report:
    """Compare where the tensor core reads every element of a derivation's tile with where the tile stores it.

    Law: for each subtile s and element e of it, ``read_addresses(word of s)[e] == base + tile layout (s, e)``. Of a
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
    d, places = derivation, _bases(bases)
    compare = _by_arrays if arrays_pay(min(size(d.smem_tile), WINDOW_BYTES)) else _by_rows
    differing, mismatches, elements, words, beyond = 0, list[Mismatch](), 0, 0, 0
    for base in places:
        found = compare(d, base, SHOWN - len(mismatches))
        elements, words, differing = found.elements, found.words, differing + found.differing
        mismatches += found.mismatches
        beyond = max(beyond, found.beyond)
    absolute = d.descriptor.leading_is_absolute
    evidence = read_model.evidence(arch=d.arch, dtype=d.element, major=d.major, absolute=absolute)
    return Report(elements, words, places, differing, tuple(mismatches), evidence, beyond)


class _Compared(NamedTuple):
    """What a comparison at one base comes to."""

    elements: int
    words: int
    differing: int
    mismatches: list[Mismatch]
    beyond: int


def _by_rows(d: Derivation, base: int, room: int) -> _Compared:
    """The comparison in plain Python."""
    beyond, pairs = 0, list[tuple[tuple[int, ...], Rows, Rows]]()
    if _reaches_beyond(d, base):
        named = _named(d, base)
        words, beyond = [word for word, _ in named], size(d.advance) - len(named)
        read = plain_fetched(words, arch=d.arch, element=d.element, major=d.major, shape=d.mma)
        blocks = [plain_stored(block, d.element, base=base, pattern_start=base) for _, block in named]
        pairs = [((n,), *pair) for n, pair in enumerate(zip(blocks, read, strict=True))]
    else:
        words = list(numbers(d.words(base)))
        pairs = list(by_subtile(d, base, words))
    differing, mismatches, unit = 0, list[Mismatch](), address_unit(d.element)
    for at, stored, fetched in pairs:
        if count := sum(map(sum, unequal(stored, fetched))):
            differing += count
            most = room - len(mismatches)
            mismatches += first_mismatches(stored, fetched, unit=unit, most=most, subtile=at, base=base)
    return _Compared(len(words) * d.mma[0] * d.mma[1], len(words), differing, mismatches, beyond)


def _by_arrays(d: Derivation, base: int, room: int) -> _Compared:
    """The comparison by numpy: quicker where there are many elements."""
    import numpy as np

    beyond = 0
    if _reaches_beyond(d, base):
        named = _named(d, base)
        words, beyond = [word for word, _ in named], size(d.advance) - len(named)
        stored = np.stack([stored_addresses(one, d.element, base=base, pattern_start=base) for _, one in named])
    else:
        words = list(numbers(d.words(base)))
        stored = _by_subtile(d, base, len(words))
    fetched = fetched_addresses(words, arch=d.arch, element=d.element, major=d.major, shape=d.mma)
    fetched = fetched.reshape(stored.shape)
    wrong = mismatched(stored, fetched)
    differing, mismatches, unit = int(np.count_nonzero(wrong)), list[Mismatch](), address_unit(d.element)
    for subtile in np.argwhere(wrong.any(axis=(-2, -1))).tolist() if differing else ():
        where, most = tuple(subtile), room - len(mismatches)
        pair = stored[where].tolist(), fetched[where].tolist()
        mismatches += first_mismatches(*pair, unit=unit, most=most, subtile=where, base=base)
        if len(mismatches) >= room:
            break
    return _Compared(stored.size, len(words), differing, mismatches, beyond)


def _reaches_beyond(d: Derivation, base: int) -> bool:
    """Whether there are subtiles that no start address names."""
    reached = d.advance_report(base).named if d.capacity is None else size(d.advance)
    return reached < size(d.advance) and d.crossing is None


def _bases(bases: object) -> tuple[int, ...]:
    if not isinstance(bases, (tuple, list)) or not bases:
        raise DescriptorError(f"verify: bases must be one or more addresses, found {brief(bases)}")
    return tuple(as_integer(base, "verify: a base", maximum=WINDOW_BYTES - 1) for base in bases)


def _by_subtile(d: Derivation, base: int, subtiles: int) -> NDArray[Any]:
    """Addresses of the stored elements, axes (subtile mn, subtile k, stages..., mn, k).

    The tile is cut by numpy into blocks of consecutive coordinates, not by the algebra's divide: that is one of the
    steps which this proves.
    """
    import numpy as np

    stored = stored_addresses(d.smem_tile, d.element, base=base, pattern_start=base)
    (rows, columns), (mn, k), stages = stored.shape[:2], d.mma, stored.shape[2:]
    if rows % mn or columns % k or stored.size != subtiles * mn * k:
        found = f"{subtiles} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {found}; smem_tile = {d.smem_tile}")
    blocks = stored.reshape(rows // mn, mn, columns // k, k, *stages)
    return np.moveaxis(blocks, (1, 3), (-2, -1))


def _named(d: Derivation, base: int) -> list[tuple[int, ComposedLayout]]:
    """The words of the subtiles that a start address can name, and the layouts of their elements.

    Each subtile is a layout of its own, from the tile evaluated at its coordinates: again without the divide.
    """
    rows, swizzle, offset = parts(d.smem_tile)
    assert isinstance(d.advance, Layout)  # operands that cross atoms are compared all, or not at all
    first, named = d.descriptor_at(base), list[tuple[int, ComposedLayout]]()
    reach = 16 * cosize(d.canonical)
    for at, start in named_subtiles(d.advance, first=first.start_address, reach=reach):
        moved, modes = offset, list[Layout]()
        for index, (mode, where) in enumerate(zip(rows, at, strict=True)):
            extent = d.mma[index] if index < 2 else 1
            offsets = [mode(where * extent + x) for x in range(extent)]
            part = layout_of([one - offsets[0] for one in offsets])
            if part is None:
                raise DescriptorError(f"verify: every operand must be a layout, found {brief(offsets)}; at {at}")
            moved += offsets[0]
            modes.append(part)
        block = ComposedLayout(swizzle or Swizzle(0, 4, 3), moved, make_layout(*modes[:2]))
        named.append((first.at(start).encode(), block))
    if not named:
        raise DescriptorError(
            f"verify: a subtile must lie in the {WINDOW_BYTES} bytes that a start address can name, found none; "
            f"base = {base}, smem_tile = {d.smem_tile}"
        )
    return named
