"""Print decoded words, read addresses, comparisons and candidates as text, and convert them into plain data.

Invariant: the stored numbers of a decoded word, at the positions of their fields, and its unknown bits are the word.

>>> from descriptors import decode
>>> from descriptors.smem.words.descriptor import smem_word
>>> for word in (0x4000404000010000 ^ 3 << bit for bit in range(63)):
...     record = record_decoded(decode(word, "sm90"))
...     fields = sum(stored << smem_word("sm90")[name].low for name, stored in record["stored"].items())
...     assert word_text(fields | int(record["unknown_bits"], 16)) == record["word"] == word_text(word)

Invariant: the text of a comparison has a line for each mismatch of its data.

>>> from descriptors import diff
>>> tile = "S<3,3,3> o 0 o (64,16):(64,1)"
>>> results = [diff(1 << 62 | sbo << 32, tile, "sm90", dtype="bf16", major="K") for sbo in (16, 64, 128)]
>>> [tell_diff(result).count("is stored at") == len(record_diff(result)["mismatches"]) for result in results]
[True, True, True]
>>> [record_diff(result)["same"] for result in results]
[False, True, False]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from descriptors.answers import Table, plain_data
from descriptors.records import (
    ARCH,
    PAIR,
    UNIT,
    WORD,
    Option,
    Record,
    Row,
    attributes,
    each,
    evidence_row,
    within,
)
from descriptors.smem.debug.candidates import Candidate
from descriptors.smem.debug.decode import Decoded, Expectation
from descriptors.smem.debug.diff import Diff
from descriptors.smem.debug.read import Fetched
from descriptors.smem.instructions.legality import split_refusal
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.operand import DTYPES, Major, SwizzleMode
from descriptors.smem.operands.swizzled import stored_text
from descriptors.smem.proof.addresses import address_bits, address_unit
from descriptors.smem.words.bitfield import field_cells, field_kinds, span
from descriptors.smem.words.descriptor import FIELDS, STORED, WORDS, smem_word
from descriptors.text import aligned, known_line, listed, word_text

#: The default number of rows and columns of 16-byte pieces in the text of read addresses.
_ROWS, _COLUMNS = 32, 16
#: The number of rows to print of a picture that is mostly wrong.
_WRONG_ROWS = 8


def tell_decoded(decoded: Decoded, expected: Sequence[Expectation] = ()) -> str:
    """Return the text of a decoded word: a line for each field, the warnings and notes, and the expected values.

    >>> from descriptors import decode
    >>> for line in tell_decoded(decode(0x4000404000010000, "sm100", dtype="bf16", major="K")).splitlines()[:4]:
    ...     print(line)
    0x4000404000010000: sm100 shared-memory descriptor of an operand: bf16 K-major
       field                bits            value    in the word
       start_address        [0,14)        0 bytes   0 x 16 bytes  where the operand starts
       leading_byte_offset  [16,30)      16 bytes   1 x 16 bytes  not read; CUTLASS writes 16 bytes, others 0
    """
    remarks = [*(f"warning: {remark}" for remark in decoded.warnings), *(f"note: {remark}" for remark in decoded.notes)]
    rows = aligned(_rows(decoded), "<<>><", indent=3)
    return "\n".join([decoded.headline, *rows, *remarks, *known_line(decoded.arch), *map(str, expected)])


def _rows(decoded: Decoded) -> list[tuple[str, ...]]:
    """Return the table of the fields, with its heading first."""
    rows: list[tuple[str, ...]] = [("field", "bits", "value", "in the word", "")]
    for row in decoded.fields:
        rows.append((row.name, span(row.field), *field_cells(row.field, row.stored, row.value), row.meaning))
    return rows


def tables_decoded(decoded: Decoded) -> list[Table]:
    """Return the table of the fields."""
    return [("fields", _rows(decoded))]


#: A warning or note about a word.
REMARK = Record("Remark", **each(str, "kind field text"))


def _by_field(attribute: str) -> Callable[[Decoded], dict[str, Any]]:
    """Return the source of a map from the names of the fields to one of their attributes."""
    return lambda decoded: {row.name: plain_data(getattr(row, attribute)) for row in decoded.fields}


#: A decoded word as plain data; ``expected`` has the comparisons with expected values.
record_decoded = Record(
    "Decoded",
    word=WORD,
    arch=ARCH,
    fields=Row(FIELDS, _by_field("value")),
    stored=Row(STORED, _by_field("stored")),
    meanings=Row(lambda: field_kinds(WORDS.values(), str), _by_field("meaning")),
    dont_care=[str],
    unknown_bits=WORD,
    warnings=[REMARK],
    notes=[REMARK],
    evidence=evidence_row(),
    expected=Row(
        [Record(field=str, expected=(int, str), found=(int, str), met=bool)], Option("expected"), optional=True
    ),
)


def tell_fetched(fetched: Fetched, everything: bool = False) -> str:
    r"""Return the text of read addresses: a cell for every 16 bytes, with the contiguous dimension across.

    Args:
        fetched: the result of ``read``.
        everything: show all rows and columns.

    >>> from descriptors.smem.debug.read import read
    >>> print(tell_fetched(read(0x4000404000010000, "sm100", dtype="bf16", major="K", shape=(2, 16))))
    read model: no tcgen05 instruction reads such an operand
    mn \ k     0    8
         0   0x0 0x10
         1  0x90 0x80
    a cell is the byte address of 16 bytes, 8 elements along k
    """
    return "\n".join(_sentences(fetched, everything))


def _sentences(fetched: Fetched, everything: bool) -> Iterator[str]:
    yield f"read model: {fetched.evidence}"
    yield from (f"warning: {remark}" for remark in fetched.decoded.warnings)
    down, across = ("mn", "k") if fetched.major is Major.K else ("k", "mn")
    elements, pieces = fetched.element.per_16_bytes, _pieces(fetched)
    rows, columns = (len(pieces), len(pieces[0])) if everything else (_ROWS, _COLUMNS)
    window = [row[:columns] for row in pieces[:rows]]
    width = len(f"{max(map(max, window)):#x}")  # all columns have the same width
    # The space at the end of the first cell separates the row numbers from the addresses.
    table = [[f"{down} \\ {across} ", *(f"{j * elements:>{width}}" for j in range(len(window[0])))]]
    table += [[f"{i} ", *(f"{f'{place:#x}':>{width}}" for place in row)] for i, row in enumerate(window)]
    yield from aligned(table, ">", gap=1)
    left_out = ((len(pieces) - len(window), "rows"), (len(pieces[0]) - len(window[0]), "columns"))
    notes = [f"{count} more {name}" for count, name in left_out if count]
    if notes:
        yield f"{' and '.join(notes)}: --all shows them"
    yield f"a cell is the byte address of 16 bytes, {elements} elements along {across}"


def _pieces(fetched: Fetched) -> list[tuple[int, ...]]:
    """Return the byte addresses of the 16-byte pieces, with the contiguous dimension across."""
    rows = fetched.addresses if fetched.major is Major.K else tuple(zip(*fetched.addresses, strict=True))
    per_byte = 8 // address_bits(fetched.element)  # 1, or 8 if addresses count bits
    return [tuple(place // per_byte for place in row[:: fetched.element.per_16_bytes]) for row in rows]


#: Read addresses as plain data: an address for every element.
record_fetched = Record(
    "Fetched",
    **within("decoded", word=WORD, arch=ARCH),
    dtype=Row(DTYPES, "element"),
    major=Major,
    shape=Row(PAIR, lambda fetched: (len(fetched.addresses), len(fetched.addresses[0]))),
    unit=Row(UNIT, lambda fetched: address_unit(fetched.element)),
    evidence=str,
    warnings=Row([REMARK], "decoded.warnings"),
    addresses=[[int]],
)


def tell_diff(diff: Diff, name_of: Callable[[str], str] = str) -> str:
    r"""Return the text of a comparison: the verdict, the changes, the right word, the layout and the mismatches.

    Args:
        diff: the comparison.
        name_of: returns the name that the reader knows for a parameter of ``diff``.

    >>> from descriptors import diff
    >>> result = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
    >>> print(*tell_diff(result).splitlines()[1:3], sep="\n")
    change: stride_byte_offset 512 -> 1024
    right word: 0x4000004000010000
    """
    transposed = [transpose_note(diff.arch)] if _transposed(diff) else []
    differs = [*(f"   {mismatch}" for mismatch in diff.mismatches), *_picture(diff)] if diff.mismatches else []
    fix = _right_word(diff) if diff.differing else []
    stored = f"stored as {stored_text(diff.layout, diff.element)}"
    reason = split_refusal(diff.illegal)[1] if diff.verdict == "undecided" else ""
    notes = [f"note: {note}" for note in (*filter(None, [reason]), *diff.start_notes)]
    warnings = [f"warning: {warning}" for warning in diff.warnings]
    known = f"known: {diff.evidence}"
    return "\n".join([diff.summary(name_of), *fix, *warnings, *notes, stored, *transposed, *differs, known])


def tables_diff(diff: Diff) -> list[Table]:
    """Return the tables of the changes and of the mismatches."""
    elements = ELEMENT.table(diff.mismatches)
    return [("what to change", CHANGE.table(diff.changes)), ("elements read from elsewhere", elements)]


def _transposed(diff: Diff) -> bool:
    """Return whether the transpose bit of the instruction must be set for the layout."""
    return (diff.right_major or diff.major) is Major.MN


def _picture(diff: Diff) -> Iterator[str]:
    """Yield the lines of the picture, or only its first rows if most elements are wrong."""
    ruler, *rows, legend = str(diff.picture).splitlines()
    mostly = 2 * diff.differing > diff.shape[0] * diff.shape[1]
    visible = rows[:_WRONG_ROWS] if mostly else rows
    yield from [ruler, *visible]
    if len(visible) < len(rows):
        yield f"   ... and {len(rows) - len(visible)} more rows (--json has them all)"
    yield legend


def _right_word(diff: Diff) -> Iterator[str]:
    """Yield the changes and the right word, or why no word reads the layout."""
    if diff.right_word is None:
        yield f"no word reads this layout: {diff.reason}"
        return
    changes = [str(change) for change in diff.changes]
    if diff.right_major is not diff.major:
        changes.append(f"major {diff.major} -> {diff.right_major}")
    yield from listed("change: ", changes or ["nothing"])
    yield f"right word: {word_text(diff.right_word)}"
    if (values := smem_word(diff.arch).decode(diff.right_word))["swizzle"] is not SwizzleMode.NONE:
        yield f"   its base offset is {values['base_offset']}, as the swizzle pattern starts at {diff.pattern_start:#x}"
    if diff.illegal:
        yield f"but {diff.illegal}"


#: An element that is not read from where it is stored.
ELEMENT = Record(
    "Element",
    coordinate=Row(PAIR, label="element"),
    unit=UNIT,
    expected=Row(int, label="stored at"),
    found=Row(int, label="read at"),
)
#: A field to change.
CHANGE = Record(
    field=Row(str, label="field"), found=Row((int, str), label="found"), right=Row((int, str), label="right")
)
#: A comparison as plain data.
record_diff = Record(
    "Diff",
    word=WORD,
    arch=ARCH,
    dtype=Row(DTYPES, "element"),
    **attributes(Diff, "major shape layout base verdict"),
    # Null if the verdict is undecided, so that a program that reads only this key reports no difference.
    same=Row((bool, None), lambda diff: None if diff.verdict == "undecided" else diff.ok),
    assumptions=Row([str], lambda diff: tuple(map(str, diff.assumptions))),
    **attributes(Diff, "open_questions"),
    base_assumed=Row(bool, lambda diff: diff.placement is not None),
    **attributes(Diff, "shape_assumed=whole subtile offset"),
    starts=Row(({"subtile": [int], "base": int}, None), "other"),
    elements=Row(int, lambda diff: diff.shape[0] * diff.shape[1]),
    differing=int,
    mismatches=[ELEMENT],
    picture={"rows": [str], "block": PAIR},
    right_word=(WORD, None),
    **attributes(Diff, "right_major"),
    transposed=Row(bool, _transposed),
    changes=[CHANGE],
    warnings=[REMARK],
    **attributes(Diff, "illegal reason evidence"),
)


def tell_candidates(candidates: Sequence[Candidate]) -> str:
    """Return the text of candidates: a line for each, then the transpose bit if a usable one is MN-major.

    Invariant: the text has a line for each record, in the same order, with its word.

    >>> from descriptors import candidates
    >>> tried = candidates("(64,16):(64,1)", "bf16", arch="sm90")
    >>> for line, row in zip(tell_candidates(tried).splitlines(), record_candidates(tried), strict=True):
    ...     assert line.startswith(f"{row['major']}-major {row['swizzle']}: ") and row.get("word", "") in line
    >>> print(tell_candidates(tried[:1]))
    K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000, if stored as S<3,3,3> o 0 o (64,16):(64,1)
    >>> print(tell_candidates(candidates("(64,16):(64,1)", "bf16", swizzle="128B")[:1]))
    K-major 128B: fits; LBO 16, SBO 1024, word 0x4000404000010000, stored as S<3,3,3> o 0 o (64,16):(64,1)
    known: documented, not measured on a Blackwell GPU
    """
    transposed = {
        each.fit.descriptor.arch for each in candidates if each.fit and each.major is Major.MN and each.usable
    }
    arches = {each.fit.descriptor.arch for each in candidates if each.fit}
    known = [line for arch in sorted(arches) for line in known_line(arch)]
    return "\n".join([*map(str, candidates), *map(transpose_note, sorted(transposed)), *known])


#: The rows that both kinds of candidates have.
_OPERAND, _WHY = attributes(Candidate, "major swizzle"), attributes(Candidate, "reason illegal applied")
#: A candidate that does not fit, and one that does.
MISFIT = Record("Misfit", **_OPERAND, fits=Row({False}, lambda candidate: False), **_WHY)
FIT = Record(
    "Fit",
    lambda candidate: candidate.fit is not None,
    **_OPERAND,
    fits=Row({True}, lambda candidate: True),
    **_WHY,
    layout=Row(str, "fit.layout"),
    canonical=Row(str, "fit.match.layout"),
    form=Row(str, "fit.match.form"),
    **attributes(Match, "leading_byte_offset stride_byte_offset dont_care", "fit.match"),
    word=Row(WORD, lambda candidate: candidate.fit.descriptor.encode()),
    evidence=evidence_row("fit.descriptor.arch"),
    transposed=Row(bool, lambda candidate: candidate.major is Major.MN),
)
#: Candidates, as a command lists them.
CANDIDATES = Record(candidates=Row([(FIT, MISFIT)], "."))


def record_candidates(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return candidates as plain data."""
    return [(FIT if FIT.fits(candidate) else MISFIT)(candidate) for candidate in candidates]
