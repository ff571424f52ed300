"""State the claim of an answer as a self-contained text that any SMT-LIB 2 solver can decide.

The claim of a derivation is that every word of the tile reads its operand, at every aligned address. The claim of
closed forms is the same for every tile of the family. The claim of a comparison is that the word reads the layout. The
text explains the meaning of *unsat*. ``z3 claim.smt2`` or ``cvc5 claim.smt2`` checks it without code of this package.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> text = claim(d).smt2()
>>> print(text.splitlines()[0], text.count("(check-sat)"))
; All words of a tile read their subtiles: sm100 word 0x4000404000010000 and its successors 2
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.claims.family_claim import Family, family_questions
from descriptors.smem.claims.layout_terms import leaves
from descriptors.smem.claims.question import Question, text_of
from descriptors.smem.claims.tile_claim import Domain, Mode, Moves, Tile, tile_question
from descriptors.smem.claims.walk_terms import CODES, Operand
from descriptors.smem.debug.diff import Diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.symbolic import SymbolicDerivation
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import LINE_BYTES
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.words.descriptor import smem_word, with_version, word_format
from descriptors.text import extents_text, word_text
from layoutalg import ComposedLayout, Layout
from layoutalg.frozen import frozen

#: The last lines of every head.
_RUN = (
    "The queries ask for a counterexample: run z3 or cvc5 on this file. It is complete: layout, fields and read model",
    "are written as CuTe and PTX define them. The claim is about these definitions, not about silicon.",
)


@frozen
class Claim:
    """A claim, as text and as solver queries.

    Args:
        head: the claim, and the meaning of the answers.
        questions: the queries.

    >>> from descriptors import derive
    >>> [question.name for question in claim(derive((64, 64), "bf16", "K", "128B", (64, 16))).questions]
    ['words']
    """

    head: str
    questions: tuple[Question, ...]

    def __str__(self) -> str:
        return self.head

    def smt2(self) -> str:
        """Return the claim in SMT-LIB 2, as the text of a file for any solver."""
        return text_of(self.head, self.questions)


def claim(answer: Derivation | SymbolicDerivation | Diff, *, base: int = 0) -> Claim:
    """Return the claim of an answer.

    Args:
        answer: the result of ``derive``, ``derive_symbolic`` or ``diff``.
        base: for a derivation, an address of the tile that the claim must cover, in bytes. If it is not aligned to the
            swizzle pattern, the words have the base offset of a pattern that starts there.

    Raises:
        DescriptorError: if the answer is of another type, or its claim cannot be stated.

    >>> from descriptors import derive_symbolic
    >>> family = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16))
    >>> [question.name for question in claim(family).questions]
    ['walk', 'lemmas', 'swizzle', 'window']
    """
    if isinstance(answer, Derivation):
        return _claim_tile(answer, base)
    if isinstance(answer, SymbolicDerivation):
        return _claim_family(answer)
    if isinstance(answer, Diff):
        return _claim_word(answer)
    raise DescriptorError(f"claim: {brief(answer)} is not a derivation, closed forms or a diff")


def _claim_tile(d: Derivation, base: int) -> Claim:
    base = as_integer(base, "claim: the base address")
    d.descriptor_at(base)  # raises for an address that no tile can have
    aligned = base % d.swizzle.alignment_bytes == 0
    step = d.swizzle.alignment_bytes if aligned else LINE_BYTES
    domain = Domain(step, 0, 0 if aligned else None)
    word = d.descriptor.encode()
    operand = Operand(word_format(d.arch), d.element.name, str(d.major), d.mma)
    question = tile_question(operand, _tile(d.smem_tile), word, _moves(d), domain, ignored=d.dont_care_mask())
    addresses = f"every address that is a multiple of {step} and at which the tile fits into the window"
    facts = (
        f"All words of a tile read their subtiles: {d.arch} word {word_text(word)} and its successors",
        "",
        *_facts(d, d.smem_tile),
        f"words    {word_text(word)} + base/16 + advance(i, j, ...), advance {d.advance}",
        f"domain   {addresses}{'' if aligned else ', the swizzle pattern starting with it'}",
        "",
        "unsat: the words are right for all values of their don't-care bits: the tensor core reads every element of",
        "       every operand from the address where the tile stores it.",
        "sat:   the model is an element that is read from another address.",
        *_RUN,
    )
    return Claim("\n".join(facts), (question,))


def _facts(d: Derivation | SymbolicDerivation, layout: Layout | ComposedLayout) -> tuple[str, str]:
    extents = " x ".join(map(str, d.tile))
    return (
        f"tile     {extents} {d.element}, {d.major}-major, swizzle {d.swizzle}, subtiles {extents_text(d.mma)}",
        f"layout   {layout} in elements",
    )


def _tile(layout: Layout | ComposedLayout) -> Tile:
    rows, swizzle, offset = parts(layout)
    named = None if swizzle is None else (swizzle.bits, swizzle.base, swizzle.shift)
    return Tile(_modes(rows), offset, named)


def _modes(rows: Layout) -> tuple[Mode, ...]:
    shape: Any = rows.shape
    stride: Any = rows.stride
    return tuple(zip(shape, stride, strict=True)) if isinstance(shape, tuple) else ((shape, stride),)


def _moves(d: Derivation) -> Moves:
    if d.crossing is None:
        assert isinstance(d.advance, Layout)
        return Moves(_modes(d.advance))
    assert isinstance(d.advance, ComposedLayout) and isinstance(d.advance.outer, Layout)
    lines = d.crossing.lines
    return Moves(_modes(d.advance.outer), True, (lines.shape, lines.stride))


def _claim_family(d: SymbolicDerivation) -> Claim:
    tile = _tile(d.smem_tile)
    if tile.offset:
        raise DescriptorError(f"claim: the layout of the family does not begin at offset 0; layout = {d.smem_tile}")
    fields = ((LEADING, "leading"), (STRIDE, "stride"))
    family = Family(
        d.symbols,
        tile.modes,
        tile.swizzle,
        CODES[word_format(d.arch)][smem_word(d.arch)["swizzle"].store(d.swizzle)],
        d.leading_byte_offset // 16,
        d.stride_byte_offset // 16,
        _modes(d.advance),
        tuple(short for name, short in fields if name not in d.dont_care),
    )
    operand = Operand(word_format(d.arch), d.element.name, str(d.major), d.mma)
    extents, symbols, step = " x ".join(map(str, d.tile)), ", ".join(d.symbols), d.swizzle.alignment_bytes
    subject, condition = ("every", f", for all positive integers {symbols}") if symbols else ("the", "")
    tiles, model = ("every such tile", "a size, an operand") if symbols else ("the tile", "an operand")
    facts = (
        f"The words of {subject} tile {extents} read their subtiles{condition}",
        "",
        *_facts(d, d.smem_tile),
        f"words    LBO {d.leading_byte_offset}, SBO {d.stride_byte_offset} bytes, swizzle {d.swizzle} of {d.arch}",
        f"         start = base/16 + advance(i, j, ...), advance {d.advance}",
        f"domain   every address that is a multiple of {step} and at which the tile fits into the window",
        "",
        "There are four questions, because solvers do not decide products of unknowns together with bits: are the",
        "addresses of read model and tile equal before the exclusive-or, do quotients and remainders have the values",
        "assumed there, are the exclusive-ors equal, and do all values fit into their fields? Start, LBO and SBO count",
        "16 bytes, so that chunks of 16 bytes are not split.",
        f"unsat for all four: every word of {tiles} reads its operand from where the tile stores it.",
        f"sat:   the model is {model} and an element or an address that violates this.",
        *_RUN,
    )
    return Claim("\n".join(facts), family_questions(operand, family))


def _claim_word(difference: Diff) -> Claim:
    tile = _tile(difference.layout)
    if tuple(prod(extent for extent, _ in leaves(*mode)) for mode in tile.modes) != difference.shape:
        raise DescriptorError(
            "claim: the operand crosses atoms, so it has no layout of its own; descriptors derive --smt2 states the "
            "claim of its tile"
        )
    operand = Operand(word_format(difference.arch), difference.element.name, str(difference.major), difference.shape)
    unmoved = Moves(tuple((1, 0) for _ in tile.modes))
    domain = Domain(_PATTERN, difference.base, difference.pattern_start)
    question = tile_question(operand, tile, with_version(difference.word, difference.arch), unmoved, domain)
    read = f"{extents_text(difference.shape)} {difference.element}, {difference.major}-major"
    facts = (
        f"A word reads a layout: {difference.arch} word {word_text(difference.word)}",
        "",
        f"layout   {difference.layout} in elements, {read}",
        f"domain   the layout at {difference.base:#x}, or layout and word moved by a multiple of {_PATTERN} bytes;",
        f"         the swizzle pattern starts at {difference.pattern_start:#x}",
        "",
        "unsat: the word reads every element from where the layout stores it, also after every such move.",
        "sat:   the model is an element that the word reads from another address.",
        *_RUN,
    )
    return Claim("\n".join(facts), (question,))


#: Bytes after which every swizzle pattern repeats.
_PATTERN = 1024


def claims_text(claims: Sequence[Claim]) -> str:
    """Return several claims as one text.

    >>> from descriptors import derive
    >>> words = claim(derive((64, 64), "bf16", "K", "128B", (64, 16)))
    >>> claims_text([words, words]).count("(reset)")
    3
    """
    return "(reset)\n\n".join(each.smt2() for each in claims)
