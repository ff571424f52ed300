"""Present the operands of a plan as text or plain data: memory, descriptors, copies, scale factors and metadata.

Invariant: text and data have the same descriptors and the same tensor maps.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
>>> text, kept = " ".join(operand_lines(example, example.a)), OPERAND((example.a, None))
>>> kept["word"] in text, all(f"{name} = {value}" in text for name, value in kept["tensor_map"].items())
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descriptors.gemm.convolution_text import copy_lines
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.metadata import Arrangement
from descriptors.gemm.multicast import masks
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import ENCODE_ARGUMENTS, StagedOperand, dimension_name, encode_arguments
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.promotion import GROUP, PADDED, Promotion
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.records import HALF, PAIR, WORD, Record, Row, attributes
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derivation_text import INTEGERS
from descriptors.smem.operands.operand import DTYPES
from descriptors.smem.tma.map_notation import MAP_ARGUMENTS, map_record
from descriptors.targets import has_wgmma
from descriptors.text import aligned, extents_text, some, some_texts, word_text
from descriptors.tmem.copy_text import PLACED

#: The longest line of a list.
_WIDTH = 116


def word_steps(side: StagedOperand) -> list[tuple[str, tuple[int, ...]]]:
    """Return the numbers that are added to the descriptor of an operand, in 16-byte units, with names of the blocks."""
    letter = "M" if side.matrix == "A" else "N"
    rows = [("K block", side.k_steps), (f"{letter} block", side.mn_steps), ("stage", side.stage_steps)]
    return [(name, row) for name, row in rows if len(row) > 1]


def steps_text(steps: tuple[int, ...]) -> str:
    """Return steps of a descriptor as text; in hexadecimal if they advance LBO too.

    >>> steps_text((0, 2, 4)), steps_text((0, 3, 0x4000006))
    ('0, 2, 4', '0x0, 0x3, 0x4000006')
    """
    return some(map(hex, steps)) if max(steps) >> 16 else some(steps)


def operand_lines(plan: Plan, side: StagedOperand) -> Iterator[str]:
    """Yield the lines of an operand: memory, layout, descriptors or registers, and copies."""
    d, letter = side.derivation, "M" if side.matrix == "A" else "N"
    yield f"{side.matrix}: {extents_text(d.tile[:2])} {d.element} a stage, {d.major}-major, swizzle {d.swizzle}"
    if side.sparse:
        yield f"   stored     {d.tile[1]} of K {plan.asked.tile[2]}, as compress leaves out the zeros"
    if plan.asked.cta_group == 2:
        several = side.run < d.tile[0]
        first, each = f"{2 * side.run} j + " * several, f", for each {letter} block j" * several
        yield f"   half       CTA v of the pair holds {letter} from {first}{side.run} v on, {side.run} of them{each}"
    memory_text = (
        f"{side.stage_bytes} bytes a stage, at {side.base} of shared memory, a multiple of {side.alignment_bytes}"
    )
    yield f"   memory     {memory_text}"
    yield f"   layout     {d.smem_tile}"
    if side.matrix == "A" and plan.loads is not None:
        yield from _loads(plan.loads)
    else:
        yield from _words(side)
    yield from _copies(side) if plan.implicit is None else copy_lines(plan.implicit, side)
    yield from _multicast(plan, side)
    each = f"{len(side.boxes)} x {side.tma.transaction_bytes}"
    yield f"   signals    {side.transaction_bytes} bytes a stage ({each})"


def _copies(side: StagedOperand) -> Iterator[str]:
    arguments = [f"{name} = {value}" for name, value in encode_arguments(side)]
    yield from wrapped("   copies     cuTensorMapEncodeTiled(", [*arguments[:-1], arguments[-1] + ")"], ", ", " " * 16)
    half = " / 2" if side.sparse else ""
    names = ", ".join(
        dimension_name(side.matrix, dimension).replace("K", f"K{half}") for dimension in side.tma.dimensions
    )
    for box in side.boxes:
        box_text = f"box at ({names}) + ({', '.join(map(str, side.coordinates(box)))})"
        yield f"              {box_text} to {side.base + box.offset_bytes} + {side.stage_bytes} s"


def _multicast(plan: Plan, side: StagedOperand) -> Iterator[str]:
    if side.ctas == 1:
        return
    same, other = ("x", "y") if side.matrix == "A" else ("y", "x")
    own = side.own_boxes
    issued = f"box {other}" if own == 1 else f"boxes {own} {other} to {own} {other} + {own - 1}"
    yield f"   multicast  the {side.ctas} CTAs of one {same} need this tile; CTA (x, y) issues {issued}, to all of them"
    sent = [f"{mask:#x} for {same} {position}" for position, mask in enumerate(masks(side.matrix, plan.asked.cluster))]
    yield f"              with ctaMask {', '.join(sent)}; rank of a CTA: x + {plan.asked.cluster[0]} y"


def _words(side: StagedOperand) -> Iterator[str]:
    yield f"   word       {word_text(side.word)} of the first block; add to it, in 16-byte units,"
    for loop_variable, steps in word_steps(side):
        yield f"              {steps_text(steps)} for {loop_variable} 0 to {len(steps) - 1}"
    reach, field = side.derivation.advance_report(side.base), side.derivation.descriptor.word["start_address"]
    verdict = (
        "none: the last start is" if reach.fits_field else f"out of the {field.bits}-bit field: the last start would be"
    )
    yield f"   carry      {verdict} {reach.highest_start // 16} of the field's {field.mask}"
    yield f"   major      {side.bit} = {side.transposed}"


def _loads(loads: LoadedOperand) -> Iterator[str]:
    yield f"   registers  {loads.registers} a thread for an M block of a stage, 4 a K block, in place of a word"
    yield f"   fragment   (thread, value) -> m + 64 k: {loads.fragment.layout}"
    yield f"   loads      {loads.loads} a thread for a K block: {loads.move}"
    if loads.loads == 1:
        points = ", ".join(str(loads.pointer(t)) for t in (0, 1, 8, 16))
        yield f"              threads 0, 1, 8, 16 give the addresses of elements (m, k) = {points} of the K block"


def scales_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of the scale factors and the pointers of every K block; none without scale factors."""
    if plan.scales is None:
        return
    scales = plan.scales
    zeros = "; layouts count K without zeros, as A is stored" if scales.vector != scales.a.vector else ""
    yield f"Scale factors: {scales.dtype}, one for {scales.vector} elements of K{zeros}"
    for name, factors, base, column in zip(
        ("SFA", "SFB"), (scales.a, scales.b), scales.bases, scales.columns, strict=True
    ):
        yield f"   {name}        {factors.bytes} bytes a stage, at {base}: {factors.memory}"
        words = [
            word_text(word)
            for word, target_column in scales.copies()
            if column <= target_column < column + factors.columns
        ]
        yield f"              tcgen05.cp.{factors.copy} to column {column} on; a stage adds {factors.bytes // 16} to"
        yield from wrapped(" " * 14, some_texts(words), ", ")
    rows = [("K block", "%sfa_tmem", "%sfb_tmem")]
    rows += [(str(k), word_text(a, 32), word_text(b, 32)) for k, (a, b) in enumerate(scales.pointers)]
    yield from aligned(rows, indent=3)
    for name, letter, steps in zip(("%sfa_tmem", "%sfb_tmem"), "MN", scales.steps, strict=True):
        if len(steps) > 1:
            yield f"   add to {name}, in columns, {some(steps)} for {letter} block 0 to {len(steps) - 1}"
    yield ""


