"""Whether a ``wgmma`` or ``tcgen05`` instruction is one that an assembler takes: its target, qualifiers, types, shape,
registers, masks, scale factors, immediates.

Where the manual is narrower than ptxas, which takes scale-input-d with kind i8, ptxas is followed: an error is what an
assembler rejects. Which target has what is a row of ``targets``.
Source: PTX ISA 9.1, wgmma.mma_async and its companions, tcgen05; the verdicts of ptxas on record, up to 13.5 and
``.version 9.5``; the rows of our tables.

Law: the registers of an accumulator of ``wgmma`` are M by N over 128 threads, two halves to a register.

>>> [registers_of_d((64, n, 16), d) for n, d in ((8, "f32"), (256, "f32"), (256, "f16"))]
[4, 128, 64]

Law: the mask of output lanes of ``tcgen05.mma`` has a bit for every lane of the CTAs.

>>> [32 * MASKS[cta_group] for cta_group in (1, 2)]
[128, 256]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from descriptors.check.instruction_syntax import syntax_findings
from descriptors.check.kernel_report import Finding, finding
from descriptors.check.ptx.multiplications import (
    TensorMma,
    Wgmma,
    WgmmaOpcode,
    tensor_mma,
    tensor_opcode,
    wgmma,
    wgmma_opcode,
)
from descriptors.check.ptx.ptx_module import REST, Instruction
from descriptors.check.ptx.ptx_operands import Negated, Operand, Vector, alone, names
from descriptors.smem.instructions.legality import check_types, shape_refusals
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import KINDS
from descriptors.targets import NEWEST, has, lacking
from descriptors.tmem.allocations import Alloc
from descriptors.tmem.geometry import LEAST_COLUMNS

#: What may stand behind ``wgmma.mma_async``, in whatever order.
_WORDS = re.compile(r"sync|aligned|sp|m\d+n\d+k\d+|[a-z]+\d\w*|satfinite|and|xor|popc")
#: What may stand behind ``tcgen05.mma``; kinds, scale vectors and collectors are looked at elsewhere.
_MMA_WORDS = re.compile(
    r"ws|sp|ashift|block_scale|block16|block32|cta_group::[12]|(kind|scale_vec|collector|decompress)::.+"
)
#: Registers of A, whatever its type: 64 rows of 256 bits over 128 threads.
REGISTERS_OF_A = 4


def registers_of_d(shape: tuple[int, int, int], dtype: str) -> int:
    """Registers of the accumulator a thread."""
    return shape[0] * shape[1] // 128 // (2 if dtype == "f16" else 1)


def wgmma_findings(one: Instruction, target: str, version: str = NEWEST) -> Iterator[Finding]:
    """What an assembler would refuse about a ``wgmma`` instruction.

    Args:
        one: the instruction.
        target: the ``.target``.
        version: the ``.version``.

    >>> made = Instruction(3, "wgmma.fence.sync.aligned", ())
    >>> [found.rule.name for found in wgmma_findings(made, "sm_100a")]
    ['form-target']
    """
    if target != "sm_90a":
        yield finding(one.line, "form-target", f"found {target}; wgmma is of sm_90a alone", one.opcode)
    elif lack := lacking("wgmma", target, version):
        yield finding(one.line, "form-version", f"found {target}: {lack}", one.opcode)
    words = one.qualifiers
    if words[1:2] == ("mma_async",):
        needs = chain.from_iterable(needed(feature, target, version) for feature in _later(words))
        told = chain(_qualifiers(words), _multiplication(one), needs)
    else:
        told = chain(syntax_findings(one, target, version, lambda name: None), ())
    yield from (finding(one.line, name, text, one.opcode) for name, text in told)


def _qualifiers(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Qualifiers that a ``wgmma.mma_async`` does not have, or lacks."""
    if not {"sync", "aligned"} <= set(words):
        yield "form-qualifier", "found no .sync.aligned"
    for word in dict.fromkeys(words[2:]):
        if not _WORDS.fullmatch(word):
            yield "form-qualifier", f"found .{word}, which wgmma.mma_async does not have"


def _later(words: tuple[str, ...]) -> Iterator[str]:
    """What a version of PTX must have beside ``wgmma``."""
    if "sp" in words:
        yield "wgmma.sp"
    if {"s8", "u8"} <= set(words):
        yield "wgmma of s8 by u8"


