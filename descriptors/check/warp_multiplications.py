"""Checks that an assembler accepts an ``mma.sync``: shape, types, kind, scale factors, registers, selectors.

The elements of each operand are distributed over the registers of the 32 threads of a warp. Types of 4 and 6 bits take
one byte each with the kinds that end with ``f8f6f4``, and are packed with the others. A sparse instruction stores half
of A, with metadata in a register and a selector of the threads that provide it.
Source: ptxas 13.5.37, run on every shape with all types and accumulators; PTX ISA 9.1, mma, mma.sp.

Invariant: the registers of a fragment in 32 threads have as many bits as the operand.

>>> all(_register_count(m, k, 16) * 32 * 32 == 16 * m * k for m, k in ((16, 8), (16, 16), (8, 16)))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descriptors.check.instruction_syntax import ClassOf, Violation, register_of
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Operand, Vector, alone
from descriptors.check.ptx.warp_mma import QUAD, SHAPE, TYPES, Shape, WarpMma, selectors_of, warp_mma
from descriptors.targets import has, lacking
from descriptors.text import counted
from layoutalg.frozen import frozen


@frozen
class WarpRow:
    """A supported combination of types, with its shapes.

    Args:
        types: types of A and B, in any combination.
        accumulators: pairs of types of D and C.
        dense: shapes, each with the feature that supports it.
        sparse: sparse shapes, each with the largest selector.
        bits: number of bits of an element as it is stored.
    """

    types: tuple[str, ...]
    accumulators: tuple[tuple[str, str], ...]
    dense: Mapping[Shape, str]
    sparse: Mapping[Shape, int]
    bits: int


_F32, _F16, _S32, _F64 = ("f32", "f32"), ("f16", "f16"), ("s32", "s32"), ("f64", "f64")
_OLD, _NEW, _F8, _M16_F64 = "mma.sync", "mma.sync of sm_80", "mma.sync f8", "mma.sync f64 of M 16"
_BYTES, _WIDE_F8 = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), "mma.sync f8 of K 16 or f16 D"
#: Instructions without a kind.
ROWS = (
    WarpRow(("f16",), (_F32,), {(16, 8, 8): _OLD, (16, 8, 16): _NEW}, {(16, 8, 16): 3, (16, 8, 32): 3}, 16),
    WarpRow(("f16",), (_F16,), {(16, 8, 8): _OLD, (16, 8, 16): _NEW}, {(16, 8, 16): 3, (16, 8, 32): 1}, 16),
    WarpRow(("f16",), (_F32, _F16, ("f32", "f16")), {QUAD: _OLD}, {}, 16),
    WarpRow(("bf16",), (_F32,), {(16, 8, 8): _NEW, (16, 8, 16): _NEW}, {(16, 8, 16): 3, (16, 8, 32): 1}, 16),
    WarpRow(("tf32",), (_F32,), {(16, 8, 4): _NEW, (16, 8, 8): _NEW}, {(16, 8, 8): 3, (16, 8, 16): 1}, 32),
    WarpRow(("f64",), (_F64,), {QUAD: _NEW, **dict.fromkeys(((16, 8, k) for k in (4, 8, 16)), _M16_F64)}, {}, 64),
    WarpRow(("e4m3", "e5m2"), (_F32,), {(16, 8, 32): _F8, (16, 8, 16): _WIDE_F8}, {(16, 8, 64): 0}, 8),
    WarpRow(("e4m3", "e5m2"), (_F16,), {(16, 8, 32): _WIDE_F8, (16, 8, 16): _WIDE_F8}, {(16, 8, 64): 0}, 8),
    WarpRow(
        ("s8", "u8"), (_S32,), {(8, 8, 16): _OLD, (16, 8, 16): _NEW, (16, 8, 32): _NEW},
        {(16, 8, 32): 1, (16, 8, 64): 0}, 8,
    ),
    WarpRow(
        ("s4", "u4"), (_S32,), {(8, 8, 32): _OLD, (16, 8, 32): _NEW, (16, 8, 64): _NEW},
        {(16, 8, 64): 1, (16, 8, 128): 0}, 4,
    ),
    WarpRow(("b1",), (_S32,), {(8, 8, 128): _OLD, (16, 8, 128): _NEW, (16, 8, 256): _NEW}, {}, 1),
)  # fmt: skip
#: Instructions with a kind: types of 8, 6 and 4 bits, with and without scale factors.
KIND_ROWS: Mapping[str, WarpRow] = {
    "f8f6f4": WarpRow(_BYTES, (_F32, _F16), dict.fromkeys(((16, 8, 32), (16, 8, 16)), ""), {(16, 8, 64): 0}, 8),
    "mxf8f6f4": WarpRow(_BYTES, (_F32,), {(16, 8, 32): ""}, {(16, 8, 64): 0}, 8),
    "mxf4": WarpRow(("e2m1",), (_F32,), {(16, 8, 64): ""}, {(16, 8, 128): 0}, 4),
    "mxf4nvf4": WarpRow(("e2m1",), (_F32,), {(16, 8, 64): ""}, {(16, 8, 128): 0}, 4),
}
#: Types of scale factors, by kind and scale vector.
SCALES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("mxf8f6f4", ""): ("ue8m0",),
    ("mxf8f6f4", "1X"): ("ue8m0",),
    ("mxf4", ""): ("ue8m0",),
    ("mxf4", "2X"): ("ue8m0",),
    ("mxf4nvf4", "2X"): ("ue8m0",),
    ("mxf4nvf4", "4X"): ("ue4m3", "ue8m0"),
}
_ROUNDINGS, _LOGIC = frozenset({"rn", "rz", "rm", "rp"}), frozenset({"and", "xor", "popc"})


def warp_findings(instruction: Instruction, target: str, version: str, class_of: ClassOf) -> Iterator[Violation]:
    """Yield what an assembler would reject in an ``mma.sync``: rule and fact.

    >>> mma = Instruction(1, "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", ())
    >>> list(warp_findings(mma, "sm_80", "8.0", lambda name: None))
    [('form-types', 'mma does not multiply f16 by bf16 into f32 with C f32')]
    """
    view = warp_mma(instruction)
    if view is None:
        yield "form-shape", "the instruction has no shape"
        return
    words = list(_qualifier_violations(view))
    yield from words
    if len(view.types) != 4 + view.scaled:
        yield "form-types", f"the instruction has {counted(len(view.types), 'type')}, not {4 + view.scaled}"
        return
    d, a, b, c = view.types[:4]
    if view.kind and view.kind not in KIND_ROWS:
        yield "form-qualifier", f"mma does not accept .kind::{view.kind}"
        return
    quad = view.shape == QUAD or view.types[0] == "f64"
    rows = [KIND_ROWS[view.kind]] if view.kind else [row for row in ROWS if quad or QUAD not in row.dense]
    rows = [row for row in rows if a in row.types and b in row.types and (d, c) in row.accumulators]
    if not rows:
        yield "form-types", f"mma does not multiply {a} by {b} into {d} with C {c}"
        return
    row = next((row for row in rows if view.shape in (row.sparse if view.sparse else row.dense)), None)
    if row is None or (view.kind == "f8f6f4" and view.shape[2] == 16 and not _eight_bits(view)):
        m, n, k = view.shape
        yield "form-shape", f"mma has no {'sparse ' * bool(view.sparse)}m{m}n{n}k{k} for {a} by {b}"
        return
    if not words:
        yield from _scale_violations(view)
    yield from _unsupported_features(view, row, target, version)
    yield from _operand_violations(view, row, instruction.operands, class_of)


def _eight_bits(view: WarpMma) -> bool:
    return set(view.types[1:3]) <= {"e4m3", "e5m2"}


def _qualifier_violations(view: WarpMma) -> Iterator[Violation]:
    integers = view.types[:1] == ("s32",) and "b1" not in view.types
    expected = ("row", "col")
    if view.layouts != expected and not (view.shape == QUAD and "f64" not in view.types and len(view.layouts) == 2):
        yield "form-qualifier", f"the layouts are {'.'.join(view.layouts) or '(none)'}, not row.col"
    surplus: list[Violation] = []
    for word in view.words[1 if view.sparse else 0 :]:
        is_known = (
            word in ("sync", "aligned", "row", "col", "block_scale") or word in TYPES or word in _LOGIC
            or bool(SHAPE.match(word)) or (word == "satfinite" and integers)
            or (word in _ROUNDINGS and "f64" in view.types) or word.startswith(("kind::", "scale_vec::"))
        )  # fmt: skip
        if not is_known:
            surplus.append(("form-qualifier", f"mma does not accept .{word} in this form"))
        elif word == "aligned" and view.words.count(word) > 1:
            surplus.append(("form-qualifier", f".{word} is given {view.words.count(word)} times"))
    if len(shapes := [word for word in view.words if SHAPE.match(word)]) > 1:
        surplus.append(("form-shape", f"{' and '.join(shapes)} are given together"))
    missing = [f"mma lacks .{word}" for word in ("sync", "aligned") if word not in view.words]
    logic = tuple(word for word in view.words if word in _LOGIC)
    if logic not in ((("xor", "popc"), ("and", "popc")) if "b1" in view.types else ((),)):
        operation = f".{'.'.join(logic)}" if logic else "no operation"
        missing.append(f"{view.types[1] if view.types[1:] else 'the type'} is used with {operation}")
    # A word in place of another is one mistake, so both are reported as one finding.
    yield from (
        (rule, f"{surplus_fact}, and {lack}") for (rule, surplus_fact), lack in zip(surplus, missing, strict=False)
    )
    yield from surplus[len(missing) :]
    yield from (("form-qualifier", lack) for lack in missing[len(surplus) :])
    if view.sparse not in ("", "sp", "sp::ordered_metadata"):
        yield "form-qualifier", f"mma does not accept .{view.sparse}"
    elif view.sparse == "sp" and (view.kind or (_eight_bits(view) and view.types[:1] == ("f16",))):
        yield "form-qualifier", "these types need .sp::ordered_metadata, not .sp"


def _scale_violations(view: WarpMma) -> Iterator[Violation]:
    legal_types = SCALES.get((view.kind, view.scale_vector), ())
    if view.kind.startswith("mx") != view.scaled:
        yield "form-qualifier", f"kind {view.kind or '(none)'} is used with{'' if view.scaled else 'out'} .block_scale"
    elif view.scaled and not legal_types:
        yield "form-qualifier", f"kind {view.kind} is used with the scale vector {view.scale_vector or '(none)'}"
    elif view.scaled and view.types[4] not in legal_types:
        yield "form-types", f"the scale factors are of {view.types[4]}, not of {' or '.join(legal_types)}"
    elif not view.scaled and view.scale_vector:
        yield "form-qualifier", f".scale_vec::{view.scale_vector} is used without .block_scale"


def _unsupported_features(view: WarpMma, row: WarpRow, target: str, version: str) -> Iterator[Violation]:
    needs = [_NEW] if view.sparse else [row.dense[view.shape]]
    if view.kind == "f8f6f4":
        f16_sparse = view.sparse and view.types[0] == "f16"
        needs.append("mma.sync kind::f8f6f4 of f8" if _eight_bits(view) and not f16_sparse else "mma.sync f6, f4")
        if _eight_bits(view) and (view.shape[2] == 16 or view.types[0] == "f16"):
            needs.append(_WIDE_F8)
    elif view.scaled:
        needs.append("mma.sync block_scale")
        if view.scale_vector == "4X" and view.types[4] == "ue8m0":
            needs.append("mma.sync block_scale ue8m0 4X")
        if view.sparse and view.kind.startswith("mxf4"):
            needs.append("mma.sync sparse f4")
    elif view.sparse and _eight_bits(view):
        needs.append("mma.sync f6, f4" if view.types[0] == "f16" else _F8)
    if view.sparse == "sp::ordered_metadata":
        needs.append("mma.sp::ordered_metadata")
    if "and" in view.words:
        needs.append(_NEW)
    for feature in filter(None, needs):
        if lack := lacking(feature, target, version):
            yield ("form-target" if not has(feature, target) else "form-version"), lack
            return


def _register_count(rows: int, columns: int, bits: int) -> int:
    """Return the number of registers of a fragment per thread: 64-bit registers for 64-bit types, else 32-bit."""
    return max(1, rows * columns * bits // 1024) if bits < 64 else rows * columns // 32


def _fragment_registers(view: WarpMma, row: WarpRow) -> tuple[int, int, int, int]:
    """Return the number of registers of D, A, B and C per thread."""
    (m, n, k), (d, _, _, c) = view.shape, view.types[:4]
    accumulator = {"f16": 16, "f64": 64}
    if view.shape == QUAD and "f64" not in view.types:  # each quad pair has a multiplication of its own
        return (4 if d == "f16" else 8), 2, 2, (4 if c == "f16" else 8)
    stored_k = k // 2 if view.sparse else k
    return (
        _register_count(m, n, accumulator.get(d, 32)), _register_count(m, stored_k, row.bits),
        _register_count(k, n, row.bits), _register_count(m, n, accumulator.get(c, 32)),
    )  # fmt: skip


def _operand_violations(
    view: WarpMma, row: WarpRow, operands: tuple[Operand, ...], class_of: ClassOf
) -> Iterator[Violation]:
    expected = 4 + 2 * bool(view.sparse) + 4 * view.scaled
    if len(operands) != expected:
        yield "form-operands", f"the instruction has {counted(len(operands), 'operand')}, not {expected}"
        return
    for name, operand, count in zip("DABC", operands, _fragment_registers(view, row), strict=False):
        if not isinstance(operand, Vector):
            yield "form-operands", f"{name} is not a vector"
        elif len(operand.items) != count:
            yield "form-registers", f"{name} has {counted(len(operand.items), 'register')}, not {count}"
        else:
            yield from _class_violations(name, operand, "b64" if row.bits == 64 else "b32", class_of)
    if view.sparse:
        largest = row.sparse[view.shape]
        if wrong := register_of(alone(operands[4]), "b32", class_of):
            yield wrong[0], f"the metadata {wrong[1]}"
        if not isinstance(operands[5], int) or not 0 <= operands[5] <= largest:
            value = f"{operands[5]}, " if isinstance(operands[5], int) else ""
            yield "form-immediate", f"the sparsity selector is {value}not a number from 0 to {largest}"
        elif (
            view.shape == (16, 8, 32) and operands[5] > 1
        ):  # ptxas accepts it for f16 into f32, but it is an illegal instruction
            yield (
                "fragment-selector",
                f"the sparsity selector is {operands[5]}, not 0 or 1; two threads of four provide the metadata",
            )
    if view.scaled:
        yield from _selector_violations(view, operands[-4:], class_of)


def _class_violations(name: str, operand: Vector, width: str, class_of: ClassOf) -> Iterator[Violation]:
    if len({isinstance(item, int) for item in operand.items if item != "_"}) > 1:
        yield "form-operands", f"{name} has numbers beside registers"
    for item in operand.items:
        if isinstance(item, str) and item != "_" and (wrong := register_of(item, width, class_of)):
            yield wrong[0], f"{name} has an element that {wrong[1]}"
            return


def _selector_violations(view: WarpMma, operands: tuple[Operand, ...], class_of: ClassOf) -> Iterator[Violation]:
    """Yield the violations of the scale factors: each is a register, and a pair of byte-id and thread-id."""
    for matrix, scale, pair, ids in zip("AB", operands[::2], operands[1::2], selectors_of(view), strict=True):
        if wrong := register_of(alone(scale), "b32", class_of):
            yield wrong[0], f"the register with the scale factors of {matrix} {wrong[1]}"
        if not isinstance(pair, Vector) or len(pair.items) != 2:
            yield "form-operands", f"{matrix} has no pair of byte-id and thread-id"
            continue
        for label, value, legal in zip(("byte-id", "thread-id"), pair.items, ids, strict=True):
            if isinstance(value, int) and value not in legal:
                numbers = "one of " * (len(legal) > 1) + ", ".join(map(str, legal))
                yield "form-immediate", f"{label}-{matrix.lower()} is {value}, not {numbers}"
            elif not isinstance(value, int) and (wrong := register_of(value, "b16", class_of)):
                yield wrong[0], f"{label}-{matrix.lower()} {wrong[1]}"
                break  # report one value per pair
