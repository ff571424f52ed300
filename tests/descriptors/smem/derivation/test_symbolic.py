"""Closed forms of a derivation: with numbers put in for the symbols they are what the derivation of numbers gives."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import sympy
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptors import DescriptorError, FieldError, IllegalError, NotCanonicalError, derive
from descriptors.smem.derivation.closed_forms import write_formulas
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.symbolic import SymbolicDerivation, derive_symbolic
from descriptors.smem.operands.operand import ELEMENT_TYPES, Major, SwizzleMode
from layoutalg import LayoutError, UndecidedError, coalesce, size

ONE = {"dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
NUMBERS = st.fixed_dictionaries({name: st.integers(1, 5) for name in "mks"})


@st.composite
def families(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a derivation with symbols in its tile: whole atoms and operands, or not quite."""
    element = draw(st.sampled_from(sorted(ELEMENT_TYPES.values(), key=str)))
    major = draw(st.sampled_from(Major))
    mode = draw(st.sampled_from([one for one in SwizzleMode if major is Major.MN or one.name != "B128_BASE32B"]))
    span, depth = mode.span_bytes * 8 // element.storage_bits, 256 // element.storage_bits
    rows = draw(st.sampled_from([8, 16, 64, 128]))
    atom = (8, span) if major is Major.K else (span, 8)
    units = [max(atom[0], rows), max(atom[1], depth)]
    if draw(st.integers(0, 7)) == 0:
        units[draw(st.integers(0, 1))] //= 2
    multiples = [
        draw(st.sampled_from(["{0}*{1}", "{0}*{1}", "{0}*2*{1}", "{0}*{1}*{1}", "{0}*{1}+{0}*2"])) for _ in "mk"
    ]
    tile = [text.format(unit, name) for text, unit, name in zip(multiples, units, "mk", strict=True)]
    order = draw(st.sampled_from([None, (0, 1), (1, 0)]))
    if draw(st.booleans()):
        tile.append(draw(st.sampled_from(["s", "2*s", "3"])))
        order = None if order is None else (*order, 2)
    return {
        "tile": tuple(tile), "dtype": element.name, "major": major.value, "swizzle": mode.value, "mma": (rows, depth),
        "order": order, "arch": draw(st.sampled_from(["sm90", "sm100"])),
    }  # fmt: skip


def of_numbers(arguments: dict[str, Any], numbers: dict[str, int]) -> Derivation:
    """The integer engine on the tile with numbers in it; Python reads the extents, not the algebra."""
    tile = tuple(eval(extent, {}, numbers) for extent in arguments["tile"])  # noqa: S307 - our own text
    return derive(**{**arguments, "tile": tile}, legality="off", verify=False, capacity=None)


def agree(closed: SymbolicDerivation, numeric: Derivation) -> None:
    assert closed.tile == numeric.tile
    assert closed.leading_byte_offset == numeric.descriptor.leading_byte_offset
    assert closed.stride_byte_offset == numeric.descriptor.stride_byte_offset
    assert closed.dont_care == numeric.dont_care
    assert coalesce(closed.match.layout) == coalesce(numeric.canonical)
    for mine, theirs in zip(closed.advance, numeric.advance, strict=True):
        assert coalesce(mine) == coalesce(theirs)
    for name in ("smem_tile", "partitioned", "recast"):
        mine, theirs = getattr(closed, name), getattr(numeric, name)
        assert size(mine) == size(theirs)
        assert coalesce(getattr(mine, "inner", mine)) == coalesce(getattr(theirs, "inner", theirs))


@given(families(), NUMBERS)
@settings(max_examples=150, deadline=None)
def test_putting_numbers_in_commutes_with_the_derivation(arguments: dict[str, Any], numbers: dict[str, int]) -> None:
    try:
        closed = derive_symbolic(**arguments, legality="off")
    except UndecidedError:
        return
    except DescriptorError:
        with pytest.raises(DescriptorError):
            of_numbers(arguments, numbers)
        return
    try:
        numeric = of_numbers(arguments, numbers)
    except FieldError:
        return  # too far for the field: which numbers are is no question of the closed form
    agree(closed.substitute(numbers), numeric)


@given(families())
@settings(max_examples=100, deadline=None)
def test_what_is_not_decided_names_the_missing_fact(arguments: dict[str, Any]) -> None:
    try:
        derive_symbolic(**arguments, legality="off")
    except UndecidedError as error:
        assert "cannot decide whether" in str(error)
        assert "give" in str(error)
    except DescriptorError:
        pass


