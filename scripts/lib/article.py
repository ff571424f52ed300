"""The two worked examples of the article "Blackwell MMA SMEM Descriptor" (Yifan Yang), number by number.

A claim is one statement of the article: the value it gives, written here as the article has it, beside the value that
the algebra derives, and beside what NVIDIA's own code says. `main` is what the scripts ``sw128_kmajor.py`` and
``sw64_mnmajor.py`` do: they print an example's derivation, and check every number of it.

Law: every claim holds, and the word is the known one.

>>> checked = [one.check(one.derive()) for one in (SW128_KMAJOR, SW64_MNMAJOR)]
>>> all(claim.holds for claims in checked for claim in claims), min(map(len, checked)) > 10
(True, True)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from descriptors import oracle
from descriptors.answers import tell
from descriptors.errors import DescriptorError, LayoutError
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.swizzled import plain
from descriptors.text import word_text
from layoutalg import Layout, coalesce, cosize, flatten, logical_divide, recast_layout, size, upcast, zipped_divide
from layoutalg.cli.console import NotThereError, Status, run, say
from layoutalg.frozen import frozen


@frozen
class Claim:
    """One statement of the article.

    Args:
        section: where it stands.
        statement: what it is about.
        expected: the value as the article gives it.
        derived: the value out of the algebra.
    """

    section: str
    statement: str
    expected: Any
    derived: Any

    @property
    def holds(self) -> bool:
        """Whether both values agree; layouts by their notation."""
        return bool(self.expected == (str(self.derived) if isinstance(self.derived, Layout) else self.derived))

    def __str__(self) -> str:
        verdict = f"{self.expected}" if self.holds else f"{self.expected}, DERIVED {self.derived}"
        return f"{'ok   ' if self.holds else 'WRONG'} {self.section:<6} {self.statement}: {verdict}"


@frozen
class Example:
    """A worked example: the arguments of its derivation, its claims, and the word that CuTe's compiler makes of it."""

    title: str
    arguments: dict[str, Any]
    claims: Callable[[Derivation], Iterator[Claim]]
    word: int

    def check(self, derivation: Derivation) -> list[Claim]:
        """Every claim about its derivation, the known word last."""
        word = Claim("word", "descriptor word", word_text(self.word), word_text(derivation.descriptor.encode()))
        return [*self.claims(derivation), word]

    def derive(self) -> Derivation:
        """Run the five steps.

        >>> print(SW128_KMAJOR.derive().canonical)
        ((8,8),(1,2)):((8,64),(0,1))
        """
        return derive(**self.arguments)


def oracle_claims(example: Example) -> Iterator[Claim]:
    """The same derivation by NVIDIA's own code: layout by layout, then the word in the PTX of its compiler.

    Raises:
        OracleError: if the CuTe DSL is not installed, or broke as a tool.
    """
    from descriptors.oracle.words import WordRequest, descriptor_words
    from layoutalg.oracle.expressions import Case, evaluate

    d = example.derive()
    form, bits = d.match.form, d.element.storage_bits
    steps = [
        ("tile_to_shape", Case("tile_to_shape", (str(d.atom), d.tile, d.order)), d.smem_tile),
        ("zipped_divide", Case("zipped_divide", (str(d.smem_tile), d.mma)), d.partitioned),
        ("recast_layout", Case("recast_layout", (128, bits, str(d.partitioned))), d.recast),
        ("logical_divide", Case("logical_divide", (str(plain(d.recast)[0]), form.chunk)), d.canonical),
    ]
    answers = evaluate(case for _, case, _ in steps)
    for (name, _, ours), answer in zip(steps, answers, strict=True):
        yield Claim("CuTe", name, answer.text, str(ours))
    request = WordRequest(d.element.name, str(d.major), str(d.swizzle), str(plain(d.smem_tile)), d.mma, d.arch)
    (compiled,) = descriptor_words([request])
    compiled_text = compiled.text if compiled.word is None else word_text(compiled.word)
    yield Claim("PTX", "descriptor word in the compiled PTX", compiled_text, word_text(d.descriptor.encode()))
    yield Claim("PTX", "and it is the known word", word_text(example.word), compiled_text)


