"""A convolution as a product: rows of one operand are output pixels, of the other filters, K its taps and channels.

Pixels are in A, so that the product is N P Q K as activations are N H W C, or, as Algorithm 2 of the article on the
Blackwell tensor core has them, in B, filters in A: the same product, transposed. A step of the main loop is one tap
and as many channels as a stage has of K; taps are counted s fastest, as the filters lie, channels faster still. A tap
whose channels are no whole stages leaves a rest, which is zero in both operands. Tiles take output pixels as they lie,
q fastest, then p, then n: a tile may hold the end of a row, or of an image, and the beginning of the next.

Law: the steps have every tap and channel once.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), verify=False,
...             convolution={"activations": (1, 9, 9, 40), "filters": (8, 3, 3), "padding": 1}).implicit
>>> pairs = [made.step(i) for i in range(made.steps)]
>>> pairs[:3], {(tap, channel + c) for tap, channel in pairs for c in range(32) if channel + c < 40} == {
...     (tap, c) for tap in range(9) for c in range(40)}
([(0, 0), (0, 32), (1, 0)], True)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_request import MainLoop
from descriptors.smem.operands.operand import Major, Matrix
from descriptors.smem.tma.convolution import Convolution, activation_map, filter_map
from descriptors.smem.words.tensor_map import TensorMap
from descriptors.text import counted
from layoutalg.frozen import frozen

_OPERANDS: tuple[Matrix, Matrix] = ("A", "B")


@frozen
class ImplicitGemm:
    """How the copies of a main loop gather a convolution.

    Args:
        convolution: what is computed.
        a, b: the tensor maps of the operands: im2col of the activations, tiled of the filters.
        tile: M, N and K of a stage.
    """

    convolution: Convolution
    a: TensorMap
    b: TensorMap
    tile: tuple[int, int, int]

    def of(self, matrix: Matrix) -> TensorMap:
        """The map of A or of B."""
        return self.a if matrix == "A" else self.b

    @property
    def blocks(self) -> int:
        """Steps of a tap: stages of channels, the last maybe ragged."""
        return -(-self.convolution.channels // self.tile[2])

    @property
    def steps(self) -> int:
        """Steps of the main loop."""
        return self.convolution.taps[0] * self.convolution.taps[1] * self.blocks

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles along M and along N."""
        m, n = (self.rows(matrix) for matrix in _OPERANDS)
        return -(-m // self.tile[0]), -(-n // self.tile[1])

    def rows(self, matrix: Matrix) -> int:
        """Rows of an operand in all: output pixels, or filters."""
        return self.convolution.pixels if matrix == self.convolution.operand else self.convolution.filters

    def step(self, number: int) -> tuple[int, int]:
        """The tap of a step, and its first channel."""
        tap, block = divmod(number, self.blocks)
        return tap, block * self.tile[2]

    def place(self, matrix: Matrix, step: int, row: int, k: int = 0) -> tuple[int, ...]:
        """Coordinates of a box: of pixels c, w, h, n and a tap's offsets along w and h, of filters c, tap, filter.

        Args:
            matrix: the operand.
            step: of the main loop.
            row: the output pixel, or the filter, at which the box begins.
            k: the column of the tile at which it begins.
        """
        tap, channel = self.step(step)
        if matrix == self.convolution.operand:
            return (channel + k, *self.convolution.start(row), *self.convolution.offsets(tap))
        return (channel + k, tap, row)

    @property
    def headline(self) -> str:
        """The product in one line."""
        named = ("output pixel", "filter")
        sides = zip(_OPERANDS, named if self.convolution.operand == "A" else named[::-1], self.tiles, strict=True)
        rows = [f"{counted(self.rows(matrix), name)} ({counted(tiles, 'tile')})" for matrix, name, tiles in sides]
        return ", ".join([*rows, counted(self.steps, "step")])


def implicit_gemm(
    one: Convolution, loop: MainLoop, a: StagedOperand, b: StagedOperand, splits: int = 1
) -> ImplicitGemm:
    """The tensor maps of a convolution whose operands are staged so.

    Raises:
        DescriptorError: if operands are not K-major, sparse, scaled, or of elements that are no whole bytes; if there
            are more parts along K than steps.
        TmaError: if no driver takes such a map, or the instruction no such offset.
    """
    if loop.sparse or loop.scale is not None:
        what = "sparse" if loop.sparse else "scaled"
        raise DescriptorError(
            f"plan: {what} operands of a convolution are not supported, only dense ones without scale factors"
        )
    for side in (a, b):
        element, major = side.derivation.element, side.derivation.major
        if major is Major.MN:
            raise DescriptorError(
                f"plan: {side.matrix} is MN-major, and operands of a convolution are supported K-major only; channels "
                "are contiguous in N H W C and K R S C"
            )
        if element.bits not in (8, 16, 32):
            raise DescriptorError(
                f"plan: {element} elements of a convolution are not supported, only elements of 8, 16 or 32 bits"
            )
    maps = []
    for side in (a, b):
        channels, rows = side.tma.box
        write = activation_map if side.matrix == one.operand else filter_map
        maps.append(write(one, side.derivation.element, channels, rows, side.tma.swizzle_code))
    implicit = ImplicitGemm(one, maps[0], maps[1], loop.tile)
    if splits > implicit.steps:
        raise DescriptorError(
            f"plan: {splits} splits are more than the {counted(implicit.steps, 'step')} of the main loop; {one}"
        )
    return implicit


@frozen
class Gathered:
    """What the copies of a convolution were found to gather, for every tile and tap.

    Args:
        rows: of A and B, each at every tap, that were compared.
        differing: that are not what the definition says.
        first: the first of them; "" if none.
    """

    rows: int
    differing: int
    first: str = ""

    @property
    def ok(self) -> bool:
        """Whether all are right."""
        return not self.differing

    def __str__(self) -> str:
        if self.ok:
            return f"{counted(self.rows, 'row')} of all tiles and taps are the convolution's"
        about = f"{self.differing} of {counted(self.rows, 'row')} of all tiles and taps"
        return f"{about} are not the convolution's; {self.first}"
