"""Every public operation against every kind of operand that it has no meaning for: a LayoutError in its own words.

A row of the table is an operation with operands that it takes, and, for each place, who speaks up (an operation that
only hands its operand on lets the next one speak) and which of the odd operands it takes there after all.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pytest
from each import each

import layoutalg as la
from layoutalg import (
    ComposedLayout,
    CoordinateError,
    F2Matrix,
    Layout,
    LayoutError,
    LinearLayout,
    Swizzle,
    copy_atom,
    fragment,
    make_tiled_copy_tv,
    make_tiled_mma,
    mma_atom,
    parse_layout,
)


def nested(levels: int) -> Any:
    return reduce(lambda value, _: (value,), range(levels), 4)


PLAIN = Layout((8, 8), (8, 1))
SWIZZLE = Swizzle(3, 4, 3)
COMPOSED = ComposedLayout(Swizzle(1, 2, 1), 0, PLAIN)
ODD: dict[str, Any] = {
    "8": 8,
    "0": 0,
    "-1": -1,
    "2**70": 2**70,
    "text": "x",
    "None": None,
    "True": True,
    "float": 1.0,
    "list": [4, 2],
    "empty": (4, 0),
    "mixed": (4, "x"),
    "nested": nested(80),
    "bottomless": nested(5000),
    "swizzle": SWIZZLE,
    "composed": COMPOSED,
}
ANYTHING = " ".join(ODD)
ATOM = mma_atom("mma.m16n8k16.f16")


class Place(NamedTuple):
    """An operand that is taken, the operand that says no where another stands, and the odd ones that are taken too."""

    good: Any
    says: str
    takes: str = ""


def layout(says: str, takes: str = "composed", good: Any = PLAIN) -> Place:
    return Place(good, says, takes)


def shape(good: Any, takes: str = "") -> Place:
    return Place(good, "Layout", takes)


def tiler(says: str, takes: str = "8", good: Any = (4, 2)) -> Place:
    """The divides by another name hand the tiler to the logical one, once they have seen that it is not too deep."""
    return Place(good, says, takes)


def free(good: Any) -> Place:
    """A place where nothing is odd, since the operation looks at it as it does at all else."""
    return Place(good, "", ANYTHING)


ARRAY = np.arange(64)
MATRIX = F2Matrix((4, 8, 16, 32, 64), 7)
LINEAR = LinearLayout({"lane": [(1,), (2,)]}, {"offset": 4})
LANES = range(0, 128, 4)
MODE = Place([0], "", "None 0")
EXTENT = "8 0 -1 empty composed"  # looking at a shape does not ask whether its extents are positive

OPERATIONS: dict[str, tuple[Place, ...]] = {
    "composition": (
        layout("composition", "swizzle composed"),
        Place(Layout(4, 2), "composition|Layout", "8 None swizzle composed"),
    ),
    "coalesce": (layout("coalesce"), Place((1, 1), "coalesce", ANYTHING.replace("nested bottomless", ""))),
    "filter_zeros": (layout("filter_zeros"), Place((1, 1), "filter_zeros", "None empty mixed")),
    "filter": (layout("filter"),),
    "complement": (layout("complement", ""), Place(64, "complement", "8")),
    "logical_divide": (layout("logical_divide"), tiler("logical_divide", "8 None")),
    "zipped_divide": (layout("zipped_divide"), tiler("logical_divide|zipped_divide")),
    "tiled_divide": (layout("tiled_divide"), tiler("logical_divide|tiled_divide")),
    "flat_divide": (layout("flat_divide"), tiler("logical_divide|flat_divide")),
    "logical_product": (layout("logical_product"), tiler("logical_product", "8 None")),
    "zipped_product": (layout("zipped_product"), tiler("logical_product|zipped_product")),
    "tiled_product": (layout("tiled_product"), tiler("logical_product|tiled_product")),
    "flat_product": (layout("flat_product"), tiler("logical_product|flat_product")),
    "blocked_product": (layout("blocked_product"), layout("blocked_product", "")),
    "raked_product": (layout("raked_product"), layout("raked_product", "")),
    "tile_to_shape": (
        layout("tile_to_shape"),
        Place((16, 16), "Layout|tile_to_shape"),
        Place((0, 1), "tile_to_shape|make_ordered_layout", "None empty"),
    ),
    "right_inverse": (layout("right_inverse"),),
    "left_inverse": (layout("left_inverse"),),
    "nullspace": (layout("nullspace", ""),),
    "max_common_layout": (layout("max_common_layout"), layout("max_common_layout")),
    "max_common_vector": (layout("max_common_layout"), layout("max_common_layout")),
    "make_composed_layout": (
        Place(SWIZZLE, "ComposedLayout", "swizzle composed"),
        Place(0, "ComposedLayout", "8 0 -1 empty"),
        layout("ComposedLayout"),
    ),
    "make_identity_layout": (shape((4, 2), "8"),),
    "make_layout": (shape((4, 2)), shape((2, 1), "None empty")),
    "make_layout_like": (layout("make_layout_like"),),
    "make_ordered_layout": (
        Place((4, 2), "Layout|make_ordered_layout"),
        Place((1, 0), "make_ordered_layout", "8 0 -1 empty"),
    ),
    "tuple_add": (Place((1, 2), "tuple_add", "0 empty"), Place((3, 4), "tuple_add", "0 empty")),
    "tuple_sub": (Place((1, 2), "tuple_sub", "0 empty"), Place((3, 4), "tuple_sub", "0 empty")),
    "product_each": (Place((2, (3, 4)), "product_each", "8 0 -1 empty"),),
    "shape_div": (Place((8, 10), "shape_div", "0 -1 empty"), Place((2, 5), "shape_div", "8 -1")),
    "ceil_div": (
        Place((8, 10), "ceil_div", "8 0 -1 empty"),
        Place((2, 5), "ceil_div|zipped_divide|logical_divide", "8"),
    ),
    "increment_coord": (Place((1, 2), "increment_coord", ""), Place((4, 8), "increment_coord", "empty")),
    "elem_less": (Place((1, 2), "elem_less", "0 empty"), Place((4, 8), "elem_less", "empty")),
    "with_shape": (layout("composition", "swizzle composed"), shape((4, 2), "8")),
    "append": (Place(PLAIN, "shape", EXTENT), layout("append", ""), Place(4, "append", "8 0 -1 None")),
    "prepend": (Place(PLAIN, "shape", EXTENT), layout("prepend", ""), Place(4, "prepend", "8 0 -1 None")),
    "flatten": (Place(PLAIN, "flatten", ANYTHING.replace("nested bottomless", "")),),
    "group_modes": (
        Place(PLAIN, "shape|group_modes", "empty composed"),
        Place(0, "group_modes", "0"),
        Place(2, "group_modes", "-1 None"),
    ),
    "select": (free(PLAIN), Place([0], "select", "None 0")),
    "downcast": (layout("downcast"), Place(2, "downcast", "8")),
    "upcast": (layout("upcast"), Place(2, "upcast", "8")),
    "recast_layout": (Place(8, "recast_layout", "8"), Place(16, "recast_layout", "8"), layout("recast_layout")),
    "dice": (
        Place(PLAIN, "slice", "empty mixed composed"),
        Place((1, None), "dice", ANYTHING.replace("nested bottomless", "")),
    ),
    "slice_": (layout("Layout|slice"), Place((1, None), "coordinate|slice_and_offset", "8 0 None empty")),
    "slice_and_offset": (Place((1, None), "coordinate|slice_and_offset", "8 0 None empty"), layout("slice_and_offset")),
    "draw": (layout("draw", "swizzle composed"),),
    "symbol": (Place("m", "symbol", "text"),),
    "prove": (layout("prove"), layout("prove")),
    "local_partition": (
        layout("local_partition"),
        shape(Layout((4, 2)), "8"),
        Place(3, "local_partition", "0 True float"),
    ),
    "local_tile": (
        layout("local_tile"),
        tiler("logical_divide|zipped_divide"),
        Place((1, 2), "slice|coordinate|slice_and_offset", "8 0 None"),
    ),
    "cosize": (layout("cosize"), MODE._replace(says="cosize")),
    "crd2idx": (Place((1, 2), "crd2idx|coordinate", "8 0 empty"), layout("Layout|coordinate")),
    "idx2crd": (Place(3, "idx2crd|coordinate", "8 0 empty"), shape((4, 2), "8 composed")),
    "depth": (Place(PLAIN, "shape", EXTENT + " mixed"), MODE._replace(says="depth")),
    "rank": (Place(PLAIN, "shape", EXTENT + " mixed"), MODE._replace(says="rank")),
    "size": (Place(PLAIN, "shape", EXTENT + " mixed"), MODE._replace(says="size")),
    "get": (free(PLAIN), MODE._replace(says="get")),
    "is_congruent": (Place(PLAIN, "shape", EXTENT), Place(PLAIN, "shape", EXTENT)),
    "is_weakly_congruent": (Place(PLAIN, "shape", EXTENT), Place(PLAIN, "shape", EXTENT)),
    "leading_dim": (shape((4, 2)), shape((2, 1), "None empty")),
    "from_offsets": (Place([0, 1, 2], "from_offsets", "list empty"),),
    "offsets": (layout("offsets"), Place(np.int32, "offsets", "None")),
    "gather": (Place(ARRAY, "gather"), layout("gather")),
    "scatter": (Place(ARRAY.copy(), "scatter"), layout("scatter"), Place(1, "scatter", "8 0 -1 True float")),
    "strided_view": (Place(ARRAY, "strided_view"), layout("strided_view", ""), Place(0, "strided_view", "0")),
    "Layout": (shape((4, 2)), shape((2, 1), "None empty")),
    "ComposedLayout": (
        Place(SWIZZLE, "ComposedLayout", "swizzle composed"),
        Place(0, "ComposedLayout", "8 0 -1 empty"),
        layout("ComposedLayout"),
    ),
    "broken_law": (Place("coalesce", "broken_law"), layout("broken_law"), layout("broken_law")),
    "law_names": (),
    "jit": (Place(len, "jit", "swizzle composed"),),
    "make_swizzle": (Place(1, "Swizzle", "0"), Place(2, "Swizzle", "8 0"), Place(3, "Swizzle", "8 -1")),
    "Swizzle": (Place(1, "Swizzle", "0"), Place(2, "Swizzle", "8 0"), Place(3, "Swizzle", "8 -1")),
    "ScaledBasis": (Place(1, "ScaledBasis", "8 0 -1"), Place((0,), "ScaledBasis", "8 0 list empty")),
    "E": (Place((0,), "ScaledBasis", "8 0 list empty"),),
    "parse_layout": (Place("4:1", "notation"),),
    "parse_int_tuple": (Place("4", "notation", "text"),),
    "parse_encoding": (Place("SwizzledSharedLayout(8, 1, 8, [1, 0]) 8x64", "notation", "text"),),
    "parse_pointer": (Place("ptr[16b](unset)", "notation", "text"),),
    "Pointer": (Place(16, "Pointer", "8"), Place("smem", "Pointer", "text"), Place(0x400, "Pointer", "8 0 None")),
    "evaluate": (Place("size(4:1)", "notation", "text"),),
    "explain": (Place("size(4:1)", "notation", "text"),),
    "substitute": (Place(PLAIN, "substitute", ANYTHING.replace("nested bottomless", "")), Place({}, "substitute")),
    "symbols_of": (Place(PLAIN, "symbols_of", ANYTHING.replace("nested bottomless", "")),),
    "to_f2": (layout("to_f2", "composed swizzle"), Place(6, "to_f2", "8 None")),
    "to_f2_affine": (layout("to_f2"), Place(6, "to_f2", "8 None")),
    "from_f2": (Place(MATRIX, "from_f2"), Place((8, 4), "from_f2|Layout", "None")),
    "F2Matrix": (Place([1, 2], "F2Matrix"), Place(2, "F2Matrix", "8 None")),
    "to_linear_layout": (
        layout("to_linear_layout"),
        Place(["a", "b"], "to_linear_layout"),
        Place(["o"], "to_linear_layout", "text"),
    ),
    "from_linear_layout": (Place(LINEAR, "from_linear_layout"),),
    "LinearLayout": (Place({"a": [(1,), (2,)]}, "LinearLayout"), Place({"o": 4}, "LinearLayout", "text")),
    "access": (Place(LANES, "banks", "empty"), Place(4, "banks"), Place(32, "banks", "8"), Place(4, "banks", "8")),
    "bank_group": (Place(64, "banks", "8 0"), Place(128, "banks")),
    "wavefronts": (Place(LANES, "banks", "empty"), Place(4, "banks"), Place(32, "banks", "8"), Place(4, "banks", "8")),
    "accesses": (
        layout("banks", "composed swizzle"),
        layout("banks", good=Layout((32, 2))),
        Place(4, "banks"),
        Place(4, "banks", "None"),
        Place(32, "banks", "8"),
        Place(4, "banks", "8"),
    ),
    "AccessPattern": (
        Place(Layout(32, 1), "banks|AccessPattern", "empty composed"),
        Place(4, "banks|AccessPattern", "8"),
    ),
    "conflicts_by_rank": (Place(MATRIX, "banks"), Place(4, "banks"), Place(32, "banks", "8"), Place(4, "banks", "8")),
    "wavefronts_by_rank": (Place(MATRIX, "banks"), Place(4, "banks"), Place(32, "banks", "8"), Place(4, "banks", "8")),
    "find_swizzle": (
        layout("find_swizzle"),
        Place(Layout((32, 2)), "banks|find_swizzle", "empty composed"),
        Place(4, "find_swizzle|banks"),
        Place(4, "banks|AccessPattern", "None"),
    ),
    "swizzle_mode": (Place(SWIZZLE, "swizzle_mode", "swizzle"),),
    "fragment": (Place("mma.m16n8k16.C", "fragment"),),
    "Fragment": (
        Place("mine", "Fragment", "text"),
        Place((16, 8), "Fragment"),
        layout("Fragment", ""),
    ),
    "moves": (
        Place(fragment("ldmatrix.x4"), "moves"),
        layout("moves", "", Layout((64, 64), (64, 1))),
        Place(2, "moves", "8"),
        Place(16, "moves|AccessPattern", "None"),
    ),
    "make_layout_tv": (layout("make_layout_tv", "", Layout(8)), layout("make_layout_tv", "", Layout(4))),
    "mma_atom": (Place("wgmma.m64n8k16", "mma_atom"), Place("rmem", "mma_atom")),
    "MmaAtom": (Place((16, 8, 16), "MmaAtom"), *[layout("MmaAtom", "")] * 3),
    "make_tiled_mma": (
        Place(ATOM, "TiledMma|mma_atom"),
        Place((2, 2, 1), "TiledMma|Layout"),
        Place((None, None, None), "TiledMma", "None"),
    ),
    "TiledMma": (
        Place(ATOM, "TiledMma"),
        layout("TiledMma", "", Layout((2, 2, 1))),
        Place((None, None, None), "TiledMma"),
    ),
    "copy_atom": (Place(4, "copy_atom|Layout", "8"), Place(16, "copy_atom", ANYTHING)),
    "CopyAtom": (*[layout("CopyAtom", "")] * 3,),
    "make_tiled_copy": (
        Place(4, "TiledCopy|copy_atom|Layout", "8"),
        layout("TiledCopy", ""),
        Place((8, 8), "TiledCopy", "empty"),
    ),
    "make_tiled_copy_tv": (
        Place(4, "TiledCopy|copy_atom|Layout"),
        layout("make_layout_tv", "", Layout(8)),
        layout("make_layout_tv", "", Layout(4)),
    ),
    "TiledCopy": (
        Place(copy_atom(4), "TiledCopy"),
        layout("TiledCopy", ""),
        Place((8, 8), "TiledCopy", "empty"),
    ),
    **{
        f"make_tiled_copy_{operand}": (
            Place(2, "TiledCopy|copy_atom|Layout", "8"),
            Place(make_tiled_mma(ATOM), f"make_tiled_copy_{operand}"),
        )
        for operand in "ABC"
    },
}
MMA, COPY, REGISTERS = make_tiled_mma(ATOM), make_tiled_copy_tv(2, Layout((4, 8)), Layout((2, 1))), Layout((2, 1, 8))
OPERATIONS |= {
    "make_cotiled_copy": (
        Place(2, "TiledCopy|copy_atom|Layout", "8"),
        layout("make_cotiled_copy", "", Layout((32, 2), (2, 1))),
        layout("make_cotiled_copy", "", Layout((8, 8))),
    ),
    "make_tiled_copy_C_atom": (
        Place(2, "copy_atom|make_tiled_copy_C_atom|Layout"),
        Place(MMA, "make_tiled_copy_C_atom"),
    ),
    "make_tiled_copy_S": (Place(2, "TiledCopy|copy_atom|Layout"), Place(COPY, "make_tiled_copy_S")),
    "make_tiled_copy_D": (Place(2, "TiledCopy|copy_atom|Layout"), Place(COPY, "make_tiled_copy_D")),
    "ThrCopy": (Place(COPY, "ThrCopy"), Place(0, "ThrCopy", "8 0 True")),
    "ThrMma": (Place(MMA, "ThrMma"), Place(0, "ThrMma", "8 0 True")),
    "retile": (Place(COPY, "retile"), layout("retile", "composed", REGISTERS)),
    "owners": (Place(COPY, "owners|fragment"), Place((1, 1), "owners", "empty"), Place("S", "TiledCopy|owners")),
    "tma_partition": (
        Place(64, "tma_partition", "8"),
        Place(0, "tma_partition|Layout|idx2crd|crd2idx", ANYTHING),
        layout("tma_partition", "", Layout(1)),
        layout("tma_partition", "", Layout(((8, 8), 2), ((8, 1), 64))),
        layout("tma_partition", "", Layout(((8, 8), 2), ((8, 1), 64))),
    ),
    "feeds": (Place("mma.m16n8k16.C", "feeds|fragment"), Place("mma.m16n8k16.A.f16", "feeds|fragment")),
}
for side in "SD":
    OPERATIONS |= {
        f"partition_{side}": (Place(COPY, f"partition_{side}"), layout(f"thrfrg_{side}"), Place(1, ".*", "8 0 True")),
        f"thrfrg_{side}": (Place(COPY, f"thrfrg_{side}"), layout(f"thrfrg_{side}")),
    }
for operand in "ABC":
    OPERATIONS |= {
        f"partition_{operand}": (
            Place(MMA, f"partition_{operand}"),
            layout(f"thrfrg_{operand}", good=Layout((16, 16))),
            Place(1, f"partition_{operand}", "8 0 True"),
        ),
        f"thrfrg_{operand}": (Place(MMA, f"thrfrg_{operand}"), layout(f"thrfrg_{operand}", good=Layout((16, 16)))),
    }
#: Public names that take any number, values that are answers, and types to annotate with.
ANSWERS = {
    "Access",
    "Encoding",
    "Explanation",
    "ExplanationStep",
    "Figure",
    "LayoutPicture",
    "Picture",
    "Polynomial",
    "Proof",
    "SWIZZLE_MODES",
    "Scene",
}
TYPES = {"AnyLayout", "Coord", "Index", "IntTuple", "Integer", "Mode", "Shape", "Stride", "Tiler"}
ANSWERS |= {"Feed", "Held"}
NOT_OPERATIONS = {"product"} | ANSWERS | TYPES
#: Which refuse in words of their own: tests/layoutalg/laws, tests/layoutalg/placed, tests/layoutalg/test_programs.py.
NOT_OPERATIONS |= {"broken_law", "law_names", "offset_table", "jit", "make_swizzle"}


def call(operation: str, index: int | None = None, operand: Any = None) -> Any:
    operands = [place.good for place in OPERATIONS[operation]]
    if index is not None:
        operands[index] = operand
    return getattr(la, operation)(*operands)


@each("operation", OPERATIONS)
def test_the_operands_of_the_table_are_taken(operation: str) -> None:
    call(operation)


@each(("operation", "index"), [(name, index) for name, places in OPERATIONS.items() for index in range(len(places))])
def test_an_operand_without_a_meaning_is_refused_in_the_operations_words(operation: str, index: int) -> None:
    place = OPERATIONS[operation][index]
    texts = {name: answer(operation, index, ODD[name]) for name in ODD.keys() - set(place.takes.split())}
    wrong = {name: text for name, text in texts.items() if not re.match(rf"({place.says})\b.*: ", text)}
    assert wrong == {}
    assert not any(len(text) > 1000 or "\n" in text for text in texts.values())


def answer(operation: str, index: int, operand: Any) -> str:
    """The refusal, or what came instead of one."""
    try:
        return f"no error, but {call(operation, index, operand)!r}"
    except LayoutError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001
        return f"no LayoutError, but {error!r}"


def test_every_public_operation_is_in_the_table() -> None:
    errors = {
        name for name in la.__all__ if isinstance(value := getattr(la, name), type) and issubclass(value, Exception)
    }
    assert {*la.__all__, "filter"} == {*OPERATIONS} | errors | NOT_OPERATIONS


#: A layout after a swizzle that swizzles nothing: the same function in another form.
UNSWIZZLED = ComposedLayout(Swizzle(0, 0, 0), 0, Layout(8))


@each(
    ("call", "message"),
    [
        (lambda: la.tile_to_shape(Layout(8), (16, 16), (0, 1, 2)), r"tile_to_shape: order \(0,1,2\) has rank 3, but"),
        (lambda: la.tile_to_shape(Layout((8, 8)), 16), "tile_to_shape: the shape has rank 1, less than the atom"),
        (lambda: la.recast_layout(0, 0, Layout(4)), "recast_layout: the element sizes 0 and 0 bits are not"),
        (lambda: la.complement(Layout(4), UNSWIZZLED), "complement: the cotarget .* is neither a shape nor a"),
        (lambda: la.crd2idx((1, None), Layout((4, 2))), r"crd2idx: coordinate \(1,_\) contains None"),
        (lambda: la.max_common_layout(Layout(4), 8), "max_common_layout: 8 is not a layout"),
        (lambda: la.composition(Layout((4, 2)), (UNSWIZZLED,)), "composition: .*, a mode of the tiler, is not"),
        (lambda: la.composition(Layout((4, 2)), (2, 2, 2)), r"composition: tiler \(2,2,2\) has 3 modes"),
        (lambda: la.make_layout(Layout(4), Layout(2), stride=(1, 4)), "make_layout: a stride is given beside"),
        (lambda: la.upcast(ComposedLayout(Layout(4), 0, Layout(4)), 2), "upcast: the composed layout is not a swizzle"),
        (lambda: la.downcast(ComposedLayout(Layout(4), 0, Layout(4)), 2), "downcast: the composed layout is not a swi"),
        (lambda: la.dice(Layout((4, 2)), (1, None, 1)), r"dice: dicer \(1,_,1\) is not weakly congruent"),
        (lambda: la.idx2crd((1, 2, 3), (4, 2)), r"idx2crd: index \(1,2,3\) is not weakly congruent"),
        (lambda: F2Matrix((1, 2))(1.0), "F2Matrix: a vector is 1.0, which is not an integer"),  # type: ignore[arg-type]
        (lambda: F2Matrix((1, 2))("x"), "F2Matrix: a vector is 'x', which is not an integer"),  # type: ignore[arg-type]
        (lambda: F2Matrix((1, 2))(True), "F2Matrix: a vector is True, which is not an integer"),
        (lambda: F2Matrix((1, 2))(4), "F2Matrix: vector 4 is not a number of 2 bits"),
        (lambda: la.filter_zeros(Layout((4, 2)), (1, 2, 3)), "filter_zeros: target_profile is not congruent"),
        (lambda: la.filter_zeros(Layout((4, 2)), 1), "filter_zeros: target_profile is not congruent"),
    ],
)  # fmt: skip
def test_a_refusal_that_another_check_would_make_too_says_what_is_wrong_here(call: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=f"^{message}"):
        call()


@each("operation", ["right_inverse", "left_inverse", "max_common_layout"])
@each("layout", ["S<1,0,1> o 1 o 4:1", "4:1 o 0 o 4:1", "S<1,0,1> o 0 o 4:1 o 0 o 4:1"])
def test_an_inverse_is_only_taken_of_a_swizzle_after_a_layout(operation: str, layout: str) -> None:
    operands = [parse_layout(layout)] * (2 if operation == "max_common_layout" else 1)
    with pytest.raises(LayoutError, match=f"^{operation}: the composed layout is not a swizzle after a plain layout"):
        getattr(la, operation)(*operands)


def test_a_coordinate_with_none_is_no_index() -> None:
    with pytest.raises(CoordinateError):
        la.crd2idx((1, None), (4, 2))