def _common(d: Derivation, section: str, shape: tuple[int, int], atoms: tuple[int, int]) -> Iterator[Claim]:
    """What both examples say of the tile, its atoms and its subtiles."""
    bytes_each = d.element.storage_bits // 8
    tile, atom = plain(d.smem_tile), plain(d.atom)
    grid = plain(zipped_divide(tile, shape))[1]
    yield Claim(f"{section}.1", "bytes of the tile", 32 * 1024, cosize(tile) * bytes_each)
    yield Claim(f"{section}.1", "elements (M, K) of a swizzle atom", shape, atom.shape)
    yield Claim(f"{section}.1", "atoms (M, K) in the tile", atoms, grid.shape)
    yield Claim(f"{section}.1", "atoms in the tile", atoms[0] * atoms[1], size(grid))
    yield Claim(f"{section}.2", "MMA subtiles (M, K)", (2, 8), tuple(map(size, plain(d.partitioned)[1])))
    yield Claim(f"{section}.2", "MMA subtiles", 16, size(d.advance))
    yield Claim(f"{section}.5", "elements in 16 bytes (T)", 8, d.element.per_16_bytes)


def _stride_bytes(layout: Layout, unit_bytes: int) -> tuple[int, ...]:
    """The strides of a layout in bytes, mode after mode."""
    strides: list[Any] = [mode.stride for mode in flatten(layout)]
    return tuple(stride * unit_bytes for stride in strides)


def _fields(d: Derivation, section: str, code: int, stride: int, leading: int) -> Iterator[Claim]:
    """Section x.3: the fields, as the word holds them and in bytes."""
    word, encoded = d.descriptor.word, d.descriptor.encode()
    stored = {field.name: (encoded & field.mask) >> field.low for field in word.fields}
    yield Claim(section, "layout_type", code, stored["swizzle"])
    yield Claim(section, "SBO in 16-byte units", stride, stored["stride_byte_offset"])
    yield Claim(section, "SBO in bytes", stride * 16, d.descriptor.stride_byte_offset)
    yield Claim(section, "LBO in 16-byte units", leading, stored["leading_byte_offset"])
    yield Claim(section, "LBO in bytes", leading * 16, d.descriptor.leading_byte_offset)


def _advance_claim(d: Derivation, section: str) -> Iterator[Claim]:
    """Section x.5.5: adding to the start-address field gives the descriptor of every subtile."""
    base, units = d.descriptor.encode(), d.advance
    added = tuple(tuple(base + units((m, k)) for k in range(8)) for m in range(2))
    yield Claim(section, "the word plus the advance is the word of each subtile", True, added == d.words())


def kmajor_claims(d: Derivation) -> Iterator[Claim]:
    """Section 3 of the article, and the levels of its section 2: K-major, swizzle 128B."""
    yield Claim("2", "bytes of a tile row", 256, size(recast_layout(8, 16, plain(d.smem_tile)[1])))
    yield from _common(d, "3", (8, 64), (16, 2))
    yield from _kmajor_atoms(d)
    yield from _kmajor_subtile(d)
    yield from _fields(d, "3.3", code=2, stride=64, leading=1)
    yield from _kmajor_chunks(d)
    table = (
        (0, 32, 64, 96, 16384, 16416, 16448, 16480),
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672),
    )
    yield Claim("3.4", "start-address offsets", table, d.offsets_bytes())
    yield from _kmajor_steps(d)
    yield from _advance_claim(d, "3.5.5")


def _kmajor_atoms(d: Derivation) -> Iterator[Claim]:
    """Section 3.1: the atoms in the tile, and the boxes that TMA fills it with."""
    tile, atom = plain(d.smem_tile), plain(d.atom)
    yield Claim("3.1", "bytes of an atom row", 128, size(atom[1]) * 2)
    yield Claim("3.1", "bytes of an atom", 1024, cosize(atom) * 2)
    grid = plain(zipped_divide(tile, (8, 64)))[1]
    yield Claim("3.1", "stacking of the atoms, counted in atoms", "(16,2):(1,16)", upcast(grid, 512))
    starts = plain(recast_layout(8, 16, grid))
    yield Claim("3.1", "atom (m, k) starts at byte m*1024 + k*16384", "(16,2):(1024,16384)", starts)
    box, boxes = plain(zipped_divide(tile, (128, 64)))
    yield Claim("3.1", "a TMA box (M=128, K=64) is a run of whole rows", "(128,64):(64,1)", coalesce(box, (1, 1)))
    yield Claim("3.1", "TMA boxes in the tile", 2, size(boxes))


