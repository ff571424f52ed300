"""Values are values: frozen, equal by content, and what they say of themselves makes them again.

Every frozen class of `layoutalg` is found by walking the package; one without an
example here fails the first test.
"""

from __future__ import annotations

import copy
import pickle
from importlib import import_module
from typing import Any

import pytest
from each import each
from hypothesis import given
from rooms import modules
from strategies import any_layouts

import layoutalg
from layoutalg import (
    AccessPattern,
    ComposedLayout,
    E,
    Encoding,
    F2Matrix,
    Layout,
    LayoutError,
    LinearLayout,
    Pointer,
    Swizzle,
    access,
    composition,
    copy_atom,
    draw,
    explain,
    feeds,
    fragment,
    make_identity_layout,
    make_tiled_copy,
    make_tiled_mma,
    mma_atom,
    parse_layout,
    prove,
    symbol,
)
from layoutalg.drawing.arrange import Style
from layoutalg.drawing.grid import Axis, drawing
from layoutalg.drawing.plate import Level, Mark
from layoutalg.drawing.shapes import Area, Arrow, Box, Cells, Lines, Scene, Text
from layoutalg.drawing.theme import Ink
from layoutalg.fragments.families import family_of
from layoutalg.frozen import is_value
from layoutalg.notation.tokens import tokenize
from layoutalg.oracle import expressions as algebra
from layoutalg.oracle import expressions as tree
from layoutalg.oracle import service
from layoutalg.oracle import service as reader
from layoutalg.oracle.dsl import algebra as dsl_algebra
from layoutalg.pictures.plates import Question
from layoutalg.pictures.quantities import Limits, Subject, Words
from layoutalg.tuples.scaled_basis import Vector

M, K = symbol("m"), symbol("k")
PUBLIC = {name: getattr(layoutalg, name) for name in dir(layoutalg)}
TILE = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))

