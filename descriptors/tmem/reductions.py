"""Layouts of ``tcgen05.ld.red`` and ``.spcompress``: loads that also reduce the loaded values, or keep half of them.

A *reducing* load returns the registers of the plain load and one more with the result. It exists for the shapes .32x32b
and .16x32bx2 with at least two repetitions, without ``.pack::16b``, for f32, u32 and s32; ``.abs`` and ``.NaN`` exist
only for f32. With .32x32b a thread loads and reduces the columns of one lane. With .16x32bx2 two threads share a lane;
that each reduces its own half is believed.

A *compressing* load keeps two of every four columns, the two greatest or the two least, with a 2-bit index for each:
it returns half the registers, and registers of metadata before them. It exists only for .32x32b and f32, with at least
four repetitions, and can also reduce. That the kept values stay in column order, and the order of the indices in the
metadata, are believed. Some targets have neither kind of load, such as sm_100a.
Source: PTX ISA 9.1, tcgen05.ld, ``.red``; PTX ISA 9.4, tcgen05.ld, ``.spcompress``; CUTLASS ``SM100_TMEM_LOAD_STAT``
for the registers of .32x32b.

Invariant: a thread reduces the cells of its registers, which are in one lane; the threads together read each cell once.

>>> for shape in REDUCING_SHAPES:
...     reduction = tmem_reduction(f"{shape}.x4.max.f32")
...     cells = {t: [reduction.over.cell(t, i) for i in range(4)] for t in range(32)}
...     assert all(len({cell.lane for cell in of_thread}) == 1 for of_thread in cells.values())
...     assert cells == {t: [reduction.move.cells.cell(t, i, 0) for i in range(4)] for t in range(32)}
...     assert len(set(sum(cells.values(), []))) == 32 * 4
"""

from __future__ import annotations

import re

from descriptors.errors import ChoiceError, DescriptorError, brief
from descriptors.targets import targets_with
from descriptors.text import Told
from descriptors.tmem.geometry import BELIEVED, CELL_BITS, DOCUMENTED
from descriptors.tmem.moves import TmemMove, tmem_move
from descriptors.tmem.tmem_fragment import TmemFragment, rescaled
from layoutalg import make_layout
from layoutalg.frozen import frozen

#: Shapes of reducing loads, operations, and types with their qualifiers.
REDUCING_SHAPES = ("32x32b", "16x32bx2")
OPERATIONS = ("min", "max")
QUALIFIERS: dict[str, tuple[str, ...]] = {"f32": ("abs", "NaN"), "u32": (), "s32": ()}
#: The qualifier of a compressing load.
COMPRESSED = "sp::2:4"

_NAME = r"(?P<red>\.?red\.)?(?P<load>\.?[0-9a-z]+\.x\d{1,3}(?:\.pack::16b)?)\.(?P<rest>[A-Za-z0-9.:]+)"