def metadata_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of the metadata and the part of every K block; none for a dense A."""
    if plan.metadata is None:
        return
    metadata, (m, n, k) = plan.metadata, plan.asked.blocks
    del n
    packed = metadata.packed
    pairs = ", in pairs" if packed.together == 2 else ""
    code = f"a code of 4 bits for {packed.group} elements of A along K"
    yield f"Metadata: {code}, of which {packed.stored} can be not 0{pairs}"
    yield f"   layout     (m, k) -> bit of what pack_metadata returns, for a tile: {metadata.layout}"
    if has_wgmma(packed.arch):
        yield f"   registers  {metadata.registers} a thread for each of {m} M blocks, loaded from global memory: word"
        yield f"              ((m / 64) (K / {packed.covered}) + k / {packed.covered}) 128 + thread of a warpgroup"
        rows = [("K block", "register", "sp-sel"), *((str(i), *map(str, metadata.place(i))) for i in range(k))]
        yield from aligned(rows, indent=3)
        if packed.selectors > 1:
            yield "   selector 0 reads threads t % 4 of 0 and 1, selector 1 those of 2 and 3"
    else:
        yield f"   memory     {metadata.bytes} bytes a stage, at {metadata.base}, as they lie in global memory"
        words = [f"{word_text(word)} to column {column}" for word, column in metadata.copies()]
        yield f"              tcgen05.cp.128x128b, a stage adds {metadata.bytes // 16} to"
        yield from wrapped(" " * 14, words, ", ")
        places = [(word_text(column, 32), str(selector)) for column, selector in map(metadata.place, range(k))]
        rows = [("K block", "%e_tmem", "selector"), *((str(i), *texts) for i, texts in enumerate(places))]
        yield from aligned(rows if packed.selectors > 1 else [row[:2] for row in rows], indent=3)
        if metadata.blocks > 1:
            columns = some(i * metadata.block_columns for i in range(metadata.blocks))
            yield f"   add to %e_tmem, in columns, {columns} for M block 0 to {metadata.blocks - 1}"
    yield ""


def promotion_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of the scale factors of promoted accumulators; none if they are not promoted."""
    if plan.promotion is None:
        return
    promotion, rows = plan.promotion, [plan.promotion.row(t, v) for t, v in ((0, 0), (0, 2), (4, 0), (32, 0))]
    yield f"Scale factors: f32; of A one for a row and {GROUP} of K, of B one for {GROUP} x {GROUP}"
    yield f"   A          at m + {PADDED} ceil(M / {PADDED}) (k / {GROUP}), as pack_a_scales puts them"
    yield f"   B          at k / {GROUP} + ceil(K / {GROUP}) (n / {GROUP})"
    times = f"{promotion.groups} times" if promotion.groups > 1 else "once"
    yield f"   loads      {promotion.a_loads} of A and {promotion.b_loads} of B a thread, {times} a stage"
    yield f"   rows       of an M block: values 0 and 2 of thread 0 are in rows {rows[0]} and {rows[1]}; value 0 of"
    yield f"              threads 4 and 32 in rows {rows[2]} and {rows[3]}"
    blocks = promotion.blocks
    yield f"   promotion  after every {blocks} K blocks sum += accumulator x factor of A x factor of B, in f32"
    yield f"   registers  {promotion.registers} a thread for the sums"
    yield ""