#: Examples of every class of values, by its module and name.
EXAMPLES: dict[str, list[Any]] = {
    "tuples.polynomial.Polynomial": [M, -M, 8 * M + 2, 3 * M * M * K - 7 * K + 1, symbol("x_1")],
    "tuples.scaled_basis.ScaledBasis": [E(0), E(1, 0), 3 * E(2), -E(1), E(0) * (8 * M)],
    "layouts.swizzle.Swizzle": [Swizzle(3, 4, 3), Swizzle(2, 0, -3), Swizzle(0, 0, 0)],
    "layouts.layout.Layout": [
        *(Layout(4), Layout((), ()), Layout((4,), (2,)), Layout((4, (2, 4)), (2, (1, -8)))),
        *(Layout((8 * M, 64), (64, 1)), Layout((M, K)), make_identity_layout((4, (M, 2)))),
    ],
    "layouts.composed.ComposedLayout": [
        *(TILE, ComposedLayout(TILE, 3, Layout(8)), ComposedLayout(Layout(8, 2), 0, TILE)),
        ComposedLayout(Layout((4, 8)), (1, 2), make_identity_layout((2, 2))),
        composition(Swizzle(1, 0, 2), Layout(M)),
    ],
    "explanations.explanation.Explanation": [explain("coalesce((2,4):(1,2))"), explain("complement((4,4):(1,3), 24)")],
    "explanations.step.ExplanationStep": [*explain("composition((6,2):(1,7), (3,2):(2,3))").steps],
    "algebra.symbols.Proof": [
        prove(Layout(8), Layout((2, 4))),
        prove(parse_layout("(8,m):(1,8)"), parse_layout("(8,m):(1,4*m)")),
        prove(Layout(8), Layout(4)),
    ],
    "compilers.encoding.Encoding": [
        Encoding("nvmma_shared", "Triton", "smem", (8, 64), Layout((8, 64), (64, 1)), "f16", 16),
        Encoding("blocked", "Triton", "rmem", (32,), Layout((32, 1), (1, 0))),
    ],
    "notation.printed.Pointer": [Pointer(16, "smem", 1024, "bf16", Swizzle(3, 4, 3)), Pointer(8)],
    "pictures.layout_picture.LayoutPicture": [
        *(draw(TILE), draw(Layout((2, 3), (M, 1)), "block", "index")),
        draw(TILE, "bank", element_bytes=2, levels=[(8, 8)], title="An atom", before=Layout(512)),
    ],
    "analysis.f2_matrix.F2Matrix": [F2Matrix((1, 2, 5), 4), F2Matrix(()), F2Matrix.identity(3)],
    "analysis.linear_layout.LinearLayout": [
        LinearLayout({"lane": [(1, 1), (2, 2)], "warp": [(0, 1), (0, 2)]}, ["x", "y"]),
        LinearLayout({"lane": []}, {"x": 4}),
        LinearLayout({}, {}),
    ],
    "analysis.banks.Access": [access([8 * lane for lane in range(32)], 8), access([None, 0], 4), access([], 4)],
    "fragments.fragment.Fragment": [fragment("mma.m16n8k16.C"), fragment("ldmatrix.x4.trans")],
    "fragments.tiled_mma.MmaAtom": [mma_atom("wgmma.m64n8k16")],
    "fragments.tiled_mma.TiledMma": [make_tiled_mma("mma.m16n8k8.tf32", (2, 1, 1), (None, Layout((8, 2)), 8))],
    "fragments.tiled_mma.ThrMma": [make_tiled_mma("mma.m16n8k8.tf32").get_slice(5)],
    "fragments.copy_atoms.CopyAtom": [copy_atom(4), copy_atom("ldmatrix.x2")],
    "fragments.tiled_copy.ThrCopy": [make_tiled_copy(4, Layout((32, 4)), (8, 16)).get_slice(5)],
    "fragments.feeds.Feed": [feeds("mma.m8n8k4.C", "mma.m8n8k4.A.f64")],
    "fragments.feeds.Held": [feeds("mma.m8n8k4.C", "mma.m8n8k4.A.f64").second],
    "fragments.tiled_copy.TiledCopy": [make_tiled_copy(4, Layout((32, 4)), (8, 16))],
    "analysis.swizzle_search.AccessPattern": [AccessPattern([0, None], 16), AccessPattern(TILE, 2, True)],
}
#: Values that no public function gives: the names of their own module make them again.
INNER: dict[str, list[Any]] = {
    "tuples.scaled_basis.Vector": [Vector(), Vector([((0,), 3), ((1, 0), M)])],
    "notation.tokens.Token": tokenize("S<3,4,3> o 0 o (8*m,64):(64,1)"),
    "fragments.families.Family": [family_of("mma.m16n8k16.C")],
    "drawing.grid.Axis": [Axis.of((2, 3), 1, limit=4)],
    "drawing.grid.Drawing": [drawing(Layout((2, 3))), drawing(Layout((2, 2, 2), (E(0), E(1), E(2))))],
    "drawing.grid.Grid": [drawing(Layout((2, 3))).grids[0]],
    "drawing.plate.Plate": [draw(Layout((2, (2, 2)))).plate()],
    "drawing.plate.Panel": [draw(Layout((2, (2, 2)))).plate().panels[0]],
    "drawing.plate.Level": [Level("8 x 64", 8, 64, "atom")],
    "drawing.plate.Mark": [Mark(0, 1, 2, 3)],
    "drawing.arrange.Style": [Style(20, 10, 8.5)],
    "pictures.quantities.Limits": [Limits(), Limits(1, 2, 3)],
    "pictures.quantities.Subject": [Subject(), Subject(2, (((0, 1),), ()))],
    "pictures.quantities.Words": [Words(access([0, 144, None, 400], 8))],
    "pictures.plates.Question": [Question(Layout((2, 3)), "offset", "index")],
    "drawing.theme.Ink": [Ink("#ffffff", "#000000"), Ink("#ffffff", "#000000", 0.5, 231)],
    "drawing.shapes.Scene": [Scene("A", "b.", 10, 20.5, ())],
    "drawing.shapes.Cells": [Cells("c0", ((0, 0, 1, 2.5),)), Cells("c0", ((0, 0, 1, 2.5),), 0.5)],
    "drawing.shapes.Lines": [Lines("ink", 1, ((0, 0, 1, 1),), (4, 4))],
    "drawing.shapes.Box": [Box(0, 0, 1, 2), Box(0, 0, 1, 2, "c0", "ink", 2, 3, 0.5)],
    "drawing.shapes.Area": [Area("beam", ((0, 0), (1, 0), (0, 1)))],
    "drawing.shapes.Arrow": [Arrow("accent", ((0, 0), (1, 0)))],
    "drawing.shapes.Text": [Text("ink", 10, ((0, 0, "a"),), "end", True, True, 90)],
    "oracle.service.Affine": [reader.read("(8,(4,2)):(1,(8,0))")],
    "oracle.service.Basis": [reader.Basis(1, (1, 0))],
    "oracle.service.Swizzling": [reader.read("S<3,4,3>")],
    "oracle.service.Composed": [reader.read("S<3,4,3> o 16 o (8,64):(64,1)")],
    "oracle.service.Reply": [service.Reply("ok", 1), service.Reply("crashed", "SIGFPE")],
    "oracle.expressions.Case": [algebra.Case("complement", ("4:2", 24))],
    "oracle.expressions.Answer": [algebra.Answer("ok", "(2,3):(1,8)")],
    "oracle.expressions._Node": [tree._Node(":", (4, 1))],
    "oracle.dsl.algebra._LayoutAndOffset": [dsl_algebra._LayoutAndOffset("8:1", 4)],
}
VALUES = [(key, value) for key, values in {**EXAMPLES, **INNER}.items() for value in values]