def _multiplication(one: Instruction) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the opcode, with the number of operands, and with each operand."""
    opcode, view = wgmma_opcode(one), wgmma(one)
    illegal = [] if opcode is None else illegal_multiplication(opcode)
    yield from illegal
    if opcode is not None and opcode.kind:
        yield from _extra_qualifiers(opcode)
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
    elif view.kind:
        yield from _vectors(view, counted=not any(rule == "form-shape" for rule, _ in illegal))
        yield from _immediates(view)


def illegal_multiplication(opcode: Wgmma | WgmmaOpcode) -> list[tuple[str, str]]:
    """Return what is wrong with the types and with the shape of a ``wgmma.mma_async``.

    >>> made = Instruction(1, "wgmma.mma_async.sync.aligned.m48n12k16.f32.f16.f16", ())
    >>> illegal_multiplication(wgmma_opcode(made))
    [('form-shape', 'found m48n12k16: M must be 64; N must be 8..256 step 8')]
    """
    if not opcode.kind:
        return [("form-types", f"found {opcode.types[1]}")]
    told, (m, n, k) = [], opcode.shape
    try:
        check_types("sm90", opcode.kind, opcode.types[1], opcode.types[2], opcode.types[0], legality="lenient")
    except IllegalError as error:
        told.append(("form-types", f"found {' by '.join(opcode.types[1:])} into {opcode.types[0]}: {error.rule}"))
    refusals = shape_refusals("sm90", opcode.kind, m=m, n=n, k=k, sparse=opcode.sparse, legality="lenient")
    if refusals:
        told.append(("form-shape", f"found m{m}n{n}k{k}: {'; '.join(error.rule for error in refusals)}"))
    return told


def _extra_qualifiers(opcode: WgmmaOpcode) -> Iterator[tuple[str, str]]:
    """Yield the qualifiers behind the types that the kind does not have."""
    extra = ".".join(opcode.extra)
    if opcode.kind == "b1" and opcode.extra != ("and", "popc"):
        yield "form-qualifier", f"found .{extra or '(nothing)'}, and b1 has .and.popc alone"
    elif opcode.kind != "b1" and opcode.extra not in ((), ("satfinite",) if opcode.kind == "i8" else ()):
        yield "form-qualifier", f"found .{extra} of {opcode.types[1]}"


def _vectors(view: Wgmma, *, counted: bool) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the operands D, A and B; the registers of D are ``counted`` if the shape is legal."""
    wanted = registers_of_d(view.shape, view.types[0])
    if not isinstance(view.d, Vector):
        yield "form-operands", "found no vector for D"
    elif counted and len(view.d.items) != wanted:
        yield "form-registers", f"found {len(view.d.items)} for D, which has {wanted}"
    if isinstance(view.a, Vector) and len(view.a.items) != REGISTERS_OF_A:
        yield "form-registers", f"found {len(view.a.items)} for A, which has {REGISTERS_OF_A}"
    for name, operand in (("A", view.a), ("B", view.b)):
        if not isinstance(operand, str | Vector):  # a vector for B is reported by its class
            yield "form-operands", f"found no register with a descriptor for {name}"


def _immediates(view: Wgmma) -> Iterator[tuple[str, str]]:
    if isinstance(view.scale_d, int) and view.scale_d not in (0, 1):
        yield "form-immediate", f"found scale-d {view.scale_d}, which must be a predicate, 0 or 1"
    elif not isinstance(view.scale_d, str | int | Negated):
        yield "form-operands", "found no predicate for scale-d"
    yield from _metadata(view)
    for name, values, legal in (("imm-scale", view.scales, (-1, 1)), ("imm-trans", view.transposes, (0, 1))):
        for value in values:
            if value not in legal:
                yield "form-immediate", f"found {name} {_shown(value)}, which must be {legal[0]} or {legal[1]}"
    if view.transposes and view.kind != "f16":
        yield "form-transpose", f"found {len(view.transposes)} transposes of {view.types[1]}"


def _metadata(view: Wgmma) -> Iterator[tuple[str, str]]:
    """The register and the selector of a sparse one; of 8-bit types all threads are read, so that there is one."""
    if not view.sparse:
        return
    register, selector = alone(view.metadata[0]), view.metadata[1]
    if not isinstance(register, str):
        yield "form-operands", f"found {_shown(register)} for sp-meta, which must be a register"
    legal = (0,) if view.kind in ("f8", "i8") else (0, 1)
    if selector not in legal:
        must = "0 of 8-bit types" if len(legal) == 1 else "0 or 1"
        yield "form-immediate", f"found sp-sel {_shown(selector)}, which must be an immediate, {must}"


