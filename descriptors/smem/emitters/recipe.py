"""Reduce a derivation to a ``Recipe``: constants, the terms of the advance and a comment, for every output language.

Only the start address differs between the descriptors of a tile. A program therefore needs one constant (all other
fields) and one sum: for each extent of the advance layout, a digit of a coordinate times a step. ``(4,2):(2,1024)`` is
``k % 4 * 2 + k // 4 * 1024``. If operands cross from one swizzle atom to the next, the digits of K are those of the
operand's first 16-byte piece, and a second sum gives the line of its last piece: ``(k * 3 + 2) // 8 * 1024``.

Invariant: the sum of the terms is the advance, at every subtile.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> terms = recipe(d, "a").offset.spell()
>>> all(eval(terms, {"mn": mn, "k": k}) == d.advance(mn, k) for mn in range(2) for k in range(8))
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product

from descriptors.errors import DescriptorError, brief
from descriptors.smem.derivation.crossing import LINE, PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.instructions.transpose import transpose_bit, transpose_note
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.words.descriptor import MNEMONICS
from descriptors.targets import generation, holders
from descriptors.text import known_line, tuple_text
from layoutalg import ComposedLayout, Layout, coalesce, flatten, size
from layoutalg.frozen import frozen

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@frozen
class Term:
    """A term of an advance: ``coordinate // divisor % modulus * factor``, in 16-byte units.

    Args:
        coordinate: name of the coordinate.
        divisor: product of the extents before this one.
        modulus: this extent, or None for the last one, which a coordinate in range does not exceed.
        factor: the stride, as a natural number modulo the field.
        scale, shift: the digit is that of ``coordinate * scale + shift``.

    >>> Term("k", 4, None, 1024).spell()
    'k // 4 * 1024'
    """

    coordinate: str
    divisor: int
    modulus: int | None
    factor: int
    scale: int = 1
    shift: int = 0

    def spell(self, division: str = "//", suffix: str = "") -> str:
        """Return the term as an expression of Python, or of C with its ``division`` and literal ``suffix``.

        >>> Term("k", 1, 4, 2).spell("/", "u")
        'k % 4u * 2u'
        """
        digit = self.coordinate
        if self.scale > 1:
            digit += f" * {self.scale}{suffix}" + (f" + {self.shift}{suffix}" if self.shift else "")
            digit = f"({digit})"
        if self.divisor > 1:
            digit += f" {division} {self.divisor}{suffix}"
        if self.modulus is not None:
            digit += f" % {self.modulus}{suffix}"
        return digit if self.factor == 1 else f"{digit} * {self.factor}{suffix}"


@frozen
class TermSum:
    """A sum of terms, in 16-byte units."""

    terms: tuple[Term, ...] = ()

    @property
    def coordinates(self) -> frozenset[str]:
        """The coordinates that the sum depends on; the others have extent 1 or stride 0."""
        return frozenset(term.coordinate for term in self.terms)

    def spell(self, division: str = "//", suffix: str = "") -> str:
        """Return the sum as an expression, as ``Term.spell`` does; "0" if there are no terms."""
        return " + ".join(term.spell(division, suffix) for term in self.terms) or f"0{suffix}"


@frozen
class Recipe:
    """The constants and terms with which a program computes the descriptors of a derivation.

    Args:
        name: prefix of every identifier.
        word: the descriptor with start address 0.
        start_bytes: offset of the first subtile in the tile, in bytes.
        field_mask: the bits of the start address in the word, which are its lowest bits.
        window_mask: the bits of an address that the field can express, for an address in bytes.
        unit_bits: number of bits by which an address is shifted before it is stored.
        coordinates: names of a subtile's coordinates: mn, k, and the stages if there are any.
        extents: number of subtiles along each coordinate.
        offset: the advance.
        line: the offset of the line in which K continues; no terms if LBO is constant.
        line_low: the lowest bit of LBO, to which the address of that line is added; 0 if LBO is constant.
        checks: coordinate and word of the subtiles at the corners, for a tile at address ``alignment_bytes``.
        alignment_bytes: required alignment of the tile's address.
        transposed: whether the instruction's transpose bit must be set.
        transpose_bit: name of the transpose bit; "" for an instruction without one.
        comment: lines that describe the derivation.
    """

    name: str
    word: int
    start_bytes: int
    field_mask: int
    window_mask: int
    unit_bits: int
    coordinates: tuple[str, ...]
    extents: tuple[int, ...]
    offset: TermSum
    alignment_bytes: int
    transposed: bool
    transpose_bit: str
    comment: tuple[str, ...]
    line: TermSum = TermSum()
    line_low: int = 0
    checks: tuple[tuple[tuple[int, ...], int], ...] = ()

    def constant(self, what: str) -> str:
        """Return the name of a constant: in capitals, unless the operand's name has capitals.

        Different operands therefore have different constants, even ``a`` and ``A``.

        >>> from layoutalg.frozen import replace
        >>> from descriptors import derive
        >>> of_a = recipe(derive(tile=(64, 64), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)), "a")
        >>> of_a.constant("word"), replace(of_a, name="A").constant("word")
        ('A_WORD', 'A_word')
        """
        spelled = f"{self.name}_{what.lower()}"
        return spelled.upper() if self.name == self.name.lower() else spelled

    @property
    def line_mask(self) -> int:
        """The bits of LBO in the word if it is not constant, else 0; LBO is as wide as the start address."""
        return self.field_mask << self.line_low if self.line_low else 0

    def commented(self, mark: str) -> str:
        """Return the comment, with the language's comment mark before each line."""
        return "".join(f"{mark} {line}\n" for line in self.comment)

    def transposed_line(self, before: str, between: str) -> str:
        """Return the line of a program with the transpose bit; "" if the instruction has no such bit.

        Args:
            before: the text before the value.
            between: the text between the value and the name of the bit.
        """
        return f"{before}{self.transposed:d}{between}{self.transpose_bit}\n" if self.transpose_bit else ""


