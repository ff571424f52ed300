"""Whether a ``wgmma`` or ``tcgen05`` instruction is one that an assembler takes: its target, qualifiers, types, shape,
registers, masks, scale factors, immediates.

Where the manual is narrower than ptxas, which takes scale-input-d with kind i8, ptxas is followed: an error is what an
assembler rejects. Which target has what is a row of ``targets``.
Source: PTX ISA 9.1, wgmma.mma_async and its companions, tcgen05; the verdicts of ptxas on record, up to 13.5 and
``.version 9.5``; the rows of our tables.

Law: the registers of an accumulator of ``wgmma`` are M by N over 128 threads, two halves to a register.

>>> [registers_of_d((64, n, 16), d) for n, d in ((8, "f32"), (256, "f32"), (256, "f16"))]
[4, 128, 64]

Law: a thread's registers of ``tcgen05.ld`` hold what a warp's 32 lanes are given: 32 bits a register.

>>> [registers(shape, 4) for shape in ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")]
[4, 4, 8, 16, 4]

Law: the mask of output lanes of ``tcgen05.mma`` has a bit for every lane of the CTAs.

>>> [32 * MASKS[cta_group] for cta_group in (1, 2)]
[128, 256]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from descriptors.check.kernel_report import Finding, finding
from descriptors.check.ptx.multiplications import TensorMma, Wgmma, tensor_mma, wgmma
from descriptors.check.ptx.ptx_module import MOST_REGISTERS, REST, Instruction
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector, alone, names
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.legality import check_copy, check_shape, check_types
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import KINDS
from descriptors.targets import FEATURES, NEWEST, has, lacking
from descriptors.tmem.geometry import ALLOCATIONS, LEAST_COLUMNS
from descriptors.tmem.moves import MOST, tmem_move

_KNOWN = ("fence", "mma_async", "commit_group", "wait_group")
_TYPE, _GROUP = r"[a-z]+\d\w*", "cta_group::[12]"
_MOVE = r"sync|aligned|\d+x\d+bx?2?|x\d+|b32"
#: What may stand behind the name of an instruction, in whatever order; ``multiplications`` has those of tcgen05.mma.
_QUALIFIERS = {
    "wgmma.mma_async": rf"sync|aligned|sp|m\d+n\d+k\d+|{_TYPE}|satfinite|and|xor|popc",
    "tcgen05.alloc": f"{_GROUP}|sync|aligned|shared::cta|b32|exclusive",
    "tcgen05.dealloc": f"{_GROUP}|sync|aligned|b32|exclusive",
    "tcgen05.relinquish_alloc_permit": f"{_GROUP}|sync|aligned",
    "tcgen05.ld": rf"{_MOVE}|pack::16b|red|min|max|abs|NaN|[fus]32|spcompress|sp::2:4|b2",
    "tcgen05.st": rf"{_MOVE}|unpack::16b",
    "tcgen05.cp": rf"{_GROUP}|\d+x\d+b|warpx[24]\w*|warpx2::\w+|b8x16|b6x16_p32|b4x16_p64",
    "tcgen05.shift": f"{_GROUP}|down",
    "tcgen05.commit": f"{_GROUP}|mbarrier::arrive::one|shared::cluster|multicast::cluster(::16b|::32b)?|b64"
    "|sync_restrict::shared::read::mma::a",
    "tcgen05.fence": r"(?!)",
}
#: What has to stand at the end.
_TYPES = {"tcgen05.alloc": "b32", "tcgen05.dealloc": "b32", "tcgen05.st": "b32", "tcgen05.commit": "b64"}
#: Registers of A, whatever its type: 64 rows of 256 bits over 128 threads.
REGISTERS_OF_A = 4


def registers_of_d(shape: tuple[int, int, int], dtype: str) -> int:
    """Registers of the accumulator a thread."""
    return shape[0] * shape[1] // 128 // (2 if dtype == "f16" else 1)


def _qualifiers(one: Instruction) -> Iterator[tuple[str, str]]:
    """Words that the instruction does not have or that stand twice, but for .sync; and a type that is not the last."""
    words = one.qualifiers
    name = words[0] if words[0] in _QUALIFIERS else ".".join(words[:2]).partition("::")[0]
    rest = words[1 + name.count(".") :]
    legal = _legal(_QUALIFIERS.get(name, "sync|aligned"))
    for word in dict.fromkeys(rest):
        if not legal(word):
            yield "form-qualifier", f"found .{word}, which {name} does not have"
        elif rest.count(word) > 1 and word != "sync" and name != "wgmma.mma_async":
            yield "form-qualifier", f"found .{word} {rest.count(word)} times"
    if name in _TYPES and rest[-1:] != (_TYPES[name],) and all(map(legal, rest)):
        yield "form-qualifier", f"found no .{_TYPES[name]} at the end"


@lru_cache
def _legal(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).fullmatch


def wgmma_findings(
    one: Instruction, target: str, room: int = MOST_REGISTERS, version: str = NEWEST
) -> Iterator[Finding]:
    """What an assembler would refuse about a ``wgmma`` instruction.

    Args:
        one: the instruction.
        target: the ``.target``.
        room: registers that a thread may have.
        version: the ``.version``.

    >>> made = Instruction(3, "wgmma.fence.sync.aligned", ())
    >>> [found.rule.name for found in wgmma_findings(made, "sm_100a")]
    ['form-target']
    """
    words = one.qualifiers

    def told(name: str, found: str) -> Finding:
        return finding(one.line, name, found, one.opcode)

    if target != "sm_90a":
        yield told("form-target", f"found {target}; wgmma is of sm_90a alone")
    elif lack := lacking("wgmma", target, version):
        yield told("form-version", f"found {target}: {lack}")
    if len(words) < 2 or words[1] not in _KNOWN:
        yield told("form-qualifier", f"found .{words[1] if len(words) > 1 else ''}")
        return
    if not {"sync", "aligned"} <= set(words):
        yield told("form-qualifier", "found no .sync.aligned")
    for name, text in _qualifiers(one):
        yield told(name, text)
    if words[1] == "wait_group":
        pending = one.operands[0] if len(one.operands) == 1 else None
        if not isinstance(pending, int) or pending < 0:
            yield told("form-immediate", f"found wait_group {pending}, which must be a number from 0 on")
    elif words[1] == "mma_async":
        needs = chain.from_iterable(needed(feature, target, version) for feature in _later(words))
        for name, text in chain(_multiplication(one, room), needs):
            yield told(name, text)
    elif one.operands:
        yield told("form-operands", f"found {len(one.operands)} where there are none")


def _later(words: tuple[str, ...]) -> Iterator[str]:
    """What a version of PTX must have beside ``wgmma``."""
    if "sp" in words:
        yield "wgmma.sp"
    if {"s8", "u8"} <= set(words):
        yield "wgmma of s8 by u8"


def _multiplication(one: Instruction, room: int) -> Iterator[tuple[str, str]]:
    view = wgmma(one)
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
        return
    if not view.kind:
        yield "form-types", f"found {view.types[1]}"
        return
    illegal = illegal_multiplication(view)
    yield from illegal
    if any(rule == "form-shape" for rule, _ in illegal):
        return
    m, n, k = view.shape
    yield from _vectors(view)
    if (wanted := registers_of_d(view.shape, view.types[0]) + REST) > room:
        yield "form-limit", f"found a limit of {room}; m{m}n{n}k{k} into {view.types[0]} needs {wanted}"
    yield from _immediates(view)


def illegal_multiplication(view: Wgmma) -> list[tuple[str, str]]:
    """Return what is wrong with the types and with the shape of a ``wgmma.mma_async``.

    >>> view = wgmma(Instruction(1, "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16", (Vector(()), "a", "b", 1)))
    >>> illegal_multiplication(view)
    [('form-shape', 'found m64n12k16: N must be 8..256 step 8')]
    """
    told, (m, n, k) = [], view.shape
    a_source = "rmem" if view.from_registers else "smem"
    try:
        check_types("sm90", view.kind, view.types[1], view.types[2], view.types[0], legality="lenient")
    except IllegalError as error:
        told.append(("form-types", f"found {' by '.join(view.types[1:])} into {view.types[0]}: {error.rule}"))
    try:
        check_shape(
            "sm90", view.kind, m=m, n=n, k=k, sparse=view.sparse, a_source=a_source, legality="lenient"
        )  # fmt: skip
    except IllegalError as error:
        told.append(("form-shape", f"found m{m}n{n}k{k}: {error.rule}"))
    return told


def _vectors(view: Wgmma) -> Iterator[tuple[str, str]]:
    wanted = registers_of_d(view.shape, view.types[0])
    if not isinstance(view.d, Vector):
        yield "form-operands", "found no vector for D"
    elif len(view.d.items) != wanted:
        yield "form-registers", f"found {len(view.d.items)} for D, which has {wanted}"
    if isinstance(view.a, Vector) and len(view.a.items) != REGISTERS_OF_A:
        yield "form-registers", f"found {len(view.a.items)} for A, which has {REGISTERS_OF_A}"
    for name, operand in (("A", view.a), ("B", view.b)):
        if not isinstance(operand, str | Vector):  # a vector for B is reported by its class
            yield "form-operands", f"found no register with a descriptor for {name}"
    if view.kind == "b1" and view.extra != ("and", "popc"):
        yield "form-qualifier", f"found .{'.'.join(view.extra) or '(nothing)'}, and b1 has .and.popc alone"
    elif view.kind != "b1" and view.extra not in ((), ("satfinite",) if view.kind == "i8" else ()):
        yield "form-qualifier", f"found .{'.'.join(view.extra)} of {view.types[1]}"


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
    view = tensor_mma(one)
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
        return
    if view.kind not in _KINDS:
        yield "form-qualifier", f"found .kind::{view.kind}"
        return
    for feature in _features(view, one):
        yield from needed(feature, target, version)
    yield from (scaled := list(_scaled(view)))
    yield from _collector(view, one)
    yield from _mask(view)
    yield from _tail(view)
    if not isinstance(view.b, str):
        yield "form-operands", "found no register with a descriptor for B"
    if view.ws and one.qualifiers[2] != "ws":
        yield "form-qualifier", "found .ws elsewhere than behind tcgen05.mma"
    if len([w for w in one.qualifiers if w.startswith("scale_vec::") or w in ("block16", "block32")]) > 1:
        yield "form-qualifier", "found two scale vectors"
    if view.ws and view.cta_group == 2:
        yield "form-qualifier", "found .cta_group::2 with .ws"
    if view.ashift and (view.ws or not view.in_tensor_memory):
        yield "form-qualifier", f"found .ashift with {'.ws' if view.ws else 'A in shared memory'}"
    if (
        not scaled
        and view.table is not None
        and (view.kind not in _DECOMPRESSED or view.ws or view.ashift or view.sparse)
    ):
        why = next((f".{name}" for name in ("ws", "ashift", "sparse") if getattr(view, name)), f"kind {view.kind}")
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


_NUM = re.compile(r"x(\d+)\Z")
_CONVERSIONS = ("b8x16", "b6x16_p32", "b4x16_p64")


@lru_cache
def registers(shape: str, num: int) -> int:
    """Registers a thread of a ``tcgen05.ld`` or ``st``.

    >>> registers("16x256b", 32)
    128
    """
    return tmem_move(f"{shape}.x{num}").registers


def tcgen05_findings(one: Instruction, target: str, version: str = NEWEST) -> Iterator[Finding]:
    """What an assembler would refuse about a ``tcgen05`` instruction.

    >>> made = Instruction(3, "tcgen05.wait::ld", ())
    >>> [found.found for found in tcgen05_findings(made, "sm_100a")]
    ['found no .sync.aligned']
    """
    name = one.qualifiers[1] if len(one.qualifiers) > 1 else ""
    family = name.partition("::")[0]
    rows = [needed("tcgen05", target, version)]
    if family in _FORMS and name != "mma":
        rows.append(_qualifiers(one))
    for rule, text in chain(*rows, _FORMS.get(family, _unknown)(one, target, version)):
        yield finding(one.line, rule, text, one.opcode)
    if name in _GROUPED and not any(w.startswith("cta_group::") for w in one.qualifiers):
        yield finding(one.line, "form-qualifier", "found no .cta_group::1 or .cta_group::2", one.opcode)


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


def column_findings(code: Iterable[Instruction]) -> Iterator[Finding]:
    """The allocations of a function with a number of columns that an assembler refuses.

    A deallocation is reported only if no allocation has the same number: it follows what was allocated.

    >>> words = "cta_group::1.sync.aligned"
    >>> alloc = Instruction(1, f"tcgen05.alloc.{words}.shared::cta.b32", (Address("s"), 48))
    >>> code = [alloc, *(Instruction(2, f"tcgen05.dealloc.{words}.b32", ("t", n)) for n in (48, 16))]
    >>> [one.found for one in column_findings(code)]  # doctest: +ELLIPSIS
    ['found 48 columns, which must be 32, 64, 128, 256 or 512', 'found 16 columns, ...']
    """
    rows = [one for one in code if one.qualifiers[1:2] in (("alloc",), ("dealloc",)) and len(one.operands) == 2]
    allocated = {_columns(one) for one in rows if one.qualifiers[1] == "alloc"}
    for one in rows:
        columns, exclusive = _columns(one)
        legal = columns in ALLOCATIONS
        must = "32, 64, 128, 256 or 512"
        if exclusive:
            legal, must = columns > 0 and columns % LEAST_COLUMNS == 0, f"a multiple of {LEAST_COLUMNS}"
        if not legal and (one.qualifiers[1] == "alloc" or (columns, exclusive) not in allocated):
            yield finding(one.line, "form-immediate", f"found {columns} columns, which must be {must}", one.opcode)


def _columns(one: Instruction) -> tuple[int, bool]:
    """The number of columns, which is legal where it is in a register, and whether the allocation is exclusive."""
    columns = one.operands[1]
    return columns if isinstance(columns, int) else LEAST_COLUMNS, "exclusive" in one.qualifiers


_GROUPED = ("alloc", "dealloc", "relinquish_alloc_permit", "cp", "shift", "mma", "commit")
_Told = Iterator[tuple[str, str]]


def _unknown(one: Instruction, *_: str) -> _Told:
    yield "form-qualifier", f"found {one.opcode}"


def _synchronous(one: Instruction, *_: str) -> _Told:
    if not {"sync", "aligned"} <= set(one.qualifiers):
        yield "form-qualifier", "found no .sync.aligned"


def _alloc(one: Instruction, target: str, version: str) -> _Told:
    yield from _synchronous(one)
    exclusive = "exclusive" in one.qualifiers
    if exclusive:
        yield from needed("exclusive allocation", target, version)
    if len(one.operands) != 2:
        yield "form-operands", f"found {len(one.operands)} operands where there are 2"
        return
    if isinstance(one.operands[0], Address) != (one.qualifiers[1] == "alloc"):
        yield "form-operands", f"found {'a value' if one.qualifiers[1] == 'alloc' else 'an address in brackets'}"


def _apart(operands: tuple[Operand, ...]) -> _Told:
    """Registers that a load would fill twice."""
    filled = [name for operand in operands if isinstance(operand, str | Vector) for name in names(operand)]
    for name, many in Counter(filled).items():
        if many > 1 and name != "_":
            yield "form-registers", f"found {name} {many} times among those that are filled"


#: What reduces, with the types that it is of.
_REDUCED = {"f32": {"min", "max", "abs", "NaN"}, "s32": {"min", "max"}, "u32": {"min", "max"}}


def _load(one: Instruction, target: str, version: str) -> _Told:
    yield from _synchronous(one)
    words, store = one.qualifiers, one.qualifiers[1] == "st"
    shape = next((w for w in words if w in MOST), "")
    num = next((int(m[1]) for w in words if (m := _NUM.match(w))), 0)
    if not shape or num & (num - 1) or not 0 < num <= MOST[shape]:
        yield "form-shape", f"found .{shape or '?'}.x{num}"
        return
    if ("pack::16b" if store else "unpack::16b") in words:
        yield "form-qualifier", f"found {'.pack::16b of st' if store else '.unpack::16b of ld'}"
    red, compressed = "red" in words, "spcompress" in words
    for name, present in (("red", red and not compressed), ("spcompress", compressed)):
        if present:
            yield from needed(f"tcgen05.ld.{name}", target, version)
    yield from _reduced(words, shape, num)
    wanted = 2 + red + compressed + (shape == "16x32bx2")
    if len(one.operands) != wanted:
        yield "form-operands", f"found {len(one.operands)} operands where .{shape} has {wanted}"
        return
    if compressed:
        yield from _registers_of(one.operands[0], -(-num // 32), f".x{num} has", "the metadata")
        yield from _registers_of(one.operands[1], num // 2, f".x{num} has", "the data")
        place: Operand = one.operands[-1]
    else:
        vector, place = (one.operands[-1], one.operands[0]) if store else (one.operands[0], one.operands[1 + red])
        yield from _registers_of(vector, registers(shape, num), f".{shape}.x{num} has")
    if not store:
        yield from _apart(one.operands)
    if not isinstance(place, Address):
        yield "form-operands", "found no address in tensor memory"
    if shape == "16x32bx2" and not isinstance(one.operands[-1 if not store else 1], int):
        yield "form-immediate", "found no immediate offset, which .16x32bx2 has"


def _reduced(words: tuple[str, ...], shape: str, num: int) -> _Told:
    """The words of a load that reduces or compresses, and of one that does neither."""
    red, compressed = "red" in words, "spcompress" in words
    types = [word for word in words if word in ("f32", "s32", "u32", "b32", "b2")]
    operations = {word for word in words if word in ("min", "max", "abs", "NaN")}
    wanted = ["f32", "b2"] if compressed else types if red and types in (["f32"], ["s32"], ["u32"]) else ["b32"]
    if types != wanted:
        yield "form-types", f"found .{'.'.join(types) or '(no type)'}, which must be .{'.'.join(wanted)}"
    elif not red and not compressed:
        if operations or {"sp::2:4"} & set(words):
            yield "form-qualifier", f"found .{sorted(operations | {'sp::2:4'} & set(words))[0]} without .red"
    elif len(operations & {"min", "max"}) != 1 or not operations <= _REDUCED.get(types[0], set()):
        yield "form-qualifier", f"found .{'.'.join(sorted(operations)) or '(no operation)'} of {types[0]}"
    elif ("sp::2:4" in words) != compressed or (compressed and not red and "NaN" in operations):
        yield "form-qualifier", f"found {'.NaN without .red' if 'NaN' in operations else 'no .sp::2:4'}"
    if red and words[2] != "red":
        yield "form-qualifier", "found .red elsewhere than behind tcgen05.ld"
    if red and "pack::16b" in words:
        yield "form-qualifier", "found .pack::16b with .red"
    shapes = ("32x32b",) if compressed else ("32x32b", "16x32bx2") if red else tuple(MOST)
    if shape not in shapes or num < (4 if compressed else 2 if red else 1):
        yield "form-shape", f"found {'.spcompress' if compressed else '.red'} with .{shape}.x{num}"


def _registers_of(vector: Operand, wanted: int, what: str, name: str = "") -> _Told:
    if not isinstance(vector, Vector):
        yield "form-operands", f"found no vector of registers{name and f' for {name}'}"
    elif len(vector.items) != wanted:
        yield "form-registers", f"found {len(vector.items)}{name and f' for {name}'}; {what} {wanted}"


def _copy(one: Instruction, *_: str) -> _Told:
    words = one.qualifiers[2:]
    shape = next((w for w in words if re.fullmatch(r"\d+x\d+b", w)), "")
    multicast = next((w for w in words if w.startswith("warpx")), None)
    try:
        check_copy(shape, multicast)
    except DescriptorError as error:
        yield "form-qualifier", f"found {str(error).partition(': ')[2]}"
    given = [w for w in words if w in _CONVERSIONS]
    if given and (len(given) != 2 or given[0] != "b8x16"):
        yield "form-qualifier", f"found .{'.'.join(given)}: .b8x16 and the format of the source go together"
    if len(one.operands) != 2 or not isinstance(one.operands[0], Address):
        yield "form-operands", "found no address and descriptor"


def _shift(one: Instruction, target: str, version: str) -> _Told:
    if "down" not in one.qualifiers and len(one.qualifiers) < 4:
        yield "form-qualifier", "found no .down"
    if len(one.operands) != 1:
        yield "form-operands", f"found {len(one.operands)} operands where there is 1"
    yield from needed("tcgen05.shift", target, version)


def _commit(one: Instruction, target: str, version: str) -> _Told:
    many = any(w.startswith("multicast::") for w in one.qualifiers)
    for word in one.qualifiers:
        if word in FEATURES:
            yield from needed(word, target, version)
    if len(one.operands) != 1 + many or not isinstance(one.operands[0], Address):
        yield "form-operands", f"found {len(one.operands)} operands where there are {1 + many}"
    if "mbarrier::arrive::one" not in one.qualifiers:
        yield "form-qualifier", "found no .mbarrier::arrive::one"


def _wait(one: Instruction, *_: str) -> _Told:
    if one.qualifiers[1] not in ("wait::ld", "wait::st"):
        yield "form-qualifier", f"found .{one.qualifiers[1]}"
    yield from _synchronous(one)


def _fence(one: Instruction, *_: str) -> _Told:
    if one.qualifiers[1] not in ("fence::before_thread_sync", "fence::after_thread_sync"):
        yield "form-qualifier", f"found .{one.qualifiers[1]}"


_FORMS: dict[str, Callable[[Instruction, str, str], _Told]] = {
    "alloc": _alloc,
    "dealloc": _alloc,
    "relinquish_alloc_permit": _synchronous,
    "ld": _load,
    "st": _load,
    "cp": _copy,
    "shift": _shift,
    "mma": multiplication,
    "commit": _commit,
    "wait": _wait,
    "fence": _fence,
}