def _shown(value: Operand) -> str:
    return str(value) if isinstance(value, int | str) else "no number"


#: Registers of the mask of output lanes, by cta_group.
MASKS = {1: 4, 2: 8}
_KINDS = ("ti16", *(row.kind for row in KINDS if row.arch == "sm100"))
_SCALE_NAMES = {
    "mxf8f6f4": ("", "1X", "block32"),
    "mxf4": ("", "2X", "block32"),
    "mxf4nvf4": ("2X", "4X", "block16", "block32"),
}
_BUFFERS = ("fill", "use", "lastuse", "discard")
#: Kinds whose B may be decompressed by a lookup table.
_DECOMPRESSED = ("f8f6f4", "mxf8f6f4")
#: Kinds with scale-input-d.
_SCALED_D = ("f16", "tf32", "i8")


def multiplication(one: Instruction, target: str, version: str = NEWEST) -> Iterator[tuple[str, str]]:
    """What an assembler would refuse about a ``tcgen05.mma``: the rule, and what was found.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> made = Instruction(1, "tcgen05.mma.cta_group::1.kind::f16", operands("[d], x, y, i, {m0,m1}, p"))
    >>> list(multiplication(made, "sm_100a"))
    [('form-registers', 'found 2 for the mask, which has 4')]
    """
    opcode, view = tensor_opcode(one), tensor_mma(one)
    if opcode is None:
        yield "form-qualifier", "found no .kind"
        return
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
    known, seen = opcode.kind in _KINDS, opcode if view is None else view
    if known:
        for feature in _features(seen, one):
            yield from needed(feature, target, version)
        scaled = list(_scaled(opcode))
        yield from scaled
        yield from _collector(opcode, one)
    else:
        yield "form-qualifier", f"found .kind::{opcode.kind}"
    if view is not None:
        yield from _mask(view)
        yield from _tail(view) if known else ()
        if not isinstance(view.b, str):
            yield "form-operands", "found no register with a descriptor for B"
    if opcode.ws and one.qualifiers[2] != "ws":
        yield "form-qualifier", "found .ws elsewhere than behind tcgen05.mma"
    if len([w for w in one.qualifiers if w.startswith("scale_vec::") or w in ("block16", "block32")]) > 1:
        yield "form-qualifier", "found two scale vectors"
    if opcode.ws and opcode.cta_group == 2:
        yield "form-qualifier", "found .cta_group::2 with .ws"
    if opcode.ashift and (opcode.ws or (view is not None and not view.in_tensor_memory)):
        yield "form-qualifier", f"found .ashift with {'.ws' if opcode.ws else 'A in shared memory'}"
    if (
        known
        and not scaled
        and opcode.table is not None
        and (opcode.kind not in _DECOMPRESSED or opcode.ws or opcode.ashift or opcode.sparse)
    ):
        why = next((f".{name}" for name in ("ws", "ashift", "sparse") if getattr(opcode, name)), f"kind {opcode.kind}")
        yield "form-qualifier", f"found .decompress::lut::b with {why.replace('sparse', 'sp')}"


def needed(feature: str, target: str, version: str) -> Iterator[tuple[str, str]]:
    """What a target or a version lacks of a feature: the rule, and what was found.

    >>> [rule for target, version in (("sm_90a", "9.5"), ("sm_107a", "9.1"), ("sm_107a", "9.5"))
    ...     for rule, _ in needed("kind::ti16", target, version)]
    ['form-target', 'form-version']
    """
    if lack := lacking(feature, target, version):
        yield ("form-version" if has(feature, target) else "form-target"), f"found {target}: {lack}"


def _features(view: TensorMma, one: Instruction) -> Iterator[str]:
    """What a target must have beside ``tcgen05``."""
    if view.kind in ("i8", "ti16"):
        yield f"kind::{view.kind}"
    if view.scale_name[-1:] == "X":
        yield "scale_vec"
    elif view.scale_name:
        yield "block16, block32"
    if view.kind == "mxf4nvf4":
        yield "kind::mxf4nvf4"
    if view.sparse and view.kind in ("mxf4", "mxf4nvf4"):
        yield "sparse mxf4, mxf4nvf4"
    if view.tail and not view.ws and view.kind != "i8":
        yield "scale-input-d"
    if view.table is not None:
        yield "decompress::lut::b"
    if any(word.startswith("collector::b::") for word in one.qualifiers):
        yield "collector::b"


