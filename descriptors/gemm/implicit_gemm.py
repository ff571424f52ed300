"""A convolution as a product: output pixels are rows of A, filters those of B, K is every tap with its channels.

Algorithm 2 of document 003, with the activations in A as its Algorithm 3.b has them. A step of the main loop is one tap
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
from descriptors.smem.operands.operand import Major
from descriptors.smem.tma.convolution import Convolution, activation_map, filter_map
from descriptors.smem.words.tensor_map import TensorMap
from descriptors.text import counted
from layoutalg.frozen import frozen


@frozen
class ImplicitGemm:
    """How the copies of a main loop gather a convolution.

    Args:
        convolution: what is computed.
        a, b: the tensor maps of activations, im2col, and of filters, tiled.
        tile: M, N and K of a stage.
    """

    convolution: Convolution
    a: TensorMap
    b: TensorMap
    tile: tuple[int, int, int]

    def of(self, matrix: str) -> TensorMap:
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
        return -(-self.convolution.pixels // self.tile[0]), -(-self.convolution.filters // self.tile[1])

    def step(self, number: int) -> tuple[int, int]:
        """The tap of a step, and its first channel."""
        tap, block = divmod(number, self.blocks)
        return tap, block * self.tile[2]

    def a_place(self, step: int, row: int, k: int = 0) -> tuple[int, ...]:
        """Coordinates c, w, h, n of a box of A, then the offsets of its tap along w and h.

        Args:
            step: of the main loop.
            row: the output pixel at which the box begins.
            k: the column of the tile at which it begins.
        """
        tap, channel = self.step(step)
        return (channel + k, *self.convolution.start(row), *self.convolution.offsets(tap))

    def b_place(self, step: int, row: int, k: int = 0) -> tuple[int, ...]:
        """Coordinates of a box of B along C, taps and filters; arguments as of ``a_place``."""
        tap, channel = self.step(step)
        return (channel + k, tap, row)

    @property
    def headline(self) -> str:
        """The product in one line."""
        one, (m, n) = self.convolution, self.tiles
        pixels = f"{counted(one.pixels, 'output pixel')} ({counted(m, 'tile')})"
        return f"{pixels}, {counted(one.filters, 'filter')} ({counted(n, 'tile')}), {counted(self.steps, 'step')}"


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
        raise DescriptorError(f"plan: operands of a convolution must be dense and without scale factors, found {what}")
    for side in (a, b):
        element, major = side.derivation.element, side.derivation.major
        if major is Major.MN:
            raise DescriptorError(
                f"plan: operands of a convolution must be K-major, for channels lie together in N H W C and K R S C, "
                f"found {side.matrix} MN-major"
            )
        if element.bits not in (8, 16, 32):
            raise DescriptorError(f"plan: elements of a convolution must have 8, 16 or 32 bits, found {element}")
    (a_channels, a_rows), (b_channels, b_rows) = a.tma.box, b.tma.box
    pixels = activation_map(one, a.derivation.element, a_channels, a_rows, a.tma.swizzle_code)
    filters = filter_map(one, b.derivation.element, b_channels, b_rows, b.tma.swizzle_code)
    implicit = ImplicitGemm(one, pixels, filters, loop.tile)
    if splits > implicit.steps:
        raise DescriptorError(
            f"plan: splits must be at most the {counted(implicit.steps, 'step')}, found {splits}; {one}"
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
