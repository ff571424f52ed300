"""C++ types of CuTe values are read as source code writes them, and as g++ 12 and nvcc 13.0 print them in messages.

The messages are those of the compilers for programs that pass layouts of known shapes and strides to the wrong
function, with the headers of CUTLASS 4; the expected values are those of the programs.
"""

from __future__ import annotations

from time import perf_counter

import pytest
from each import each

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotationError,
    Pointer,
    Swizzle,
    evaluate,
    parse_layout,
    parse_pointer,
)
from layoutalg.notation import cpp_types

A = Layout((8, 8), (8, 1))
IDENTITY = parse_layout("(8,4):(1@0,1@1)")
SWIZZLED = ComposedLayout(Swizzle(3, 3, 3), 0, Layout(((8, 16), (64, 1)), ((64, 512), (1, 0))))
S64 = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
IN_BYTES = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
#: nvcc and g++ print the type of a tile_to_shape of Layout_K_SW128_Atom<half_t> like this.
FLAGGED = (
    "cute::ComposedLayout<cute::Swizzle<3, 4, 3>, cute::smem_ptr_flag_bits<16>, cute::Layout<cute::tuple<cute::tuple<"
    "cute::C<8>, cute::C<16> >, cute::tuple<cute::C<64>, cute::C<1> > >, cute::tuple<cute::tuple<cute::C<64>, "
    "cute::C<512> >, cute::tuple<cute::C<1>, cute::C<0> > > > >"
)
TENSOR = (
    "cute::Tensor<cute::ViewEngine<cute::swizzle_ptr<cute::Swizzle<3, 4, 3>, cute::smem_ptr<cutlass::half_t*> > >, "
    "cute::Layout<cute::tuple<cute::tuple<cute::C<8>, cute::C<16> >, cute::tuple<cute::C<64>, cute::C<1> > >, "
    "cute::tuple<cute::tuple<cute::C<64>, cute::C<512> >, cute::tuple<cute::C<1>, cute::C<0> > > > >"
)


@each(
    ("source", "value"),
    [
        ("Layout<Shape<_8,_8>,Stride<_8,_1>>", A),
        ("Layout<Shape<_8, _8>, Stride<_8, _1> >{}", A),
        ("cute::Layout<cute::tuple<cute::C<8>, cute::C<8> >, cute::tuple<cute::C<8>, cute::C<1> > >", A),
        ("const cute::Layout<cute::tuple<cute::_8, cute::_8>, cute::tuple<cute::_8, cute::_1>>&", A),
        ("Layout<Shape<_8,_8>>", Layout((8, 8), (1, 8))),
        ("Layout<Shape<_8,Shape<_1,_4>>>", Layout((8, (1, 4)), (1, (0, 8)))),
        ("Layout<_8,_1>", Layout(8, 1)),
        ("Layout<Shape<_8>,Stride<_1>>", Layout((8,), (1,))),
        ("Layout<Shape<Int<8>,C<4>>,Stride<Int<-4>,_1>>", Layout((8, 4), (-4, 1))),
        ("cute::Swizzle<3, 4, 3>", Swizzle(3, 4, 3)),
        ("Swizzle<2,4,-3>{}", Swizzle(2, 4, -3)),
        ("Swizzle<3,4>", Swizzle(3, 4, 3)),
        ("ComposedLayout<Swizzle<3,4,3>, C<0>, Layout<Shape<_8,_64>,Stride<_64,_1>>>", S64),
        ("ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<8>, Layout<Shape<_8,_64>,Stride<_64,_1>>>", S64),
        ("ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>", IN_BYTES),
        ("ComposedLayout<Layout<_8,_2>, C<3>, Layout<_4,_1>>", ComposedLayout(Layout(8, 2), 3, Layout(4, 1))),
        (FLAGGED, SWIZZLED),
        (TENSOR, SWIZZLED),
        ("Tensor<ArrayEngine<float, 8>, Layout<_8,_1>>", Layout(8, 1)),
        ("cute::C<8>", 8),
        ("Int<8>", 8),
        ("_8{}", 8),
        ("Int<8>{}", 8),
        ("cute::_8{}", 8),
        ("std::integral_constant<int, 8>", 8),
        ("cute::constant<unsigned int, 8u>{}", 8),
        ("C<(int)8>", 8),
        ("cute::ScaledBasis<cute::C<2>, 0, 1>", parse_layout("4:2@1@0").stride),
        ("Tile<Layout<_4,_2>, Underscore>", (Layout(4, 2), None)),
        ("make_shape(_8{}, make_shape(2, 3))", (8, (2, 3))),
        ("make_tile(4:1)", (Layout(4, 1),)),
        (
            "zipped_divide(Layout<Shape<_8,_8>,Stride<_8,_1>>{}, Tile<_4,_2>{})",
            evaluate("zipped_divide((8,8):(8,1), (4,2))"),
        ),
        ("cute::make_layout(make_shape(_8{}, _8{}), make_stride(_8{}, _1{}))", A),
        ("size(Layout<Shape<_8,_8>>{})", 64),
        ("cute.make_layout((8,8), stride=(8,1))", A),
        ("cute.size(cute.make_layout((8,8), stride=(8,1)))", 64),
        ("Layout<Shape<_8,_8>>{}(3, 2)", 19),
    ],
)
def test_a_type_is_the_value_that_it_denotes(source: str, value: object) -> None:
    assert evaluate(source) == value


