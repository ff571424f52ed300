"""An expression has the value of the same call in Python, and anything else is a typed error."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

import layoutalg as la
from layoutalg import Layout, LayoutError, NotationError, Swizzle, elem_less, size
from layoutalg.notation.expression import OPERATIONS, evaluate, evaluate_with_notes, operations


@each(
    ("source", "value"),
    [
        (
            "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))",
            "((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))",
        ),
        ("(4,8):(8,1)", "(4,8):(8,1)"),
        ("coalesce(make_layout(4:1, 8:4))", "32:1"),
        ("coalesce((2,(1,6)):(1,(6,2)), target_profile=(1,1))", "(2,6):(1,2)"),
        ("composition((4,6):(6,1), (2,3))", "(2,3):(6,1)"),
        ("composition(S<2,1,3>, (8,8):(8,1))", "S<2,1,3> o 0 o (8,8):(8,1)"),
        ("logical_divide((8,8):(8,1), (2:1, 4:1))", "((2,4),(4,2)):((8,16),(1,4))"),
        ("logical_divide((8,8):(8,1), <_2,_4>)", "((2,4),(4,2)):((8,16),(1,4))"),
        ("size((4,(2,3)):(1,(4,8)), mode=[1, 0])", "2"),
        ("make_ordered_layout((4,8), order=(1,0))", "(4,8):(8,1)"),
        ("Layout(4, 2)", "4:2"),
        ("Layout((4,8), stride=(8,1))", "(4,8):(8,1)"),
        ("Swizzle(3, 4, 3)", "S<3,4,3>"),
        ("make_identity_layout((4,8))", "(4,8):(1@0,1@1)"),
        ("Layout((4,8), (E(0), E(1)))", "(4,8):(1@0,1@1)"),
        ("slice_((_,2), (4,8):(8,1))", "(4):(8)"),
        ("(size(4:1),8):(1,rank((2,2,2,2)))", "(4,8):(1,4)"),
    ],
)
def test_an_expression_gives_the_layout_that_the_call_gives(source: str, value: str) -> None:
    assert str(evaluate(source)) == value


@each(
    ("source", "value"),
    [
        ("((4,8):(8,1))(2,3)", 19),
        ("((4,8):(8,1))((2,3))", 19),
        ("((4,8):(8,1))(14)", 19),
        ("((4,8):(8,1))(_,3)", Layout((4,), (8,))),
        ("((4,8):(8,1))[1]", Layout(8, 1)),
        ("((4,(2,4)):(8,(1,2)))[1][0]", Layout(2, 1)),
        ("S<3,4,3>(128)", 144),
        ("Swizzle(3,4,3)(128)", 144),
        ("S<3,4,3>", Swizzle(3, 4, 3)),
        ("crd2idx((1,2), (4,8):(8,1))", 10),
        ("idx2crd(13, (4,8))", (1, 3)),
        ("is_congruent((4,8), (1,(2,3)))", False),
        ("(8,(_,4))", (8, (None, 4))),
        ("None", None),
        ("-3", -3),
    ],
)
def test_a_layout_can_be_called_and_its_modes_taken(source: str, value: object) -> None:
    assert evaluate(source) == value


def test_every_operation_of_the_public_package_can_be_named() -> None:
    assert set(operations()) <= set(dir(la))
    analyses = {name for name, home in la._HOMES.items() if home.startswith("analysis.")}
    not_operations = {"AnyLayout", "Coord", "Index", "IntTuple", "Integer", "Mode", "Shape", "Stride", "Tiler"}
    not_operations |= {
        "ScaledBasis",
        "offsets",
        "from_offsets",
        "Encoding",
        "parse_encoding",
        "parse_layout",
        "parse_int_tuple",
        "parse_pointer",
        "Pointer",
        "evaluate",
        "explain",
        "Explanation",
        "ExplanationStep",
    }
    not_operations |= {"broken_law", "law_names", "offset_table", "jit", "make_swizzle"}
    not_operations |= {"gather", "scatter", "strided_view", "prove", "substitute", "symbols_of", *analyses}
    not_operations |= {"Polynomial", "Proof", "symbol", "draw", "Figure", "LayoutPicture", "Picture", "Scene"}
    not_operations |= {name for name, home in la._HOMES.items() if home.startswith("fragments.")} - set(operations())
    errors = {
        name for name in dir(la) if isinstance(getattr(la, name), type) and issubclass(getattr(la, name), Exception)
    }
    assert set(dir(la)) - not_operations - errors - {"__version__"} == set(operations())


def test_every_operation_has_a_one_line_summary() -> None:
    for name, function in operations().items():
        assert callable(function), name
        assert (function.__doc__ or "").strip(), name


def test_operations_are_listed_once() -> None:
    listed = [name for names in OPERATIONS.values() for name in names]
    assert len(listed) == len(set(listed))


@each(
    ("source", "message"),
    [
        ("", "notation: expected a number"),
        ("zipped_divde(4:1, 2)", "did you mean zipped_divide?"),
        ("__import__('os')", "notation: unexpected character"),
        ("print(1)", "'print' is not an operation of the algebra, at position 0"),
        ("coalesce", "expected '('"),
        ("coalesce(4:1", "expected ')'"),
        ("coalesce(4:1))", "expected the end of the text"),
        ("coalesce(4:1, target_profile=1, target_profile=1)", "the argument target_profile is given twice"),
        ("size(value=4:1, 3)", "an argument without a name follows"),
        ("4(3)", "expected the end of the text"),
        ("(4,8)(3)", "expected the end of the text"),
        ("size([4:1)", "expected ']'"),
        ("S<3,4,3>[0]", "a swizzle has no modes"),
        ("((4,8):(8,1))[x]", "expected an integer"),
        ("9" * 400, "the number 99999999999999999... is beyond the limit of 2**63 - 1, at position 0"),
        ("(" * 5000 + "4" + ")" * 5000, "the nesting has more than 64 levels"),
        ("coalesce(" * 5000 + "4:1" + ")" * 5000, "the nesting has more than 64 levels"),
        ("4:1 o " * 5000 + "4:1", "the nesting has more than 64 levels"),
        ("(128,64:(65,1)", "the '(' at position 0 is not closed"),
        ("coalesce((128,64):(65,1", "expected ')'"),
        ("coalesce((128,64:(65,1))", "the '(' at position 8 is not closed"),
    ],
)
def test_what_is_no_expression_is_a_notation_error(source: str, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        evaluate(source)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("coalesce()", "coalesce: missing a required argument"),
        ("coalesce(4:1, 1, 2)", "coalesce: too many positional arguments"),
        ("coalesce(4:1, profile=1)", "coalesce: got an unexpected keyword argument 'profile'"),
        ("((4,8):(8,1))[2]", "mode: index 2 is not in [0,2); layout = (4,8):(8,1)"),
        ("((4,8):(8,1))(4,0)", "coordinate: 4 is not in [0,4)"),
        ("coalesce(S<3,4,3>)", "coalesce"),
        ("S<3,4,3>((1,2))", "swizzle: an offset is (1, 2), which is not an integer"),
        ("(4,8):1", "congruent"),
        ("complement((2,2):(2,3), 12)", "complement"),
    ],
)
def test_what_an_operation_refuses_is_a_layout_error_with_its_operands(source: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        evaluate(source)
    assert message in str(caught.value)


words = st.sampled_from(
    [
        *operations(),
        "4",
        "8",
        "2",
        "1",
        "-1",
        "_",
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        "o",
        "S<3,4,3>",
        "=",
        "@",
        "mode",
        "None",
        "<",
        ">",
        "(4,8):(8,1)",
        "4:2",
    ]
)


@given(st.lists(words, max_size=12).map(" ".join) | st.text(string.printable, max_size=30))
def test_no_text_raises_anything_but_a_layout_error(source: str) -> None:
    try:
        evaluate(source)
    except LayoutError:
        return


@given(
    st.recursive(
        words,
        lambda inner: st.tuples(st.sampled_from(sorted(operations())), st.lists(inner, max_size=3)).map(
            lambda call: f"{call[0]}({','.join(call[1])})"
        ),
        max_leaves=5,
    )
)
def test_no_call_raises_anything_but_a_layout_error(source: str) -> None:
    try:
        evaluate(source)
    except LayoutError:
        return


def test_python_eval_is_not_involved() -> None:
    import layoutalg.notation.expression as module

    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"eval", "exec", "compile", "__import__"}


@pytest.mark.parametrize(
    ("source", "note"),
    [
        (
            "zipped_divide((10,64):(64,1), (16,16), round_up=True)",
            "zipped_divide covers 1024 elements, but the layout has 640",
        ),
        (
            "logical_divide((10,8):(8,1), (4:2,), round_up=True)",
            "logical_divide covers 128 elements, but the layout has 80",
        ),
        (
            "tile_to_shape((8,8):(8,1), (20,16), round_up=True)",
            "tile_to_shape covers 384 elements, but the shape has 320",
        ),
        (
            "local_tile((10,8):(8,1), (4,8), (2,0), round_up=True)",
            "zipped_divide covers 96 elements, but the layout has 80",
        ),
        ("local_partition(10:1, 4:1, 3, round_up=True)", "zipped_divide covers 12 elements, but the layout has 10"),
    ],
)
def test_a_value_that_covers_more_than_its_tensor_comes_with_a_note_and_its_predicate(source, note):
    (text,) = evaluate_with_notes(source)[1]
    fact, _, predicate = text.partition("; ")
    assert fact == note
    places, found, condition = predicate.partition(
        " gives the coordinate c of each element, which is inside if elem_less(c, "
    )
    if found:
        shape, coordinates = evaluate(condition.removesuffix(")")), evaluate(places)
        inside = [index for index in range(size(coordinates)) if elem_less(coordinates(index), shape)]
        assert len(inside) == int(fact.rsplit(" ", 1)[1])


def test_a_value_that_covers_its_tensor_exactly_has_no_note():
    assert evaluate_with_notes("zipped_divide((8,64):(64,1), (4,16), round_up=True)")[1] == []
    assert evaluate_with_notes("zipped_divide((8,64):(64,1), (4,16))")[1] == []
