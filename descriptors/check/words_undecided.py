r"""The items about descriptors that the text of a kernel does not decide, with reasons and what would decide them.

A descriptor may come from memory or from the caller. The start address of an operand may be computed in a way that the
check does not follow. A descriptor does not store the major, so a single instruction may read a tile of either major.
Source: ours; the rows have the form of every part of a check.

Invariant: a known descriptor whose major follows from the advance between instructions has no row.

>>> from descriptors.check.ptx.constant_folding import fold, observed
>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.multiplications import multiplications
>>> from descriptors.check.ptx.ptx_module import parse
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
>>> def rows_of(*steps):
...     words = [0x4000004000010000 + step for step in steps]
...     code = "".join(f"mov.b64 x, {word}; mov.b64 y, {word}; {mma}" for word in words)
...     function = parse(f".version 8.8\n.entry k() {{ {code} ret; }}").functions[0]
...     mmas = list(multiplications(function, fold(function, {}, observed(function))))
...     return [(row.what, row.why) for row in words_undecided(function, mmas, blocks(function))]
>>> rows_of(0, 2)
[]
>>> rows_of(0)[0]
('major of A', 'its accumulation has no other instruction, and its descriptor is also valid for an MN-major operand')
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from descriptors.check.k_steps import lines_of, places, wrong_steps
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.kernel_words import (
    SmemOperand,
    bytes_off_the_grid,
    common_complaints,
    misplaced,
    smem_findings,
    start_alignment,
    unplaced,
    unreadable,
    word_shown,
)
from descriptors.check.ptx.multiplications import Multiplication, TensorMma, chains
from descriptors.check.ptx.ptx_module import Function
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS, refusals
from descriptors.smem.operands.forms import LEADING
from descriptors.smem.words.descriptor import smem_word
from layoutalg.frozen import replace


class Undecided(NamedTuple):
    """An undecided item.

    Args:
        place: index of the instruction.
        property: the property that it belongs to.
        what: the value that is not known.
        why: why it is not known, or where it comes from.
        decides: the information that would decide it.
    """

    place: int
    property: str
    what: str
    why: str
    decides: str


def words_undecided(function: Function, mmas: list[Multiplication], graph: list[Block]) -> list[Undecided]:
    """Return the items about descriptors that the text of a function does not decide, by instruction.

    Args:
        function: the function.
        mmas: its multiplications.
        graph: its basic blocks.
    """
    rows = [
        Undecided(mma.index, "words", *row)
        for mma in mmas
        for row in (*_instruction_descriptor_items(mma), *_descriptor_items(mma))
    ]
    for chain in chains(function, mmas, graph):
        rows += [Undecided(index, "words", *row) for index, *row in _accumulation_items(chain)]
    return sorted(dict.fromkeys(rows))


def starts_undecided(
    function: Function, mmas: list[Multiplication], sizes: Mapping[str, tuple[int, int]]
) -> Iterator[Undecided]:
    """Yield the operands in an extern array that may not start at a multiple of the swizzle pattern.

    The dynamic shared memory follows the static variables. Without any, it is at the start of shared memory.

    Args:
        function: the function.
        mmas: its multiplications.
        sizes: alignment and bytes of each shared variable, 0 bytes if it is extern.
    """
    own = {name: size for name, size in sizes.items() if name in function.names}
    static = next((name for name, (_, size) in own.items() if size), "")
    for mma in mmas if static else ():
        for operand in mma.operands:
            needed = start_alignment(operand) if operand.checked else 0
            for name in operand.variables:
                align, size = own.get(name, (0, 0))
                if size == 0 < align < needed:
                    why = (
                        f"the alignment of {name}, {align} bytes, does not guarantee that it starts at a multiple of "
                        f"{needed}, because it follows the static variable {static}"
                    )
                    decides = (
                        f"{name} declared with .align {needed}, or an address rounded up to a multiple of {needed}"
                    )
                    yield Undecided(mma.index, "words", f"start of {operand.matrix}", why, decides)


def _instruction_descriptor_items(mma: Multiplication) -> Iterator[tuple[str, str, str]]:
    """Yield the undecided items about an instruction descriptor: item, reason, and information that would decide it."""
    if mma.use is None:
        return
    if mma.use.kind not in INSTRUCTION_DESCRIPTORS:
        yield "instruction descriptor", f"kind {mma.use.kind} is not known", "a kind that descriptors shapes lists"
    elif not mma.idescs:
        register = getattr(mma.view, "idesc", "")
        why = f"{register} is not computed from constants"
        yield "instruction descriptor", why, "a constant, or its value at the launch"
    elif common_complaints(mma.idescs, mma.use)[1]:
        shown = " and ".join(f"{word:#010x}" for word in mma.idescs[:2])
        why = f"it has one of {len(mma.idescs)} values, such as {shown}, and some of them are illegal"
        yield "instruction descriptor", why, "the one value"
    elif mma.described is None and len(mma.idescs) > 1:
        why = f"it has one of {len(mma.idescs)} values, with different extents, types or majors"
        yield "instruction descriptor", why, "the one value"
    elif mma.described is not None:
        for error in refusals(mma.described, "strict"):
            if error.lenient and error.row is not None:
                why = f"sources disagree on {error.found}: {error.row.disputed}"
                yield "instruction descriptor", why, "a form that all sources allow: descriptors idesc"


def _descriptor_items(mma: Multiplication) -> Iterator[tuple[str, str, str]]:
    """Yield the undecided items about the shared-memory descriptors of a multiplication."""
    for operand in mma.operands:
        name = f"descriptor of {operand.matrix}"
        if not operand.checked:
            why = f"in {word_shown(operand.word, operand.arch)} the swizzle or the stride byte offset is not known"
            yield name, why, "a descriptor whose upper half is computed from constants"
        elif not operand.dtype and mma.described is not None:
            by_table = isinstance(mma.view, TensorMma) and mma.view.table is not None
            what = "indices into a lookup table" if by_table else "packed types of 4 and 6 bits"
            yield name, f"its operand has {what}, which the read model does not support", ""
        elif not operand.dtype:
            yield name, "its type, major and shape are not known", "the instruction descriptor"
        elif unreadable(operand):
            yield (
                name,
                f"the read model does not support {operand.dtype} of {operand.shape[0]}x{operand.shape[1]}",
                "a supported type",
            )
        elif not operand.resolved and lines_of(operand) is None:
            why = f"its leading byte offset is not known: {word_shown(operand.word, operand.arch)}"
            yield name, why, "a descriptor whose bits [16,30) are constants"
        fields = [field.name for field in smem_word(operand.arch).fields[1:] if field.name != LEADING]
        unknown = [field for field in fields if field not in operand.known_fields]
        if operand.checked and unknown:
            why = f"in {word_shown(operand.word, operand.arch)} the value of {' and '.join(unknown)} is not known"
            yield name, why, "a descriptor whose upper half is computed from constants"
        if operand.checked and (behind := bytes_off_the_grid(operand)):
            why = f"it is {behind} bytes after the start of a swizzle pattern, and the base offset is 0"
            yield f"start of {operand.matrix}", why, "the copy that fills the tile: right if it permutes by the address"
        if operand.checked and unplaced(operand):
            shown = word_shown(operand.word, operand.arch)
            why = f"{shown} has one, and the position of the start in the swizzle pattern is not known"
            yield f"base offset of {operand.matrix}", why, "a start address, or memory, that is aligned to the pattern"
        if operand.checked and (why := misplaced(operand)):
            shown = word_shown(operand.word, operand.arch)
            yield f"base offset of {operand.matrix}", f"in {shown}, {why}", "the copy that fills the tile"


def _accumulation_items(chain: list[Multiplication]) -> Iterator[tuple[int, str, str, str]]:
    """Yield the undecided items about the advance and the major of the operands of an accumulation."""
    for matrix in ("A", "B"):
        row = [(mma.index, operand) for mma in chain for operand in mma.operands if operand.matrix == matrix]
        row = [(index, operand) for index, operand in row if operand.checked and operand.dtype]
        groups = places(row)
        for group in groups[1:]:
            bases = list(dict.fromkeys(_base_text(base_group[0][1]) for base_group in (groups[0], group)))
            apart = f"its start addresses are based on {' and '.join(bases)}, whose distance is not known"
            why, decides = apart, "start addresses that are based on one address"
            if len(bases) == 1:
                why = "its descriptors differ in more than the start address"
                decides = "descriptors that differ only in the start address"
            yield group[0][0], f"advance of {matrix}", why, decides
        for group in groups:
            if _either_major(group):
                other = "a K-major" if group[0][1].major == "MN" else "an MN-major"
                missing = "instruction" if len(group) == 1 else "advance"
                why = f"its accumulation has no other {missing}, and its descriptor is also valid for {other} operand"
                yield (
                    group[0][0],
                    f"major of {matrix}",
                    why,
                    "the copy that fills the tile, or an instruction for another K block",
                )


def _base_text(operand: SmemOperand) -> str:
    return operand.word.base.partition("@")[0] or word_shown(operand.word, operand.arch)


def _either_major(group: list[tuple[int, SmemOperand, int]]) -> bool:
    """Return whether the descriptors and the advance are also valid for the other major."""
    first = group[0][1]
    other = replace(first, major="K" if first.major == "MN" else "MN")
    lines = lines_of(other)
    if lines is None or any(name in ("word-smem", "word-suspect") for name, _ in smem_findings(other)):
        return False
    return not wrong_steps(lines, [start for _, _, start in group], None)