@each(
    ("message", "value"),
    [
        (
            "a.cu:14:12: error: cannot convert ‘cute::Layout<cute::tuple<cute::C<8>, cute::C<8> >, cute::tuple<"
            "cute::C<8>, cute::C<1> > >’ to ‘int*’ in initialization",
            A,
        ),
        (
            "a.cu:16:7: error: no matching function for call to ‘take(cute::Layout<cute::tuple<cute::C<8>, cute::C<4> "
            ">, cute::tuple<cute::ScaledBasis<cute::C<1>, 0>, cute::ScaledBasis<cute::C<1>, 1> > >&)’",
            IDENTITY,
        ),
        (f"a.cu:12:16: error: no matching function for call to ‘take({FLAGGED}&)’", SWIZZLED),
        (f"a.cu:12:16: note:   ‘{FLAGGED}’ is not derived from ‘const cute::Layout<ShapeB, StrideB>’", SWIZZLED),
        (
            "a.cu: In instantiation of ‘void show(L) [with L = cute::Layout<cute::tuple<cute::C<8>, cute::C<8> >, "
            "cute::tuple<cute::C<8>, cute::C<1> > >]’:\na.cu:15:7:   required from here\n"
            "a.cu:3:58: error: static assertion failed: K is odd",
            A,
        ),
        (
            "a.cu: In instantiation of ‘static void Kernel<T>::run(cute::Layout<Shape, Stride>) [with Shape = "
            "cute::tuple<cute::C<8>, cute::C<8> >; Stride = cute::tuple<cute::C<8>, cute::C<1> >; T = float]’:",
            A,
        ),
        (
            'a.cu(14): error: no suitable conversion function from "cute::Layout<cute::Shape<cute::_8, cute::_8>, '
            'cute::Stride<cute::_8, cute::_1>>" (aka "cute::Layout<cute::tuple<cute::C<8>, cute::C<8>>, cute::tuple<'
            'cute::C<8>, cute::C<1>>>") to "int *" exists',
            A,
        ),
        (
            "            argument types are: (cute::Tensor<cute::ViewEngine<cute::smem_ptr<cutlass::half_t *>>, "
            "cute::Layout<cute::tuple<cute::_8, cute::_8>, cute::tuple<cute::_8, cute::_1>>>)",
            A,
        ),
        (
            "            argument types are: (cute::Tensor<cute::ViewEngine<cute::swizzle_ptr<cute::Swizzle<3, 4, 3>, "
            "cute::smem_ptr<cutlass::half_t *>>>, cute::Layout<cute::tuple<cute::tuple<cute::C<8>, cute::C<16>>, "
            "cute::tuple<cute::_64, cute::_1>>, cute::tuple<cute::tuple<cute::_64, cute::_512>, cute::tuple<cute::_1, "
            "cute::_0>>>>)",
            SWIZZLED,
        ),
        (
            "      |       cute::Layout<cute::tuple<cute::C<8>, cute::C<8> >, cute::tuple<cute::C<8>, cute::C<1> > >",
            A,
        ),
    ],
)
def test_a_message_of_a_compiler_is_read_as_its_layout(message: str, value: object) -> None:
    assert evaluate(message) == value
    assert parse_layout(message) == value


def test_the_type_of_a_tensor_has_its_pointer() -> None:
    assert parse_pointer(TENSOR) == Pointer(16, "smem", swizzle=Swizzle(3, 4, 3))
    assert parse_pointer("Tensor<ViewEngine<gmem_ptr<float const*>>, Layout<_8,_1>>") == Pointer(32, "gmem")
    assert parse_pointer("Layout<_8,_1>") is None


