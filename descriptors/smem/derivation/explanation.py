"""Explain the fields of a derived descriptor: the meaning of LBO and SBO, and the fields that the hardware ignores.

Invariant: the numbers in the explanation are those of the descriptor, for every swizzle mode.

>>> from descriptors import derive
>>> for mode in ("none", "32B", "64B", "128B"):
...     d = derive((128, 128), "bf16", "MN", mode, (64, 16))
...     assert f"LBO, the leading byte offset, is {d.descriptor.leading_byte_offset} bytes" in explain(d), mode
...     assert f"SBO, the stride byte offset, is {d.descriptor.stride_byte_offset} bytes" in explain(d), mode
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descriptors.errors import DescriptorError, brief
from descriptors.records import Record, Row, attributes
from descriptors.smem.derivation.crossing import LINE, PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands import canonical as meaning
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import BASE, LEADING, STRIDE
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.words.bitfield import span
from descriptors.targets import holders, is_measured
from descriptors.text import extents_text, known_line, word_text
from layoutalg import size

#: Abbreviations of the two offset fields.
SHORT = {LEADING: "LBO", STRIDE: "SBO"}


def names(d: Derivation) -> tuple[str, str]:
    """Return the names of the two dimensions of the operand: M of A, N of B, or MN if that is not known; and K.

    >>> from descriptors import derive
    >>> names(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), operand="B"))
    ('N', 'K')
    """
    return {"A": "M", "B": "N"}.get(d.operand or "", "MN"), "K"


def step_meanings(d: Derivation) -> dict[str, str]:
    """Return the meaning of each of the two offset fields for this operand.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16))
    >>> step_meanings(d)["leading_byte_offset"]
    'step to the next atom along MN'
    """
    meanings_of = {name: meaning.step_meaning(d.match.form, name, names(d)) for name, _ in d.match.form.steps}
    if d.crossing is not None:
        goes_on = "absolute address of the line of 128 bytes in which K goes on; moves from subtile to subtile"
        meanings_of[LEADING] = goes_on
    return meanings_of


def unread_because(d: Derivation, field: str) -> str:
    """Return why a field has no effect for this operand, or "" if it has one.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> unread_because(d, "leading_byte_offset"), unread_because(d, "stride_byte_offset")
    ('unused in this mode', '')
    """
    if field not in d.dont_care:
        return ""
    return "never taken, the operand ends before it" if meaning.is_read(d.match.form, field) else "unused in this mode"


def chunk_meaning(d: Derivation) -> str:
    """Describe the chunk of the operand, whose strides the canonical form fixes.

    >>> from descriptors import derive
    >>> chunk_meaning(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)))
    '8 rows of 16 bytes, 128 bytes apart'
    """
    return meaning.chunk_meaning(d.match.form, names(d))


def explain(derivation: Derivation) -> str:
    """Explain LBO and SBO for this operand, the bits without effect, and the advance from subtile to subtile.

    Raises:
        DescriptorError: if the argument is not a derivation.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(explain(d).splitlines()[2])
    SBO, the stride byte offset, is 1024 bytes: step to the next 8 rows along MN; taken 7 times.
    """
    if not isinstance(derivation, Derivation):
        raise DescriptorError(f"explain: {brief(derivation)} is not a derivation")
    return "\n".join([*_sentences(derivation), *known_line(derivation.arch)])


def _sentences(d: Derivation) -> Iterator[str]:
    what = {None: "An operand", "A": "An A operand", "B": "A B operand"}[d.operand]
    yield (
        f"{what} of {extents_text(d.mma)} {d.element}, {d.major}-major, swizzle {d.swizzle}: a grid of pieces, each "
        f"{chunk_meaning(d)}; the hardware walks from piece to piece by "
        + ("two steps, LBO and SBO." if d.crossing is None else "a step, SBO, and goes on at an address, LBO.")
    )
    meanings = step_meanings(d)
    for name, short, path in ((LEADING, "LBO", d.match.form.leading), (STRIDE, "SBO", d.match.form.stride)):
        if name == LEADING and d.crossing is not None:
            yield from _line_sentences(d)
            continue
        times, because = size(d.canonical[path[0]][path[1]]) - 1, unread_because(d, name)
        end = because or f"taken {times} time{'s' if times != 1 else ''}"
        yield (
            f"{short}, the {name.replace('_', ' ')}, is {getattr(d.descriptor, name)} bytes: {meanings[name]}; {end}."
        )
    if d.transposed:
        from descriptors.smem.instructions.transpose import transpose_note  # needed for MN-major operands only

        yield transpose_note(d.arch, d.operand)
    yield _describe_ignored_bits(d)
    if d.crossing is not None:
        yield (
            f"Swizzle {d.swizzle} permutes absolute byte addresses, by {d.swizzle.swizzle}: the tile must start at a "
            f"multiple of {d.swizzle.alignment_bytes} bytes, as base_offset must be 0 where LBO is an address."
        )
        yield f"One word for all but the start address and LBO: {d.advance_report()}."
        return
    if d.swizzle is not SwizzleMode.NONE:
        yield (
            f"Swizzle {d.swizzle} permutes absolute byte addresses, by {d.swizzle.swizzle}: the tile must start at a "
            f"multiple of {d.swizzle.alignment_bytes} bytes, or base_offset must say by how many rows of 128 bytes it "
            "does not. A start address inside an atom needs nothing else."
        )
    yield f"One word for all but the start address: {d.advance_report()}."


def _line_sentences(d: Derivation) -> Iterator[str]:
    """Yield the sentences about LBO for a tile whose operands cross atoms."""
    assert d.crossing is not None
    across = [str(k) for k in range(size(d.advance[1])) if d.crossing.crosses(k)]
    yield (
        f"LBO, the leading byte offset, is no step but an absolute address (lbo_mode 1, {holders('K = 96')} alone): "
        "that of the line of 128 bytes in which K goes on, in the first row. It moves with the tile, so that a word "
        "is right at one address of the tile only."
    )
    yield (
        f"An operand reads {PIECES} pieces of 16 bytes of each row, of which a line holds {LINE}: of the "
        f"{size(d.advance[1])} operands along K those numbered {', '.join(across)} go on in the next line; for the "
        "others LBO names their own line, and is not read."
    )


def _describe_ignored_bits(d: Derivation) -> str:
    """Describe the bits of the word that the hardware ignores."""
    word, mask = d.descriptor.word, d.dont_care_mask()
    unread = [f"{name} {span(word[name])}" for name in d.dont_care]
    if above := mask & ~word.mask(d.dont_care):
        low, high = (above & -above).bit_length() - 1, above.bit_length()
        unread.append(f"{BASE} [{low},{high}), above the lines that the swizzle repeats after")
    sentence = (
        f"The hardware does not look at {', '.join(unread)}: words of two tools may differ in {word_text(mask)}."
        if unread
        else "Every field matters: words of two tools must agree in all of them."
    )
    unnamed = (1 << word.bits) - 1 & ~word.mask(field.name for field in word.fields)
    unnamed_bits = "ignored too, as measured on an H200" if is_measured(d.arch) else "written as 0"
    return f"{sentence} The bits of no field, {word_text(unnamed, word.bits)}, are {unnamed_bits}."


def tell_match(match: Match) -> str:
    """Return the text of a match: the canonical form with LBO and SBO.

    >>> from descriptors import match
    >>> print(tell_match(match("(64,16):(64,1)", "bf16", swizzle="128B")).splitlines()[-1])
    SBO        1024 bytes
    """
    offsets = (
        f"{short}        {getattr(match, name)} bytes{unread_mark(name, match.dont_care)}"
        for name, short in SHORT.items()
    )
    stored = [f"stored as  {match.stored}"] if match.stored else []
    lines = [*stored, f"form       {match.form}, in 16-byte units", f"canonical  {match.layout}", *offsets]
    if match.form.major is Major.MN:
        from descriptors.smem.instructions.transpose import transpose_note  # needed for MN-major operands only

        lines.append(transpose_note(None))
    return "\n".join(lines)


def unread_mark(field: str, dont_care: Iterable[str]) -> str:
    """Return the mark to print after the value of a field without effect; "" for other fields."""
    return "  (changes nothing)" if field in dont_care else ""


#: A match as plain data. The match of a part of a tile has no ``stored``.
record_match = Record(
    "Match",
    stored=Row(str, lambda match: match.stored or None, optional=True),
    **attributes(Match, "form canonical=layout"),
    **attributes(Match, f"{LEADING} {STRIDE} dont_care"),
    transposed=Row(bool, lambda match: match.form.major is Major.MN),
)
#: A match with ``stored``, as in the answer of ``descriptors match``.
MATCH = Record("Match", **record_match.rows | {"stored": Row(str)})
