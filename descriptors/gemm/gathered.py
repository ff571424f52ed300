"""Prove that the copies of a convolution bring the elements of its definition to the places that descriptors read.

The boxes of a stage are stored by the copy model and read by the descriptors. This gives for each place (row, k) of a
tile the box, the row of the box and the channel. The model of im2col copies gives the element of the tensor for each
row of a box, from the coordinates of every tile and tap. The result is compared with the definition: a padded array of
the activations, of which every tap takes a slice. The definition uses no tiles, corners or start coordinates.

Invariant: the proof fails for a tensor map with another corner.

>>> from layoutalg.frozen import replace
>>> from descriptors.gemm.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, verify=False,
...             convolution={"activations": (2, 9, 9, 40), "filters": (8, 3, 3), "padding": 1})
>>> print(made.verify().gathered)
1530 rows of all tiles and taps are the convolution's
>>> box = replace(made.implicit.a.box, upper=(0, -1))
>>> print(replace(made, implicit=replace(made.implicit, a=replace(made.implicit.a, box=box))).verify().gathered)
1186 of 1530 rows of all tiles and taps are not the convolution's; row 10 of A at tap (0,0) is zero instead \
of activation (n,h,w) = (0,0,0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError
from descriptors.gemm.implicit_gemm import Gathered, ImplicitGemm
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.product import empty, fetch, register_reads
from descriptors.smem.tma.copy_model import im2col_coordinates, landing_bits
from descriptors.smem.tma.tap_elements import ZERO, tap_elements
from descriptors.smem.words.tensor_map import Im2colWindow, TensorMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

#: The largest number of rows, each counted at every tap, that a proof follows.
_MOST_ROWS = 1 << 28
#: The number of a place that no copy fills.
_NOTHING = -2


def gathered(implicit: ImplicitGemm, plan: PlannedLoop) -> Gathered:
    """Compare every row of every tile, at every tap, with the definition of the convolution.

    Args:
        implicit: the tensor maps and the steps.
        plan: the plan.

    Raises:
        DescriptorError: if there are too many rows.
    """
    layer = implicit.convolution
    count = (layer.pixels + layer.filters) * layer.taps[0] * layer.taps[1]
    if count > _MOST_ROWS:
        raise DescriptorError(
            f"plan: the convolution has {count} rows, counted at every tap, and a proof follows at most {_MOST_ROWS}; "
            "plan it with fewer images, which are all alike"
        )
    proofs = [_Side(implicit, plan, index).proof() for index in (0, 1)]
    first = next((proof.first for proof in proofs if not proof.ok), "")
    return Gathered(sum(proof.rows for proof in proofs), sum(proof.differing for proof in proofs), first)


class _Side:
    """One operand: the row and box of each place of a tile, and the elements of the tensor in these rows."""

    def __init__(self, implicit: ImplicitGemm, plan: PlannedLoop, index: int) -> None:
        self.implicit, self.index = implicit, index
        self.side: StagedOperand = (plan.a, plan.b)[index]
        self.map: TensorMap = implicit.of(self.side.matrix)
        self.pixels = self.side.matrix == implicit.convolution.operand
        self.loop = plan.asked
        self.origins = sorted({box.origin[0] for box in self.side.boxes})
        self.rows = self.map.landing_extents[-1]
        self.places = _read(plan, self.side, self.map, index)

    def proof(self) -> Gathered:
        """Return the comparison with the definition."""
        import numpy as np

        layer, extent = self.implicit.convolution, self.implicit.tile[self.index]
        total = self.implicit.rows(self.side.matrix)
        tiles, taps, pair = self.implicit.tiles[self.index], layer.taps[0] * layer.taps[1], self.loop.cta_group
        astray = self._channels()
        if astray:
            return Gathered(total * taps, total * taps, astray)
        # Columns of the tile that come from the same rows of different boxes have the same result.
        rows = np.unique(self._rows(), axis=1)
        blocks = self.loop.blocks[1] if self.index else 1
        differing, first = 0, ""
        for cta in range(pair):
            local = np.arange(extent).reshape(blocks, pair, -1)[:, cta].ravel()
            indices = (np.arange(tiles)[:, None] * extent + local).ravel()
            coordinates = self._coordinates(cta)
            for tap in range(taps):
                wanted = np.append(
                    tap_elements(layer, tap, filters=not self.pixels), np.full(tiles * extent - total, ZERO)
                )[indices]
                got = self._elements(coordinates, tap).reshape(tiles, -1)[:, rows].reshape(len(indices), -1)
                wrong = (got != wanted[:, None]).any(axis=1)
                if wrong.any() and not first:
                    wrong_index = int(np.argmax(wrong))
                    odd = got[wrong_index][got[wrong_index] != wanted[wrong_index]][0]
                    first = self._difference(int(indices[wrong_index]), tap, int(wanted[wrong_index]), int(odd))
                differing += int(np.count_nonzero(wrong))
        return Gathered(total * taps, differing, first)

    def _rows(self) -> Numbers:
        """Return for each (row, k) of a tile the row of its box, with boxes of the same first row counted once."""
        import numpy as np

        number = {origin: i for i, origin in enumerate(self.origins)}
        of_box = np.array([number[box.origin[0]] for box in self.side.boxes])
        rows: Numbers = of_box[self.places[0]] * self.rows + self.places[1]
        return rows

    def _channels(self) -> str:
        """Describe the first place of a tile that has a wrong channel; "" if there is none."""
        import numpy as np

        box, _, channel = self.places
        begin = np.array([box_of_side.origin[1] for box_of_side in self.side.boxes])
        channels = np.where(box < 0, _NOTHING, begin[box] + channel)
        wrong = np.argwhere(channels != np.arange(channels.shape[1]))
        if self.map.extents[0] != self.implicit.convolution.channels:
            return f"the map of {self.side.matrix} has {self.map.extents[0]} channels"
        if not len(wrong):
            return ""
        row, k = (int(x) for x in wrong[0])
        return f"{self.side.matrix}({row},{k}) of a stage is read where channel {int(channels[row, k])} of its boxes is"

    def _coordinates(self, cta: int) -> Numbers:
        """Return coordinates of the rows of every tile's boxes, without channels and offsets of a tap.

        Axes (copy, row, dimension).
        """
        import numpy as np

        boxes = [next(box for box in self.side.boxes if box.origin[0] == origin) for origin in self.origins]
        tiles, extent = self.implicit.tiles[self.index], self.implicit.tile[self.index]
        firsts = [tile * extent + self.side.first_row(box, cta) for tile in range(tiles) for box in boxes]
        window = self.map.box
        if not isinstance(window, Im2colWindow):
            return np.array(firsts)[:, None, None] + np.arange(self.rows)[None, :, None]
        starts = np.array([self.implicit.place(self.side.matrix, 0, row)[1:4] for row in firsts])
        steps = self.map.element_strides[1:-1]
        return im2col_coordinates(self.map.extents[1:-1], window.lower, window.upper, steps, starts, self.rows)

    def _elements(self, coordinates: Numbers, tap: int) -> Numbers:
        """Return the pixel of the activations, or the filter and tap, of each row of each copy."""
        import numpy as np

        step, tensor_map = tap * self.implicit.blocks, self.map
        origin = self.implicit.place(self.side.matrix, step, 0)
        if self.pixels:
            moved = coordinates + np.array([*origin[4:], 0])
        else:
            place = np.full_like(coordinates, origin[1])
            moved = np.concatenate([place, coordinates], axis=2)
        inside = ((moved >= 0) & (moved < np.array(tensor_map.extents[1:]))).all(axis=2)
        pixel, rest = np.divmod(
            (moved * np.array(tensor_map.strides)).sum(axis=2), tensor_map.extents[0] * tensor_map.data_type.bits // 8
        )
        elements: Numbers = np.where(inside, np.where(rest == 0, pixel, _NOTHING), ZERO)
        return elements

    def _difference(self, row: int, tap: int, wanted: int, actual: int) -> str:
        layer = self.implicit.convolution
        tap_text = "({},{})".format(*layer.tap(tap))
        difference = f"{self._named(actual)} instead of {self._named(wanted)}"
        return f"row {row} of {self.side.matrix} at tap {tap_text} is {difference}"

    def _named(self, element: int) -> str:
        layer = self.implicit.convolution
        if element < 0:
            return "zero" if element == ZERO else "nothing of the tensor"
        if not self.pixels:
            k, tap = divmod(element, layer.taps[0] * layer.taps[1])
            return f"tap ({','.join(map(str, layer.tap(tap)))}) of filter {k}"
        row, w = divmod(element, layer.width)
        return f"activation (n,h,w) = ({row // layer.height},{row % layer.height},{w})"


def _read(plan: PlannedLoop, side: StagedOperand, map_: TensorMap, index: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return box, row and channel in the box for each place (row, k) of the first stage; box -1 if no copy fills it."""
    import numpy as np

    memory, size = empty(), map_.landing_extents[0] * map_.landing_extents[-1]
    boxes = side.boxes
    extents = (map_.landing_extents[0], map_.landing_extents[-1])
    landed = landing_bits(
        extents, [side.base + box.offset_bytes for box in boxes], bits=map_.data_type.bits, swizzle=map_.swizzle
    )
    memory[landed // 4] = np.arange(1, len(boxes) * size + 1).reshape(landed.shape)
    if plan.loads is not None and side.matrix == "A":
        numbers = register_reads(memory, side, plan.loads)[0]
    else:
        numbers = fetch(memory, side, plan.transposed(index))[0]
    box, rest = np.divmod(numbers - 1, size)
    row, channel = np.divmod(rest, extents[0])
    return box, row, channel