def _scaled(view: TensorMma) -> Iterator[tuple[str, str]]:
    legal = _SCALE_NAMES.get(view.kind)
    if (legal is not None) != view.block_scaled:
        yield "form-qualifier", f"found kind {view.kind} with{'' if view.block_scaled else 'out'} .block_scale"
    elif legal is not None and view.scale_name not in legal:
        names = ", ".join(name or "none" for name in legal)
        yield "form-qualifier", f"found scale vector {view.scale_name or 'none'}; kind {view.kind} has {names}"
    if view.block_scaled and (view.ws or view.ashift):
        yield "form-operands", f"found .block_scale with {'.ws' if view.ws else '.ashift'}"


def _collector(view: TensorMma, one: Instruction) -> Iterator[tuple[str, str]]:
    """Buffers that are kept: of A, of B where a target has that, and with ``.ws`` one of four of B."""
    seen = []
    for word in one.qualifiers:
        if not word.startswith("collector::"):
            continue
        buffer, _, use = word.removeprefix("collector::").partition("::")
        legal = ("b0", "b1", "b2", "b3") if view.ws else ("a",) if view.kind == "i8" else ("a", "b")
        if buffer not in legal or use not in _BUFFERS:
            yield "form-qualifier", f"found .{word}{' with .ws' if view.ws else f' of kind {view.kind}'}"
        elif view.ashift and buffer == "a" and use in ("fill", "use"):
            yield "form-qualifier", f"found .{word} with .ashift"
        elif buffer[0] in seen:
            yield "form-qualifier", f"found .{word} as a second collector of {buffer[0].upper()}"
        seen.append(buffer[:1])


def _mask(view: TensorMma) -> Iterator[tuple[str, str]]:
    if view.mask is None:
        return
    if view.block_scaled or view.ws:
        yield "form-operands", f"found a mask of output lanes with {'.ws' if view.ws else '.block_scale'}"
    elif isinstance(view.mask, Vector) and view.cta_group and len(view.mask.items) != MASKS[view.cta_group]:
        yield "form-registers", f"found {len(view.mask.items)} for the mask, which has {MASKS[view.cta_group]}"


def _tail(view: TensorMma) -> Iterator[tuple[str, str]]:
    if not view.tail or view.ws:
        return
    (scale,) = view.tail
    if view.kind not in _SCALED_D or view.table is not None:
        yield "form-immediate", f"found scale-input-d with kind {view.kind}, which has none"
    elif not isinstance(scale, int) or (view.kind != "i8" and not 0 <= scale <= 15):  # of i8 as the assembler has it
        yield "form-immediate", f"found scale-input-d {scale if isinstance(scale, int) else '?'}, which must be 0 to 15"


def tcgen05_findings(one: Instruction, target: str, version: str = NEWEST) -> Iterator[Finding]:
    """What an assembler would refuse about a ``tcgen05`` instruction, but for the classes of registers.

    >>> made = Instruction(3, "tcgen05.wait::ld.aligned", ())
    >>> [found.found for found in tcgen05_findings(made, "sm_100a")]
    ['found none of .sync for tcgen05.wait::ld']
    """
    lacks = list(needed("tcgen05", target, version))
    told: list[tuple[str, str]]
    if one.opcode.startswith("tcgen05.mma"):
        told = list(multiplication(one, target, version))
        told += _mma_qualifiers(one.qualifiers[2:])
    else:
        told = syntax_findings(one, target, version, lambda name: None)
        if lacks:
            told = [row for row in told if row[0] not in ("form-target", "form-version")]
        if one.opcode.startswith("tcgen05.ld"):
            told += _apart(one.operands)
    yield from (finding(one.line, rule, text, one.opcode) for rule, text in (*lacks, *told))


