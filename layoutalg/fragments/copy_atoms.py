"""Copy atoms: which thread reads each value of a copy instruction, and which thread holds it afterwards.

An atom has three thread-value layouts, all of which number values in elements: the source, the destination, and the
reference, which is the one of the two that the layout of a tiled copy refers to. For ``ldmatrix`` and ``stmatrix`` the
reference is the registers. For ``tcgen05.ld`` and ``tcgen05.st`` it is tensor memory, of which each thread of a warp
has all cells.

Invariant: source and destination contain the same values.

Source: CUTLASS ``include/cute/atom/copy_atom.hpp``, ``copy_traits_sm75.hpp``, ``copy_traits_sm90.hpp``,
``copy_traits_sm100.hpp``; the CuTe DSL 4.8.1, ``make_copy_atom``.

>>> print(copy_atom("ldmatrix.x2").source)
((16,2),8):((8,0),1)
>>> print(copy_atom("tcgen05.ld.16x64b.x2", 32).destination)
((2,2,8),2):((32,1,4),2)
"""

from __future__ import annotations

from layoutalg.algebra.coalesce import coalesce
from layoutalg.algebra.composition import composition
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.rearrange import prepend
from layoutalg.errors import LayoutError
from layoutalg.fragments.families import BYTE_MATRICES
from layoutalg.fragments.fragment import need_thread_values, row_pointers
from layoutalg.fragments.fragment_names import fragment
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

#: Instructions with which each thread moves its own values, and the numbers of bits that they support.
_ALONE = {"universal": (8, 16, 32, 64, 128, 256), "cp": (32, 64, 128)}


@frozen
class CopyAtom:
    """A copy instruction: which thread reads each value, and which thread holds it after the copy.

    Args:
        source: (thread, value) to the number of a value, in elements, for the threads that read.
        destination: the same for the threads that hold the values after the copy.
        reference: ``source`` or ``destination``, whichever the thread-value layout of a tiled copy refers to.

    Raises:
        LayoutError: if an argument is not a thread-value layout.

    >>> print(copy_atom("ldmatrix.x4").destination)
    (32,(2,4)):(2,(1,64))
    """

    source: Layout
    destination: Layout
    reference: Layout

    def __init__(self, source: Layout, destination: Layout, reference: Layout) -> None:
        layouts = [need_thread_values(layout, "CopyAtom") for layout in (source, destination, reference)]
        fix(self, source=layouts[0], destination=layouts[1], reference=layouts[2])

    @property
    def threads(self) -> int:
        """Number of threads that issue the instruction together."""
        return int(size(self.reference[0]))

    def __str__(self) -> str:
        """Return the number of threads, and the thread-value layouts of source and destination.

        >>> print(copy_atom("ldmatrix.x1"))
        a copy atom: 32 threads
           S, 8 values a thread  ((8,4),8):((8,0),1)
           D, 2 values a thread  (32,2):(2,1)
           (thread, value) to the number of a value; a tiled copy refers to D
        """
        sides = [("S", self.source), ("D", self.destination)]
        rows = [f"   {name}, {size(side[1])} values a thread  {side}" for name, side in sides]
        same = self.source == self.destination
        reference = "" if same else f"; a tiled copy refers to {'S' if self.reference == self.source else 'D'}"
        head = f"a copy atom: {self.threads} thread{'s' * (self.threads != 1)}"
        rows = [rows[0].replace("S,", "S and D,", 1)] if same else rows
        return "\n".join([head, *rows, f"   (thread, value) to the number of a value{reference}"])


def copy_atom(what: int | str, element_bits: int = 16) -> CopyAtom:
    """Return the atom of a copy.

    Args:
        what: the number of elements that a thread moves alone (8 for 128 bits of f16); or the number of bits that it
            moves, as in ``universal.128`` and ``cp.async.128``; or an instruction such as ``ldmatrix.x4``,
            ``stmatrix.x2``, ``ldmatrix.m16n16.x1.trans.b8`` or ``tcgen05.ld.32x32b.x4``.
        element_bits: bits of an element. ``ldmatrix`` and ``stmatrix`` move elements of 4, 8, 16 and 32 bits; it is
            ignored for matrices of bytes, whose elements have 8. With ``.trans``, elements have 16, 8 or 4 bits, and
            the instruction transposes units of 16 bits: two bytes that are adjacent in a row of shared memory stay
            together in one thread.

    Raises:
        LayoutError: if ``what`` is not one of these, or the instruction does not move such elements.

    >>> print(copy_atom("cp.async.128", 32).source, copy_atom("ldmatrix.x4.trans", 8).destination)
    (1,4):(0,1) ((4,8),(2,2,4)):((32,2),(1,16,128))
    """
    if not isinstance(what, str):
        alone = Layout((1, as_int(what, "copy_atom: values")), (0, 1))
        return CopyAtom(alone, alone, alone)
    bits = as_int(element_bits, "copy_atom: element_bits")
    head, *words = what.strip().split(".")
    if head in ("universal", "cp"):
        return _alone(head, words, bits, what)
    if head == "tcgen05":
        return _tensor_memory(what, bits)
    if head not in ("ldmatrix", "stmatrix") or bits not in (4, 8, 16, 32):
        raise LayoutError(
            f"copy_atom: {safe_text(what)} with {bits}-bit elements is not a copy; supported: a number of elements, "
            "universal and cp.async with a number of bits, ldmatrix and stmatrix with elements of 4, 8, 16 or 32 bits, "
            "tcgen05.ld and tcgen05.st"
        )
    return _matrices(what, head, bits)


