"""Text and JSON records of convolutions by shifts: their lanes, the steps of a filter row, the savings, and the proof.

Invariant: text and record contain the same masks, and the text of a proof the same numbers as its record.

>>> from descriptors.tmem.shift_convolution import shift_convolution
>>> shifted = shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> lines = [line for line in tell_convolution(shifted).splitlines() if "masks 0x" in line]
>>> masks = [step["masks"] for step in record_convolution(shifted)["steps"] if step.get("masked")]
>>> [line.split("  masks ")[1].split()[:4] for line in lines] == masks[:2]
True
>>> proof = ShiftProof(8, 2, "all", Outcome(0), Outcome(3, (0, 1, 2, 0, 5, 6)))
>>> print(tell_proof(proof))
if one tcgen05.shift moves its own quarter alone: 3 of 8 outputs wrong, the first (n,p,q,filter) = (0,1,2,0): 5 for 6
proved: 8 outputs equal those of the definition, by 2 multiplications simulated on whole numbers
>>> record_proof(proof)["otherwise"]["wrong"]
3
"""

from __future__ import annotations

from typing import Any

from descriptors.records import HALF, PAIR, TEXT, WORD, Named, Option, Record, Row, attributes, each, within
from descriptors.smem.operands.operand import DTYPES, SwizzleMode
from descriptors.smem.tma.convolution import Convolution
from descriptors.smem.tma.map_notation import IM2COL_ARGUMENTS, arguments_text, map_record
from descriptors.smem.words.tensor_map import Im2colWindow, TensorMap, TmaError
from descriptors.text import aligned, counted, extents_text, tuple_text, word_text
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.geometry import LANES, weakest
from descriptors.tmem.shift_convolution import EVIDENCE, Outcome, ShiftConvolution, ShiftProof
from descriptors.tmem.shift_copies import RowCopies
from descriptors.tmem.shift_steps import ROW_BYTES, TAPS, ShiftProblem, ShiftStep, Traffic, table
from descriptors.tmem.shift_views import View, ViewedConvolution, ViewedProof

#: The question that no source settles, by the assumption of the steps.
_NOT_SETTLED = {
    "all": "whether one tcgen05.shift moves all quarters, as here, or the one of its address (--quarters one)",
    "one": "whether one tcgen05.shift moves the quarter of its address, as here, or all (--quarters all)",
}
_ORDER = "a multiply, shift, refresh, multiply keep their order; to be waited for: zeros, and what reads before a load"
_STAGED = "a refresh reads 4 rows that stand 32 places apart: they lie in shared memory once more, side by side"


def tell_convolution(
    convolution: ShiftConvolution, report: ShiftProof | None = None, row: int = 0, tile: int = 0
) -> str:
    """Return the text of a convolution.

    Args:
        convolution: the convolution.
        report: the result of its verification, for the last lines.
        row: the output row whose steps are shown.
        tile: the tile of that row.

    >>> from descriptors.tmem.shift_convolution import shift_convolution
    >>> print(tell_convolution(shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))).splitlines()[1])
       output   2x9x9x16, 9 rows of 18 places, 1 tile each: output (n, q) of a row has place 9 n + q
    """
    one = convolution.problem
    sizes, element = extents_text((one.images, one.height, one.width, one.channels)), convolution.element
    ranges = ", ".join(f"[{a},{a + 8})" for a in convolution.a_columns)
    lines = [
        f"convolution of {sizes} {element} by {counted(one.filters, 'filter')} of {extents_text(one.taps)}, "
        f"padding {extents_text(one.padding)}, A shifted in tensor memory",
        f"   output   {extents_text(_output(one))}, {counted(one.rows, 'row')} of "
        f"{counted(one.places, 'place')}, {counted(convolution.tiles, 'tile')} each: output (n, q) of a row has place "
        f"{one.width} n + q",
        f"   tap s    reads place {one.width} n + q + s - {one.padding[1]}; masked where it is padding",
        f"   columns  D [0,{one.filters}), A {ranges} by turns; allocate {convolution.allocate}",
    ]
    lines += copy_lines(convolution)
    steps = convolution.steps(row, tile)
    first_run = _first_run(steps)
    lines.append(f"row {row}, tile {tile}: {counted(len(steps), 'step')}; {_which_run(steps, first_run)}")
    rows = [(i, step.kind, *_words(convolution, step)) for i, step in enumerate(first_run)]
    lines += aligned(rows, "><<<", indent=3)
    lines = [line.rstrip() for line in lines]
    lines += ["rows from shared to tensor memory, for a filter row of S taps, a tile of 128 lanes and a K step:"]
    lines += _savings(convolution)
    lines += [f"   order    {_ORDER}", f"   source   {_STAGED}"]
    lines += [f"   known    {what}: {grade}" for what, grade in EVIDENCE]
    lines.append(f"   not settled: {_NOT_SETTLED[convolution.quarters]}")
    return "\n".join([*lines, tell_proof(report)] if report is not None else lines)


