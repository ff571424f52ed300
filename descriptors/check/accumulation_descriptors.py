r"""Compare the instruction descriptors of one accumulation: each must have the same M, N and types.

A ``tcgen05.mma`` with another N reads other bytes of B and writes other columns of D, so one wrong descriptor breaks
many rules in an execution. This module finds the cause: the difference, its instruction, and a function without it.
Another M or another type of D is certainly wrong, because these fields determine how D is stored. Another N, or another
type of A or B, may be intended.

Source: PTX ISA 9.1, tcgen05, Instruction descriptor; Data Path Layout Organization.

Invariant: instructions that agree have no difference.

>>> from descriptors.check.ptx.constant_folding import fold, observed
>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.multiplications import multiplications
>>> from descriptors.check.ptx.ptx_module import parse
>>> def of(*words):
...     mma = "".join(f"tcgen05.mma.cta_group::1.kind::f16 [d], a, b, {word}, 1;" for word in words)
...     function = parse(f".version 8.8\n.entry k() {{ ld.shared.b32 d, [s]; {mma} ret; }}").functions[0]
...     graph = blocks(function)
...     mmas = list(multiplications(function, fold(function, {}, observed(function), graph)))
...     return [difference.found for difference in differences(function, mmas, graph)]
>>> of(0x8100490, 0x8100490), of(0x8100490, 0x8200490, 0x8100490)
([], ['the instruction descriptor has N 128, but N 64 in 2 instructions in lines 2..2'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.multiplications import Multiplication, TensorMma, chains
from descriptors.check.ptx.ptx_module import Function
from descriptors.smem.instructions.idesc import word_of
from descriptors.text import counted
from layoutalg.frozen import frozen, replace

#: The fields that must agree within an accumulation, with their names in messages.
_FIELDS = {"m": "M", "n": "N", "d_dtype": "D in", "a_dtype": "A in", "b_dtype": "B in"}
#: The fields that determine where and in which form D is stored.
_CERTAIN = {"m", "d_dtype"}


@frozen
class Difference:
    """Instructions of one accumulation whose descriptors differ from those of the others.

    Args:
        line: of the first of them.
        opcode: of the first of them.
        found: the fact: what differs, and from which instructions.
        is_certain: whether it is wrong whatever else the kernel does.
        words: the index of each instruction, the place of its descriptor among the operands, and the descriptor that
            agrees with the others.
    """

    line: int
    opcode: str
    found: str
    is_certain: bool
    words: tuple[tuple[int, int, int], ...]


def differences(function: Function, multiplications: list[Multiplication], graph: list[Block]) -> Iterator[Difference]:
    """Yield the differences between the instruction descriptors of each accumulation.

    Args:
        function: the function.
        multiplications: those of the function.
        graph: its basic blocks.
    """
    frequencies = Counter(map(_values_of, multiplications))
    for chain in chains(function, multiplications, graph):
        for accumulation in _group_accumulations(chain):
            multiplications_by_values: dict[tuple[Any, ...], list[Multiplication]] = {}
            for multiplication in accumulation:
                multiplications_by_values.setdefault(_values_of(multiplication), []).append(multiplication)
            # If two descriptors are equally frequent, the one that other accumulations also have counts as right.
            ranks = {values: (len(group), frequencies[values]) for values, group in multiplications_by_values.items()}
            most_frequent = max(multiplications_by_values, key=lambda values: ranks[values], default=())
            yield from (
                _describe_difference(group, multiplications_by_values[most_frequent])
                for values, group in multiplications_by_values.items()
                if values != most_frequent
            )


def _values_of(multiplication: Multiplication) -> tuple[Any, ...]:
    """Return the fields that must agree within an accumulation; ``None`` for each if the descriptor is unknown."""
    return tuple([getattr(multiplication.described, name, None) for name in _FIELDS])


def without(function: Function, differing: Iterable[Difference]) -> Function:
    """Return the function with descriptors that agree in place of those that differ."""
    code = list(function.code)
    for index, place, word in (replacement for difference in differing for replacement in difference.words):
        operands = code[index].operands
        code[index] = code[index]._replace(operands=(*operands[:place], word, *operands[place + 1 :]))
    return replace(function, code=tuple(code))


def _group_accumulations(chain: list[Multiplication]) -> Iterator[list[Multiplication]]:
    """Yield the instructions that add to the same D; an instruction that does not add starts a new group.

    An instruction is compared only if its descriptor and the base of its D are known, because a register of the same
    name may hold another address.
    """
    group: list[Multiplication] = []
    for multiplication in chain:
        if multiplication.adds is False:
            yield group
            group = []
        if multiplication.described is not None and len(multiplication.idescs) == 1 and "@" in multiplication.result:
            group.append(multiplication)
    yield group


def _describe_difference(differing: list[Multiplication], reference: list[Multiplication]) -> Difference:
    first = differing[0]
    names = [name for name in _FIELDS if getattr(first.described, name) != getattr(reference[0].described, name)]
    lines = sorted(multiplication.line for multiplication in reference)
    others = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} instructions in lines {lines[0]}..{lines[-1]}"
    suffix = f"; so have {counted(len(differing) - 1, 'other instruction')}" if len(differing) > 1 else ""
    own_values, other_values = _format_values(first, names), _format_values(reference[0], names)
    fact = f"the instruction descriptor has {own_values}, but {other_values} in {others}"
    words = tuple(
        [
            (multiplication.index, _descriptor_place(multiplication), _make_agree(multiplication, reference[0]))
            for multiplication in differing
        ]
    )
    return Difference(first.line, first.opcode, fact + suffix, not _CERTAIN.isdisjoint(names), words)


def _format_values(multiplication: Multiplication, names: list[str]) -> str:
    return ", ".join(f"{_FIELDS[name]} {getattr(multiplication.described, name)}" for name in names)


def _descriptor_place(multiplication: Multiplication) -> int:
    """Return the place of the instruction descriptor among the operands."""
    assert isinstance(multiplication.view, TensorMma)
    return 3 + multiplication.view.sparse + (multiplication.view.table is not None)


def _make_agree(multiplication: Multiplication, other: Multiplication) -> int:
    """Return a descriptor in which the fields that must agree are those of another multiplication."""
    assert multiplication.use is not None
    fields = word_of(multiplication.use.kind, multiplication.use.arch).fields
    mask = sum(field.mask for field in fields if field.name in _FIELDS)
    return multiplication.idescs[0] & ~mask | other.idescs[0] & mask