def _classes() -> set[str]:
    """Every class of values that a module of the package defines."""
    found = set()
    for name in modules():
        if name.startswith("layoutalg.") and not name.endswith("__main__"):
            for item in vars(import_module(name)).values():
                if isinstance(item, type) and item.__module__ == name and is_value(item):
                    found.add(f"{name}.{item.__qualname__}".removeprefix("layoutalg."))
    return found


def _written(key: str, value: Any) -> Any:
    """What a value's repr evaluates to, with the public names; of an inner value with those of its module as well."""
    names = PUBLIC if key in EXAMPLES else vars(import_module(type(value).__module__)) | PUBLIC
    return eval(repr(value), dict(names))  # noqa: S307  that this is possible is what the test is about


#: What a law notes while it enumerates: compared with nothing, and handed to nobody.
NOTES = {"laws.points.Plan", "laws.points.Part", "laws.points.Merged"}


def test_every_class_of_values_has_examples() -> None:
    assert _classes() - NOTES == {*EXAMPLES, *INNER}
    for key, value in VALUES:
        assert f"{type(value).__module__}.{type(value).__name__}" == f"layoutalg.{key}"


def test_the_classes_of_public_values_are_public() -> None:
    assert {key.rpartition(".")[2] for key in EXAMPLES} <= set(PUBLIC)


@each(("key", "value"), VALUES, ids=repr)
def test_the_repr_of_a_value_evaluates_to_it(key: str, value: Any) -> None:
    again = _written(key, value)
    assert again == value
    assert type(again) is type(value)
    assert (hash(again), repr(again), str(again)) == (hash(value), repr(value), str(value))


@given(any_layouts)
def test_the_repr_of_a_random_layout_evaluates_to_it(layout: Any) -> None:
    assert eval(repr(layout), dict(PUBLIC)) == layout  # noqa: S307


@each(("key", "value"), VALUES, ids=repr)
def test_copies_of_a_value_are_equal_to_it(key: str, value: Any) -> None:
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert again == value
        assert (type(again), hash(again), repr(again)) == (type(value), hash(value), repr(value))


@each(("key", "value"), VALUES, ids=repr)
def test_nothing_in_a_value_can_be_changed(key: str, value: Any) -> None:
    for name in type(value).__slots__:
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, name, None)
        with pytest.raises((AttributeError, TypeError)):
            delattr(value, name)
        hash(getattr(value, name))  # a part that could be changed has no hash
    assert not hasattr(value, "__dict__")


def test_the_terms_of_a_polynomial_cannot_be_changed_through_a_layout() -> None:
    layout = Layout((8 * M, 64), (64, 1))
    before = str(layout), hash(layout)
    with pytest.raises(TypeError):
        layout.shape[0].terms[()] = 3
    assert (str(layout), hash(layout)) == before


def test_a_polynomial_is_made_of_terms_in_any_order_and_never_of_a_constant() -> None:
    terms = (8 * M * K + 2 * M - 3).terms
    assert layoutalg.Polynomial(reversed(terms)) == 8 * M * K + 2 * M - 3
    for constant in ([], [((), 3)], [((("m", 1),), 1), ((("m", 1),), -1)]):
        with pytest.raises(LayoutError, match=r"Polynomial: .* has no symbol"):
            layoutalg.Polynomial(constant)


def test_a_symbol_has_a_name() -> None:
    assert str(symbol("m") * 8) == "8*m"
    for name in ("", None, 3):
        with pytest.raises(LayoutError, match=r"symbol: .* is not a name"):
            symbol(name)  # type: ignore[arg-type]