#: The loads of an A in registers.
LOADS = Record(**attributes(LoadedOperand, "layout=fragment.layout move loads registers"))
#: The scale factors of a plan.
SCALES = Record(
    **attributes(Scales, "dtype vector"),
    bases=[int],
    columns=[int],
    bytes=Row(PAIR, lambda scales: (scales.a.bytes, scales.b.bytes)),
    copies=Row([PLACED], lambda scales: scales.copies()),
    pointers=[[HALF, HALF]],
    steps=INTEGERS,
)
#: The promotion of accumulators.
PROMOTION = Record(
    dtype=Row(str, lambda promotion: "f32"),
    vector=Row(int, lambda promotion: GROUP),
    **attributes(Promotion, "registers groups blocks a_loads b_loads"),
)


def _places(plan: Plan) -> list[dict[str, int]]:
    """Return the register or column and the selector of each K block."""
    assert plan.metadata is not None
    name = "register" if has_wgmma(plan.metadata.packed.arch) else "column"
    return [
        {name: place, "selector": selector} for place, selector in map(plan.metadata.place, range(plan.asked.blocks[2]))
    ]


#: The metadata of a plan.
METADATA = Record(
    layout=Row(str, "metadata.layout"),
    **attributes(Arrangement, "group stored rows covered", "metadata.packed"),
    **attributes(Metadata, "registers bytes base", "metadata"),
    block_columns=Row(
        int, lambda plan: plan.metadata.block_columns if plan.metadata.blocks > 1 else None, optional=True
    ),
    copies=Row([PLACED], lambda plan: plan.metadata.copies()),
    k_blocks=Row([({"register": int, "selector": int}, {"column": int, "selector": int})], _places),
)


def _arguments(side: StagedOperand, implicit: ImplicitGemm | None) -> dict[str, str]:
    """Return the arguments of the tensor map of an operand."""
    return dict(encode_arguments(side)) if implicit is None else map_record(implicit.of(side.matrix))


#: An operand, and the convolution that its copies gather.
OPERAND = Record(
    "PlanOperand",
    dtype=Row(DTYPES, "0.derivation.element"),
    **attributes(Derivation, "tile mma major swizzle", "0.derivation"),
    layout=Row(str, "0.derivation.smem_tile"),
    **attributes(StagedOperand, "base stage_bytes alignment_bytes", "0"),
    word=Row(WORD, "0.word"),
    steps=Row({"mn": Row([int], "mn_steps"), "k": Row([int], "k_steps"), "stage": Row([int], "stage_steps")}, "0"),
    transposed=Row(int, "0.transposed"),
    transpose_bit=Row(str, "0.bit"),
    tensor_map=Row((ENCODE_ARGUMENTS, MAP_ARGUMENTS), lambda pair: _arguments(*pair)),
    boxes=Row(
        [{"coordinates": [int], "offset_bytes": int}],
        lambda pair: [(pair[0].coordinates(box), box.offset_bytes) for box in pair[0].boxes],
    ),
    **attributes(StagedOperand, "transaction_bytes run", "0"),
    shared_by=Row(int, "0.ctas"),
)


def wrapped(begin: str, words: Sequence[str], between: str, indent: str = "") -> Iterator[str]:
    """Yield words after a beginning in lines of bounded length."""
    line = begin + words[0]
    for word in words[1:]:
        if len(line) + len(between) + len(word) > _WIDTH:
            yield (line + between).rstrip()
            line = (indent or " " * len(begin)) + word
        else:
            line += between + word
    yield line
