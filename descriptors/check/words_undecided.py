"""What the text of a kernel does not decide about its descriptor words: each such thing, why, and what would.

A word may come from memory or from the caller; where an operand starts may be computed in a way that is not followed;
and a word holds no major, so that one instruction alone may read either tile. None of it is wrong, and none was looked
at: so it is told.
Source: ours; the rows have the form of every part of a check.

Law: a word that is known, and whose major its steps decide, has no row.

>>> from descriptors.check.ptx.constant_folding import fold, observed
>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.multiplications import multiplications
>>> from descriptors.check.ptx.ptx_module import parse
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
>>> def rows_of(*steps):
...     words = [0x4000004000010000 + step for step in steps]
...     made = "".join(f"mov.b64 x, {word}; mov.b64 y, {word}; {mma}" for word in words)
...     function = parse(f".version 8.8\\n.entry k() {{ {made} ret; }}").functions[0]
...     found = list(multiplications(function, fold(function, {}, observed(function))))
...     return [(row.what, row.why) for row in words_undecided(function, found, blocks(function))]
>>> rows_of(0, 2)
[]
>>> rows_of(0)[0]
('major of A', 'it is the only instruction of its accumulation, and its word is that of an MN-major operand too')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descriptors.check.k_steps import lines_of, places, wrong_steps
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.kernel_words import (
    SmemOperand,
    bytes_off_the_grid,
    common_complaints,
    smem_findings,
    unplaced,
    unreadable,
    word_shown,
)
from descriptors.check.ptx.multiplications import Multiplication, TensorMma, chains
from descriptors.check.ptx.ptx_module import Function
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS
from descriptors.smem.operands.forms import LEADING
from descriptors.smem.words.descriptor import smem_word
from layoutalg.frozen import replace


class Undecided(NamedTuple):
    """A thing that was not decided.

    Args:
        place: the index of the instruction.
        property: the part of the check that it belongs to.
        what: the value.
        why: why it is not known, or where it comes from.
        decides: what would decide it.
    """

    place: int
    property: str
    what: str
    why: str
    decides: str


def words_undecided(function: Function, found: list[Multiplication], graph: list[Block]) -> list[Undecided]:
    """Everything about the words of a function that its text does not decide, by the index of the instruction.

    Args:
        function: the function.
        found: its multiplications.
        graph: its basic blocks.
    """
    rows = [Undecided(one.index, "words", *row) for one in found for row in (*_idesc(one), *_words(one))]
    for chain in chains(function, found, graph):
        rows += [Undecided(index, "words", *row) for index, *row in _of_chain(chain)]
    return sorted(dict.fromkeys(rows))


def _idesc(one: Multiplication) -> Iterator[tuple[str, str, str]]:
    if one.use is None:
        return
    if one.use.kind not in INSTRUCTION_DESCRIPTORS:
        yield "instruction descriptor", f"kind {one.use.kind} is none that is known", "a kind of descriptors shapes"
    elif not one.idescs:
        register = getattr(one.view, "idesc", "")
        why = f"{register} is not put together from constants"
        yield "instruction descriptor", why, "a constant, or its value where the kernel is called"
    elif common_complaints(one.idescs, one.use)[1]:
        shown = " and ".join(f"{word:#010x}" for word in one.idescs[:2])
        why = f"some of the {len(one.idescs)} words that it may be, as {shown}, are illegal"
        yield "instruction descriptor", why, "which of them it is"
    elif one.described is None and len(one.idescs) > 1:
        why = f"the {len(one.idescs)} words that it may be have different extents, types or majors"
        yield "instruction descriptor", why, "which of them it is"


def _words(one: Multiplication) -> Iterator[tuple[str, str, str]]:
    for operand in one.operands:
        name = f"descriptor of {operand.matrix}"
        if not operand.checked:
            why = f"of {word_shown(operand.word, operand.arch)} the swizzle or the stride byte offset is not known"
            yield name, why, "a word whose upper half is put together from constants"
        elif not operand.dtype and one.described is not None:
            by_table = isinstance(one.view, TensorMma) and one.view.table is not None
            what = "indices into a lookup table" if by_table else "types of 4 and 6 bits, packed"
            yield name, f"it is of {what}, which no model reads", ""
        elif not operand.dtype:
            yield name, "its type, major and shape are not known", "the instruction descriptor"
        elif unreadable(operand):
            yield (
                name,
                f"no model reads {operand.dtype} of {operand.shape[0]}x{operand.shape[1]}",
                "a type that is known",
            )
        elif not operand.resolved and lines_of(operand) is None:
            why = f"its leading byte offset is not known: {word_shown(operand.word, operand.arch)}"
            yield name, why, "a word whose bits [16,30) are constants"
        fields = [field.name for field in smem_word(operand.arch).fields[1:] if field.name != LEADING]
        unknown = [field for field in fields if field not in operand.known_fields]
        if operand.checked and unknown:
            why = f"of {word_shown(operand.word, operand.arch)} it is not known what is in {' and '.join(unknown)}"
            yield name, why, "a word whose upper half is put together from constants"
        if operand.checked and (behind := bytes_off_the_grid(operand)):
            why = f"it lies {behind} bytes behind where a pattern of its swizzle begins, and its base offset is 0"
            yield f"start of {operand.matrix}", why, "the copy that fills the tile: right if it permutes by the address"
        if operand.checked and unplaced(operand):
            shown = word_shown(operand.word, operand.arch)
            why = f"{shown} has one, and where its operand starts in the pattern is not known"
            yield f"base offset of {operand.matrix}", why, "a start, or memory, aligned to the pattern's bytes"


def _of_chain(chain: list[Multiplication]) -> Iterator[tuple[int, str, str, str]]:
    for matrix in ("A", "B"):
        row = [(one.index, operand) for one in chain for operand in one.operands if operand.matrix == matrix]
        row = [(index, operand) for index, operand in row if operand.checked and operand.dtype]
        together = places(row)
        for held in together[1:]:
            bases = list(dict.fromkeys(_base(group[0][1]) for group in (together[0], held)))
            apart = f"it starts in {' and '.join(bases)}, whose distance is not known"
            why = apart if len(bases) > 1 else "its words differ in more than where they start"
            yield held[0][0], f"step of {matrix}", why, "starts that are counted from one address"
        for held in together:
            if _either_major(held):
                other = "a K-major" if held[0][1].major == "MN" else "an MN-major"
                many = "the only instruction" if len(held) == 1 else "the only step"
                why = f"it is {many} of its accumulation, and its word is that of {other} operand too"
                yield held[0][0], f"major of {matrix}", why, "the copy that fills the tile, or another K block of it"


def _base(one: SmemOperand) -> str:
    return one.word.base.partition("@")[0] or word_shown(one.word, one.arch)


def _either_major(held: list[tuple[int, SmemOperand, int]]) -> bool:
    """Whether words and steps are right for the other major too."""
    first = held[0][1]
    other = replace(first, major="K" if first.major == "MN" else "MN")
    lines = lines_of(other)
    if lines is None or any(name in ("word-smem", "word-suspect") for name, _ in smem_findings(other)):
        return False
    return not wrong_steps(lines, [at for _, _, at in held], None)