def _kmajor_subtile(d: Derivation) -> Iterator[Claim]:
    """Section 3.2: what one instruction reads of the atoms."""
    subtile = plain(d.partitioned)[0]
    yield Claim("3.2", "atoms along M under one subtile", 8, size(subtile[0]) // 8)
    yield Claim("3.2", "bytes of K in one subtile", 32, size(subtile[1]) * 2)
    yield Claim("3.2", "subtiles along K in an atom", 4, 128 // (size(subtile[1]) * 2))


def _kmajor_chunks(d: Derivation) -> Iterator[Claim]:
    """Section 3.3: chunks of 8 rows of 16 bytes, and why no stride says where their swizzled rows lie."""
    chunks = plain(zipped_divide(plain(d.recast)[0], (8, 1)))
    yield Claim("3.3", "8x16B chunks (M, K) in a subtile", (8, 2), tuple(map(size, chunks[1])))
    yield Claim("3.3", "8x16B chunks in a subtile", 16, size(chunks[1]))
    yield Claim("2", "8x16B chunks in a swizzle atom", 8, size(plain(d.atom)) * 2 // (8 * 16))
    rows = [d.recast(((row, 0), 0)) for row in range(8)]
    steps = {after - before for before, after in pairwise(rows)}
    yield Claim("3.3", "swizzled rows of a chunk are a uniform 128 bytes apart", False, steps == {8})


def _kmajor_steps(d: Derivation) -> Iterator[Claim]:
    """Section 3.5: the five steps of the algebra."""
    tile, partitioned, recast = plain(d.smem_tile), plain(d.partitioned), plain(d.recast)
    in_elements = plain(logical_divide(partitioned[0], (8, 8)))
    yield Claim("3.5", "canonical form, SBO 512 and LBO 8 elements", "((8,8),(8,2)):((64,512),(1,8))", in_elements)
    yield Claim("3.5.1", "SMEM tile", "((8,16),(64,2)):((64,512),(1,8192))", tile)
    yield Claim("3.5.1", "its strides in bytes", (128, 1024, 2, 16384), _stride_bytes(tile, 2))
    yield Claim("3.5.2", "MMA partition", "((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))", partitioned)
    yield Claim("3.5.2", "advance in bytes", (8192, 32, 16384), _stride_bytes(partitioned[1], 2))
    yield Claim("3.5.3", "recast to uint128", "((64,2),(2,(4,2))):((8,1),(512,(2,1024)))", recast)
    yield Claim("3.5.3", "advance in bytes", (8192, 32, 16384), _stride_bytes(recast[1], 16))
    yield Claim("3.5.4", "canonical form", "((8,8),(1,2)):((8,64),(0,1))", d.canonical)
    cpp = plain(logical_divide(recast[0], (8, 2)))
    yield Claim("3.5.4", "CuTe C++'s order of it", "((8,8),(2,1)):((8,64),(1,0))", cpp)
    yield Claim("3.5.5", "descriptor tensor", "(2,(4,2)):(512,(2,1024))", d.advance)


def mnmajor_claims(d: Derivation) -> Iterator[Claim]:
    """Section 4 of the article: MN-major, swizzle 64B, atoms stacked along K first."""
    yield from _common(d, "4", (32, 8), (4, 16))
    yield from _mnmajor_atoms(d)
    yield from _fields(d, "4.3", code=4, stride=32, leading=512)
    yield from _mnmajor_walk(d)
    table = (
        (0, 1024, 2048, 3072, 4096, 5120, 6144, 7168),
        (16384, 17408, 18432, 19456, 20480, 21504, 22528, 23552),
    )
    yield Claim("4.4", "start-address offsets", table, d.offsets_bytes())
    yield from _mnmajor_steps(d)
    yield from _advance_claim(d, "4.5.5")


def _mnmajor_atoms(d: Derivation) -> Iterator[Claim]:
    """Section 4.1: the atoms in the tile, and the boxes that TMA fills it with."""
    tile, atom = plain(d.smem_tile), plain(d.atom)
    yield Claim("4.1", "bytes of M in an atom", 64, size(atom[0]) * 2)
    grid = plain(zipped_divide(tile, (32, 8)))[1]
    yield Claim("4.1", "stacking of the atoms, counted in atoms", "(4,16):(16,1)", upcast(grid, 256))
    in_bytes = plain(recast_layout(8, 16, grid))
    yield Claim("4.1", "atom (m, k) starts at byte m*8192 + k*512", "(4,16):(8192,512)", in_bytes)
    yield Claim("4.1", "bytes of an atom", 512, cosize(atom) * 2)
    box, boxes = plain(zipped_divide(tile, (32, 128)))
    yield Claim("4.1", "a TMA box (M=32, K=128) is a run of whole columns", "(32,128):(1,32)", coalesce(box, (1, 1)))
    yield Claim("4.1", "TMA boxes in the tile", 4, size(boxes))


def _mnmajor_walk(d: Derivation) -> Iterator[Claim]:
    """Section 4.3: from atom to atom by LBO and SBO."""
    atoms = plain(zipped_divide(plain(d.recast)[0], (4, 8)))[1]
    yield Claim("4.3", "swizzle atoms (M, K) in a subtile", (2, 2), tuple(map(size, atoms)))
    yield Claim("4.3", "swizzle atoms in a subtile", 4, size(atoms))
    leading, stride = d.descriptor.leading_byte_offset, d.descriptor.stride_byte_offset
    corners = [(m, k) for m in range(2) for k in range(2)]
    starts = [m * leading + k * stride for m, k in corners]
    yield Claim("4.3", "atom (m, k) starts at m*LBO + k*SBO", starts, [atoms(corner) * 16 for corner in corners])


def _mnmajor_steps(d: Derivation) -> Iterator[Claim]:
    """Section 4.5: the five steps of the algebra."""
    tile, partitioned, recast = plain(d.smem_tile), plain(d.partitioned), plain(d.recast)
    yield Claim("4.5", "width of an atom in 16 bytes (SW)", 4, d.swizzle.span_bytes // 16)
    in_elements = plain(logical_divide(partitioned[0], (Layout((8, 4), (1, 8)), 8)))
    expected = "(((8,4),2),(8,2)):(((1,8),4096),(32,256))"
    yield Claim("4.5", "canonical form, LBO 4096 and SBO 256 elements", expected, in_elements)
    yield Claim("4.5.1", "SMEM tile", "((32,4),(8,16)):((1,4096),(32,256))", tile)
    yield Claim("4.5.1", "its strides in bytes", (2, 8192, 64, 512), _stride_bytes(tile, 2))
    yield Claim("4.5.2", "MMA partition", "(((32,2),16),(2,8)):(((1,4096),32),(8192,512))", partitioned)
    yield Claim("4.5.2", "advance in bytes", (16384, 1024), _stride_bytes(partitioned[1], 2))
    yield Claim("4.5.3", "recast to uint128", "(((4,2),16),(2,8)):(((1,512),4),(1024,64))", recast)
    yield Claim("4.5.3", "advance in bytes", (16384, 1024), _stride_bytes(recast[1], 16))
    yield Claim("4.5.4", "canonical form", "((4,2),(8,2)):((1,512),(4,32))", d.canonical)
    yield Claim("4.5.5", "descriptor tensor", "(2,8):(1024,64)", d.advance)


#: Section 3. The word is not in the article; it is what the CuTe DSL 4.8.1 compiles for sm_100a.
SW128_KMAJOR = Example(
    "Section 3: (M=128, K=128) bf16, K-major, swizzle 128B",
    {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16), "order": (0, 1)},
    kmajor_claims,
    0x4000404000010000,
)

#: Section 4, likewise.
SW64_MNMAJOR = Example(
    "Section 4: (M=128, K=128) bf16, MN-major, swizzle 64B",
    {"tile": (128, 128), "dtype": "bf16", "major": "MN", "swizzle": "64B", "mma": (64, 16), "order": (1, 0)},
    mnmajor_claims,
    0x8000402002000000,
)


def main(example: Example, arguments: Sequence[str] | None = None, own: Iterable[Claim] = ()) -> int:
    """Print an example's derivation and check every number of it.

    Args:
        example: which one.
        arguments: command line: nothing, or ``--check`` to ask the CuTe DSL as well; that of this process if left out.
        own: what the script claims of its own steps; told where it does not hold, as the rest repeats what does.

    Returns:
        exit status: 0 if everything holds, 1 if a number is wrong, 2 for another argument, 3 without a CuTe DSL.
    """

    @click.command(help=f"{example.title}: every step, and every number of the article.")
    @click.option("--check", is_flag=True, help="Compare with the CuTe DSL too.")
    def script(check: bool) -> Status:
        return _checked(example, check, own)

    return run(script, Path(sys.argv[0]).name, [DescriptorError, LayoutError], arguments)


def _checked(example: Example, check: bool, own: Iterable[Claim]) -> Status:
    if check and not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    derivation = example.derive()
    claims = example.check(derivation)
    say(f"{example.title}\n\n{tell(derivation, steps=True)}\n\nEvery number of the article:\n{tell_claims(claims)}")
    if wrong := [claim for claim in own if not claim.holds]:
        say(f"\nThe script's own steps:\n{tell_claims(wrong)}")
    claims += wrong
    if check:
        try:
            oracle_rows = list(oracle_claims(example))
        except oracle.OracleError as error:
            raise NotThereError(f"--check: {error}") from error
        say(f"\nThe same by the CuTe DSL:\n{tell_claims(oracle_rows)}")
        claims += oracle_rows
    return Status.ANSWER if all(claim.holds for claim in claims) else Status.DIFFERENCE


def tell_claims(claims: Sequence[Claim]) -> str:
    """Claims for a person, a line each, and how many hold.

    >>> print(tell_claims([Claim("3.3", "SBO in bytes", 1024, 1024)]))
    ok    3.3    SBO in bytes: 1024
    1 of 1 hold
    """
    holding = sum(claim.holds for claim in claims)
    return "\n".join([*map(str, claims), f"{holding} of {len(claims)} hold"])
