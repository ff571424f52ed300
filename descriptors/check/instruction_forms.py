"""Checks that an assembler accepts ``wgmma`` and ``tcgen05`` instructions: target, qualifiers, types, shape, operands.

An error is what an assembler rejects. If the manual is narrower than ptxas, the check follows ptxas; for example,
ptxas accepts scale-input-d with kind i8. The features of each target are in ``targets``.
Source: PTX ISA 9.1, wgmma.mma_async and its companions, tcgen05; recorded verdicts of ptxas up to 13.5 and
``.version 9.5``; the tables of this project.

Invariant: an accumulator of ``wgmma`` has M x N elements over 128 threads, and a register has two f16 elements.

>>> [registers_of_d((64, n, 16), d) for n, d in ((8, "f32"), (256, "f32"), (256, "f16"))]
[4, 128, 64]

Invariant: the mask of output lanes of ``tcgen05.mma`` has one bit for each lane of the CTAs.

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
from descriptors.text import counted
from descriptors.tmem.allocations import Alloc
from descriptors.tmem.geometry import LEAST_COLUMNS

#: Qualifiers of ``wgmma.mma_async``, in any order.
_WORDS = re.compile(r"sync|aligned|sp|m\d+n\d+k\d+|[a-z]+\d\w*|satfinite|and|xor|popc")
#: Qualifiers of ``tcgen05.mma``; kinds, scale vectors and collectors are checked elsewhere.
_MMA_WORDS = re.compile(
    r"ws|sp|ashift|block_scale|block16|block32|cta_group::[12]|(kind|scale_vec|collector|decompress)::.+"
)
#: Registers of A per thread for every type: 64 rows of 256 bits over 128 threads.
REGISTERS_OF_A = 4


def registers_of_d(shape: tuple[int, int, int], dtype: str) -> int:
    """Return the number of registers of the accumulator per thread."""
    return shape[0] * shape[1] // 128 // (2 if dtype == "f16" else 1)


def wgmma_findings(instruction: Instruction, target: str, version: str = NEWEST) -> Iterator[Finding]:
    """Yield what an assembler would reject in a ``wgmma`` instruction.

    Args:
        instruction: the instruction.
        target: the ``.target``.
        version: the ``.version``.

    >>> fence = Instruction(3, "wgmma.fence.sync.aligned", ())
    >>> [finding.rule.name for finding in wgmma_findings(fence, "sm_100a")]
    ['form-target']
    """
    if target != "sm_90a":
        yield finding(
            instruction.line,
            "form-target",
            f"{target} has no wgmma instructions; only sm_90a has them",
            instruction.opcode,
        )
    elif lack := lacking("wgmma", target, version):
        yield finding(instruction.line, "form-version", lack, instruction.opcode)
    words = instruction.qualifiers
    if words[1:2] == ("mma_async",):
        missing_features = chain.from_iterable(needed(feature, target, version) for feature in _later_features(words))
        violations = chain(_qualifier_violations(words), _mma_violations(instruction), missing_features)
    else:
        violations = chain(syntax_findings(instruction, target, version, lambda name: None), ())
    yield from (finding(instruction.line, name, text, instruction.opcode) for name, text in violations)


def _qualifier_violations(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the qualifiers that a ``wgmma.mma_async`` does not accept or lacks."""
    if not {"sync", "aligned"} <= set(words):
        yield "form-qualifier", "wgmma.mma_async lacks .sync.aligned"
    for word in dict.fromkeys(words[2:]):
        if not _WORDS.fullmatch(word):
            yield "form-qualifier", f"wgmma.mma_async does not accept .{word}"


