"""Express a convolution as a matrix product: output pixels by filters, with taps and channels as K.

The output pixels are the rows of A, so that the product is N P Q K as the activations are N H W C. Or they are the rows
of B and the filters those of A, as in Algorithm 2 of the article on the Blackwell tensor core: the same product,
transposed. A step of the main loop is one tap and as many channels as K of a stage. Channels vary fastest, then the
column s of the filter, then its row r, as the filters are stored. If the channels of a tap are not a whole number of
stages, the remainder of the last stage is zero in both operands. Tiles take output pixels in the order of memory: q
fastest, then p, then n. A tile may therefore contain the end of a row, or of an image, and the beginning of the next.

Invariant: the steps have every tap and channel once.

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
    """The copies by which a main loop gathers the operands of a convolution.

    Args:
        convolution: the convolution.
        a, b: the tensor maps of the operands: im2col for the activations, tiled for the filters.
        tile: M, N and K of a stage.
    """

    convolution: Convolution
    a: TensorMap
    b: TensorMap
    tile: tuple[int, int, int]

    def of(self, matrix: Matrix) -> TensorMap:
        """Return the tensor map of A or of B."""
        return self.a if matrix == "A" else self.b

    @property
    def blocks(self) -> int:
        """Number of steps of a tap: stages of channels, of which the last may be partial."""
        return -(-self.convolution.channels // self.tile[2])

    @property
    def steps(self) -> int:
        """Number of steps of the main loop."""
        return self.convolution.taps[0] * self.convolution.taps[1] * self.blocks

    @property
    def tiles(self) -> tuple[int, int]:
        """Number of tiles along M and along N."""
        m, n = (self.rows(matrix) for matrix in _OPERANDS)
        return -(-m // self.tile[0]), -(-n // self.tile[1])

    def rows(self, matrix: Matrix) -> int:
        """Return the number of rows of an operand: output pixels, or filters."""
        return self.convolution.pixels if matrix == self.convolution.operand else self.convolution.filters

    def step(self, number: int) -> tuple[int, int]:
        """Return the tap of a step, and its first channel."""
        tap, block = divmod(number, self.blocks)
        return tap, block * self.tile[2]

    def place(self, matrix: Matrix, step: int, row: int, k: int = 0) -> tuple[int, ...]:
        """Return the coordinates of a box.

        Args:
            matrix: the operand.
            step: the step of the main loop.
            row: the output pixel or the filter at which the box begins.
            k: the column of the tile at which the box begins.

        Returns:
            c, w, h, n and the tap's offsets along w and h for pixels; c, tap and filter for filters.
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
    layer: Convolution, loop: MainLoop, a: StagedOperand, b: StagedOperand, splits: int = 1
) -> ImplicitGemm:
    """Return the tensor maps of a convolution for staged operands.

    Args:
        layer: the convolution.
        loop: the instruction and the tile.
        a, b: the staged operands.
        splits: number of parts along K.

    Raises:
        DescriptorError: if operands are MN-major, sparse, scaled, or do not have elements of 8, 16 or 32 bits, or if
            there are more parts along K than steps.
        TmaError: if the driver rejects a tensor map, or an offset of a tap is out of range.
    """
    if loop.sparse or loop.scale is not None:
        feature = "sparse" if loop.sparse else "scaled"
        raise DescriptorError(
            f"plan: {feature} operands of a convolution are not supported, only dense ones without scale factors"
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
        write = activation_map if side.matrix == layer.operand else filter_map
        maps.append(write(layer, side.derivation.element, channels, rows, side.tma.swizzle_code))
    implicit = ImplicitGemm(layer, maps[0], maps[1], loop.tile)
    if splits > implicit.steps:
        raise DescriptorError(
            f"plan: {splits} splits are more than the {counted(implicit.steps, 'step')} of the main loop; {layer}"
        )
    return implicit


@frozen
class Gathered:
    """The comparison of a convolution's copies with its definition, for every tile and tap.

    Args:
        rows: number of compared rows of A and B, each counted at every tap.
        differing: number of rows that differ from the definition.
        first: description of the first of them; "" if none differs.
    """

    rows: int
    differing: int
    first: str = ""

    @property
    def ok(self) -> bool:
        """Whether no row differs."""
        return not self.differing

    def __str__(self) -> str:
        if self.ok:
            return f"{counted(self.rows, 'row')} of all tiles and taps are the convolution's"
        about = f"{self.differing} of {counted(self.rows, 'row')} of all tiles and taps"
        return f"{about} are not the convolution's; {self.first}"
