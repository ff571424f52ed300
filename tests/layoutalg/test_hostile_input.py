"""What nobody should type, typed: one line says what is wrong, and no answer is a value that cannot be used."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from each import each
from refusals import refuses

from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle, group_modes, parse_layout, prove, symbol
from layoutalg.cli.command import main
from layoutalg.cli.values import value_text
from layoutalg.notation.expression import evaluate

BIG, HUGE = 2**40, 2**61


@each(
    ("expression", "operation"),
    [
        (f"composition(2:{2 * HUGE},2:4)", "composition"),
        (f"composition((2,2):({2 * HUGE},1),(2:4,2))", "composition"),
        (f"make_layout({BIG}:1,{BIG}:1)", "make_layout"),
        (f"append({BIG}:1,{BIG}:1)", "append"),
        (f"prepend({BIG}:1,{BIG}:1)", "prepend"),
        (f"select(({BIG},1):(1,0),[0,0])", "select"),
        (f"downcast({HUGE}:1,16)", "downcast"),
        (f"recast_layout(1,16,S<1,4,3> o 0 o 2:{HUGE})", "downcast"),
        (f"complement(2:1,({BIG},{BIG}))", "complement"),
        (f"left_inverse((2,2):({HUGE},{2 * HUGE}))", "left_inverse"),
        (f"logical_divide(8:{2 * HUGE},4)", "logical_divide"),
        (f"zipped_divide(8:{2 * HUGE},(4,))", "zipped_divide"),
        (f"tiled_divide(8:{2 * HUGE},(4,))", "tiled_divide"),
        (f"flat_divide(8:{2 * HUGE},(4,))", "flat_divide"),
        (f"logical_product({BIG}:1,{BIG}:0)", "logical_product"),
        (f"zipped_product({BIG}:1,{BIG}:0)", "zipped_product"),
        (f"tiled_product({BIG}:1,{BIG}:0)", "tiled_product"),
        (f"flat_product({BIG}:1,{BIG}:0)", "flat_product"),
        (f"blocked_product({BIG}:1,{BIG}:0)", "blocked_product"),
        (f"raked_product({BIG}:1,{BIG}:0)", "raked_product"),
    ],
)
def test_a_result_beyond_64_bits_is_refused_by_its_operation(expression: str, operation: str) -> None:
    with pytest.raises(
        LayoutError, match=rf"^{operation}: .* of the result is a number of .* beyond the limit of 2\*\*63"
    ):
        evaluate(expression)


def test_a_result_beyond_64_levels_is_refused_and_all_below_can_be_written_and_read() -> None:
    layout, shape = Layout((2, 2)), (2, 2)
    for _ in range(63):
        layout, shape = group_modes(layout, 0, 1), group_modes(shape, 0, 1)
    assert parse_layout(str(layout)) == layout == evaluate(str(layout))
    assert pickle.loads(pickle.dumps(layout)) == layout == copy.deepcopy(layout)
    for value in (layout, shape):
        with pytest.raises(LayoutError, match=r"^group_modes: the .*result has more than 64 levels of nesting"):
            group_modes(value, 0, 1)


@pytest.mark.parametrize("inwards", [True, False])
def test_composed_layouts_are_nested_only_as_deep_as_they_can_be_written_and_read(inwards: bool) -> None:
    layout: Layout | ComposedLayout = Layout(4)
    for _ in range(16):
        layout = ComposedLayout(Layout(4), 0, layout) if inwards else ComposedLayout(layout, 0, Layout(4))
        assert parse_layout(str(layout)) == layout == copy.deepcopy(layout)
        assert layout(3) == 3
    with pytest.raises(LayoutError, match=r"^ComposedLayout: more than 16 levels of composed layouts"):
        ComposedLayout(Layout(4), 0, layout) if inwards else ComposedLayout(layout, 0, Layout(4))


@pytest.mark.parametrize(
    "text",
    [
        "S<3,4,3> o 0 o (4,8):(1@0,1@1)",
        "S<3,4,3> o (1,2) o (4,8):(1,4)",
        "S<3,4,3> o 0 o (4,8):(1@0,1@1) o 0 o 4",
        "S<3,4,3> o 0 o S<0,0,0> o 0 o (4,8):(1@0,1@1)",
        "composition(S<3,4,3>, 3:2@1)",
    ],
)
def test_a_swizzle_over_coordinates_is_no_layout(text: str) -> None:
    with pytest.raises(LayoutError):
        evaluate(text)


def test_an_identity_swizzle_takes_coordinates_as_they_are() -> None:
    layout = parse_layout("S<0,4,3> o 0 o (4,8):(1@0,1@1)")
    assert layout(3, 5) == (3, 5) == Swizzle(0, 4, 3)((3, 5))
    with pytest.raises(LayoutError, match=r"swizzle: an offset is .*, which is not an integer"):
        Swizzle(1, 4, 3)((3, 5))


@pytest.mark.parametrize(
    "text", ["((),4):((),1)", "(4,8):(1@0,3)", "(8*m,64):(64,1)", "S<3,4,3> o m o (8,64):(64,1)", "(4,()):(1,())"]
)
def test_a_notebook_shows_every_layout(text: str) -> None:
    layout = parse_layout(text)
    assert isinstance(layout, (Layout, ComposedLayout))
    assert text.replace("<", "&lt;").replace(">", "&gt;") in layout._repr_html_()


@each(
    ("arguments", "message"),
    [
        (["eval", "*".join(["9223372036854775807"] * 300)], "the product is beyond the limit of 2**63 - 1"),
        (["eval", f"size(({','.join(['9223372036854775807'] * 300)}))"], "a number has more than 4300 digits"),
        (["eval", "--json", f"size(({','.join(['9223372036854775807'] * 300)}))"], "more than 4300 digits"),
        (["show", "(1024,1024,64):(1,1024,1048576)", "--rows", "1024", "--columns", "1024"], "more than 2097152 cells"),
        (["banks", "(64,64):(1@0,1@1)", "--access", "(32,8):(1,64)", "--element-bytes", "2"], "not to an offset"),
        (["find-swizzle", "(64,64):(1@0,1@1)", "--access", "32:1", "--element-bytes", "2"], "not to an offset"),
        (["banks", "(64,64):(64,1)", "--access", "(32*m,8):(1,64)", "--element-bytes", "2"], "contains symbols"),
        (["find-swizzle", "(64,64):(64,1)", "--access", "32*m:1", "--element-bytes", "2"], "contains symbols"),
        (["banks", "(64,64):(m,1)", "--access", "(32,2):(1,64)", "--element-bytes", "2"], "contains symbols"),
        (["find-swizzle", f"{BIG}:1", "--access", f"{BIG}:1", "--element-bytes", "2"], "more than 1048576"),
        (["banks", f"{BIG}:1", "--access", f"({BIG},1):(1,0)", "--element-bytes", "2"], "more than 1048576"),
        (["banks", "4", "\x1b[31m", "--access", "4:1", "--element-bytes", "2"], r"argument (\x1b[31m)"),
    ],
)
def test_one_line_says_what_is_wrong(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    if "--json" in arguments:  # a program reads the refusal where it reads the answer
        assert err == "" and message in json.loads(out)["error"]["message"]
    else:
        assert out == "" and refuses(err, message)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(8*m,64):(64,1)", '"shape": ["8*m", 64], "stride": [64, 1], "size": "512*m"'),
        ("S<3,4,3> o 8*m o (8,64):(64,1)", '"offset": "8*m"'),
        ("slice_and_offset((3,_), (8,8*m):(8*m,1))", '"text": "24*m"'),
    ],
)
def test_values_with_symbols_are_told_as_json(expression: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", expression, "--json"]) == 0
    assert text in capsys.readouterr().out


SUM_OF_12 = "a+b+c+d+e+f+g+h+i+j+k+l"
ALTERNATING = f"({','.join(['2'] * 20)}):({','.join(str(4 * (-2) ** i) for i in range(20))})"


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("cosize(4:a**64*b**64*c**64*d**64-1)", "3*a**64*b**64*c**64*d**64-2"),
        (f"local_partition({BIG}:1, {BIG}:1, 5)", "((1):(0),5)"),
        (f"local_partition(({BIG},2):(1,{BIG}), ({BIG},2):(2,1), 7)", f"((1,1):(0,0),{BIG + 3})"),
        (
            f"composition((4,{BIG}):(1,5),{ALTERNATING})",
            f"({','.join(['2'] * 20)}):({','.join(str(5 * (-2) ** i) for i in range(20))})",
        ),
        ("(4:1@4095)(2)", f"({'0,' * 4095}2)"),
    ],
)
def test_what_takes_no_search_is_answered_without_one(expression: str, answer: str) -> None:
    assert value_text(evaluate(expression)) == answer


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (f"size(({','.join([SUM_OF_12] * 30)}))", "a sum has more than 1024 terms"),
        (f"size({'+'.join(f'a{i}' for i in range(5000))})", "a sum has more than 1024 terms"),
        ("4:a**64*b**64*c**64-a*d**64", ""),
        ("cosize(4:a**64*b**64*c**64-a*d**64)", "cannot decide"),
        ("(4:1@2000000000)(2)", "mode 2000000000 is not below 4096"),
        (f"local_partition({BIG}:1, ({BIG},2):(1,1), 5)", "stride 1 of the tiler is less than 2, the period"),
        (f"local_partition({BIG}:1, {BIG}:1, {BIG})", "0 threads of the tiler have index 1099511627776"),
        (f"local_partition({BIG}:1, {BIG}:2, 5)", "0 threads of the tiler have index 5"),
        (f"composition((3,{BIG}):(1,5),{ALTERNATING})", "the result is not a layout: at coordinate"),
    ],
)
def test_what_would_run_away_is_refused(expression: str, message: str) -> None:
    if not message:
        assert value_text(evaluate(expression)) == expression
        return
    with pytest.raises(LayoutError) as refusal:
        evaluate(expression)
    assert message in str(refusal.value)


@pytest.mark.parametrize("power", [-1, 4097, 10**400])
def test_a_power_that_is_no_polynomial_or_runs_away_is_refused(power: int) -> None:
    with pytest.raises(LayoutError, match=r"symbols: exponent -?[0-9.]+ is not in \[0,4096\]"):
        symbol("m") ** power


def test_layouts_that_differ_far_out_are_told_apart_at_the_first_step_of_a_mode() -> None:
    text = "(4096*m,4096*k,4096*n):(1,2,3{})"
    proof = prove(parse_layout(text.format("")), parse_layout(text.format("*n")))
    assert str(proof) == "not equal: for k = 1, m = 1, n = 2 at index 16777216 the offsets are 3 and 6"