def check_identifier(name: object, users: str = "", is_used: Callable[[str], bool] = lambda name: False) -> None:
    """Check the name of a kernel, or the prefix of the identifiers in generated code.

    Args:
        name: the name.
        users: the languages that reserve names, for the message.
        is_used: returns whether they use a name for something else.

    Raises:
        DescriptorError: if it is not an identifier, or it is used for something else.

    >>> check_identifier("gemm")
    >>> check_identifier("2")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: emit: name '2' is not an identifier of at most 64 letters and digits
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DescriptorError(f"emit: name {brief(name)} is not an identifier of at most 64 letters and digits")
    if is_used(name):
        example = f"gemm_{name.strip('_')}".rstrip("_")
        raise DescriptorError(
            f"emit: {name} cannot be the name of the kernel; {users} uses this name for something else; use another "
            f"name, for example {example}"
        )


def recipe(derivation: Derivation, name: str) -> Recipe:
    """Reduce a derivation to constants and terms.

    Invariant: the sum of the terms at (mn, k) is ``derivation.advance((mn, k))``, modulo the start-address field.

    Args:
        derivation: the derivation.
        name: prefix of the identifiers, which must be an identifier itself.

    Raises:
        DescriptorError: if the name is not an identifier.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> recipe(d, "a").offset.spell()
    'mn * 512 + k % 4 * 2 + k // 4 * 1024'
    """
    if not isinstance(derivation, Derivation):
        raise DescriptorError(f"emit: {brief(derivation)} is not a derivation")
    check_identifier(name)
    advance, descriptor = derivation.advance, derivation.descriptor
    modes: tuple[Layout | ComposedLayout, ...] = tuple(advance)
    stages = ("stage",) if len(modes) == 3 else tuple(f"stage{i}" for i in range(len(modes) - 2))
    coordinates = ("mn", "k", *stages)
    field = descriptor.word["start_address"]
    steps = (field.mask >> field.low) + 1
    extents = tuple(size(mode) for mode in modes)
    offset, line = _offset_and_line(derivation, coordinates, steps)
    crossing = derivation.crossing is not None
    return Recipe(
        name=name,
        word=descriptor.at(0).encode() & ~(descriptor.word[LEADING].mask if crossing else 0),
        start_bytes=descriptor.start_address,
        field_mask=field.mask,
        window_mask=steps * field.unit - 1,
        unit_bits=field.unit.bit_length() - 1,
        coordinates=coordinates,
        extents=extents,
        offset=offset,
        alignment_bytes=derivation.swizzle.alignment_bytes,
        transposed=derivation.transposed,
        transpose_bit=_transpose_bit(derivation),
        comment=tuple(_comment(derivation, coordinates)),
        line=line,
        line_low=descriptor.word[LEADING].low if crossing else 0,
        checks=tuple(_corners(derivation, extents)),
    )


def _corners(d: Derivation, extents: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield coordinate and word of the subtiles at the corners of the tile."""
    for coordinate in product(*(dict.fromkeys((0, extent - 1)) for extent in extents)):
        mn, k, *stage = coordinate
        yield coordinate, d.word(mn, k, stage or 0, d.swizzle.alignment_bytes)