def _mma_qualifiers(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield qualifiers that no ``tcgen05.mma`` has, has twice, or lacks.

    >>> [found for _, found in _mma_qualifiers(("cta_group::3", "kind::f16", "sync", "kind::f16"))]
    ['found .cta_group::3 .sync, which tcgen05.mma does not have', 'found two .kind']
    """
    if unknown := [word for word in words if not _MMA_WORDS.fullmatch(word)]:
        yield "form-qualifier", f"found .{' .'.join(unknown)}, which tcgen05.mma does not have"
    heads = Counter(word.partition("::")[0] for word in words if not word.startswith("collector::"))
    for head, many in heads.items():
        if many > 1:
            yield "form-qualifier", f"found two .{head}"
    if not heads["cta_group"]:
        yield "form-qualifier", "found no .cta_group::1 or .cta_group::2"


def group_findings(code: Iterable[Instruction]) -> Iterator[Finding]:
    """The instructions of a function with another ``.cta_group`` than its first: an assembler takes one a function.

    >>> made = [Instruction(n, f"tcgen05.shift.cta_group::{n}.down", ()) for n in (1, 2)]
    >>> [one.line for one in group_findings(made)]
    [2]
    """
    first = ""
    for one in code:
        group = next((word for word in one.qualifiers if word in ("cta_group::1", "cta_group::2")), "")
        first = first or group
        if group != first and group:
            yield finding(one.line, "tcgen05-cta-group", f"found .{group} after .{first}", one.opcode)


def limit_findings(code: Iterable[Instruction], room: int) -> Iterator[Finding]:
    """Yield the first multiplication of a function that needs more registers than a thread may have, with the count.

    Args:
        code: instructions of the function.
        room: registers that a thread may have.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> read = operands("{a,b,c,d}, x, y, 1, 1, 1, 0, 0")
    >>> made = [Instruction(n, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", read) for n in (7, 9)]
    >>> [one.found for one in limit_findings(made, 24)], list(limit_findings(made, 30))
    (['found a limit of 24; m64n8k16 into f32 needs 30; 2 instructions, lines 7..9'], [])
    """
    views = [(one, view) for one in code if one.qualifiers[1:2] == ("mma_async",) and (view := wgmma(one))]
    rows = [
        (registers_of_d(view.shape, view.types[0]) + REST, one, view)
        for one, view in views
        if view.kind and not any(rule == "form-shape" for rule, _ in illegal_multiplication(view))
    ]
    over = [row for row in rows if row[0] > room]
    if over:
        wanted, first, view = max(over, key=lambda row: row[0])
        m, n, k = view.shape
        found = f"found a limit of {room}; m{m}n{n}k{k} into {view.types[0]} needs {wanted}"
        lines = [one.line for _, one, _ in over]
        many = f"; {len(over)} instructions, lines {min(lines)}..{max(lines)}" if len(over) > 1 else ""
        yield finding(first.line, "form-limit", found + many, first.opcode)


def column_findings(code: Iterable[Instruction]) -> Iterator[Finding]:
    """Yield the allocations of a function with a number of columns that an assembler refuses.

    A deallocation is reported only if no allocation has the same number: it follows what was allocated.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> rows = (("alloc", "shared::cta.b32", "[s], 48"), ("dealloc", "b32", "t, 48"), ("dealloc", "b32", "t, 16"))
    >>> code = [Instruction(1, f"tcgen05.{name}.{words}", operands(of)) for name, words, of in rows]
    >>> [one.found for one in column_findings(code)]  # doctest: +ELLIPSIS
    ['found 48 columns, which must be 32, 64, 128, 256 or 512', 'found 16 columns, ...']
    """
    allocations = []
    for instruction in code:
        if instruction.qualifiers[1:2] in (("alloc",), ("dealloc",)) and len(instruction.operands) == 2:
            columns, exclusive = instruction.operands[1], "exclusive" in instruction.qualifiers
            if isinstance(columns, int):  # the most that an exclusive one may have is not a matter of its form
                allocations.append((instruction, Alloc(columns, exclusive=exclusive, most=columns)))
    allocated = {allocation for instruction, allocation in allocations if instruction.qualifiers[1] == "alloc"}
    for instruction, allocation in allocations:
        if not allocation.is_legal and (instruction.qualifiers[1] == "alloc" or allocation not in allocated):
            must = f"a multiple of {LEAST_COLUMNS}" if allocation.exclusive else "32, 64, 128, 256 or 512"
            found = f"found {allocation.columns} columns, which must be {must}"
            yield finding(instruction.line, "form-immediate", found, instruction.opcode)


def _apart(operands: tuple[Operand, ...]) -> Iterator[tuple[str, str]]:
    """Registers that a load would fill twice."""
    filled = [name for operand in operands if isinstance(operand, str | Vector) for name in names(operand)]
    for name, many in Counter(filled).items():
        if many > 1 and name != "_":
            yield "form-registers", f"found {name} {many} times among those that are filled"