@frozen
class TmemReduction(Told):
    """A ``tcgen05.ld.red`` or ``.spcompress`` of one warp.

    Args:
        move: the load.
        operation: ``min`` or ``max``.
        dtype: type of the values: ``f32``, ``u32`` or ``s32``.
        absolute: whether absolute values are compared.
        nan: whether a NaN among the values makes the result NaN.
        over: (thread, column) -> cell that the thread reduces or compresses.
        compressed: whether the load compresses, that is, keeps half of the values.
        reduces: whether the load reduces.
    """

    move: TmemMove
    operation: str
    dtype: str
    absolute: bool
    nan: bool
    over: TmemFragment
    compressed: bool = False
    reduces: bool = True

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.ptx}: {self.counts}"

    @property
    def cells(self) -> TmemFragment:
        """Cell of each register; for a compressing load, the cells of which each thread keeps half."""
        return self.over if self.compressed else self.move.cells

    @property
    def counts(self) -> str:
        """The registers in words.

        >>> tmem_reduction("red.32x32b.x64.max.sp::2:4.f32").counts
        '35 registers a thread, the first 2 metadata, the last the max of 64 columns'
        """
        result = f", the last the {self.operation} of {self.move.num} columns" if self.reduces else ""
        first = f", the first{f' {many}' if (many := self.metadata) > 1 else ''} metadata" if self.compressed else ""
        return f"{self.registers} registers a thread{first}{result}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that support the load."""
        feature = f"tcgen05.ld.{'spcompress' if self.compressed else 'red'}"
        return targets_with(feature)

    @property
    def ptx(self) -> str:
        """The instruction, without operands.

        >>> tmem_reduction("16x32bx2.x2.min.NaN.abs.f32").ptx
        'tcgen05.ld.red.sync.aligned.16x32bx2.x2.min.abs.NaN.f32'
        """
        sparse = f".{COMPRESSED}" * self.compressed
        how = f".{self.operation}{sparse}{'.abs' * self.absolute}{'.NaN' * self.nan}.{self.dtype}"
        name = f"tcgen05.ld{'.red' * self.reduces}{'.spcompress' * self.compressed}.sync.aligned"
        return f"{name}.{self.move.shape}.x{self.move.num}{how}{'.b2' * self.compressed}"

    @property
    def registers(self) -> int:
        """Number of 32-bit registers per thread, including those of result and metadata.

        >>> [tmem_reduction(f"32x32b.x8.max.{rest}").registers for rest in ("f32", "sp::2:4.f32")]
        [9, 5]
        """
        return self.move.registers // (1 + self.compressed) + self.metadata + self.reduces

    @property
    def metadata(self) -> int:
        """Number of metadata registers: two bits per kept value."""
        return -(-self.move.num // 32) * self.compressed


def tmem_reduction(name: str, *, offset: int | None = None, target: str | None = None) -> TmemReduction:
    """Return the reducing or compressing load with a name.

    Args:
        name: shape, repetitions, operation, qualifiers and type, such as ``32x32b.x8.max.abs.f32``; a compressing load
            is ``32x32b.x8.max.sp::2:4.f32``, with ``red.`` before it if it reduces too.
        offset: columns between the halves of ``.16x32bx2``, as for ``tmem_move``.
        target: a target that must support the load, such as ``sm_103a``.

    Raises:
        DescriptorError: if the instruction does not exist, or the target does not support it.

    >>> print(tmem_reduction("32x32b.x8.max.f32").over.layout)
    (32,8):(65536,1)
    """
    match = re.fullmatch(_NAME, name, re.ASCII) if isinstance(name, str) else None
    if match is None:
        raise DescriptorError(
            f"tcgen05.ld.red: {brief(name)} is not the name of a reducing load, such as 32x32b.x8.max.f32"
        )
    parts = match["rest"].removesuffix(".b2").split(".")
    operation, qualifiers, dtype = parts[0], parts[1:-1], parts[-1]
    if compressed := COMPRESSED in qualifiers:
        qualifiers.remove(COMPRESSED)
    for what, value, legal in (("operation", operation, OPERATIONS), ("type", dtype, QUALIFIERS)):
        if value not in legal:
            raise ChoiceError(f"tcgen05.ld.red: the {what}", value, legal)
    if set(qualifiers) - set(QUALIFIERS[dtype]):
        raise DescriptorError(
            f"tcgen05.ld.red: {dtype} does not have the qualifiers {'.'.join(qualifiers)}; "
            f"it has {' and '.join(QUALIFIERS[dtype]) or 'none'}; {name}"
        )
    if len(set(qualifiers)) != len(qualifiers):
        raise DescriptorError(f"tcgen05.ld.red: a qualifier of {'.'.join(qualifiers)} occurs twice; {name}")
    move, reduces = tmem_move(match["load"], offset=offset), not compressed or match["red"] is not None
    shapes = REDUCING_SHAPES[: 1 if compressed else None]
    if move.shape not in shapes:
        raise ChoiceError("tcgen05.ld.red: the shape", move.shape, shapes)
    least = 4 if compressed else 2
    if move.packed or move.num < least:
        fact = "does not support .pack::16b" if move.packed else f"needs at least x{least}, this one has x{move.num}"
        form = "compressing" if compressed else "reducing"
        raise DescriptorError(f"tcgen05.ld.red: a {form} load {fact}; {name}")
    if compressed and dtype != "f32":
        raise DescriptorError(f"tcgen05.ld.spcompress: a compressing load does not support {dtype}, only f32; {name}")
    if compressed and "NaN" in qualifiers and not reduces:
        raise DescriptorError(f"tcgen05.ld.spcompress: .NaN without .red is not supported; {name}")
    reduction = TmemReduction(
        move, operation, dtype, "abs" in qualifiers, "NaN" in qualifiers, _over(move), compressed, reduces
    )  # fmt: skip
    if target is not None and not (isinstance(target, str) and target in reduction.targets):
        raise ChoiceError("tcgen05.ld.red: the target", target, reduction.targets)
    return reduction


def _over(move: TmemMove) -> TmemFragment:
    """Return the layout (thread, column) -> cell of the values of each thread."""
    thread, column = (rescaled(move.cells.layout[i], over=CELL_BITS) for i in (0, 1))
    evidence = DOCUMENTED if move.shape == "32x32b" else BELIEVED
    what = f"what tcgen05.ld.red.{move.shape}.x{move.num} reduces"
    return TmemFragment(
        what, ("thread", "column"), make_layout(thread, column), CELL_BITS, "a thread's columns", evidence
    )