def _alone(head: str, words: list[str], bits: int, what: str) -> CopyAtom:
    """Return the atom of a thread that moves a number of bits."""
    if head == "cp" and words[:1] == ["async"]:
        words = words[1:]
    text = words[0] if len(words) == 1 else ""
    width = int(text) if text.isdecimal() and len(text) < 5 else 0
    if width not in _ALONE[head]:
        name = "cp.async" if head == "cp" else head
        raise LayoutError(
            f"copy_atom: {safe_text(what)} is not a copy; supported: {name} with "
            f"{', '.join(map(str, _ALONE[head]))} bits, as in {name}.128"
        )
    if bits < 1 or (width % bits and bits % width):
        raise LayoutError(f"copy_atom: {width} bits are not a whole number of {bits}-bit elements")
    return copy_atom(max(1, width // bits))


def _matrices(what: str, head: str, bits: int) -> CopyAtom:
    """Return the atom of ``ldmatrix`` or ``stmatrix``."""
    words = fragment(what).name.split(".")
    of_bytes = (head, words[1]) in BYTE_MATRICES
    # Elements of 4 bits, and of 8 bits with .trans, move as units of 8 or 16 bits.
    unit_bits = 8 if of_bytes else 16 if "trans" in words and bits <= 16 else max(8, bits)
    elements = 1 if of_bytes else unit_bits // bits
    name = what if of_bytes else what + {8: ".b8", 16: "", 32: ".f32"}[unit_bits]
    height, width = BYTE_MATRICES[head, words[1]][0] if of_bytes else 8, 16 if of_bytes else 128 // unit_bits
    count = int(words[2 if of_bytes else 1][1:])
    matrices = fragment(f"{name}.{height * count}x{width}")
    # Values are numbered along the rows whose addresses threads provide; further threads repeat these addresses.
    along = Layout((height * count, width), (width, 1))
    rows = composition(along, row_pointers(count, 1, width, height))
    if height * count < 32:
        rows = make_layout(make_layout(*rows[0], Layout(32 // (height * count), 0)), rows[1])
    rows = coalesce(_split_units(rows, elements), (1, 1))
    registers = _split_units(coalesce(composition(along, matrices.layout), (1, 1)), elements)
    return CopyAtom(rows, registers, registers) if head == "ldmatrix" else CopyAtom(registers, rows, registers)


def _split_units(units: Layout, elements: int) -> Layout:
    """Return a thread-value layout of units as one of the elements, of which each unit has ``elements``."""
    if elements == 1:
        return make_layout(units[0], coalesce(units[1]))
    scaled = composition(Layout(cosize(units), elements), units)
    return make_layout(scaled[0], coalesce(prepend(scaled[1], Layout(elements, 1))))


def _tensor_memory(what: str, bits: int) -> CopyAtom:
    """Return the atom of ``tcgen05.ld`` or ``tcgen05.st``: values are numbered lane by lane."""
    cells = fragment(what)
    if bits not in (4, 8, 16, 32):
        raise LayoutError(f"copy_atom: {cells.name} moves cells of 32 bits; supported: elements of 4, 8, 16 or 32 bits")
    lanes, columns = cells.shape
    registers = composition(Layout((lanes, columns), (columns, 1)), cells.layout)
    registers = _split_units(registers, 32 // bits)
    memory = Layout((32, lanes * columns * 32 // bits), (0, 1))
    return (
        CopyAtom(memory, registers, memory)
        if cells.name.startswith("tcgen05.ld")
        else CopyAtom(registers, memory, memory)
    )