def _offset_and_line(d: Derivation, coordinates: tuple[str, ...], steps: int) -> tuple[TermSum, TermSum]:
    """Return the advance, and the offset of the line in which K continues."""
    columns = d.advance.outer if isinstance(d.advance, ComposedLayout) else d.advance
    assert isinstance(columns, Layout)
    starts, lines = list[Term](), list[Term]()
    for coordinate, mode in zip(coordinates, columns, strict=True):
        if d.crossing is not None and coordinate == "k":
            starts += _terms(mode, coordinate, steps, scale=PIECES)
            lines += _terms(d.crossing.lines, coordinate, steps, scale=PIECES, shift=PIECES - 1, divisor=LINE)
        else:
            starts += (terms := list(_terms(mode, coordinate, steps)))
            lines += terms if d.crossing is not None else []
    return TermSum(tuple(starts)), TermSum(tuple(lines))


def _transpose_bit(d: Derivation) -> str:
    return transpose_bit(d.arch, d.operand) if d.instruction == "mma" else ""


def _terms(
    mode: Layout, coordinate: str, steps: int, *, scale: int = 1, shift: int = 0, divisor: int = 1
) -> Iterator[Term]:
    """Yield a term for each stride of a mode; the mode is coalesced first, so that equal steps need no division."""
    leaves = [(size(leaf), leaf(1)) for leaf in flatten(coalesce(mode)) if size(leaf) > 1]
    for i, (extent, stride) in enumerate(leaves):
        assert isinstance(stride, int)  # basis strides are rejected earlier
        # Only the sum modulo the field matters, so a negative stride is replaced with a natural number.
        factor = stride if stride >= 0 else stride % steps
        if factor:
            yield Term(coordinate, divisor, extent if i + 1 < len(leaves) else None, factor, scale, shift)
        divisor *= extent


def _comment(d: Derivation, coordinates: tuple[str, ...]) -> Iterator[str]:
    descriptor, unread = d.descriptor, set(d.dont_care)
    reader = MNEMONICS[generation(d.arch)] if d.instruction == "mma" else d.instruction
    what = f"{d.element} operands, {d.major}-major, swizzle {d.swizzle}"
    yield f"Shared-memory descriptors ({d.arch}, {reader}) of {what}:"
    stacked = f", atoms stacked in order {tuple_text(d.order)}" if d.order else ""
    yield f"{tuple_text(d.mma)} elements out of a tile {tuple_text(d.tile)}{stacked}."
    yield f"tile     {d.smem_tile}  in elements"
    yield f"advance  {d.advance}  from the first subtile to subtile {tuple_text(coordinates)}, in 16-byte units"
    offsets = [(LEADING, descriptor.leading_byte_offset), (STRIDE, descriptor.stride_byte_offset)]
    if d.crossing is not None:
        mode = f"lbo_mode 1, {holders('K = 96')} alone"
        yield f"{LEADING} is the address of the line of 128 bytes in which K goes on ({mode}):"
        yield f"lines    {d.crossing.lines}  along K, from the first, in 16-byte units"
        del offsets[0]
    yield ", ".join(f"{name} {value} bytes{' (not read)' if name in unread else ''}" for name, value in offsets)
    if d.transposed:
        yield transpose_note(d.arch, d.operand)
    aligned = f"The tile must start at a multiple of {d.swizzle.alignment_bytes} bytes"
    yield aligned + ("." if d.swizzle is SwizzleMode.NONE else ", where the swizzle pattern repeats.")
    yield from known_line(d.arch)
