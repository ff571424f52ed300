"""A layout as a person pastes it: an expression of the algebra, or what CuTe prints of a tensor in shared memory.

A print says more than a layout, and what it says is held against what was asked for: the width and the type of an
element, the memory, the unit of the swizzle. Law: an expression is the layout that ``layoutalg.evaluate`` makes of it.

>>> from layoutalg import evaluate
>>> text = "coalesce((8,4):(1,8))"
>>> evaluated(text) == evaluate(text)
True
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError
from descriptors.operands.operand import ElementType
from layoutalg import ComposedLayout, Layout, NotationError, Swizzle

if TYPE_CHECKING:
    from layoutalg import Pointer

#: Generic addresses of shared memory differ in their lowest 24 bits alone: the window of a thread block begins at a
#: multiple of 16 MiB in the address space that the pointers of C++ are printed in.
_WINDOW_BITS = 24

#: Types that CuTe prints under a name of its own width, and what they are here.
_TYPES = {"f32": ("tf32",), "i8": ("s8", "u8"), "si8": ("s8",), "ui8": ("u8",)}


def evaluated(text: str) -> Any:
    """The value of an expression: a layout, or a pair of a layout and what is added to its offsets.

    Raises:
        LayoutError: if the text is no expression, or an operation refuses its operands.
        DescriptorError: if it is the word of a descriptor.

    >>> evaluated("local_tile((128,64):(64,1), (64,32), (0,1))")
    (Layout((64, 32), (64, 1)), 32)
    """
    if re.fullmatch(r"0[xX][0-9a-fA-F_']+", text.strip()):
        raise DescriptorError(f"operand: a layout must be written shape:stride, found the word {text}; decode reads it")
    from layoutalg import evaluate  # the whole algebra, which a derivation from a tile does without

    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout, Swizzle, tuple)):
        raise NotationError(
            f"notation: a layout is written shape:stride or S<b,m,s> o offset o layout, found {value}; text = {text!r}",
            text,
        )
    return value


def base_of(layout: object) -> int | None:
    """The shared-memory address at which a printed tensor's layout starts, in bytes; None if it does not say.

    >>> base_of("Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (8,64):(64,1)")
    1024
    """
    pointer = _pointer(layout)
    base = None if pointer is None else pointer.base
    return None if base is None else base % (1 << _WINDOW_BITS)


def check_print(given: object, element: ElementType, unit: str) -> bool:
    """Whether the text is a print whose swizzle counts elements by now, whatever the unit of other layouts.

    Raises:
        DescriptorError: if the print says something else than what was asked for.

    >>> from descriptors.operands.operand import as_element_type
    >>> check_print("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o 8:1>", as_element_type("bf16"), "cute")
    True
    """
    pointer = _pointer(given)
    if pointer is None:
        return False
    if pointer.space not in ("", "smem"):
        raise DescriptorError(f"operand: a layout must lie in shared memory, found {pointer.space}; layout = {given}")
    if pointer.bits != element.storage_bits or not _may_be(pointer.type, element):
        said = f"{pointer.type or 'elements'} of {pointer.bits} bits"
        raise DescriptorError(
            f"operand: dtype must be what the printed layout has, {said}, found {element}, of {element.storage_bits}; "
            f"layout = {given}"
        )
    if pointer.swizzle is not None and unit == "bytes":
        raise DescriptorError(
            f"operand: the unit of a printed pointer must be cute, as its swizzle permutes bytes and its layout counts "
            f"elements, found bytes; layout = {given}"
        )
    return pointer.swizzle is not None


def _pointer(given: object) -> Pointer | None:
    if not isinstance(given, str):
        return None
    from layoutalg import parse_pointer  # only where something was pasted

    return parse_pointer(given)


def _may_be(printed: str, element: ElementType) -> bool:
    """Whether CuTe prints an element type so; a name with E and M in it is that of the format, as in f8E4M3FN."""
    found = re.search(r"E\dM\d", printed)
    name = found[0].lower() if found else printed
    return not name or element.name in _TYPES.get(name, (name, f"{name}_unpacksmem"))