def test_most_families_have_closed_forms() -> None:
    outcomes: Counter[str] = Counter()

    @given(families())
    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    def count(arguments: dict[str, Any]) -> None:
        try:
            derive_symbolic(**arguments, legality="off")
            outcomes["closed"] += 1
        except UndecidedError:
            outcomes["undecided"] += 1
        except DescriptorError:
            outcomes["refused"] += 1

    count()
    assert outcomes["closed"] > outcomes["undecided"] + outcomes["refused"], outcomes


@given(families(), NUMBERS)
@settings(max_examples=100, deadline=None)
def test_the_python_functions_give_every_start_address(arguments: dict[str, Any], numbers: dict[str, int]) -> None:
    try:
        closed, numeric = derive_symbolic(**arguments, legality="off"), of_numbers(arguments, numbers)
    except LayoutError:
        return
    if size(numeric.advance) > 4096:
        return  # true all the same, and slow to list
    names: dict[str, Any] = {}
    exec(write_formulas(closed, "python"), names)  # noqa: S102 - our own text
    values = {name: numbers[name] for name in closed.symbols}
    assert names["leading_byte_offset"](**values) == numeric.descriptor.leading_byte_offset
    assert names["stride_byte_offset"](**values) == numeric.descriptor.stride_byte_offset

    def check(table: Any, *index: int) -> None:
        if isinstance(table, int):
            assert names["start_offset"](*index, **values) == table
            return
        for i, part in enumerate(table):
            check(part, *index, i)

    check(numeric.offsets_bytes())


def test_a_tile_without_symbols_is_derived_as_by_numbers() -> None:
    closed = derive_symbolic((128, 128), **ONE)  # type: ignore[arg-type]
    assert closed.symbols == ()
    agree(closed, derive(tile=(128, 128), **ONE))  # type: ignore[arg-type]


@each(
    ("changes", "kind", "message"),
    [
        ({"tile": ("8*m", "64*k")}, UndecidedError, "cannot decide whether 64 divides 8*m; give it as 64*m if it does"),
        ({"tile": ("64*m", "k")}, UndecidedError, "cannot decide whether 64 divides k; give it as 64*k if it does"),
        (
            {"tile": ("64*m", "16*k"), "major": "MN", "swizzle": "128B_BASE32B", "order": (0, 1), "legality": "off"},
            UndecidedError,
            "cannot decide whether the operand has a canonical form: it has one for m = 1, but for other values "
            "columns 8 to 11 of K begin 1024*m bytes after columns 0 to 3, where a single stride_byte_offset gives "
            "1024 bytes; in 16-byte units mode (1,1) has (2,2):(32,64*m), expected a single stride; ",
        ),
        (
            {"tile": ("64*m", "64*k+1")},
            DescriptorError,
            "derive: tile K is 64*k+1, which is not a multiple of the atom's 64; ",
        ),
        ({"tile": ("64*m", "0")}, DescriptorError, "derive: tile extent 1 is not a positive number or expression; "),
        (
            {"tile": ("64*m", "(4,4)")},
            DescriptorError,
            "derive: tile extent 1 is '(4,4)', which is not a number or expression",
        ),
        ({"tile": ("64*m",)}, DescriptorError, "derive: tile ('64*m',) is not (MN, K) or (MN, K, stages)"),
        ({"tile": (sympy.Symbol("m"), 64)}, DescriptorError, "derive: tile extent 0 is not a positive number"),
        ({"mma": (64, 24)}, IllegalError, "legality: "),
        ({"mma": ("64", 16)}, DescriptorError, "derive: mma extent 0 is '64', which is not an integer"),
        ({"order": (0, 0)}, DescriptorError, "derive: order (0,0) is not "),
        ({"arch": "sm80"}, DescriptorError, "derive: arch is "),
    ],
)
def test_refusals_say_why(changes: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        derive_symbolic(**{"tile": ("64*m", "64*k"), **ONE, **changes})
    assert str(caught.value).startswith(message)


def test_an_operand_without_canonical_form_for_any_values_is_refused_outright() -> None:
    family = {**ONE, "major": "MN", "swizzle": "128B_BASE32B", "order": (0, 1), "legality": "off"}
    with pytest.raises(NotCanonicalError, match=r"mode \(1,1\) has \(2,2\):\(32,128\*m\), expected a single stride"):
        derive_symbolic(("128*m", "32*k"), **family)  # type: ignore[arg-type]
