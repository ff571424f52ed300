"""The classes of registers that the assembler accepts for each operand of ``wgmma`` and ``tcgen05``.

A name that the function does not declare (a variable or a special register) has no class and is not checked. The
assembler accepts more than the manual for some operands (``.f32`` for A of 8-bit integers) and less for others (only
``.b32`` for D in tensor memory). The check follows the assembler.
Source: ptxas 13.0, and 13.5 for the additions of PTX 9.4, run on every operand with every class
(``tests/vectors/protocol_ptxas.json``, ``forms_ptxas.json``); PTX ISA 9.1, wgmma, tcgen05.

Invariant: the classes of a row have one width, except for addresses in shared memory, integers in A, and metadata.

>>> widths = {name: {_WIDTHS[class_] for class_ in classes} for name, classes in TAKES.items()}
>>> sorted(name for name, sizes in widths.items() if len(sizes) > 1)
['A of integers', 'the address in shared memory', 'the metadata']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from descriptors.check.ptx.multiplications import TensorMma, Wgmma, tensor_mma, wgmma
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Other, Vector

_INTEGER, _ADDRESS = ("b32", "u32", "s32"), ("b64", "u64", "s64")
_ANY = (*_INTEGER, "f32", "f16x2")
_WIDTHS = {"b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "b64": 64, "u64": 64, "s64": 64, "pred": 1,
           "b16": 16, "u16": 16}  # fmt: skip

#: The classes of registers that each operand accepts, by the name of the operand in messages.
TAKES: Mapping[str, tuple[str, ...]] = {
    "D of f32": ("b32", "f32"),
    "D of f16": ("b32", "f16x2"),
    "D of s32": _INTEGER,
    "A of floats": ("b32", "f16x2"),
    "A of integers": (*_ANY, "pred"),
    "the descriptor of A": _ADDRESS,
    "the descriptor of B": _ADDRESS,
    "the descriptor of the copy": _ADDRESS,
    "the metadata": (*_ANY, "pred"),
    "scale-d": ("pred",),
    "D in tensor memory": ("b32",),
    "A in tensor memory": ("b32",),
    "the metadata in tensor memory": ("b32",),
    "the scale factors": ("b32",),
    "the lookup table in tensor memory": ("b32",),
    "the instruction descriptor": _INTEGER,
    "the mask of output lanes": _ANY,
    "the mask of zero columns": _ADDRESS,
    "enable-input-d": ("pred",),
    "the registers": _ANY,
    "the address in tensor memory": (*_INTEGER, "f16x2"),
    "the address to free": _INTEGER,
    "the columns": _INTEGER,
    "the address in shared memory": (*_INTEGER, *_ADDRESS),
    "the mask of CTAs": ("b16", "u16"),
    "the mask of 32 CTAs": _INTEGER,
}

#: Beginnings of the names of operands that may be vectors.
_VECTORS = ("D of ", "A of ", "the registers", "the metadata", "the mask of output lanes")
#: The name of an operand in messages, and the operand.
_Named = Iterator[tuple[str, Operand]]


def class_findings(instruction: Instruction, class_of: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    """Yield the operands of an instruction in registers of a wrong class: rule and fact.

    Args:
        instruction: the instruction.
        class_of: returns the class of a register, or None if the name is not declared.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> copy = Instruction(1, "tcgen05.cp.cta_group::1.128x256b", operands("[%r1], %r2"))
    >>> list(class_findings(copy, {"%r1": "b32", "%r2": "b32"}.get))
    [('form-class', '%r2 is in .b32, but the descriptor of the copy must be in .b64, .u64 or .s64')]
    """
    for operand_name, operand in _named_operands(instruction):
        if isinstance(operand, Vector | Other) and not (
            isinstance(operand, Vector) and operand_name.startswith(_VECTORS)
        ):
            yield (
                "form-operands",
                f"{operand_name} cannot be {'a vector' if isinstance(operand, Vector) else operand.text}",
            )
            continue
        for name in _registers_of(operand):
            register_class = class_of(name)
            if register_class is not None and register_class not in TAKES[operand_name]:
                *others, last = (f".{takes}" for takes in TAKES[operand_name])
                accepted = f"{', '.join(others)} or {last}" if others else last
                yield "form-class", f"{name} is in .{register_class}, but {operand_name} must be in {accepted}"
                break  # report one register per vector


def _registers_of(operand: Operand) -> tuple[str, ...]:
    match operand:
        case str():
            return (operand,)
        case Vector(items):
            return tuple([item for item in items if isinstance(item, str)])
        case Address(base):
            return (base,)
        case Negated(name):
            return (name,)
    return ()


def _named_operands(instruction: Instruction) -> _Named:
    words = instruction.qualifiers
    name = words[1].partition("::")[0] if len(words) > 1 else ""
    if instruction.opcode.startswith("wgmma.mma_async"):
        if view := wgmma(instruction):
            yield from _wgmma_operands(view, instruction)
    elif words[0] == "tcgen05" and name == "mma":
        if tensor_view := tensor_mma(instruction):
            yield from _tensor_operands(tensor_view, instruction)
    elif words[0] == "tcgen05" and name in _NAMES:
        names = _WIDE_COMMIT if "multicast::cluster::32b" in words else _NAMES[name]
        yield from zip(names, instruction.operands, strict=False)
    elif words[0] == "tcgen05" and name == "ld":
        for operand in instruction.operands:
            yield "the address in tensor memory" if isinstance(operand, Address) else "the registers", operand
    elif words[0] == "tcgen05" and name == "st":
        yield "the address in tensor memory", instruction.operands[0] if instruction.operands else 0
        yield from (("the registers", operand) for operand in instruction.operands[1:] if isinstance(operand, Vector))


_NAMES = {
    "cp": ("the address in tensor memory", "the descriptor of the copy"),
    "shift": ("the address in tensor memory",),
    "alloc": ("the address in shared memory", "the columns"),
    "dealloc": ("the address to free", "the columns"),
    "commit": ("the address in shared memory", "the mask of CTAs"),
}
_WIDE_COMMIT = ("the address in shared memory", "the mask of 32 CTAs")


def _wgmma_operands(view: Wgmma, instruction: Instruction) -> _Named:
    if (d := f"D of {view.types[0]}") in TAKES:
        yield d, view.d
    if isinstance(view.a, Vector):
        yield f"A of {'integers' if view.kind in ('i8', 'b1') else 'floats'}", view.a
    else:
        yield "the descriptor of A", view.a
    yield "the descriptor of B", view.b
    if view.sparse:
        yield "the metadata", instruction.operands[3]
    yield "scale-d", view.scale_d


def _tensor_operands(view: TensorMma, instruction: Instruction) -> _Named:
    yield "D in tensor memory", view.d
    yield "A in tensor memory" if view.in_tensor_memory else "the descriptor of A", view.a
    if isinstance(view.b, str):
        yield "the descriptor of B", view.b
    if view.sparse:
        yield "the metadata in tensor memory", instruction.operands[3]
    if view.table is not None:
        yield "the lookup table in tensor memory", view.table
    yield "the instruction descriptor", view.idesc
    if view.mask is not None:
        yield "the mask of output lanes", view.mask
    yield from (("the scale factors", scale) for scale in view.scales)
    yield "enable-input-d", view.enable
    if view.ws:
        yield from (("the mask of zero columns", mask) for mask in view.tail)
