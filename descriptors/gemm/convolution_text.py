"""Present the convolution of a plan as text or plain data: extents, tensor maps and steps of the main loop.

Invariant: text and data have the same tensor maps, and a row for each step.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, verify=False,
...             convolution={"activations": (1, 9, 9, 40), "filters": (8, 3, 3), "padding": 1})
>>> text, kept = " ".join(step_lines(made)), CONVOLUTION(made.implicit)
>>> len(kept["steps"]) == made.implicit.steps == 18, all(str(one["tap"][1]) in text for one in kept["steps"])
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.records import PAIR, TRIPLE, Record, Row, attributes, within
from descriptors.smem.operands.operand import Matrix
from descriptors.smem.tma.convolution import Convolution
from descriptors.smem.tma.map_notation import arguments_text
from descriptors.smem.words.tensor_map import Im2colWindow
from descriptors.text import aligned, counted, extents_text, tuple_text

#: Number of steps that are listed; --json has them all.
_LISTED = 32
#: How the model of im2col copies is known.
_KNOWN = "measured on a Hopper GPU"


def convolution_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the rows of the convolution for ``tell_plan``; none for a plain product."""
    if plan.implicit is None:
        return
    layer, implicit = plan.implicit.convolution, plan.implicit
    yield "conv", f"{layer}: {extents_text(_output(layer))}"
    depth, rest = implicit.tile[2], layer.channels % implicit.tile[2]
    zeros = f", {depth - rest} of them zero in the last of a tap" if rest else ""
    yield "", f"{implicit.headline}: a tap, {depth} channels{zeros}"
    for side in (plan.a, plan.b):
        yield f"map of {side.matrix}", arguments_text(implicit.of(side.matrix))


def _output(layer: Convolution) -> tuple[int, ...]:
    """Return N, P, Q and K."""
    return (layer.images, *layer.outputs, layer.filters)


def _other(layer: Convolution) -> Matrix:
    """Return the operand that contains the filters."""
    return "B" if layer.operand == "A" else "A"


def copy_lines(implicit: ImplicitGemm, side: StagedOperand) -> Iterator[str]:
    """Yield the lines of the copies of an operand.

    Args:
        implicit: the convolution.
        side: the operand.
    """
    tensor_map = implicit.of(side.matrix)
    window = isinstance(tensor_map.box, Im2colWindow)
    yield f"   copies     cuTensorMapEncode{'Im2col' if window else 'Tiled'}: {arguments_text(tensor_map)}"
    for box in side.boxes:
        row, k = side.first_row(box), box.origin[1]
        letter = "M" if side.matrix == "A" else "N"
        start_text = f"from output pixel {letter} + {row}" if window else f"tap, filter {letter} + {row}"
        yield f"              channel + {k}, {start_text} to {side.base + box.offset_bytes} + {side.stage_bytes} s"


def step_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of the steps of the main loop at the first tile; none for a plain product."""
    if plan.implicit is None:
        return
    implicit = plan.implicit
    yield f"Convolution: {counted(implicit.steps, 'step')}, a tap and {implicit.tile[2]} channels each"
    layer = implicit.convolution
    (stride_h, stride_w), (pad_h, pad_w) = layer.stride, layer.padding
    p, q = layer.outputs
    row = f"{p * q} n + {q} p + q"
    yield f"   pixel      (n, p, q) is row {row} of {layer.operand}: a box begins at w = {stride_w} q - {pad_w}"
    yield f"              and h = {stride_h} p - {pad_h}; what a tap's offsets move out of the activations is zero"
    pixels, filters = layer.operand, _other(layer)
    rows: list[tuple[object, ...]] = [
        ("step", "tap r,s", f"{pixels} c,w,h,n", "offsets w,h", f"{filters} c,tap,filter")
    ]
    for step in range(min(implicit.steps, _LISTED)):
        *coordinates, right, down = implicit.place(pixels, step, 0)
        places = (coordinates, (right, down), implicit.place(filters, step, 0))
        rows.append((step, _joined(layer.tap(implicit.step(step)[0])), *map(_joined, places)))
    yield from aligned(rows, ">", indent=3)
    if implicit.steps > _LISTED:
        yield f"   ... and {implicit.steps - _LISTED} more (--json has them all)"
    yield ""


def _joined(numbers: Any) -> str:
    return tuple_text(numbers)


#: The extents of a convolution as plain data.
EXTENTS = Record(
    activations=Row([int], attrgetter("images", "height", "width", "channels")),
    filters=Row([int], lambda convolution: (convolution.filters, *convolution.taps)),
    **attributes(Convolution, "stride dilation padding operand"),
    output=Row([int], _output),
)


def _steps(implicit: ImplicitGemm) -> Iterator[tuple[object, ...]]:
    """Yield the tap, the coordinates of the pixels, their offsets and the coordinates of the filters of each step."""
    convolution = implicit.convolution
    for step in range(implicit.steps):
        pixels = implicit.place(convolution.operand, step, 0)
        yield (
            convolution.tap(implicit.step(step)[0]),
            pixels[:4],
            pixels[4:],
            implicit.place(_other(convolution), step, 0),
        )


#: The convolution of a plan as plain data.
CONVOLUTION = Record(
    **within("convolution", **EXTENTS.rows),
    tiles=[int],
    steps=Row([{"tap": PAIR, "pixels": [int], "offsets": PAIR, "filters": TRIPLE}], _steps),
    evidence=Row(str, lambda implicit: _KNOWN),
)