def copy_lines(convolution: ShiftConvolution) -> list[str]:
    """Return the lines about the tensor maps of the flat rows and the descriptors of the copies to tensor memory."""
    problem = convolution.problem
    try:
        load, refresh = (tensor_map for tensor_map, _ in row_maps(convolution))
    except TmaError as error:
        return [f"   from NHWC  no tensor map: {error}"]
    step = f"{problem.step} (p mod {problem.width})" if problem.step > 1 else f"p mod {problem.width}"
    first = f"{problem.first} + " if problem.first else ""
    assert isinstance(refresh.box, Im2colWindow)
    return [
        f"   load     cuTensorMapEncodeIm2col, C W N H: {arguments_text(load)}",
        f"            from place p at (c, {first}{step}, p div {problem.width}, h); zeros are the halo",
        f"   refresh  the same, pixels={refresh.box.pixels} swizzle=128B, four copies 128 bytes apart",
        *(
            f"   word     {word_text(word)} of {name}"
            for (_, word), name in zip(row_maps(convolution), _COPIES, strict=True)
        ),
    ]


#: The copies from shared to tensor memory.
_COPIES = ("tcgen05.cp.128x256b, of a load at address 0", "tcgen05.cp.4x256b, of a refresh at address 0")


def row_maps(convolution: ShiftConvolution) -> tuple[tuple[TensorMap, int], ...]:
    """Return the tensor maps of a load and of a refreshed row, each with the descriptor of its copy to tensor memory.

    Raises:
        TmaError: if the driver rejects a map.
    """
    copies, element, channels = RowCopies(convolution.problem), convolution.element, convolution.step_channels
    maps = []
    for rows, places, swizzle, copy in ((LANES, LANES, "32B", "128x256b"), (4, 1, "128B", "4x256b")):
        mode = SwizzleMode(swizzle)
        tile = (rows, mode.span_bytes * 8 // element.bits)
        word = tmem_copied(tile, element.name, mode, copy).steps[0].word
        maps.append((copies.tensor_map(element, channels, places, mode), word))
    return tuple(maps)


def _first_run(steps: tuple[ShiftStep, ...]) -> tuple[ShiftStep, ...]:
    """Return the steps up to the second load: the taps of one filter row and K step."""
    loads = [i for i, step in enumerate(steps) if step.kind == "load"]
    return steps[: loads[1]] if len(loads) > 1 else steps


def _which_run(steps: tuple[ShiftStep, ...], first_run: tuple[ShiftStep, ...]) -> str:
    loads = sum(step.kind == "load" for step in steps)
    if loads == 0:
        return "every tap of the row is in the padding"
    tap = next(step.tap for step in first_run if step.kind == "load")
    return f"those of the first of {counted(loads, 'load')}, filter row {tap.r}, K step {tap.k}"


def _words(convolution: ShiftConvolution, step: ShiftStep) -> tuple[str, str]:
    """Return the instruction of a step, and a description of its effect."""
    group = f"cta_group::{convolution.cta_group}"
    if step.kind == "clear":
        return "tcgen05.st, every warp", f"zeros to D, columns [0,{convolution.problem.filters})"
    if step.kind == "load":
        spans = ", ".join(f"{place} to {place + 127}" for place in step.places)
        return f"tcgen05.cp.{group}.128x256b", f"places {spans}"
    if step.kind == "shift":
        which = "each quarter" if convolution.quarters == "all" else f"lanes {step.lane} to {step.lane + 31}"
        return (
            f"tcgen05.shift.{group}.down",
            f"at lane {step.lane}: lane l takes l + 1 in {which}, the last keeps its row",
        )
    if step.kind == "refresh":
        lanes = ", ".join(str(step.lane + 32 * i) for i in range(4))
        return f"tcgen05.cp.{group}.4x256b", f"lanes {lanes}: places {', '.join(map(str, step.places))}"
    lanes_off = step.masked_lanes()
    off = f"  lanes {_some(lanes_off)} off" if lanes_off else ""
    added = "" if step.enable_input_d else "  enable-input-d false"
    words = " ".join(word_text(mask, 32) for mask in step.masks) if lanes_off else "0"
    return f"tcgen05.mma.{group}.kind::{convolution.kind}", f"tap {step.tap.s}  masks {words}{off}{added}"


def _some(lanes: tuple[int, ...]) -> str:
    return ", ".join(map(str, lanes[:8])) + (", ..." if len(lanes) > 8 else "")


def _savings(convolution: ShiftConvolution) -> list[str]:
    rows = TRAFFIC.table(_widths(convolution))
    total = convolution.copied
    total_bytes = f"{total.rows * ROW_BYTES} bytes instead of {total.plain * ROW_BYTES}"
    return [*aligned(rows, ">", indent=3), f"   in all: {total.rows} rows instead of {total.plain}, {total_bytes}"]


def _steps(convolution: ShiftConvolution, row: int = 0, tile: int = 0) -> list[tuple[ShiftConvolution, ShiftStep]]:
    return [(convolution, step) for step in convolution.steps(row, tile)]


def _output(problem: ShiftProblem) -> list[int]:
    return [problem.images, problem.rows, problem.columns, problem.filters]


def _widths(convolution: ShiftConvolution) -> tuple[Traffic, ...]:
    """Return the traffic for filters of the usual widths and of this width."""
    return table(sorted({*TAPS, convolution.problem.taps[1]}))


def _maps(convolution: ShiftConvolution) -> dict[str, Any]:
    """Return the records of the tensor maps, with the names of ``cuda.h``; empty if the driver rejects a map."""
    try:
        maps = row_maps(convolution)
    except TmaError:
        return {}
    return {
        name: {"by": "cuTensorMapEncodeIm2col", "dimensions": "C W N H", **map_record(tensor_map), "word": word}
        for name, (tensor_map, word) in zip(("load", "refresh"), maps, strict=True)
    }


def _views(viewed: ViewedConvolution) -> list[tuple[range, range, range, View, ShiftConvolution]]:
    """Return the outputs q, the taps s and the activations w of each view, the view and its convolution."""
    whole = viewed.convolution
    return [
        (view.outputs(whole), view.taps(whole), _activations(view, part), view, part)
        for view, part in zip(viewed.views, viewed.parts, strict=True)
    ]


def _viewed_output(whole: Convolution) -> list[int]:
    return [whole.images, *whole.outputs, whole.filters]


def _activations(view: View, part: ShiftConvolution) -> range:
    """Return the activations along W that a view reads."""
    return range(view.first, view.first + view.step * part.problem.width, view.step)


def _span(numbers: range) -> str:
    """Return the first, the second and the last of some numbers, as text."""
    listed = [str(number) for number in (*numbers[:2], *numbers[2:][-1:])]
    return ", ".join([*listed[:2], *(["..."] if len(numbers) > 3 else []), *listed[2:]])


#: The record of the outputs that differ from the definition.
OUTCOME = Record(
    "Outcome",
    wrong=int,
    first=(
        {
            "output": Row([int], lambda first: list(first[:-2])),
            "found": Row(int, lambda first: first[-2]),
            "must_be": Row(int, lambda first: first[-1]),
        },
        None,
    ),
)
#: The record of a verification.
record_proof = Record(
    **attributes(ShiftProof, "ok outputs multiplications quarters"), wrong=Row(OUTCOME, "outcome"), otherwise=OUTCOME
)
#: The record of the verification of a convolution through views.
record_viewed_proof = Record(**attributes(ViewedProof, "ok outputs multiplications"), wrong=Row(OUTCOME, "outcome"))

_STEP = {"instruction": Row(str, lambda pair: _words(*pair)[0])}
#: The instruction of a step and its tap.
_AT = {
    **_STEP,
    **within("1.tap", **each(int, "r s"), k_step=Row(int, "k")),
    "a_column": Row(int, lambda pair: pair[0].a_columns[pair[1].tap.a_range]),
}


def _step(kinds: set[str], **rows: Row) -> Record:
    """Return the declaration of the steps of some kinds; its answers are pairs of the convolution and the step."""
    return Record("", lambda pair: pair[1].kind in kinds, kind=Row(kinds, "1.kind"), **rows)


#: The record of a step.
STEP = Named(
    "ShiftStep",
    (
        _step({"clear"}, **_STEP),
        _step(
            {"load", "refresh", "shift"},
            **_AT,
            lane=Row(int, "1.lane"),
            places=Row([int], lambda pair: list(pair[1].places) or None, optional=True),
        ),
        _step(
            {"multiply"},
            **_AT,
            masks=Row([HALF], lambda pair: list(pair[1].masks)),
            masked=Row([int], lambda pair: list(pair[1].masked_lanes())),
            enable_input_d=Row(bool, "1.enable_input_d"),
        ),
    ),
)
#: The record of the tensor map of a load or a refresh, and of the descriptor of its copy to tensor memory.
MAP = Record("ShiftMap", **each(str, "by dimensions"), **IM2COL_ARGUMENTS, swizzle=str, word=WORD)
#: The record of the rows that are copied, with and without shifts.
TRAFFIC = Record(
    "Traffic",
    taps=Row(int, label="S"),
    rows=Row(int, label="shifted"),
    rows_without=Row(int, "plain", "loaded each"),
    bytes=Row(int, lambda traffic: traffic.rows * ROW_BYTES),
    bytes_without=Row(int, lambda traffic: traffic.plain * ROW_BYTES),
    saved=Row(float, lambda traffic: round(traffic.saved, 4), "saved", lambda traffic: f"{100 * traffic.saved:.1f}%"),
)
#: The extents of a convolution.
_EXTENTS = {
    "activations": Row([int], lambda problem: [problem.images, problem.height, problem.width, problem.channels]),
    "filters": Row([int], lambda problem: [problem.filters, *problem.taps, problem.channels]),
}
SHIFT = Record(
    "Shift",
    **within("problem", **_EXTENTS, output=Row([int], _output), padding=PAIR, **each(int, "stride_h dilation_h")),
    dtype=Row(DTYPES, "element"),
    **attributes(ShiftConvolution, "kind cta_group quarters start tiles allocate a_columns"),
    row=Row(int, Option("row", 0)),
    tile=Row(int, Option("tile", 0)),
    steps=Row([STEP], _steps),
    traffic=Row([TRAFFIC], _widths),
    copied=TRAFFIC,
    tensor_maps=Row(({"load": MAP, "refresh": MAP}, {}), _maps),
    proof=Row((record_proof, None), Option("report")),
    not_settled=Row(str, lambda convolution: _NOT_SETTLED[convolution.quarters]),
    evidence=Row(str, lambda convolution: weakest(*(grade for _, grade in EVIDENCE))),
    evidence_of=Row({str: str}, lambda convolution: dict(EVIDENCE)),
)


def record_convolution(
    convolution: ShiftConvolution, report: ShiftProof | None = None, row: int = 0, tile: int = 0
) -> dict[str, Any]:
    """Return the record of a convolution, with all steps of one tile.

    Args:
        convolution: the convolution.
        report: the result of its verification.
        row: the output row.
        tile: the tile of that row.

    >>> from descriptors.tmem.shift_convolution import shift_convolution
    >>> record_convolution(shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)))["output"]
    [2, 9, 9, 16]
    """
    return SHIFT(convolution, report=report, row=row, tile=tile, steps=_steps(convolution, row, tile))


def tell_proof(proof: ShiftProof) -> str:
    """Return the text of a verification."""
    by = f"by {counted(proof.multiplications, 'multiplication')} simulated on whole numbers"
    reach = "its own quarter alone" if proof.quarters == "all" else "every quarter"
    lines = [f"if one tcgen05.shift moves {reach}: {_wrong(proof.otherwise, proof.outputs)}"]
    if proof.ok:
        lines.append(f"proved: {counted(proof.outputs, 'output')} equal those of the definition, {by}")
    else:
        lines.append(f"wrong: {_wrong(proof.outcome, proof.outputs)}; {by}")
    return "\n".join(lines)


def tell_views(convolution: ViewedConvolution, report: ViewedProof | None = None) -> str:
    """Return the text of a convolution through views.

    Args:
        convolution: the convolution.
        report: the result of its verification, for the last line.

    >>> from descriptors.tmem.shift_views import shift_views
    >>> print(*tell_views(shift_views((1, 5, 9, 16), (16, 3, 3), stride=2)).splitlines()[:3], sep="\\n")
    convolution of 1x5x9x16 by 16 filters of 3x3, stride 2x2, through 2 views of W, A shifted in tensor memory
       output   1x2x4x16, 18 multiplications: each view a convolution of stride and dilation 1 along W, none masked
       view  outputs q     taps s  activations w  tiles  multiplications
    """
    whole = convolution.convolution
    output = extents_text(_viewed_output(whole))
    lines = [
        f"convolution of {whole}, through {counted(len(convolution.views), 'view')} of W, A shifted in tensor memory",
        f"   output   {output}, {counted(convolution.multiplications, 'multiplication')}: each view a convolution of "
        "stride and dilation 1 along W, none masked",
        *aligned(VIEW.table(_views(convolution), number="view"), indent=3),
        "of view 0; the others begin at other activations:",
        *copy_lines(convolution.parts[0]),
        *(f"   known    {what}: {grade}" for what, grade in EVIDENCE),
    ]
    return "\n".join([*lines, report.headline] if report is not None else lines)


#: The record of a view of a convolution.
VIEW = Record(
    q=Row([int], lambda view: list(view[0]), "outputs q", lambda view: _span(view[0])),
    s=Row([int], lambda view: list(view[1]), "taps s", lambda view: _span(view[1])),
    w=Row(TEXT, label="activations w", text=lambda view: _span(view[2])),
    **attributes(View, "first step", "3"),
    **within("4", **SHIFT.rows) | {"tiles": Row(int, "4.tiles", "tiles")},
    multiplications=Row(TEXT, "4.multiplications", "multiplications"),
)
#: The record of a convolution through views, with the steps of the first tile of each view; the option ``report`` is
#: the result of its verification.
record_views = Record(
    **within("convolution", **_EXTENTS, output=Row([int], _viewed_output), **each(PAIR, "stride dilation padding")),
    multiplications=int,
    views=Row([VIEW], _views),
    proof=Row((record_viewed_proof, None), Option("report")),
    evidence=Row(str, lambda viewed: weakest(*(grade for _, grade in EVIDENCE))),
)


def tell_viewed_proof(proof: ViewedProof) -> str:
    """Return the text of the verification of a convolution through views."""
    return proof.headline


def _wrong(outcome: Outcome, outputs: int) -> str:
    if outcome.first is None:
        return f"no output of {outputs} wrong"
    *place, output, right = outcome.first
    count = f"{outcome.wrong} of {counted(outputs, 'output')} wrong"
    return f"{count}, the first (n,p,q,filter) = {tuple_text(place)}: {output} for {right}"