@each(
    ("source", "fact", "position"),
    [
        (
            "cute::Layout<cute::tuple<int, cute::C<8> >, cute::tuple<cute::C<8>, cute::C<1> > >",
            "int at position 25",
            25,
        ),
        ("error: cannot convert ‘cute::Layout<cute::C<16>, long int>’", "long int at position 49", 49),
        ("Layout<Shape<_8,Foo>,Stride<_8,_1>>", "'Foo' at position 16 is not an integer, a tuple or a layout", 16),
        ("Layout<Shape<_8,_8>,Stride<_8,_1>", "expected ',' or '>', found the end of the text", 33),
        ("Layout<Shape<_8,[...]>,[...]>", "the compiler left a type out at position 16", 16),
        ("error: ‘cute::Layout<...,cute::tuple<[...],cute::C<1> > >’", "the compiler left a type out", 21),
        ("Layout<>", "Layout has 0 parameters", 0),
        ("Swizzle<3>", "Swizzle has 1 parameters instead of 3", 0),
        ("C<x>", "expected an integer, found 'x>'", 2),
        ("make_layout(make_shape(8, 4), LayoutRight{})", "LayoutRight is not supported as a stride", 20),
        ("make_shape(8, 4", "the '(' at position 10 is not closed", 10),
        (TENSOR.replace("half_t", "my_t"), "the width of the element type my_t", 13),
    ],
)
def test_a_refusal_names_the_place(source: str, fact: str, position: int) -> None:
    with pytest.raises(NotationError) as refused:
        evaluate(source)
    assert fact in str(refused.value)
    assert refused.value.position == position


def test_the_quoted_part_of_a_long_text_contains_the_place() -> None:
    with pytest.raises(NotationError, match=r"text = '\.\.\..*Layout<cute::C<16>, long int.*'; write its value"):
        evaluate(f"error: no matching function for call to ‘{'x' * 200}(cute::Layout<cute::C<16>, long int>)’")


def test_a_message_with_several_layouts_is_refused_with_all_of_them() -> None:
    with pytest.raises(NotationError, match=r"2 different layouts; 8:1 at position 9; 4:2 at position 30; give one"):
        evaluate("error: ‘ Layout<_8,_1>’ and ‘ Layout<_4,_2>’")


def test_a_message_with_template_parameters_alone_has_no_layout() -> None:
    with pytest.raises(NotationError, match="the message names no layout with known extents"):
        evaluate("layout.hpp:509:1: note: candidate: ‘cute::take(const Layout<ShapeB, StrideB>&)’")


def test_a_tiled_layout_of_a_message_is_derived_by_descriptors(capsys: pytest.CaptureFixture[str]) -> None:
    from descriptors.cli import main

    layout = FLAGGED.replace("cute::C<16>", "cute::C<8>")
    assert main(["derive", "--layout", f"error: ‘{layout}’", "--dtype", "f16", "--mma", "64x16", "--arch", "sm90"]) == 0
    assert "stored as  S<3,3,3> o 0 o ((8,8),(64,1)):((64,512),(1,0))" in capsys.readouterr().out


@each(
    ("source", "way_out"),
    [
        ("(4,8):(8,1)(2,3)", "write ((4,8):(8,1))(2,3) with parentheses"),
        ("4,8:8,1", "write (4,8):(8,1) with parentheses"),
        ("S<3,4>", "a swizzle has three numbers"),
        ("inverse(4:1)", "did you mean right_inverse or left_inverse?"),
        ("make_layout((4,8), LayoutRight)", "make_ordered_layout((4,8), (1,0))"),
    ],
)
def test_a_refusal_says_what_to_write(source: str, way_out: str) -> None:
    with pytest.raises(NotationError) as refused:
        evaluate(source)
    assert way_out in str(refused.value)


@each(
    "source",
    [
        "Layout<" + "tuple<" * 5000,
        "Layout<tuple<" + "_2," * 40000 + "_2>>",
        "error: with A = tuple<B,B>; B = tuple<C_,C_>; C_ = tuple<D,D>; D = "
        + "".join(f"tuple<N{i},N{i}>; N{i} = " for i in range(40))
        + "_2; Layout<A>",
        "error: with A = tuple<A>; Layout<A,A>",
        "C<" * 3000,
        "Tensor<" * 3000 + ", " + "Layout<" * 3000,
        "make_shape(" * 3000,
        "make_shape(" * 3000 + "1" + ")" * 3000,
    ],
)
def test_a_hostile_type_is_refused_quickly(source: str) -> None:
    start = perf_counter()
    with pytest.raises(LayoutError):
        evaluate(source)
    assert perf_counter() - start < 10


def test_the_quick_check_knows_the_ends_of_all_names() -> None:
    names = (*cpp_types._LAYOUTS, *cpp_types._TUPLES, *cpp_types._INTEGERS, "ScaledBasis", "E")
    assert {f"{name[-1]}<" for name in names} <= set(cpp_types._SIGNS)