def _later_features(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the features that a ``wgmma.mma_async`` needs besides ``wgmma``."""
    if "sp" in words:
        yield "wgmma.sp"
    if {"s8", "u8"} <= set(words):
        yield "wgmma of s8 by u8"


def _mma_violations(instruction: Instruction) -> Iterator[tuple[str, str]]:
    """Yield the violations of the opcode, of the number of operands, and of each operand."""
    opcode, view = wgmma_opcode(instruction), wgmma(instruction)
    illegal = [] if opcode is None else illegal_multiplication(opcode)
    yield from illegal
    if opcode is not None and opcode.kind:
        yield from _extra_qualifiers(opcode)
    if view is None:
        yield "form-operands", f"wgmma.mma_async does not accept these {len(instruction.operands)} operands"
    elif view.kind:
        yield from _vector_violations(view, has_legal_shape=not any(rule == "form-shape" for rule, _ in illegal))
        yield from _immediate_violations(view)


def illegal_multiplication(opcode: Wgmma | WgmmaOpcode) -> list[tuple[str, str]]:
    """Return the violations of the types and the shape of a ``wgmma.mma_async``.

    >>> mma = Instruction(1, "wgmma.mma_async.sync.aligned.m48n12k16.f32.f16.f16", ())
    >>> illegal_multiplication(wgmma_opcode(mma))
    [('form-shape', 'wgmma has no shape m48n12k16; M must be 64; N must be 8..256 step 8')]
    """
    if not opcode.kind:
        return [("form-types", f"wgmma does not multiply {opcode.types[1]}")]
    violations, (m, n, k) = [], opcode.shape
    try:
        check_types("sm90", opcode.kind, opcode.types[1], opcode.types[2], opcode.types[0], legality="lenient")
    except IllegalError as error:
        types = f"{' by '.join(opcode.types[1:])} into {opcode.types[0]}"
        violations.append(("form-types", f"wgmma does not multiply {types}; {error.rule}"))
    refusals = shape_refusals("sm90", opcode.kind, m=m, n=n, k=k, sparse=opcode.sparse, legality="lenient")
    if refusals:
        rules = "; ".join(error.rule for error in refusals)
        violations.append(("form-shape", f"wgmma has no shape m{m}n{n}k{k}; {rules}"))
    return violations


def _extra_qualifiers(opcode: WgmmaOpcode) -> Iterator[tuple[str, str]]:
    """Yield the qualifiers behind the types that the kind does not have."""
    extra = ".".join(opcode.extra)
    if opcode.kind == "b1" and opcode.extra != ("and", "popc"):
        yield "form-qualifier", f"b1 is used with {f'.{extra}' if extra else 'no operation'}, not with .and.popc"
    elif opcode.kind != "b1" and opcode.extra not in ((), ("satfinite",) if opcode.kind == "i8" else ()):
        yield "form-qualifier", f"{opcode.types[1]} is used with .{extra}"


def _vector_violations(view: Wgmma, *, has_legal_shape: bool) -> Iterator[tuple[str, str]]:
    """Yield the violations of the operands D, A and B. The registers of D are counted only for a legal shape."""
    expected = registers_of_d(view.shape, view.types[0])
    if not isinstance(view.d, Vector):
        yield "form-operands", "D is not a vector"
    elif has_legal_shape and len(view.d.items) != expected:
        yield "form-registers", f"D has {counted(len(view.d.items), 'register')}, not {expected}"
    if isinstance(view.a, Vector) and len(view.a.items) != REGISTERS_OF_A:
        yield "form-registers", f"A has {counted(len(view.a.items), 'register')}, not {REGISTERS_OF_A}"
    for name, operand in (("A", view.a), ("B", view.b)):
        if not isinstance(operand, str | Vector):  # a vector for B is reported by its class
            yield "form-operands", f"{name} is not a register with a descriptor"


def _immediate_violations(view: Wgmma) -> Iterator[tuple[str, str]]:
    if isinstance(view.scale_d, int) and view.scale_d not in (0, 1):
        yield "form-immediate", f"scale-d is {view.scale_d}, not a predicate, 0 or 1"
    elif not isinstance(view.scale_d, str | int | Negated):
        yield "form-operands", "scale-d is not a predicate, 0 or 1"
    yield from _metadata_violations(view)
    for name, values, legal in (("imm-scale", view.scales, (-1, 1)), ("imm-trans", view.transposes, (0, 1))):
        for value in values:
            if value not in legal:
                yield "form-immediate", f"{name} is {_value_prefix(value)}not {legal[0]} or {legal[1]}"
    if view.transposes and view.kind != "f16":
        yield "form-transpose", f"transpose immediates are used with {view.types[1]}"


def _metadata_violations(view: Wgmma) -> Iterator[tuple[str, str]]:
    """Yield the violations of metadata and selector of a sparse instruction; 8-bit types have only selector 0."""
    if not view.sparse:
        return
    register, selector = alone(view.metadata[0]), view.metadata[1]
    if not isinstance(register, str):
        yield "form-operands", f"sp-meta is {_value_prefix(register)}not a register"
    legal = (0,) if view.kind in ("f8", "i8") else (0, 1)
    if selector not in legal:
        numbers = "0, the only value for 8-bit types" if len(legal) == 1 else "0 or 1"
        yield "form-immediate", f"sp-sel is {_value_prefix(selector)}not {numbers}"


def _value_prefix(value: Operand) -> str:
    """Return a number or a name with a comma after it; "" for other operands."""
    return f"{value}, " if isinstance(value, int | str) else ""


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


def multiplication(instruction: Instruction, target: str, version: str = NEWEST) -> Iterator[tuple[str, str]]:
    """Yield what an assembler would reject in a ``tcgen05.mma``: the rule and the fact.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> mma = Instruction(1, "tcgen05.mma.cta_group::1.kind::f16", operands("[d], x, y, i, {m0,m1}, p"))
    >>> list(multiplication(mma, "sm_100a"))
    [('form-registers', 'the mask of output lanes has 2 registers, not 4')]
    """
    opcode, view = tensor_opcode(instruction), tensor_mma(instruction)
    if opcode is None:
        yield "form-qualifier", "tcgen05.mma has no .kind"
        return
    if view is None:
        yield "form-operands", f"tcgen05.mma does not accept these {len(instruction.operands)} operands"
    is_known_kind, described = opcode.kind in _KINDS, opcode if view is None else view
    if is_known_kind:
        for feature in _used_features(described, instruction):
            yield from needed(feature, target, version)
        scale_violations = list(_scale_violations(opcode))
        yield from scale_violations
        yield from _collector_violations(opcode, instruction)
    else:
        yield "form-qualifier", f"tcgen05.mma does not accept .kind::{opcode.kind}"
    if view is not None:
        yield from _mask_violations(view)
        yield from _tail_violations(view) if is_known_kind else ()
        if not isinstance(view.b, str):
            yield "form-operands", "B is not a register with a descriptor"
    if opcode.ws and instruction.qualifiers[2] != "ws":
        yield "form-qualifier", ".ws is not directly after tcgen05.mma"
    if len([w for w in instruction.qualifiers if w.startswith("scale_vec::") or w in ("block16", "block32")]) > 1:
        yield "form-qualifier", "two scale vectors are given"
    if opcode.ws and opcode.cta_group == 2:
        yield "form-qualifier", ".cta_group::2 is used with .ws"
    if opcode.ashift and (opcode.ws or (view is not None and not view.in_tensor_memory)):
        yield "form-qualifier", f".ashift is used with {'.ws' if opcode.ws else 'A in shared memory'}"
    if (
        is_known_kind
        and not scale_violations
        and opcode.table is not None
        and (opcode.kind not in _DECOMPRESSED or opcode.ws or opcode.ashift or opcode.sparse)
    ):
        why = next((f".{name}" for name in ("ws", "ashift", "sparse") if getattr(opcode, name)), f"kind {opcode.kind}")
        yield "form-qualifier", f".decompress::lut::b is used with {why.replace('sparse', 'sp')}"


def needed(feature: str, target: str, version: str) -> Iterator[tuple[str, str]]:
    """Yield the rule and the fact if a target or a version does not support a feature.

    >>> [rule for target, version in (("sm_90a", "9.5"), ("sm_107a", "9.1"), ("sm_107a", "9.5"))
    ...     for rule, _ in needed("kind::ti16", target, version)]
    ['form-target', 'form-version']
    """
    if lack := lacking(feature, target, version):
        yield ("form-version" if has(feature, target) else "form-target"), lack


def _used_features(view: TensorMma, instruction: Instruction) -> Iterator[str]:
    """Yield the features that a ``tcgen05.mma`` needs besides ``tcgen05``."""
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
    if any(word.startswith("collector::b::") for word in instruction.qualifiers):
        yield "collector::b"


def _scale_violations(view: TensorMma) -> Iterator[tuple[str, str]]:
    legal_names = _SCALE_NAMES.get(view.kind)
    if (legal_names is not None) != view.block_scaled:
        yield "form-qualifier", f"kind {view.kind} is used with{'' if view.block_scaled else 'out'} .block_scale"
    elif legal_names is not None and view.scale_name not in legal_names:
        names = ", ".join(name or "none" for name in legal_names)
        yield (
            "form-qualifier",
            f"kind {view.kind} is used with the scale vector {view.scale_name or '(none)'}; it has {names}",
        )
    if view.block_scaled and (view.ws or view.ashift):
        yield "form-operands", f".block_scale is used with {'.ws' if view.ws else '.ashift'}"


def _collector_violations(view: TensorMma, instruction: Instruction) -> Iterator[tuple[str, str]]:
    """Yield the violations of collector buffers: A, B on some targets, and one of four of B with ``.ws``."""
    operands = []
    for word in instruction.qualifiers:
        if not word.startswith("collector::"):
            continue
        buffer, _, use = word.removeprefix("collector::").partition("::")
        legal_buffers = ("b0", "b1", "b2", "b3") if view.ws else ("a",) if view.kind == "i8" else ("a", "b")
        if buffer not in legal_buffers or use not in _BUFFERS:
            yield "form-qualifier", f".{word} is used with {'.ws' if view.ws else f'kind {view.kind}'}"
        elif view.ashift and buffer == "a" and use in ("fill", "use"):
            yield "form-qualifier", f".{word} is used with .ashift"
        elif buffer[0] in operands:
            yield "form-qualifier", f".{word} is a second collector of {buffer[0].upper()}"
        operands.append(buffer[:1])


def _mask_violations(view: TensorMma) -> Iterator[tuple[str, str]]:
    if view.mask is None:
        return
    if view.block_scaled or view.ws:
        yield "form-operands", f"a mask of output lanes is used with {'.ws' if view.ws else '.block_scale'}"
    elif isinstance(view.mask, Vector) and view.cta_group and len(view.mask.items) != MASKS[view.cta_group]:
        count = counted(len(view.mask.items), "register")
        yield "form-registers", f"the mask of output lanes has {count}, not {MASKS[view.cta_group]}"


def _tail_violations(view: TensorMma) -> Iterator[tuple[str, str]]:
    if not view.tail or view.ws:
        return
    (scale,) = view.tail
    if view.kind not in _SCALED_D or view.table is not None:
        yield "form-immediate", f"scale-input-d is used with kind {view.kind}, which has none"
    elif not isinstance(scale, int) or (view.kind != "i8" and not 0 <= scale <= 15):  # of i8 as the assembler has it
        yield "form-immediate", f"scale-input-d is {f'{scale}, ' * isinstance(scale, int)}not a number from 0 to 15"


def tcgen05_findings(instruction: Instruction, target: str, version: str = NEWEST) -> Iterator[Finding]:
    """Yield what an assembler would reject in a ``tcgen05`` instruction, except classes of registers.

    >>> wait = Instruction(3, "tcgen05.wait::ld.aligned", ())
    >>> [finding.found for finding in tcgen05_findings(wait, "sm_100a")]
    ['tcgen05.wait::ld lacks .sync']
    """
    unsupported = list(needed("tcgen05", target, version))
    violations: list[tuple[str, str]]
    if instruction.opcode.startswith("tcgen05.mma"):
        violations = list(multiplication(instruction, target, version))
        violations += _mma_qualifiers(instruction.qualifiers[2:])
    else:
        violations = syntax_findings(instruction, target, version, lambda name: None)
        if unsupported:
            violations = [row for row in violations if row[0] not in ("form-target", "form-version")]
        if instruction.opcode.startswith("tcgen05.ld"):
            violations += _repeated_registers(instruction.operands)
    yield from (finding(instruction.line, rule, text, instruction.opcode) for rule, text in (*unsupported, *violations))


def _mma_qualifiers(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the qualifiers that a ``tcgen05.mma`` does not accept, has twice, or lacks.

    >>> [fact for _, fact in _mma_qualifiers(("cta_group::3", "kind::f16", "sync", "kind::f16"))]
    ['tcgen05.mma does not accept .cta_group::3 .sync', '.kind is given 2 times']
    """
    if unknown := [word for word in words if not _MMA_WORDS.fullmatch(word)]:
        yield "form-qualifier", f"tcgen05.mma does not accept .{' .'.join(unknown)}"
    heads = Counter(word.partition("::")[0] for word in words if not word.startswith("collector::"))
    for head, many in heads.items():
        if many > 1:
            yield "form-qualifier", f".{head} is given {many} times"
    if not heads["cta_group"]:
        yield "form-qualifier", "tcgen05.mma lacks .cta_group::1 or .cta_group::2"


def group_findings(code: Iterable[Instruction]) -> Iterator[Finding]:
    """Yield the instructions with another ``.cta_group`` than the first; an assembler accepts one per function.

    >>> shifts = [Instruction(n, f"tcgen05.shift.cta_group::{n}.down", ()) for n in (1, 2)]
    >>> [finding.line for finding in group_findings(shifts)]
    [2]
    """
    first = ""
    for instruction in code:
        group = next((word for word in instruction.qualifiers if word in ("cta_group::1", "cta_group::2")), "")
        first = first or group
        if group != first and group:
            fact = f"this instruction has .{group}, and earlier ones have .{first}"
            yield finding(instruction.line, "tcgen05-cta-group", fact, instruction.opcode)


def limit_findings(code: Iterable[Instruction], limit: int) -> Iterator[Finding]:
    """Yield the first multiplication of a function that needs more registers than a thread may have, with the count.

    Args:
        code: instructions of the function.
        limit: registers that a thread may have.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> read = operands("{a,b,c,d}, x, y, 1, 1, 1, 0, 0")
    >>> mmas = [Instruction(n, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", read) for n in (7, 9)]
    >>> [finding.found for finding in limit_findings(mmas, 24)], list(limit_findings(mmas, 30))
    (['a thread may have 24 registers, but m64n8k16 into f32 needs 30; 2 instructions, lines 7..9'], [])
    """
    views = [
        (instruction, view)
        for instruction in code
        if instruction.qualifiers[1:2] == ("mma_async",) and (view := wgmma(instruction))
    ]
    rows = [
        (registers_of_d(view.shape, view.types[0]) + REST, instruction, view)
        for instruction, view in views
        if view.kind and not any(rule == "form-shape" for rule, _ in illegal_multiplication(view))
    ]
    over = [row for row in rows if row[0] > limit]
    if over:
        needed_registers, first, view = max(over, key=lambda row: row[0])
        m, n, k = view.shape
        fact = f"a thread may have {limit} registers, but m{m}n{n}k{k} into {view.types[0]} needs {needed_registers}"
        lines = [instruction.line for _, instruction, _ in over]
        many = f"; {len(over)} instructions, lines {min(lines)}..{max(lines)}" if len(over) > 1 else ""
        yield finding(first.line, "form-limit", fact + many, first.opcode)


def column_findings(code: Iterable[Instruction]) -> Iterator[Finding]:
    """Yield the allocations of a function with a number of columns that an assembler refuses.

    A deallocation is reported only if no allocation has the same number: it follows what was allocated.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> rows = (("alloc", "shared::cta.b32", "[s], 48"), ("dealloc", "b32", "t, 48"), ("dealloc", "b32", "t, 16"))
    >>> code = [Instruction(1, f"tcgen05.{name}.{words}", operands(of)) for name, words, of in rows]
    >>> [finding.found for finding in column_findings(code)]  # doctest: +ELLIPSIS
    ['the number of columns is 48, not 32, 64, 128, 256 or 512', 'the number of columns is 16, not ...']
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
            legal = f"a multiple of {LEAST_COLUMNS}" if allocation.exclusive else "32, 64, 128, 256 or 512"
            fact = f"the number of columns is {allocation.columns}, not {legal}"
            yield finding(instruction.line, "form-immediate", fact, instruction.opcode)


def _repeated_registers(operands: tuple[Operand, ...]) -> Iterator[tuple[str, str]]:
    """Yield the registers that a load would fill more than once."""
    filled = [name for operand in operands if isinstance(operand, str | Vector) for name in names(operand)]
    for name, many in Counter(filled).items():
        if many > 1 and name != "_":
            yield "form-registers", f"{name} is {many} times among the registers that the load fills"
