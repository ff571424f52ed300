"""``tcgen05.ld.red`` and ``.spcompress``: loads that reduce what each thread loads to one value, or keep half of it.

*To reduce* is to have one register more. Two of the shapes have it, .32x32b and .16x32bx2, from two repetitions on, and
16-bit halves are not packed; the values are f32, u32 or s32, and ``.abs`` and ``.NaN`` go with f32 alone. The registers
are those of the plain load. With .32x32b a thread loads the columns of one lane, and those are reduced; with .16x32bx2
two threads share a lane, and that each reduces its own half is believed.

*To compress* is to keep two of every four columns, the greatest or the least, with two bits for each that say which:
half the registers, and registers of metadata before them. .32x32b alone has it, of f32, from four repetitions on, and
it may reduce besides. That what is kept stays in the order of its columns, and how its indices lie in the metadata, is
believed. Not every target has either: sm_100a has none.
Source: PTX ISA 9.1, tcgen05.ld, ``.red``; PTX ISA 9.4, tcgen05.ld, ``.spcompress``; CUTLASS ``SM100_TMEM_LOAD_STAT``
for the registers of .32x32b.

Law: what a thread's result is reduced over is what its registers hold, of one lane; all threads take each cell once.

>>> for shape in REDUCING_SHAPES:
...     made = tmem_reduction(f"{shape}.x4.max.f32")
...     cells = {t: [made.over.cell(t, i) for i in range(4)] for t in range(32)}
...     assert all(len({cell.lane for cell in one}) == 1 for one in cells.values())
...     assert cells == {t: [made.move.cells.cell(t, i, 0) for i in range(4)] for t in range(32)}
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

#: The shapes that can be reduced, the operations, and the types with the qualifiers that go with each.
REDUCING_SHAPES = ("32x32b", "16x32bx2")
OPERATIONS = ("min", "max")
QUALIFIERS: dict[str, tuple[str, ...]] = {"f32": ("abs", "NaN"), "u32": (), "s32": ()}
#: What a load that compresses is called in its own words.
COMPRESSED = "sp::2:4"

_NAME = r"(?P<red>\.?red\.)?(?P<load>\.?[0-9a-z]+\.x\d{1,3}(?:\.pack::16b)?)\.(?P<rest>[A-Za-z0-9.:]+)"


@frozen
class TmemReduction(Told):
    """One ``tcgen05.ld.red`` or ``.spcompress``, by a warp.

    Args:
        move: the load.
        operation: ``min`` or ``max``.
        dtype: type of the values: ``f32``, ``u32`` or ``s32``.
        absolute: whether absolute values are compared.
        nan: whether a NaN makes the result one.
        over: (thread, column) -> cell that the thread's result is reduced over, or that half is kept of.
        compressed: whether half is kept.
        reduces: whether there is a result.
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
        """What each register is loaded from; of a load that compresses, what each thread keeps half of."""
        return self.over if self.compressed else self.move.cells

    @property
    def counts(self) -> str:
        """Its registers in words.

        >>> tmem_reduction("red.32x32b.x64.max.sp::2:4.f32").counts
        '35 registers a thread, the first 2 metadata, the last the max of 64 columns'
        """
        result = f", the last the {self.operation} of {self.move.num} columns" if self.reduces else ""
        first = f", the first{f' {many}' if (many := self.metadata) > 1 else ''} metadata" if self.compressed else ""
        return f"{self.registers} registers a thread{first}{result}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that have it."""
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
        """32-bit registers of a thread, those of a result and of metadata included.

        >>> [tmem_reduction(f"32x32b.x8.max.{rest}").registers for rest in ("f32", "sp::2:4.f32")]
        [9, 5]
        """
        return self.move.registers // (1 + self.compressed) + self.metadata + self.reduces

    @property
    def metadata(self) -> int:
        """Registers of metadata: two bits for each that is kept."""
        return -(-self.move.num // 32) * self.compressed


def tmem_reduction(name: str, *, offset: int | None = None, target: str | None = None) -> TmemReduction:
    """The load of a name that reduces or compresses.

    Args:
        name: shape, repetitions, operation, qualifiers and type, as in ``32x32b.x8.max.abs.f32``; one that compresses
            is ``32x32b.x8.max.sp::2:4.f32``, with ``red.`` before it if it reduces too.
        offset: columns between the halves of ``.16x32bx2``, as for ``tmem_move``.
        target: an architecture that shall have it, such as ``sm_103a``.

    Raises:
        DescriptorError: if there is no such instruction, or the target has it not.

    >>> print(tmem_reduction("32x32b.x8.max.f32").over.layout)
    (32,8):(65536,1)
    """
    match = re.fullmatch(_NAME, name, re.ASCII) if isinstance(name, str) else None
    if match is None:
        raise DescriptorError(f"tcgen05.ld.red: a name must read like 32x32b.x8.max.f32, found {brief(name)}")
    parts = match["rest"].removesuffix(".b2").split(".")
    operation, qualifiers, dtype = parts[0], parts[1:-1], parts[-1]
    if compressed := COMPRESSED in qualifiers:
        qualifiers.remove(COMPRESSED)
    for what, one, legal in (("operation", operation, OPERATIONS), ("type", dtype, QUALIFIERS)):
        if one not in legal:
            raise ChoiceError(f"tcgen05.ld.red: the {what}", one, legal)
    if set(qualifiers) - set(QUALIFIERS[dtype]) or len(set(qualifiers)) != len(qualifiers):
        rule = (
            f"tcgen05.ld.red: the qualifiers of {dtype} must be {' and '.join(QUALIFIERS[dtype]) or 'none'}, each once"
        )
        raise DescriptorError(f"{rule}, found {'.'.join(qualifiers)}; {name}")
    move, reduces = tmem_move(match["load"], offset=offset), not compressed or match["red"] is not None
    shapes = REDUCING_SHAPES[: 1 if compressed else None]
    if move.shape not in shapes:
        raise ChoiceError("tcgen05.ld.red: the shape", move.shape, shapes)
    least = 4 if compressed else 2
    if move.packed or move.num < least:
        rule = f"tcgen05.ld.red: a load must have no .pack::16b and x{least} or more"
        raise DescriptorError(f"{rule}, found x{move.num}{'.pack::16b' * move.packed}; {name}")
    if compressed and (dtype != "f32" or ("NaN" in qualifiers and not reduces)):
        rule = "tcgen05.ld.spcompress: the type must be f32, and .NaN come with red alone"
        raise DescriptorError(f"{rule}, found {'.'.join((*qualifiers, dtype))}; {name}")
    made = TmemReduction(
        move, operation, dtype, "abs" in qualifiers, "NaN" in qualifiers, _over(move), compressed, reduces
    )  # fmt: skip
    if target is not None and not (isinstance(target, str) and target in made.targets):
        raise ChoiceError("tcgen05.ld.red: the target", target, made.targets)
    return made


def _over(move: TmemMove) -> TmemFragment:
    """What each thread's registers hold, in cells: (thread, column)."""
    thread, column = (rescaled(move.cells.layout[i], over=CELL_BITS) for i in (0, 1))
    evidence = DOCUMENTED if move.shape == "32x32b" else BELIEVED
    what = f"what tcgen05.ld.red.{move.shape}.x{move.num} reduces"
    return TmemFragment(
        what, ("thread", "column"), make_layout(thread, column), CELL_BITS, "a thread's columns", evidence
    )
